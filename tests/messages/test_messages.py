"""Messages: sending, reading, editing, deleting, acknowledging.

Area: messages. Rules: 001.guild-object, 001.policy, 001.registries, 001.verification.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio

from chat.auth.principal import Principal
from chat.bus.audience import Mentions, ToAccounts, ToChannel
from chat.config import Settings
from chat.config.settings import ContentPolicySettings
from chat.domain.messages.message_drafts import AllowedMentions, MessageDraft, MessageEdit, ReplyTo
from chat.domain.messages.message_reading import MessagePage
from chat.domain.messages.read_states import ReadUpTo
from chat.errors import ApiError
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.events import EventName
from chat.registries.message_types import MessageFlag, MessageType
from chat.registries.permissions import DEFAULT_EVERYONE, Permission
from chat.store.guilds.channels import Overwrite
from chat.store.messages import read_states
from chat.store.messages.read_states import ReadState
from tests.guilds.guild_world import GuildPlace, GuildWorld, refused
from tests.spec.ledger import proves

HISTORY = Permission.READ_MESSAGE_HISTORY.value


@pytest.fixture
async def harbour(world: GuildWorld) -> GuildPlace:
    """Alice's guild, with Bob and Carol in it; Eve is outside."""
    world.alice, world.bob, world.carol, world.eve = [
        await world.person(name) for name in ("alice", "bob", "carol", "eve")
    ]
    return await world.guild(world.alice, world.bob, world.carol)


class Say:
    """`await say(bob, "hello")` sends to the general channel."""

    def __init__(self, world: GuildWorld, place: GuildPlace) -> None:
        self.world = world
        self.place = place

    async def __call__(self, who: Principal, content: str = "hello", **more: Any) -> dict[str, Any]:
        draft = MessageDraft(content=content, **more)
        return await self.world.sending.create(who, self.place.general, draft)


@pytest.fixture
def say(world: GuildWorld, harbour: GuildPlace) -> Say:
    """Sends to the general channel of the harbour."""
    return Say(world, harbour)


async def listed(world: GuildWorld, who: Principal, place: GuildPlace, **page: int) -> list[str]:
    page = MessagePage(**{"limit": 50, **page})
    return [message["content"] for message in await world.messages.of_channel(who, place.general, page)]


# Sending


async def test_a_message_in_the_answer_and_in_the_event(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    sent = await say(world.bob, "hello", nonce="n1")
    assert sent == {
        "id": sent["id"],
        "channel_id": str(harbour.general),
        "author": {
            "id": str(world.bob.user_id),
            "username": "bob",
            "discriminator": "0001",
            "global_name": None,
            "avatar": None,
            "avatar_color": None,
            "flags": 0,
        },
        "type": 0,
        "flags": 0,
        "content": "hello",
        "timestamp": "2027-01-15T08:00:00.000Z",
        "edited_timestamp": None,
        "pinned": False,
        "mention_everyone": False,
        "tts": False,
        "mentions": [],
        "mention_roles": [],
        "embeds": [],
        "attachments": [],
        "stickers": [],
        "components": [],
        "nonce": "n1",
    }
    [event] = world.heard.events()
    assert (event.name, event.audience) == (EventName.MESSAGE_CREATE, ToChannel(harbour.id, harbour.general))
    assert event.mentions is None
    member = event.data["member"]
    assert event.data == {**sent, "guild_id": str(harbour.id), "channel_type": 0, "member": member}
    assert "user" not in member
    assert await world.messages.get(world.carol, harbour.general, int(sent["id"])) == sent
    channel = await world.channels.get(world.bob, harbour.general)
    assert channel["last_message_id"] == sent["id"]


async def test_who_may_send(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    with refused("MISSING_PERMISSIONS"):
        await say(world.eve)
    with refused("UNKNOWN_CHANNEL"):
        await world.sending.create(world.bob, 999, MessageDraft("x"))
    with refused("CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL"):
        await world.sending.create(world.bob, harbour.channel_id("Text Channels"), MessageDraft("x"))
    await harbour.overwrite(
        harbour.general, Overwrite(world.bob.user_id, OverwriteType.MEMBER.value, 0, Permission.SEND_MESSAGES.value)
    )
    with refused("MISSING_PERMISSIONS"):
        await say(world.bob)
    assert (await say(world.carol))["content"] == "hello"
    assert (await world.sending.create(world.bob, harbour.channel_id("General"), MessageDraft("x")))["content"] == "x"


async def test_a_channel_that_is_not_seen_takes_nothing(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    hidden = Overwrite(harbour.id, OverwriteType.ROLE.value, 0, Permission.VIEW_CHANNEL.value)
    await harbour.overwrite(harbour.general, hidden)
    for attempt in (
        say(world.bob),
        world.messages.of_channel(world.bob, harbour.general, MessagePage()),
        world.messages.get(world.bob, harbour.general, 1),
        world.deletion.delete(world.bob, harbour.general, 1),
        world.editing.edit(world.bob, harbour.general, 1, MessageEdit("x")),
        world.read_states.acknowledge(world.bob, ReadUpTo(harbour.general, 1)),
        world.typing.start(world.bob, harbour.general),
        world.channels.get(world.bob, harbour.general),
    ):
        with refused("MISSING_PERMISSIONS"):
            await attempt
    assert (await say(world.alice))["content"] == "hello"


async def test_empty_and_long_texts(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    for content in ("", "   ", "\n\t\u2003"):
        with refused("CANNOT_SEND_EMPTY_MESSAGE"):
            await say(world.bob, content)
    with refused("CONTENT_EXCEEDS_MAX_LENGTH at content"):
        await say(world.bob, "x" * 4001)
    assert len((await say(world.bob, "x" * 4000))["content"]) == 4000
    assert (await say(world.bob, " x "))["content"] == " x "


class TestWithoutPremium:
    """An instance where premium is not given to all."""

    @pytest.fixture
    def settings(self) -> Settings:
        return Settings(premium_mode="none")

    async def test_premium_writes_longer_texts(self, world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
        with refused("CONTENT_EXCEEDS_MAX_LENGTH at content"):
            await say(world.bob, "x" * 2001)
        await say(world.bob, "x" * 2000)
        rich = await world.person("rich", premium_type=2)
        place = await world.guild(rich)
        assert await world.sending.create(rich, place.general, MessageDraft("x" * 4000))


class TestBlockedText:
    """An instance with a blocked phrase."""

    @pytest.fixture
    def settings(self) -> Settings:
        return Settings(content_policy=ContentPolicySettings(blocked_phrases=("krakeel",)))

    @pytest.mark.rule("001.policy.1")
    async def test_it_is_neither_sent_nor_edited_in(self, world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
        with refused("CONTENT_BLOCKED"):
            await say(world.bob, "so ein KRAKEEL")
        sent = await say(world.bob, "so ein Kraken")
        with refused("CONTENT_BLOCKED"):
            await world.editing.edit(world.bob, harbour.general, int(sent["id"]), MessageEdit("Krakeel"))


async def test_only_sendable_flags_stay(world: GuildWorld, say: Say) -> None:
    sent = await say(world.bob, flags=MessageFlag.SUPPRESS_NOTIFICATIONS | MessageFlag.HAS_THREAD | 1)
    assert sent["flags"] == MessageFlag.SUPPRESS_NOTIFICATIONS


async def test_tts_needs_its_permission(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    with refused("MISSING_PERMISSIONS"):
        await say(world.bob, tts=True)
    await harbour.role(Permission.SEND_TTS_MESSAGES.value, world.bob)
    assert (await say(world.bob, tts=True))["tts"] is True


async def test_a_timed_out_member_is_silent_until_the_time_is_over(
    world: GuildWorld, harbour: GuildPlace, say: Say
) -> None:
    own = int((await say(world.bob))["id"])
    time_out = "UPDATE members SET communication_disabled_until = ? WHERE user_id = ?"
    await harbour.change(time_out, world.clock.ms + 1000, world.bob.user_id)
    for attempt in (
        say(world.bob),
        world.typing.start(world.bob, harbour.general),
        world.editing.edit(world.bob, harbour.general, own, MessageEdit("x")),
    ):
        with refused("COMMUNICATION_DISABLED"):
            await attempt
    assert await listed(world, world.bob, harbour) == ["hello", "", ""]
    world.clock.ms += 1000
    assert (await say(world.bob))["content"] == "hello"


@pytest.mark.rule("001.registries.14")
async def test_sending_can_be_switched_off_by_an_administrator(
    world: GuildWorld, harbour: GuildPlace, say: Say
) -> None:
    await harbour.set("disabled_operations", 16)
    with refused("FEATURE_TEMPORARILY_DISABLED"):
        await say(world.alice)
    await harbour.set("disabled_operations", 0)
    assert (await say(world.alice))["content"] == "hello"


# Slowmode


async def test_slowmode_makes_members_wait_and_spares_those_who_may_bypass_it(
    world: GuildWorld, harbour: GuildPlace, say: Say
) -> None:
    await harbour.change("UPDATE channels SET rate_limit_per_user = 10 WHERE id = ?", harbour.general)
    await say(world.bob)
    world.clock.ms += 4000
    with refused("SLOWMODE_RATE_LIMITED") as refusal:
        await say(world.bob)
    assert refusal.error.members == {"retry_after": 6.0}
    assert refusal.error.status == 400
    await say(world.carol)
    world.clock.ms += 6000
    await say(world.bob)
    for _ in range(2):
        await say(world.alice)
    await harbour.role(Permission.BYPASS_SLOWMODE.value, world.bob)
    await say(world.bob)


async def test_a_message_that_was_not_written_costs_no_turn(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    await harbour.change("UPDATE channels SET rate_limit_per_user = 10 WHERE id = ?", harbour.general)
    world.database.failing = True
    with refused("SERVICE_UNAVAILABLE"):
        await say(world.bob)
    world.database.failing = False
    await say(world.bob)
    with refused("SLOWMODE_RATE_LIMITED"):
        await say(world.bob)


# Nonces


async def test_the_same_nonce_is_the_same_message(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    first = await say(world.bob, "one", nonce="n")
    assert await say(world.bob, "one", nonce="n") == first
    assert len(world.heard.events(EventName.MESSAGE_CREATE)) == 1
    for who, nonce in [(world.carol, "n"), (world.bob, "other"), (world.bob, None)]:
        assert (await say(who, nonce=nonce))["id"] != first["id"]
    elsewhere = MessageDraft("x", nonce="n")
    there = await world.sending.create(world.bob, harbour.channel_id("General"), elsewhere)
    assert there["id"] != first["id"]
    world.clock.ms += 300_001
    assert (await say(world.bob, "one", nonce="n"))["id"] != first["id"]


async def test_a_nonce_is_free_again_once_its_message_is_gone(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    first = await say(world.bob, nonce="n")
    await world.deletion.delete(world.bob, harbour.general, int(first["id"]))
    assert (await say(world.bob, nonce="n"))["id"] != first["id"]


async def test_a_nonce_is_free_when_nothing_was_written(world: GuildWorld, say: Say) -> None:
    world.database.failing = True
    with refused("SERVICE_UNAVAILABLE"):
        await say(world.bob, nonce="n")
    world.database.failing = False
    assert (await say(world.bob, nonce="n"))["nonce"] == "n"


async def test_impatient_clients_send_one_message(world: GuildWorld, say: Say) -> None:
    answers = []

    async def send() -> None:
        answers.append(await say(world.bob, nonce="n"))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(send)
    assert len({answer["id"] for answer in answers}) == 1
    assert len(world.heard.events(EventName.MESSAGE_CREATE)) == 1


# Mentions


async def test_mentions_that_count(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    free = await harbour.role(0, mentionable=True)
    reserved = await harbour.role(0)
    bob = str(world.bob.user_id)
    content = f"<@{bob}> <@!{world.eve.user_id}> <@12345> <@&{free}> <@&{reserved}> <@&{harbour.id}> @everyone @here"
    by_carol = await say(world.carol, content)
    assert [user["username"] for user in by_carol["mentions"]] == ["bob", "eve"]
    assert by_carol["mention_roles"] == [str(free)]
    assert by_carol["mention_everyone"] is False
    event = world.heard.events()[-1]
    assert event.mentions == Mentions(
        user_ids=frozenset({world.bob.user_id, world.eve.user_id}), role_ids=frozenset({free})
    )
    by_alice = await say(world.alice, content)
    assert by_alice["mention_roles"] == sorted([str(free), str(reserved)])
    assert by_alice["mention_everyone"] is True
    event = world.heard.events()[-1]
    assert event.mentions.everyone
    assert "mention_here" not in event.data
    here = await say(world.alice, "come @here")
    event = world.heard.events()[-1]
    assert here["mention_everyone"] is True
    assert (event.mentions, event.data["mention_here"]) == (Mentions(here=True), True)
    assert await world.messages.get(world.bob, harbour.general, int(by_alice["id"])) == by_alice


@pytest.mark.rule("001.registries.11")
async def test_everyone_mentions_can_be_switched_off(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    await harbour.set("disabled_operations", 2)
    assert (await say(world.alice, "@everyone"))["mention_everyone"] is False


@pytest.mark.parametrize(
    ("allowed", "users", "roles", "everyone"),
    [
        (AllowedMentions(), 0, 0, False),
        (AllowedMentions(parse=frozenset({"users"})), 2, 0, False),
        (AllowedMentions(parse=frozenset({"roles"})), 0, 1, False),
        (AllowedMentions(parse=frozenset({"everyone"})), 0, 0, True),
        (AllowedMentions(parse=frozenset({"users", "roles", "everyone"})), 2, 1, True),
        (AllowedMentions(user_ids=frozenset({1})), 0, 0, False),
    ],
)
async def test_a_draft_says_which_mentions_count(
    world: GuildWorld, harbour: GuildPlace, say: Say, allowed: AllowedMentions, users: int, roles: int, everyone: bool
) -> None:
    role = await harbour.role(0)
    content = f"<@{world.bob.user_id}> <@{world.carol.user_id}> <@&{role}> @everyone"
    sent = await say(world.alice, content, allowed_mentions=allowed)
    assert (len(sent["mentions"]), len(sent["mention_roles"]), sent["mention_everyone"]) == (users, roles, everyone)
    single = AllowedMentions(user_ids=frozenset({world.bob.user_id}), role_ids=frozenset({role}))
    sent = await say(world.alice, content, allowed_mentions=single)
    assert ([user["username"] for user in sent["mentions"]], sent["mention_roles"]) == (["bob"], [str(role)])


async def test_whoever_is_mentioned_and_sees_it_has_one_more_to_read(
    world: GuildWorld, harbour: GuildPlace, say: Say
) -> None:
    await harbour.overwrite(
        harbour.general, Overwrite(world.carol.user_id, OverwriteType.MEMBER.value, 0, Permission.VIEW_CHANNEL.value)
    )
    everybody = " ".join(f"<@{who.user_id}>" for who in (world.alice, world.bob, world.carol, world.eve))
    sent = await say(world.alice, everybody)
    await say(world.alice, everybody)

    async def state_of(who: Principal) -> list[ReadState]:
        return await world.database.read(lambda connection: read_states.of_user(connection, who.user_id))

    assert await state_of(world.bob) == [ReadState(harbour.general, None, 2, None)]
    assert await state_of(world.carol) == []
    assert await state_of(world.eve) == []
    [author] = await state_of(world.alice)
    assert author.mention_count == 0, "one's own mention is not news"
    world.heard.signals.clear()
    up_to = ReadUpTo(harbour.general, int(sent["id"]), mention_count=1, manual=True)
    await world.read_states.acknowledge(world.bob, up_to)
    [state] = await state_of(world.bob)
    assert state == ReadState(harbour.general, int(sent["id"]), 1, None, version=state.version)
    [event] = world.heard.events()
    assert (event.name, event.audience) == (EventName.MESSAGE_ACK, ToAccounts((world.bob.user_id,)))
    assert event.data == {
        "channel_id": str(harbour.general),
        "message_id": sent["id"],
        "mention_count": 1,
        "version": str(state.version),
        "manual": True,
    }
    await world.read_states.forget(world.bob, harbour.general)
    assert await state_of(world.bob) == []


async def test_writing_counts_as_having_read_except_for_bots(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    robot = await world.person("robot", bot=True)
    place = await world.guild(world.alice, robot)
    await world.sending.create(robot, place.general, MessageDraft("beep"))
    sent = await world.sending.create(world.alice, place.general, MessageDraft("hello"))

    async def last_read(who: Principal) -> list[int | None]:
        states = await world.database.read(lambda connection: read_states.of_user(connection, who.user_id))
        return [state.last_message_id for state in states]

    assert await last_read(robot) == []
    assert await last_read(world.alice) == [int(sent["id"])]


# Answering


async def test_an_answer_shows_what_it_answers_and_mentions_its_author(
    world: GuildWorld, harbour: GuildPlace, say: Say
) -> None:
    question = await say(world.bob, "why?")
    answer = await say(world.carol, "because", reply_to=ReplyTo(int(question["id"])))
    assert answer["type"] == MessageType.REPLY
    assert answer["message_reference"] == {
        "channel_id": str(harbour.general),
        "message_id": question["id"],
        "guild_id": str(harbour.id),
        "type": 0,
    }
    assert answer["referenced_message"] == question
    assert [user["username"] for user in answer["mentions"]] == ["bob"]
    second = await say(world.alice, "I see", reply_to=ReplyTo(int(answer["id"]), channel_id=harbour.general))
    assert "referenced_message" not in second["referenced_message"]
    quiet = await say(world.alice, "psst", reply_to=ReplyTo(int(question["id"])), allowed_mentions=AllowedMentions())
    assert quiet["mentions"] == []
    assert (await world.messages.get(world.bob, harbour.general, int(answer["id"]))) == answer
    await world.deletion.delete(world.bob, harbour.general, int(question["id"]))
    read = await world.messages.get(world.bob, harbour.general, int(answer["id"]))
    assert read["referenced_message"] is None
    assert "referenced_message" not in question


async def test_what_cannot_be_answered(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    with refused("UNKNOWN_MESSAGE"):
        await say(world.bob, reply_to=ReplyTo(999_999_999_999_999_999))
    plain = await say(world.bob, reply_to=ReplyTo(999_999_999_999_999_999, required=False))
    assert (plain["type"], "message_reference" in plain) == (0, False)
    elsewhere = await world.sending.create(world.bob, harbour.channel_id("General"), MessageDraft("x"))
    with refused("UNKNOWN_MESSAGE"):
        await say(world.bob, reply_to=ReplyTo(int(elsewhere["id"])))
    with refused("INVALID_FORMAT at message_reference.channel_id"):
        await say(world.bob, reply_to=ReplyTo(int(elsewhere["id"]), channel_id=harbour.channel_id("General")))


# Reading


@pytest.mark.rule("001.guild-object.31", "001.guild-object.32", "001.guild-object.33")
async def test_history_is_for_those_who_may_read_it(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    old = await say(world.alice, "old")
    world.clock.ms += 1000
    cutoff = world.clock.ms
    new = await say(world.alice, "new", reply_to=ReplyTo(int(old["id"])))
    await harbour.everyone(DEFAULT_EVERYONE & ~HISTORY)
    assert await listed(world, world.bob, harbour) == []
    for message in (old, new):
        with refused("UNKNOWN_MESSAGE"):
            await world.messages.get(world.bob, harbour.general, int(message["id"]))
    assert await listed(world, world.alice, harbour) == ["new", "old", "", ""]
    await harbour.set("message_history_cutoff", cutoff)
    assert await listed(world, world.bob, harbour) == ["new"]
    assert await listed(world, world.bob, harbour, after=0) == ["new"]
    assert await listed(world, world.bob, harbour, around=int(old["id"])) == ["new"]
    with refused("UNKNOWN_MESSAGE"):
        await world.messages.get(world.bob, harbour.general, int(old["id"]))
    read = await world.messages.get(world.bob, harbour.general, int(new["id"]))
    assert read["referenced_message"] is None, "an answer gives nothing away"
    with refused("UNKNOWN_MESSAGE"):
        await say(world.bob, reply_to=ReplyTo(int(old["id"])))
    await harbour.set("message_history_cutoff", cutoff + 1)
    assert await listed(world, world.bob, harbour) == []
    await harbour.everyone(DEFAULT_EVERYONE)
    assert await listed(world, world.bob, harbour) == ["new", "old", "", ""]


async def test_one_message_of_this_channel(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    sent = await say(world.bob)
    with refused("UNKNOWN_MESSAGE"):
        await world.messages.get(world.bob, harbour.channel_id("General"), int(sent["id"]))
    with refused("UNKNOWN_MESSAGE"):
        await world.messages.get(world.bob, harbour.general, 999_999_999_999_999_999)


# Editing and deleting


async def test_editing_ones_own_message(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    sent = await say(world.bob, f"<@{world.carol.user_id}>")
    world.heard.signals.clear()
    world.clock.ms += 1000
    edited = await world.editing.edit(world.bob, harbour.general, int(sent["id"]), MessageEdit("better"))
    assert (edited["content"], edited["edited_timestamp"]) == ("better", "2027-01-15T08:00:01.000Z")
    assert edited["mentions"] == []
    assert edited == {**sent, "content": "better", "edited_timestamp": edited["edited_timestamp"], "mentions": []}
    [event] = world.heard.events()
    assert (event.name, event.audience) == (
        EventName.MESSAGE_UPDATE,
        ToChannel(harbour.id, harbour.general, message_id=int(sent["id"])),
    )
    assert event.data == {**edited, "guild_id": str(harbour.id), "member": event.data["member"]}
    assert await world.messages.get(world.carol, harbour.general, int(sent["id"])) == edited
    flags = MessageFlag.SUPPRESS_EMBEDS.value
    quiet = await world.editing.edit(world.bob, harbour.general, int(sent["id"]), MessageEdit(flags=flags))
    assert quiet == {**edited, "flags": flags}


async def test_an_edited_answer_keeps_mentioning_whom_it_answers(
    world: GuildWorld, harbour: GuildPlace, say: Say
) -> None:
    question = await say(world.bob, "why?")
    answer = await say(world.carol, "becuase", reply_to=ReplyTo(int(question["id"])))
    edit = MessageEdit(f"because <@{world.alice.user_id}>")
    edited = await world.editing.edit(world.carol, harbour.general, int(answer["id"]), edit)
    assert [user["username"] for user in edited["mentions"]] == ["alice", "bob"]
    assert edited["referenced_message"] == question
    quiet = await say(world.carol, "hm", reply_to=ReplyTo(int(question["id"])), allowed_mentions=AllowedMentions())
    edited = await world.editing.edit(world.carol, harbour.general, int(quiet["id"]), MessageEdit("hm!"))
    assert edited["mentions"] == []


async def test_what_cannot_be_edited(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    sent = int((await say(world.bob))["id"])
    with refused("CANNOT_EDIT_OTHER_USER_MESSAGE"):
        await world.editing.edit(world.alice, harbour.general, sent, MessageEdit("x"))
    with refused("UNKNOWN_MESSAGE"):
        await world.editing.edit(world.bob, harbour.general, 999, MessageEdit("x"))
    for content, code in [(" ", "CANNOT_SEND_EMPTY_MESSAGE"), ("x" * 4001, "CONTENT_EXCEEDS_MAX_LENGTH at content")]:
        with refused(code):
            await world.editing.edit(world.bob, harbour.general, sent, MessageEdit(content))
    page = await world.messages.of_channel(world.bob, harbour.general, MessagePage())
    greeting = next(message for message in page if message["author"]["username"] == "bob" and message["type"] == 7)
    with refused("CANNOT_EDIT_OTHER_USER_MESSAGE"):
        await world.editing.edit(world.bob, harbour.general, int(greeting["id"]), MessageEdit("x"))
    assert (await world.editing.edit(world.bob, harbour.general, sent, MessageEdit("x")))["content"] == "x"


async def test_deleting(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    own, others, moderated = [int((await say(world.bob, text))["id"]) for text in ("own", "others", "moderated")]
    world.heard.signals.clear()
    await world.deletion.delete(world.bob, harbour.general, own)
    [event] = world.heard.events()
    assert (event.name, event.audience) == (
        EventName.MESSAGE_DELETE,
        ToChannel(harbour.id, harbour.general, message_id=own),
    )
    assert event.data == {
        "id": str(own),
        "channel_id": str(harbour.general),
        "guild_id": str(harbour.id),
        "author_id": str(world.bob.user_id),
        "content": "own",
    }
    with refused("UNKNOWN_MESSAGE"):
        await world.deletion.delete(world.bob, harbour.general, own)
    with refused("MISSING_PERMISSIONS"):
        await world.deletion.delete(world.carol, harbour.general, others)
    await world.deletion.delete(world.alice, harbour.general, others)
    await harbour.role(Permission.MANAGE_MESSAGES.value, world.carol)
    await world.deletion.delete(world.carol, harbour.general, moderated)
    assert await listed(world, world.bob, harbour) == ["", ""]


# Verification levels


async def test_verification_levels(world: GuildWorld) -> None:
    owner = await world.person("owner", created_at=world.clock.ms)
    strangers = {
        "unclaimed": await world.person("unclaimed", email=None, password_hash=None, email_verified=False),
        "unverified": await world.person("unverified", email_verified=False),
        "young": await world.person("young", created_at=world.clock.ms),
        "new": await world.person("new"),
        "robot": await world.person("robot", bot=True, email=None),
    }
    place = await world.guild(owner, *strangers.values())

    async def silent() -> set[str]:
        outcomes = {}
        for name, who in strangers.items():
            try:
                await world.sending.create(who, place.general, MessageDraft("x"))
            except ApiError as error:
                outcomes[name] = error.code
        with proves("001.verification.8"):
            assert await world.sending.create(owner, place.general, MessageDraft("x"))
        assert set(outcomes.values()) <= {"GUILD_VERIFICATION_REQUIRED"}
        return set(outcomes)

    with proves("001.verification.1"):
        assert await silent() == set()
    await place.set("features", '["DISCOVERABLE"]')
    with proves("001.verification.6"):
        assert await silent() == {"unclaimed", "unverified"}
    await place.set("features", "[]")
    for level, expected in [
        (1, {"unclaimed", "unverified"}),
        (2, {"unclaimed", "unverified", "young"}),
        (3, {"unclaimed", "unverified", "young", "new"}),
    ]:
        await place.set("verification_level", level)
        with proves(f"001.verification.{level + 1}", "001.verification.9"):
            assert await silent() == expected
    world.clock.ms += 299_999
    await place.set("verification_level", 2)
    assert await silent() == {"unclaimed", "unverified", "young"}
    world.clock.ms += 1
    assert await silent() == {"unclaimed", "unverified"}
    await place.set("verification_level", 3)
    assert await silent() == {"unclaimed", "unverified", "young", "new"}
    world.clock.ms += 300_000
    assert await silent() == {"unclaimed", "unverified"}
    await place.role(0, strangers["unclaimed"])
    with proves("001.verification.10"):
        assert await silent() == {"unverified"}


# Typing


async def test_typing_is_told_to_those_who_see_the_channel(world: GuildWorld, harbour: GuildPlace) -> None:
    await world.typing.start(world.bob, harbour.general)
    [event] = world.heard.events()
    assert (event.name, event.audience) == (EventName.TYPING_START, ToChannel(harbour.id, harbour.general))
    assert event.data["member"]["user"]["username"] == "bob"
    assert {key: value for key, value in event.data.items() if key != "member"} == {
        "channel_id": str(harbour.general),
        "user_id": str(world.bob.user_id),
        "timestamp": 1_800_000_000,
        "guild_id": str(harbour.id),
    }


@pytest.mark.rule("001.registries.12")
async def test_nobody_hears_of_typing_where_that_is_switched_off(world: GuildWorld, harbour: GuildPlace) -> None:
    await harbour.set("disabled_operations", 4)
    await world.typing.start(world.bob, harbour.general)
    assert world.heard.events() == []


async def test_who_cannot_write_does_not_type(world: GuildWorld, harbour: GuildPlace) -> None:
    await harbour.everyone(Permission.VIEW_CHANNEL.value)
    with refused("MISSING_PERMISSIONS"):
        await world.typing.start(world.bob, harbour.general)
    with refused("CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL"):
        await world.typing.start(world.alice, harbour.channel_id("Text Channels"))
    forum = await harbour.channel(ChannelType.GUILD_FORUM.value, "forum")
    with refused("CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL"):
        await world.typing.start(world.alice, forum)


async def test_memory_of_messages_sent_can_be_dropped(world: GuildWorld, harbour: GuildPlace, say: Say) -> None:
    await harbour.change("UPDATE channels SET rate_limit_per_user = 10 WHERE id = ?", harbour.general)
    first = await say(world.bob, nonce="n")
    world.sending.forget_recent()
    assert (await say(world.bob, nonce="n"))["id"] != first["id"]


async def test_an_author_who_is_gone_is_shown_as_a_deleted_account(
    world: GuildWorld, harbour: GuildPlace, say: Say
) -> None:
    sent = await say(world.bob, f"<@{world.carol.user_id}>")
    await harbour.change("UPDATE messages SET author_id = 999 WHERE id = ?", int(sent["id"]))
    read = await world.messages.get(world.carol, harbour.general, int(sent["id"]))
    assert (read["author"]["id"], read["author"]["username"]) == ("999", "DeletedUser")
    answer = await say(world.alice, "anyone?", reply_to=ReplyTo(int(sent["id"])))
    assert answer["mentions"] == []
    assert answer["referenced_message"]["author"]["username"] == "DeletedUser"
