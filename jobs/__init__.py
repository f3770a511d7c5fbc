"""Things done later. A job loads its row by id and calls one verb; a sweep finds rows that nobody is working on."""
