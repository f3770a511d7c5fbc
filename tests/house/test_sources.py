"""How the code is written: one commit at the edge, a domain that knows no request, sentences that can be translated."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from tests.house import sources
from tests.house.sources import listed

GETTEXT = {"_", "gettext", "ngettext", "lazy_gettext", "lazy_ngettext", "lazy", "pgettext", "npgettext"}
EDGE = ("blueprints/", "jobs/", "app.py", "worker.py")
OF_THE_REQUEST = {"request", "session", "current_user", "g", "abort", "redirect", "flash", "render_template", "url_for"}
REFERENCE = "blueprints/developers/"  # says what the operations declare; an extractor of our own finds those sentences
OF_LIBRARIES = {"process_formdata", "process_bind_param", "process_result_value"}  # names that a library calls
OWN_DRAWINGS = "templates/components/icons.html"
PARTS = "templates/components/parts.html"
NAMES_TO_AVOID = re.compile(r"(^|_)(utils?|helpers?|services?|managers?)(_|$)|^process_")


def test_rooms_import_in_their_directions() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    ran = subprocess.run([linter, "--no-cache"], cwd=sources.ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_transactions_are_opened_at_the_edge_alone() -> None:
    found = [
        f"{name}:{call.lineno} opens a transaction()"
        for name in sources.python()
        if not name.startswith((*EDGE, "core/db.py"))
        for call, called in sources.calls(name)
        if called == "transaction"
    ]
    assert not found, listed(found)


def test_nothing_commits_but_the_transaction() -> None:
    found = [
        f"{name}:{call.lineno} calls {called}()"
        for name in sources.python()
        if name != "core/db.py"
        for call, called in sources.calls(name)
        if called == "commit"
    ]
    assert not found, listed(found)


def test_the_domain_knows_no_request_and_no_page() -> None:
    found = [
        f"{name}:{line} imports {what or module} from {module}"
        for name in sources.python("domain/", "contract/", "outbound/")
        for line, module, what in sources.imported(name)
        if module.split(".")[0] in ("flask", "flask_login", "flask_babel", "flask_wtf", "werkzeug", "jinja2")
        or (what in OF_THE_REQUEST and module.startswith("flask"))
    ]
    assert not found, listed(found)


def test_sentences_for_translation_are_plain_strings() -> None:
    """`_(f"...")` and `_("..." % name)` never match a catalogue: the values go in as `%(name)s`."""
    found = [
        f"{name}:{call.lineno} {called}() is given something else than a plain string"
        for name in sources.python()
        if not name.startswith(REFERENCE)
        for call, called in sources.calls(name)
        if called in GETTEXT and call.args and not _is_plain(call.args[0])
    ]
    assert not found, listed(found)


def test_placeholders_are_named() -> None:
    """`%s` cannot be moved by a translator."""
    found = [
        f"{name}:{call.lineno} has a placeholder without a name"
        for name in sources.python()
        for call, called in sources.calls(name)
        if called in GETTEXT
        for argument in call.args[:2]
        if isinstance(argument, ast.Constant) and re.search(r"(?<!%)%[sdfr]", str(argument.value))
    ]
    assert not found, listed(found)


def test_templates_give_plain_strings_to_gettext() -> None:
    variable = re.compile(r"\b(_|gettext|ngettext)\(\s*[^\"'\s)]")
    joined = re.compile(r"\b_\(\s*(\"[^\"]*\"|'[^']*')\s*[~+%]")
    found = [
        f"{name}:{number} {line.strip()[:100]}"
        for name, text in sources.text_files()
        if name.startswith("templates/")
        for number, line in enumerate(text.splitlines(), 1)
        if variable.search(line) or joined.search(line)
    ]
    assert not found, listed(found)


def test_what_comes_anew_in_a_page_goes_by_the_rules_of_one_place() -> None:
    """A poll or a swap with attributes of its own would know nothing of the others' order."""
    own = re.compile(r'hx-trigger="[^"]*\bevery\b|hx-push-url|hx-sync="[^"]*:(abort|replace)')
    found = [
        f"{name}:{number} {line.strip()[:100]}"
        for name, text in sources.text_files()
        if name.startswith("templates/") and name != PARTS
        for number, line in enumerate(text.splitlines(), 1)
        if own.search(line)
    ]
    assert not found, listed(found)


def test_templates_trust_no_stored_text() -> None:
    """`|safe` behind anything but a literal would print what people typed as a page's own words."""
    found = [
        f"{name}:{number} {line.strip()[:100]}"
        for name, text in sources.text_files()
        if name.startswith("templates/") and name != OWN_DRAWINGS
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(r"[^\"'\s]\s*\|\s*safe\b", line) or "autoescape false" in line
    ]
    assert not found, listed(found)


def test_names_say_what_is_inside() -> None:
    parts = {part for name in sources.python() for part in Path(name).with_suffix("").parts}
    classes = {
        f"{name}:{node.lineno} class {node.name}"
        for name in sources.python()
        for node in ast.walk(sources.tree(name))
        if isinstance(node, ast.ClassDef) and re.search(r"(Util|Helper|Service|Manager)s?$", node.name)
    }
    found = sorted(part for part in parts if NAMES_TO_AVOID.search(part)) + sorted(classes)
    assert not found, listed(found)


def test_functions_say_what_they_do() -> None:
    found = [
        f"{name}:{node.lineno} {node.name}"
        for name in sources.python()
        for node, _ in sources.functions(name)
        if NAMES_TO_AVOID.search(node.name) and node.name not in OF_LIBRARIES
    ]
    assert not found, listed(found)


def test_a_broad_except_gives_its_reason() -> None:
    found = []
    for name in sources.python():
        lines = (sources.ROOT / name).read_text("utf-8").splitlines()
        for node in ast.walk(sources.tree(name)):
            if not isinstance(node, ast.ExceptHandler) or not _is_broad(node.type):
                continue
            around = lines[node.lineno - 1 : node.body[0].lineno]
            ends_in_raise = any(isinstance(inner, ast.Raise) for inner in node.body)
            if not ends_in_raise and not any("#" in line for line in around):
                found.append(f"{name}:{node.lineno} {lines[node.lineno - 1].strip()}")
    assert not found, listed(found)


def test_time_comes_from_the_clock() -> None:
    """The wall clock is read in one place, so that a test can move it. Durations use `time.monotonic`."""
    found = [
        f"{name}:{node.lineno} reads the clock"
        for name in sources.python()
        if name != "core/clock.py"
        for node in ast.walk(sources.tree(name))
        if isinstance(node, ast.Attribute)
        and (getattr(node.value, "id", ""), node.attr)
        in {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow"), ("date", "today")}
    ]
    assert not found, listed(found)


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_broad(kind: ast.expr | None) -> bool:
    return kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))
