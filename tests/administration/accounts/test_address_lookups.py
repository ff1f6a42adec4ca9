"""What administrators are told of addresses: their names in DNS and where they are (document 002).

Area: administration. Rules: 002.sessions, 002.user-object.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import dns.message
import pytest
import trio
from trio.testing import MockClock

from chat.domain.signing_in import client_info
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.mmdb_file import city, write_database
from tests.name_server import ARRIVING_SECONDS, NameServer, pass_time

ADDRESS, OTHER, PRIVATE = "8.8.4.4", "9.9.9.9", "10.0.0.7"
FILE: Final = "places.mmdb"
STOCKHOLM: Final = "Stockholm, Stockholm County, Sweden"
FIREFOX: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SESSIONS: Final = "/sessions"


@pytest.fixture
async def name_server(autojump_clock: MockClock, nursery: trio.Nursery) -> NameServer:
    autojump_clock.autojump_threshold = ARRIVING_SECONDS
    server = NameServer()
    await nursery.start(server.run)
    server.names = {ADDRESS: "one.example.", OTHER: "two.example."}
    return server


@pytest.fixture
def chat_server_options(chat_server_options: dict[str, Any], name_server: NameServer) -> dict[str, Any]:
    settings = {
        "reverse_dns.enabled": True,
        "reverse_dns.name_servers": [name_server.address],
        **chat_server_options["settings"],
    }
    return {**chat_server_options, "settings": settings}


located = pytest.mark.chat_settings(geolocation_file=FILE)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The operator's file, in the data directory."""
    path = tmp_path / FILE
    write_database(path, {"8.8.0.0/16": city("Stockholm", "Stockholm County", "Sweden", "SE")})
    return path


@pytest.fixture
def ask(file: Path, chat_server: ChatServer, chat_world: World) -> Asking:
    return Asking(chat_server, chat_world)


async def sign_in(world: World, address: str, agent: str = FIREFOX) -> RestClient:
    """Another sign-in of bob's, from there."""
    headers = {"X-Test-Address": address, "User-Agent": agent}
    client = RestClient(world.route, headers=headers)
    token = (await client.login(email="bob@example.com", password=world.bob.password)).expect(200)["token"]
    await client.aclose()
    return RestClient(world.route, token=token, headers=headers)


async def origins(ask: Asking) -> dict[str, tuple[Any, ...]]:
    """Where bob's sign-ins came from, by address."""
    listed = (await ask("GET", SESSIONS)).expect(200)["sessions"]
    members = ("client_ip_reverse", "client_location", "client_os", "client_platform")
    return {session["client_ip"]: tuple(session[member] for member in members) for session in listed}


@located
@pytest.mark.rule("002.user-object.42", "002.user-object.44")
async def test_the_last_address_of_an_account(ask: Asking, name_server: NameServer, autojump_clock: MockClock) -> None:
    async def told() -> tuple[str | None, str | None]:
        shown = await ask.shown()
        return shown["last_active_ip_reverse"], shown["last_active_location"]

    await ask.set(last_active_ip=ADDRESS)
    assert await told() == ("one.example", STOCKHOLM)
    # The place is looked up afresh each time; the name is reused for a day.
    name_server.names[ADDRESS] = "new.example."
    write_database(file_of(ask), {"8.8.0.0/16": city("Lyon", "Lyon", "France", "FR")})
    assert await told() == ("one.example", "Lyon, France")
    await pass_time(autojump_clock, 86_400 - 10)
    assert await told() == ("one.example", "Lyon, France")
    await pass_time(autojump_clock, 10)
    assert await told() == ("new.example", "Lyon, France")
    # A failure of either is null, and of the other one nothing.
    file_of(ask).write_bytes(b"no database")
    assert await told() == ("new.example", None)
    await ask.set(last_active_ip=OTHER)
    name_server.answering = silence
    assert await told() == (None, None)
    await ask.set(last_active_ip=PRIVATE)
    assert await told() == (None, None)
    # Own account: the same.
    own = Asking(ask.server, ask.world, ask.world.admin.id)
    await own.set(last_active_ip=ADDRESS)
    users = (await ask.world.admin.rest.get("/v1/admin/users/@me")).expect(200)
    assert users["user"]["last_active_ip_reverse"] == "new.example"
    assert name_server.asked.count(ADDRESS) == 2


async def silence(question: dns.message.Message) -> list[bytes]:
    return []


def file_of(ask: Asking) -> Path:
    return ask.server.server.surroundings.directory / FILE


@located
@pytest.mark.rule("002.sessions.8", "002.sessions.12")
async def test_each_sign_in_has_what_is_known_of_its_own_address(
    ask: Asking, name_server: NameServer, autojump_clock: MockClock
) -> None:
    clients = [await sign_in(ask.world, address) for address in (ADDRESS, OTHER, PRIVATE)]
    found = await origins(ask)
    assert found[ADDRESS] == ("one.example", STOCKHOLM, "Linux", "Firefox")
    assert found[OTHER] == ("two.example", None, "Linux", "Firefox")
    assert found[PRIVATE] == (None, None, "Linux", "Firefox")
    assert sorted(name_server.asked) == [ADDRESS, OTHER]
    # Nobody is asked for those who would not see it.
    await pass_time(autojump_clock, 2 * 86_400)
    carol = Asking(ask.server, ask.world, ask.world.carol.id)
    await carol.set(acls=["admin:authenticate", "user:list:sessions", "user:lookup"])
    rest = ask.world.carol.rest
    sessions = (await rest.get(f"/v1/admin/users/{ask.user_id}/sessions")).expect(200)["sessions"]
    assert {session["client_ip"] for session in sessions} == {"[redacted]"}
    [shown] = (await rest.get(f"/v1/admin/users/{ask.user_id}")).expect(200)["users"]
    assert shown["last_active_ip_reverse"] is None
    assert len(name_server.asked) == 2
    # A name that is not to be had is null, beside the others.
    del name_server.names[OTHER]
    found = await origins(ask)
    assert found[ADDRESS][:2] == ("one.example", STOCKHOLM)
    assert found[OTHER][:2] == (None, None)
    # The holder sees places, of the operator's file alone.
    asked = len(name_server.asked)
    own = (await clients[0].get("/v1/auth/sessions")).expect(200)
    assert own[0]["client_info"] == {
        "platform": None,
        "os": "Linux",
        "browser": "Firefox",
        "device": "desktop",
        "location": {"city": "Stockholm", "region": "Stockholm County", "country": "Sweden"},
    }
    assert len(name_server.asked) == asked
    for client in clients:
        await client.aclose()


@located
@pytest.mark.rule("002.sessions.9", "002.sessions.10", "002.sessions.11")
async def test_a_list_of_which_no_address_can_be_located_is_unavailable(
    ask: Asking, name_server: NameServer, autojump_clock: MockClock
) -> None:
    client = await sign_in(ask.world, ADDRESS)
    path = file_of(ask)
    for broken in (b"", b"no database", path.read_bytes()[:-40]):
        path.write_bytes(broken)
        assert await ask.refused("GET", SESSIONS) == (503, "SERVICE_UNAVAILABLE", None)
    path.unlink()
    assert await ask.refused("GET", SESSIONS) == (503, "SERVICE_UNAVAILABLE", None)
    assert not ask.entries("list_user_sessions")
    # Who sees no addresses is not told of it, and an account without sign-ins has nothing to locate.
    carol = Asking(ask.server, ask.world, ask.world.carol.id)
    await carol.set(acls=["admin:authenticate", "user:list:sessions"])
    (await ask.world.carol.rest.get(f"/v1/admin/users/{ask.user_id}/sessions")).expect(200)
    bot = Asking(ask.server, ask.world, ask.world.bot.id)
    assert (await bot("GET", SESSIONS)).expect(200) == {"sessions": []}
    # An address that the file does not have was looked up all the same.
    write_database(path, {"1.0.0.0/8": city("Lyon", "Lyon", "France", "FR")})
    assert (await origins(ask))[ADDRESS][:2] == ("one.example", None)
    assert len(ask.entries("list_user_sessions")) == 3
    await client.aclose()


async def test_without_a_file_places_are_null(ask: Asking, name_server: NameServer, autojump_clock: MockClock) -> None:
    client = await sign_in(ask.world, ADDRESS)
    assert (await origins(ask))[ADDRESS][:2] == ("one.example", None)
    nowhere = dict.fromkeys(("countryCode", "regionCode", "latitude", "longitude"))
    assert (await client.get("/v1/ip")).expect(200) == {**nowhere, "ageRestrictedGeos": [], "ageBlockedGeos": []}
    await client.aclose()


@located
async def test_everybody_may_ask_where_they_are(
    ask: Asking, name_server: NameServer, autojump_clock: MockClock
) -> None:
    at = RestClient(ask.world.route, headers={"X-Test-Address": ADDRESS})
    there = {"countryCode": "SE", "regionCode": "ST", "latitude": "59.3293", "longitude": "-18.0686"}
    assert (await at.get("/v1/ip")).expect(200) == {**there, "ageRestrictedGeos": [], "ageBlockedGeos": []}
    assert not name_server.asked
    file_of(ask).unlink()
    assert (await at.get("/v1/ip")).expect(200)["countryCode"] is None
    await at.aclose()


@located
async def test_a_page_of_accounts_waits_for_all_look_ups_together(
    ask: Asking, name_server: NameServer, autojump_clock: MockClock
) -> None:
    """Two hundred addresses whose name servers say nothing cost what one does."""
    addresses = [f"9.9.{number}.1" for number in range(200)]

    def unit(connection: Any) -> None:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(users)")]
        same = [name for name in columns if name not in {"id", "username", "username_key", "email", "email_key"}]
        for number, address in enumerate(addresses):
            connection.execute(
                f"INSERT INTO users (id, username, username_key, {', '.join(same)})"  # noqa: S608
                f" SELECT {1_000 + number}, 'u{number}', 'u{number}', {', '.join(same)} FROM users WHERE id = ?",
                (int(ask.user_id),),
            )
            connection.execute("UPDATE users SET last_active_ip = ? WHERE id = ?", (address, 1_000 + number))

    await ask.server.database.write(unit)
    name_server.answering = silence
    before = trio.current_time()
    query = "&".join(f"user_id={1_000 + number}" for number in range(100))
    users = (await ask.world.admin.rest.get(f"/v1/admin/users?{query}")).expect(200)["users"]
    assert len(users) == 100
    assert {user["last_active_ip_reverse"] for user in users} == {None}
    assert trio.current_time() - before <= client_info.WAITING_SECONDS + 0.1
    # What has been found out in the meantime, if only that nobody answers, is known the next time.
    asked = set(name_server.asked)
    assert len(asked) >= 16
    before = trio.current_time()
    query = "&".join(f"user_id={1_000 + number}" for number in range(16))
    (await ask.world.admin.rest.get(f"/v1/admin/users?{query}")).expect(200)
    assert trio.current_time() == before


@pytest.mark.chat_settings(**{"reverse_dns.enabled": False})
async def test_an_operator_may_have_nobody_asked(
    ask: Asking, name_server: NameServer, autojump_clock: MockClock
) -> None:
    await ask.set(last_active_ip=ADDRESS)
    assert (await ask.shown())["last_active_ip_reverse"] is None
    assert not name_server.asked
