"""The product's own files, as git knows them, and their syntax trees."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ROOMS = ("app.py", "worker.py", "core/", "contract/", "domain/", "outbound/", "jobs/", "blueprints/")


@lru_cache(maxsize=1)
def tracked() -> tuple[str, ...]:
    """Every file of the project, by its path from the root; new ones count before they are committed."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return tuple(sorted(name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()))


def text_files() -> Iterator[tuple[str, str]]:
    """Path and text of every file that people write or read."""
    for name in tracked():
        content = (ROOT / name).read_bytes()
        if b"\0" not in content:
            yield name, content.decode("utf-8")


def python(*rooms: str) -> list[str]:
    """The Python files below these rooms; every file of the product where none is named."""
    return [name for name in tracked() if name.endswith(".py") and name.startswith(rooms or ROOMS)]


@cache
def tree(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text("utf-8"), name)


def functions(name: str) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Every function of a file with its lines, the docstring not counted."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1 - _docstring_lines(node)


def calls(name: str) -> Iterator[tuple[ast.Call, str]]:
    """Every call of a file with the last part of what is called: `db.session.commit()` is `commit`."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Call):
            called = node.func
            last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            yield node, last


def imported(name: str) -> Iterator[tuple[int, str, str]]:
    """Line, module and name of everything a file imports; the name is empty for a whole module."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, node.module or "", alias.name) for alias in node.names)


def listed(failures: list[str], most: int = 60) -> str:
    """Failures as the message of an assertion."""
    rest = [f"and {len(failures) - most} more"] if len(failures) > most else []
    return "\n".join([f"{len(failures)} found:", *failures[:most], *rest])


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return (first.end_lineno or first.lineno) - first.lineno + 1
    return 0
