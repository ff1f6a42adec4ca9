"""Administrators whose rights end while their request is under way: refused, and nothing is written (document 002,
Authentication; wire facts 7.1)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final

import attrs
import orjson
from trio.testing import MockClock

from chat.registries.user_flags import UserFlag
from chat.store.accounts import accounts
from chat.store.administration import admin_api_keys
from chat.store.signing_in import auth_sessions
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.administration.meanwhile import Meanwhile, Unit
from tests.administration.samples import body_of, operations, path_of
from tests.conformance.presented_credentials import Issuer

AUTHENTICATE: Final = "admin:authenticate"


def given(user_id: int, *acls: str) -> Unit:
    """The account has exactly these ACLs."""
    text = orjson.dumps(acls).decode()
    return lambda connection: connection.execute("UPDATE users SET acls = ? WHERE id = ?", (text, user_id))


def everything(server: ChatServer) -> list[str]:
    """All that is stored, but for what the schema notes of each change to an account (`given` makes some)."""
    return [line for line in server.database.reader.iterdump() if 'INTO "caller_changes"' not in line]


async def test_no_operation_writes_for_somebody_who_was_demoted_meanwhile(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    carol, meanwhile = int(chat_world.carol.id), Meanwhile(chat_server.database)
    write = chat_server.database.write
    await write(given(carol, AUTHENTICATE))
    (await chat_world.carol.rest.get("/v1/admin/acls")).expect(200)
    await chat_server.server.areas.signing_in.sign_ins.write_uses()
    before = everything(chat_server)
    reached = []
    for operation in operations():
        await write(given(carol, "*"))
        meanwhile.prepare(given(carol, AUTHENTICATE))
        body = body_of(operation, chat_world)
        answer = await chat_world.carol.rest.request(operation.method, path_of(operation, chat_world), json=body)
        name = f"{operation.method} {operation.path}"
        if not meanwhile.has_happened:
            assert operation.audit is None or answer.status >= 400, f"{name} has done something without writing"
            continue
        reached.append(name)
        assert (answer.status, answer.code) == (403, "MISSING_ACL"), (name, answer.body)
    await write(given(carol, AUTHENTICATE))
    assert everything(chat_server) == before
    assert not audit_log(chat_server)
    assert len(reached) >= 60, reached


@attrs.frozen
class Case:
    """What happens meanwhile to the caller, a session or a key, and what the answer is."""

    name: str
    happens: Callable[[int, int], Unit]
    """Of the account and the key."""
    session: tuple[int, str] | None
    key: tuple[int, str] | None


def flagged(**members: Any) -> Callable[[int, int], Unit]:
    def happens(user_id: int, key_id: int) -> Unit:
        def unit(connection: sqlite3.Connection) -> None:
            account = accounts.by_id(connection, user_id)
            assert account is not None
            accounts.replace(connection, attrs.evolve(account, **members))

        return unit

    return happens


GONE, POWERLESS, NARROWED = (401, "UNAUTHORIZED"), (403, "MISSING_PERMISSIONS"), (403, "MISSING_ACL")
CASES: Final = [
    Case("all ACLs are taken away", lambda user_id, _: given(user_id), POWERLESS, POWERLESS),
    Case("all but the operation's", lambda user_id, _: given(user_id, "user:temp_ban"), POWERLESS, POWERLESS),
    Case("the operation's", lambda user_id, _: given(user_id, AUTHENTICATE, "user:lookup"), NARROWED, NARROWED),
    Case("the wildcard", lambda user_id, _: given(user_id, AUTHENTICATE, "user:temp_ban"), NARROWED, NARROWED),
    Case(
        "the sign-ins end",
        lambda user_id, _: lambda connection: auth_sessions.end_of_user(connection, user_id, 1),
        GONE,
        None,
    ),
    Case(
        "the account is banned",
        flagged(flags=UserFlag.DISABLED, temp_banned_until=1 << 60),
        None,  # a ban ends the sign-ins, as above
        GONE,
    ),
    Case(
        "the key is deleted",
        lambda _, key_id: lambda connection: admin_api_keys.delete(connection, key_id),
        None,
        GONE,
    ),
    Case(
        "the key is narrowed",
        lambda _, key_id: (
            lambda connection: admin_api_keys.change(connection, key_id, name="Key", acls=(AUTHENTICATE, "user:lookup"))
        ),
        None,
        NARROWED,
    ),
]


async def test_whatever_ends_the_rights_of_a_session_or_a_key_meanwhile(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    issuer, meanwhile = Issuer(chat_world, chat_server), Meanwhile(chat_server.database)
    for case in CASES:
        for credential, expected in (("session", case.session), ("key", case.key)):
            user_id = await issuer.person(acls=("*",))
            key = await issuer.admin_key(user_id)
            key_id = int(key.split("_")[1])
            token = await issuer.session(user_id) if credential == "session" else f"Admin {key}"
            client = RestClient(chat_world.route, token=token)
            entries, bob = audit_log(chat_server), accounts.by_id(chat_server.database.reader, int(chat_world.bob.id))
            meanwhile.prepare(case.happens(user_id, key_id))
            answer = await client.request("PUT", f"/v1/admin/users/{chat_world.bob.id}/ban", json={"duration_hours": 1})
            assert meanwhile.has_happened
            if expected is None:
                answer.expect(200)
                await Asking(chat_server, chat_world).user("DELETE", "/ban", {})
            else:
                assert (answer.status, answer.code) == expected, (case.name, credential)
                assert audit_log(chat_server) == entries, (case.name, credential)
                assert accounts.by_id(chat_server.database.reader, int(chat_world.bob.id)) == bob
            await client.aclose()


async def test_those_who_end_their_own_rights_are_done_with_what_they_asked(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    carol = Asking(chat_server, chat_world, chat_world.carol.id)
    await carol.set(acls=["*"])
    rest = chat_world.carol.rest
    answer = await rest.put(f"/v1/admin/users/{chat_world.carol.id}/deletion", {"reason_code": 3})
    assert answer.expect(200)["user"]["pending_deletion_at"] is not None
    actions = [entry.action for entry in audit_log(chat_server)]
    assert set(actions) == {"schedule_deletion", "ban_email", "auto_resolve_reports_on_deletion"}
    assert (await rest.get("/v1/admin/acls")).status == 401


async def test_who_is_given_more_meanwhile_or_loses_nothing_goes_on(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    ask, carol, meanwhile = Asking(chat_server, chat_world), int(chat_world.carol.id), Meanwhile(chat_server.database)
    await ask.server.database.write(given(carol, AUTHENTICATE, "user:lookup"))
    for acls in ([AUTHENTICATE, "user:lookup", "user:delete"], ["*"], ["*", "user:lookup"]):
        meanwhile.prepare(given(carol, *acls))
        (await chat_world.carol.rest.get(f"/v1/admin/users/{ask.user_id}")).expect(200)
        assert meanwhile.has_happened
    assert len(ask.entries("get_user")) == 3
