"""What the screens say of states, errors, findings and shares."""

from __future__ import annotations

from flask import Flask
from flask_babel import force_locale

from blueprints.admin.webhooks import words
from blueprints.sentences import SENTENCES
from domain.events.catalogue import CATALOGUE
from domain.events.delivery import record
from outbound import guarded, resolve, signing


def test_every_finding_error_refusal_and_group_has_words(app: Flask) -> None:
    assert set(words.FINDINGS) == set(signing.FINDING_CODES)
    assert set(words.ERRORS) == set(guarded.ERROR_CODES) | {"INTERNAL", "SECRET_UNREADABLE"}
    assert set(words.STATES) == set(record.STATES)
    assert set(words.GROUPS) == set(CATALOGUE)
    assert set(SENTENCES) >= set(resolve.URL_REFUSAL_CODES)


def test_each_no_of_a_receiver_has_its_own_thing_to_check(app: Flask) -> None:
    with app.test_request_context():
        said = [words.check("BAD_STATUS", status) for status in (401, 403, 404, 405, 410, 413, 418, 429, 503)]
        assert len(set(said)) == len(said)
        assert words.check("BAD_STATUS", 500) == words.check("BAD_STATUS", 503)
        assert words.check("BAD_STATUS", 418) == str(words.ERRORS["BAD_STATUS"][1]) == words.check("BAD_STATUS")


def test_a_share_never_claims_more_than_it_was_and_is_written_as_the_language_writes_it(app: Flask) -> None:
    with app.test_request_context():
        assert [words.share(each) for each in (None, 0.0, 0.5, 0.9996, 1.0)] == ["—", "0%", "50%", "99.9%", "100%"]
        with force_locale("fr"):
            assert words.share(0.125).replace("\u202f", " ").replace("\xa0", " ") == "12,5 %"
