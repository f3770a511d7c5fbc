import pytest

from core.db import db, on_commit, transaction
from domain.accounts.account import Account


def test_a_write_outside_a_transaction_is_refused(app):
    db.session.add(Account(name="Nowhere"))
    with pytest.raises(RuntimeError, match="outside transaction"):
        db.session.flush()
    db.session.rollback()


def test_a_transaction_keeps_nothing_after_an_error(app):
    with pytest.raises(ZeroDivisionError), transaction() as session:
        session.add(Account(name="Gone"))
        session.flush()
        raise ZeroDivisionError
    assert db.session.query(Account).count() == 0


def test_what_waits_for_the_commit_runs_after_it_and_not_after_an_error(app):
    seen = []
    with transaction():
        on_commit(lambda: seen.append("kept"))
        assert seen == []
    with pytest.raises(ZeroDivisionError), transaction():
        on_commit(lambda: seen.append("lost"))
        raise ZeroDivisionError
    assert seen == ["kept"]


def test_transactions_do_not_nest(app):
    with transaction(), pytest.raises(RuntimeError, match="does not nest"), transaction():
        pass


def test_a_transaction_reads_afresh_what_was_read_before(app):
    with transaction() as session:
        session.add(Account(name="Before"))
    kept = db.session.query(Account).one()
    with db.engine.begin() as elsewhere:
        elsewhere.execute(Account.__table__.update().values(name="After"))
    with transaction():
        assert kept.name == "After"
