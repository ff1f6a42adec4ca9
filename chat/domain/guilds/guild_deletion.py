"""Delete guild (guilds.md, Delete guild), and Transfer ownership.

A guild is gone with one short transaction, whatever it holds: its channels are cut loose, and a sweep deletes their
messages in portions afterwards, also after a restart in between. So nobody waits for the end of a million messages.
What its members' settings say of it goes in portions too, as an errand that is begun in that transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final

import attrs
import structlog
import trio

from chat.auth.principal import Principal
from chat.bus.audience import ToGuild
from chat.bus.bus import Event, GuildDeleted, GuildStateChanged
from chat.domain.accounts import guild_folders
from chat.domain.core import Core
from chat.domain.guilds.guild_changes import logged
from chat.domain.policy.errands import Errand, Errands, State
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.domain.standing.audit_log import Actor, changes_between
from chat.domain.standing.guild_objects import guild_object
from chat.errors import ApiError, StorageUnavailable
from chat.registries.audit_actions import AuditAction
from chat.registries.errands import ErrandKind
from chat.registries.events import EventName
from chat.store import errands
from chat.store.accounts import accounts, user_guild_settings
from chat.store.guilds import guilds, loose_channels, members
from chat.store.guilds.guilds import Guild
from chat.store.standing.guild_audit_log import AuditLogEntry

log: Final = structlog.get_logger("chat.guilds")

MEMBERS_AT_ONCE: Final = 200
"""Members whose settings forget the guild in one transaction."""

MESSAGES_AT_ONCE: Final = 500
"""Messages that the sweep deletes in one transaction."""

LEAVING_MESSAGES: Final = frozenset({EventName.CHANNEL_DELETE, EventName.THREAD_DELETE})
"""Events after which there may be messages that belong nowhere."""

SWEEP_SECONDS: Final = 600.0
"""How often the sweep looks by itself; a deletion wakes it."""


@attrs.frozen
class _Transferred:
    guild: Guild
    entry: AuditLogEntry


class GuildDeletion:
    """Deletes guilds, and hands them over. Hears the bus."""

    def __init__(self, core: Core, sudo: SudoMode, messages_gone: Callable[[], None]) -> None:
        self._core = core
        """`messages_gone` is told when messages went that no event names."""
        self._messages_gone = messages_gone
        self._sudo = sudo
        core.errands.handle(ErrandKind.FORGET_GUILD, self._forget_in_settings)
        self._wake = trio.Event()
        core.bus.subscribe(GuildDeleted, self._place_gone)
        core.bus.subscribe(GuildStateChanged, self._place_gone)
        core.bus.subscribe_events(LEAVING_MESSAGES, self._place_gone)

    def _place_gone(self, signal: GuildDeleted | GuildStateChanged | Event) -> None:
        """Look again where a guild, a channel, a thread or a group has gone: its messages may have been left behind."""
        if not isinstance(signal, GuildStateChanged) or signal.deleted:
            self._wake.set()

    async def delete(self, principal: Principal, guild_id: int, proof: SudoProof) -> None:
        """Delete guild. Returns once no member's settings know it any more; its messages go in the background.

        :raises ApiError: as `Access.guild`; SINGLE_COMMUNITY_CANNOT_DELETE, SUDO_MODE_REQUIRED, MISSING_PERMISSIONS
            (not the owner, in this order).
        :raises InvalidFormBody: for a wrong proof.
        """
        access = self._core.access.guild(principal, guild_id)
        if self._core.policy.protects(guild_id):
            raise ApiError("SINGLE_COMMUNITY_CANNOT_DELETE")
        await self._sudo.require(principal.account, proof)
        if access.state.guild.owner_id != principal.user_id:
            raise ApiError("MISSING_PERMISSIONS")

        def require_owner(_: sqlite3.Connection, guild: Guild) -> None:
            if guild.owner_id != principal.user_id:
                raise ApiError("MISSING_PERMISSIONS")

        await self.remove(guild_id, require_owner)

    async def remove(self, guild_id: int, first: Callable[[sqlite3.Connection, Guild], None]) -> None:
        """Delete a guild, whoever wants it. `first` runs in the same unit before anything goes; it may refuse.

        :raises ApiError: SINGLE_COMMUNITY_CANNOT_DELETE, UNKNOWN_GUILD, and what `first` raises.
        """
        if self._core.policy.protects(guild_id):
            raise ApiError("SINGLE_COMMUNITY_CANNOT_DELETE")

        def unit(connection: sqlite3.Connection) -> Errand:
            guild = guilds.by_id(connection, guild_id)
            if guild is None:
                raise ApiError("UNKNOWN_GUILD")
            first(connection, guild)
            return delete_in(connection, self._core.errands, guild_id)

        def then(_: Errand) -> None:
            self._core.bus.publish(GuildDeleted(guild_id))
            self._core.guild_states.forget(guild_id)

        errand = await self._core.database.write(unit, then)
        log.info("guild deleted", guild_id=guild_id)
        await self._core.errands.finish(errand)

    async def _forget_in_settings(self, errand: Errand) -> None:
        guild_id: int = errand.state["guild_id"]

        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, dict[int, dict[str, Any]]]:
            changed: dict[int, dict[str, Any]] = {}
            errand_id = errand.id or 0
            user_ids = errands.some_accounts(connection, errand_id, MEMBERS_AT_ONCE)
            for account in accounts.by_ids(connection, user_ids):
                user_guild_settings.delete(connection, account.id, guild_id)
                settings = guild_folders.leave_guild(connection, account, guild_id)
                if settings is not None:
                    changed[account.id] = settings
            errands.forget_accounts(connection, errand_id, user_ids)
            return (state if len(user_ids) == MEMBERS_AT_ONCE else None), changed

        def then(changed: dict[int, dict[str, Any]]) -> None:
            for user_id, settings in changed.items():
                self._core.bus.publish(guild_folders.settings_changed(user_id, settings))

        while not errand.is_over:
            await errand.step(portion, then)

    async def transfer(
        self, principal: Principal, guild_id: int, new_owner_id: int, proof: SudoProof, reason: str | None
    ) -> dict[str, Any]:
        """Hand the guild over to another member; sudo mode, by the owner.

        :raises ApiError: as `Access.guild`; SUDO_MODE_REQUIRED, MISSING_PERMISSIONS, UNKNOWN_MEMBER,
            CANNOT_TRANSFER_OWNERSHIP_TO_BOT.
        """
        access = self._core.access.guild(principal, guild_id)
        await self._sudo.require(principal.account, proof)
        if access.state.guild.owner_id != principal.user_id:
            raise ApiError("MISSING_PERMISSIONS")

        def unit(connection: sqlite3.Connection) -> _Transferred:
            before = guilds.by_id(connection, guild_id)
            if before is None:
                raise ApiError("UNKNOWN_GUILD")
            if before.owner_id != principal.user_id:
                raise ApiError("MISSING_PERMISSIONS")
            require_successor(connection, guild_id, new_owner_id)
            after = attrs.evolve(before, owner_id=new_owner_id)
            guilds.replace(connection, after)
            entry = self._core.audit_log.record(
                connection,
                guild_id,
                AuditAction.GUILD_UPDATE,
                Actor(principal.user_id, reason),
                target_id=guild_id,
                changes=changes_between(logged(before), logged(after)),
            )
            return _Transferred(after, entry)

        def then(transferred: _Transferred) -> None:
            state = self._core.guild_states.get(guild_id)
            if state is not None:
                state.put_guild(transferred.guild)
                data = {**state.guild_object(), "guild_id": str(guild_id)}
                self._core.bus.publish(
                    Event(EventName.GUILD_UPDATE, data, ToGuild(guild_id)), GuildStateChanged(guild_id)
                )
            self._core.audit_log.publish(transferred.entry)

        transferred = await self._core.database.write(unit, then)
        return guild_object(transferred.guild)

    async def run(self) -> None:
        """Delete what deleted guilds left behind, for ever."""
        while True:
            self._wake = trio.Event()
            try:
                while await self._core.database.write(
                    lambda connection: loose_channels.sweep(connection, MESSAGES_AT_ONCE)
                ):
                    self._messages_gone()
                    await trio.lowlevel.checkpoint()
            except StorageUnavailable:
                log.warning("deleted guilds wait for the store")
            with trio.move_on_after(SWEEP_SECONDS):
                await self._wake.wait()


def delete_in(connection: sqlite3.Connection, errands_: Errands, guild_id: int) -> Errand:
    """In a unit of writing: delete a guild; what is left to do is an errand that the same unit begins."""
    errand = errands_.begin_in(connection, ErrandKind.FORGET_GUILD, {"guild_id": guild_id})
    errands.add_guild_accounts(connection, errand.id or 0, guild_id)
    loose_channels.cut_loose(connection, guild_id)
    guilds.delete(connection, guild_id)
    return errand


def require_successor(connection: sqlite3.Connection, guild_id: int, user_id: int) -> None:
    """Raise UNKNOWN_MEMBER, or CANNOT_TRANSFER_OWNERSHIP_TO_BOT, for an account that cannot own the guild."""
    successor = accounts.by_id(connection, user_id)
    if successor is None or not members.exists(connection, guild_id, user_id):
        raise ApiError("UNKNOWN_MEMBER")
    if successor.bot:
        raise ApiError("CANNOT_TRANSFER_OWNERSHIP_TO_BOT")
