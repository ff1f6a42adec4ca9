"""An account that has something of everything, and a look at what the store has of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Final

import attrs

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.webhooks.surfaces import data_uri, png

NAME: Final = "zanzibar"
"""Stands in every personal text of the account, and in nothing else."""

EMAIL: Final = f"{NAME}@mail.example"
ADDRESS: Final = "198.51.100.9"
BORN: Final = "1987-06-05"
WORDS: Final = (NAME, ADDRESS, BORN)
"""What is personal of the account wherever it stands."""


@attrs.frozen
class Victim:
    """alice, who owns the seeded guild and its bot, with what else was made for her; ids as the wire has them."""

    id: str
    bot_id: str
    own_guild_id: str
    """A guild that nobody but her and her bot is in."""
    bobs_guild_id: str
    group_id: str
    conversation_id: str
    message_id: str
    """What she wrote in the seeded channel."""
    avatar: str
    banner: str


async def prepare(server: ChatServer, world: World) -> Victim:
    """Let alice live: names, pictures, friends, guilds, a group, conversations; then schedule her deletion, and
    see to it that each table that could be about her has a row that is."""
    alice, bob, carol = world.alice, world.bob, world.carol
    profile = {
        "username": NAME,
        "global_name": f"Of {NAME}",
        "bio": f"I am {NAME}",
        "pronouns": NAME,
        "avatar": data_uri(png(32, 32)),
        "banner": data_uri(png(64, 32)),
        "password": alice.password,
    }
    own = (await alice.rest.patch("/v1/users/@me", profile)).expect(200)
    await server_write(
        server,
        "UPDATE users SET email = ?, email_key = ?, address_key = ?, last_active_ip = ?, date_of_birth = ?,"
        " last_active_at = 5, mention_flags = 1 WHERE id = ?",
        EMAIL,
        EMAIL,
        EMAIL,
        ADDRESS,
        BORN,
        int(alice.id),
    )

    roles = f"/v1/guilds/{world.guild_id}/roles"
    high = (await alice.rest.post(roles, {"name": "high"})).expect(200)
    low = (await alice.rest.post(roles, {"name": "low"})).expect(200)
    order = [{"id": low["id"], "position": 1}, {"id": high["id"], "position": 2}]
    (await alice.rest.patch(roles, order)).expect(204)
    for person, role in ((alice, low), (bob, low), (carol, high)):
        (await alice.rest.put(f"/v1/guilds/{world.guild_id}/members/{person.id}/roles/{role['id']}")).expect(204)
    member = {"nick": f"{NAME} here", "avatar": data_uri(png(16, 16)), "bio": f"{NAME} there"}
    (await alice.rest.patch(f"/v1/guilds/{world.guild_id}/members/@me", member)).expect(200)

    own_guild = (await alice.rest.create_guild(f"guild of {NAME}")).expect(200)["id"]
    bobs_guild = (await bob.rest.create_guild("bob's")).expect(200)
    channel = (await bob.rest.get(f"/v1/guilds/{bobs_guild['id']}/channels")).expect(200)
    text = next(entry for entry in channel if entry["type"] == 0)
    code = (await bob.rest.create_channel_invite(text["id"])).expect(200)["code"]
    (await alice.rest.accept_invite(code)).expect(200)

    for other in (bob, carol):
        (await alice.rest.request_friendship(other.id)).expect(200)
        (await other.rest.accept_friendship(alice.id)).expect(200)
    group = (await alice.rest.make_group(bob.id, carol.id)).expect(200)["id"]
    conversation = (await alice.rest.open_conversation(bob.id)).expect(200)["id"]
    (await alice.rest.send_message(conversation, "to bob")).expect(200)
    (await bob.rest.send_message(conversation, "to her")).expect(200)
    (await alice.rest.send_message(alice.id, f"note of {NAME} to herself")).expect(200)
    (await carol.rest.block(alice.id)).expect(200)
    message = (await alice.rest.send_message(world.channel_id, f"hello <@{bob.id}> @everyone")).expect(200)["id"]
    (await bob.rest.send_message(world.channel_id, f"hello <@{alice.id}> @everyone")).expect(200)
    (await alice.rest.react(world.channel_id, message, "👍")).expect(204)
    (await alice.rest.write_note(bob.id, f"{NAME} likes him")).expect(204)
    (await bob.rest.write_note(alice.id, f"he likes {NAME}")).expect(204)
    (await alice.rest.change_settings(custom_status={"text": NAME})).expect(200)
    (await alice.rest.change_guild_settings(world.guild_id, muted=True)).expect(200)
    saved = {"channel_id": world.channel_id, "message_id": message}
    (await alice.rest.post("/v1/users/@me/saved-messages", saved)).expect(204)
    (await alice.rest.create_channel_invite(world.channel_id)).expect(200)
    report = {"user_id": alice.id, "category": "spam"}
    (await bob.rest.post("/v1/reports/user", report)).expect(200)
    words = {"user_id": carol.id, "category": "spam", "additional_info": f"{NAME} says so"}
    (await alice.rest.post("/v1/reports/user", words)).expect(200)
    deletion = {"reason_code": 2}
    (await world.admin.rest.put(f"/v1/admin/users/{alice.id}/deletion", deletion)).expect(200)
    await server.database.write(lambda connection: fill(connection, world, int(message)))
    return Victim(
        id=alice.id,
        bot_id=world.bot.id,
        own_guild_id=own_guild,
        bobs_guild_id=bobs_guild["id"],
        group_id=group,
        conversation_id=conversation,
        message_id=message,
        avatar=own["avatar"],
        banner=own["banner"],
    )


async def server_write(server: ChatServer, statement: str, *values: Any) -> None:
    """Change the store behind the server's back."""
    await server.database.write(lambda connection: void(connection.execute(statement, values)))


def void(_: object) -> None:
    return None


def fill(connection: sqlite3.Connection, world: World, message_id: int) -> None:
    """A row about alice in each table that the dialogue above leaves empty."""
    alice, bob, guild, channel = (
        int(text) for text in (world.alice.id, world.bob.id, world.guild_id, world.channel_id)
    )
    application = int(world.bot.application_id)
    bobs_guild = connection.execute("SELECT id FROM guilds WHERE owner_id = ?", (bob,)).fetchone()[0]
    token = b"1"
    name = NAME
    for table, values in {
        "account_changes": (1, alice, "email", f"{name}@old.example", EMAIL, None, None, 1),
        "admin_api_keys": (5, alice, name, b"1", "[]", 1, None, None),
        "application_command_days": (application, 0, 1, 1),
        "application_command_permissions": (guild, application, 15, f'[{{"id": "{alice}", "type": 2}}]'),
        "application_commands": (15, application, None, 1, name, f'{{"description": "{name}"}}', 15),
        "archives": (1, "guild", alice, alice, 1, 0, 1, 1, None, None, 100, None, None, None, 9 * 10**12),
        "auth_sessions": (token, alice, 1, 1, ADDRESS, name, name, name, 1),
        "authorized_addresses": (alice, ADDRESS, 1),
        "backup_codes": (alice, 1, b"1", None),
        "bans": (bobs_guild, alice, alice, name, 1, None, ADDRESS),
        "blocklists": ("email", EMAIL, None, alice, 1),
        "brought_exports": (16, alice, name, 1, "ready", None, f'{{"name": "{name}"}}', None, None, None, 0, 1, 1),
        "discovery_applications": (guild, 0, "words", "pending", alice, 1, alice, 1, None),
        "dismissed_mentions": (alice, message_id),
        "drafts": (alice, channel, name, 1),
        "email_tokens": (b"1", "verification", alice, EMAIL, 1, 9 * 10**12, EMAIL, None),
        "ended_auth_sessions": (b"1", alice, 1, 1, ADDRESS, name, name, name, 1),
        "errands": (1, "forget_guild", f'{{"guild_id": {alice}}}'),
        "errand_accounts": (1, alice),
        "expressions": (8, "emojis", guild, alice, "name", 0, "", "[]"),
        "here_mentions": (alice, message_id),
        "imported_messages": (message_id, 1, alice),
        "imported_things": ("person", alice, 1),
        "imports": (15, guild, "discord", "/export", "{}", "completed", "{}", 0, 1, 1, 1),
        "placeholders": (guild, alice, alice, None, alice, 1),
        "claim_requests": (guild, alice, alice, 1),
        "interactions": (
            16,
            application,
            alice,
            2,
            channel,
            guild,
            None,
            b"1",
            None,
            None,
            name,
            9 * 10**12,
            None,
            9,
            17,
            f'{{"user_id": {alice}}}',
            f'{{"title": "{name}"}}',
            b"1",
        ),
        "ephemeral_messages": (17, 16, f'{{"content": "to {name}"}}'),
        "kept_timeouts": (guild, alice, 9 * 10**12, 1),
        "mail_outbox": (1, EMAIL, "verification", b"1", 0, 9 * 10**12, 9 * 10**12),
        "mails": (None, EMAIL, "s", f"to {name}", "verification", None, 1),
        "mentions_read": (alice, 1),
        "notification_words": (alice, f'["{name}"]'),
        "oauth2_grants": (6, application, alice, "[]", 1, b"1", 1),
        "oauth2_tokens": (b"1", 6, "access", 1, 9 * 10**12, None),
        "outside_changes": (None, "account_changed", f'{{"user_id": "{alice}"}}', 1),
        "pending_registrations": (alice, ADDRESS, 1, None),
        "permission_overwrites": (channel, alice, 1, 0, 0),
        "polls": (message_id, 9 * 10**12, None),
        "poll_answers": (message_id, 1, 0),
        "poll_votes": (message_id, 1, alice, 1),
        "push_subscriptions": ("1", alice, token, f"https://push.example/{name}", b"1", b"1", name, 1),
        "recovery_kits": (alice, b"1", 1),
        "reminders": (alice, message_id, channel, 9 * 10**12, None),
        "retained_sessions": ("1", alice, name.encode(), 1),
        "scheduled_messages": (14, alice, channel, 9 * 10**12, name, name, f'"{name}"', 9 * 10**12, name, None),
        "settings_due": (alice, "status", 9 * 10**12),
        "sso_identities": ("issuer", name, alice, 1),
        "store_purchases": (
            1,
            alice,
            "store_a",
            "gift",
            "s",
            "production",
            "a",
            "p",
            None,
            "bought",
            name,
            None,
            None,
            "active",
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            0,
            1,
            name,
            None,
            None,
            None,
            1,
            1,
        ),
        "temporary_members": (alice, guild),
        "tickets": (b"1", "login", alice, f'"{name}"', 0, 1, 9 * 10**12),
        "uncounted_messages": (alice, message_id),
        "used_totp_codes": (alice, 1),
        "webauthn_credentials": (b"1", alice, name, b"1", 0, name, "[]", 0, 1, None, None),
        "webhooks": (9, 1, guild, channel, alice, "hook", None, b"1"),
    }.items():
        connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608
    connection.execute("INSERT INTO channels (id, guild_id, type, parent_id, owner_id) VALUES (11, ?, 11, ?, ?)",
                       (guild, channel, alice))  # fmt: skip
    connection.execute("INSERT INTO threads (id, guild_id, parent_id, auto_archive_duration, archive_timestamp,"
                       " created_at) VALUES (11, ?, ?, 60, 1, 1)", (guild, channel))  # fmt: skip
    connection.execute("INSERT INTO thread_members (thread_id, user_id, joined_at) VALUES (11, ?, 1)", (alice,))
    for attachment_id, message, expires_at in ((7, None, 9 * 10**12), (13, message_id, None)):
        connection.execute(
            "INSERT INTO attachments (id, channel_id, message_id, user_id, filename, content_type, size, expires_at,"
            " stored)"
            " VALUES (?, ?, ?, ?, ?, 'text/plain', 3, ?, 1)",
            (attachment_id, channel, message, alice, "sent" if message else f"{name}.txt", expires_at),
        )
    connection.execute(
        "UPDATE messages SET extra = ? WHERE id = (SELECT max(id) FROM messages WHERE author_id = ?)",
        (f'{{"interaction": {{"id": "16", "type": 2, "user_id": {alice}}}}}', bob),
    )
    for table, column in (("message_mentions", "claimed_from"), ("message_reaction_users", "claimed_from"),
                          ("invites", "placeholder_id")):  # fmt: skip
        connection.execute(f"UPDATE {table} SET {column} = ?", (alice,))  # noqa: S608 - our own names
    connection.execute("INSERT INTO account_changes VALUES (2, ?, 'email', 'a', 'b', NULL, ?, 1)", (bob, alice))
    connection.execute("INSERT INTO admin_audit_log VALUES (1, ?, 'get_user', 'user', '5', NULL, '{}')", (alice,))
    connection.execute("INSERT INTO attachments (id, channel_id, user_id, filename, content_type, size, stored)"
                       " VALUES (12, ?, ?, 'meme', 'text/plain', 3, 1)", (channel, alice))  # fmt: skip
    connection.execute("INSERT INTO favorite_memes VALUES (12, ?, ?, ?, '[]')", (alice, name, name))


def columns(connection: sqlite3.Connection, kind: str = "table") -> dict[str, list[str]]:
    """The columns of every table; of kind `shadow`, of what is behind the full-text indexes."""
    tables = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = ?"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name",
        (kind,),
    ).fetchall()
    return {
        name: [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))]
        for (name,) in tables
    }


def found(connection: sqlite3.Connection, *sought: str, kind: str = "table") -> set[tuple[str, str]]:
    """The columns, with their tables, in which one of these texts, or numbers, occurs."""
    return {
        (table, column)
        for table, names in columns(connection, kind).items()
        for row in connection.execute(f"SELECT {', '.join(names)} FROM {table}")  # noqa: S608
        for column, value in zip(names, row, strict=True)
        if any(needle in text for text in _texts(value) for needle in sought)
    }


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, bytes):
        yield value.decode("latin-1").lower()
    elif value is not None:
        yield str(value).lower()
