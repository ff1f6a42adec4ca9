"""The blocklists: reading, asking and changing each, and that what is on them is refused wherever it may come in.

Area: administration. Rules: 002.conventions.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.admin import buckets
from chat.admin.operation import AdminOperation
from chat.admin.routes.blocklists import routes
from chat.registries.admin_actions import ADMIN_ACTIONS
from chat.registries.blocklists import BLOCKLISTS, Blocklist
from chat.store import outside_changes
from chat.store.administration import blocklists
from chat.store.administration.blocklists import BlockedValue
from chat.testing.gateway_client import GatewayClient, HandshakeRefused
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import OUTSIDE_POLL_SECONDS, ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log
from tests.people.friends import befriend
from tests.webhooks.surfaces import data_uri, png

VALUES: Final[dict[Blocklist, tuple[str, str, list[str], list[str]]]] = {
    Blocklist.EMAIL: ("Mallory@Example.com", "mallory@example.com", ["mallory@EXAMPLE.com"], ["mail", "a b@c.d", "@"]),
    Blocklist.IP: ("198.51.100.7/24", "198.51.100.0/24", ["198.51.100.200"], ["x", "0.0.0.0/0", "::/8", "1.2.3.4/99"]),
    Blocklist.PHRASE: ("Rude \uff37ORD", "rude word", ["RUDE word"], [" ", "x" * 257, "\ufdfa" * 15]),
    Blocklist.URL: (
        "HTTPS://Evil.example/Path#part",
        "https://evil.example/Path",
        ["https://EVIL.example/Path."],
        ["evil", "ftp://evil.example/", "https://", "https://" + "x" * 1_016],
    ),
    Blocklist.URL_DOMAIN: ("Evil.Example.", "evil.example", ["deep.below.evil.example"], ["evil", "a b.c", "x/y.z"]),
    Blocklist.FILE_SHA: ("AB" * 32, "ab" * 32, ["ab" * 32], ["ab" * 31, "zz" * 32]),
    Blocklist.AVATAR_HASH: ("a_" + "c" * 32, "c" * 32, ["c" * 32], ["a_", "../x"]),
    Blocklist.PROFILE_SUBSTRING: ("Staff", "staff", ["STAFF"], [" ", "x" * 257]),
}
"""For each list what is put on it, in which form it is kept, what it then blocks, and what cannot be on it."""


def at(world: World, address: str, token: str | None = None) -> RestClient:
    return RestClient(world.route, token, headers={"X-Test-Address": address})


def is_blocked(answer: Response) -> bool:
    return (answer.status, answer.code) == (403, "CONTENT_BLOCKED")


async def block(world: World, name: str, value: str) -> dict[str, Any]:
    entry: dict[str, Any] = (await world.admin.rest.post(f"/v1/admin/blocklists/{name}", {"value": value})).expect(200)
    return entry


async def allow(world: World, name: str, value: str) -> None:
    (await world.admin.rest.delete(f"/v1/admin/blocklists/{name}", {"value": value})).expect(204)


async def test_each_list_is_read_asked_and_changed(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    admin = chat_world.admin
    for name, (given, kept, blocked, impossible) in VALUES.items():
        path, kind = f"/v1/admin/blocklists/{name}", BLOCKLISTS[name]
        before = audit_log(chat_server)
        for wrong in impossible:
            answer = await admin.rest.post(path, {"value": wrong})
            assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), (name, wrong)
        for body in ({}, {"value": None}, {"value": 1}, {"value": ""}, {"value": "x" * 5_000}):
            for method, target in (("POST", path), ("POST", f"{path}/check"), ("DELETE", path)):
                assert (await admin.rest.request(method, target, json=body)).code == "INVALID_FORM_BODY", (name, body)
        assert (await admin.rest.delete(path, {"value": given})).code == "NOT_FOUND"
        assert audit_log(chat_server) == before, "a failure leaves no entry"

        answer = await admin.rest.request("POST", path, json={"value": given}, headers={"X-Audit-Log-Reason": "why"})
        entry = answer.expect(200)
        moment = entry.pop("added_at")
        assert entry == {"list": name, "value": kept, "reason": "why", "added_by": admin.id}
        entry["added_at"] = moment
        again = (await admin.rest.post(path, {"value": given, "reason": "another"})).expect(200)
        assert again == entry, "what is on the list stays as it is"
        for value in blocked:
            asked = (await admin.rest.post(f"{path}/check", {"value": value})).expect(200)
            assert asked == {"banned": True, "entry": entry}, (name, value)
        assert (await admin.rest.get(path)).expect(200) == {"entries": [entry], "total": 1, "next_after": None}
        (await admin.rest.delete(path, {"value": given})).expect(204)
        for value in blocked:
            asked = (await admin.rest.post(f"{path}/check", {"value": value})).expect(200)
            assert asked == {"banned": False, "entry": None}, (name, value)

        written = audit_log(chat_server)[len(before) :]
        checks = [kind.checked] * len(blocked)
        assert [row.action for row in written] == [kind.added, kind.added, *checks, kind.listed, kind.removed, *checks]
        assert {row.target_type for row in written} == {kind.target}
        assert (written[0].target_id, written[0].reason, written[0].metadata) == (kept, "why", {"reason": "why"})
        assert next(row.metadata for row in written if row.action == kind.checked) == {"banned": "true"}


async def test_a_list_is_read_in_pages(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    for number in range(5):
        await block(chat_world, "phrase", f"word {number}")
    read: list[str] = []
    after = ""
    while True:
        page = (await chat_world.admin.rest.get("/v1/admin/blocklists/phrase", {"limit": 2, "after": after})).expect(
            200
        )
        assert page["total"] == 5
        read += [entry["value"] for entry in page["entries"]]
        if page["next_after"] is None:
            break
        after = page["next_after"]
    assert read == [f"word {number}" for number in range(5)]
    listings = [entry for entry in audit_log(chat_server) if entry.action == "list_phrase_bans"]
    assert [entry.metadata["result_count"] for entry in listings] == ["2", "2", "1"]
    for wrong in ({"limit": 0}, {"limit": 201}, {"limit": "x"}):
        assert (await chat_world.admin.rest.get("/v1/admin/blocklists/phrase", wrong)).code == "INVALID_FORM_BODY"


async def test_each_operation_asks_for_its_own_acl(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    """The walk over the table: nobody gets in with the ACL of another list or of another verb."""
    bob = chat_world.bob
    acls = [acl for acl in (await chat_world.admin.rest.get("/v1/admin/acls")).expect(200)["acls"] if acl != "*"]
    seen = set()
    for operation in routes.operations:
        assert isinstance(operation, AdminOperation)
        assert operation.audit is not None
        [needed] = operation.acls
        seen.add((operation.method, operation.path))
        path = operation.path.replace("{user_id}", bob.id)
        others = [acl for acl in acls if acl not in needed]
        await chat_world.anyone.post(f"/v1/_dev/users/{bob.id}", {"acls": others})
        refused = await bob.rest.request(operation.method, path, json={} if operation.body else ...)
        assert (refused.status, refused.code) == (403, "MISSING_ACL"), operation.path
        await chat_world.anyone.post(f"/v1/_dev/users/{bob.id}", {"acls": ["admin:authenticate", *needed]})
        let_in = await bob.rest.request(operation.method, path, json={} if operation.body else ...)
        assert let_in.status in (200, 400), operation.path
        assert operation.bucket is not None
        reads = operation.method == "GET" or operation.path.endswith("/check")
        assert operation.bucket == (buckets.LOOKUP if reads else buckets.MODIFY)
        assert ADMIN_ACTIONS[operation.audit].target in path.replace("avatar-block", "avatar_hash")
    assert len(seen) == 4 * len(Blocklist) + 1


async def test_blocked_text_is_refused_wherever_it_is_written(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    world, alice, bob = chat_world, chat_world.alice, chat_world.bob
    for name, value in (
        ("phrase", "rude word"),
        ("url", "https://one.example/bad?x=1"),
        ("url_domain", "evil.example"),
    ):
        await block(world, name, value)
    harmless = (await bob.rest.send_message(world.channel_id, "https://one.example/good rude-word")).expect(200)
    texts = (
        "a RUDE Word here",
        "\uff52ude \uff57ord",
        "see (https://ONE.example/bad?x=1#top).",
        "see http://sub.evil.example/whatever",
        "write to evil.EXAMPLE today",
    )
    for text in texts:
        assert is_blocked(await bob.rest.send_message(world.channel_id, text)), text
        assert is_blocked(await bob.rest.edit_message(world.channel_id, harmless["id"], text)), text
    for embed in (
        {"title": "a rude word"},
        {"title": "x", "url": "https://evil.example/"},
        {"title": "x", "image": {"url": "https://cdn.evil.example/a.png"}},
        {"author": {"name": "x", "url": "https://evil.example/"}},
        {"footer": {"text": "x", "icon_url": "https://evil.example/"}},
        {"fields": [{"name": "x", "value": "evil.example"}]},
    ):
        assert is_blocked(await bob.rest.send_message(world.channel_id, "", embeds=[embed])), embed
    (await bob.rest.send_message(world.channel_id, "notevil.example evil.example.org")).expect(200)

    hook = (await alice.rest.post(f"/v1/channels/{world.channel_id}/webhooks", {"name": "news"})).expect(200)
    target = f"/v1/webhooks/{hook['id']}/{hook['token']}"
    for body in (
        {"content": "rude word"},
        {"content": "x", "username": "rude word"},
        {"content": "x", "avatar_url": "https://evil.example/a.png"},
    ):
        assert is_blocked(await world.anyone.post(target, body)), body
    for method, path, body in (
        ("POST", f"/v1/channels/{world.channel_id}/webhooks", {"name": "rude word"}),
        ("PATCH", f"/v1/webhooks/{hook['id']}", {"name": "rude word"}),
        ("POST", f"/v1/channels/{world.channel_id}/threads", {"name": "rude word", "type": 11}),
        ("PATCH", f"/v1/channels/{world.channel_id}", {"topic": "rude word"}),
        ("PATCH", f"/v1/guilds/{world.guild_id}", {"name": "rude word"}),
        ("POST", f"/v1/guilds/{world.guild_id}/roles", {"name": "rude word"}),
        ("PATCH", "/v1/users/@me", {"bio": "rude word"}),
        ("POST", "/v1/oauth2/applications", {"name": "rude word"}),
    ):
        client = alice.rest.declaring("channel_threads")
        assert is_blocked(await client.request(method, path, json=body)), (method, path)

    # Beside a name nobody else sees it either.
    await befriend(world.carol, bob)
    at_carol, at_bob = await world.carol.connect(), await bob.connect()
    for status, text, shown in (("idle", "rude word", None), ("dnd", "kind word", "kind word")):
        await at_bob.update_presence(status, custom_status={"text": text})
        told = await at_carol.expect("PRESENCE_UPDATE", where=lambda data, status=status: data["status"] == status)
        assert (told.data["custom_status"] or {}).get("text") == shown

    # What was said before is not carried on, and what is allowed again is allowed at once.
    for name, value in (
        ("phrase", "rude word"),
        ("url", "https://one.example/bad?x=1"),
        ("url_domain", "evil.example"),
    ):
        await allow(world, name, value)
    said = [(await bob.rest.send_message(world.channel_id, text)).expect(200) for text in texts]
    await block(world, "phrase", "rude word")
    carried = await bob.rest.post(
        f"/v1/channels/{world.channel_id}/messages",
        {"message_reference": {"type": 1, "message_id": said[0]["id"], "channel_id": world.channel_id}},
    )
    assert is_blocked(carried)
    # What changed beside the server counts as soon as the server has looked.
    await chat_server.database.write(
        lambda connection: (
            blocklists.add(connection, BlockedValue("phrase", "fresh", None, None, 1)),
            outside_changes.record(connection, outside_changes.BLOCKLISTS_CHANGED, {}, 1),
        )
    )
    await trio.sleep(OUTSIDE_POLL_SECONDS + 1)
    assert is_blocked(await bob.rest.send_message(world.channel_id, "Fresh fish"))
    # Back to the seeded world.
    (await world.anyone.post("/v1/_dev/reset")).expect(204)
    (await bob.rest.send_message(world.channel_id, "a fresh rude word")).expect(200)


async def test_what_accounts_call_themselves(chat_world: World, autojump_clock: MockClock) -> None:
    world, bob = chat_world, chat_world.bob
    await block(world, "profile_substring", "Official")
    (await bob.rest.send_message(world.channel_id, "the official answer")).expect(200)
    for body in (
        {"username": "TheOfficialOne"},
        {"global_name": "An \uff2fFFICIAL"},
        {"bio": "official"},
        {"pronouns": "official/it"},
    ):
        assert is_blocked(await bob.rest.patch("/v1/users/@me", body)), body
    for body in ({"nick": "official bob"}, {"bio": "official"}, {"pronouns": "official"}):
        assert is_blocked(await bob.rest.patch(f"/v1/guilds/{world.guild_id}/members/@me", body)), body
    new = {"email": "o@example.org", "password": "correct horse battery", "consent": True}
    assert is_blocked(await world.anyone.register(username="official_o", **new))
    assert is_blocked(await world.anyone.register(global_name="Official O", **new))
    assert is_blocked(
        await world.alice.rest.patch(f"/v1/oauth2/applications/{world.bot.application_id}/bot", {"bio": "official"})
    )
    (await bob.rest.patch("/v1/users/@me", {"bio": "quite unofficially".replace("official", "honest")})).expect(200)
    (await world.anyone.register(username="plain_o", **new)).expect(200)


@pytest.mark.chat_settings(**{"mail.mode": "off"})
async def test_blocked_mail_addresses(chat_world: World, autojump_clock: MockClock) -> None:
    world, bob = chat_world, chat_world.bob
    await block(world, "email", "mallory@example.com")
    await block(world, "email", "@spam.example")
    for number, email in enumerate(("Mallory@example.COM", "a@spam.example", "a@below.SPAM.example")):
        new = {"email": email, "username": f"m{number}", "password": "correct horse 1", "consent": True}
        refused = await world.anyone.register(**new)
        assert is_blocked(refused), email
        assert is_blocked(await bob.rest.patch("/v1/users/@me", {"email": email, "password": bob.password})), email
    taken = await bob.rest.patch("/v1/users/@me", {"email": "a@notspam.example", "password": bob.password})
    taken.expect(200)
    # The document's own operation has its own rules (002, Change user email).
    path = f"/v1/admin/users/{bob.id}/email"
    (await world.admin.rest.patch(path, {"email": "mallory@example.com"})).expect(200)
    (await bob.rest.send_message(world.channel_id, "an account that has it keeps it")).expect(200)


async def test_a_change_of_address_by_mail(chat_world: World, autojump_clock: MockClock) -> None:
    world, bob = chat_world, chat_world.bob
    await block(world, "email", "@spam.example")
    proof = {"password": bob.password}
    started = (await bob.rest.post("/v1/users/@me/email-change/start", proof)).expect(200)
    mails = await world.anyone.get("/v1/_dev/mail")
    code = mails.expect(200)[-1]["token"]
    ticket = started["ticket"]
    verified = await bob.rest.post("/v1/users/@me/email-change/verify-original", {"ticket": ticket, "code": code})
    original_proof = verified.expect(200)["original_proof"]
    asked = {"ticket": ticket, "new_email": "bob@spam.example", "original_proof": original_proof}
    assert is_blocked(await bob.rest.post("/v1/users/@me/email-change/request-new", asked))


async def test_blocked_networks_are_not_served(chat_world: World, autojump_clock: MockClock) -> None:
    world = chat_world
    await block(world, "ip", "203.0.113.0/28")
    await block(world, "ip", "2001:db8:1::/48")
    await block(world, "ip", "127.0.0.0/8")  # whoever sits at the machine still gets in
    for address in ("203.0.113.9", "2001:db8:1:2::3", "::ffff:203.0.113.1"):
        refused = await at(world, address, world.alice.token).get("/v1/users/@me")
        assert (refused.status, refused.code) == (403, "GLOBAL_IP_BANNED"), address
        body = refused.json()
        assert (body["ban_kind"], body["expires_at"]) == ("permanent", None)
        with pytest.raises(HandshakeRefused) as closed:
            await GatewayClient.connect(world.nursery, world.route, headers={"X-Test-Address": address})
        assert b'"GLOBAL_IP_BANNED"' in closed.value.body
    for address in ("203.0.113.16", "2001:db8:2::1"):
        (await at(world, address, world.alice.token).get("/v1/users/@me")).expect(200)
    await allow(world, "ip", "203.0.113.0/28")
    (await at(world, "203.0.113.9", world.alice.token).get("/v1/users/@me")).expect(200)


@pytest.mark.rule("002.conventions.15")
async def test_blocked_files_and_images(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    world, bob, carol = chat_world, chat_world.bob, chat_world.carol
    data = b"what nobody shall send"
    sent = (await bob.rest.send_files(world.channel_id, {"a.txt": data})).expect(200)
    url = sent["attachments"][0]["url"]
    assert (await world.anyone.fetch(url)).status == 200
    (upload,) = (await bob.rest.promise_uploads(world.channel_id, {"b.txt": len(data)})).expect(200)["attachments"]
    (earlier,) = (await bob.rest.promise_uploads(world.channel_id, {"c.txt": len(data)})).expect(200)["attachments"]
    place = earlier["upload_url"].partition("/media/")[2]
    (await world.anyone.request("PUT", f"/media/{place}", body=data)).expect(200)

    await block(world, "file_sha", hashlib.sha256(data).hexdigest())
    assert (await world.anyone.fetch(url)).status == 404, "it is served no more"
    assert is_blocked(await carol.rest.send_files(world.channel_id, {"other name": data}))
    place = upload["upload_url"].partition("/media/")[2]
    assert is_blocked(await world.anyone.request("PUT", f"/media/{place}", body=data))
    named = {"attachments": [{"uploaded_filename": earlier["upload_filename"], "id": 0, "filename": "c.txt"}]}
    assert is_blocked(await bob.rest.post(f"/v1/channels/{world.channel_id}/messages", named))
    (await carol.rest.send_files(world.channel_id, {"a.txt": data + b"!"})).expect(200)

    avatar = data_uri(png(16, 16))
    shown = (await bob.rest.patch("/v1/users/@me", {"avatar": avatar})).expect(200)["avatar"]
    served = f"/media/avatars/{bob.id}/{shown}.png"
    assert (await world.anyone.get(served)).status == 200
    entry = (await world.admin.rest.post(f"/v1/admin/users/{bob.id}/avatar-block")).expect(200)
    assert (entry["list"], entry["value"]) == ("avatar_hash", shown)
    [written] = [row for row in audit_log(chat_server) if row.action == "ban_avatar_hash"]
    assert (written.target_type, written.target_id) == ("avatar_hash", shown)
    assert (await world.anyone.get(served)).status == 404
    for method, path, body in (
        ("PATCH", "/v1/users/@me", {"avatar": avatar}),
        ("PATCH", f"/v1/guilds/{world.guild_id}/members/@me", {"avatar": avatar}),
        ("PATCH", f"/v1/guilds/{world.guild_id}", {"icon": avatar}),
        ("POST", f"/v1/channels/{world.channel_id}/webhooks", {"name": "x", "avatar": avatar}),
    ):
        assert is_blocked(await world.alice.rest.request(method, path, json=body)), path
    before = audit_log(chat_server)
    none = await world.admin.rest.post(f"/v1/admin/users/{carol.id}/avatar-block")
    assert (none.status, none.code) == (400, "INVALID_FORM_BODY")
    assert (await world.admin.rest.post("/v1/admin/users/1234567890/avatar-block")).code == "UNKNOWN_USER"
    assert audit_log(chat_server) == before
