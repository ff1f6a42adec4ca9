"""What is judged before a slow step is judged again where it is written (design 8): images, uploads, passwords.

Somebody else's unit stands in front of the one that writes (`tests.administration.meanwhile`): the caller's sign-in
ends, a permission is taken away, what the request is about goes, or a value changes that the request only repeats.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import attrs
import pytest
from trio.testing import MockClock

from chat.admin.routes import ADMIN_ROUTES
from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.registries.permissions import Permission
from chat.store.accounts import accounts
from chat.store.guilds import guilds, members, roles
from chat.store.signing_in import auth_sessions
from chat.store.webhooks import webhooks
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.meanwhile import Meanwhile, Unit
from tests.enrolment import Phone
from tests.interactions.acting import invoked, register
from tests.webhooks.surfaces import FORM_HEADERS, data_uri, form, png

RIGHTS: Final = (
    Permission.MANAGE_GUILD
    | Permission.MANAGE_WEBHOOKS
    | Permission.MANAGE_EXPRESSIONS
    | Permission.CREATE_EXPRESSIONS
    | Permission.MANAGE_CHANNELS
    | Permission.ATTACH_FILES
)
IMAGE: Final = data_uri(png(8, 8))
SHOW: Final = {
    "name": "show",
    "description": "d",
    "options": [{"type": 11, "name": "file", "description": "d", "required": True}],
}
LATER: Final = (datetime.now(UTC) + timedelta(days=1)).isoformat()


@attrs.frozen
class Scene:
    """bob, who may do everything above by one role, and what he works on."""

    server: ChatServer
    world: World
    meanwhile: Meanwhile
    role_id: int
    webhook: dict[str, Any]
    message_id: str
    forum_id: str
    group_id: str
    application_id: str
    scheduled_message_id: str
    command_id: str

    @property
    def guild_id(self) -> int:
        return int(self.world.guild_id)

    @property
    def bob(self) -> RestClient:
        return self.world.bob.rest

    async def during(self, happens: Unit, request: Callable[[Scene], Any]) -> tuple[Response, list[str], list[str]]:
        """The answer to a request while something happens, and all that is stored after the one and the other."""
        between: list[str] = []

        def unit(connection: sqlite3.Connection) -> None:
            happens(connection)
            between[:] = connection.iterdump()

        await self.server.server.areas.signing_in.sign_ins.write_uses()
        self.meanwhile.prepare(unit)
        answer = await request(self)
        assert self.meanwhile.has_happened
        return answer, between, list(self.server.database.reader.iterdump())


@pytest.fixture
async def scene(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> Scene:
    world = chat_world
    alice, bob = world.alice.rest, world.bob.rest
    role = (
        await alice.post(f"/v1/guilds/{world.guild_id}/roles", {"name": "r", "permissions": str(int(RIGHTS))})
    ).expect(200)
    (await alice.put(f"/v1/guilds/{world.guild_id}/members/{world.bob.id}/roles/{role['id']}")).expect(204)
    await chat_server.database.write(
        lambda connection: connection.execute(
            "UPDATE roles SET permissions = permissions & ~? WHERE id = ?", (int(RIGHTS), int(world.guild_id))
        )
    )
    chat_server.server.core.guild_states.refresh(int(world.guild_id))
    webhook = (await bob.create_webhook(world.channel_id, "hook")).expect(200)
    message = (await bob.send_message(world.channel_id, "hello")).expect(200)["id"]
    forum = (await alice.create_channel(world.guild_id, "forum", type=15)).expect(200)["id"]
    for other in (world.alice, world.carol):
        (await bob.request_friendship(other.id)).expect(200)
        (await other.rest.accept_friendship(world.bob.id)).expect(200)
    group = (await bob.make_group(world.alice.id, world.carol.id)).expect(200)["id"]
    application = (await bob.post("/v1/oauth2/applications", {"name": "app"})).expect(200)["id"]
    [command] = await register(world, SHOW)
    later = {"content": "later", "scheduled_local_at": LATER}
    scheduled = (await bob.post(f"/v1/channels/{world.channel_id}/messages/schedule", later)).expect(201)["id"]
    return Scene(
        chat_server,
        world,
        Meanwhile(chat_server.database),
        int(role["id"]),
        webhook,
        message,
        forum,
        group,
        application,
        scheduled,
        command["id"],
    )


def signed_out(scene: Scene, user_id: str) -> Unit:
    return lambda connection: auth_sessions.end_of_user(connection, int(user_id), 1)


def demoted(scene: Scene) -> Unit:
    return lambda connection: members.remove_roles(connection, scene.guild_id, int(scene.world.bob.id), [scene.role_id])


def kicked(scene: Scene) -> Unit:
    return lambda connection: members.delete(connection, scene.guild_id, int(scene.world.bob.id))


def deleted(scene: Scene) -> Unit:
    return lambda connection: guilds.delete(connection, scene.guild_id)


def another_password(scene: Scene) -> Unit:
    def unit(connection: sqlite3.Connection) -> None:
        account = accounts.by_id(connection, int(scene.world.bob.id))
        assert account is not None
        accounts.replace(connection, attrs.evolve(account, password_hash="another"))

    return unit


Request = Callable[[Scene], Any]


def sent(method: str, path: str, **body: Any) -> Request:
    """A request of bob's; texts in braces stand for what the scene has, `...` for his password."""

    async def request(scene: Scene) -> Response:
        names = {**attrs.asdict(scene, recurse=False), "guild_id": scene.guild_id, "channel_id": scene.world.channel_id}
        filled = {name: scene.world.bob.password if value is ... else value for name, value in body.items()}
        return await scene.bob.request(method, path.format(**names, webhook_id=scene.webhook["id"]), json=filled)

    return request


def formed(method: str, path: str, **members: Any) -> Request:
    """A form of bob's with a file."""

    async def request(scene: Scene) -> Response:
        payload = json.dumps({**members, "attachments": [{"id": 0, "filename": "a.txt"}]}).encode()
        names = {**attrs.asdict(scene, recurse=False), "channel_id": scene.world.channel_id}
        body = form([("files[0]", "a.txt", b"text")], payload)
        return await scene.bob.request(method, path.format(**names), body=body, headers=FORM_HEADERS)

    return request


async def invoked_with_a_file(scene: Scene) -> Response:
    data = {"id": scene.command_id, "options": [{"name": "file", "value": "0"}]}
    place = {"application_id": scene.world.bot.application_id, "channel_id": scene.world.channel_id}
    body = form([("files[0]", "a.txt", b"text")], json.dumps({"type": 2, **place, "data": data}).encode())
    return await scene.bob.request("POST", "/v1/interactions", body=body, headers=FORM_HEADERS)


def posted(method: str, path: str) -> Request:
    """A form with a post: its message is a member of its own."""
    return formed(method, path, name="post", message={"content": "x", "attachments": [{"id": 0, "filename": "a.txt"}]})


EXPRESSIONS: Final = {"name": "fine", "image": IMAGE}
IN_GUILD: Final[dict[str, Request]] = {
    "PATCH /v1/guilds/{guild_id}": sent("PATCH", "/v1/guilds/{guild_id}", icon=IMAGE),
    "POST /v1/guilds/{guild_id}/emojis": sent("POST", "/v1/guilds/{guild_id}/emojis", **EXPRESSIONS),
    "POST /v1/guilds/{guild_id}/emojis/bulk": sent("POST", "/v1/guilds/{guild_id}/emojis/bulk", emojis=[EXPRESSIONS]),
    "POST /v1/guilds/{guild_id}/stickers": sent("POST", "/v1/guilds/{guild_id}/stickers", **EXPRESSIONS),
    "POST /v1/guilds/{guild_id}/stickers/bulk": sent(
        "POST", "/v1/guilds/{guild_id}/stickers/bulk", stickers=[EXPRESSIONS]
    ),
    "POST /v1/channels/{channel_id}/webhooks": sent(
        "POST", "/v1/channels/{channel_id}/webhooks", name="hook", avatar=IMAGE
    ),
    "PATCH /v1/webhooks/{webhook_id}": sent("PATCH", "/v1/webhooks/{webhook_id}", avatar=IMAGE),
    "POST /v1/channels/{channel_id}/messages": formed("POST", "/v1/channels/{channel_id}/messages"),
    "POST /v1/channels/{channel_id}/messages/schedule": formed(
        "POST", "/v1/channels/{channel_id}/messages/schedule", content="x", scheduled_local_at=LATER
    ),
    "POST /v1/interactions": invoked_with_a_file,
}
"""Operations that bob may do by his role."""

OTHERS: Final[dict[str, Request]] = {
    "PATCH /v1/guilds/{guild_id}/members/@me": sent("PATCH", "/v1/guilds/{guild_id}/members/@me", avatar=IMAGE),
    "PATCH /v1/channels/{channel_id}/messages/{message_id}": formed(
        "PATCH", "/v1/channels/{channel_id}/messages/{message_id}"
    ),
    "PATCH /v1/users/@me/scheduled-messages/{scheduled_message_id}": formed(
        "PATCH", "/v1/users/@me/scheduled-messages/{scheduled_message_id}"
    ),
    "PATCH /v1/users/@me": sent("PATCH", "/v1/users/@me", avatar=IMAGE),
    "PATCH /v1/channels/{channel_id}": sent("PATCH", "/v1/channels/{group_id}", icon=IMAGE),
    "POST /v1/guilds": sent("POST", "/v1/guilds", name="new", icon=IMAGE),
    "PATCH /v1/oauth2/applications/{application_id}/bot": sent(
        "PATCH", "/v1/oauth2/applications/{application_id}/bot", avatar=IMAGE
    ),
}
"""What bob may do anyway."""

PROVED: Final[dict[str, Request]] = {
    f"{method} {path}": sent(method, path, password=..., **body)
    for method, path, body in (
        ("POST", "/v1/users/@me/disable", {}),
        ("POST", "/v1/users/@me/delete", {}),
        ("POST", "/v1/users/@me/harvest", {}),
        ("POST", "/v1/users/@me/messages/delete", {}),
        ("POST", "/v1/users/@me/messages/bulk-delete-mine", {}),
        ("POST", "/v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine", {}),
        ("POST", "/v1/channels/{channel_id}/messages/bulk-delete-mine", {}),
        ("POST", "/v1/oauth2/applications/{application_id}/bot/reset-token", {}),
        ("POST", "/v1/oauth2/applications/{application_id}/client-secret/reset", {}),
        ("DELETE", "/v1/oauth2/applications/{application_id}", {}),
        ("DELETE", "/v1/users/@me/authorized-ips", {}),
    )
}
"""Operations that bob's password proves."""

AT_OWN_TESTS: Final = {
    # They need the owner, another instance, an archive, a factor or a ticket; the proof is judged again as in PROVED.
    "POST /v1/guilds/{guild_id}/delete",
    "POST /v1/guilds/{guild_id}/transfer-ownership",
    "DELETE /v1/users/@me/guilds/{guild_id}",
    "POST /v1/users/@me/recovery-kit",
    "POST /v1/users/@me/harvest/download",
    "POST /v1/auth/sessions/logout",
    "POST /v1/users/@me/password-change/complete",
    "POST /v1/users/@me/email-change/apply",
    "POST /v1/users/@me/email-change/bounced/verify-new",
    "POST /v1/users/@me/mfa/totp/enable",
    "POST /v1/users/@me/mfa/totp/disable",
    "POST /v1/users/@me/mfa/backup-codes",
    "PUT /v1/users/@me/mfa/webauthn",
    "POST /v1/users/@me/mfa/webauthn/credentials/registration-options",
    "DELETE /v1/users/@me/mfa/webauthn/credentials/{credential}",
    "POST /v1/channels/{channel_id}/threads",
    # Nobody is signed in: the unit itself looks at what was proved, and at the webhook.
    "POST /v1/auth/register",
    "POST /v1/auth/login",
    "POST /v1/auth/reset",
    "POST /v1/auth/email-revert",
    "POST /v1/auth/recovery",
    "POST /v1/webhooks/{webhook_id}/{token}",
    "PATCH /v1/webhooks/{webhook_id}/{token}/messages/{message_id}",
    "PATCH /v1/webhooks/{webhook_id}/{token}/messages/@original",
    "POST /v1/interactions/{interaction_id}/{token}/callback",
}


def takes_its_time(operation: Operation) -> bool:
    """Whether there is a slow step between judging and writing that the operation's declaration tells of."""
    body = operation.body
    fields = {field.name for field in attrs.fields(body)} if body is not None and attrs.has(body) else set()
    return operation.images or operation.multipart or "password" in fields


def test_every_operation_with_a_slow_step_is_looked_at() -> None:
    slow = {
        f"{operation.method} {operation.path}"
        for module in (*ROUTES, *ADMIN_ROUTES)
        for operation in module.operations
        if takes_its_time(operation)
    }
    assert slow == {*IN_GUILD, *OTHERS, *PROVED, *AT_OWN_TESTS}


@pytest.mark.parametrize("name", [*IN_GUILD, *OTHERS, *PROVED])
async def test_nothing_is_written_for_somebody_who_was_signed_out_meanwhile(scene: Scene, name: str) -> None:
    request = {**IN_GUILD, **OTHERS, **PROVED}[name]
    answer, between, after = await scene.during(signed_out(scene, scene.world.bob.id), request)
    assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
    assert after == between


@pytest.mark.parametrize("name", IN_GUILD)
async def test_nothing_is_written_for_somebody_whose_permission_was_taken_away_meanwhile(
    scene: Scene, name: str
) -> None:
    answer, between, after = await scene.during(demoted(scene), IN_GUILD[name])
    assert (answer.status, answer.code) == (403, "MISSING_PERMISSIONS")
    assert after == between


@pytest.mark.parametrize("name", [*IN_GUILD, "PATCH /v1/guilds/{guild_id}/members/@me"])
async def test_nothing_is_written_for_somebody_who_was_removed_meanwhile(scene: Scene, name: str) -> None:
    answer, between, after = await scene.during(kicked(scene), {**IN_GUILD, **OTHERS}[name])
    assert (answer.status, answer.code) == (403, "MISSING_PERMISSIONS")
    assert after == between


@pytest.mark.parametrize("name", [*IN_GUILD, "PATCH /v1/guilds/{guild_id}/members/@me"])
async def test_nothing_is_written_in_a_guild_that_went_meanwhile(scene: Scene, name: str) -> None:
    answer, between, after = await scene.during(deleted(scene), {**IN_GUILD, **OTHERS}[name])
    assert (answer.status, answer.code) in {(404, "UNKNOWN_GUILD"), (404, "UNKNOWN_CHANNEL")}
    assert after == between


@pytest.mark.parametrize("name", PROVED)
async def test_a_password_that_was_changed_meanwhile_proves_nothing(scene: Scene, name: str) -> None:
    answer, between, after = await scene.during(another_password(scene), PROVED[name])
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert after == between


async def test_who_loses_nothing_that_counts_goes_on(scene: Scene) -> None:
    def less(connection: sqlite3.Connection) -> None:
        role = roles.by_id(connection, scene.guild_id, scene.role_id)
        assert role is not None
        kept = int(RIGHTS & ~Permission.MANAGE_WEBHOOKS)
        connection.execute("UPDATE roles SET permissions = ? WHERE id = ?", (kept, scene.role_id))

    answer, _, _ = await scene.during(less, IN_GUILD["PATCH /v1/guilds/{guild_id}"])
    answer.expect(200)


# What is merely repeated


def column(table: str, name: str, value: object, row_id: int | str) -> Unit:
    """Somebody else changes one column."""
    return lambda connection: connection.execute(
        f"UPDATE {table} SET {name} = ? WHERE id = ?",  # noqa: S608
        (value, int(row_id)),
    )


async def test_a_repeated_level_does_not_undo_the_owners_change(scene: Scene) -> None:
    (await scene.server.database.write(column("guilds", "mfa_level", 0, scene.guild_id)))
    scene.server.server.core.guild_states.refresh(scene.guild_id)
    request = sent("PATCH", "/v1/guilds/{guild_id}", mfa_level=0, name="Mine", verification_level=0, icon=IMAGE)
    raised = column("guilds", "mfa_level", 1, scene.guild_id)
    answer, _, _ = await scene.during(raised, request)
    guild = answer.expect(200)
    assert (guild["mfa_level"], guild["name"]) == (1, "Mine")
    assert guild["icon"] is not None


async def test_every_repeated_value_of_a_guild_stays_as_somebody_else_has_it(scene: Scene) -> None:
    known = (await scene.bob.get(f"/v1/guilds/{scene.guild_id}")).expect(200)
    form_of_a_client = {
        name: known[name]
        for name in (
            "name",
            "features",
            "verification_level",
            "mfa_level",
            "nsfw",
            "explicit_content_filter",
            "default_message_notifications",
            "system_channel_id",
            "system_channel_flags",
            "afk_channel_id",
            "afk_timeout",
            "banner",
            "splash",
        )
    }
    other: dict[str, Any] = {
        "name": "Ours",
        "verification_level": 2,
        "mfa_level": 1,
        "nsfw": 1,
        "explicit_content_filter": 2,
        "default_message_notifications": 1,
        "system_channel_id": None,
        "system_channel_flags": 1,
        "afk_timeout": 900,
        "features": '["INVITES_DISABLED", "VERIFIED"]',
    }

    def change(connection: sqlite3.Connection) -> None:
        for name, value in other.items():
            column("guilds", name, value, scene.guild_id)(connection)

    answer, _, _ = await scene.during(change, sent("PATCH", "/v1/guilds/{guild_id}", **form_of_a_client, icon=IMAGE))
    guild = answer.expect(200)
    found = {name: guild[name] for name in other}
    assert found == {**other, "nsfw": True, "features": ["INVITES_DISABLED", "VERIFIED"]}
    assert guild["icon"] is not None


async def test_only_the_owner_of_the_moment_changes_the_level(scene: Scene) -> None:
    alice, phone = scene.world.alice, Phone(scene.server.clock)
    await phone.enable(alice.rest, password=alice.password)
    role = f"/v1/guilds/{scene.guild_id}/members/{alice.id}/roles/{scene.role_id}"
    (await alice.rest.put(role)).expect(204)
    proof = await phone.proof()

    async def request(scene: Scene) -> Response:
        return await alice.rest.patch(f"/v1/guilds/{scene.guild_id}", {"mfa_level": 1, "icon": IMAGE, **proof})

    answer, _, _ = await scene.during(column("guilds", "owner_id", scene.world.bob.id, scene.guild_id), request)
    assert (answer.status, answer.code) == (403, "MISSING_PERMISSIONS")
    stored = guilds.by_id(scene.server.database.reader, scene.guild_id)
    assert stored is not None
    assert (stored.mfa_level, stored.icon) == (0, None)


async def test_a_repeated_profile_does_not_undo_an_administrators_change(scene: Scene) -> None:
    bob = scene.world.bob
    (await scene.bob.patch("/v1/users/@me", {"bio": "rude", "global_name": "Rude"})).expect(200)
    me = (await scene.bob.get("/v1/users/@me")).expect(200)

    def cleared(connection: sqlite3.Connection) -> None:
        account = accounts.by_id(connection, int(bob.id))
        assert account is not None
        accounts.replace(connection, attrs.evolve(account, bio=None, global_name=None, username="renamed"))

    body = {name: me[name] for name in ("username", "discriminator", "bio", "global_name")}
    answer, _, _ = await scene.during(cleared, sent("PATCH", "/v1/users/@me", **body, pronouns="he", avatar=IMAGE))
    after = answer.expect(200)
    assert (after["username"], after["bio"], after["global_name"], after["pronouns"]) == ("renamed", None, None, "he")
    assert after["avatar"] is not None


async def test_a_repeated_nickname_does_not_undo_a_moderators_change(scene: Scene) -> None:
    path, bob = f"/v1/guilds/{scene.guild_id}/members/@me", int(scene.world.bob.id)
    (await scene.bob.patch(path, {"nick": "Rude"})).expect(200)

    def renamed(connection: sqlite3.Connection) -> None:
        member = members.by_id(connection, scene.guild_id, bob)
        assert member is not None
        members.replace(connection, member._replace(nick="Polite"))

    request = sent("PATCH", "/v1/guilds/{guild_id}/members/@me", nick="Rude", avatar=IMAGE)
    answer, _, _ = await scene.during(renamed, request)
    assert answer.expect(200)["nick"] == "Polite"


async def test_a_webhook_keeps_what_the_request_does_not_name(scene: Scene) -> None:
    forum = int(scene.forum_id)

    def moved(connection: sqlite3.Connection) -> None:
        webhook = webhooks.by_id(connection, int(scene.webhook["id"]))
        assert webhook is not None
        webhooks.update(connection, attrs.evolve(webhook, name="theirs", channel_id=forum))

    answer, _, _ = await scene.during(moved, sent("PATCH", "/v1/webhooks/{webhook_id}", name="hook", avatar=IMAGE))
    after = answer.expect(200)
    assert (after["name"], after["channel_id"]) == ("theirs", scene.forum_id)
    assert after["avatar"] is not None


async def test_a_repeated_name_of_a_group_stays_as_somebody_else_has_it(scene: Scene) -> None:
    (await scene.bob.patch(f"/v1/channels/{scene.group_id}", {"name": "ours"})).expect(200)
    renamed = column("channels", "name", "theirs", scene.group_id)
    answer, _, _ = await scene.during(renamed, sent("PATCH", "/v1/channels/{group_id}", name="ours", icon=IMAGE))
    after = answer.expect(200)
    assert after["name"] == "theirs"
    assert after["icon"] is not None


async def test_a_webhook_that_went_meanwhile_writes_nothing(scene: Scene) -> None:
    gone: Unit = lambda connection: webhooks.delete(connection, int(scene.webhook["id"]))  # noqa: E731

    async def execute(scene: Scene) -> Response:
        body = form([("files[0]", "a.txt", b"text")], b'{"content": "x"}')
        path = f"/v1/webhooks/{scene.webhook['id']}/{scene.webhook['token']}"
        return await scene.world.anyone.request("POST", path, body=body, headers=FORM_HEADERS)

    answer, between, after = await scene.during(gone, execute)
    assert (answer.status, answer.code) == (404, "UNKNOWN_WEBHOOK")
    assert after == between


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_bot_that_was_removed_meanwhile_answers_nothing(scene: Scene, is_first: bool) -> None:
    world = scene.world
    [ping] = await register(world, {"name": "ping", "description": "Answers."})
    at_bot = await world.bot.connect()
    told = await invoked(world, at_bot, ping)
    path, body = f"/v1/interactions/{told['id']}/{told['token']}/callback", {"type": 4, "data": {"content": "x"}}
    if not is_first:
        (await world.anyone.post(path, body)).expect(204)
        path, body = f"/v1/webhooks/{told['application_id']}/{told['token']}", {"content": "x"}

    async def answers(scene: Scene) -> Response:
        with_file = form([("files[0]", "a.txt", b"text")], json.dumps(body).encode())
        return await world.anyone.request("POST", path, body=with_file, headers=FORM_HEADERS)

    gone: Unit = lambda connection: members.delete(connection, scene.guild_id, int(world.bot.id))  # noqa: E731
    answer, between, after = await scene.during(gone, answers)
    assert (answer.status, answer.code) == (404, "UNKNOWN_CHANNEL")
    assert after == between
