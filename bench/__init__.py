"""How fast the product is, against floors measured in the same run: `make bench`, or `python -m bench list upsert`."""
