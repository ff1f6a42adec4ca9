"""What becomes of a guild as a whole: Delete guild (guilds.md, Delete guild), Transfer ownership, and a new owner where
the account of the old one is erased (guilds.md, Ownership and erasure).

A guild is gone with one short transaction, however much it holds: its channels are cut loose, and a sweep deletes their
messages in portions afterwards, also after a restart in between. So no request waits for the end of a million messages.
What its members' settings say of it goes in portions too, as an errand that is begun in that transaction.

A guild whose owner is erased passes to the member with the highest role who has been there for longest, and goes where
no member is left. Bots own no guild.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs
import structlog
import trio

from chat import wire
from chat.auth.principal import Principal
from chat.bus.bus import Event, GuildDeleted, GuildStateChanged
from chat.classes import define, frozen
from chat.domain.accounts import guild_folders
from chat.domain.core import Core
from chat.domain.guilds.guild_changes import ChangedGuild, GuildChanges
from chat.domain.policy.errands import Errand, Errands, State
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.domain.standing.access import require_guild
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_objects import guild_object
from chat.domain.standing.permissions import rank_of
from chat.errors import ApiError, StorageUnavailable
from chat.registries.error_codes import ErrorCode
from chat.registries.events import EventName
from chat.registries.jobs import ErrandKind
from chat.store import errands
from chat.store.accounts import accounts, user_settings
from chat.store.guard import UNGUARDED, Guard
from chat.store.guilds import channels, guilds, members, roles
from chat.store.guilds.guilds import Guild

log: Final = structlog.get_logger("chat.guilds")

MEMBERS_AT_ONCE: Final = 200
"""Members whose settings forget the guild in one transaction."""

MESSAGES_AT_ONCE: Final = 500
"""Messages that the sweep deletes in one transaction."""

LEAVING_MESSAGES: Final = frozenset({EventName.CHANNEL_DELETE, EventName.THREAD_DELETE})
"""Events after which there may be messages that belong nowhere."""

SWEEP_SECONDS: Final = 600.0
"""How often the sweep looks by itself; a deletion wakes it."""


class GuildDeletion:
    """Deletes guilds, and hands them over. Hears the bus. `messages_gone` is told when messages went that no event
    names."""

    def __init__(self, core: Core, changes: GuildChanges, sudo: SudoMode, messages_gone: Callable[[], None]) -> None:
        self._core = core
        self._changes = changes
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
            raise ApiError(ErrorCode.SINGLE_COMMUNITY_CANNOT_DELETE)
        await self._sudo.require(principal.account, proof)
        if access.state.guild.owner_id != principal.user_id:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)

        def require_owner(_: sqlite3.Connection, guild: Guild) -> None:
            if guild.owner_id != principal.user_id:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)

        await self.remove(guild_id, require_owner, guard=principal.guard)

    async def remove(self, guild_id: int, first: Callable[[sqlite3.Connection, Guild], None], *, guard: Guard) -> None:
        """Delete a guild. `first` runs in the same unit before anything goes; it may refuse.

        :raises ApiError: SINGLE_COMMUNITY_CANNOT_DELETE, UNKNOWN_GUILD, and what `first` raises.
        """
        if self._core.policy.protects(guild_id):
            raise ApiError(ErrorCode.SINGLE_COMMUNITY_CANNOT_DELETE)

        def unit(connection: sqlite3.Connection) -> Errand:
            first(connection, require_guild(connection, guild_id))
            return delete_in(connection, self._core.errands, guild_id)

        def then(_: Errand) -> None:
            self._core.bus.publish(GuildDeleted(guild_id))
            self._core.guild_states.forget(guild_id)

        errand = await self._core.database.write(unit, then, guard=guard)
        log.info("guild deleted", guild_id=guild_id)
        await self._core.errands.finish(errand)

    async def _forget_in_settings(self, errand: Errand) -> None:
        guild_id: int = errand.state["guild_id"]

        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, dict[int, wire.UserSettings]]:
            changed: dict[int, wire.UserSettings] = {}
            errand_id = errand.id or 0
            user_ids = errands.some_accounts(connection, errand_id, MEMBERS_AT_ONCE)
            for account in accounts.by_ids(connection, user_ids):
                user_settings.delete_of_guild(connection, account.id, guild_id)
                settings = guild_folders.leave_guild(connection, account, guild_id)
                if settings is not None:
                    changed[account.id] = settings
            errands.forget_accounts(connection, errand_id, user_ids)
            return (state if len(user_ids) == MEMBERS_AT_ONCE else None), changed

        def then(changed: dict[int, wire.UserSettings]) -> None:
            for user_id, settings in changed.items():
                self._core.bus.publish(guild_folders.settings_changed(user_id, settings))

        while not errand.is_over:
            await errand.step(portion, then)

    async def transfer(
        self, principal: Principal, guild_id: int, new_owner_id: int, proof: SudoProof, reason: str | None
    ) -> wire.Guild:
        """Hand the guild over to another member; sudo mode, by the owner.

        :raises ApiError: as `Access.guild`; SUDO_MODE_REQUIRED, MISSING_PERMISSIONS, UNKNOWN_MEMBER,
            CANNOT_TRANSFER_OWNERSHIP_TO_BOT.
        """
        access = self._core.access.guild(principal, guild_id)
        await self._sudo.require(principal.account, proof)
        if access.state.guild.owner_id != principal.user_id:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)

        def unit(connection: sqlite3.Connection) -> ChangedGuild:
            before = require_guild(connection, guild_id)
            if before.owner_id != principal.user_id:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            require_successor(connection, guild_id, new_owner_id)
            after = attrs.evolve(before, owner_id=new_owner_id)
            return self._changes.replace(connection, before, after, Actor(principal.user_id, reason))

        changed = await self._core.database.write(unit, self._changes.announce, guard=principal.guard)
        return guild_object(changed.after)

    async def run(self) -> None:
        """Delete what deleted guilds left behind, for ever."""
        while True:
            self._wake = trio.Event()
            try:
                while await self._core.database.write(
                    lambda connection: channels.sweep(connection, MESSAGES_AT_ONCE), guard=UNGUARDED
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
    channels.cut_loose(connection, guild_id)
    guilds.delete(connection, guild_id)
    return errand


def require_successor(connection: sqlite3.Connection, guild_id: int, user_id: int) -> None:
    """Raise UNKNOWN_MEMBER, or CANNOT_TRANSFER_OWNERSHIP_TO_BOT, for an account that cannot own the guild."""
    successor = accounts.by_id(connection, user_id)
    if successor is None or not members.exists(connection, guild_id, user_id):
        raise ApiError(ErrorCode.UNKNOWN_MEMBER)
    if successor.bot:
        raise ApiError(ErrorCode.CANNOT_TRANSFER_OWNERSHIP_TO_BOT)


REASON: Final = "The account of the owner was erased."
"""As the guild's audit log has it."""


@frozen
class Succession:
    """A guild has lost its owner, and was handed over, or is gone if `changed` is None."""

    guild_id: int
    changed: ChangedGuild | None


@define(kw_only=True, eq=False)
class GuildSuccession:
    _core: Core
    _changes: GuildChanges

    async def successor(self, guild_id: int, owner_id: int) -> int | None:
        """The member who is next after the owner; None if no member can own the guild."""

        def query(connection: sqlite3.Connection) -> int | None:
            ranked = sorted(roles.of_guild(connection, guild_id), key=rank_of, reverse=True)
            return members.successor(connection, guild_id, owner_id, [role.id for role in ranked])

        return await self._core.database.read(query)

    def pass_on(
        self, connection: sqlite3.Connection, guild_id: int, owner_id: int, successor_id: int | None
    ) -> Succession | None:
        """In a unit of writing: hand the guild over, or delete it without a successor; hand the result to `announce`
        after the commit. None if the members have changed: one came, or the successor left."""
        guild = guilds.by_id(connection, guild_id)
        if guild is None or guild.owner_id != owner_id:
            return None
        if successor_id is None:
            if members.has_person_beside(connection, guild_id, owner_id):
                return None
            delete_in(connection, self._core.errands, guild_id)
            return Succession(guild_id, None)
        if not members.is_person_in(connection, guild_id, successor_id):
            return None
        after = attrs.evolve(guild, owner_id=successor_id)
        return Succession(guild_id, self._changes.replace(connection, guild, after, Actor(owner_id, REASON)))

    def announce(self, succession: Succession) -> None:
        """After the commit: tell the members of the new owner, or that the guild is gone."""
        if succession.changed is not None:
            self._changes.announce(succession.changed)
            return
        self._core.bus.publish(GuildDeleted(succession.guild_id))
        self._core.guild_states.forget(succession.guild_id)
        self._core.errands.look_again()
