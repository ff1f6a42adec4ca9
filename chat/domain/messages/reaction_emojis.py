"""What a reaction's path says it is made of, and which emojis an account may react with (messages.md, Reactions)."""

from __future__ import annotations

import re
import sqlite3
from typing import Final

from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.expression_objects import EMOJIS
from chat.errors import ApiError, InvalidFormBody
from chat.registries.permissions import Permission
from chat.registries.unicode_emojis import fully_qualified
from chat.snowflake import MAXIMUM
from chat.store.guilds import expressions, members
from chat.store.messages.reactions import Emoji

USE_EXTERNAL_EMOJIS: Final = Permission.USE_EXTERNAL_EMOJIS.value

# Some libraries say of an animated emoji that it is, as message texts do.
_OF_GUILD: Final = re.compile(r"(?:a:)?([A-Za-z0-9_~]{1,64}):([1-9][0-9]{0,18})", re.ASCII)


def parse_emoji(text: str) -> Emoji:
    """The emoji that a path's segment names, decoded already: a Unicode emoji, or `name:id`.

    :raises InvalidFormBody: INVALID_FORMAT at `emoji`.
    """
    emoji = fully_qualified(text)
    if emoji is not None:
        return Emoji(emoji)
    named = _OF_GUILD.fullmatch(text)
    if named is None or int(named[2]) > MAXIMUM:
        raise InvalidFormBody.at("emoji", "INVALID_FORMAT")
    return Emoji(named[1], int(named[2]))


def usable_emoji(connection: sqlite3.Connection, access: ChannelAccess, emoji: Emoji) -> Emoji:
    """In a unit: the emoji as it is called now, if the caller may begin a reaction with it in the channel.

    Emojis of other guilds are for their members, and in a guild for holders of USE_EXTERNAL_EMOJIS.

    :raises ApiError: UNKNOWN_EMOJI, MISSING_PERMISSIONS.
    """
    if emoji.id is None:
        return emoji
    known = expressions.by_id(connection, EMOJIS, emoji.id)
    if known is None:
        raise ApiError("UNKNOWN_EMOJI")
    if known.guild_id != access.guild_id:
        if not members.exists(connection, known.guild_id, access.user_id):
            raise ApiError("UNKNOWN_EMOJI")
        if access.guild_id is not None:
            access.require(USE_EXTERNAL_EMOJIS)
    return Emoji(known.name, known.id, known.animated)
