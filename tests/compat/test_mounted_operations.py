"""The mount over HTTP: addresses, objects and refusals in the words of the client libraries (compat.md, Second mount;
compat.md, Errors of the mount)."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

from chat.api.operation import Routes
from chat.compat.discord.errors import NUMBERS, told
from chat.compat.discord.own_operations import OWN, routes
from chat.compat.discord.rest import ADDRESSES, MISSING, ONE_OF
from chat.compat.discord.tokens import own_form, without_scheme
from chat.registries.error_codes import ErrorCode
from chat.testing.http_client import HttpClient
from chat.testing.world import World
from tests.compat.mounted import REST
from tests.webhooks.surfaces import data_uri, png


@pytest.mark.parametrize("version", ["8", "9", "10"])
async def test_the_gateway_is_told_with_and_without_a_token(chat_world: World, version: str) -> None:
    told_to_all = (await chat_world.anyone.get(f"/api/v{version}/gateway")).expect(200)
    assert told_to_all == {"url": "ws://127.0.0.1:8080/gateway"}
    told_to_bots = (await chat_world.bot.rest.get(f"/api/v{version}/gateway/bot")).expect(200)
    assert told_to_bots == (await chat_world.bot.rest.get("/v1/gateway/bot")).expect(200)


async def test_addresses_of_the_mount_are_known_with_needless_escapes(chat_world: World) -> None:
    asked = f"{REST}/users/%40me/guilds/{chat_world.guild_id}/memb%65r"
    assert (await chat_world.bot.rest.get(asked)).expect(200)["user"]["id"] == chat_world.bot.id
    missing = (await chat_world.bot.rest.get(f"{REST}/guilds/{chat_world.guild_id}/welcome%2Dscreen")).json()
    assert missing["message"] == "This server has no welcome screens."


async def test_operations_of_the_mount_alone_are_nowhere_else(chat_world: World) -> None:
    everybody = HttpClient(chat_world.route)
    for path in ("/v1/gateway", "/gateway/empty/list", "/%20discord/gateway", "/v1/soundboard-default-sounds"):
        assert (await everybody.get(path)).status in {404, 426}, path
    document = (await chat_world.anyone.get("/v1/openapi.json")).expect(200)
    assert not [path for path in document["paths"] if "discord" in path]


def test_addresses_lead_to_operations_and_hide_none() -> None:
    from chat.api.routes.every import ROUTES

    def declarations(*modules: Routes) -> set[tuple[str, str]]:
        return {
            (operation.method, "/".join("{}" if part.startswith("{") else part for part in operation.path.split("/")))
            for module in modules
            for operation in module.operations
        }

    declared, own = declarations(*ROUTES), declarations(routes)
    for method, asked, there, target in ADDRESSES:
        # One that is documented is hidden only by the form of it that libraries read.
        assert (method, asked) not in declared or (there, target) in own, asked
        assert (there, target) in own | declared or target.startswith(f"{OWN}/empty/"), target
        assert asked.count("{}") >= target.count("{}")
    for asked, target, _ in ONE_OF:
        assert ("GET", target) in declared
        assert ("GET", asked) not in declared


@pytest.mark.parametrize(
    ("path", "nothing"),
    [
        ("/soundboard-default-sounds", []),
        ("/sticker-packs", {"sticker_packs": []}),
        ("/guilds/5/soundboard-sounds", {"items": []}),
    ],
)
async def test_what_libraries_ask_for_by_themselves_is_empty(chat_world: World, path: str, nothing: object) -> None:
    assert (await chat_world.bot.rest.get(f"{REST}{path}")).expect(200) == nothing


async def test_objects_have_what_is_demanded_at_the_mount_alone(chat_world: World) -> None:
    guild = f"/guilds/{chat_world.guild_id}"
    ours = (await chat_world.bot.rest.get(f"/v1{guild}")).expect(200)
    theirs = (await chat_world.bot.rest.get(f"{REST}{guild}")).expect(200)
    assert theirs["roles"][0]["colors"]["primary_color"] == 0
    assert "colors" not in ours["roles"][0]
    assert {name: theirs[name] for name in ours if name not in {"roles", "channels"}} == {
        name: member for name, member in ours.items() if name not in {"roles", "channels"}
    }
    members = (await chat_world.bot.rest.get(f"{REST}{guild}/members?limit=100")).expect(200)
    assert all(member["flags"] == member["user"]["public_flags"] == 0 for member in members)
    application = (await chat_world.bot.rest.get(f"{REST}/oauth2/applications/@me")).expect(200)
    assert (application["description"], application["flags"] > 0) == ("", True)


async def test_one_of_a_list_is_found_or_unknown(chat_world: World) -> None:
    guild = f"/guilds/{chat_world.guild_id}"
    role = (await chat_world.alice.rest.post(f"/v1{guild}/roles", {"name": "Crew"})).expect(200)
    found = (await chat_world.alice.rest.get(f"{REST}{guild}/roles/{role['id']}")).expect(200)
    assert (found["name"], found["colors"]["primary_color"]) == ("Crew", 0)
    (await chat_world.alice.rest.put(f"/v1{guild}/bans/{chat_world.carol.id}", {})).expect(204)
    ban = (await chat_world.alice.rest.get(f"{REST}{guild}/bans/{chat_world.carol.id}")).expect(200)
    assert ban["user"]["id"] == chat_world.carol.id
    image = {"name": "anchor", "image": data_uri(png())}
    emoji = (await chat_world.alice.rest.post(f"{REST}{guild}/emojis", image)).expect(200)
    found = (await chat_world.alice.rest.get(f"{REST}{guild}/emojis/{emoji['id']}")).expect(200)
    assert (found["name"], found["user"]["id"], found["available"]) == ("anchor", chat_world.alice.id, True)
    for path, number in (("roles", 10011), ("emojis", 10014), ("stickers", 10060), ("bans", 0)):
        answer = await chat_world.alice.rest.get(f"{REST}{guild}/{path}/5")
        assert (answer.status, answer.json()["code"]) == (404, number)
    # Other methods on the same paths are the documented operations.
    changed = await chat_world.alice.rest.patch(f"{REST}{guild}/roles/{role['id']}", {"name": "Staff"})
    assert changed.expect(200)["colors"]["primary_color"] == 0


async def test_pins_by_their_older_and_newer_addresses(chat_world: World) -> None:
    alice, channel = chat_world.alice.rest, f"/channels/{chat_world.channel_id}"
    sent = (await alice.post(f"{REST}{channel}/messages", {"content": "keep"})).expect(200)
    assert (await alice.put(f"{REST}{channel}/messages/pins/{sent['id']}")).status == 204
    assert [each["id"] for each in (await alice.get(f"{REST}{channel}/pins")).expect(200)] == [sent["id"]]
    (newer,) = (await alice.get(f"{REST}{channel}/messages/pins")).expect(200)["items"]
    assert newer["message"]["id"] == sent["id"]
    assert (await alice.delete(f"{REST}{channel}/messages/pins/{sent['id']}")).status == 204
    assert (await alice.get(f"{REST}{channel}/pins")).expect(200) == []


async def test_a_guild_is_deleted_as_there(chat_world: World) -> None:
    made = (await chat_world.alice.rest.post("/v1/guilds", {"name": "Short"})).expect(200)["id"]
    proof = {"password": chat_world.alice.password}
    answer = await chat_world.alice.rest.request("DELETE", f"{REST}/guilds/{made}", json=proof)
    assert answer.status in {200, 204}
    assert (await chat_world.alice.rest.get(f"/v1/guilds/{made}")).status == 404


async def test_a_reason_is_unescaped(chat_world: World) -> None:
    guild, reason = f"/guilds/{chat_world.guild_id}", "grüße 😀 100%"
    headers = {"X-Audit-Log-Reason": quote(reason)}
    made = await chat_world.alice.rest.request("POST", f"{REST}{guild}/roles", json={"name": "R"}, headers=headers)
    made.expect(200)
    entries = (await chat_world.alice.rest.get(f"/v1{guild}/audit-logs")).expect(200)["audit_log_entries"]
    assert entries[0]["reason"] == reason


# Credentials


async def test_a_token_may_have_its_id_in_base64(chat_world: World) -> None:
    application_id, _, secret = chat_world.bot.token.partition(".")
    token = f"{base64.b64encode(application_id.encode()).decode().rstrip('=')}.{secret}"
    client = HttpClient(chat_world.route, f"Bot {token}")
    assert (await client.get(f"{REST}/users/@me")).expect(200)["id"] == chat_world.bot.id
    assert (await client.get("/v1/users/@me")).status == 401


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("MTIz.abc", "123.abc"),
        ("MTIzNA.abc", "1234.abc"),
        ("123.abc", "123.abc"),
        ("cht_abc", "cht_abc"),
        ("YWJj.abc", "YWJj.abc"),
        ("\u00e9.abc", "\u00e9.abc"),
        ("....", "...."),
        ("", ""),
    ],
)
def test_forms_of_tokens(sent: str, meant: str) -> None:
    assert own_form(sent) == without_scheme(f"Bot {sent}") == without_scheme(sent) == meant


# Refusals


async def test_a_refusal_has_a_number_and_our_code(chat_world: World) -> None:
    answer = await chat_world.bot.rest.get(f"{REST}/channels/5")
    assert (answer.status, answer.json()["code"], answer.json()["error_code"]) == (404, 10003, "UNKNOWN_CHANNEL")
    nowhere = (await chat_world.bot.rest.get(f"{REST}/nowhere")).json()
    assert (nowhere["code"], nowhere["error_code"]) == (0, "NOT_FOUND")
    stranger = await HttpClient(chat_world.route).get(f"{REST}/users/@me")
    assert (stranger.status, stranger.json()["code"]) == (401, 0)


async def test_wrong_fields_are_a_tree(chat_world: World) -> None:
    path = f"{REST}/channels/{chat_world.channel_id}/messages"
    refused = await chat_world.bot.rest.post(path, {"content": "x", "embeds": [{"title": "x" * 1000}]})
    assert (refused.status, refused.json()["code"]) == (400, 50035)
    (error,) = refused.json()["errors"]["embeds"]["0"]["title"]["_errors"]
    assert error["code"] == "CONTENT_EXCEEDS_MAX_LENGTH"


async def test_a_429_has_what_libraries_look_for(chat_world: World) -> None:
    fault = {"action": "http", "path": "/v1/users/@me", "status": 429, "times": 2, "retry_after": 1.5}
    (await chat_world.anyone.post("/v1/_dev/faults", fault)).expect(200)
    refused, ours = [await chat_world.bot.rest.get(f"{prefix}/users/@me") for prefix in (REST, "/v1")]
    assert (refused.status, refused.json()["retry_after"], refused.json()["global"]) == (429, 1.5, False)
    assert refused.header("Via") == "1.1 chat"
    assert ours.header("Via") is None


def test_numbers_belong_to_registered_codes() -> None:
    assert NUMBERS.keys() <= set(ErrorCode.__members__)


def test_a_path_in_a_field_that_has_errors_itself() -> None:
    errors = [{"path": path, "code": "C", "message": "M"} for path in ("a", "a.b", "a[0].b", "root")]
    tree = told({"code": "INVALID_FORM_BODY", "errors": errors})["errors"]
    entry = [{"code": "C", "message": "M"}]
    assert tree == {
        "a": {"_errors": entry, "b": {"_errors": entry}, "0": {"b": {"_errors": entry}}},
        "root": {"_errors": entry},
    }


async def test_what_is_deleted_is_told(chat_world: World) -> None:
    alice, guild, bot = chat_world.alice.rest, f"/v1/guilds/{chat_world.guild_id}", chat_world.bot.rest
    made = (await alice.post(f"{guild}/channels", {"name": "short-lived", "type": 0})).expect(200)
    invite = (await alice.post(f"/v1/channels/{made['id']}/invites", {})).expect(200)
    for path in (f"/invites/{invite['code']}", f"/channels/{made['id']}"):
        refused = await bot.request("DELETE", f"{REST}{path}")
        assert refused.json()["code"] == 50013, "the bot may delete neither"
    gone = (await alice.request("DELETE", f"{REST}/invites/{invite['code']}")).expect(200)
    assert (gone["code"], gone["guild"]["description"], gone["approximate_member_count"]) == (invite["code"], None, 4)
    assert (await alice.get(f"/v1/invites/{invite['code']}")).status == 404
    gone = (await alice.request("DELETE", f"{REST}/channels/{made['id']}")).expect(200)
    assert gone["name"] == "short-lived"
    assert (await alice.get(f"/v1/channels/{made['id']}")).status == 404
    assert (await alice.request("DELETE", f"{REST}/channels/{made['id']}")).json()["code"] == 10003


async def test_what_hikari_reads_before_it_registers_commands(chat_world: World) -> None:
    for path in ("/oauth2/applications/@me", "/applications/@me"):
        application = (await chat_world.bot.rest.get(f"{REST}{path}")).expect(200)
        assert (application["approximate_guild_count"], application["approximate_user_install_count"]) == (1, 0)
        assert application["id"] == chat_world.bot.application_id
    assert "approximate_guild_count" not in (await chat_world.bot.rest.get("/v1/applications/@me")).expect(200)
    assert isinstance((await chat_world.alice.rest.get(f"{REST}/oauth2/applications/@me")).expect(200), list)


async def test_members_are_found_by_a_name(chat_world: World) -> None:
    path = f"{REST}/guilds/{chat_world.guild_id}/members/search"
    (found,) = (await chat_world.bot.rest.get(f"{path}?query=bo&limit=5")).expect(200)
    assert (found["user"]["id"], found["flags"]) == (chat_world.bob.id, 0)
    assert (await chat_world.bot.rest.get(f"{path}?query=nobody&limit=1000")).expect(200) == []  # as hikari asks
    assert (await chat_world.bot.rest.get(f"{path}?query=b&limit=0")).json()["code"] == 50035


async def test_an_audit_log_has_every_list(chat_world: World) -> None:
    guild = f"/guilds/{chat_world.guild_id}"
    (await chat_world.alice.rest.patch(f"/v1{guild}", {"name": "Renamed"})).expect(200)
    log = (await chat_world.alice.rest.get(f"{REST}{guild}/audit-logs")).expect(200)
    assert log["audit_log_entries"]
    assert [user["id"] for user in log["users"]] == [chat_world.alice.id]
    lists = {
        "application_commands",
        "auto_moderation_rules",
        "guild_scheduled_events",
        "integrations",
        "threads",
        "webhooks",
    }
    assert all(log[name] == [] for name in lists)


async def test_a_forward_has_its_message_one_member_deeper(chat_world: World) -> None:
    alice, channel = chat_world.alice.rest, chat_world.channel_id
    said = (await alice.send_message(channel, "to be carried on")).expect(200)
    reference = {"type": 1, "channel_id": channel, "message_id": said["id"]}
    body = {"message_reference": reference}
    (await alice.post(f"/v1/channels/{channel}/messages", body)).expect(200)
    (ours, _) = (await alice.messages(channel)).expect(200)
    assert ours["message_snapshots"][0]["content"] == "to be carried on"
    (theirs, _) = (await alice.get(f"{REST}/channels/{channel}/messages")).expect(200)
    (snapshot,) = theirs["message_snapshots"]
    assert snapshot["message"]["content"] == "to be carried on"
    assert (snapshot["message"]["mentions"], snapshot["message"]["components"], theirs["components"]) == ([], [], [])


async def test_what_is_missing_is_named(chat_world: World) -> None:
    guild = f"{REST}/guilds/{chat_world.guild_id}"
    refused = await chat_world.bot.rest.post(f"{guild}/auto-moderation/rules", {"name": "No slugs"})
    assert (refused.status, refused.json()["message"]) == (404, "This server has no auto-moderation rules.")
    refused = await chat_world.bot.rest.get(f"{guild}/scheduled-events/5")
    assert refused.json()["message"] == "This server has no scheduled events."
    assert (await chat_world.bot.rest.get(f"{guild}/nonsense")).json()["message"] == "There is nothing here."
    for path, _ in MISSING:
        address = path.replace("/v1", REST).format(*[5, 5])
        assert (await chat_world.bot.rest.post(address, {})).json()["message"].startswith("This server has no "), path


async def test_members_of_each_role_are_counted(chat_world: World) -> None:
    guild = f"/guilds/{chat_world.guild_id}"
    made = (await chat_world.alice.rest.post(f"/v1{guild}/roles", {"name": "Crew"})).expect(200)["id"]
    empty = (await chat_world.alice.rest.post(f"/v1{guild}/roles", {"name": "Nobody"})).expect(200)["id"]
    (await chat_world.alice.rest.put(f"/v1{guild}/members/{chat_world.bob.id}/roles/{made}")).expect(204)
    counts = (await chat_world.bot.rest.get(f"{REST}{guild}/roles/member-counts")).expect(200)
    assert counts == {made: 1, empty: 0}


async def test_permissions_have_what_goes_with_writing(chat_world: World) -> None:
    path = f"/guilds/{chat_world.guild_id}/roles"
    alice = chat_world.alice.rest
    written, read = 1 << 11, 1 << 10
    for name, bits in (("Writers", written | read), ("Readers", read)):
        (await alice.post(f"/v1{path}", {"name": name, "permissions": str(bits)})).expect(200)
    roles = {role["name"]: int(role["permissions"]) for role in (await alice.get(f"{REST}{path}")).expect(200)}
    beside = 1 << 31 | 1 << 49 | 1 << 50
    assert roles["Writers"] == written | read | beside
    assert roles["Readers"] == read
    (ours,) = [role for role in (await alice.get(f"/v1{path}")).expect(200) if role["name"] == "Writers"]
    assert int(ours["permissions"]) == written | read
    # What a library read there it writes back.
    changed = await alice.patch(f"{REST}{path}/{ours['id']}", {"permissions": str(roles["Writers"])})
    assert int(changed.expect(200)["permissions"]) == roles["Writers"]
    overwrite = {"type": 0, "allow": "0", "deny": str(written)}
    target = f"/v1/channels/{chat_world.channel_id}/permissions/{ours['id']}"
    (await alice.put(target, overwrite)).expect(204)
    channel = (await alice.get(f"{REST}/channels/{chat_world.channel_id}")).expect(200)
    (shown,) = [each for each in channel["permission_overwrites"] if each["id"] == ours["id"]]
    assert (shown["allow"], int(shown["deny"])) == ("0", written | beside)


async def test_many_are_banned_at_once(chat_world: World) -> None:
    alice, guild = chat_world.alice.rest, f"/guilds/{chat_world.guild_id}"
    named = [chat_world.bob.id, chat_world.carol.id, chat_world.alice.id, "5", chat_world.bob.id]
    told = (await alice.post(f"{REST}{guild}/bulk-ban", {"user_ids": named, "delete_message_seconds": 60})).expect(200)
    assert told == {
        "banned_users": [chat_world.bob.id, chat_world.carol.id],
        "failed_users": [chat_world.alice.id, "5"],
    }
    banned = (await alice.get(f"/v1{guild}/bans")).expect(200)
    assert {each["user"]["id"] for each in banned} == set(told["banned_users"])
    assert (await chat_world.bot.rest.post(f"{REST}{guild}/bulk-ban", {"user_ids": named})).json()["code"] == 50013
    assert (await alice.post(f"{REST}{guild}/bulk-ban", {"user_ids": []})).json()["code"] == 50035
    assert (await alice.post(f"{REST}{guild}/bulk-ban", {"user_ids": ["5"] * 201})).json()["code"] == 50035


async def test_a_preview_is_what_the_guild_is(chat_world: World) -> None:
    shown = (await chat_world.bot.rest.get(f"{REST}/guilds/{chat_world.guild_id}/preview")).expect(200)
    guild = (await chat_world.bot.rest.get(f"{REST}/guilds/{chat_world.guild_id}?with_counts=true")).expect(200)
    assert (shown["id"], shown["name"], shown["approximate_member_count"]) == (guild["id"], guild["name"], 4)
    assert guild["approximate_member_count"] == 4
    assert (await HttpClient(chat_world.route).get(f"{REST}/guilds/{chat_world.guild_id}/preview")).status == 401


async def test_a_bot_changes_its_own_application(chat_world: World) -> None:
    path = f"{REST}/applications/@me"
    changed = (await chat_world.bot.rest.patch(path, {"description": "Says hello."})).expect(200)
    assert (changed["description"], changed["id"]) == ("Says hello.", chat_world.bot.application_id)
    assert (await chat_world.bot.rest.get("/v1/applications/@me")).expect(200)["description"] == "Says hello."
    assert (await chat_world.bot.rest.patch(path, {"description": None})).expect(200)["description"] == ""
    assert (await chat_world.bot.rest.patch(path, {"description": "x" * 401})).json()["code"] == 50035
    assert (await chat_world.bot.rest.patch(path, {"tags": ["fun"]})).json()["code"] == 50035
    refused = await chat_world.bot.rest.patch(path, {"interactions_endpoint_url": "https://10.0.0.7/"})
    assert refused.json()["errors"]["interactions_endpoint_url"]["_errors"]
    assert (await chat_world.alice.rest.patch(path, {"description": "x"})).status == 401


async def test_a_role_has_the_first_of_its_colours(chat_world: World) -> None:
    path, alice = f"{REST}/guilds/{chat_world.guild_id}/roles", chat_world.alice.rest
    colors = {"primary_color": 255, "secondary_color": None, "tertiary_color": None}
    made = (await alice.post(path, {"name": "Blue", "colors": colors})).expect(200)
    assert (made["color"], made["colors"]["primary_color"]) == (255, 255)
    refused = await alice.patch(f"{path}/{made['id']}", {"colors": {**colors, "secondary_color": 3}})
    assert refused.json()["errors"]["colors"]["_errors"][0]["code"] == "NOT_SUPPORTED_HERE"
