"""What commands do beside a running server: it takes notice at once, and so does whoever is connected to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trio

from chat.testing.rest_client import RestClient
from tests.cli.command_line import Outcome, Run
from tests.durability.server_process import ServerProcess, running
from tests.patience import PATIENCE_SECONDS


async def status_of(server: ServerProcess, path: str, token: str) -> int:
    """How a request with this credential is answered, on a connection of its own."""
    client = RestClient(server.route, token)
    try:
        return (await client.get(path)).status
    finally:
        await client.aclose()


async def answered(client: RestClient, path: str, body: object, status: int) -> None:
    """Ask until the answer has this status: a change that no session hears of is taken up a little later."""
    with trio.fail_after(PATIENCE_SECONDS):
        while True:
            if (await client.post(path, body)).status == status:
                return
            await trio.sleep(0.05)


async def test_a_running_server_takes_notice_at_once(run: Run, tmp_path: Path) -> None:
    async def chat(*arguments: object) -> Any:
        """What a command prints that succeeds."""
        ending: Outcome = await trio.to_thread.run_sync(lambda: run(*arguments, "--data", tmp_path))
        assert (ending.status, ending.err) == (0, ""), arguments
        return ending.json

    async with running(tmp_path) as server, trio.open_nursery() as nursery:
        world = server.world
        guild_id, channel_id = world["guild_id"], world["channel_id"]
        alice, bob, carol = [await server.connect(nursery) for _ in range(3)]
        bot = await server.connect(nursery)
        for client, token in (
            (alice, server.token_of("alice")),
            (bob, server.token_of("bob")),
            (carol, server.token_of("carol")),
            (bot, world["bot"]["token"]),
        ):
            await client.identify(token)
            await client.expect("READY")

        # A guild's features, and an invite that its owner hears of.
        await chat("guild", "features", guild_id, "--add", "VANITY_URL")
        update = await alice.expect("GUILD_UPDATE")
        assert "VANITY_URL" in update.data["features"]
        made = await chat("invite", "create", channel_id, "--max-uses", 1)
        told = await alice.expect("INVITE_CREATE")
        assert (told.data["code"], "inviter" in told.data, told.data["max_uses"]) == (made["code"], False, 1)
        entry = (await alice.expect("GUILD_AUDIT_LOG_ENTRY_CREATE")).data
        assert (entry["action_type"], entry["user_id"]) == (40, "0")
        path = f"/v1/invites/{made['code']}"
        assert (await server.bob.get(path)).expect(200)["channel"]["id"] == channel_id
        log = (await server.alice.get(f"/v1/guilds/{guild_id}/audit-logs")).expect(200)["audit_log_entries"]
        assert log[0]["id"] == entry["id"]
        await chat("invite", "delete", made["code"])
        assert (await alice.expect("INVITE_DELETE")).data["code"] == made["code"]
        assert (await server.bob.get(path)).status == 404

        # A guild and a channel, which their members see at once.
        made = await chat("guild", "create", "--owner", "carol", "--name", "Pier")
        created = (await carol.expect("GUILD_CREATE")).data
        assert (created["id"], created["properties"]["name"]) == (made["id"], "Pier")
        folders = (await carol.expect("USER_SETTINGS_UPDATE")).data["guild_folders"]
        assert made["id"] in folders[0]["guild_ids"]
        assert (await alice.expect("GUILD_AUDIT_LOG_ENTRY_CREATE")).data["action_type"] == 42
        channel = await chat("channel", "create", guild_id, "--name", "crane")
        assert (await bob.expect("CHANNEL_CREATE")).data["id"] == channel["id"]
        entry = (await alice.expect("GUILD_AUDIT_LOG_ENTRY_CREATE")).data
        assert (entry["action_type"], entry["user_id"], entry["target_id"]) == (10, "0", channel["id"])
        (await server.bob.post(f"/v1/channels/{channel['id']}/messages", {"content": "ahoy"})).expect(200)

        # What is blocked, and what is not any more.
        await chat("block", "add", "phrase", "barnacle")
        words = {"content": "a barnacle"}
        await answered(server.bob, f"/v1/channels/{channel_id}/messages", words, 403)
        await chat("block", "remove", "phrase", "barnacle")
        await answered(server.bob, f"/v1/channels/{channel_id}/messages", words, 200)

        # What an administrator may do, and keys.
        lookup = f"/v1/admin/users/{world['users'][2]['id']}"
        assert (await server.bob.get(lookup)).status == 403
        await chat("user", "acl", "bob", "--set", "admin:authenticate", "--set", "user:lookup")
        await bob.expect("USER_UPDATE")
        (await server.bob.get(lookup)).expect(200)
        key = await chat("key", "create", "--owner", "bob", "--acl", "admin:authenticate", "user:lookup")
        assert await status_of(server, lookup, f"Admin {key['key']}") == 200
        await chat("user", "acl", "bob", "--set", "")
        assert (await server.bob.get(lookup)).status == 403
        assert await status_of(server, lookup, f"Admin {key['key']}") == 403
        await chat("key", "delete", key["key_id"])
        assert await status_of(server, lookup, f"Admin {key['key']}") == 401

        # Sign-ins end; a bot's token is none.
        assert (await chat("user", "sessions", "carol", "--end"))["terminated_count"] == 1
        await carol.expect_opcode(9)
        assert (await server.carol.get("/v1/users/@me")).status == 401
        assert len(await chat("user", "sessions", "carol")) == 1
        assert (await chat("user", "sessions", world["bot"]["user_id"], "--end"))["terminated_count"] == 0

        # A ban, a new password, and a deletion.
        await chat("user", "ban", "bob", "--hours", 1)
        await bob.expect_opcode(9)
        assert (await server.bob.get("/v1/users/@me")).status == 401
        login = {key: world["users"][1][key] for key in ("email", "password")}
        assert (await server.bob.post("/v1/auth/login", login)).status == 403
        await chat("user", "unban", "bob")
        token = (await server.bob.post("/v1/auth/login", login)).expect(200)["token"]
        login["password"] = (await chat("user", "password", "bob"))["password"]
        assert await status_of(server, "/v1/users/@me", token) == 401
        (await server.bob.post("/v1/auth/login", login)).expect(200)
        await chat("user", "delete", "bob", "--because", "spam")
        assert (await server.bob.post("/v1/auth/login", login)).status == 403
        assert bot.is_open
        token = (await chat("bot", "token", world["bot"]["application_id"]))["token"]
        await bot.expect_opcode(9)
        assert await status_of(server, "/v1/users/@me", f"Bot {world['bot']['token']}") == 401
        assert await status_of(server, "/v1/users/@me", f"Bot {token}") == 200

        # All of it is read back, with nobody's account as the one who did it.
        entries = await chat("audit-log", "--limit", 200)
        assert {each["admin_user_id"] for each in entries} >= {"0"}
        done = {each["action"] for each in entries if each["admin_user_id"] == "0"}
        assert done >= {"set_acls", "terminate_sessions", "temp_ban", "unban", "schedule_deletion", "ban_email"}
        await bot.aclose()
        await alice.aclose()
        nursery.cancel_scope.cancel()
