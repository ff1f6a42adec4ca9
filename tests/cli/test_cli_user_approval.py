"""`chat user pending`, `approve` and `reject`: registrations that wait for the operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import pending_registrations
from chat.store.signing_in.pending_registrations import PendingRegistration
from tests.cli.command_line import Run, stored


@pytest.fixture
def dave(data: Path, alice: str) -> str:
    """The id of an account whose registration waits."""
    with stored(data) as connection:
        account = Account(id=5, username="dave", discriminator=5, email="dave@example.com", created_at=1)
        accounts.insert(connection, account)
        pending_registrations.insert(connection, PendingRegistration(account.id, "192.0.2.7", 1))
    return str(account.id)


def standing(data: Path, user_id: str) -> PendingRegistration | None:
    with stored(data) as connection:
        return pending_registrations.of_user(connection, int(user_id))


def test_whoever_waits_is_listed(run: Run, data: Path, dave: str) -> None:
    (listed,) = run("user", "pending", "--data", data, "--json").json
    assert (listed["id"], listed["email"], listed["address"]) == (dave, "dave@example.com", "192.0.2.7")
    heading, row = run("user", "pending", "--data", data, terminal=True).table
    assert (heading[1], row[1]) == ("username", "dave")


def test_approval_ends_the_wait(run: Run, data: Path, dave: str) -> None:
    assert run("user", "approve", "dave", "--data", data, "--json").json["id"] == dave
    assert standing(data, dave) is None
    assert run("user", "pending", "--data", data, "--json").json == []


def test_who_was_turned_down_is_not_listed_and_may_be_approved_after_all(run: Run, data: Path, dave: str) -> None:
    assert run("user", "reject", "dave@example.com", "--data", data).status == 0
    rejected = standing(data, dave)
    assert rejected is not None
    assert rejected.rejected_at is not None
    assert run("user", "pending", "--data", data, "--json").json == []
    assert run("user", "approve", dave, "--data", data).status == 0
    assert standing(data, dave) is None


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_who_does_not_wait_cannot_be_decided_on(run: Run, data: Path, dave: str, decision: str) -> None:
    assert run("user", "approve", "dave", "--data", data).status == 0
    ending = run("user", decision, "dave", "--data", data)
    assert (ending.status, ending.out) == (1, "")
    assert "dave does not wait for approval" in ending.err
    assert run("user", decision, "nobody", "--data", data).status == 1


def test_nobody_is_turned_down_twice(run: Run, data: Path, dave: str) -> None:
    assert run("user", "reject", "dave", "--data", data).status == 0
    assert run("user", "reject", "dave", "--data", data).status == 1
