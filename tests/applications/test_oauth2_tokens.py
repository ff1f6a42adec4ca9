"""The token endpoint, revocation and introspection as dialogues (RFC 6749, 7009, 7636, 7662, 9700; wire facts 5.7).

Area: applications. Rules: 000.outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

import pytest
import trio
from trio.testing import MockClock

from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.applications.oauth2_client import (
    BACK,
    CHALLENGE,
    FORM,
    SEVEN_DAYS_MS,
    TEN_MINUTES_MS,
    THIRTY_DAYS_MS,
    VERIFIER,
    OAuth2Client,
    basic,
    refusal,
)

TOKEN = "/v1/oauth2/token"


@pytest.mark.rule("000.outcomes.22")
async def test_a_code_is_exchanged_for_tokens(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    answer = await client.exchange(await client.code(chat_world.alice, "guilds identify"))
    body = answer.expect(200)
    assert set(body) == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}
    assert (body["token_type"], body["expires_in"], body["scope"]) == ("Bearer", 604_800, "identify guilds")
    assert len(body["access_token"]) == len(body["refresh_token"]) == 43
    assert (answer.header("cache-control"), answer.header("pragma")) == ("no-store", "no-cache")
    assert await client.works(body["access_token"])


@pytest.mark.rule("000.outcomes.23")
async def test_a_refresh_token_is_exchanged_for_a_new_pair(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    first = await client.tokens(chat_world.alice, "identify email")
    second = (await client.refresh(first["refresh_token"])).expect(200)
    assert second["scope"] == "identify email"
    assert {first["access_token"], first["refresh_token"]}.isdisjoint(second.values())
    assert await client.works(first["access_token"])
    assert await client.works(second["access_token"])
    assert (await client.refresh(second["refresh_token"])).status == 200


@pytest.mark.rule("000.outcomes.24")
@pytest.mark.parametrize("grant_type", ["password", "client_credentials", "implicit", "Authorization_code", "x" * 999])
async def test_every_other_grant_type_is_refused(chat_world: World, grant_type: str) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    assert refusal(await client.exchange(code, grant_type=grant_type)) == "unsupported_grant_type"
    assert (await client.exchange(code)).status == 200


@pytest.mark.parametrize("missing", ["grant_type", "code", "redirect_uri"])
async def test_what_is_missing_is_named(chat_world: World, missing: str) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
    assert refusal(await client.form(TOKEN, {**fields, missing: ""})) == "invalid_request"
    assert (await client.form(TOKEN, fields)).status == 200


# Client authentication


async def test_the_secret_comes_by_basic_or_in_the_form(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    by_basic = await client.exchange(await client.code(chat_world.alice))
    named_twice = await client.exchange(await client.code(chat_world.alice), client_id=client.id)
    code = await client.code(chat_world.alice)
    in_the_form = await client.exchange(code, secret=None, client_id=client.id, client_secret=client.secret)
    assert [by_basic.status, named_twice.status, in_the_form.status] == [200, 200, 200]


async def test_a_basic_header_is_read_as_rfc_6749_writes_it(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    encoded = "".join(f"%{ord(character):02x}" for character in client.id)
    for header in (
        basic(encoded, quote(client.secret)),
        {"Authorization": basic(client.id, client.secret)["Authorization"].replace("Basic", "bAsIc")},
    ):
        code = await client.code(chat_world.alice)
        fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
        assert (await client.form(TOKEN, fields, secret=None, headers=header)).status == 200


@pytest.mark.parametrize(
    "more", [{"client_secret": "$secret"}, {"client_secret": "other"}, {"client_id": "1"}], ids=lambda more: str(more)
)
async def test_credentials_in_two_places_are_refused(chat_world: World, more: Mapping[str, str]) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    fields = {name: value.replace("$secret", client.secret) for name, value in more.items()}
    assert refusal(await client.exchange(code, **fields)) == "invalid_request"
    assert (await client.exchange(code)).status == 200


UNAUTHENTICATED: dict[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "nothing": ({}, {}),
    "an id alone": ({}, {"client_id": "$id"}),
    "a secret alone": ({}, {"client_secret": "$secret"}),
    "a wrong secret": ({}, {"client_id": "$id", "client_secret": "wrong"}),
    "an unknown id": ({}, {"client_id": "999999999999999999", "client_secret": "$secret"}),
    "a malformed id": ({}, {"client_id": "0x1", "client_secret": "$secret"}),
    "an id beyond all": ({}, {"client_id": "9" * 19, "client_secret": "$secret"}),
    "a huge id": ({}, {"client_id": "9" * 5_000, "client_secret": "$secret"}),
    "a wrong secret by Basic": (basic("$id", "wrong"), {}),
    "no colon": ({"Authorization": "Basic MTIz"}, {}),
    "no base64": ({"Authorization": "Basic %%%"}, {}),
    "not UTF-8": ({"Authorization": "Basic /////w=="}, {}),
    "another scheme": ({"Authorization": "Digest abc"}, {}),
    "a bearer": ({"Authorization": "Bearer abc"}, {}),
    "an empty header": ({"Authorization": ""}, {}),
    "the built-in application, which has no secret": ({}, {"client_id": "2", "client_secret": "guess"}),
}


@pytest.mark.parametrize("case", UNAUTHENTICATED)
async def test_failed_authentication_is_one_answer_and_burns_no_code(chat_world: World, case: str) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice)
    code = await client.code(chat_world.alice)
    headers, shown = UNAUTHENTICATED[case]
    fields = {name: value.replace("$id", client.id).replace("$secret", client.secret) for name, value in shown.items()}
    answers = [
        await client.form(path, {**asked, **fields}, secret=None, headers=headers)
        for path, asked in (
            (TOKEN, {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}),
            (TOKEN, {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}),
            ("/v1/oauth2/token/revoke", {"token": tokens["access_token"]}),
            ("/v1/oauth2/introspect", {"token": tokens["access_token"]}),
        )
    ]
    assert {refusal(answer, 401) for answer in answers} == {"invalid_client"}
    assert len({answer.body for answer in answers}) == 1
    assert await client.works(tokens["access_token"])
    assert (await client.refresh(tokens["refresh_token"])).status == 200
    assert (await client.exchange(code)).status == 200


async def test_a_new_secret_replaces_the_old_one_and_ends_no_grant(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice)
    path = f"/v1/oauth2/applications/{client.id}/client-secret/reset"
    secret = (await chat_world.bob.rest.post(path, {"password": chat_world.bob.password})).expect(200)["client_secret"]
    assert refusal(await client.refresh(tokens["refresh_token"]), 401) == "invalid_client"
    assert await client.works(tokens["access_token"])
    assert (await client.refresh(tokens["refresh_token"], secret=secret)).status == 200


# Codes


async def test_a_code_works_once_and_its_second_use_ends_what_came_of_it(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    tokens = (await client.exchange(code)).expect(200)
    others = await client.tokens(chat_world.alice)
    refreshed = (await client.refresh(tokens["refresh_token"])).expect(200)
    assert refusal(await client.exchange(code)) == "invalid_grant"
    assert not await client.works(tokens["access_token"])
    assert not await client.works(refreshed["access_token"])
    assert refusal(await client.refresh(refreshed["refresh_token"])) == "invalid_grant"
    assert await client.works(others["access_token"])


async def test_a_used_code_in_another_clients_hands_ends_nothing(chat_world: World) -> None:
    client, other = await OAuth2Client.make(chat_world), await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    tokens = (await client.exchange(code)).expect(200)
    assert refusal(await other.exchange(code)) == "invalid_grant"
    assert await client.works(tokens["access_token"])


async def test_of_two_exchanges_at_once_one_wins(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    answers: list[Response] = []

    async def exchange() -> None:
        answers.append(await client.exchange(code))

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(exchange)
    won = [answer.json() for answer in answers if answer.status == 200]
    assert len(won) == 1
    assert {refusal(answer) for answer in answers if answer.status != 200} == {"invalid_grant"}
    assert not await client.works(won[0]["access_token"])  # for the code was used twice


async def test_of_two_refreshes_at_once_one_wins(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice)
    answers: list[Response] = []

    async def refresh() -> None:
        answers.append(await client.refresh(tokens["refresh_token"]))

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(refresh)
    won = [answer.json() for answer in answers if answer.status == 200]
    assert len(won) == 1
    assert not await client.works(won[0]["access_token"])


async def test_a_code_lasts_ten_minutes(chat_world: World, autojump_clock: MockClock) -> None:
    client = await OAuth2Client.make(chat_world)
    first, second = await client.code(chat_world.alice), await client.code(chat_world.alice)
    await chat_world.anyone.advance_clock(TEN_MINUTES_MS - 60_000)
    assert (await client.exchange(first)).status == 200
    await chat_world.anyone.advance_clock(60_000)
    assert refusal(await client.exchange(second)) == "invalid_grant"


@pytest.mark.parametrize("code", ["", "x", "x" * 43, "x" * 10_000, "\N{SNOWMAN}", "' OR 1=1 --"])
async def test_no_code_at_all(chat_world: World, code: str) -> None:
    client = await OAuth2Client.make(chat_world)
    expected = "invalid_grant" if code else "invalid_request"
    assert refusal(await client.exchange(code)) == expected


async def test_a_code_is_for_its_client(chat_world: World) -> None:
    client, other = await OAuth2Client.make(chat_world), await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    assert refusal(await other.exchange(code)) == "invalid_grant"
    assert (await client.exchange(code)).status == 200


async def test_a_code_is_no_token_and_a_token_no_code(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    assert not await client.works(code)
    assert refusal(await client.refresh(code)) == "invalid_grant"
    tokens = (await client.exchange(code)).expect(200)
    assert refusal(await client.exchange(tokens["access_token"])) == "invalid_grant"
    assert refusal(await client.refresh(tokens["access_token"])) == "invalid_grant"
    assert not await client.works(tokens["refresh_token"])
    assert await client.works(tokens["access_token"])


REDIRECT_TRICKS = [
    BACK.upper(),
    BACK.replace("app.", "App."),
    BACK.replace("back", "back/"),
    BACK + "#",
    BACK + "&more=1",
    BACK.replace("?from=chat", ""),
    BACK.replace("example.com", "example.com."),
    BACK.replace("example.com", "example.com:443"),
    BACK.replace("https://", "https://app.example.com@evil.example/"),
    BACK.replace("back", "%62ack"),
    BACK.replace("/back", "/x/../back"),
    BACK.replace("app.example.com", "evil.app.example.com"),
    BACK.replace("app.example.com", "app.example.com.evil.example"),
    BACK.replace("https", "http"),
    " " + BACK,
    BACK + " ",
    BACK + "\x00",
]


@pytest.mark.parametrize("redirect_uri", REDIRECT_TRICKS)
async def test_the_redirect_address_is_the_one_of_the_request(chat_world: World, redirect_uri: str) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    assert refusal(await client.exchange(code, redirect_uri=redirect_uri)) == "invalid_grant"
    assert (await client.exchange(code)).status == 200


async def test_another_registered_address_is_not_the_one_of_the_request(chat_world: World) -> None:
    second = "https://app.example.com/second"
    client = await OAuth2Client.make(chat_world, redirect_uris=[BACK, second])
    code = await client.code(chat_world.alice)
    assert refusal(await client.exchange(code, redirect_uri=second)) == "invalid_grant"
    assert (await client.exchange(code)).status == 200


# PKCE


async def test_the_verifier_has_to_meet_the_challenge(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice, **CHALLENGE)
    for wrong in (
        {},
        {"code_verifier": VERIFIER + "x"},
        {"code_verifier": VERIFIER.upper()},
        {"code_verifier": "short"},
    ):
        assert refusal(await client.exchange(code, **wrong)) == "invalid_grant"
    assert (await client.exchange(code, code_verifier=VERIFIER)).status == 200


async def test_a_hash_is_no_verifier_and_a_challenge_none_either(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice, **CHALLENGE)
    assert refusal(await client.exchange(code, code_verifier=CHALLENGE["code_challenge"])) == "invalid_grant"
    assert (await client.exchange(code, code_verifier=VERIFIER)).status == 200


async def test_a_verifier_without_a_challenge_tells_of_a_downgrade(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    assert refusal(await client.exchange(code, code_verifier=VERIFIER)) == "invalid_grant"
    assert (await client.exchange(code)).status == 200


async def test_a_client_without_its_secret_gets_along_with_pkce(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world, public_client=True)
    code = await client.code(chat_world.alice, **CHALLENGE)
    fields = {"client_id": client.id, "code_verifier": VERIFIER}
    wrong = await client.exchange(code, secret=None, client_id=client.id, code_verifier=VERIFIER + "x")
    assert refusal(wrong) == "invalid_grant"
    first = (await client.exchange(code, secret=None, **fields)).expect(200)
    second = (await client.refresh(first["refresh_token"], secret=None, client_id=client.id)).expect(200)
    assert refusal(await client.introspect(first["access_token"], secret=None, client_id=client.id), 401)
    assert (await client.revoke(second["refresh_token"], secret=None, client_id=client.id)).status == 200
    assert (await client.revoke(second["refresh_token"], secret=None, client_id=client.id)).status == 200
    assert not await client.works(first["access_token"])


async def test_a_code_without_a_challenge_asks_for_the_secret(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world, public_client=True)
    code = await client.code(chat_world.alice)
    shown = {"client_id": client.id, "code_verifier": VERIFIER}
    assert refusal(await client.exchange(code, secret=None, **shown)) == "invalid_grant"
    assert refusal(await client.exchange(code, secret=None, client_id=client.id), 401) == "invalid_client"
    assert (await client.exchange(code)).status == 200


async def test_what_came_with_the_secret_goes_on_with_the_secret(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world, public_client=True)
    code = await client.code(chat_world.alice, **CHALLENGE)
    tokens = (await client.exchange(code, code_verifier=VERIFIER)).expect(200)
    for answer in (
        await client.refresh(tokens["refresh_token"], secret=None, client_id=client.id),
        await client.revoke(tokens["access_token"], secret=None, client_id=client.id),
        await client.revoke(tokens["refresh_token"], secret=None, client_id=client.id),
    ):
        assert refusal(answer, 401) == "invalid_client"
    replayed = await client.exchange(code, secret=None, client_id=client.id, code_verifier=VERIFIER)
    assert refusal(replayed) == "invalid_grant"
    assert await client.works(tokens["access_token"])
    assert (await client.refresh(tokens["refresh_token"])).status == 200


# Refresh tokens


async def test_a_refresh_token_presented_again_ends_the_grant(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    first = await client.tokens(chat_world.alice)
    second = (await client.refresh(first["refresh_token"])).expect(200)
    assert refusal(await client.refresh(first["refresh_token"])) == "invalid_grant"
    assert not await client.works(first["access_token"])
    assert not await client.works(second["access_token"])
    assert refusal(await client.refresh(second["refresh_token"])) == "invalid_grant"


async def test_a_foreign_refresh_token_is_refused_and_not_harmed(chat_world: World) -> None:
    client, other = await OAuth2Client.make(chat_world), await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice)
    assert refusal(await other.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert (await client.refresh(tokens["refresh_token"])).status == 200


async def test_a_refresh_token_lasts_thirty_days_from_its_issue(chat_world: World, autojump_clock: MockClock) -> None:
    client = await OAuth2Client.make(chat_world)
    first, untouched = await client.tokens(chat_world.alice), await client.tokens(chat_world.alice)
    await chat_world.anyone.advance_clock(THIRTY_DAYS_MS - 60_000)
    second = (await client.refresh(first["refresh_token"])).expect(200)
    await chat_world.anyone.advance_clock(60_000)
    assert refusal(await client.refresh(untouched["refresh_token"])) == "invalid_grant"
    await chat_world.anyone.advance_clock(THIRTY_DAYS_MS - 120_000)
    assert (await client.refresh(second["refresh_token"])).status == 200


async def test_a_refresh_can_ask_for_no_more_than_was_granted(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice, "identify guilds")
    for scope in ("identify email", "admin", "nonsense", " "):
        answer = await client.refresh(tokens["refresh_token"], scope=scope)
        assert refusal(answer) == "invalid_scope"
    assert (await client.refresh(tokens["refresh_token"], scope="guilds")).expect(200)["scope"] == "identify guilds"


@pytest.mark.rule("000.outcomes.4")
async def test_an_access_token_lasts_seven_days(chat_world: World, autojump_clock: MockClock) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice)
    await chat_world.anyone.advance_clock(SEVEN_DAYS_MS - 60_000)
    assert await client.works(tokens["access_token"])
    await chat_world.anyone.advance_clock(60_000)
    for path in ("/v1/oauth2/@me", "/v1/oauth2/userinfo", "/v1/users/@me", "/v1/users/@me/settings"):
        answer = await client.bearer(tokens["access_token"]).get(path)
        assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
    assert (await client.refresh(tokens["refresh_token"])).status == 200


# Revocation (RFC 7009)


async def test_a_revoked_access_token_is_worth_nothing_and_its_grant_lives(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice)
    answer = await client.revoke(tokens["access_token"], token_type_hint="refresh_token")
    assert (answer.status, answer.json()) == (200, {})
    assert not await client.works(tokens["access_token"])
    assert (await client.refresh(tokens["refresh_token"])).status == 200


async def test_a_revoked_refresh_token_takes_its_grant_along(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens, others = await client.tokens(chat_world.alice), await client.tokens(chat_world.alice)
    assert (await client.revoke(tokens["refresh_token"])).status == 200
    assert not await client.works(tokens["access_token"])
    assert refusal(await client.refresh(tokens["refresh_token"])) == "invalid_grant"
    assert await client.works(others["access_token"])


async def test_revoking_answers_200_whatever_the_token(chat_world: World) -> None:
    client, other = await OAuth2Client.make(chat_world), await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice)
    for token in ("nonsense", "x" * 10_000, chat_world.alice.token, chat_world.bot.token, tokens["access_token"]):
        assert (await other.revoke(token)).expect(200) == {}
    assert await client.works(tokens["access_token"])
    assert (await chat_world.alice.rest.get("/v1/users/@me")).status == 200
    assert refusal(await client.form("/v1/oauth2/token/revoke", {})) == "invalid_request"


# Introspection (RFC 7662)


async def test_a_client_looks_into_its_own_tokens(chat_world: World, autojump_clock: MockClock) -> None:
    client, other = await OAuth2Client.make(chat_world), await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice, "guilds identify")
    known = (await client.introspect(tokens["access_token"])).expect(200)
    assert known["exp"] - known["iat"] == 604_800
    del known["exp"], known["iat"]
    assert known == {
        "active": True,
        "scope": "identify guilds",
        "client_id": client.id,
        "token_type": "Bearer",
        "sub": chat_world.alice.id,
    }
    refresh = (await client.introspect(tokens["refresh_token"])).expect(200)
    assert (refresh["active"], refresh["exp"] - refresh["iat"], "token_type" in refresh) == (True, 2_592_000, False)
    unknown = (await client.introspect("nonsense")).expect(200)
    assert unknown == {"active": False}
    assert (await other.introspect(tokens["access_token"])).expect(200) == unknown
    await client.refresh(tokens["refresh_token"])
    assert (await client.introspect(tokens["refresh_token"])).expect(200) == unknown
    await chat_world.anyone.advance_clock(SEVEN_DAYS_MS)
    assert (await client.introspect(tokens["access_token"])).expect(200) == unknown


# Forms


MALFORMED: dict[str, bytes] = {
    "a doubled parameter": b"grant_type=authorization_code&grant_type=authorization_code",
    "a parameter doubled with nothing": b"grant_type=refresh_token&scope=&scope=",
    "not UTF-8": b"grant_type=%ff",
    "raw bytes": b"grant_type=\xff\xfe",
    "too many parameters": "&".join(f"p{number}=1" for number in range(101)).encode(),
    "too large": b"code=" + b"x" * 20_000,
    "empty": b"",
    "JSON": b'{"grant_type": "refresh_token"}',
}


@pytest.mark.parametrize("path", [TOKEN, "/v1/oauth2/token/revoke", "/v1/oauth2/introspect"])
@pytest.mark.parametrize("case", MALFORMED)
async def test_a_malformed_form_is_an_invalid_request(chat_world: World, path: str, case: str) -> None:
    client = await OAuth2Client.make(chat_world)
    assert refusal(await client.form(path, MALFORMED[case])) == "invalid_request"


@pytest.mark.parametrize("media_type", ["application/json", "text/plain", "multipart/form-data", ""])
async def test_a_form_says_that_it_is_one(chat_world: World, media_type: str) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
    answer = await client.form(TOKEN, fields, headers={"Content-Type": media_type})
    assert refusal(answer) == "invalid_request"
    accepted = await client.form(TOKEN, fields, headers={"Content-Type": f"{FORM}; charset=UTF-8".title()})
    assert accepted.status == 200


async def test_two_authorizations_are_none(chat_world: World, exchange: object) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice)
    body = urlencode({"grant_type": "authorization_code", "code": code, "redirect_uri": BACK})
    header = f"Authorization: {basic(client.id, client.secret)['Authorization']}\r\n"
    request = (
        f"POST {TOKEN} HTTP/1.1\r\nHost: chat\r\nContent-Type: {FORM}\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n{header}{header}\r\n{body}"
    )
    answer = await exchange(request.encode())  # type: ignore[operator]
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b'"invalid_client"' in answer
    assert (await client.exchange(code)).status == 200
