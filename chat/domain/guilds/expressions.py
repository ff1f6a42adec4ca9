"""Emojis and stickers of guilds: making, copying, changing and deleting them (guilds.md, Emojis and stickers).

Members who may create expressions may also change and delete their own; those of others need MANAGE_EXPRESSIONS. Every
change is told with the whole set.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToGuild
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.messages.message_objects import author_object
from chat.domain.policy import images
from chat.domain.policy.images import PreparedImage
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.standing.access import GuildAccess, require_guild
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_objects import CLONING, EMOJIS, STICKERS, expression_metadata_object
from chat.errors import ApiError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.error_codes import ErrorCode
from chat.registries.events import EventName
from chat.registries.guild_features import GuildFeature
from chat.registries.permissions import Permission
from chat.store import policy
from chat.store.accounts import accounts
from chat.store.guard import Guard
from chat.store.guilds import expressions
from chat.store.guilds.expressions import Expression
from chat.store.standing.guild_audit_log import AuditLogEntry

UNLIMITED_SLOTS: Final = 999_999
"""Slots with UNLIMITED_EMOJI or UNLIMITED_STICKERS (guilds.md, Guild features)."""


@frozen
class _ExpressionKind:
    """The differences between emojis and stickers."""

    event: EventName
    created: AuditAction
    updated: AuditAction
    deleted: AuditAction
    unlimited: GuildFeature
    full: ErrorCode
    """The refusal of one too many."""
    unknown: ErrorCode


KINDS: Final[Mapping[str, _ExpressionKind]] = {
    EMOJIS: _ExpressionKind(
        EventName.GUILD_EMOJIS_UPDATE,
        AuditAction.EMOJI_CREATE,
        AuditAction.EMOJI_UPDATE,
        AuditAction.EMOJI_DELETE,
        GuildFeature.UNLIMITED_EMOJI,
        ErrorCode.MAX_EMOJIS,
        ErrorCode.UNKNOWN_EMOJI,
    ),
    STICKERS: _ExpressionKind(
        EventName.GUILD_STICKERS_UPDATE,
        AuditAction.STICKER_CREATE,
        AuditAction.STICKER_UPDATE,
        AuditAction.STICKER_DELETE,
        GuildFeature.UNLIMITED_STICKERS,
        ErrorCode.MAX_STICKERS,
        ErrorCode.UNKNOWN_STICKER,
    ),
}


@frozen
class NewExpression:
    """An expression as it is asked for; `image` is base64 text. Description and tags are for stickers."""

    name: str
    image: str = attrs.field(repr=False)
    description: str = ""
    tags: tuple[str, ...] = ()


@frozen
class _PreparedExpression:
    """An expression that is to be, with its image."""

    expression: Expression
    image: PreparedImage


@frozen
class _ExpressionChange:
    """What a unit wrote: the guild's whole set after it, the audit log's entries, and how many did not fit."""

    guild_id: int
    present: Sequence[Expression]
    entries: Sequence[AuditLogEntry | None]
    refused: int = 0


@define(kw_only=True, eq=False)
class Expressions:
    """The operations on emojis and stickers; `kind` is EMOJIS or STICKERS."""

    _core: Core
    _media: MediaLibrary

    # Reading

    async def of_guild(
        self, principal: Principal, kind: str, guild_id: int
    ) -> list[tuple[Expression, wire.PartialUser]]:
        """A guild's expressions, oldest first, each with who made it.

        :raises ApiError: as `Access.guild`.
        """
        present = self._core.access.guild(principal, guild_id).state.expressions(kind)

        def query(connection: sqlite3.Connection) -> list[tuple[Expression, wire.PartialUser]]:
            makers = accounts.by_ids(connection, tuple({expression.user_id for expression in present}))
            known = {account.id: account for account in makers}
            return [
                (expression, author_object(expression.user_id, known.get(expression.user_id))) for expression in present
            ]

        return await self._core.database.read(query)

    def metadata(self, kind: str, expression_id: int) -> wire.ExpressionMetadata:
        """Where an expression comes from, and whether all may copy it; asks for no permission.

        :raises ApiError: UNKNOWN_EMOJI, UNKNOWN_STICKER.
        """
        expression = expressions.by_id(self._core.database.reader, kind, expression_id)
        state = None if expression is None else self._core.guild_states.get(expression.guild_id)
        if expression is None or state is None:
            raise ApiError(KINDS[kind].unknown)
        return expression_metadata_object(expression, state.guild)

    # Writing

    async def create(
        self, principal: Principal, kind: str, guild_id: int, new: NewExpression, reason: str | None = None
    ) -> Expression:
        """Make an expression.

        :raises ApiError: as `Access.guild` with CREATE_EXPRESSIONS; CONTENT_BLOCKED; MAX_EMOJIS, MAX_STICKERS.
        :raises InvalidFormBody: at `image`, as `MediaLibrary.prepare`.
        """
        self._core.access.guild(principal, guild_id, Permission.CREATE_EXPRESSIONS)
        made = await self._made(principal, kind, guild_id, new)
        await self._add(principal, kind, guild_id, [made], reason, some=False)
        return made.expression

    async def create_many(
        self, principal: Principal, kind: str, guild_id: int, wanted: Sequence[NewExpression], reason: str | None = None
    ) -> tuple[list[Expression], list[wire.FailedExpression]]:
        """Make several expressions; first those that were made, then why others were not.

        :raises ApiError: as `Access.guild` with CREATE_EXPRESSIONS.
        """
        self._core.access.guild(principal, guild_id, Permission.CREATE_EXPRESSIONS)
        made: list[_PreparedExpression] = []
        failed: list[wire.FailedExpression] = []
        for new in wanted:
            try:
                made.append(await self._made(principal, kind, guild_id, new))
            except InvalidFormBody as refused:
                failed.append({"name": new.name, "error": refused.errors[0].as_member()["message"]})
            except ApiError as refused:
                failed.append({"name": new.name, "error": refused.message})
        if made:
            refused_count = await self._add(principal, kind, guild_id, made, reason, some=True)
            kept = len(made) - refused_count
            message = ApiError(KINDS[kind].full).message
            failed.extend({"name": entry.expression.name, "error": message} for entry in made[kept:])
            made = made[:kept]
        return [entry.expression for entry in made], failed

    async def clone(
        self, principal: Principal, kind: str, guild_id: int, source_id: int, reason: str | None = None
    ) -> Expression:
        """Copy an expression, of a guild that lets others do so or that the caller is in.

        :raises ApiError: as `create`; UNKNOWN_EMOJI, UNKNOWN_STICKER; MISSING_ACCESS where copying is not allowed.
        """
        self._core.access.guild(principal, guild_id, Permission.CREATE_EXPRESSIONS)
        source = expressions.by_id(self._core.database.reader, kind, source_id)
        state = None if source is None else self._core.guild_states.get(source.guild_id)
        image = policy.only_of(self._core.database.reader, kind, source_id)
        if source is None or state is None or image is None:
            raise ApiError(KINDS[kind].unknown)
        self._core.access.require_open(principal, state)
        if CLONING[kind] not in state.guild.features and state.member(principal.user_id) is None:
            raise ApiError(ErrorCode.MISSING_ACCESS)
        expression = attrs.evolve(source, id=self._core.snowflakes(), guild_id=guild_id, user_id=principal.user_id)
        asset = attrs.evolve(image, owner_id=expression.id, id=self._core.snowflakes())
        storage = self._media.storage
        try:
            content = await storage.content_of(storage.path_of(image.key))
        except FileNotFoundError:  # purged a moment ago
            raise ApiError(KINDS[kind].unknown) from None
        made = _PreparedExpression(expression, PreparedImage(asset, content))
        await self._add(principal, kind, guild_id, [made], reason, some=False)
        return expression

    async def change(
        self,
        principal: Principal,
        kind: str,
        guild_id: int,
        expression_id: int,
        changes: Mapping[str, Any],
        reason: str | None = None,
    ) -> Expression:
        """Change an expression's name; a sticker's description and tags too.

        :raises ApiError: as `delete`; CONTENT_BLOCKED.
        """
        self._changeable(principal, kind, guild_id, expression_id)
        self._require_unblocked(changes.get("name", ""), changes.get("description", ""), *changes.get("tags", ()))
        actor = Actor(principal.user_id, reason)

        def unit(connection: sqlite3.Connection) -> tuple[Expression, _ExpressionChange]:
            before = _stored(connection, kind, guild_id, expression_id)
            after = attrs.evolve(before, **changes)
            expressions.replace(connection, after)
            entry = self._record(connection, KINDS[kind].updated, actor, before, after)
            return after, _ExpressionChange(guild_id, expressions.of_guild(connection, guild_id), [entry])

        after, _ = await self._core.database.write(
            unit, lambda result: self._announce(kind, result[1]), guard=principal.guard
        )
        return after

    async def delete(
        self,
        principal: Principal,
        kind: str,
        guild_id: int,
        expression_id: int,
        *,
        purge: bool = False,
        reason: str | None = None,
    ) -> None:
        """Delete an expression. Its image stays where messages show it, unless `purge` takes it away too.

        :raises ApiError: as `Access.guild`; MISSING_ACCESS for a purge in a guild without EXPRESSION_PURGE_ALLOWED;
            UNKNOWN_EMOJI, UNKNOWN_STICKER; MISSING_PERMISSIONS.
        """
        self._changeable(principal, kind, guild_id, expression_id, purge=purge)

        def first(connection: sqlite3.Connection) -> None:
            if purge:
                policy.delete_of(connection, kind, expression_id)

        await self.remove(Actor(principal.user_id, reason), kind, guild_id, expression_id, first, guard=principal.guard)

    async def remove(
        self,
        actor: Actor,
        kind: str,
        guild_id: int,
        expression_id: int,
        first: Callable[[sqlite3.Connection], None],
        *,
        guard: Guard,
    ) -> None:
        """Delete an expression, without regard to the actor's rights; `first` runs in the same unit before.

        :raises ApiError: UNKNOWN_EMOJI, UNKNOWN_STICKER.
        """

        def unit(connection: sqlite3.Connection) -> _ExpressionChange:
            before = _stored(connection, kind, guild_id, expression_id)
            first(connection)
            expressions.delete(connection, expression_id)
            entry = self._record(connection, KINDS[kind].deleted, actor, before, None)
            return _ExpressionChange(guild_id, expressions.of_guild(connection, guild_id), [entry])

        await self._core.database.write(unit, lambda written: self._announce(kind, written), guard=guard)

    # Inside

    def _changeable(
        self, principal: Principal, kind: str, guild_id: int, expression_id: int, *, purge: bool = False
    ) -> GuildAccess:
        access = self._core.access.guild(principal, guild_id)
        if purge and GuildFeature.EXPRESSION_PURGE_ALLOWED not in access.state.guild.features:
            raise ApiError(ErrorCode.MISSING_ACCESS)
        known = next((entry for entry in access.state.expressions(kind) if entry.id == expression_id), None)
        if known is None:
            raise ApiError(KINDS[kind].unknown)
        is_own = known.user_id == principal.user_id and access.permissions & Permission.CREATE_EXPRESSIONS
        return access if is_own else self._core.access.guild(principal, guild_id, Permission.MANAGE_EXPRESSIONS)

    async def _made(self, principal: Principal, kind: str, guild_id: int, new: NewExpression) -> _PreparedExpression:
        self._require_unblocked(new.name, new.description, *new.tags)
        expression_id = self._core.snowflakes()
        image = await self._media.prepare(kind, expression_id, new.image, path="image", guard=principal.guard)
        user_id, animated = principal.user_id, image.is_animated
        return _PreparedExpression(
            Expression(expression_id, kind, guild_id, user_id, new.name, animated, new.description, new.tags), image
        )

    async def _add(
        self,
        principal: Principal,
        kind: str,
        guild_id: int,
        made: Sequence[_PreparedExpression],
        reason: str | None,
        *,
        some: bool,
    ) -> int:
        """Write all of them, or with `some` as many as the guild has room for; returns how many were left out."""
        actor = Actor(principal.user_id, reason)

        def unit(connection: sqlite3.Connection) -> _ExpressionChange:
            room = self._room(connection, kind, guild_id)
            if room < (1 if some else len(made)):
                raise ApiError(KINDS[kind].full)
            taken = made[:room]
            for entry in taken:
                expressions.insert(connection, entry.expression)
                images.store(connection, entry.image)
            entries = [self._record(connection, KINDS[kind].created, actor, None, entry.expression) for entry in taken]
            return _ExpressionChange(
                guild_id, expressions.of_guild(connection, guild_id), entries, refused=len(made) - len(taken)
            )

        async with self._media.kept(*(entry.image for entry in made), guard=principal.guard):
            written = await self._core.database.write(
                unit, lambda written: self._announce(kind, written), guard=principal.guard
            )
        return written.refused

    def _room(self, connection: sqlite3.Connection, kind: str, guild_id: int) -> int:
        """How many more the guild may have."""
        guild = require_guild(connection, guild_id)
        limits = self._core.settings.limits
        slots = limits.max_guild_emojis if kind == EMOJIS else limits.max_guild_stickers
        if KINDS[kind].unlimited in guild.features:
            slots = UNLIMITED_SLOTS
        present = sum(entry.kind == kind for entry in expressions.of_guild(connection, guild_id))
        return max(slots - present, 0)

    def _require_unblocked(self, *texts: str) -> None:
        for text in texts:
            self._core.blocked.require_text(text)

    def _record(
        self,
        connection: sqlite3.Connection,
        action: AuditAction,
        actor: Actor,
        before: Expression | None,
        after: Expression | None,
    ) -> AuditLogEntry | None:
        expression = after or before
        assert expression is not None, "a change has a before or an after"  # noqa: S101
        return self._core.audit_log.record_change(
            connection, expression.guild_id, action, actor, expression.id, _logged(before), _logged(after)
        )

    def _announce(self, kind: str, written: _ExpressionChange) -> None:
        state = self._core.guild_states.get(written.guild_id)
        if state is None:
            return
        state.put_expressions(written.present)
        data = {"guild_id": str(written.guild_id), kind: state.expression_objects(kind)}
        self._core.bus.publish(Event(KINDS[kind].event, data, ToGuild(written.guild_id)))
        self._core.audit_log.publish(*written.entries)


def _stored(connection: sqlite3.Connection, kind: str, guild_id: int, expression_id: int) -> Expression:
    """The expression at the moment of writing."""
    found = expressions.by_id(connection, kind, expression_id)
    if found is None or found.guild_id != guild_id:
        raise ApiError(KINDS[kind].unknown)
    return found


def _logged(expression: Expression | None) -> Mapping[str, object]:
    if expression is None:
        return {}
    data: dict[str, object] = {"name": expression.name, "animated": expression.animated}
    if expression.kind == STICKERS:
        data |= {"description": expression.description, "tags": list(expression.tags)}
    return data
