# ruff: noqa: S608
"""Makes `0.1.0.tar.xz`: the data directory of an instance of release 0.1.0 with rows in every table.

It runs in a checkout of that release, as one of its tests, because the release's own test kit lives the life:

    git worktree add ../release-0.1.0 d2a6cdf
    cp tests/store/releases/make_0_1_0.py ../release-0.1.0/tests/admin/test_make_release.py
    cd ../release-0.1.0 && RELEASE=/tmp/0.1.0.tar.xz python -m pytest -q tests/admin/test_make_release.py

What the API of that release writes is written over the API; what needs a mail, a browser's authenticator, a payment or
the passing of time is written as a row, in the form that the release gives it.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import tarfile
from pathlib import Path
from typing import Any

import pytest
import trio
from tests.admin.erasure_world import Victim, columns, prepare
from tests.api.surfaces import data_uri, form, new_webhook, png, post_form

from chat.auth.keys import Keys
from chat.testing.server import SECRET, ChatServer
from chat.testing.world import World

NOW = 1_795_300_000_000
"""2026-11-21, in Unix milliseconds."""

FAR = 9_000_000_000_000
UPLOAD = b"a photograph of the harbour"


async def test_make(
    chat_server: ChatServer, chat_world: World, autojump_clock: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.admin.erasure_world.fill", lambda *_: None)
    ids = await live(chat_world)
    victim = await prepare(chat_server, chat_world)
    client = await chat_world.bob.connect()  # a session that the drain writes down, with a Dispatch
    client.drop()
    (await chat_world.carol.rest.send_message(chat_world.channel_id, "while bob was away")).expect(200)
    await chat_server.drain()
    folder = chat_server._folder
    with sqlite3.connect(folder / "chat.sqlite3") as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        fill(connection, chat_world, victim, ids)
        empty = [name for name in columns(connection) if not connection.execute(f"SELECT 1 FROM {name}").fetchone()]
        assert empty == [], ",".join(empty)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    (folder / "signing.key").write_bytes(SECRET)
    connection = sqlite3.connect(folder / "chat.sqlite3")
    connection.execute(f"VACUUM INTO '{tmp_path / 'whole.sqlite3'}'")
    connection.close()
    if "RELEASE" in os.environ:
        with tarfile.open(os.environ["RELEASE"], "w:xz", preset=9) as tar:
            tar.add(tmp_path / "whole.sqlite3", "chat.sqlite3", filter=plain)
            for name in ("signing.key", "uploads", "archives"):
                tar.add(folder / name, name, filter=plain)


def plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Without what tells of the machine; without what can be made again."""
    if "/derived" in member.name or "/incoming" in member.name:
        return None
    member.mode &= 0o700
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


async def live(world: World) -> dict[str, int]:
    """What the API writes beside `prepare`; ids of what was made."""
    alice, bob = world.alice.rest, world.bob.rest
    guild, channel = world.guild_id, world.channel_id
    payload = json.dumps({"content": "a file", "attachments": [{"id": 0, "filename": "harbour.txt"}]}).encode()
    body = form([("files[0]", "harbour.txt", UPLOAD)], payload)
    sent = (await post_form(bob, f"/v1/channels/{channel}/messages", body)).expect(200)
    (await bob.declaring("channel_threads").start_thread_from(channel, sent["id"], "about it")).expect(201)
    emoji = {"name": "wave", "image": data_uri(png(16, 16))}
    (await alice.post(f"/v1/guilds/{guild}/emojis", emoji)).expect(200)
    overwrite = {"type": 1, "allow": "1024", "deny": "0"}
    (await alice.put(f"/v1/channels/{channel}/permissions/{world.carol.id}", overwrite)).expect(204)
    await new_webhook(alice, channel)
    news = (await alice.post(f"/v1/guilds/{guild}/channels", {"name": "news", "type": 5})).expect(200)
    elsewhere = (await bob.create_guild("Elsewhere")).expect(200)
    (await bob.follow(news["id"], elsewhere["system_channel_id"])).expect(200)
    announced = (await alice.send_message(news["id"], "news of the harbour")).expect(200)
    (await alice.post(f"/v1/channels/{news['id']}/messages/{announced['id']}/crosspost")).expect(200)
    await trio.sleep(120)
    role = (await alice.post(f"/v1/guilds/{guild}/roles", {"name": "harbour masters"})).expect(200)["id"]
    (await alice.patch(f"/v1/guilds/{guild}/roles/{role}", {"mentionable": True})).expect(200)
    (await alice.send_message(channel, f"hello <@&{role}>")).expect(200)
    (await world.admin.rest.patch("/v1/admin/instance/config", {"registration": "open"})).expect(200)
    (await world.admin.rest.post(f"/v1/admin/users/{world.alice.id}/archives", {})).expect(200)
    return {"message": int(sent["id"]), "announced": int(announced["id"]), "news": int(news["id"])}


def fill(connection: sqlite3.Connection, world: World, victim: Victim, ids: dict[str, int]) -> None:
    """A row in each table that is empty still."""
    keys = Keys(SECRET, random.Random(1))
    alice, bob, carol, guild = (int(text) for text in (world.alice.id, world.bob.id, world.carol.id, world.guild_id))
    message, application = ids["message"], int(world.bot.application_id)
    sign_in = connection.execute("SELECT token_hash FROM auth_sessions WHERE user_id = ?", (bob,)).fetchone()[0]
    letter = json.dumps({"subject": "Hello", "text": "Hello alice"}).encode()
    rows: dict[str, tuple[Any, ...]] = {
        "active_calls": (int(victim.conversation_id), message),
        "address_bans": ("203.0.113.9", "twenty failures", NOW, FAR),
        "authorized_addresses": (alice, "198.51.100.9", NOW),
        "backup_codes": (alice, 1, keys.seal("backup codes", b"abcd-efgh", str(alice).encode()), None),
        "bans": (guild, NOW_USER, alice, "spam", NOW, None, "203.0.113.9"),
        "crosspost_deliveries": (ids["announced"], 77, ids["news"], FAR, 1, 0),
        "discovery_applications": (guild, 0, "a harbour", "pending", alice, NOW, None, None, None),
        "dismissed_mentions": (alice, message),
        "email_tokens": (b"\1" * 32, "verification", alice, "a@mail.example", NOW, FAR, "a@mail.example", None),
        "here_mentions": (alice, message),
        "kept_timeouts": (guild, NOW_USER, FAR, NOW),
        "mail_outbox": (
            1,
            "a@mail.example",
            "verification",
            keys.seal("mail outbox", letter, b"a@mail.example"),
            0,
            FAR,
            NOW,
        ),
        "media_garbage": ("attachments/1",),
        "message_search_queue": (message,),
        "mentions_read": (alice, message),
        "oauth2_grants": (6 << 40, application, bob, '["identify"]', 0, b"\2" * 32, NOW),
        "oauth2_tokens": (b"\3" * 32, 6 << 40, "refresh", NOW, FAR, None),
        "outside_changes": (None, "account_changed", json.dumps({"user_id": str(alice)}), NOW),
        "pending_registrations": (NOW_USER, "203.0.113.9", NOW, NOW),
        "push_subscriptions": ("0" * 32, bob, sign_in, "https://push.example/1", b"\4" * 65, b"\5" * 16, None, NOW),
        "recovery_kits": (alice, b"\6" * 32, NOW),
        "settings_due": (alice, "custom_status", FAR),
        "sso_identities": ("https://login.example", "alice", alice, NOW),
        "temporary_members": (carol, guild),
        "tickets": (b"\7" * 32, "login", alice, "{}", 0, NOW, FAR),
        "unfurled": (b"\10" * 32, json.dumps({"type": "link", "url": "https://example.com"}), FAR),
        "used_totp_codes": (alice, 59_800_000),
        "webauthn_credentials": (b"\11" * 16, alice, "a key", b"\12" * 77, 1, "0" * 32, "[]", 0, NOW, None, None),
    }
    connection.execute("UPDATE account_deletions SET due_at = ?", (FAR,))
    stranger = "INSERT INTO users (id, username, username_key, discriminator, created_at) VALUES (?, ?, ?, 7, ?)"
    connection.execute(stranger, (NOW_USER, "stranger", "stranger", NOW))
    for table, values in rows.items():
        if connection.execute(f"SELECT 1 FROM {table}").fetchone() is None:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
    purchase = {
        "id": 8 << 40, "user_id": alice, "provider": "store_a", "kind": "gift", "slot": "gift",
        "environment": "production", "app_id": "a", "product_id": "p", "purchase_token": "bought",
        "state": "active", "superseded": 0,
        "acknowledged": 1, "created_at": NOW, "updated_at": NOW,
    }  # fmt: skip
    names = ", ".join(purchase)
    connection.execute(f"INSERT INTO store_purchases ({names}) VALUES ({', '.join('?' * len(purchase))})",
                       tuple(purchase.values()))  # fmt: skip
    attachment = connection.execute("SELECT id FROM attachments WHERE stored").fetchone()[0]
    connection.execute("INSERT INTO favorite_memes VALUES (?, ?, 'harbour', NULL, '[]')", (attachment, bob))


NOW_USER = 1_575_230_000_000_000_000
"""The id of a stranger who was banned."""
