"""Dispatches in the words of the mount: each is put into them once, for each set of intents, and then spliced like any
other (architecture.md, Second mount)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import orjson

from chat import wire
from chat.classes import define, frozen
from chat.compat.discord.intents import HEARD_BY_THEMSELVES, WITH_CONTENT, Intent, is_heard
from chat.compat.discord.objects import Object, completed
from chat.compat.discord.redaction import readers, redacted, without_what_it_answers
from chat.domain.accounts.account_states import AccountStates
from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.domain.standing.guild_states import GuildState, GuildStates
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.events import EventName

NO_ONE: Final[frozenset[int]] = frozenset()


@frozen(eq=False)
class EventForm:
    """What an event is for sessions with the same intents: `events` for most of them, `others` for the accounts of
    `exempt`, but `partly` for those of them who are not in `wholly`."""

    events: tuple[OutgoingEvent, ...]
    others: tuple[OutgoingEvent, ...] = ()
    exempt: frozenset[int] = NO_ONE
    partly: tuple[OutgoingEvent, ...] = ()
    wholly: frozenset[int] = NO_ONE

    def of(self, user_id: int) -> tuple[OutgoingEvent, ...]:
        """What it is for one account."""
        if user_id not in self.exempt:
            return self.events
        return self.partly if self.partly and user_id not in self.wholly else self.others


NOTHING: Final = EventForm(())


@frozen(eq=False)
class RunForm:
    """What a run is for sessions with the same intents; the accounts of `exempt` take its events one by one."""

    run: EventRun | None
    exempt: frozenset[int]


@frozen(eq=False)
class Translation:
    """An event in the words of the mount, before intents: several where one of ours is many of theirs."""

    events: tuple[OutgoingEvent, ...]
    private: bool
    bare: tuple[OutgoingEvent, ...] = ()
    """The same without the content of the message."""
    exempt: frozenset[int] = NO_ONE
    """Whom it mentions and who wrote it; or whom it is about."""
    partly: tuple[OutgoingEvent, ...] = ()
    """The same without the content of the message that it answers, which only those of `wholly` may read."""
    wholly: frozenset[int] = NO_ONE

    def form(self, name: EventName, intents: int) -> EventForm:
        """What it is for sessions with these intents."""
        if not is_heard(name, intents, private=self.private):
            return EventForm((), self.events, self.exempt) if name in HEARD_BY_THEMSELVES else NOTHING
        if self.bare and not self.private and not intents & Intent.MESSAGE_CONTENT:
            return EventForm(self.bare, self.events, self.exempt, self.partly, self.wholly)
        return EventForm(self.events)


WHOLE: Final = -1
"""The key, among an event's forms, of its Translation: no set of intents is negative."""


@define(eq=False)
class Translator:
    """Puts events into the words of the mount. It looks up what ours leave out and theirs must have."""

    _accounts: AccountStates
    _guild_states: GuildStates
    _members: Callable[[GuildState], Sequence[wire.Member]]
    """Every member of a small guild, from the database."""

    def with_members(self, event: OutgoingEvent, large_threshold: int) -> OutgoingEvent:
        """GUILD_CREATE with every member of the guild, where it has no more than the session takes at once: caches of
        the libraries hold what they were told, and few of them ask."""
        data: Object = orjson.loads(event.data)
        state = self._guild_states.get(int(data["id"]))
        if state is None or state.member_count > large_threshold:
            return event
        members = orjson.dumps({**data, "members": self._members(state)})
        return OutgoingEvent(event.name, members, retained=event.retained)

    def form(self, event: OutgoingEvent, intents: int) -> EventForm | OutgoingEvent:
        """What the event is for sessions with these intents, kept with it: a single event where it is one for all."""
        forms = event.forms
        if forms is None:
            forms = event.forms = {WHOLE: self._translated(event)}
        form: EventForm = forms[WHOLE].form(EventName(event.name), intents)
        kept = form.events[0] if len(form.events) == 1 and not form.exempt else form
        forms[intents] = kept
        return kept

    def run(self, run: EventRun, intents: int) -> RunForm | EventRun:
        """What the run is for sessions with these intents, kept with it: another run where that is the same for all."""
        events: list[OutgoingEvent] = []
        exempt: set[int] = set()
        for event in run.events:
            form = self.form(event, intents)
            if isinstance(form, OutgoingEvent):
                events.append(form)
            else:
                events += form.events
                exempt |= form.exempt
        made = EventRun(events) if events else None
        kept = RunForm(made, frozenset(exempt)) if made is None or exempt else made
        run.forms = run.forms or {}
        run.forms[intents] = kept
        return kept

    def _translated(self, event: OutgoingEvent) -> Translation:
        data = orjson.loads(event.data)
        if not isinstance(data, dict):
            return Translation((), private=True)
        name = EventName(event.name)
        private = "guild_id" not in data and name not in OF_GUILDS
        said = [(each, completed(change)) for each, change in self._changed(name, data)]
        events = tuple(OutgoingEvent(each, orjson.dumps(d), retained=event.retained) for each, d in said)
        if name in WITH_CONTENT:
            ((_, message),) = said
            bare = (OutgoingEvent(name, orjson.dumps(redacted(message)), retained=event.retained),)
            answered = message.get("referenced_message")
            if answered is None:
                return Translation(events, private, bare, readers(message))
            part = orjson.dumps(without_what_it_answers(message))
            partly = (OutgoingEvent(name, part, retained=event.retained),)
            return Translation(events, private, bare, readers(message), partly, readers(answered))
        exempt = frozenset({int(data["user"]["id"])}) if name in HEARD_BY_THEMSELVES else NO_ONE
        return Translation(events, private, exempt=exempt)

    def _changed(self, name: EventName, data: Object) -> Iterator[tuple[EventName, Object]]:
        """The event as one or several of theirs; their objects are not completed yet."""
        if name in OF_MANY:
            single, members = OF_MANY[name]
            for each in data[members]:
                yield from self._changed(single, _one_of(single, data["guild_id"], each))
            return
        change = CHANGES.get(name)
        if change is not None:
            changed = change(self, data)
            if changed is None:
                return
            data = changed
        yield name, data

    # What single events lack

    def guild_changed(self, data: Object) -> Object:
        """GUILD_UPDATE has roles and expressions: their caches take what it has for all there is."""
        state = self._guild_states.get(int(data["id"]))
        if state is None:
            return data
        lists = {EMOJIS: state.expression_objects(EMOJIS), STICKERS: state.expression_objects(STICKERS)}
        return {**data, "roles": state.role_objects(threads=True), **lists}

    def user_told(self, data: Object) -> Object:
        """Who left or is banned is told in full, not by the id alone."""
        found = self._accounts.partial_users([int(data["user"]["id"])])
        return {**data, "user": found[0]} if found else data


def _one_of(name: EventName, guild_id: str, each: Object) -> Object:
    """One of many as the event of its own."""
    if name == EventName.GUILD_ROLE_UPDATE:
        return {"guild_id": guild_id, "role": each}
    return {**each, "guild_id": guild_id}


def _reaction(_: Translator, data: Object) -> Object:
    return {**data, "type": 0, "burst": False}


def _presence(_: Translator, data: Object) -> Object | None:
    """A presence of a guild; of friends, who have no guild, they do not hear."""
    return data if "guild_id" in data else None


def _invite(_: Translator, data: Object) -> Object:
    """An invite names channel and guild by id."""
    guild = data.get("guild")
    return {**data, "channel_id": data["channel"]["id"], **({} if guild is None else {"guild_id": guild["id"]})}


Change = Callable[[Translator, Object], Object | None]

CHANGES: Final[dict[EventName, Change]] = {
    EventName.GUILD_UPDATE: Translator.guild_changed,
    EventName.GUILD_MEMBER_REMOVE: Translator.user_told,
    EventName.GUILD_BAN_ADD: Translator.user_told,
    EventName.GUILD_BAN_REMOVE: Translator.user_told,
    EventName.INVITE_CREATE: _invite,
    EventName.MESSAGE_REACTION_ADD: _reaction,
    EventName.MESSAGE_REACTION_REMOVE: _reaction,
    EventName.PRESENCE_UPDATE: _presence,
}
"""What is done to an event besides completing its objects; None: it does not come."""

OF_MANY: Final[dict[EventName, tuple[EventName, str]]] = {
    EventName.GUILD_ROLE_UPDATE_BULK: (EventName.GUILD_ROLE_UPDATE, "roles"),
    EventName.CHANNEL_UPDATE_BULK: (EventName.CHANNEL_UPDATE, "channels"),
    EventName.PRESENCE_UPDATE_BULK: (EventName.PRESENCE_UPDATE, "presences"),
}
"""Events of ours that are many of theirs."""

OF_GUILDS: Final = frozenset({EventName.GUILD_CREATE, EventName.GUILD_DELETE, EventName.INVITE_CREATE})
"""Name their guild otherwise than by `guild_id`."""
