"""A guild's custom invite code: reading and changing it (guilds.md, Custom invite code).

The code is an invite like any other, without an end; the guild names it. When the channel that it leads to goes, it
leads to another one; only with the last channel the invite goes too, and the guild keeps the code until it is taken
again.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.domain.core import Core
from chat.domain.guilds.guild_changes import ChangedGuild, GuildChanges
from chat.domain.standing.access import require_guild
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_states import Channel
from chat.domain.standing.permissions import VIEW_CHANNEL, channel_permissions, guild_permissions
from chat.errors import ApiError, InvalidFormBody
from chat.registries.channel_types import SYSTEM_CHANNEL_TYPES
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.guild_features import GuildFeature
from chat.registries.permissions import Permission
from chat.store.guilds import channels, guilds, invites, roles
from chat.store.guilds.guilds import Guild
from chat.store.guilds.invites import Invite, InviteType

CODE_LENGTHS: Final = range(2, 33)
"""How many characters a code may have (guilds.md, Custom invite code)."""

_CODE: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?", re.ASCII)
_WHITE_SPACE: Final = re.compile(r"\s+")
_HYPHENS: Final = re.compile(r"-{2,}")


class VanityUrls:
    def __init__(self, core: Core, changes: GuildChanges) -> None:
        self._core = core
        self._changes = changes
        self._reserved = tuple(normalised_code(word) for word in core.settings.reserved_invite_words if word.strip())

    async def get(self, principal: Principal, guild_id: int) -> wire.VanityUrl:
        """The custom invite URL object.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD.
        """
        code = self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD).state.guild.vanity_url_code
        invite = None
        if code is not None:
            invite = invites.by_code(self._core.database.reader, code, self._core.clock.now_ms())
        uses = 0 if invite is None or invite.guild_id != guild_id else invite.uses
        return {"code": code, "uses": uses}

    async def change(
        self, principal: Principal, guild_id: int, code: str | None, reason: str | None = None
    ) -> wire.VanityUrl:
        """Take a code, or give the present one up; returns the custom invite URL selection object.

        :raises ApiError: as `get`; CONTENT_BLOCKED; UNKNOWN_CHANNEL where the guild has no channel to lead to.
        :raises InvalidFormBody: VANITY_URL_REQUIRES_FEATURE, VANITY_URL_INVALID_CHARACTERS,
            VANITY_URL_CODE_LENGTH_INVALID, VANITY_URL_CODE_CANNOT_CONTAIN_SERVICE, VANITY_URL_CODE_ALREADY_TAKEN, all
            at `code`.
        """
        state = self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD).state
        wanted = None if code is None else self.judged(state.guild, code)

        def unit(connection: sqlite3.Connection) -> ChangedGuild:
            before = require_guild(connection, guild_id)
            after = self.put(connection, before, wanted)
            return self._changes.replace(connection, before, after, Actor(principal.user_id, reason))

        def then(changed: ChangedGuild) -> None:
            if changed.before != changed.after:
                self._changes.announce(changed)

        await self._core.database.write(unit, then, guard=principal.guard)
        return {"code": wanted}

    def put(self, connection: sqlite3.Connection, guild: Guild, wanted: str | None, *, path: str = "code") -> Guild:
        """In a unit of writing: give the present code up and take another, or none; the guild as it is to be written.
        The invite of the present code is made anew where it is missing.

        :raises ApiError: UNKNOWN_CHANNEL where the guild has no channel to lead to.
        :raises InvalidFormBody: VANITY_URL_CODE_ALREADY_TAKEN at `path`.
        """
        if guild.vanity_url_code not in (None, wanted):
            invites.delete(connection, guild.vanity_url_code)
        if wanted is not None and not self._claim(connection, guild, wanted):
            raise InvalidFormBody.at(path, FieldCode.VANITY_URL_CODE_ALREADY_TAKEN)
        return attrs.evolve(guild, vanity_url_code=wanted)

    def judged(self, guild: Guild, code: str, *, path: str = "code") -> str:
        """The code as it is stored. Raises as `change`, apart from a code that is taken."""
        if GuildFeature.VANITY_URL not in guild.features:
            raise InvalidFormBody.at(path, FieldCode.VANITY_URL_REQUIRES_FEATURE)
        wanted = normalised_code(code)
        if len(wanted) not in CODE_LENGTHS:
            raise InvalidFormBody.at(path, FieldCode.VANITY_URL_CODE_LENGTH_INVALID)
        if _CODE.fullmatch(wanted) is None:
            raise InvalidFormBody.at(path, FieldCode.VANITY_URL_INVALID_CHARACTERS)
        if wanted != guild.vanity_url_code and any(word in wanted for word in self._reserved):
            raise InvalidFormBody.at(path, FieldCode.VANITY_URL_CODE_CANNOT_CONTAIN_SERVICE)
        self._core.blocked.require_text(wanted)
        return wanted

    def _claim(self, connection: sqlite3.Connection, guild: Guild, code: str) -> bool:
        """Make sure of the invite behind a code; False if the code is taken elsewhere. A dead invite does not count."""
        now = self._core.clock.now_ms()
        owner_id, known = guilds.by_vanity_url_code(connection, code), invites.by_code(connection, code, now)
        if known is not None and owner_id == known.guild_id == guild.id:
            return True
        if known is not None or owner_id not in (None, guild.id):
            return False
        channel = _entrance(connection, guild, channels.of_guild(connection, guild.id))
        if channel is None:
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        invites.delete(connection, code)
        return invites.insert(
            connection,
            Invite(
                code=code,
                type=InviteType.GUILD,
                guild_id=guild.id,
                channel_id=channel.id,
                inviter_id=None,
                created_at=now,
                expires_at=None,
                max_age=0,
                max_uses=0,
            ),
        )


def normalised_code(code: str) -> str:
    """A code as it is compared and stored: lower case, a hyphen for each run of white space or hyphens (guilds.md,
    Custom invite code)."""
    return _HYPHENS.sub("-", _WHITE_SPACE.sub("-", code.lower()))


def lead_elsewhere(connection: sqlite3.Connection, guild: Guild, channel_id: int) -> None:
    """In the unit that takes a channel out of its guild: let a custom invite code that leads there lead to another
    channel."""
    if guild.vanity_url_code is None:
        return
    left = [channel for channel in channels.of_guild(connection, guild.id) if channel.id != channel_id]
    channel = _entrance(connection, guild, left)
    if channel is not None and invites.leads_to(connection, guild.vanity_url_code) == channel_id:
        invites.lead_to(connection, guild.vanity_url_code, channel.id)


def _entrance(connection: sqlite3.Connection, guild: Guild, found: Iterable[Channel]) -> Channel | None:
    """Where newcomers arrive: in the system channel, else in the first text channel that everybody sees, else in the
    first text channel, else in any."""
    everyone = roles.by_id(connection, guild.id, guild.id)
    mask = 0 if everyone is None else guild_permissions({guild.id: everyone}, guild.id, ())

    def preference(channel: Channel) -> tuple[bool, ...]:
        is_text = channel.type in SYSTEM_CHANNEL_TYPES
        seen = channel_permissions(mask, channel, guild.id, 0, frozenset()) & VIEW_CHANNEL
        return channel.id == guild.system_channel_id, is_text and bool(seen), is_text

    return max(found, key=preference, default=None)
