"""The world on a server that has none: made over its public API, as strangers would make it.

A server of another program knows no `/v1/_dev`. There the people register once for the whole run, since servers bound
that. For each test one of them makes a guild and the bot, and the others follow her invite: nothing can be reset there.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

import trio

from chat import wire
from chat.development.answers import DescribedAccount, KnownWorld
from chat.testing.http_client import NoAnswer, Response
from chat.testing.network import Route, TcpRoute
from chat.testing.options import Options
from chat.testing.rest_client import RestClient

PEOPLE: Final = ("alice", "bob", "carol")
BIRTHDAY: Final = "2000-01-01"
TEXT_CHANNEL: Final = 0
VOICE_CHANNEL: Final = 2


_people: Final[dict[str, list[DescribedAccount]]] = {}
"""Who registered during this run, by the URL of the API."""


class NoWorld(RuntimeError):
    """The server would not let the world be made; the text says at which step, and what to do."""


async def describe(options: Options) -> KnownWorld:
    """The world for one test on the server of the options, in the form that `chat dev --json` prints.

    With a world in the options that one, reset where the server can. Raises NoWorld.
    """
    assert options.url is not None
    client = RestClient(TcpRoute.of(options.url), name="kit")
    try:
        world = options.world or await _of_development(client)
        if world is not None:
            await client.post("/v1/_dev/reset")
            return world
        return await _registered(client, options.url)
    except (OSError, trio.TooSlowError, NoAnswer) as error:
        raise NoWorld(f"{options.url} does not answer: {error}") from error
    finally:
        await client.aclose()


async def _of_development(client: RestClient) -> KnownWorld | None:
    """The world that a development server tells of; None on any other server."""
    answer = await client.get("/v1/_dev/world")
    return answer.json() if answer.status == 200 else None


async def _registered(client: RestClient, url: str) -> KnownWorld:
    mark = secrets.token_hex(4)
    if url not in _people:
        _people[url] = [await _register(client, f"{name}_{mark}") for name in PEOPLE]
    people = _people[url]
    alice, *others = (client.signed_in(person["token"]) for person in people)
    guild = _body(await alice.create_guild(f"Garden {mark}"), "make a guild")
    channels = _body(await alice.get(f"/v1/guilds/{guild['id']}/channels"), "list its channels")
    channel_id = _first_of(channels, TEXT_CHANNEL)
    invite = _body(await alice.create_channel_invite(channel_id), "make an invite")
    for person in others:
        _body(await person.accept_invite(invite["code"]), "follow the invite")
    application = _body(await alice.post("/v1/oauth2/applications", {"name": f"bot {mark}"}), "make an application")
    bot = application["bot"]
    joining = {"client_id": application["id"], "scope": "bot", "guild_id": guild["id"], "permissions": "0"}
    _body(await alice.post("/v1/oauth2/authorize/consent", joining), "let the bot join")
    return {
        "base_url": url,
        "users": people,
        "bot": {
            "application_id": application["id"],
            "user_id": bot["id"],
            "token": bot["token"],
            "client_secret": application["client_secret"],
        },
        "guild_id": guild["id"],
        "channel_id": channel_id,
        "voice_channel_id": _first_of(channels, VOICE_CHANNEL),
    }


async def _register(client: RestClient, username: str) -> DescribedAccount:
    email, password = f"{username}@example.com", secrets.token_urlsafe(18)
    answer = await client.register(
        username=username, email=email, password=password, date_of_birth=BIRTHDAY, consent=True
    )
    token = _body(answer, f"register {username}").get("token")
    if token is None:
        raise NoWorld(f"registering {username} gave no token: {answer.body[:300]!r}")
    me = _body(await client.signed_in(token).get("/v1/users/@me"), "read the new account")
    return {"id": me["id"], "email": email, "username": me["username"], "password": password, "token": token}


def _first_of(channels: list[wire.GuildChannel], kind: int) -> str:
    return next((channel["id"] for channel in channels if channel["type"] == kind), "")


def _body(answer: Response, step: str) -> Any:
    if answer.status >= 300:
        raise NoWorld(
            f"the server would not {step}: {answer.status} {answer.body[:300]!r}. Name accounts that it has: "
            "--chat-world FILE takes what `chat dev --json` prints"
        )
    return answer.json() if answer.body else None


def route_of(description: KnownWorld) -> Route:
    """The way to the server of a described world."""
    return TcpRoute.of(description["base_url"])
