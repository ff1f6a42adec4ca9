"""Every Dispatch of the registry (wire facts 1.8) is caused by something, and its row names one cause of each.

Each test is a walk: it does what the rows name, one thing after the other, and notes which Dispatches arrive at the
sessions that watch. What no operation of this server causes is named with its reason. Whatever arrives on the way is
held against the type that its row names.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat import wire
from chat.api.routes.every import ROUTES
from chat.api.schemas.declared import shape_of
from chat.clock import iso_timestamp
from chat.registries.event_rules import EVENTS, NEVER
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.snowflake import snowflake_time_ms
from chat.testing.authenticator import SoftwareAuthenticator
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.answers import Validator, validator_of
from tests.enrolment import ORIGIN
from tests.interactions.acting import act, answer, register
from tests.people.friends import befriend, make_group
from tests.webhooks.surfaces import data_uri, form, png, post_form

CAUSES: Final = {str(name): rule.cause for name, rule in EVENTS.items() if rule.cause != NEVER}

FAMILIES: Final[Mapping[str, str]] = {
    "account": (
        "READY RESUMED SESSIONS_REPLACE USER_UPDATE USER_SETTINGS_UPDATE USER_GUILD_SETTINGS_UPDATE USER_NOTE_UPDATE "
        "USER_PINNED_DMS_UPDATE WEBAUTHN_CREDENTIALS_UPDATE RELATIONSHIP_ADD RELATIONSHIP_UPDATE RELATIONSHIP_REMOVE "
        "PRESENCE_UPDATE"
    ),
    "commands": (
        "RATE_LIMITED GUILD_SYNC GUILD_MEMBERS_CHUNK GUILD_MEMBER_LIST_UPDATE PRESENCE_UPDATE_BULK PASSIVE_UPDATES "
        "GUILD_COUNTS_UPDATE CHANNEL_MEMBER_COUNTS_UPDATE"
    ),
    "messages": (
        "REMINDER_UPDATE REMINDER_DELETE "
        "SAVED_MESSAGE_CREATE SAVED_MESSAGE_DELETE RECENT_MENTION_DELETE FAVORITE_MEME_CREATE FAVORITE_MEME_UPDATE "
        "FAVORITE_MEME_DELETE MESSAGE_CREATE MESSAGE_UPDATE MESSAGE_DELETE MESSAGE_DELETE_BULK MESSAGE_ACK "
        "MESSAGE_REACTION_ADD MESSAGE_REACTION_REMOVE MESSAGE_REACTION_ADD_MANY MESSAGE_REACTION_REMOVE_ALL "
        "MESSAGE_REACTION_REMOVE_EMOJI MESSAGE_POLL_VOTE_ADD MESSAGE_POLL_VOTE_REMOVE "
        "TYPING_START CHANNEL_PINS_UPDATE CHANNEL_PINS_ACK"
    ),
    "guilds": (
        "GUILD_CREATE GUILD_UPDATE GUILD_DELETE GUILD_ROLE_CREATE GUILD_ROLE_UPDATE GUILD_ROLE_UPDATE_BULK "
        "GUILD_ROLE_DELETE GUILD_EMOJIS_UPDATE GUILD_STICKERS_UPDATE CHANNEL_CREATE CHANNEL_UPDATE CHANNEL_DELETE "
        "CHANNEL_UPDATE_BULK WEBHOOKS_UPDATE INVITE_CREATE INVITE_DELETE GUILD_MEMBER_ADD GUILD_MEMBER_UPDATE "
        "GUILD_MEMBER_REMOVE GUILD_AUDIT_LOG_ENTRY_CREATE GUILD_BAN_ADD GUILD_BAN_REMOVE"
    ),
    "conversations": (
        "CHANNEL_RECIPIENT_ADD CHANNEL_RECIPIENT_REMOVE VOICE_STATE_UPDATE VOICE_STATE_ACK VOICE_SERVER_UPDATE "
        "CALL_CREATE CALL_UPDATE "
        "CALL_DELETE"
    ),
    "interactions": (
        "INTERACTION_CREATE INTERACTION_SUCCESS INTERACTION_FAILURE INTERACTION_AUTOCOMPLETE INTERACTION_MODAL_CREATE"
    ),
    "threads": (
        "THREAD_CREATE THREAD_UPDATE THREAD_DELETE THREAD_LIST_SYNC THREAD_MEMBER_UPDATE THREAD_MEMBERS_UPDATE "
        "THREAD_MEMBER_LIST_UPDATE FORUM_UNREADS"
    ),
}
"""The events that each walk has to find."""

SETTLING_SECONDS: Final = 1.0
"""Virtual seconds after which everything that was caused has arrived."""

THREADS: Final = 1 << 2
DEBOUNCE: Final = 1 << 1
DECLARED: Final = {"X-Service-Features": "channel_threads"}
VIEW: Final = "1024"


@functools.cache
def validator(name: EventName) -> Validator:
    """What a Dispatch has to carry, as its row names it."""
    return validator_of(shape_of(getattr(wire, EVENTS[name].carries)))


def misfits(name: EventName, data: Any) -> list[str]:
    """What a Dispatch carries in another way than the type that its row names."""
    faults = validator(name).iter_errors(data)
    return [f"/{'/'.join(map(str, fault.instance_path))}: {fault.message[:500]}" for fault in faults]


def test_members_too_few_too_many_and_of_another_kind_are_found() -> None:
    assert misfits(EventName.MESSAGE_DELETE, {"id": "1", "channel_id": "2", "content": "x"}) == []
    assert len(misfits(EventName.MESSAGE_DELETE, {"id": "1", "channel": "2", "content": 3})) == 3
    assert misfits(EventName.USER_PINNED_DMS_UPDATE, ["1", 2]) != []
    assert misfits(EventName.INTERACTION_CREATE, {"id": "1", "nonce": None}) == []
    assert misfits(EventName.INTERACTION_CREATE, {"id": "1"}) != []


class Walk:
    """Sessions that watch, and what was found to cause what."""

    def __init__(self, *clients: GatewayClient) -> None:
        self.clients = list(clients)
        self.found: set[tuple[str, str]] = set()
        for client in clients:
            assert misfits(EventName.READY, client.ready) == []

    async def settle(self) -> set[str]:
        """The names of the Dispatches that have arrived since the last time."""
        await trio.sleep(SETTLING_SECONDS)
        heard = [(payload.name, payload.data) for client in self.clients for payload in client.unread()]
        named = [(EventName(name), data) for name, data in heard if name is not None]
        for name, data in named:
            assert misfits(name, data) == [], (
                f"{name} and the type that its row in chat/registries/event_rules.py names"
            )
        return {str(name) for name, _ in named}

    async def by(self, cause: str, action: Awaitable[Response | None], status: int | None = None) -> Any:
        """Do one thing; gives the body of the answer, where it was a request."""
        await self.settle()
        answer = await action
        body = None if answer is None else answer.expect(answer.status if status is None else status)
        assert answer is None or answer.status < 300, f"{cause}: {answer.status} {answer.code}"
        self.found |= {(name, cause) for name in await self.settle()}
        return body

    def check(self, family: str) -> None:
        """Everything that the walk has to find was found."""
        wanted = {(name, CAUSES[name]) for name in FAMILIES[family].split()}
        assert wanted <= self.found, (
            f"the walk {family} does not find {sorted(wanted - self.found)}: mend it, or the cause in "
            "chat/registries/event_rules.py"
        )


def test_a_walk_finds_each_event_that_is_sent() -> None:
    walked = [name for names in FAMILIES.values() for name in names.split()]
    assert sorted(walked) == sorted(CAUSES), (
        f"these differ: {sorted(set(walked) ^ set(CAUSES))}; name the event in FAMILIES of tests/conformance/"
        "test_every_event.py and cause it in that walk, or give it the cause NEVER in chat/registries/event_rules.py"
    )


def test_every_cause_is_an_operation_or_a_command() -> None:
    operations = {f"{operation.method} {operation.path}" for routes in ROUTES for operation in routes.operations}
    commands = {f"op {opcode.value}" for opcode in Opcode}
    wrong = {name: cause for name, cause in CAUSES.items() if cause not in operations | commands | {"time"}}
    assert not wrong, f"chat/registries/event_rules.py names what is no operation and no command: {wrong}"


def test_what_is_never_sent_says_why() -> None:
    for name, rule in EVENTS.items():
        assert (rule.cause == NEVER) is rule.payload.startswith("never sent: "), (
            f"{name} in chat/registries/event_rules.py: a payload that begins `never sent: ` and the cause NEVER go "
            "together"
        )


def op(opcode: Opcode) -> str:
    return f"op {opcode.value}"


def channel(*more: str) -> str:
    return "/".join(("/v1/channels/{channel_id}", *more))


def message(*more: str) -> str:
    return channel("messages", "{message_id}", *more)


def guild(*more: str) -> str:
    return "/".join(("/v1/guilds/{guild_id}", *more))


async def test_the_account(chat_world: World, autojump_clock: MockClock) -> None:
    bob, alice = chat_world.bob, chat_world.alice
    client = await bob.connect()
    at_alice = await alice.connect()
    walk = Walk(client, at_alice)
    walk.found.add(("READY", op(Opcode.IDENTIFY)))
    user = "/v1/users/@me"
    await walk.by(f"PATCH {user}", bob.rest.patch(user, {"global_name": "Robert"}))
    await walk.by(f"PATCH {user}/settings", bob.rest.patch(f"{user}/settings", {"developer_mode": True}))
    path = f"{user}/guilds/@me/settings"
    await walk.by(f"PATCH {path}", bob.rest.patch(path, {"mobile_push": False}))
    await walk.by(f"PUT {user}/notes/{{user_id}}", bob.rest.write_note(alice.id, "a note"))
    requests = f"{user}/relationships/{{user_id}}"
    await walk.by(f"POST {requests}", bob.rest.request_friendship(alice.id))
    await walk.by(f"PUT {requests}", alice.rest.accept_friendship(bob.id))
    await walk.by(op(Opcode.PRESENCE_UPDATE), client.update_presence("idle"))
    conversation = (await bob.rest.open_conversation(alice.id)).expect(200)["id"]
    pin = f"{user}/channels/{conversation}/pin"
    await walk.by(f"PUT {user}/channels/{{channel_id}}/pin", bob.rest.put(pin))
    await walk.by(f"DELETE {requests}", bob.rest.end_relationship(alice.id))
    passkeys = f"{user}/mfa/webauthn/credentials"
    proof = {"password": bob.password}
    options = (await bob.rest.post(f"{passkeys}/registration-options", proof)).expect(200)
    made = SoftwareAuthenticator(ORIGIN).create(options)
    body = {"response": made, "challenge": options["challenge"], "name": "a key", **proof}
    await walk.by(f"POST {passkeys}", bob.rest.post(passkeys, body))
    client.drop()
    resumed = await bob.resume(client)
    await resumed.expect("RESUMED")
    walk.found.add(("RESUMED", op(Opcode.RESUME)))
    walk.check("account")


async def test_messages(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, where = chat_world.alice, chat_world.bob, chat_world.channel_id
    await befriend(alice, bob)
    conversation = (await alice.rest.open_conversation(bob.id)).expect(200)["id"]
    walk = Walk(await alice.connect(flags=DEBOUNCE), await bob.connect(flags=DEBOUNCE))
    send = f"POST {channel('messages')}"
    made = await walk.by(send, alice.rest.send_message(where, f"<@{bob.id}> hello"))
    await walk.by(f"PATCH {message()}", alice.rest.edit_message(where, made["id"], f"<@{bob.id}> hello again"))
    await walk.by(f"POST {message('ack')}", bob.rest.acknowledge(where, made["id"]))
    await walk.by(f"PUT {message('reactions', '{emoji}', '@me')}", bob.rest.react(where, made["id"], "👍"))
    await walk.by(f"DELETE {message('reactions', '{emoji}', '@me')}", bob.rest.take_reaction(where, made["id"], "👍"))
    (await bob.rest.react(where, made["id"], "👍")).expect(204)
    await walk.by(f"DELETE {message('reactions', '{emoji}')}", alice.rest.take_reactions(where, made["id"], "👍"))
    (await bob.rest.react(where, made["id"], "👍")).expect(204)
    await walk.by(f"DELETE {message('reactions')}", alice.rest.take_reactions(where, made["id"]))
    private = (await alice.rest.send_message(conversation, "between us")).expect(200)
    poll = {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "yes"}}]}
    asked = await walk.by(f"POST {channel('messages')}", alice.rest.send_message(where, "", poll=poll))
    for answers in (["1"], []):
        vote = bob.rest.put(f"/v1/channels/{where}/polls/{asked['id']}/answers/@me", {"answer_ids": answers})
        await walk.by("PUT /v1/channels/{channel_id}/polls/{message_id}/answers/@me", vote)
    react = f"/v1/channels/{conversation}/messages/{private['id']}/reactions"
    (await bob.rest.put(f"{react}/%F0%9F%8E%89/@me")).expect(204)
    await walk.by(f"PUT {message('reactions', '{emoji}', '@me')}", bob.rest.react(conversation, private["id"], "👍"))
    await walk.by(f"PUT {channel('pins', '{message_id}')}", alice.rest.pin_message(where, made["id"]))
    await walk.by(f"POST {channel('pins', 'ack')}", bob.rest.acknowledge_pins(where))
    await walk.by("POST /v1/users/@me/saved-messages", bob.rest.save_message(where, made["id"]))
    saved = "DELETE /v1/users/@me/saved-messages/{message_id}"
    await walk.by(saved, bob.rest.forget_saved_message(made["id"]))
    reminder = f"/v1/users/@me/reminders/{made['id']}"
    moment = {"channel_id": where, "remind_at": iso_timestamp(snowflake_time_ms(int(made["id"])) + 60_000)}
    await walk.by("PUT /v1/users/@me/reminders/{message_id}", bob.rest.put(reminder, moment))
    await walk.by("DELETE /v1/users/@me/reminders/{message_id}", bob.rest.delete(reminder))
    await walk.by("DELETE /v1/users/@me/mentions/{message_id}", bob.rest.delete_mention(made["id"]))
    picture = form([("files[0]", "cat.png", png())])
    shown = (await post_form(alice.rest, f"/v1/channels/{where}/messages", picture)).expect(200)
    meme = await walk.by(f"POST {message('memes')}", bob.rest.keep_meme(where, shown["id"]))
    of_meme = "/v1/users/@me/memes/{meme_id}"
    await walk.by(f"PATCH {of_meme}", bob.rest.change_meme(meme["id"], name="a cat"))
    await walk.by(f"DELETE {of_meme}", bob.rest.delete_meme(meme["id"]))
    await walk.by(f"POST {channel('typing')}", alice.rest.start_typing(where))
    await walk.by(f"DELETE {message()}", alice.rest.delete_message(where, shown["id"]))
    ids = [(await alice.rest.send_message(where, f"{number}")).expect(200)["id"] for number in range(2)]
    await walk.by(f"POST {channel('messages', 'bulk-delete')}", alice.rest.bulk_delete_messages(where, ids))
    walk.check("messages")


@pytest.mark.chat_settings(**{"voice.engine": "embedded", "voice.udp_port": 0})
async def test_conversations_and_calls(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    group = (await make_group(alice, bob))["id"]
    at_alice = await alice.connect()
    walk = Walk(at_alice, await bob.connect())
    recipients = channel("recipients", "{user_id}")
    path = f"/v1/channels/{group}/recipients/{carol.id}"
    await walk.by(f"PUT {recipients}", alice.rest.put(path))
    await walk.by(f"DELETE {recipients}", alice.rest.delete(path))
    call = f"/v1/channels/{group}/call"
    await walk.by(f"POST {channel('call', 'ring')}", alice.rest.post(f"{call}/ring"))
    await walk.by(f"POST {channel('call', 'stop-ringing')}", bob.rest.post(f"{call}/stop-ringing"))
    state = {"guild_id": chat_world.guild_id, "channel_id": chat_world.voice_channel_id, "mutation_id": "m"}
    await walk.by(op(Opcode.VOICE_STATE_UPDATE), at_alice.send(Opcode.VOICE_STATE_UPDATE, state))
    await walk.by(f"POST {channel('call', 'end')}", alice.rest.post(f"{call}/end"))
    walk.check("conversations")


async def test_guilds(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, carol, guild_id = chat_world.alice, chat_world.bob, chat_world.carol, chat_world.guild_id
    walk = Walk(await alice.connect(), await bob.connect())
    base = f"/v1/guilds/{guild_id}"
    other = await walk.by("POST /v1/guilds", alice.rest.create_guild("another"))
    gone = alice.rest.post(f"/v1/guilds/{other['id']}/delete", {"password": alice.password})
    await walk.by(f"POST {guild('delete')}", gone)
    await walk.by(f"PATCH {guild()}", alice.rest.patch(base, {"name": "renamed"}))
    role = await walk.by(f"POST {guild('roles')}", alice.rest.post(f"{base}/roles", {"name": "one"}))
    second = await walk.by(f"POST {guild('roles')}", alice.rest.post(f"{base}/roles", {"name": "two"}))
    of_role = f"{base}/roles/{role['id']}"
    await walk.by(f"PATCH {guild('roles', '{role_id}')}", alice.rest.patch(of_role, {"name": "three"}))
    order = [{"id": role["id"], "position": 1}, {"id": second["id"], "position": 2}]
    await walk.by(f"PATCH {guild('roles')}", alice.rest.patch(f"{base}/roles", order))
    await walk.by(f"DELETE {guild('roles', '{role_id}')}", alice.rest.delete(of_role))
    for kind in ("emojis", "stickers"):
        body = {"name": "wave", "image": data_uri(png())}
        await walk.by(f"POST {guild(kind)}", alice.rest.post(f"{base}/{kind}", body))
    made = await walk.by(f"POST {guild('channels')}", alice.rest.create_channel(guild_id, "new", type=0))
    await walk.by(f"PATCH {channel()}", alice.rest.change_channel(made["id"], topic="news"))
    order = [{"id": made["id"], "position": 0}]
    await walk.by(f"PATCH {guild('channels')}", alice.rest.patch(f"{base}/channels", order))
    await walk.by(f"POST {channel('webhooks')}", alice.rest.create_webhook(made["id"], "hook"))
    invites = channel("invites")
    invite = await walk.by(f"POST {invites}", alice.rest.create_channel_invite(chat_world.channel_id))
    members = guild("members", "{user_id}")
    of_carol = f"{base}/members/{carol.id}"
    await walk.by(f"PATCH {members}", alice.rest.patch(of_carol, {"nick": "Caroline"}))
    await walk.by(f"DELETE {members}", alice.rest.delete(of_carol))
    await walk.by("POST /v1/invites/{invite_code}", carol.rest.accept_invite(invite["code"]))
    await walk.by("DELETE /v1/invites/{invite_code}", alice.rest.delete(f"/v1/invites/{invite['code']}"))
    bans = guild("bans", "{user_id}")
    await walk.by(f"PUT {bans}", alice.rest.put(f"{base}/bans/{carol.id}", {}))
    await walk.by(f"DELETE {bans}", alice.rest.delete(f"{base}/bans/{carol.id}"))
    await walk.by(f"DELETE {channel()}", alice.rest.delete(f"/v1/channels/{made['id']}"))
    walk.check("guilds")


async def test_threads(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, where = chat_world.alice, chat_world.bob, chat_world.channel_id
    for person in (alice, bob):
        person.rest.headers.update(DECLARED)
    at_bob = await bob.connect(flags=THREADS)
    walk = Walk(await alice.connect(flags=THREADS), at_bob)
    made = await walk.by(f"POST {channel('threads')}", alice.rest.start_thread(where, "aside"))
    await walk.by(f"PATCH {channel()}", alice.rest.change_channel(made["id"], name="an aside"))
    own = "/v1/channels/{thread_id}/thread-members/@me"
    await walk.by(f"PUT {own}", bob.rest.join_thread(made["id"]))
    path = f"/v1/channels/{made['id']}/thread-members/@me/settings"
    await walk.by(f"PATCH {own}/settings", bob.rest.patch(path, {"flags": 2}))
    overwrite = f"/v1/channels/{where}/permissions/{bob.id}"
    (await alice.rest.put(overwrite, {"type": 1, "deny": VIEW})).expect(204)
    await walk.by(f"DELETE {channel('permissions', '{target_id}')}", alice.rest.delete(overwrite))
    lists = {"subscriptions": {chat_world.guild_id: {"thread_member_lists": [made["id"]]}}}
    await walk.by(op(Opcode.LAZY_REQUEST), at_bob.send(Opcode.LAZY_REQUEST, lists))
    forum = (await alice.rest.create_channel(chat_world.guild_id, "help", type=15)).expect(200)["id"]
    await trio.sleep(SETTLING_SECONDS)
    wish = {"guild_id": chat_world.guild_id, "channel_id": forum, "threads": []}
    post = {"name": "how?", "message": {"content": "like this"}}
    posted = (await alice.rest.post(f"/v1/channels/{forum}/threads", post)).expect(201)
    wish["threads"] = [{"thread_id": posted["id"]}]
    await walk.by(op(Opcode.REQUEST_FORUM_UNREADS), at_bob.send(Opcode.REQUEST_FORUM_UNREADS, wish))
    await walk.by(f"DELETE {channel()}", alice.rest.delete(f"/v1/channels/{made['id']}"))
    walk.check("threads")


async def test_interactions(chat_world: World, autojump_clock: MockClock) -> None:
    bob, bot = chat_world.bob, chat_world.bot
    option = {"type": 3, "name": "x", "description": "d", "autocomplete": True}
    [find] = await register(chat_world, {"name": "find", "description": "d", "options": [option]})
    walk = Walk(await bob.connect())
    at_bot = await bot.connect()
    does = "POST /v1/interactions"
    answers = "POST /v1/interactions/{interaction_id}/{token}/callback"
    written: dict[str, Any] = {"id": find["id"], "options": [{"name": "x", "value": "a"}]}
    typed = {"id": find["id"], "options": [{"name": "x", "value": "a", "focused": True}]}
    text = {"type": 1, "components": [{"type": 4, "custom_id": "why", "style": 1, "label": "Why?"}]}
    form = {"custom_id": "form", "title": "A form", "components": [text]}
    for kind, data, callback, said in ((2, written, 9, form), (4, typed, 8, {"choices": []})):
        await walk.by(does, act(bob, chat_world, kind, data))
        told = (await at_bot.expect("INTERACTION_CREATE")).data
        assert misfits(EventName.INTERACTION_CREATE, told) == []
        await walk.by(answers, answer(chat_world, told, callback, said))
    await walk.by(does, act(bob, chat_world, 2, written))
    await walk.by("time", three_seconds())
    walk.check("interactions")


async def three_seconds() -> None:
    await trio.sleep(3)


@pytest.mark.chat_settings(rate_limits=True)
async def test_commands(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    alice, guild_id = chat_world.alice, chat_world.guild_id
    at_alice, at_bot = await alice.connect(), await chat_world.bot.connect()
    await chat_world.bob.connect()
    walk = Walk(at_alice, at_bot)

    async def a_minute() -> None:
        await trio.sleep(60)

    async def lazy(**wish: object) -> None:
        await at_alice.watch(guild_id, **wish)

    members = {chat_world.channel_id: [[0, 99]]}
    lists = lazy(active=True, member_list_channels=members, members=[chat_world.bob.id])
    await walk.by(op(Opcode.LAZY_REQUEST), lists)
    for _ in range(2):  # the second within half a minute is one too many
        await walk.by(op(Opcode.REQUEST_GUILD_MEMBERS), at_bot.request_members(guild_id))
    counts = {"guild_ids": [guild_id]}
    await walk.by(op(Opcode.REQUEST_GUILD_COUNTS), at_alice.send(Opcode.REQUEST_GUILD_COUNTS, counts))
    asked = {"guild_id": guild_id, "channel_ids": [chat_world.channel_id]}
    command = at_alice.send(Opcode.REQUEST_CHANNEL_MEMBER_COUNTS, asked)
    await walk.by(op(Opcode.REQUEST_CHANNEL_MEMBER_COUNTS), command)
    # Passive sessions of a large guild hear in rounds.
    await chat_server.database.write(
        lambda connection: connection.execute("UPDATE guilds SET member_count = 300 WHERE id = ?", (int(guild_id),))
    )
    await chat_server.restart()
    walk.clients = [await chat_world.carol.connect()]
    (await alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    await walk.by("time", a_minute())
    walk.check("commands")


@pytest.mark.parametrize("name", [name for name, rule in EVENTS.items() if rule.cause == NEVER])
def test_nothing_publishes_what_is_never_sent(name: str) -> None:
    sources = (Path(__file__).parents[2] / "chat").rglob("*.py")
    named = [path for path in sources if f"EventName.{name}" in path.read_text(encoding="utf-8")]
    assert [path.name for path in named] == ["event_rules.py"]
