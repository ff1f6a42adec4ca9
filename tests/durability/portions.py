"""Requests that take more than one unit of writing, and the world that they are made in."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any, Final

from chat.testing.rest_client import Response
from chat.testing.world import World

Request = Callable[[World], Awaitable[Response]]


def everybody_is_there(connection: sqlite3.Connection, *, messages: int, members: int) -> None:
    """In a store of the seeded world: bob and alice have written `messages` messages in its channel, and `members` more
    accounts are members of its guild, which their settings name."""
    ids = dict(connection.execute("SELECT username, id FROM users"))
    channel_id, guild_id = connection.execute(
        "SELECT id, guild_id FROM channels WHERE type = 0 AND guild_id > 0 ORDER BY id LIMIT 1"
    ).fetchone()
    [(last_id,)] = connection.execute("SELECT max(id) FROM channels")
    for number in range(1, 2 * messages + 1):
        author = ids["bob"] if number % 2 else ids["alice"]
        connection.execute(
            "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, ?, ?, 0, 'x')",
            (last_id + number, channel_id, author),
        )
    for number in range(1, members + 1):
        user_id = last_id + 10_000 + number
        name = f"member{number}"
        connection.execute(
            "INSERT INTO users (id, username, username_key, discriminator, created_at) VALUES (?, ?, ?, 1, 1)",
            (user_id, name, name),
        )
        connection.execute("INSERT INTO members (guild_id, user_id, joined_at) VALUES (?, ?, 1)", (guild_id, user_id))
        settle_in(connection, user_id, guild_id)
        if number <= 3:
            connection.execute(
                "INSERT INTO relationships (user_id, target_id, type) VALUES (?1, ?2, 1), (?2, ?1, 1)",
                (ids["bob"], user_id),
            )
            connection.execute(
                """
                INSERT INTO reports (id, kind, reporter_id, reported_user_id, category, status)
                VALUES (?, 'user', ?, ?, 'spam', 'pending')
                """,
                (last_id + 20_000 + number, user_id, ids["bob"]),
            )
    for place, claimant in ((last_id + 30_000, None), (last_id + 40_000, ids["bob"])):
        bring_person(connection, place, claimant, guild_id, channel_id)
    connection.execute("UPDATE guilds SET member_count = member_count + ? WHERE id = ?", (members, guild_id))
    for name in ("alice", "bob", "carol"):
        settle_in(connection, ids[name], guild_id)


def bring_person(
    connection: sqlite3.Connection, user_id: int, claimant: int | None, guild_id: int, channel_id: int
) -> None:
    """Somebody of an import, perhaps claimed: three messages, each with a mention of them and their reaction."""
    who = user_id if claimant is None else claimant
    origin = None if claimant is None else user_id
    name = f"person{user_id}"
    connection.execute(
        "INSERT INTO users (id, username, username_key, discriminator, created_at) VALUES (?, ?, ?, 1, 1)",
        (user_id, name, name),
    )
    connection.execute(
        "INSERT INTO placeholders (guild_id, user_id, person_id, claimed_by, claimed_at) VALUES (?, ?, ?, ?, ?)",
        (guild_id, user_id, user_id, claimant, None if claimant is None else 1),
    )
    for message_id in range(user_id + 1, user_id + 4):
        connection.execute(
            "INSERT INTO messages (id, channel_id, author_id, type, content, has_reactions) VALUES (?, ?, ?, 0, ?, 1)",
            (message_id, channel_id, who, f"<@{who}>"),
        )
        connection.execute("INSERT INTO imported_messages VALUES (?, 1, ?)", (message_id, user_id))
        connection.execute(
            "INSERT INTO message_mentions (message_id, user_id, claimed_from) VALUES (?, ?, ?)",
            (message_id, who, origin),
        )
        connection.execute(
            """
            INSERT INTO message_reactions (id, message_id, emoji, emoji_name, first_reacted_at, user_count)
            VALUES (?1, ?1, 'x', 'x', 1, 1)
            """,
            (message_id,),
        )
        connection.execute("INSERT INTO message_reaction_users VALUES (?, ?, ?)", (message_id, who, origin))


def settle_in(connection: sqlite3.Connection, user_id: int, guild_id: int) -> None:
    """The account has the guild in a folder, and settings for it."""
    folders = f'{{"guild_folders": [{{"id": -1, "guild_ids": ["{guild_id}"]}}], "restricted_guilds": ["{guild_id}"]}}'
    connection.execute("INSERT OR REPLACE INTO user_settings (user_id, body) VALUES (?, ?)", (user_id, folders))
    connection.execute(
        "INSERT OR REPLACE INTO user_guild_settings (user_id, guild_id, body) VALUES (?, ?, '{}')", (user_id, guild_id)
    )


async def make_bot_travel(world: World) -> None:
    """alice's bot is in two more guilds."""
    for name in ("first", "second"):
        guild_id = (await world.alice.rest.create_guild(name)).expect(200)["id"]
        body = {"members": {world.bot.id: {}}}
        (await world.anyone.post(f"/v1/_dev/guilds/{guild_id}", body)).expect(200)


def of(person: str, method: str, path: str, **body: Any) -> Request:
    """A request of somebody's; `...` stands for their password."""

    async def request(world: World) -> Response:
        asking = getattr(world, person)
        names = {
            "guild_id": world.guild_id,
            "channel_id": world.channel_id,
            "bob_id": world.bob.id,
            "application_id": world.bot.application_id,
        }
        if "{person_id}" in path or "{claimed_id}" in path:
            people = (await asking.rest.get(f"/v1/guilds/{world.guild_id}/placeholders")).expect(200)
            names["person_id"], names["claimed_id"] = (one["user"]["id"] for one in people)
        filled = {name: asking.password if value is ... else value for name, value in body.items()}
        answer: Response = await asking.rest.request(method, path.format(**names), json=filled)
        return answer

    return request


REQUESTS: Final[dict[str, Request]] = {
    "POST /v1/guilds/{guild_id}/delete": of("alice", "POST", "/v1/guilds/{guild_id}/delete", password=...),
    "DELETE /v1/admin/guilds/{guild_id}": of("admin", "DELETE", "/v1/admin/guilds/{guild_id}"),
    "POST /v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine": of(
        "bob", "POST", "/v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine", password=...
    ),
    "POST /v1/channels/{channel_id}/messages/bulk-delete-mine": of(
        "bob", "POST", "/v1/channels/{channel_id}/messages/bulk-delete-mine", password=...
    ),
    "POST /v1/users/@me/messages/bulk-delete-mine": of(
        "bob", "POST", "/v1/users/@me/messages/bulk-delete-mine", password=...
    ),
    "DELETE /v1/users/@me/guilds/{guild_id}": of(
        "bob", "DELETE", "/v1/users/@me/guilds/{guild_id}?delete_messages=true", password=...
    ),
    "PUT /v1/guilds/{guild_id}/bans/{user_id}": of(
        "alice", "PUT", "/v1/guilds/{guild_id}/bans/{bob_id}", delete_message_seconds=604_800
    ),
    "PUT /v1/admin/guilds/{guild_id}/bans/{user_id}": of(
        "admin", "PUT", "/v1/admin/guilds/{guild_id}/bans/{bob_id}", delete_message_seconds=604_800
    ),
    "POST /v1/channels/{channel_id}/messages/purge": of(
        "alice", "POST", "/v1/channels/{channel_id}/messages/purge", limit=1_000
    ),
    "DELETE /v1/oauth2/applications/{application_id}": of(
        "alice", "DELETE", "/v1/oauth2/applications/{application_id}", password=...
    ),
    "DELETE /v1/admin/users/{user_id}/relationships": of(
        "admin", "DELETE", "/v1/admin/users/{bob_id}/relationships?category=friend"
    ),
    "PUT /v1/admin/users/{user_id}/deletion": of(
        "admin", "PUT", "/v1/admin/users/{bob_id}/deletion", reason_code=3, notify_user=False
    ),
    "POST /v1/guilds/{guild_id}/placeholders/{user_id}/claim": of(
        "alice", "POST", "/v1/guilds/{guild_id}/placeholders/{person_id}/claim"
    ),
    "DELETE /v1/guilds/{guild_id}/placeholders/{user_id}/claim": of(
        "alice", "DELETE", "/v1/guilds/{guild_id}/placeholders/{claimed_id}/claim?user_id={bob_id}"
    ),
}
"""Those that are errands (`chat.domain.policy.errands`), by their operations."""
