"""The words of the API's reference: docstrings of operations and descriptions of fields, read and made translatable.

The reference shows them through gettext, so the extractor (`translations/babel.cfg`) finds the same texts in the
sources: for a function under `@operation.get(...)` and its like, each paragraph of the docstring; for a field, the
`description` of its `Field(...)`.
"""

from __future__ import annotations

import ast
import inspect
import io
from collections.abc import Iterator
from typing import IO, Any

from babel.messages.extract import extract_python

# Line, function, message, comments: what Babel takes from an extractor.
Message = tuple[int, str | None, str, list[str]]


def paragraphs(docstring: str | None) -> list[str]:
    """The paragraphs of a docstring, each on one line; the first is the summary."""
    blocks = inspect.cleandoc(docstring or "").split("\n\n")
    return [" ".join(block.split()) for block in blocks if block.strip()]


def extract(source: IO[bytes], keywords: Any, comment_tags: Any, options: Any) -> Iterator[Any]:
    """Babel's extractor for modules that declare operations or public shapes; gettext calls in them are found too."""
    text = source.read()
    yield from extract_python(io.BytesIO(text), keywords, comment_tags, options)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and any(map(_is_operation, node.decorator_list)):
            yield from ((node.lineno, None, each, []) for each in paragraphs(ast.get_docstring(node)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Field":
            yield from _descriptions(node)


def _is_operation(decorator: ast.expr) -> bool:
    """Whether it reads `operation.<method>(...)`."""
    called = decorator.func if isinstance(decorator, ast.Call) else None
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "operation"


def _descriptions(call: ast.Call) -> Iterator[Message]:
    for keyword in call.keywords:
        if keyword.arg == "description" and isinstance(keyword.value, ast.Constant):
            assert isinstance(keyword.value.value, str)
            yield keyword.value.lineno, None, keyword.value.value, []
