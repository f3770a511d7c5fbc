"""Which language a message is in, and what a written language means."""
