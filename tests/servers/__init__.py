"""Real servers for the tests, each private to the run: PostgreSQL and Valkey on unix sockets."""
