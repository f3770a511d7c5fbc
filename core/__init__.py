"""Plumbing that knows no noun of the field: settings, database, queue, clock, ids, languages, limits, logs."""
