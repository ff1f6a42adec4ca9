"""Members claim people of an import: placeholders become theirs, or are given back (manual, Moving in).

A member asks and an administrator confirms; an invite names a placeholder, and who joins by it becomes that person; or
a sign-in with the old service proves the id. From then on messages, mentions and reactions are the member's own. They
are rewritten rather than looked up whenever something is read: a message is read far more often than a person is
claimed, and search, archives and erasure need not know of claims. An errand moves them in portions, and back.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from chat import wire
from chat.auth.principal import Principal
from chat.bus.bus import GuildAvailabilityChanged
from chat.classes import define, frozen
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.core import Core
from chat.domain.messages.known_authors import authors
from chat.domain.policy.errands import Errand, State
from chat.domain.standing.audit_log import Actor
from chat.errors import ApiError
from chat.registries.audit_actions import AuditAction
from chat.registries.error_codes import ErrorCode
from chat.registries.imports import PROVING_ISSUERS
from chat.registries.jobs import ErrandKind
from chat.registries.permissions import Permission
from chat.store import errands
from chat.store.guilds import members
from chat.store.imports import claims, placeholders
from chat.store.imports.claims import ClaimMove, ClaimRequest
from chat.store.imports.placeholders import Placeholder
from chat.store.signing_in import auth_sessions
from chat.store.standing.guild_audit_log import AuditLogEntry

AT_ONCE: Final = 200
"""Messages, mentions or reactions that one unit looks at."""

COUNTED: Final = 10_000
"""How far the messages of a placeholder are counted."""

REQUESTS: Final = 25
"""Requests that are shown of one placeholder."""


@frozen
class SettledClaim:
    """A claim that holds from now on, or does no longer: its entry in the audit log, and what moves the messages."""

    entry: AuditLogEntry
    errand: Errand


def begin_moving(connection: sqlite3.Connection, placeholder: Placeholder) -> None:
    """In a unit, after an import: what it brought of a person whom somebody has claimed is to become theirs."""
    if placeholder.claimed_by is not None:
        errands.insert(connection, ErrandKind.MOVE_CLAIMED, _beginning(placeholder, placeholder.claimed_by))


def _beginning(placeholder: Placeholder, account_id: int, *, is_back: bool = False) -> State:
    """The state of an errand that has moved nothing."""
    return {
        "guild_id": placeholder.guild_id,
        "user_id": placeholder.user_id,
        "account_id": account_id,
        "is_back": is_back,
        "stage": 0,
        "after": 0,
        "moved": 0,
    }


@define(eq=False)
class Claims:
    """The operations on placeholders of a guild."""

    _core: Core

    def __attrs_post_init__(self) -> None:
        self._core.errands.handle(ErrandKind.MOVE_CLAIMED, self._move)

    async def of_guild(self, principal: Principal, guild_id: int, *, after: int, limit: int) -> list[wire.Placeholder]:
        """A page of the people of imports into the guild, by their ids.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD.
        """
        self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD)

        def query(connection: sqlite3.Connection) -> list[wire.Placeholder]:
            page = placeholders.page_of(connection, guild_id, after, limit)
            return [_object(connection, one, None) for one in page]

        return await self._core.database.read(query)

    async def get(self, principal: Principal, guild_id: int, user_id: int) -> wire.Placeholder:
        """One of them. A member who does not manage the guild sees no request but their own, and no count.

        :raises ApiError: as `Access.guild`; UNKNOWN_USER for somebody who is none, for a bot, and for who is erased.
        """
        access = self._core.access.guild(principal, guild_id)
        seen_by = None if access.permissions & Permission.MANAGE_GUILD else principal.user_id
        return await self._core.database.read(
            lambda connection: _object(connection, _open(connection, guild_id, user_id), seen_by)
        )

    async def claim(
        self, principal: Principal, guild_id: int, user_id: int, claimant_id: int | None, reason: str | None
    ) -> wire.Placeholder:
        """Ask for a placeholder, or confirm the request of a member. Who manages the guild needs nobody's word, nor
        does a member whose sign-in with the old service proves the id. Answers once everything has moved.

        :raises ApiError: as `Access.guild`, with MANAGE_GUILD for the request of somebody else; UNKNOWN_USER for nobody
            who can be claimed, and where `claimant_id` has not asked; UNKNOWN_MEMBER; CONFLICT where somebody else has
            claimed the placeholder.
        """
        access = self._core.access.guild(principal, guild_id)
        who = principal.user_id if claimant_id is None else claimant_id
        is_manager = bool(access.permissions & Permission.MANAGE_GUILD)
        if is_manager or who != principal.user_id:
            self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD)

        def unit(connection: sqlite3.Connection) -> SettledClaim | None:
            known = _open(connection, guild_id, user_id)
            if known.claimed_by == who:
                return None
            if known.claimed_by is not None:
                raise ApiError(ErrorCode.CONFLICT)
            if not members.exists(connection, guild_id, who):
                raise ApiError(ErrorCode.UNKNOWN_MEMBER)
            if who != principal.user_id:
                if not claims.is_requested(connection, guild_id, user_id, who):
                    raise ApiError(ErrorCode.UNKNOWN_USER)
            elif not is_manager and not self._is_proven(connection, known, who):
                asked = ClaimRequest(guild_id, user_id, who, self._core.clock.now_ms())
                claims.request(connection, asked)
                return None
            return self.claim_in(connection, known, who, Actor(principal.user_id, reason))

        await self._settle(await self._core.database.write(unit, self._told, guard=principal.guard))
        return await self.get(principal, guild_id, user_id)

    async def release(
        self, principal: Principal, guild_id: int, user_id: int, claimant_id: int | None, reason: str | None
    ) -> None:
        """Take back the caller's request or claim, or refuse or undo that of somebody else. Answers once everything is
        the placeholder's again, but for messages that were edited here. Nothing happens where there is neither.

        :raises ApiError: as `Access.guild`, with MANAGE_GUILD for somebody else, but for the caller's own claim, which
            may also be given back by who has left; UNKNOWN_USER for no placeholder.
        """
        who = principal.user_id if claimant_id is None else claimant_id
        if who != principal.user_id:
            self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD)
        elif not self._has_claimed(guild_id, user_id, who):
            self._core.access.guild(principal, guild_id)

        def unit(connection: sqlite3.Connection) -> SettledClaim | None:
            known = placeholders.by_id(connection, guild_id, user_id)
            if known is None:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            claims.take_back(connection, guild_id, user_id, who)
            if known.claimed_by != who:
                return None
            placeholders.claim(connection, known, None, None)
            actor = Actor(principal.user_id, reason)
            entry = self._record(connection, AuditAction.PLACEHOLDER_RELEASE, known, who, actor)
            errand = self._core.errands.begin_in(
                connection, ErrandKind.MOVE_CLAIMED, _beginning(known, who, is_back=True)
            )
            return SettledClaim(entry, errand)

        await self._settle(await self._core.database.write(unit, self._told, guard=principal.guard))

    def claim_in(
        self, connection: sqlite3.Connection, known: Placeholder, account_id: int, actor: Actor
    ) -> SettledClaim:
        """In a unit: the placeholder, which nobody has claimed, is this account's. Call `look_again` after the commit,
        and publish the entry."""
        placeholders.claim(connection, known, account_id, self._core.clock.now_ms())
        claims.take_back(connection, known.guild_id, known.user_id)
        entry = self._record(connection, AuditAction.PLACEHOLDER_CLAIM, known, account_id, actor)
        errand = self._core.errands.begin_in(connection, ErrandKind.MOVE_CLAIMED, _beginning(known, account_id))
        return SettledClaim(entry, errand)

    def look_again(self, settled: SettledClaim) -> None:
        """After the commit of `claim_in`: tell of it, and have the messages moved."""
        self._told(settled)
        self._core.errands.look_again()

    def _told(self, settled: SettledClaim | None) -> None:
        if settled is not None:
            self._core.audit_log.publish(settled.entry)

    async def _settle(self, settled: SettledClaim | None) -> None:
        if settled is not None:
            await self._core.errands.finish(settled.errand)

    def _record(
        self, connection: sqlite3.Connection, action: AuditAction, known: Placeholder, account_id: int, actor: Actor
    ) -> AuditLogEntry:
        options = {"placeholder_id": str(known.user_id)}
        return self._core.audit_log.record(
            connection, known.guild_id, action, actor, target_id=account_id, options=options
        )

    def _has_claimed(self, guild_id: int, user_id: int, account_id: int) -> bool:
        """Whether the account is this person of the guild by now, as a member or not."""
        known = placeholders.by_id(self._core.database.reader, guild_id, user_id)
        return known is not None and known.claimed_by == account_id

    def _is_proven(self, connection: sqlite3.Connection, known: Placeholder, account_id: int) -> bool:
        """Whether the account signs in with the service that the person comes from, under the person's id."""
        source = placeholders.source_of(connection, known.user_id)
        issuer = None if source is None else PROVING_ISSUERS.get(source)
        if issuer is None or (self._core.settings.sso.issuer or "").rstrip("/") != issuer:
            return False
        subject = known.original_id or str(known.person_id)
        account = auth_sessions.account_of_subject(connection, self._core.settings.sso.issuer or "", subject)
        return account is not None and account.id == account_id

    async def _move(self, errand: Errand) -> None:
        guild_id: int = errand.state["guild_id"]

        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, bool]:
            known = placeholders.by_id(connection, guild_id, state["user_id"])
            # It may have been given back, or claimed again, since the errand began: then another errand is under way.
            if known is None or (known.claimed_by == state["account_id"]) == state["is_back"]:
                return None, state["moved"] > 0
            left = _moved(connection, known, state)
            if left["stage"] < len(claims.STAGES):
                return left, False
            if state["is_back"] and known.claimed_by is not None:  # what came back late is somebody else's by now
                return {**_beginning(known, known.claimed_by), "moved": left["moved"]}, False
            return None, left["moved"] > 0

        def then(is_changed: bool) -> None:
            if is_changed:  # what clients show of the guild is to be fetched again
                self._core.bus.publish(GuildAvailabilityChanged(guild_id))

        while not errand.is_over:
            await errand.step(portion, then)


def _moved(connection: sqlite3.Connection, known: Placeholder, state: State) -> State:
    """Do a portion of the move; the state to go on from, with a stage beyond the last at the end."""
    account_id, is_back = state["account_id"], state["is_back"]
    from_id, to_id = (account_id, known.user_id) if is_back else (known.user_id, account_id)
    move = ClaimMove(known.guild_id, from_id, to_id, known.person_id, is_back)
    done = claims.STAGES[state["stage"]](connection, move, state["after"], AT_ONCE)
    left = {**state, "moved": state["moved"] + done.count}
    if done.after is None:
        return {**left, "stage": state["stage"] + 1, "after": 0}
    return {**left, "after": done.after}


def _open(connection: sqlite3.Connection, guild_id: int, user_id: int) -> Placeholder:
    known = placeholders.present(connection, guild_id, user_id)
    if known is None:
        raise ApiError(ErrorCode.UNKNOWN_USER)
    return known


def _object(connection: sqlite3.Connection, known: Placeholder, seen_by: int | None) -> wire.Placeholder:
    """The placeholder, as a manager sees it (None) or a member."""
    asked = claims.requests_of(connection, known.guild_id, known.user_id, REQUESTS, seen_by)
    named = {known.user_id, *(one.claimant_id for one in asked)}
    people = authors(connection, named | ({known.claimed_by} if known.claimed_by else set()))
    count = placeholders.written_by(connection, known.guild_id, known.user_id, COUNTED) if seen_by is None else None
    return {
        "user": people[known.user_id],
        "message_count": count,
        "claimed_by": None if known.claimed_by is None else people[known.claimed_by],
        "claimed_at": optional_timestamp(known.claimed_at),
        "requests": [
            {"user": people[one.claimant_id], "requested_at": iso_timestamp(one.requested_at)} for one in asked
        ],
    }
