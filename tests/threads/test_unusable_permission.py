"""MANAGE_THREADS that is held and cannot be used for want of a second factor: what it would allow is refused with 400
TWO_FACTOR_REQUIRED, after the permission is confirmed (guilds.md, MFA levels)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from trio.testing import MockClock

import chat.domain
from chat.registries.permissions import ELEVATED, Permission
from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.guilds.test_rules_mfa_levels import ask_for_factors, enrol
from tests.threads.thread_world import FORUM, MANAGE_THREADS, allow, channel, knowing, post, thread

Act = Callable[[World, str], Awaitable[Response]]


async def _bob(world: World, method: str, path: str, body: object = None) -> Response:
    return await knowing(world.bob).request(method, path, json=... if body is None else body)


def changed(**members: Any) -> Act:
    return lambda world, thread_id: _bob(world, "PATCH", f"/v1/channels/{thread_id}", members)


ACTS: Final[dict[str, tuple[Act, str]]] = {
    "lock": (changed(locked=True), "MISSING_PERMISSIONS"),
    "name": (changed(name="other"), "MISSING_PERMISSIONS"),
    "slow mode": (changed(rate_limit_per_user=5), "MISSING_PERMISSIONS"),
    "archive": (changed(archived=True), "MISSING_PERMISSIONS"),
    "delete": (lambda world, at: _bob(world, "DELETE", f"/v1/channels/{at}"), "MISSING_PERMISSIONS"),
}
IN_LOCKED: Final[dict[str, tuple[Act, str]]] = {
    "change": (changed(archived=True), "MISSING_PERMISSIONS"),
    "write": (lambda world, at: _bob(world, "POST", f"/v1/channels/{at}/messages", {"content": "x"}), "THREAD_LOCKED"),
    "bring": (
        lambda world, at: _bob(world, "PUT", f"/v1/channels/{at}/thread-members/{world.carol.id}"),
        "THREAD_LOCKED",
    ),
    "react": (
        lambda world, at: _bob(world, "PUT", f"/v1/channels/{at}/messages/{world_message[at]}/reactions/%E2%9C%85/@me"),
        "THREAD_LOCKED",
    ),
}
world_message: Final[dict[str, str]] = {}
"""A message of each thread."""


async def opened(world: World, *, locked: bool) -> str:
    """A thread of alice, who owns the guild."""
    thread_id: str = (await thread(world.alice, world.channel_id))["id"]
    world_message[thread_id] = (await knowing(world.alice).send_message(thread_id, "first")).expect(200)["id"]
    if locked:
        (await knowing(world.alice).patch(f"/v1/channels/{thread_id}", {"locked": True})).expect(200)
    return thread_id


@pytest.mark.parametrize("locked", [False, True], ids=["open", "locked"])
async def test_held_and_unusable_is_told(chat_world: World, autojump_clock: MockClock, locked: bool) -> None:
    await ask_for_factors(chat_world)
    acts = IN_LOCKED if locked else ACTS
    for name, (act, lacking) in acts.items():
        answer = await act(chat_world, await opened(chat_world, locked=locked))
        assert (answer.status, answer.code) == (400 if lacking == "THREAD_LOCKED" else 403, lacking), name
    await allow(chat_world, chat_world.channel_id, chat_world.bob.id, allow=MANAGE_THREADS)
    for name, (act, _) in acts.items():
        answer = await act(chat_world, await opened(chat_world, locked=locked))
        assert (answer.status, answer.code) == (400, "TWO_FACTOR_REQUIRED"), name
    await enrol(chat_world, chat_world.bob)
    for name, (act, _) in acts.items():
        answer = await act(chat_world, await opened(chat_world, locked=locked))
        assert answer.status in (200, 204), name


async def test_moderated_tags_too(chat_world: World, autojump_clock: MockClock) -> None:
    await ask_for_factors(chat_world)
    tags = [{"name": "for moderators", "moderated": True}]
    forum = await channel(chat_world, "forum", FORUM, available_tags=tags)
    tag = forum["available_tags"][0]["id"]

    async def tagged() -> list[Response]:
        own = (await post(chat_world.bob, forum["id"]))["id"]
        body = {"name": "tagged", "message": {"content": "x"}, "applied_tags": [tag]}
        return [
            await _bob(chat_world, "POST", f"/v1/channels/{forum['id']}/threads", body),
            await _bob(chat_world, "PATCH", f"/v1/channels/{own}", {"applied_tags": [tag]}),
        ]

    assert {(answer.status, answer.code) for answer in await tagged()} == {(403, "MISSING_PERMISSIONS")}
    await allow(chat_world, forum["id"], chat_world.bob.id, allow=MANAGE_THREADS)
    assert {(answer.status, answer.code) for answer in await tagged()} == {(400, "TWO_FACTOR_REQUIRED")}
    await enrol(chat_world, chat_world.bob)
    assert {answer.status for answer in await tagged()} <= {200, 201}


ASKED_FOR: Final = [each for each in Permission if each.value & ELEVATED and each is not Permission.ADMINISTRATOR]
"""Nobody asks for ADMINISTRATOR: it is a part of every mask."""
ELEVATED_NAMES: Final = "|".join(str(permission.name) for permission in ASKED_FOR)
LOOKS: Final = re.compile(rf"(?:\.may\(|& )(?:Permission\.)?({ELEVATED_NAMES})\b")
"""Where an elevated permission is looked at without `require`, which knows the second factor."""

REASONS: Final = {
    ("applications/oauth2_authorization.py", "MANAGE_GUILD"): "in the unit, after `Access.guild` has required it",
    ("guilds/claims.py", "MANAGE_GUILD"): "what is shown; where it decides, `Access.guild` requires it",
    ("guilds/invites.py", "MANAGE_GUILD"): "which of two permissions is then required",
    ("guilds/member_changes.py", "MODERATE_MEMBERS"): "of the one who is timed out",
    ("guilds/member_lists.py", "MANAGE_GUILD"): "what is shown",
    ("messages/message_search_scopes.py", "MANAGE_THREADS"): "what is shown",
    ("standing/guild_state.py", "MANAGE_THREADS"): "who sees a thread",
    ("standing/thread_access.py", "MANAGE_THREADS"): "who sees a thread; `moderates`, beside `unmoderated`",
    ("standing/thread_objects.py", "MANAGE_THREADS"): "who sees a thread",
    ("threads/posts.py", "MANAGE_THREADS"): "beside `lacking`",
    ("threads/thread_lists.py", "MANAGE_THREADS"): "what is shown",
}


def test_no_elevated_permission_is_looked_at_alone() -> None:
    """A new place has to `require` it, or to refuse with `lacking`."""
    folder = Path(chat.domain.__file__).parent
    found = {
        (file.relative_to(folder).as_posix(), match[1])
        for file in folder.rglob("*.py")
        if file.name != "access.py"
        for match in LOOKS.finditer(file.read_text("utf-8"))
    }
    assert found <= REASONS.keys(), found - REASONS.keys()
