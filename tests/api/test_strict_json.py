"""contract 1 and 3: JSON is read strictly; no body gives a 5xx, and none holds up a process."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprints.api import strict_json
from contract.errors import ApiError


@pytest.mark.parametrize(
    "raw",
    [
        b"", b" ", b"null", b"[]", b'"x"', b"5", b"{", b"{}x", b"{'a':1}", b'{"email":"a@b.test",}',
        b'{"email":"a@b.test","metadata":{"x":NaN}}', b'{"email":"a@b.test","metadata":{"x":Infinity}}',
        b'{"email":"a@b.test","metadata":{"x":1e400}}', b'{"email":"a@b.test","metadata":{"x":-1e400}}',
        b'{"email":"a@b.test","metadata":{"x":' + b"9" * 5000 + b"}}",
        b'{"email":"a@b.test","metadata":{"x":9223372036854775808}}',
        b'{"email":"a@b.test","email":"b@b.test"}', b'{"email":"a@b.test","metadata":{"x":{"y":1,"y":1}}}',
        b'{"email":"a@b.test","firstName":"a\\u0000b"}', b'{"email":"a@b.test","metadata":{"a\\u0000b":1}}',
        b'{"email":"a@b.test","firstName":"\\ud800"}', b'{"email":"a@b.test","metadata":{"x":["\\udc00"]}}',
        b'{"email":"a@b.test","metadata":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"email":"a@b.test","metadata":{"x":' + b"[" * 63 + b"]" * 63 + b"}}",
        b'{"a":' * 100_000, b"[" * 1_000_000,
        '{"email":"a@b.test"}'.encode("utf-16"), b'{"email":"a@b.test","firstName":"\xff"}',
    ],
)  # fmt: skip
def test_what_can_be_read_two_ways_is_refused(caller, roster_path, raw):
    answer = caller.send("POST", roster_path, raw)
    assert answer.status_code == 400
    assert answer.get_json()["code"] == "INVALID_BODY"


def test_a_byte_order_mark_is_skipped_and_a_legal_edge_is_kept(caller, roster_path):
    edge = {"most": 2**63 - 1, "least": -(2**63), "pair": "😀", "deep": json.loads("[" * 61 + "]" * 61), "f": 1.5e-300}
    raw = b"\xef\xbb\xbf" + json.dumps({"email": "a@b.test", "metadata": edge}).encode()
    answer = caller.send("POST", roster_path, raw)
    assert answer.status_code == 201, answer.get_json()
    assert answer.get_json()["data"]["metadata"] == edge


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/xml"])
def test_another_content_type_is_415(caller, roster_path, content_type):
    answer = caller.send("POST", roster_path, b'{"email":"a@b.test"}', content_type)
    assert (answer.status_code, answer.get_json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_body_over_a_mebibyte_is_413(caller, roster_path):
    exact = json.dumps({"email": "a@b.test", "metadata": {"x": ""}})
    filled = exact.replace('""', '"' + "x" * (1024 * 1024 - len(exact)) + '"')
    assert caller.send("POST", roster_path, filled).status_code == 201
    answer = caller.send("POST", roster_path, filled + " ")
    assert (answer.status_code, answer.get_json()["code"]) == (413, "PAYLOAD_TOO_LARGE")


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_read_or_refused(raw):
    try:
        strict_json.parse(raw)
    except ApiError as refusal:
        assert refusal.status == 400


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner), max_leaves=20,
))  # fmt: skip
def test_a_value_reads_back_as_it_was_sent(value):
    assert strict_json.parse(json.dumps(value).encode()) == value


def test_a_string_that_never_ends_is_refused_within_the_time_of_a_call():
    # Looked for from each of its quotes anew, this one would take an hour.
    endless = "from blueprints.api import strict_json; strict_json.parse(b'[]' * 65 + b'\"' + b'\\\\\"' * 500_000)"
    told = subprocess.run([sys.executable, "-c", endless], capture_output=True, text=True, timeout=60, check=False)
    assert "The body is not JSON" in told.stderr
