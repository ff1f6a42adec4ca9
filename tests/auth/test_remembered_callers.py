"""Callers that the server remembers: whatever ends or changes a credential holds from the very next request on.

access.md, Credential forms. Each test asks before, so that the caller is in memory, and right after.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from trio.testing import MockClock

from chat.auth import remembered
from chat.auth.credentials import Credential, resolve
from chat.auth.principal import CredentialKind
from chat.auth.remembered import RememberedCallers
from chat.auth.tokens import token_hash
from chat.registries.user_flags import UserFlag
from chat.store.accounts.accounts import Account
from chat.store.connections import connect
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.conformance.presented_credentials import Issuer

Way = Callable[[ChatServer, World], Awaitable[Any]]


async def logout(server: ChatServer, world: World) -> None:
    assert (await world.bob.rest.logout()).status == 204


async def end_of_the_session(server: ChatServer, world: World) -> None:
    [session] = (await world.bob.rest.get("/v1/auth/sessions")).expect(200)
    body = {"session_id_hashes": [session["id_hash"]], "password": world.bob.password}
    assert (await world.bob.rest.post("/v1/auth/sessions/logout", body)).status == 204


async def another_password(server: ChatServer, world: World) -> None:
    body = {"password": world.bob.password, "new_password": "another password of bob's"}
    (await world.bob.rest.patch("/v1/users/@me", body)).expect(200)


async def ban(server: ChatServer, world: World) -> None:
    (await administrator(world).put(f"/v1/admin/users/{world.bob.id}/ban", {"duration_hours": 1})).expect(200)


async def deletion_by_an_administrator(server: ChatServer, world: World) -> None:
    path = f"/v1/admin/users/{world.bob.id}/deletion"
    (await administrator(world).put(path, {"reason_code": 2, "days_until_deletion": 30})).expect(200)


async def own_deletion(server: ChatServer, world: World) -> None:
    assert (await world.bob.rest.post("/v1/users/@me/delete", {"password": world.bob.password})).status == 204


def administrator(world: World) -> Any:
    return world.anyone.signed_in(f"Admin {world.admin_key}")


def from_outside(statement: str, *values: object) -> Way:
    """A statement of another process."""

    async def run(server: ChatServer, world: World) -> None:
        [path] = [row[2] for row in server.database.reader.execute("PRAGMA database_list") if row[1] == "main"]
        known = {"bob": int(world.bob.id), "bot": int(world.bot.id), "token": token_hash(world.bob.token)}
        outside = connect(path, durable=False)
        outside.execute(statement, [known.get(str(value), value) for value in values])
        outside.close()

    return run


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(logout, id="logout"),
        pytest.param(end_of_the_session, id="end of the session"),
        pytest.param(another_password, id="another password"),
        pytest.param(ban, id="ban"),
        pytest.param(deletion_by_an_administrator, id="deletion by an administrator"),
        pytest.param(own_deletion, id="own deletion"),
        pytest.param(from_outside("DELETE FROM auth_sessions WHERE token_hash = ?", "token"), id="outside: session"),
        pytest.param(from_outside("DELETE FROM auth_sessions"), id="outside: every session"),
    ],
)
async def test_a_session_that_ended_is_refused_at_the_next_request(
    way: Way, chat_server: ChatServer, chat_world: World
) -> None:
    for _ in range(2):
        (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)
    await way(chat_server, chat_world)
    assert (await chat_world.bob.rest.get("/v1/users/@me")).code == "UNAUTHORIZED"


@pytest.mark.parametrize("outside", [False, True])
async def test_a_bots_old_token_is_refused_at_the_next_request(
    outside: bool, chat_server: ChatServer, chat_world: World
) -> None:
    for _ in range(2):
        (await chat_world.bot.rest.get("/v1/users/@me")).expect(200)
    if outside:
        await from_outside("UPDATE applications SET bot_token_hash = NULL WHERE bot_user_id = ?", "bot")(
            chat_server, chat_world
        )
    else:
        path = f"/v1/oauth2/applications/{chat_world.bot.application_id}/bot/reset-token"
        (await chat_world.alice.rest.post(path, {"password": chat_world.alice.password})).expect(200)
    assert (await chat_world.bot.rest.get("/v1/users/@me")).code == "UNAUTHORIZED"


async def test_a_deleted_admin_key_is_refused_at_the_next_request(chat_world: World) -> None:
    owner = administrator(chat_world)
    made = (await chat_world.admin.rest.post("/v1/admin/api-keys", {"name": "k", "acls": ["*"]})).expect(200)
    key = chat_world.anyone.signed_in(f"Admin {made['key']}")
    for _ in range(2):
        (await key.get("/v1/admin/acls")).expect(200)
    assert (await owner.delete(f"/v1/admin/api-keys/{made['key_id']}")).status in {200, 204}
    assert (await key.get("/v1/admin/acls")).code == "UNAUTHORIZED"


async def test_what_ends_with_time_ends_in_time(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    issuer = Issuer(chat_world, chat_server)
    bearer = await issuer.access_token(int(chat_world.bob.id), scopes=("identify",))
    client = chat_world.anyone.signed_in(f"Bearer {bearer}")
    for _ in range(2):
        (await client.get("/v1/users/@me")).expect(200)
    await chat_world.anyone.advance_clock(25 * 3_600_000)
    assert (await client.get("/v1/users/@me")).code == "UNAUTHORIZED"


async def test_a_revoked_access_token_is_refused_at_the_next_request(
    chat_server: ChatServer, chat_world: World
) -> None:
    bearer = await Issuer(chat_world, chat_server).access_token(int(chat_world.bob.id), scopes=("identify",))
    client = chat_world.anyone.signed_in(f"Bearer {bearer}")
    for _ in range(2):
        (await client.get("/v1/users/@me")).expect(200)
    await from_outside("DELETE FROM oauth2_tokens WHERE token_hash = ?", token_hash(bearer))(chat_server, chat_world)
    assert (await client.get("/v1/users/@me")).code == "UNAUTHORIZED"


async def test_what_changed_about_the_account_shows_at_the_next_request(
    chat_server: ChatServer, chat_world: World
) -> None:
    for name in ("First", "Second", "Third"):
        await from_outside("UPDATE users SET global_name = ? WHERE id = ?", name, "bob")(chat_server, chat_world)
        assert (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)["global_name"] == name
    await from_outside("UPDATE users SET flags = flags | ? WHERE id = ?", int(UserFlag.STAFF), "bob")(
        chat_server, chat_world
    )
    assert (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)["is_staff"]


# The memory itself


class Place:
    """A memory, and another connection that writes."""

    def __init__(self, path: Path, world: World) -> None:
        self.reader = connect(path, read_only=True)
        self.writer = connect(path, durable=False)
        self.memory = RememberedCallers(self.reader)
        self.session = Credential(CredentialKind.SESSION, world.bob.token)
        self.bot = Credential(CredentialKind.BOT, world.bot.token)

    def statements(self, credential: Credential) -> list[str]:
        """What the memory asks the store for a credential."""
        asked: list[str] = []
        self.reader.set_trace_callback(asked.append)
        self.memory.resolve(credential, 0)
        self.reader.set_trace_callback(None)
        return asked


@pytest.fixture
def place(chat_server: ChatServer, chat_world: World) -> Iterator[Place]:
    [path] = [row[2] for row in chat_server.database.reader.execute("PRAGMA database_list") if row[1] == "main"]
    here = Place(path, chat_world)
    yield here
    here.reader.close()
    here.writer.close()


async def test_a_remembered_caller_costs_one_look_at_the_version(place: Place) -> None:
    for credential in (place.session, place.bot):
        place.memory.resolve(credential, 0)
        assert place.statements(credential) == ["PRAGMA data_version"]
    place.writer.execute("UPDATE guilds SET name = 'Another'")
    assert len(place.statements(place.session)) == 2, "another commit asks for what changed, and looks nobody up"
    assert place.statements(place.bot) == ["PRAGMA data_version"]


@pytest.mark.parametrize("column", [field.name for field in attrs.fields(Account) if field.name not in {"id", "bot"}])
async def test_no_column_of_an_account_changes_unnoticed(column: str, place: Place) -> None:
    for credential in (place.session, place.bot):
        before = place.memory.resolve(credential, 0)
        assert before is not None
        place.writer.execute(f"UPDATE users SET {column} = {column} WHERE id = ?", (before.user_id,))  # noqa: S608
        after = place.memory.resolve(credential, 0)
        assert after == resolve(place.reader, credential, 0)
        assert after is not before


async def test_a_reader_that_missed_changes_forgets_everybody(place: Place) -> None:
    before = [place.memory.resolve(credential, 0) for credential in (place.session, place.bot)]
    assert len(place.memory) == 2
    [other] = place.writer.execute("SELECT id FROM users WHERE username = 'carol'").fetchone()
    for _ in range(1_001):
        place.writer.execute("UPDATE users SET bio = '' WHERE id = ?", (other,))
    [kept] = place.writer.execute("SELECT count(*) FROM caller_changes").fetchone()
    assert kept == 1_000
    place.memory.resolve(None, 0)
    assert len(place.memory) == 0
    assert [place.memory.resolve(credential, 0) for credential in (place.session, place.bot)] == before


async def test_no_more_callers_are_remembered_than_may_be(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "CALLERS_MAXIMUM", 1)
    for credential in (place.session, place.bot, place.session):
        assert place.memory.resolve(credential, 0) == resolve(place.reader, credential, 0)
        assert len(place.memory) == 1


async def test_what_stands_for_nothing_is_looked_up_each_time(place: Place) -> None:
    unknown = Credential(CredentialKind.SESSION, "cht_" + "u" * 36)
    assert place.memory.resolve(unknown, 0) is None
    assert len(place.memory) == 0
    assert len(place.statements(unknown)) > 1


async def test_capabilities_are_those_of_the_request(place: Place) -> None:
    for names in (frozenset({"channel_threads"}), frozenset[str](), frozenset({"a"}), frozenset({"a"})):
        caller = place.memory.resolve(place.session, 0, names)
        assert caller is not None
        assert caller.capabilities == names


async def test_a_transaction_that_is_rolled_back_changes_nothing(place: Place) -> None:
    before = place.memory.resolve(place.session, 0)
    place.writer.execute("BEGIN")
    place.writer.execute("DELETE FROM auth_sessions")
    assert place.memory.resolve(place.session, 0) is before
    place.writer.execute("ROLLBACK")
    assert place.memory.resolve(place.session, 0) is before
    with pytest.raises(sqlite3.OperationalError):
        place.reader.execute("DELETE FROM auth_sessions")
