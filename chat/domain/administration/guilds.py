"""What an administrator reads and changes of guilds (administration.md, Administered guilds), and decides on public
discovery (administration.md, Reports and discovery).

A change goes the way of the guild's own operations: the same rules for what is stored, the same events, and an entry in
the guild's audit log, whose actor is the administrator. The reason of the request stays in the administrative log: it
is not for members.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import attrs

from chat import wire
from chat.bus.bus import GuildStateChanged
from chat.classes import define, frozen
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.administration_objects import admin_guild, admin_guild_details, summary_of
from chat.domain.core import Core
from chat.domain.guilds.guild_changes import ChangedGuild, GuildChanges
from chat.domain.guilds.guild_discovery import application_object, out_of_discovery, required_application
from chat.domain.guilds.guild_ownership import GuildDeletion, require_successor
from chat.domain.guilds.vanity_urls import VanityUrls
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.rosters import Rosters
from chat.errors import ApiError, InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import DiscoveryStatus, NsfwLevel, VerificationLevel
from chat.snowflake import MAXIMUM
from chat.store.accounts import accounts
from chat.store.administration import listings
from chat.store.guilds import guild_discovery, guilds
from chat.store.guilds.guild_discovery import DiscoveryApplication
from chat.store.guilds.guilds import Guild


@frozen
class GuildSearch:
    """Which guilds to list. `text` is a part of a name, a custom invite code or an id."""

    text: str
    sort_by: str
    descending: bool
    limit: int
    offset: int


@frozen(kw_only=True)
class GuildWishes:
    """What is to be different about a guild; None stays as it is.

    `settings` holds fields of Modify guild that are no images, and `disabled_operations`; `cleared` names images that
    go. `vanity_url_code` counts where `changes_vanity`, and None gives the code up there.
    """

    name: str | None = None
    changes_vanity: bool = False
    vanity_url_code: str | None = None
    new_owner_id: int | None = None
    changes_features: bool = False
    add_features: frozenset[str] = frozenset()
    remove_features: frozenset[str] = frozenset()
    cleared: tuple[str, ...] | None = None
    settings: Mapping[str, Any] = attrs.Factory(dict)

    def require_acls(self, acting: Acting) -> None:
        """Raise MISSING_ACL unless the administrator may change everything that is named (administration.md,
        Administered guilds)."""
        needed = {
            Acl.GUILD_UPDATE_NAME: self.name is not None,
            Acl.GUILD_UPDATE_VANITY: self.changes_vanity,
            Acl.GUILD_TRANSFER_OWNERSHIP: self.new_owner_id is not None,
            Acl.GUILD_UPDATE_FEATURES: self.changes_features,
            Acl.GUILD_UPDATE_SETTINGS: self.cleared is not None or bool(self.settings),
        }
        if not all(acting.holds(acl) for acl, is_needed in needed.items() if is_needed):
            raise ApiError(ErrorCode.MISSING_ACL)

    def fields(self) -> Mapping[str, object]:
        """The same as a body of Modify guild."""
        named = {} if self.name is None else {"name": self.name}
        return {**self.settings, **dict.fromkeys(self.cleared or ()), **named}

    def entries(self, before: Guild, after: Guild) -> Iterator[tuple[AdminAction, Mapping[str, object]]]:
        """One entry of the administrative log for each kind of change that is named."""
        if self.name is not None:
            yield AdminAction.UPDATE_NAME, {"old_name": before.name, "new_name": after.name}
        if self.changes_vanity:
            codes = {"old_vanity_url_code": before.vanity_url_code, "new_vanity_url_code": after.vanity_url_code}
            yield AdminAction.UPDATE_VANITY, codes
        if self.new_owner_id is not None:
            owners = {"old_owner_id": before.owner_id, "new_owner_id": after.owner_id}
            yield AdminAction.TRANSFER_GUILD_OWNERSHIP, owners
        if self.changes_features:
            yield AdminAction.UPDATE_FEATURES, features_metadata(self.add_features, self.remove_features, after)
        if self.cleared is not None:
            yield AdminAction.CLEAR_GUILD_FIELDS, {"fields": self.cleared}
        if self.settings:
            yield AdminAction.UPDATE_SETTINGS, {name: _stored(after, name) for name in self.settings}


def _stored(guild: Guild, setting: str) -> Any:
    """The stored value of a setting. `nsfw_level` is an older form of `nsfw` and is not stored."""
    if setting == "nsfw_level":
        return int(NsfwLevel.AGE_RESTRICTED if guild.nsfw else NsfwLevel.SAFE)
    return getattr(guild, setting)


def features_metadata(added: Collection[str], removed: Collection[str], after: Guild) -> Mapping[str, object]:
    """The part of an audit entry about changed features."""
    return {"add_features": sorted(added), "remove_features": sorted(removed), "new_features": sorted(after.features)}


@define(kw_only=True, eq=False)
class AdministeredGuilds:
    """Lists, shows, changes and deletes guilds. Each method raises UNKNOWN_GUILD for a guild that does not exist."""

    _core: Core
    _log: AdminAuditLog
    _changes: GuildChanges
    _deletion: GuildDeletion
    _vanity_urls: VanityUrls
    _rosters: Rosters
    _online_count: Callable[[int], int]

    async def search(self, acting: Acting, wanted: GuildSearch) -> wire.GuildsFound:
        """A page of the guilds that fit, and how many there are in all. A text that is all digits also finds the guild
        with that id, which is the first of the first page."""

        def query(connection: sqlite3.Connection) -> tuple[list[wire.AdminGuild], int]:
            ids = listings.guilds_named(connection, wanted.text, wanted.sort_by, descending=wanted.descending)
            exact = _exact(connection, wanted.text)
            if exact is not None:
                ids = [exact, *(guild_id for guild_id in ids if guild_id != exact)]
            page = [
                guilds.by_id(connection, guild_id) for guild_id in ids[wanted.offset : wanted.offset + wanted.limit]
            ]
            return [
                admin_guild(guild, accounts.by_id(connection, guild.owner_id), self._online_count(guild.id))
                for guild in page
                if guild is not None
            ], len(ids)

        listed, total = await self._core.database.read(query)
        metadata = {
            "has_query": bool(wanted.text.strip()),
            "limit": wanted.limit,
            "offset": wanted.offset,
            "result_count": len(listed),
            "total": total,
        }
        await self._log.note(acting, AdminAction.SEARCH_GUILDS, NO_TARGET, metadata)
        return {"guilds": listed, "total": total}

    async def get(self, acting: Acting, guild_id: int) -> wire.AdminGuildDetails:
        """A guild with its roles and an outline of its channels."""
        state = known_guild(self._core, guild_id)
        await self._log.note(acting, AdminAction.GET_GUILD, guild_id)
        return self._details(state)

    async def change(
        self,
        acting: Acting,
        guild_id: int,
        wishes: GuildWishes,
        also: Callable[[sqlite3.Connection], None] | None = None,
    ) -> wire.AdminGuildDetails:
        """Change everything that is named, or nothing; the guild as `get` shows it. `also` is done in the same unit.

        Features are added before others are removed. There is an entry in the administrative log for each kind of
        change that is named.

        :raises ApiError: MISSING_ACL, CONTENT_BLOCKED, UNKNOWN_MEMBER, CANNOT_TRANSFER_OWNERSHIP_TO_BOT.
        :raises InvalidFormBody: as Modify guild and the change of a custom invite code; VANITY_URL_REQUIRES_FEATURE
            looks at the features that the guild has afterwards.
        """
        wishes.require_acls(acting)
        judged = await self._changes.judged(known_guild(self._core, guild_id), wishes.fields(), guard=acting.guard)

        def unit(connection: sqlite3.Connection) -> ChangedGuild:
            def further(before: Guild, after: Guild) -> Guild:
                return self._further(connection, wishes, before, after)

            changed = self._changes.write(connection, guild_id, judged, Actor(acting.user_id), further)
            for action, metadata in wishes.entries(changed.before, changed.after):
                self._log.record(connection, acting, action, guild_id, metadata)
            if also is not None:
                also(connection)
            return changed

        await self._core.database.write(unit, self._changes.announce, guard=acting.guard)
        return self._details(known_guild(self._core, guild_id))

    def _further(self, connection: sqlite3.Connection, wishes: GuildWishes, before: Guild, after: Guild) -> Guild:
        """The changes that no member of a guild can make."""
        after = attrs.evolve(after, features=(after.features | wishes.add_features) - wishes.remove_features)
        if wishes.changes_vanity:
            code, path = wishes.vanity_url_code, "vanity_url_code"
            wanted = None if code is None else self._vanity_urls.judged(after, code, path=path)
            after = self._vanity_urls.put(connection, after, wanted, path=path)
        if wishes.new_owner_id is not None:
            require_successor(connection, before.id, wishes.new_owner_id)
            after = attrs.evolve(after, owner_id=wishes.new_owner_id)
        _require_discoverable(before, after)
        return after

    async def delete(self, acting: Acting, guild_id: int) -> None:
        """Delete a guild; its messages go in the background. Raises SINGLE_COMMUNITY_CANNOT_DELETE."""

        def first(connection: sqlite3.Connection, guild: Guild) -> None:
            metadata = {"name": guild.name, "owner_id": guild.owner_id, "member_count": guild.member_count}
            self._log.record(connection, acting, AdminAction.DELETE_GUILD, guild_id, metadata)

        await self._deletion.remove(guild_id, first, guard=acting.guard)

    async def reload(self, acting: Acting, guild_id: int) -> None:
        """Read what this node holds in memory of a guild from the store again; its sessions stay, and hear of channels
        that they see now or no longer."""
        known_guild(self._core, guild_id)
        await self._log.note(acting, AdminAction.RELOAD_GUILD, guild_id)
        self._refresh(guild_id)

    async def shut_down(self, acting: Acting, guild_id: int) -> None:
        """Drop what this node holds in memory of a guild. There is one node, and it serves the guild's sessions: where
        there are any the state comes back from the store at once, elsewhere with the next use."""
        known_guild(self._core, guild_id)
        await self._log.note(acting, AdminAction.SHUTDOWN_GUILD, guild_id)
        if not self._core.guild_states.is_held(guild_id):
            self._core.guild_states.forget(guild_id)
        self._refresh(guild_id)

    def _refresh(self, guild_id: int) -> None:
        self._core.guild_states.refresh(guild_id)
        self._rosters.forget_one(guild_id)
        self._core.bus.publish(GuildStateChanged(guild_id))

    def _details(self, state: GuildState) -> wire.AdminGuildDetails:
        counts = {kind: len(state.expressions(kind)) for kind in (EMOJIS, STICKERS)}
        online = self._online_count(state.id)
        return admin_guild_details(state, state.account(state.guild.owner_id), online, counts)


def known_guild(core: Core, guild_id: int) -> GuildState:
    """The guild that a path names. Raises UNKNOWN_GUILD."""
    state = core.guild_states.get(guild_id)
    if state is None:
        raise ApiError(ErrorCode.UNKNOWN_GUILD)
    return state


def require_guild(connection: sqlite3.Connection, guild_id: int) -> None:
    """As `known_guild`, in a query or a unit."""
    if guilds.by_id(connection, guild_id) is None:
        raise ApiError(ErrorCode.UNKNOWN_GUILD)


def _exact(connection: sqlite3.Connection, text: str) -> int | None:
    """The guild whose id the text is."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal()) or int(digits) > MAXIMUM:
        return None
    guild = guilds.by_id(connection, int(digits))
    return None if guild is None else guild.id


def _require_discoverable(before: Guild, after: Guild) -> None:
    """As Modify guild has it: a guild that all accounts can find asks something of those who write there."""
    if after == before or GuildFeature.DISCOVERABLE not in after.features:
        return
    if after.verification_level < VerificationLevel.LOW and (
        GuildFeature.DISCOVERABLE not in before.features or before.verification_level != after.verification_level
    ):
        raise InvalidFormBody.at("verification_level", FieldCode.DISCOVERABLE_GUILD_VERIFICATION_LEVEL_TOO_LOW)


@define(kw_only=True, eq=False)
class AdministeredDiscovery:
    """Lists applications and decides on them; takes guilds out of discovery."""

    _core: Core
    _log: AdminAuditLog
    _changes: GuildChanges

    async def listed(
        self, acting: Acting, status: DiscoveryStatus, limit: int, offset: int
    ) -> wire.DiscoveryApplications:
        """A page of the applications that stand so, the oldest first, each with its guild, and how many there are."""

        def query(connection: sqlite3.Connection) -> tuple[list[wire.ReviewedDiscoveryApplication], int]:
            found, total = guild_discovery.with_status(connection, status, limit, offset)
            return [reviewed_object(connection, application) for application in found], total

        page, total = await self._core.database.read(query)
        metadata = {"status": status, "limit": limit, "offset": offset, "result_count": len(page)}
        await self._log.note(acting, AdminAction.LIST_DISCOVERY_APPLICATIONS, NO_TARGET, metadata)
        return {"applications": page, "total": total}

    async def approve(self, acting: Acting, guild_id: int, reason: str | None) -> wire.ReviewedDiscoveryApplication:
        """Take a guild into discovery. A guild that all accounts can find asks something of those who write there: one
        that asked nothing asks for verified addresses from now on (guilds.md, Verification levels). Raises
        UNKNOWN_GUILD, DISCOVERY_APPLICATION_NOT_FOUND, DISCOVERY_APPLICATION_ALREADY_REVIEWED."""
        return await self._decide(acting, guild_id, DiscoveryStatus.APPROVED, reason)

    async def reject(self, acting: Acting, guild_id: int, reason: str | None) -> wire.ReviewedDiscoveryApplication:
        """Turn an application down; the guild is told why, if anything is said. Raises as `approve`."""
        return await self._decide(acting, guild_id, DiscoveryStatus.REJECTED, reason)

    async def remove(self, acting: Acting, guild_id: int, reason: str | None) -> None:
        """Take a guild out of discovery, however it got there. Raises UNKNOWN_GUILD, DISCOVERY_NOT_DISCOVERABLE."""
        judged = await self._changes.judged(known_guild(self._core, guild_id), {}, guard=acting.guard)

        def unit(connection: sqlite3.Connection) -> ChangedGuild:
            application = guild_discovery.find(connection, guild_id)
            if application is not None:
                self._review(connection, acting, application, DiscoveryStatus.REMOVED, reason)
            self._log.record(connection, acting, AdminAction.REMOVE_FROM_DISCOVERY, guild_id, {"reason": reason})
            return self._changes.write(connection, guild_id, judged, Actor(acting.user_id), _removed)

        await self._core.database.write(unit, self._changes.announce, guard=acting.guard)

    async def _decide(
        self, acting: Acting, guild_id: int, status: DiscoveryStatus, reason: str | None
    ) -> wire.ReviewedDiscoveryApplication:
        is_approved = status is DiscoveryStatus.APPROVED
        action = AdminAction.APPROVE_DISCOVERY if is_approved else AdminAction.REJECT_DISCOVERY
        judged = await self._changes.judged(known_guild(self._core, guild_id), {}, guard=acting.guard)

        def unit(connection: sqlite3.Connection) -> tuple[wire.ReviewedDiscoveryApplication, ChangedGuild | None]:
            application = required_application(connection, guild_id)
            if application.status != DiscoveryStatus.PENDING:
                raise ApiError(ErrorCode.DISCOVERY_APPLICATION_ALREADY_REVIEWED)
            after = self._review(connection, acting, application, status, reason)
            self._log.record(connection, acting, action, guild_id, {"reason": reason})
            changed = None
            if is_approved:
                changed = self._changes.write(connection, guild_id, judged, Actor(acting.user_id), _approved)
            return reviewed_object(connection, after), changed

        def then(decided: tuple[wire.ReviewedDiscoveryApplication, ChangedGuild | None]) -> None:
            if decided[1] is not None:
                self._changes.announce(decided[1])

        decided, _ = await self._core.database.write(unit, then, guard=acting.guard)
        return decided

    def _review(
        self,
        connection: sqlite3.Connection,
        acting: Acting,
        application: DiscoveryApplication,
        status: DiscoveryStatus,
        reason: str | None,
    ) -> DiscoveryApplication:
        now = self._core.clock.now_ms()
        after = attrs.evolve(
            application, status=status, reviewed_by=acting.user_id, reviewed_at=now, review_reason=reason
        )
        guild_discovery.put(connection, after)
        return after


def _approved(_: Guild, guild: Guild) -> Guild:
    return attrs.evolve(
        guild,
        features=guild.features | {GuildFeature.DISCOVERABLE},
        verification_level=max(guild.verification_level, VerificationLevel.LOW.value),
    )


def _removed(_: Guild, guild: Guild) -> Guild:
    if GuildFeature.DISCOVERABLE not in guild.features:
        raise ApiError(ErrorCode.DISCOVERY_NOT_DISCOVERABLE)
    return out_of_discovery(guild)


def reviewed_object(
    connection: sqlite3.Connection, application: DiscoveryApplication
) -> wire.ReviewedDiscoveryApplication:
    """An application as administrators see it: with the guild, who has applied and who has decided."""
    guild = guilds.by_id(connection, application.guild_id)
    owner = None if guild is None else accounts.by_id(connection, guild.owner_id)
    return {
        **application_object(application),
        "guild": None if guild is None else admin_guild(guild, owner),
        "applied_by": summary_of(connection, application.applied_by),
        "reviewed_by": summary_of(connection, application.reviewed_by),
    }
