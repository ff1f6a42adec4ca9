"""Words of which an account wants to hear as of a mention of itself (accounts.md, Notification words)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

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
        """Take these in the place of the caller's words: without white space around them, each once, whatever its
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


def says_one_of(text: str, words: Iterable[str]) -> bool:
    """Whether a text has one of the words, in letters of either case. Where a word begins or ends with a letter that
    has two cases, or with a digit, no further letter or digit may stand there: `cat` is not in `category`. Scripts
    without cases may write words without gaps."""
    lower = text.lower()
    return any(_stands_in(lower, word.lower()) for word in words if word)


def _stands_in(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not _runs_on(text[at - 1 : at], word[0]) and not _runs_on(text[end : end + 1], word[-1]):
            return True
        at = text.find(word, at + 1)
    return False


def _runs_on(neighbour: str, edge: str) -> bool:
    return neighbour.isalnum() and (edge.isdecimal() or edge.upper() != edge.lower())
