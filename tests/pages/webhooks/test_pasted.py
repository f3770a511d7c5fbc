"""Captured requests in every shape in which programs print them: the same headers are read, and the body untouched."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprints.admin.webhooks import pasted
from outbound import signing

BODY = '{"id":"dlv_1","event":"webhook.test","timestamp":1790000000000,"payload":{"note":"é: \\n\\u00e9"}}'
SENT = signing.headers("webhook.test", "dlv_1", 1_790_000_000_000, BODY.encode(), "a secret of the receiver")
# What stands around ours in a real request.
ALL = {"Host": "hooks.example.com", "Content-Type": "application/json", **SENT, "User-Agent": "x", "Accept": "*/*"}
Headers = Mapping[str, str]


def lines(template: str, headers: Headers = ALL) -> str:
    return "\n".join(template.format(name=name, value=value) for name, value in headers.items())


def cgi(headers: Headers) -> dict[str, str]:
    return {"HTTP_" + name.upper().replace("-", "_"): value for name, value in headers.items()}


def lower(headers: Headers) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def flat(headers: Headers) -> list[str]:
    return [each for pair in headers.items() for each in pair]


def var_dump(headers: Headers) -> str:
    each = '  ["{}"]=>\n  string({}) "{}"\n'
    return "array(9) {\n" + "".join(each.format(name, len(value), value) for name, value in headers.items()) + "}"


SHAPES: dict[str, str] = {
    "lines": lines("{name}: {value}"),
    "lines of two characters": lines("{name}: {value}").replace("\n", "\r\n"),
    "lines without a space": lines("{name}:{value}"),
    "lines in lower case": lines("{name}: {value}", lower(ALL)),
    "lines in shouting": lines("{name}: {value}", {name.upper(): value for name, value in ALL.items()}),
    "lines with wide spacing": lines("{name}: {value}\n"),
    "indented lines": lines("    {name}: {value}   "),
    "the trace of curl": "* Connected\n" + lines("> {name}: {value}\r") + "\n>\n< HTTP/1.1 200 OK",
    "the trace of an answer": lines("< {name}: {value}"),
    "arguments of curl": "curl -X POST \\\n" + lines("  -H '{name}: {value}' \\"),
    "arguments of curl in double quotes": " ".join(f'-H "{name}: {value}"' for name, value in ALL.items()),
    "arguments of curl on Windows": lines('  -H ^"{name}: {value}^" ^'),
    "a log": lines("2026-11-21 13:00:00 INFO {name}: {value}"),
    "a JSON object": json.dumps(ALL),
    "a JSON object with indents": json.dumps(lower(ALL), indent=2),
    "a JSON object of lists": json.dumps({name: [value] for name, value in ALL.items()}),
    "a JSON object of lists with indents": json.dumps({name: [value] for name, value in ALL.items()}, indent=4),
    "a JSON list of pairs": json.dumps(list(ALL.items())),
    "a JSON list of pairs with indents": json.dumps(list(ALL.items()), indent=2),
    "a JSON list of names and values": json.dumps([{"name": name, "value": value} for name, value in ALL.items()]),
    "that with indents": json.dumps([{"key": name, "value": value} for name, value in ALL.items()], indent=2),
    "names and values as Node shows them": lines("  {{ name: '{name}', value: '{value}' }},"),
    "names and values as XML": lines('<header name="{name}" value="{value}"/>'),
    "assignments": lines('headers["{name}"] = "{value}"'),
    "JSON inside of JSON": json.dumps({"message": json.dumps({"headers": ALL})}),
    "JSON with equals signs escaped": json.dumps(ALL).replace("=", "\\u003d"),
    "entries of JSON": lines('"{name}": "{value}",'),
    "a JSON object with the time as a number": json.dumps(ALL | {signing.TIMESTAMP: 1_790_000_000_000}),
    "variables of CGI": lines("{name}={value}", cgi(ALL)),
    "variables of CGI with arrows": lines("[{name}] => {value}", cgi(ALL)),
    "variables of CGI with colons": lines("{name}: {value}", cgi(ALL)),
    "variables in quotes": lines("'{name}': '{value}',", cgi(ALL)),
    "variables of a proxy": " ".join(f"{name.lower()}={value}" for name, value in cgi(ALL).items()),
    "tabs": lines("{name}\t{value}"),
    "spaces": lines("{name}   {value}"),
    "equals signs": lines("{name}={value}"),
    "equals signs with spaces": lines("{name} = {value}"),
    "a table": lines("| {name} | {value} |"),
    "name and value on two lines": lines("{name}\n{value}"),
    "name and value on two lines with a colon": lines("{name}:\n{value}"),
    "a dictionary of Python": repr(ALL),
    "pairs of Python": repr(list(ALL.items())),
    "bytes of Python": repr([(name.lower().encode(), value.encode()) for name, value in ALL.items()]),
    "a request in bytes of Python": repr(("POST / HTTP/1.1\r\n" + lines("{name}: {value}\r")).encode()),
    "lines in a list": json.dumps([f"{name}: {value}" for name, value in ALL.items()]),
    "names and values by turns": json.dumps(flat(ALL), indent=2),
    "names and values by turns in Node": "[\n" + ",\n".join(f"  '{each}'" for each in flat(ALL)) + "\n]",
    "names and values by turns in one line": repr(flat(ALL)),
    "print_r": "Array\n(\n" + lines("    [{name}] => {value}") + "\n)",
    "print_r of lists": lines("    [{name}] => Array\n        (\n            [0] => {value}\n        )\n"),
    "var_export of lists": lines("  '{name}' => \n  array (\n    0 => '{value}',\n  ),"),
    "var_dump": var_dump(ALL),
    "a map of Go": "map[" + " ".join(f"{name}:[{value}]" for name, value in ALL.items()) + "]",
    "a map of Java": "{" + ", ".join(f"{name}={value}" for name, value in ALL.items()) + "}",
    "a list of Spring": "[" + ", ".join(f'{name}:"{value}"' for name, value in ALL.items()) + "]",
    "a hash of Ruby": "{" + ", ".join(f'"{name}"=>"{value}"' for name, value in cgi(ALL).items()) + "}",
    "YAML": lines('{name}: "{value}"'),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_headers_of_a_delivery_are_read_from(shape: str) -> None:
    read = pasted.read(SHAPES[shape], BODY)
    assert (read.headers, read.body, read.is_whole) == (SENT, BODY, False)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "> "])
@pytest.mark.parametrize("first", ["", "POST /in HTTP/1.1"])
def test_a_whole_request_in_one_field_ends_its_headers_at_the_blank_line(first: str, mark: str, end: str) -> None:
    head = [first] if first else []
    whole = "".join(mark + line + end for line in [*head, *lines("{name}: {value}").split("\n"), ""]) + BODY
    assert pasted.read(whole, "") == pasted.read("", whole) == pasted.Pasted(SENT, BODY, is_whole=True)
    assert pasted.read(whole, BODY + " ") == pasted.Pasted(SENT, BODY + " ")
    bare = f"Host: hooks.example.com{end}{end}{BODY}"
    assert pasted.read(bare, "") == pasted.Pasted({}, BODY, is_whole=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X-Service-Signature:\nHost: example.com", {}),
        ("X-Service-Signature: \nX-Service-Event: webhook.test", {"X-Service-Event": "webhook.test"}),
        ('{"X-Service-Signature": "", "Host": "example.com"}', {}),
        ('{"X-Service-Signature": null, "Host": "example.com"}', {}),
        ("['X-Service-Signature', '', 'Host', 'example.com']", {}),
        ("X-Service-Signature", {}),
        ("X-Service-Signature-V3: 1\nX-Service-Signatures: 2\nYX-Service-Event: 3", {}),
    ],
)
def test_an_empty_or_foreign_header_borrows_no_value_from_its_neighbour(text: str, expected: dict[str, str]) -> None:
    assert pasted.headers_in(text) == expected


@pytest.mark.parametrize(
    "value", ["sha256=00, sha256=11", "sha256=00 sha256=11", "t=1, sha256=00", "sha256 00", "sha1=00"]
)
def test_a_value_that_was_written_wrongly_is_not_put_right(value: str) -> None:
    for text in (f"X-Service-Signature: {value}", json.dumps({"X-Service-Signature": value})):
        assert pasted.headers_in(text) == {"X-Service-Signature": value}


def test_a_header_that_came_twice_has_both_values_and_one_printed_twice_has_one() -> None:
    twice = "X-Service-Event: a\nX-Service-Event: b\n" + json.dumps({"x-service-event": "a"})
    assert pasted.headers_in(twice) == {"X-Service-Event": "a, b"}


tokens = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,80}", fullmatch=True).filter(
    lambda text: text.lower() not in {"null", "none", "nil", "undefined"}
)
printers: list[Callable[[Headers], str]] = [
    lambda headers: lines("{name}: {value}", headers),
    lambda headers: lines("> {name}: {value}", headers),
    lambda headers: lines("{name}\n{value}", headers),
    lambda headers: lines("{name}\t{value}", headers),
    json.dumps,
    repr,
    lambda headers: json.dumps(list(headers.items()), indent=1),
    lambda headers: json.dumps(flat(headers)),
    lambda headers: lines("-H '{name}: {value}' \\", headers),
    lambda headers: lines("[{name}] => {value}", cgi(headers)),
]


@given(st.dictionaries(st.sampled_from(list(SENT)), tokens), st.sampled_from(printers))
def test_whatever_the_values_are_they_come_back(headers: dict[str, str], printed: Callable[[Headers], str]) -> None:
    assert pasted.headers_in(printed(headers)) == headers


pieces = st.sampled_from([*flat(SENT), "\n", "\r\n", ": ", '"', "'", "{", "}", "[", "\\", "\\n", "\0", "\ud800", " "])


@given(st.lists(pieces | st.text(max_size=5), max_size=40), st.text(max_size=20))
def test_whatever_is_pasted_is_read_and_a_body_stays_as_it_is(parts: list[str], body: str) -> None:
    read = pasted.read("".join(parts), body)
    assert set(read.headers) <= set(SENT)
    assert read.body == body or (read.is_whole and read.body.startswith("{"))


@pytest.mark.parametrize(
    "piece",
    [
        "\n", "\n\n", " ", "\t\n", "]", "[", "(", "\\", "\\n", '"', "'", "b'", "X-Service-Event", "X-Service-Event: ",
        "X-Service-Event: a\n", "x_service_signature\n\n", "a: b\n", "a ", "a= ", "0]=>", "\n> \r", "HTTP_", "-", "\0",
    ],
)  # fmt: skip
def test_a_megabyte_of_one_thing_is_read_in_one_go(piece: str) -> None:
    """A pattern that went back over the text for each of its places would not end within the hour."""
    for before in ("", "X-Service-Event:", 'X-Service-Event: "', "X-Service-Event: a "):
        text = before + piece * (1_000_000 // len(piece))
        assert set(pasted.read(text, "").headers) <= {"X-Service-Event"}
        assert pasted.is_readable(text) >= bool(before)
