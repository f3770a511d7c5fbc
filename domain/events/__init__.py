"""What happened and who is told. Knows accounts by id alone."""
