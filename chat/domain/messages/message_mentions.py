"""Which of the mentions in a text count: those that exist, that the draft allows and that the author may make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from chat.domain.messages.mention_parsing import NO_MENTIONS, ParsedMentions
from chat.domain.messages.message_drafts import AllowedMentions
from chat.domain.standing.access import ChannelAccess
from chat.registries.guild_values import DisabledOperation
from chat.registries.permissions import Permission
from chat.store.accounts.accounts import Account

MENTION_EVERYONE: Final = Permission.MENTION_EVERYONE.value
EVERYONE_MENTIONS: Final = DisabledOperation.EVERYONE_MENTIONS.value


@attrs.frozen
class CountedMentions:
    """The mentions of a message, ids ascending. `here` excludes `everyone`, which says more."""

    users: tuple[Account, ...] = ()
    role_ids: tuple[int, ...] = ()
    everyone: bool = False
    here: bool = False

    @property
    def user_ids(self) -> tuple[int, ...]:
        """The accounts' ids."""
        return tuple(account.id for account in self.users)

    def notified_user_ids(self, access: ChannelAccess) -> list[int]:
        """Accounts named one by one that see the channel and did not name themselves."""
        return [user_id for user_id in self.user_ids if user_id != access.user_id and access.sees(user_id)]


NOTHING_COUNTED: Final = CountedMentions()


def count_mentions(
    access: ChannelAccess,
    parsed: ParsedMentions,
    allowed: AllowedMentions,
    accounts: Mapping[int, Account],
    replied_to: Account | None = None,
) -> CountedMentions:
    """Judge what a text names. `accounts` holds those of the named accounts that exist.

    `replied_to` is whoever wrote the message that this one answers: mentioned by that alone, if the draft lets it
    count. Roles that are not mentionable, everyone and here need MENTION_EVERYONE; without it they are plain text.
    """
    replied = replied_to if allowed.replied_user and replied_to is not None else None
    if parsed is NO_MENTIONS and replied is None:
        return NOTHING_COUNTED
    named = (user_id for user_id in parsed.user_ids if user_id in accounts and allowed.users(user_id))
    users = {user_id: accounts[user_id] for user_id in named}
    if replied is not None:
        users[replied.id] = replied
    may_mention_all = access.may(MENTION_EVERYONE)
    role_ids = (
        role_id
        for role_id in parsed.role_ids
        if access.role_that_may_be_mentioned(role_id, any_role=may_mention_all) and allowed.roles(role_id)
    )
    all_count = may_mention_all and "everyone" in allowed.parse and not access.disables(EVERYONE_MENTIONS)
    return CountedMentions(
        users=tuple(users[user_id] for user_id in sorted(users)),
        role_ids=tuple(sorted(role_ids)),
        everyone=parsed.everyone and all_count,
        here=parsed.here and all_count and not parsed.everyone,
    )
