"""`chat user pending`, `approve` and `reject`: registrations that wait for the operator."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from command_line import Run

from chat.store import pending_registrations
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.pending_registrations import PendingRegistration


@pytest.fixture
def dave(run: Run, data: Path) -> str:
    """The id of an account whose registration waits."""
    account = run("user", "create", "--username", "dave", "--email", "dave@example.com", "--data", data, "--json").json
    with contextlib.closing(connect(DataDirectory(data).database)) as connection, connection:
        pending_registrations.insert(connection, PendingRegistration(int(account["id"]), "192.0.2.7", 1))
    user_id: str = account["id"]
    return user_id


def standing(data: Path, user_id: str) -> PendingRegistration | None:
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        return pending_registrations.of_user(connection, int(user_id))


def test_whoever_waits_is_listed(run: Run, data: Path, dave: str) -> None:
    run("user", "create", "--username", "erin", "--data", data)
    (listed,) = run("user", "pending", "--data", data, "--json").json
    assert (listed["id"], listed["email"], listed["address"]) == (dave, "dave@example.com", "192.0.2.7")
    heading, row = run("user", "pending", "--data", data).rows
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
