"""Counts of mentions over random histories: what read states say is what a naive recount of all messages says.

Members write, edit and delete messages that name each other, a role, everyone and who is there; they read, forget,
block or silence each other, come and go online, take on and lay down the role, lose sight of a channel, and switch
kinds of mentions off.
"""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs
import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chat.auth.principal import Principal
from chat.config import Settings
from chat.domain.messages.message_drafts import MessageDraft, MessageEdit
from chat.domain.messages.read_states import SUPPRESS_EVERYONE, SUPPRESS_ROLES, ReadUpTo, read_states_of
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.store.accounts import user_settings
from chat.store.database import open_database
from chat.store.guilds import channels, members
from chat.store.guilds.channels import Overwrite
from chat.store.messages import read_states
from chat.store.standing import relationships
from chat.testing.server import fresh_database
from tests.guilds.guild_world import GuildPlace, GuildWorld

PEOPLE: Final = 3
PLACES: Final = 2

people = st.integers(0, PEOPLE - 1)
places = st.integers(0, PLACES - 1)
ordinals = st.integers(0, 63)
"""Some message: the ordinal modulo how many there are."""


@attrs.frozen
class Naming:
    """What a text names."""

    users: frozenset[int] = frozenset()
    role: bool = False
    everyone: bool = False
    here: bool = False


namings = st.one_of(
    st.builds(Naming, st.frozensets(people, min_size=1)),
    st.sampled_from([Naming(role=True), Naming(everyone=True), Naming(here=True), Naming()]),
    st.builds(Naming, st.frozensets(people), st.booleans(), st.booleans(), st.booleans()),
)
writing = st.tuples(st.just("write"), people, places, namings)
steps = st.one_of(
    writing,
    writing,
    writing,
    st.tuples(st.just("edit"), ordinals, namings),
    st.tuples(st.just("delete"), ordinals),
    st.tuples(st.just("read"), people, ordinals, st.booleans()),
    st.tuples(st.just("forget"), people, places),
    st.tuples(st.just("role"), people, st.booleans()),
    st.tuples(st.just("online"), people, st.booleans()),
    st.tuples(st.just("suppress"), people, st.sampled_from([SUPPRESS_EVERYONE, SUPPRESS_ROLES]), st.booleans()),
    st.tuples(st.just("block"), people, people, st.booleans()),
    st.tuples(st.just("silence"), people, people, st.booleans()),
    st.tuples(st.just("sight"), people, places, st.booleans()),
)


@attrs.define
class Written:
    """A message as the model knows it."""

    id: int
    place: int
    author: int
    naming: Naming
    told: frozenset[int]
    """Those named one by one who were told."""
    here: frozenset[int]
    """Those who were there."""


@attrs.define
class Person:
    """An account as the model knows it. `read` are the messages up to which each place was read."""

    holds_role: bool = False
    online: bool = False
    suppresses: set[str] = attrs.field(factory=set)
    blocks: set[int] = attrs.field(factory=set)
    silences: set[int] = attrs.field(factory=set)
    """Of whose messages the account wants no notification."""
    blind: set[int] = attrs.field(factory=set)
    read: dict[int, int] = attrs.field(factory=dict)

    def hears(self, author: int) -> bool:
        return author not in self.blocks | self.silences


class History:
    """Does each step to the world and to the model."""

    def __init__(self, world: GuildWorld, guild: GuildPlace, who: list[Principal], where: list[int], role: int) -> None:
        self.world = world
        self.guild = guild
        self.who = who
        self.where = where
        self.role_id = role
        self.people = [Person() for _ in who]
        self.messages: list[Written] = []

    def count(self, user: int, place: int) -> int:
        """What a recount of everything gives."""
        person = self.people[user]
        return sum(
            message.id > person.read.get(place, 0) and message.author != user and self._names(message, user)
            for message in self.messages
            if message.place == place
        )

    def _names(self, message: Written, user: int) -> bool:
        person, naming = self.people[user], message.naming
        if user in message.told:
            return True
        if message.place in person.blind or not person.hears(message.author):
            return False
        all_count = SUPPRESS_EVERYONE not in person.suppresses
        as_role = naming.role and person.holds_role and SUPPRESS_ROLES not in person.suppresses
        return as_role or (all_count and (naming.everyone or (naming.here and user in message.here)))

    def _text(self, naming: Naming) -> str:
        names = [f"<@{self.who[user].user_id}>" for user in sorted(naming.users)]
        names += [f"<@&{self.role_id}>"] * naming.role + ["@everyone"] * naming.everyone + ["@here"] * naming.here
        return " ".join(["so", *names])

    async def write(self, author: int, place: int, naming: Naming) -> None:
        if place in self.people[author].blind:
            return
        sent = await self.world.sending.create(self.who[author], self.where[place], MessageDraft(self._text(naming)))
        told = frozenset(
            user
            for user in naming.users - {author}
            if place not in self.people[user].blind and self.people[user].hears(author)
        )
        here = frozenset(user for user, person in enumerate(self.people) if person.online)
        message = Written(int(sent["id"]), place, author, naming, told, here)
        self.messages.append(message)
        self.people[author].read[place] = message.id

    async def edit(self, ordinal: int, naming: Naming) -> None:
        if not self.messages:
            return
        message = self.messages[ordinal % len(self.messages)]
        if message.place in self.people[message.author].blind:
            return
        await self.world.editing.edit(
            self.who[message.author], self.where[message.place], message.id, MessageEdit(self._text(naming))
        )
        # Nobody is told of an edit: it can only take mentions back.
        before = message.naming
        message.told &= naming.users
        kept_all = naming.everyone or naming.here
        message.naming = Naming(
            naming.users, before.role and naming.role, before.everyone and kept_all, before.here and kept_all
        )

    async def delete(self, ordinal: int) -> None:
        if self.messages:
            message = self.messages.pop(ordinal % len(self.messages))
            await self.world.deletion.delete(self.who[0], self.where[message.place], message.id)

    async def read(self, user: int, ordinal: int, manual: bool) -> None:
        if not self.messages:
            return
        message = self.messages[ordinal % len(self.messages)]
        if message.place in self.people[user].blind:
            return
        self.world.heard.signals.clear()
        wish = ReadUpTo(self.where[message.place], message.id, manual=manual)
        await self.world.read_states.acknowledge(self.who[user], wish)
        self.people[user].read[message.place] = message.id
        [event] = self.world.heard.events(EventName.MESSAGE_ACK)
        assert isinstance(event.data, dict)
        assert event.data["mention_count"] == self.count(user, message.place)

    async def forget(self, user: int, place: int) -> None:
        if place not in self.people[user].blind:
            await self.world.read_states.forget(self.who[user], self.where[place])
            newest = await self.world.database.read(functools.partial(self._newest, self.where[place]))
            self.people[user].read[place] = newest

    @staticmethod
    def _newest(channel_id: int, connection: object) -> int:
        return channels.by_id(connection, channel_id).last_message_id or 0  # type: ignore[arg-type, union-attr]

    async def role(self, user: int, holds: bool) -> None:
        change = members.add_roles if holds else members.remove_roles
        user_id = self.who[user].user_id
        await self.world.database.write(lambda connection: change(connection, self.guild.id, user_id, [self.role_id]))
        self.world.guild_states.refresh(self.guild.id)
        self.people[user].holds_role = holds

    async def online(self, user: int, comes: bool) -> None:
        self.people[user].online = comes
        (self.world.connected.add if comes else self.world.connected.discard)(self.who[user].user_id)

    async def suppress(self, user: int, kind: str, switched: bool) -> None:
        suppresses = self.people[user].suppresses
        (suppresses.add if switched else suppresses.discard)(kind)
        body = dict.fromkeys(suppresses, True)
        user_id = self.who[user].user_id
        await self.world.database.write(
            lambda connection: user_settings.put_of_guild(connection, user_id, self.guild.id, body)
        )

    async def block(self, user: int, other: int, blocks: bool) -> None:
        if user == other:
            return
        user_id, other_id = self.who[user].user_id, self.who[other].user_id
        (self.people[user].blocks.add if blocks else self.people[user].blocks.discard)(other)
        row = relationships.Relationship(user_id, other_id, read_states.BLOCKED, 0)

        def unit(connection: object) -> None:
            relationships.delete(connection, user_id, other_id)  # type: ignore[arg-type]
            if blocks:
                relationships.put(connection, row)  # type: ignore[arg-type]

        await self.world.database.write(unit)

    async def silence(self, user: int, other: int, silences: bool) -> None:
        if user == other:
            return
        person = self.people[user]
        (person.silences.add if silences else person.silences.discard)(other)
        levels = {str(self.who[one].user_id): read_states.SILENCED for one in person.silences}
        user_id = self.who[user].user_id
        await self.world.database.write(
            lambda connection: user_settings.put(connection, user_id, {"person_notifications": levels})
        )

    async def sight(self, user: int, place: int, sees: bool) -> None:
        if user == 0:  # owners see everything
            return
        deny = 0 if sees else Permission.VIEW_CHANNEL.value
        overwrite = Overwrite(self.who[user].user_id, OverwriteType.MEMBER.value, 0, deny)
        await self.guild.overwrite(self.where[place], overwrite)
        (self.people[user].blind.discard if sees else self.people[user].blind.add)(place)

    def check(self) -> None:
        """Everybody's read states, as Ready has them, against the recount."""
        for user, principal in enumerate(self.who):
            shown = read_states_of(self.world.database, self.world.guild_states, principal.user_id, threads=True)
            counts = {int(state["id"]): state["mention_count"] for state in shown}
            for place, channel_id in enumerate(self.where):
                assert counts.get(channel_id, 0) == self.count(user, place), (user, place)


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(st.lists(steps, min_size=10, max_size=30))
@example(  # what was forgotten is not taken back a second time
    [
        ("write", 0, 0, Naming(frozenset({1}))),
        ("forget", 1, 0),
        ("write", 0, 0, Naming(frozenset({1}))),
        ("delete", 0),
    ]
)
def test_counts_are_those_of_a_recount(history: list[tuple[object, ...]]) -> None:
    async def live(folder: Path) -> None:
        async with open_database(fresh_database(folder / "chat.db"), inline=True, durable=False) as database:
            world = GuildWorld(database, Settings(), folder)
            who = [await world.person(name) for name in ("alice", "bob", "carol")]
            guild = await world.guild(*who)
            await guild.everyone(
                (
                    Permission.VIEW_CHANNEL
                    | Permission.SEND_MESSAGES
                    | Permission.READ_MESSAGE_HISTORY
                    | Permission.MENTION_EVERYONE
                ).value
            )
            second = await guild.channel(ChannelType.GUILD_TEXT.value, "second")
            role = await guild.role(0)
            world.clock.ms += 1_000  # messages are younger than memberships
            whole = History(world, guild, who, [guild.general, second], role)
            for user in range(PEOPLE):
                await whole.online(user, True)
                await whole.role(user, user != 1)
            for name, *arguments in history:
                await getattr(whole, str(name))(*arguments)
                whole.check()

    with TemporaryDirectory() as folder:
        trio.run(live, Path(folder))
