"""What a text refers to beside accounts and roles: channels, and emojis of guilds (messages.md, Mentions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.domain.messages.mention_parsing import ParsedMentions, without_emojis
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.permissions import VIEW_CHANNEL, channel_permissions, guild_permissions
from chat.registries.permissions import Permission
from chat.store.guilds.expressions import ExpressionPlace

USE_EXTERNAL_EMOJIS: Final = Permission.USE_EXTERNAL_EMOJIS.value


@attrs.frozen
class JudgedText:
    """A text as it is sent, with what the message keeps of the channels and emojis in it."""

    content: str
    mention_channels: tuple[dict[str, Any], ...] = ()
    nsfw_emojis: tuple[str, ...] = ()

    @property
    def keeps_something(self) -> bool:
        """Whether the message keeps more of it than the text."""
        return bool(self.mention_channels or self.nsfw_emojis)

    @property
    def extra(self) -> dict[str, Any]:
        """The members of a message's `extra`."""
        return {"mention_channels": self.mention_channels, "nsfw_emojis": self.nsfw_emojis}


def judge_text(
    access: ChannelAccess, content: str, parsed: ParsedMentions, emojis: Mapping[int, ExpressionPlace]
) -> JudgedText:
    """Judge what a text names. `emojis` holds those of the named emojis that exist.

    Emojis of elsewhere need USE_EXTERNAL_EMOJIS; without it they are their names as plain text.
    """
    if not parsed.channel_ids and not parsed.emoji_ids:
        return JudgedText(content)
    if parsed.emoji_ids and not access.may(USE_EXTERNAL_EMOJIS):
        foreign = {emoji_id for emoji_id in parsed.emoji_ids if not _is_of(access, emojis.get(emoji_id))}
        if foreign:
            content = without_emojis(content, foreign)
            emojis = {emoji_id: place for emoji_id, place in emojis.items() if emoji_id not in foreign}
    return JudgedText(
        content,
        _mentioned_channels(access, parsed),
        tuple(str(emoji_id) for emoji_id in parsed.emoji_ids if emoji_id in emojis and emojis[emoji_id].nsfw),
    )


def _is_of(access: ChannelAccess, place: ExpressionPlace | None) -> bool:
    return place is not None and place.guild_id == access.guild_id


def _mentioned_channels(access: ChannelAccess, parsed: ParsedMentions) -> tuple[dict[str, Any], ...]:
    """Those of the named channels whose names are no secret: everyone in the guild sees them."""
    if not isinstance(access, GuildChannelAccess):
        return ()
    state = access.state
    mask = guild_permissions(state.roles, state.id, ())
    named = (state.channels.get(channel_id) for channel_id in parsed.channel_ids)
    return tuple(
        {"id": str(channel.id), "name": channel.name or "", "type": channel.type}
        for channel in named
        if channel is not None and channel_permissions(mask, channel, state.id, 0, frozenset()) & VIEW_CHANNEL
    )
