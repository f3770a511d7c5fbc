"""A name that turns what follows leaves the sentence around it as it is."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_babel import gettext, lazy_gettext, ngettext

from blueprints.isolation import BEGIN, END, filled, isolated
from tests.pages.form import send
from tests.world import World

TURNED = "A\u202egnp.exe"
WITHIN = f"{BEGIN}{TURNED}{END}"


def test_a_name_in_a_toast_and_in_a_question_is_isolated(alice: FlaskClient, world: World) -> None:
    page = send(alice, f"{world.acme}/contacts/new", email="ana@example.com", first_name=TURNED, language="")
    assert f"{WITHIN} is among the contacts now." in page.text
    edited = re.search(r"/contacts/(con_[^/\"]+)/edit", page.text)
    assert edited is not None
    question = send(alice, f"{world.acme}/contacts/{edited[1]}/removal", page=f"{world.acme}/contacts").text
    assert f"Remove {WITHIN} from the contacts?" in question
    form = alice.get(f"{world.acme}/contacts/{edited[1]}/edit").text
    assert f'value="{TURNED}"' in form, "what is edited is what is stored"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ana", "Ana"),
        ("Zoë", "Zoë"),
        ("דנה", f"{BEGIN}דנה{END}"),
        (TURNED, WITHIN),
        (f"a{END}\u202eb", f"{BEGIN}a\u202eb{END}"),
        ("a\u2067b", f"{BEGIN}a\u2067b{END}{END}"),
        (f"{WITHIN}: no", f"{BEGIN}{WITHIN}: no{END}"),
        (7, 7),
    ],
)
def test_only_what_may_turn_is_isolated_and_cannot_end_its_isolation(name: object, shown: object) -> None:
    assert isolated(name) == shown


def test_every_way_to_a_sentence_isolates(app: Flask) -> None:
    whole = f"{WITHIN} is up to date."
    say = "%(text)s is up to date."
    from_template = app.jinja_env.from_string("{{ _(say, text=name) }}|{{ ngettext(say, say, 2, text=name) }}")
    with app.test_request_context():
        assert gettext(say, text=TURNED) == ngettext(say, say, 2, text=TURNED) == whole
        assert str(lazy_gettext(say, text=TURNED)) == filled(lazy_gettext(say), {"text": TURNED}) == whole
        assert from_template.render(say=say, name=TURNED) == f"{whole}|{whole}"
