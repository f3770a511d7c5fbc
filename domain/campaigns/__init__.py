"""Campaigns, the people on their rosters, the account's contacts, and the imports that fill rosters."""
