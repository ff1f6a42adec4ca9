"""What sessions hear of reactions (messages.md, Reactions).

In a guild a session of the request's own can be left out: it has shown the change already.
"""

from __future__ import annotations

from typing import Any

import attrs

from chat.bus.bus import Event
from chat.domain.messages.reaction_objects import emoji_object
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.user_objects import partial_user
from chat.registries.events import EventName
from chat.store.accounts.accounts import Account
from chat.store.messages.reactions import Emoji


@attrs.frozen
class ReactionPlace:
    """A message and where it stands."""

    access: ChannelAccess
    message_id: int
    session_id: str | None = None
    """The session behind the request, where it named one."""

    def event(self, name: EventName, **members: Any) -> Event:
        """An event about the message's reactions, for everyone who may read it."""
        access = self.access
        data = {**members, "channel_id": str(access.channel.id), "message_id": str(self.message_id)}
        if access.guild_id is not None:
            data["guild_id"] = str(access.guild_id)
        ignoring = None if access.guild_id is None else self.session_id
        return Event(name, data, access.audience(self.message_id), ignoring_session=ignoring)


def reaction_added(place: ReactionPlace, account: Account, emoji: Emoji, *, first: bool) -> Event:
    """MESSAGE_REACTION_ADD; the first reaction with an emoji of a guild tells whether it moves."""
    event = place.event(EventName.MESSAGE_REACTION_ADD, user_id=str(account.id), emoji=emoji_object(emoji, whole=first))
    access = place.access
    member = access.state.member(account.id) if isinstance(access, GuildChannelAccess) else None
    if isinstance(access, GuildChannelAccess) and member is not None:
        event = attrs.evolve(
            event, data={**dict(event.data), "member": access.state.member_object(member, partial_user(account))}
        )
    return event


def reaction_removed(place: ReactionPlace, user_id: int, emoji: Emoji) -> Event:
    """MESSAGE_REACTION_REMOVE: one account no longer reacts so."""
    return place.event(EventName.MESSAGE_REACTION_REMOVE, user_id=str(user_id), emoji=emoji_object(emoji, whole=False))


def emoji_removed(place: ReactionPlace, emoji: Emoji) -> Event:
    """MESSAGE_REACTION_REMOVE_EMOJI: nobody reacts so any more."""
    return place.event(EventName.MESSAGE_REACTION_REMOVE_EMOJI, emoji=emoji_object(emoji, whole=False))


def all_removed(place: ReactionPlace) -> Event:
    """MESSAGE_REACTION_REMOVE_ALL: the message has no reactions any more."""
    return place.event(EventName.MESSAGE_REACTION_REMOVE_ALL)
