"""The public JSON, in and out. Pure shapes: no Flask, no database.

What comes in is a pydantic model; what goes out is a `TypedDict`, so that a list of two hundred rows costs no
validation, while the OpenAPI documents and the tests hold every answer against the same shape.
"""
