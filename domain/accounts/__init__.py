"""Accounts, their languages, the people who work in them, what those may do, and the tokens of other systems."""
