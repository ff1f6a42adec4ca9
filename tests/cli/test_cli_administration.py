"""Administration of accounts, guilds, invites, keys, jobs and the audit log on a data directory without a server."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chat.registries.blocklists import Blocklist
from chat.registries.jobs import JobType
from chat.snowflake import snowflake_at
from chat.store import outside_changes
from chat.store.administration import blocklists, instance, jobs
from chat.store.administration.jobs import Job
from chat.store.data_directory import DataDirectory
from chat.store.guilds import guilds
from chat.store.guilds.guilds import Guild
from tests.cli.command_line import CATEGORY, CHANNEL, GUILD, PASSWORD, Outcome, Run, stored


@pytest.fixture
def chat(run: Run, data: Path, alice: str) -> Callable[..., Outcome]:
    """Runs a command on a directory with alice, who owns a guild with a category and a channel."""

    def run_here(*arguments: object, **options: Any) -> Outcome:
        return run(*arguments, "--data", data, **options)

    return run_here


def kinds(data: Path) -> list[str]:
    """The notes left for a running server."""
    with stored(data) as connection:
        return [note.kind for note in outside_changes.take_all(connection)]


def test_an_account_is_shown_banned_and_deleted_with_entries_by_the_instance(
    chat: Callable[..., Outcome], data: Path
) -> None:
    alice = chat("user", "show", "alice").json
    assert (alice["username"], alice["email"], alice["flags"]) == ("alice", "Alice@example.com", "0")
    assert ["email", "Alice@example.com"] in chat("user", "show", "alice", terminal=True).table
    assert kinds(data) == []

    banned = chat("user", "ban", "alice", "--hours", 2, "--reason", "a test").json
    assert banned["temp_banned_until"] is not None
    assert kinds(data) == ["credentials_revoked", "account_changed", "blocklists_changed"]
    assert chat("user", "unban", "alice", "--reason", "it was none").json["temp_banned_until"] is None
    assert chat("user", "ban", "alice").json["temp_banned_until"].startswith("21")
    assert ["flags", "274877906944"] in chat("user", "ban", "alice", terminal=True).table

    pending = chat("user", "delete", "alice", "--because", "spam", "--days", 70).json
    assert pending["pending_deletion_at"] is not None
    with stored(data) as connection:
        assert blocklists.find(connection, Blocklist.EMAIL, "alice@example.com") is not None
    again = chat("user", "delete", "alice")
    assert (again.status, again.out) == (1, "")
    assert again.err == "chat: a deletion of alice is pending: --replace replaces it, --cancel takes it back\n"
    replaced = chat("user", "delete", "alice", "--replace", "--because", "user-requested", "--days", 20).json
    assert replaced["pending_deletion_at"] < pending["pending_deletion_at"]
    assert chat("user", "delete", "alice", "--cancel").json["pending_deletion_at"] is None
    assert chat("user", "delete", "alice", "--cancel").err == "chat: no deletion of alice is pending\n"
    assert chat("user", "delete", "alice", "--cancel", "--replace").status == 2
    assert chat("user", "ban", "alice", "--reason", "x" * 513).status == 2
    assert chat("user", "acl", "alice", "--set", "user:lookup", "audit_log:view").json["acls"] == [
        "audit_log:view",
        "user:lookup",
    ]
    assert chat("user", "sessions", "alice").json == []
    assert chat("user", "sessions", "alice", "--end").json == {"terminated_count": 0}
    assert chat("user", "sessions", "alice", "--end", terminal=True).out == "0 sessions ended\n"

    log = chat("audit-log", "--limit", 200).json
    assert {entry["admin_user_id"] for entry in log} == {"0"}
    assert [entry["action"] for entry in reversed(log)] == [
        *("get_user", "get_user", "temp_ban", "unban", "temp_ban", "temp_ban"),
        *("schedule_deletion", "ban_email", "auto_resolve_reports_on_deletion", "schedule_deletion", "cancel_deletion"),
        *("set_acls", "list_user_sessions", "terminate_sessions", "terminate_sessions"),
    ]
    (entry,) = chat("audit-log", "--search", "none", "--about", "alice").json
    assert (entry["action"], entry["audit_log_reason"]) == ("unban", "it was none")
    heading, *rows = chat("audit-log", "--about", "alice", terminal=True).table
    assert heading[:3] == ["created_at", "by", "action"]
    assert all(f"alice#{int(alice['discriminator']):04}" in row for row in rows if len(row) > 2)
    assert chat("audit-log", "--by", "alice").json == []


def test_acls_that_come_with_an_account_are_in_the_log(chat: Callable[..., Outcome]) -> None:
    made = chat("user", "create", "--username", "root", "--acl", "*", "user:lookup").json
    (entry,) = chat("audit-log").json
    assert (entry["action"], entry["target_id"]) == ("set_acls", made["id"])
    assert entry["metadata"] == {"acls": "*,user:lookup"}
    assert chat("user", "create", "--username", "x", "more").status == 2


def test_a_password_comes_from_standard_input(chat: Callable[..., Outcome]) -> None:
    assert chat("user", "create", "--username", "zoe", "--password", "-", stdin=f"{PASSWORD}\nmore\n").status == 0
    refused = chat("user", "password", "zoe", "--password", "-", stdin="short\n")
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith("chat: password: ")
    changed = chat("user", "password", "zoe", "--password", "-", stdin="another long one\n").json
    assert "password" not in changed


def test_guilds_are_listed_and_shown_with_their_channels(chat: Callable[..., Outcome]) -> None:
    (listed,) = chat("guild", "list").json
    assert (listed["id"], listed["name"], listed["member_count"]) == (str(GUILD), "Harbour", 0)
    shown = chat("guild", "show", GUILD).json
    assert {channel["id"]: channel["name"] for channel in shown["channels"]} == {
        str(CATEGORY): "Text",
        str(CHANNEL): "quay",
    }
    assert [str(CHANNEL), "quay", "0", str(CATEGORY)] in chat("guild", "show", GUILD, terminal=True).table
    assert chat("guild", "show", 5).err == "chat: there is no guild 5\n"
    assert chat("guild", "show", "harbour").status == 2


def test_invites_are_made_listed_and_deleted(chat: Callable[..., Outcome], data: Path) -> None:
    (data / "chat.toml").write_text("public_url = 'https://chat.example'\n[limits]\nmax_guild_invites = 2\n")
    made = chat("invite", "create", CHANNEL, "--max-age", 600, "--max-uses", 3, "--temporary").json
    assert made["url"] == f"https://chat.example/invite/{made['code']}"
    assert (made["guild_id"], made["channel_id"], made["inviter_id"]) == (str(GUILD), str(CHANNEL), None)
    assert (made["max_age"], made["max_uses"], made["uses"], made["temporary"]) == (600, 3, 0, True)
    second = chat("invite", "create", CHANNEL).json
    assert second["expires_at"] is None
    assert {invite["code"] for invite in chat("invite", "list", GUILD).json} == {made["code"], second["code"]}
    assert len(chat("invite", "list", GUILD, terminal=True).table) == 3
    full = chat("invite", "create", CHANNEL)
    assert (full.status, full.err) == (1, f"chat: guild {GUILD} has 2 invites, which is the most it may have\n")
    with stored(data) as connection:  # chosen while a server ran
        instance.choose_settings(connection, {"limits.max_guild_invites": 1})
    assert "has 1 invites" in chat("invite", "create", CHANNEL).err
    assert chat("invite", "delete", made["code"]).json["code"] == made["code"]
    gone = chat("invite", "delete", made["code"])
    assert (gone.status, gone.err) == (1, f"chat: there is no invite {made['code']} into a guild\n")
    assert kinds(data) == ["invite_created", "invite_created", "invite_deleted"]
    assert chat("invite", "create", CATEGORY).err == f"chat: channel {CATEGORY} is of type 4: no invite leads there\n"
    assert chat("invite", "create", 5).err == "chat: there is no channel 5 of a guild\n"
    assert chat("invite", "list", 5).err == "chat: there is no guild 5\n"
    assert chat("invite", "create", CHANNEL, "--max-uses", 101).status == 2
    with stored(data) as connection:
        connection.execute("UPDATE guilds SET vanity_url_code = ?", (second["code"],))
    assert "its owner gives it up" in chat("invite", "delete", second["code"]).err
    assert chat("invite", "list", GUILD).json == []


def test_keys_are_listed_and_deleted(chat: Callable[..., Outcome]) -> None:
    made = chat("key", "create", "--owner", "alice", "--acl", "user:lookup", "--name", "first").json
    (listed,) = chat("key", "list").json
    assert (listed["key_id"], listed["name"], listed["acls"]) == (made["key_id"], "first", ["user:lookup"])
    assert made["key"] not in chat("key", "list", "--owner", "alice", terminal=True).out
    chat("user", "create", "--username", "bob")
    assert chat("key", "list", "--owner", "bob").json == []
    assert chat("key", "delete", made["key_id"]).json["key_id"] == made["key_id"]
    assert chat("key", "delete", made["key_id"]).err == f"chat: there is no key {made['key_id']}\n"
    assert chat("key", "delete", "first").status == 2


def test_jobs_are_listed_shown_and_cancelled(chat: Callable[..., Outcome], data: Path) -> None:
    with stored(data) as connection:
        for number, kind in enumerate((JobType.MESSAGE_SHRED, JobType.ACCOUNT_ERASURE), start=1):
            jobs.insert(
                connection,
                Job(
                    id=number,
                    task_type=kind,
                    subject_id=None,
                    requested_by_user_id=None,
                    audit_log_reason=None,
                    payload={},
                    progress_total=5,
                    run_at=1,
                    created_at=1,
                    changed_at=1,
                ),
            )
    assert [job["job_id"] for job in chat("job", "list").json] == ["2", "1"]
    assert [job["job_id"] for job in chat("job", "list", "--type", "message_shred", "--status", "pending").json] == [
        "1"
    ]
    assert "0 of 5" in chat("job", "list", terminal=True).out
    assert chat("job", "show", 1).json["status"] == "pending"
    assert chat("job", "cancel", 1).json["status"] == "cancelled"
    refusal = "is over, or is of a type that must not be cancelled\n"
    assert chat("job", "cancel", 1).err == f"chat: job 1 {refusal}"
    assert chat("job", "cancel", 2).err == f"chat: job 2 {refusal}"
    assert chat("job", "show", 77).err == "chat: there is no job 77\n"


def test_a_disk_without_room_is_told_in_one_line_and_nothing_is_half_done(
    chat: Callable[..., Outcome], data: Path
) -> None:
    with stored(data) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, before[1]))
    try:
        full = chat("user", "create", "--username", "bob")
        listed = chat("user", "acl", "alice", "--set", "*")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    for ending in (full, listed):
        assert (ending.status, ending.out) == (1, "")
        assert "disk I/O error" in ending.err or "full" in ending.err
        assert ending.err.count("\n") == 1
    assert [account["username"] for account in chat("user", "list").json] == ["alice"]
    assert chat("user", "acl", "alice").json["acls"] == []


def test_a_file_that_cannot_be_read_is_told_in_one_line(run: Run, data: Path) -> None:
    DataDirectory(data).create()
    DataDirectory(data).database.mkdir()
    ending = run("user", "list", "--data", data)
    assert (ending.status, ending.err) == (
        1,
        f"chat: there is no data in {data}: name the data directory with --data\n",
    )
    ending = run("user", "create", "--username", "alice", "--data", data)
    assert (ending.status, ending.err.count("\n")) == (1, 1)
    assert "unable to open database file" in ending.err


def test_ids_made_on_a_clock_that_went_back_are_above_those_that_are_there(run: Run, data: Path, alice: str) -> None:
    there = snowflake_at(time.time_ns() // 1_000_000 + 86_400_000) + 5
    with stored(data) as connection:
        guilds.insert(connection, Guild(id=there, owner_id=int(alice), name="Later", created_at=1, member_count=0))
    made = run("user", "create", "--username", "bob", "--data", data, "--json").json
    assert int(made["id"]) > there
    run("user", "ban", "bob", "--hours", 1, "--data", data)
    [entry, *_] = run("audit-log", "--data", data, "--json").json
    assert int(entry["log_id"]) > int(made["id"])
