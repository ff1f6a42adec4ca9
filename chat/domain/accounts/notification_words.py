"""Words of which an account wants to hear as of a mention of itself (accounts.md, Notification words)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define
from chat.domain.accounts.guild_folders import settings_changed
from chat.domain.core import Core
from chat.domain.standing.user_objects import user_settings_object
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.store.accounts import accounts, notification_words, user_settings


@define(kw_only=True, eq=False)
class NotificationWords:
    """Reads and changes an account's words."""

    _core: Core

    def of_user(self, user_id: int) -> list[str]:
        """The account's words, in its order."""
        return notification_words.of_user(self._core.database.reader, user_id)

    async def put(self, principal: Principal, words: Sequence[str]) -> list[str]:
        """Replace the caller's words by these: without white space around them, each once, whatever its
        case. Returns them. USER_SETTINGS_UPDATE tells the account's sessions to ask for them anew."""
        tidy = [word.strip() for word in words]
        kept = list({word.lower(): word for word in reversed(tidy) if word}.values())[::-1]

        user_id = principal.user_id

        def unit(connection: sqlite3.Connection) -> wire.UserSettings:
            if accounts.by_id(connection, user_id) is None:
                raise ApiError(ErrorCode.UNAUTHORIZED)
            notification_words.put(connection, user_id, kept)
            return user_settings_object(user_settings.of_user(connection, user_id))

        def then(settings: wire.UserSettings) -> None:
            self._core.bus.publish(settings_changed(user_id, settings))

        await self._core.database.write(unit, then, guard=principal.guard)
        return kept


def called_by(text: str, words: Mapping[int, Sequence[str]]) -> frozenset[int]:
    """The accounts, by their ids, of whose words a text has one. With many accounts this takes a while: do not ask on
    the event loop."""
    if not words:
        return frozenset()
    marked = _with_edges(text.lower())
    known: dict[str, bool] = {}

    def stands(word: str) -> bool:
        if word not in known:
            known[word] = bool(word) and _sought(word.lower()) in marked
        return known[word]

    return frozenset(user_id for user_id, own in words.items() if any(map(stands, own)))


def says_one_of(text: str, words: Sequence[str]) -> bool:
    """Whether a text has one of the words, in letters of either case. Where a word begins or ends with a letter that
    has two cases, or with a digit, no further letter or digit may stand there: `cat` is not in `category`. Scripts
    without cases may write words without gaps."""
    return bool(called_by(text, {0: words}))


_EDGE: Final = "\ud800"
"""A character that no text has."""

_BESIDE_NO_LETTER: Final = re.compile(r"(?<![^\W_])|(?![^\W_])")


def _with_edges(text: str) -> str:
    """The text with a mark at each place that does not lie between two letters or digits. A word's own edges are
    sought with its letters then, in one look for it and not one for each place where its letters stand."""
    return _BESIDE_NO_LETTER.sub(_EDGE, text)


def _sought(word: str) -> str:
    """What a text with marks has where the word stands; the marks around it only where it may not run on."""
    inner = _with_edges(word).strip(_EDGE)
    return _EDGE * _ends_there(word[0]) + inner + _EDGE * _ends_there(word[-1])


def _ends_there(edge: str) -> bool:
    return edge.isalnum() and (edge.isdecimal() or edge.upper() != edge.lower())
