"""What the tests of threads, forums and announcements have in common."""

from __future__ import annotations

from typing import Any, Final

from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response, RestClient
from chat.testing.world import Actor, World

TEXT, ANNOUNCEMENT, FORUM, MEDIA = 0, 5, 15, 16
MANAGE_MESSAGES, VIEW_CHANNEL, SEND_MESSAGES = 1 << 13, 1 << 10, 1 << 11
MANAGE_CHANNELS, READ_MESSAGE_HISTORY, MANAGE_WEBHOOKS = 1 << 4, 1 << 16, 1 << 29
MANAGE_THREADS, CREATE_PUBLIC_THREADS, CREATE_PRIVATE_THREADS = 1 << 34, 1 << 35, 1 << 36
SEND_MESSAGES_IN_THREADS: Final = 1 << 38
THREADS_FLAG: Final = 1 << 2
"""Identify's flag of a session that knows threads."""


def knowing(actor: Actor) -> RestClient:
    """The actor's client, which declares that it knows threads."""
    return actor.rest.declaring("channel_threads")


async def watch(actor: Actor) -> GatewayClient:
    """A gateway session of the actor that knows threads."""
    client = await actor.connect(flags=THREADS_FLAG)
    if isinstance(client.ready["user"], dict) and client.ready["user"].get("bot"):
        await client.expect("GUILD_CREATE")
    return client


async def channel(world: World, name: str, kind: int, **members: Any) -> dict[str, Any]:
    """A channel that the guild's owner makes."""
    made: dict[str, Any] = (
        await knowing(world.alice).create_channel(world.guild_id, name, type=kind, **members)
    ).expect(200)
    return made


async def thread(actor: Actor, channel_id: str, name: str = "aside", **members: Any) -> dict[str, Any]:
    """A thread that the actor starts."""
    started: dict[str, Any] = (await knowing(actor).start_thread(channel_id, name, **members)).expect(201)
    return started


async def post(actor: Actor, forum_id: str, name: str = "a post", content: str = "first", **members: Any) -> Any:
    """A post that the actor makes."""
    return (await knowing(actor).start_thread(forum_id, name, message={"content": content}, **members)).expect(201)


async def allow(world: World, channel_id: str, target: str, *, allow: int = 0, deny: int = 0, kind: int = 1) -> None:
    """An overwrite that the guild's owner sets for a member (or for a role, kind 0)."""
    path = f"/v1/channels/{channel_id}/permissions/{target}"
    body = {"type": kind, "allow": str(allow), "deny": str(deny)}
    (await knowing(world.alice).put(path, body)).expect(204)


def refused(answer: Response, status: int, code: str, path: str | None = None, field: str | None = None) -> None:
    """The answer is this refusal, at this path of the body where one is named."""
    assert (answer.status, answer.code) == (status, code), answer.body
    if path is not None:
        named = [(error["path"], error["code"]) for error in answer.json()["errors"]]
        assert (path, field or "INVALID_FORMAT") in named, named
