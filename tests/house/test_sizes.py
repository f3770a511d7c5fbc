"""Size is a habit: what grows is reported at the end of the run, and only what has grown out of hand fails."""

from __future__ import annotations

from collections.abc import Iterator

from tests.house import sources
from tests.house.sources import listed

FILE_LINES, FUNCTION_LINES = 400, 30
FILE_CEILING, FUNCTION_CEILING = 600, 60
WRITTEN = (".py", ".html", ".js", ".css")


def file_sizes() -> Iterator[tuple[str, int]]:
    """Lines of every file that people write, vendored ones left out."""
    for name in sources.tracked():
        if name.endswith(WRITTEN) and "vendor/" not in name:
            yield name, len((sources.ROOT / name).read_text("utf-8").splitlines())


def function_sizes() -> Iterator[tuple[str, int]]:
    """Lines of every function without its docstring."""
    for name in sources.python():
        for node, lines in sources.functions(name):
            yield f"{name}:{node.lineno} {node.name}", lines


def report() -> list[str]:
    """What is longer than the habit, the longest first."""
    long_files = [(lines, f"{name}: {lines} lines") for name, lines in file_sizes() if lines > FILE_LINES]
    long_functions = [(lines, f"{name}: {lines} lines") for name, lines in function_sizes() if lines > FUNCTION_LINES]
    return [line for _, line in [*sorted(long_files, reverse=True), *sorted(long_functions, reverse=True)]]


def test_no_file_is_out_of_hand() -> None:
    found = [
        f"{name}: {lines} lines" for name, lines in file_sizes() if lines > FILE_CEILING and not name.endswith(".css")
    ]
    assert not found, listed(found)


def test_no_function_is_out_of_hand() -> None:
    found = [f"{name}: {lines} lines" for name, lines in function_sizes() if lines > FUNCTION_CEILING]
    assert not found, listed(found)
