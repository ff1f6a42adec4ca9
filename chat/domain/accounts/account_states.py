"""The parts of an account that its own sessions are sent in Ready: user, settings, relationships, guilds, read states
(gateway.md, Ready)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from chat import wire
from chat.classes import define
from chat.domain.core import Core
from chat.domain.messages.read_states import read_states_of
from chat.domain.presence.voice_connections import region_objects
from chat.domain.signing_in.passkeys import listed
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.relationships import Relationships
from chat.domain.standing.user_objects import partial_user, private_user, user_settings_object
from chat.domain.standing.verification import holder_of_factors
from chat.store.accounts import accounts, belongings, user_settings
from chat.store.accounts.accounts import Account
from chat.store.accounts.belongings import Belongings
from chat.store.guilds import guilds


@define(kw_only=True, eq=False)
class AccountStates:
    """Reads the state of one account at a time, inline: each part is a point read or a short index range."""

    _core: Core
    _relationships: Relationships
    _private_channels: PrivateChannels
    calls: Callable[[int], list[wire.CallState]]
    """The calls that are going on in an account's conversations, as CALL_CREATE has them."""
    favorite_memes: Callable[[int], list[wire.FavoriteMeme]]
    """Gives the favourite memes of an account."""

    def guild_ids(self, user_id: int) -> list[int]:
        """Guilds the account is a member of, ascending."""
        return guilds.ids_of_user(self._core.database.reader, user_id)

    def belongings(self, user_id: int) -> Belongings:
        """Which kinds of things the account has at all."""
        return belongings.of_user(self._core.database.reader, user_id)

    def relationships(self, user_id: int) -> list[wire.RelationshipInReady]:
        """Relationship objects without `user`."""
        return self._relationships.of_user(user_id)

    def settings(self, user_id: int) -> wire.UserSettings:
        """The user settings object."""
        return user_settings_object(user_settings.of_user(self._core.database.reader, user_id))

    def account(self, user_id: int) -> Account:
        """The account of a session. Raises LookupError if there is none."""
        account = accounts.by_id(self._core.database.reader, user_id)
        if account is None:
            raise LookupError("a session belongs to an account that exists")
        return account

    def partial_users(self, user_ids: Sequence[int]) -> list[wire.PartialUser]:
        """Accounts as others see them; unknown ids are left out."""
        return [partial_user(account) for account in accounts.by_ids(self._core.database.reader, user_ids)]

    def members_of_ready(self, account: Account, has: Belongings, *, threads: bool) -> wire.OwnInReady:
        """The members of Ready that say what belongs to the account alone, its settings left out; without `threads` no
        read state of one. What the account has none of is not looked for."""
        reader, user_id = self._core.database.reader, account.id
        return {
            "user": own_user(self._core, account),
            "private_channels": self._private_channels.of_account(user_id) if has.private_channels else [],
            "read_states": (
                read_states_of(self._core.database, self._core.guild_states, user_id, threads=threads)
                if has.read_states or has.mass_mentions
                else []
            ),
            "user_guild_settings": user_settings.of_all_guilds(reader, user_id) if has.guild_settings else [],
            "notes": _notes(reader, user_id) if has.notes else {},
            "pinned_dms": self._private_channels.pinned(user_id) if has.private_channels else [],
            "favorite_memes": self.favorite_memes(user_id) if has.favorite_memes else [],
            "webauthn_credentials": listed(reader, user_id) if has.passkeys else [],
            "rtc_regions": region_objects(self._core.settings.voice.regions),
        }


def _notes(connection: sqlite3.Connection, user_id: int) -> dict[str, str]:
    return {str(target_id): note for target_id, note in user_settings.notes_of(connection, user_id)}


def own_user(core: Core, account: Account) -> wire.PrivateUser:
    """The private user object, as the account sees itself."""
    return private_user(
        account,
        factors_of=holder_of_factors(core.database.reader, account),
        now_ms=core.clock.now_ms(),
        premium_for_everyone=core.settings.premium_mode == "everyone",
    )
