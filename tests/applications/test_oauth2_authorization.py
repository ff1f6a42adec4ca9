"""Authorisation requests and consent as dialogues (RFC 6749 4.1, 7636, 9700; wire facts 5.7)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import pytest

from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.applications.oauth2_client import BACK, CHALLENGE, VERIFIER, OAuth2Client, parameters, refusal
from tests.applications.test_oauth2_tokens import REDIRECT_TRICKS

APPLICATIONS = "/v1/oauth2/applications"


async def ask_by_browser(client: OAuth2Client, **members: str) -> Response:
    """GET /v1/oauth2/authorize, as a link has it; what is empty is left out."""
    asked = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": BACK,
        "scope": "identify",
        "state": "a state",
        **members,
    }
    return await client.rest.get("/v1/oauth2/authorize", {name: value or None for name, value in asked.items()})


async def ask_both_ways(world: World, client: OAuth2Client, **members: str) -> list[Response]:
    """The browser's request and the page's."""
    body = {name: value or None for name, value in members.items()}
    return [await ask_by_browser(client, **members), await client.ask(world.alice, **body)]  # type: ignore[arg-type]


# Consent


async def test_consent_leads_back_with_code_and_state(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    redirect_to = (await client.ask(chat_world.alice, state="a&b=c #\N{SNOWMAN}")).expect(200)["redirect_to"]
    assert redirect_to.startswith(BACK + "&code=")
    found = parameters(redirect_to)
    assert (found["from"], found["state"], len(found["code"])) == ("chat", "a&b=c #\N{SNOWMAN}", 43)
    without_state = (await client.ask(chat_world.alice, state=None)).expect(200)["redirect_to"]
    assert "state" not in parameters(without_state)


@pytest.mark.parametrize(
    ("registered", "leads_to"),
    [
        ("https://app.example.com", "https://app.example.com?code="),
        ("com.example.app:/back", "com.example.app:/back?code="),
        ("com.example.app://back", "com.example.app://back?code="),
        ("http://127.0.0.1:8123/back", "http://127.0.0.1:8123/back?code="),
        ("http://127.8.9.1/back", "http://127.8.9.1/back?code="),
        ("http://[::1]:8123/back", "http://[::1]:8123/back?code="),
        ("HTTP://LocalHost/back", "HTTP://LocalHost/back?code="),
        ("https://app.example.com/@me", "https://app.example.com/@me?code="),
        ("https://app.example.com/?", "https://app.example.com/?&code="),
    ],
)
async def test_addresses_of_every_kind_of_client(chat_world: World, registered: str, leads_to: str) -> None:
    client = await OAuth2Client.make(chat_world, redirect_uris=[registered])
    answer = await client.ask(chat_world.alice, redirect_uri=registered)
    assert answer.expect(200)["redirect_to"].startswith(leads_to)


@pytest.mark.parametrize("method", [None, "plain", "PLAIN", "s256", "S512", ""])
async def test_a_challenge_is_of_the_one_method(chat_world: World, method: str | None) -> None:
    client = await OAuth2Client.make(chat_world)
    for challenge in (VERIFIER, CHALLENGE["code_challenge"]):
        asked = {"code_challenge": challenge, "code_challenge_method": method}
        assert refusal(await client.ask(chat_world.alice, **asked)) == "invalid_request"
    (await client.ask(chat_world.alice, **CHALLENGE)).expect(200)


@pytest.mark.parametrize("address", ["http://app.example.com/back", "app://back", "https://bob@example.com/back"])
async def test_an_address_from_before_leads_nowhere(chat_world: World, chat_server: ChatServer, address: str) -> None:
    client = await OAuth2Client.make(chat_world)

    def register(connection: sqlite3.Connection) -> None:
        known = json.dumps([BACK, address])
        connection.execute("UPDATE applications SET redirect_uris = ? WHERE id = ?", (known, int(client.id)))

    await chat_server.database.write(register)
    assert refusal(await client.ask(chat_world.alice, redirect_uri=address)) == "invalid_request"
    (await client.ask(chat_world.alice, redirect_uri=BACK)).expect(200)


@pytest.mark.chat_settings(public_url="http://chat.example.com")
async def test_the_instance_s_own_address_is_what_it_is(chat_world: World, chat_server: ChatServer) -> None:
    assert (await admin_tokens(chat_world, chat_server))["scope"] == "identify admin"


async def test_only_a_session_consents(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice, "identify email guilds connections")
    body = {"client_id": client.id, "redirect_uri": BACK, "scope": "identify"}
    for rest, status, code in (
        (chat_world.anyone, 401, "UNAUTHORIZED"),
        (chat_world.bot.rest, 403, "ACCESS_DENIED"),
        (client.bearer(tokens["access_token"]), 403, "ACCESS_DENIED"),
        (chat_world.anyone.signed_in(f"Admin {chat_world.admin_key}"), 401, "UNAUTHORIZED"),
    ):
        answer = await rest.post("/v1/oauth2/authorize/consent", body)
        assert (answer.status, answer.code) == (status, code)
    assert (await chat_world.alice.rest.post("/v1/oauth2/authorize/consent", body)).status == 200


@pytest.mark.parametrize(
    "members",
    [
        {"client_id": ["1"]},
        {"client_id": True},
        {"redirect_uri": 1},
        {"scope": ["identify"]},
        {"state": {"a": 1}},
        {"state": "x" * 2_049},
        {"response_type": 1},
        {"code_challenge": 1},
        {"guild_id": "-1"},
        {"permissions": "many"},
        {"permissions": 1.5},
        {"permissions": str(1 << 63)},
    ],
    ids=str,
)
async def test_members_of_the_wrong_type_are_a_bad_form(chat_world: World, members: Mapping[str, object]) -> None:
    client = await OAuth2Client.make(chat_world)
    answer = await client.ask(chat_world.alice, **members)  # type: ignore[arg-type]
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert [error["path"] for error in answer.json()["errors"]] == list(members)


# What sends nobody anywhere


@pytest.mark.parametrize("redirect_uri", [*REDIRECT_TRICKS, "https://evil.example/", "/back", "x"])
async def test_the_redirect_address_is_compared_character_by_character(chat_world: World, redirect_uri: str) -> None:
    client = await OAuth2Client.make(chat_world)
    for answer in await ask_both_ways(chat_world, client, redirect_uri=redirect_uri):
        assert refusal(answer) == "invalid_request"
        assert answer.header("location") is None
        assert "evil" not in answer.body.decode()
    assert (await client.ask(chat_world.alice)).status == 200


async def test_an_address_of_another_application_is_none_of_this_one(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    other = await OAuth2Client.make(chat_world, redirect_uris=["https://other.example/"])
    for answer in await ask_both_ways(chat_world, client, client_id=other.id):
        assert refusal(answer) == "invalid_request"


async def test_what_was_registered_before_it_was_forbidden_leads_nowhere(
    chat_world: World, chat_server: ChatServer
) -> None:
    client = await OAuth2Client.make(chat_world)

    def write(connection: sqlite3.Connection) -> None:
        redirects = '["javascript:alert(1)"]'
        connection.execute("UPDATE applications SET redirect_uris = ? WHERE id = ?", (redirects, int(client.id)))

    await chat_server.database.write(write)
    for answer in await ask_both_ways(chat_world, client, redirect_uri="javascript:alert(1)"):
        assert refusal(answer) == "invalid_request"


@pytest.mark.parametrize("client_id", ["999999999999999999", "0", "abc", "9" * 19, "9" * 2_000, "01", "-1", "1.0"])
async def test_an_unknown_application(chat_world: World, client_id: str) -> None:
    client = await OAuth2Client.make(chat_world)
    for answer in await ask_both_ways(chat_world, client, client_id=client_id):
        assert refusal(answer) == "invalid_client"
        assert answer.header("location") is None


@pytest.mark.parametrize("missing", ["client_id", "redirect_uri"])
async def test_nobody_is_sent_on_without_client_and_address(chat_world: World, missing: str) -> None:
    client = await OAuth2Client.make(chat_world)
    for answer in await ask_both_ways(chat_world, client, **{missing: ""}):
        assert refusal(answer) == "invalid_request"


async def test_a_doubled_parameter_is_refused(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    query = urlencode({"response_type": "code", "client_id": client.id, "redirect_uri": BACK, "scope": "identify"})
    for more in ("client_id=2", "redirect_uri=https://evil.example/", "state=1&state=1", "scope=", "x=1&x=2"):
        answer = await client.rest.get(f"/v1/oauth2/authorize?{query}&{more}")
        assert refusal(answer) == "invalid_request"
        assert answer.header("location") is None
    assert (await client.rest.get(f"/v1/oauth2/authorize?{query}&x=1")).status == 302


@pytest.mark.parametrize("query", ["client_id=%ff", "&".join(f"p{number}=1" for number in range(101)), ""])
async def test_a_malformed_query_is_refused(chat_world: World, query: str) -> None:
    assert refusal(await chat_world.anyone.get(f"/v1/oauth2/authorize?{query}")) == "invalid_request"


# What is told by redirect

PROTOCOL_FAULTS: dict[str, tuple[Mapping[str, str], str]] = {
    "no scope": ({"scope": ""}, "invalid_scope"),
    "blanks": ({"scope": " + "}, "invalid_scope"),
    "an unknown scope": ({"scope": "identify everything"}, "invalid_scope"),
    "letter case": ({"scope": "Identify"}, "invalid_scope"),
    "admin": ({"scope": "admin"}, "invalid_scope"),
    "admin among others": ({"scope": "identify admin"}, "invalid_scope"),
    "a comma": ({"scope": "identify,email"}, "invalid_scope"),
    "a null character": ({"scope": "identify\x00"}, "invalid_scope"),
    "implicit": ({"response_type": "token"}, "unsupported_response_type"),
    "hybrid": ({"response_type": "code token"}, "unsupported_response_type"),
    "an unknown method": ({"code_challenge": VERIFIER, "code_challenge_method": "S512"}, "invalid_request"),
    "a method's case": ({"code_challenge": VERIFIER, "code_challenge_method": "s256"}, "invalid_request"),
    "a method alone": ({"code_challenge_method": "S256"}, "invalid_request"),
    "a short challenge": ({"code_challenge": "short"}, "invalid_request"),
    "a long challenge": ({"code_challenge": "x" * 129}, "invalid_request"),
    "a challenge with blanks": ({"code_challenge": "x " * 30}, "invalid_request"),
    "a malformed hash": ({"code_challenge": "x" * 44, "code_challenge_method": "S256"}, "invalid_request"),
}


@pytest.mark.parametrize("case", PROTOCOL_FAULTS)
async def test_the_application_learns_what_is_wrong_with_its_request(chat_world: World, case: str) -> None:
    client = await OAuth2Client.make(chat_world)
    members, error = PROTOCOL_FAULTS[case]
    by_browser, by_page = await ask_both_ways(chat_world, client, **members)
    assert by_browser.status == 302
    location = by_browser.header("location") or ""
    assert location.startswith(BACK + "&error=")
    told = parameters(location)
    assert (told["error"], told["state"]) == (error, "a state")
    assert refusal(by_page) == error


async def test_a_browser_is_sent_to_the_page_with_the_same_query(chat_world: World, chat_server: ChatServer) -> None:
    client = await OAuth2Client.make(chat_world)
    answer = await ask_by_browser(client, scope="identify guilds", permissions="8", prompt="consent")
    assert (answer.status, answer.body) == (302, b"")
    page = urlsplit(answer.header("location") or "")
    assert f"{page.scheme}://{page.netloc}" == chat_server.settings.public_url
    assert page.path == "/oauth2/authorize"
    assert parameters(page.geturl()) == {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": BACK,
        "scope": "identify guilds",
        "state": "a state",
        "permissions": "8",
        "prompt": "consent",
    }


# Scopes


@pytest.mark.parametrize(
    ("asked", "granted"),
    [
        ("identify", "identify"),
        ("connections guilds email identify", "identify email guilds connections"),
        ("guilds+identify", "identify guilds"),
        ("  identify \t\n identify ", "identify"),
        ("bot identify", "identify bot"),
        ("bot", "bot"),
    ],
)
async def test_scopes_are_granted_in_registry_order(chat_world: World, asked: str, granted: str) -> None:
    client = await OAuth2Client.make(chat_world)
    assert (await client.tokens(chat_world.alice, asked))["scope"] == granted


@pytest.mark.parametrize("scope", ["identify", "bot identify", "identify bot email"])
async def test_only_the_bot_scope_does_without_an_address(chat_world: World, scope: str) -> None:
    client = await OAuth2Client.make(chat_world)
    assert refusal(await client.ask(chat_world.alice, scope, redirect_uri=None)) == "invalid_request"
    done = (await client.ask(chat_world.alice, "bot", redirect_uri=None)).expect(200)["redirect_to"]
    assert "code" not in parameters(done)
    assert (await ask_by_browser(client, scope="bot", redirect_uri="")).status == 302
    assert refusal(await ask_by_browser(client, scope=scope, redirect_uri="")) == "invalid_request"


async def test_the_response_type_is_code_where_it_is_not_said(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    assert "code" in parameters((await client.ask(chat_world.alice, response_type=None)).expect(200)["redirect_to"])


async def test_what_the_owner_changes_counts_at_once(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    moved = "https://app.example.com/moved"
    await chat_world.bob.rest.patch(f"{APPLICATIONS}/{client.id}", {"redirect_uris": [moved]})
    assert refusal(await client.ask(chat_world.alice)) == "invalid_request"
    assert (await client.ask(chat_world.alice, redirect_uri=moved)).status == 200


async def test_a_deleted_application_takes_everything_along(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens, code = await client.tokens(chat_world.alice), await client.code(chat_world.alice)
    proof = {"password": chat_world.bob.password}
    assert (await chat_world.bob.rest.delete(f"{APPLICATIONS}/{client.id}", proof)).status == 204
    assert not await client.works(tokens["access_token"])
    for answer in (await client.exchange(code), await client.refresh(tokens["refresh_token"])):
        assert refusal(answer, 401) == "invalid_client"
    assert refusal(await client.ask(chat_world.alice)) == "invalid_client"
    assert (await chat_world.alice.rest.get("/v1/oauth2/@me/authorizations")).expect(200) == []


# What the page shows


async def test_anybody_sees_the_public_side_of_an_application(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    path = f"{APPLICATIONS}/{client.id}/public"
    seen = (await chat_world.anyone.get(path)).expect(200)
    assert seen == {
        "id": client.id,
        "name": "Chess master",
        "icon": None,
        "description": None,
        "bot_public": True,
        "bot_require_code_grant": False,
        "redirect_uris": [BACK],
        "scopes": ["identify", "email", "guilds", "connections", "bot"],
        "bot": seen["bot"],
    }
    assert (seen["bot"]["id"], seen["bot"]["username"]) == (client.id, "Chess_master")
    assert "token" not in seen["bot"]
    by_alice = (await chat_world.alice.rest.get(path)).expect(200)
    assert by_alice.pop("current_user")["id"] == chat_world.alice.id
    assert by_alice == seen


async def test_there_is_no_public_side_of_nothing(chat_world: World) -> None:
    answer = await chat_world.anyone.get(f"{APPLICATIONS}/999999999999999999/public")
    assert (answer.status, answer.code) == (404, "UNKNOWN_APPLICATION")
    malformed = await chat_world.anyone.get(f"{APPLICATIONS}/abc/public")
    assert (malformed.status, malformed.code) == (400, "INVALID_FORM_BODY")


# The built-in Admin application


def at_admin(server: ChatServer) -> str:
    return f"{server.settings.public_url}/admin"


async def admin_tokens(world: World, server: ChatServer, scope: str = "identify admin") -> dict[str, str]:
    client = OAuth2Client("2", "", world.anyone)
    asked = await client.ask(world.admin, scope, redirect_uri=at_admin(server), **CHALLENGE)
    code = parameters(asked.expect(200)["redirect_to"])["code"]
    shown = {"client_id": "2", "code_verifier": VERIFIER, "redirect_uri": at_admin(server)}
    body: dict[str, str] = (await client.exchange(code, secret=None, **shown)).expect(200)
    return body


async def test_the_admin_application_is_there_without_being_made(chat_world: World, chat_server: ChatServer) -> None:
    seen = (await chat_world.anyone.get(f"{APPLICATIONS}/2/public")).expect(200)
    assert (seen["name"], seen["redirect_uris"], seen["bot"]) == ("Admin", [at_admin(chat_server)], None)
    assert seen["scopes"] == ["identify", "email", "guilds", "connections", "admin"]
    assert (await chat_world.anyone.post("/v1/_dev/reset")).status == 204
    assert (await chat_world.anyone.get(f"{APPLICATIONS}/2/public")).expect(200) == seen


async def test_only_the_admin_application_is_granted_the_admin_scope(
    chat_world: World, chat_server: ChatServer
) -> None:
    tokens = await admin_tokens(chat_world, chat_server)
    assert tokens["scope"] == "identify admin"
    bearer = chat_world.anyone.signed_in(f"Bearer {tokens['access_token']}")
    told = (await bearer.get("/v1/oauth2/@me")).expect(200)
    assert (told["application"]["name"], told["scopes"]) == ("Admin", ["identify", "admin"])
    refreshed = await OAuth2Client("2", "", chat_world.anyone).refresh(
        tokens["refresh_token"], secret=None, client_id="2"
    )
    assert refreshed.expect(200)["scope"] == "identify admin"


@pytest.mark.parametrize(
    ("members", "error"),
    [
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": VERIFIER, "code_challenge_method": "plain"}, "invalid_request"),
        ({"scope": "bot"}, "invalid_scope"),
        ({"redirect_uri": BACK}, "invalid_request"),
    ],
    ids=str,
)
async def test_the_admin_application_has_no_secret_and_so_needs_pkce(
    chat_world: World, chat_server: ChatServer, members: Mapping[str, str], error: str
) -> None:
    client = OAuth2Client("2", "", chat_world.anyone)
    asked = {"scope": "admin", "redirect_uri": at_admin(chat_server), **CHALLENGE, **members}
    assert refusal(await client.ask(chat_world.admin, **asked)) == error


@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("PATCH", "/bot")])
async def test_nobody_owns_the_admin_application(chat_world: World, method: str, suffix: str) -> None:
    answer = await chat_world.admin.rest.request(method, f"{APPLICATIONS}/2{suffix}", json={"name": "Mine"})
    assert (answer.status, answer.code) == (404, "UNKNOWN_APPLICATION")


# Addresses that can be registered


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "javascript://example.com/%0aalert(1)",
        "data:text/html,hello",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://example.com/1",
        "about:blank",
        "view-source:https://example.com",
        "filesystem:https://example.com/x",
        " https://example.com",
        "https://exa mple.com",
        "https://example.com/\n",
        "https://example.com\\@evil.example",
        "https://ex\N{LATIN SMALL LETTER A WITH DIAERESIS}mple.com",
        "https:///path",
        "https:path",
        "http://",
        "https://example.com:port/",
        "https://example.com:99999/",
        "https://example.com/#",
        "//example.com/",
        "/back",
        "back",
        "app:",
        "x" * 2_049,
        "http://app.example.com/back",
        "http://192.0.2.1/back",
        "http://0.0.0.0/back",
        "http://127.1/back",
        "http://localhost.example.com/back",
        "http://localhost./back",
        "http://[::1%25lo]/back",
        "http://[::ffff:192.0.2.1]/back",
        "ftp://example.com/back",
        "ws://localhost/back",
        "mailto:bob@example.com",
        "app://back",
        "com.example.app:",
        "https://bob@example.com/back",
        "https://bob:secret@example.com/back",
        "https://@example.com/back",
        "https://app.example.com:443@example.com/back",
        "http://localhost@example.com/back",
        "http://bob@localhost/back",
        "com.example.app://bob@back",
    ],
)
async def test_some_addresses_cannot_be_registered(chat_world: World, address: str) -> None:
    bob: RestClient = chat_world.bob.rest
    made = await OAuth2Client.make(chat_world)
    for answer in (
        await bob.post(APPLICATIONS, {"name": "Chess", "redirect_uris": [BACK, address]}),
        await bob.patch(f"{APPLICATIONS}/{made.id}", {"redirect_uris": [BACK, address]}),
    ):
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
        assert [error["path"] for error in answer.json()["errors"]] == ["redirect_uris.1"]
    assert (await bob.get(f"{APPLICATIONS}/{made.id}")).expect(200)["redirect_uris"] == [BACK]
