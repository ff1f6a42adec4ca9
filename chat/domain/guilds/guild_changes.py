"""Modify guild (guilds.md, Modify guild): every field is judged before anything is written, and all are written
together, icon, banner and splashes too (guilds.md, Guild images). Other changes of a guild's row are written and
announced here as well."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.bus import GuildAvailabilityChanged, GuildChannelsChanged, GuildStateChanged
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.guilds import guild_changes
from chat.domain.guilds.channel_fields import plain_name
from chat.domain.guilds.guilds import normalised_name
from chat.domain.policy import images
from chat.domain.policy.changes import without_repeated
from chat.domain.policy.images import PreparedImage
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.policy.message_ages import wrong_age
from chat.domain.signing_in.sudo import SecondFactors, SudoMode, SudoProof
from chat.domain.standing.access import GuildAccess, require_guild, require_seen
from chat.domain.standing.audit_log import Actor, changes_between
from chat.domain.standing.guild_events import guild_updated
from chat.domain.standing.guild_objects import guild_object
from chat.domain.standing.guild_states import Channel, GuildState
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import SYSTEM_CHANNEL_TYPES, ChannelType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.guild_features import TOGGLEABLE_GUILD_FEATURES, UNAVAILABLE_GUILD_FEATURES, GuildFeature
from chat.registries.guild_values import ContentWarningLevel, NsfwLevel, SystemChannelFlag, VerificationLevel
from chat.registries.permissions import Permission
from chat.store.guard import Guard
from chat.store.guilds import channels, guilds
from chat.store.guilds.guilds import Guild
from chat.store.standing.guild_audit_log import AuditLogEntry


@frozen
class _Rules:
    """The rules for one image field."""

    kind: str
    feature: GuildFeature | None = None
    without_feature: FieldCode = FieldCode.INVALID_IMAGE_FORMAT
    """The field code of an image in a guild that lacks the feature."""
    animated_feature: GuildFeature | None = None
    without_animated_feature: FieldCode = FieldCode.INVALID_IMAGE_FORMAT
    still: bool = False
    """Whether an image that moves is none."""
    measured: bool = True
    """Whether the guild keeps its width and height."""


GUILD_IMAGES: Final[Mapping[str, _Rules]] = {
    "icon": _Rules(images.ICONS, measured=False),
    "banner": _Rules(
        images.BANNERS,
        GuildFeature.BANNER,
        FieldCode.GUILD_BANNER_REQUIRES_FEATURE,
        GuildFeature.ANIMATED_BANNER,
        FieldCode.ANIMATED_GUILD_BANNER_REQUIRES_FEATURE,
    ),
    "splash": _Rules(images.SPLASHES, GuildFeature.INVITE_SPLASH, FieldCode.INVITE_SPLASH_REQUIRES_FEATURE, still=True),
    "embed_splash": _Rules(
        images.EMBED_SPLASHES, GuildFeature.INVITE_SPLASH, FieldCode.EMBED_SPLASH_REQUIRES_FEATURE, still=True
    ),
}
"""The image fields of Modify guild by name."""


@frozen
class GuildImageChanges:
    """The image fields of one request, judged: None for an image that goes."""

    by_field: Mapping[str, PreparedImage | None]
    errors: tuple[FieldError, ...] = ()

    @property
    def prepared(self) -> list[PreparedImage]:
        """The images that come."""
        return [image for image in self.by_field.values() if image is not None]

    def columns(self) -> dict[str, str | int | None]:
        columns: dict[str, str | int | None] = {}
        for field, image in self.by_field.items():
            columns[field] = None if image is None else image.hash
            if GUILD_IMAGES[field].measured:
                columns[f"{field}_width"] = None if image is None else image.asset.width
                columns[f"{field}_height"] = None if image is None else image.asset.height
        return columns

    def without_repeated(self, known: Guild) -> GuildImageChanges:
        """The images without those that the guild was known to have before."""
        return GuildImageChanges(
            {
                field: image
                for field, image in self.by_field.items()
                if (None if image is None else image.hash) != getattr(known, field)
            },
            self.errors,
        )

    def store(self, connection: sqlite3.Connection, before: Guild) -> None:
        """In a unit of writing: new images take the place of old ones, or nothing does.

        :raises InvalidFormBody: where the guild has lost a feature meanwhile.
        """
        errors = [error for field in self.by_field for error in self._refused(before, field)]
        if errors:
            raise InvalidFormBody(errors)
        for field, image in self.by_field.items():
            replaced = getattr(before, field)
            if image is None:
                images.remove(connection, GUILD_IMAGES[field].kind, before.id, replaced)
            else:
                images.store(connection, image, replaces=replaced)

    def _refused(self, guild: Guild, field: str) -> list[FieldError]:
        image = self.by_field[field]
        code = None if image is None else _lacking(guild, GUILD_IMAGES[field], is_animated=image.is_animated)
        return [] if code is None else [FieldError(field, code)]


async def judged(media: MediaLibrary, guild: Guild, fields: Mapping[str, Any], guard: Guard) -> GuildImageChanges:
    """The image fields among `fields`, looked at. An empty text counts as null (http.md, Empty values)."""
    by_field: dict[str, PreparedImage | None] = {}
    errors: list[FieldError] = []
    for field in GUILD_IMAGES.keys() & fields.keys():
        try:
            by_field[field] = await _image(media, guild, field, fields[field], guard)
        except InvalidFormBody as refused:
            errors.extend(refused.errors)
    return GuildImageChanges(by_field, tuple(errors))


async def _image(media: MediaLibrary, guild: Guild, field: str, text: str | None, guard: Guard) -> PreparedImage | None:
    if not text:
        return None
    rules = GUILD_IMAGES[field]
    code = _lacking(guild, rules, is_animated=False)
    if code is None:
        image = await media.prepare(rules.kind, guild.id, text, path=field, still=rules.still, guard=guard)
        code = _lacking(guild, rules, is_animated=image.is_animated)
        if code is None:
            return image
    raise InvalidFormBody.at(field, code)


def _lacking(guild: Guild, rules: _Rules, *, is_animated: bool) -> FieldCode | None:
    """The field code for an image that the guild's features do not allow."""
    if rules.feature is not None and rules.feature not in guild.features:
        return rules.without_feature
    if is_animated and rules.animated_feature is not None and rules.animated_feature not in guild.features:
        return rules.without_animated_feature
    return None


SYSTEM_CHANNEL_FLAGS: Final = sum(flag.value for flag in SystemChannelFlag)
CONTENT_WARNING: Final = ContentWarningLevel.CONTENT_WARNING.value
"""The only content warning level besides none."""

CHANNEL_MEMBERS: Final = frozenset({"system_channel_id", "afk_channel_id"})
"""Members of the body that name channels."""

JUDGED_APART: Final = frozenset({"nsfw", "nsfw_level", *GUILD_IMAGES})
"""Members of the body that are no columns as they are."""

NEVER_LOGGED: Final = frozenset({"id", "created_at", "member_count"})
"""Columns that are no business of the audit log."""

UNLOGGED: Final = frozenset(f"{name}_{side}" for name in GUILD_IMAGES for side in ("width", "height"))
"""Differences that alone are not worth an entry (guilds.md, Audit log)."""

SNOWFLAKES: Final = ("owner_id", "system_channel_id", "rules_channel_id", "afk_channel_id")
"""Columns that hold snowflakes."""


@frozen
class JudgedFields:
    """Fields of a guild that can be written as they are here: columns, and images that come or go. What was only
    repeated is not among them."""

    columns: Mapping[str, Any]
    pictures: GuildImageChanges
    known: Guild
    """The guild that they were judged for; it may be another one by now."""


@frozen
class ChangedGuild:
    before: Guild
    after: Guild
    renamed: tuple[Channel, ...]
    entry: AuditLogEntry | None


@define(kw_only=True, eq=False)
class GuildChanges:
    _core: Core
    _factors: SecondFactors
    _sudo: SudoMode
    _media: MediaLibrary

    async def modify(
        self,
        principal: Principal,
        guild_id: int,
        fields: Mapping[str, Any],
        proof: SudoProof,
        reason: str | None = None,
    ) -> wire.Guild:
        """Change the named fields; returns the guild object, also without any difference.

        `fields` holds members of the request's body by name, well-formed each for itself.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD; CONTENT_BLOCKED, SUDO_MODE_REQUIRED,
            MISSING_PERMISSIONS (`mfa_level` changed by another than the owner; a channel that the caller does not see).
        :raises InvalidFormBody: with every field that cannot be taken.
        :raises StorageUnavailable: when an image cannot be written.
        """
        access = self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD)
        for name in CHANNEL_MEMBERS:
            if fields.get(name) != getattr(access.state.guild, name):
                require_seen(access.state, principal.user_id, fields.get(name))
        if fields.get("mfa_level", access.state.guild.mfa_level) != access.state.guild.mfa_level:
            await self._require_mfa_level_change(principal, access, proof)
        judged = await self.judged(access.state, fields, guard=principal.guard)

        def unit(connection: sqlite3.Connection) -> ChangedGuild:
            changed = self.write(connection, guild_id, judged, Actor(principal.user_id, reason))
            if "mfa_level" in judged.columns and changed.before.owner_id != principal.user_id:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            return changed

        async with self._media.kept(*judged.pictures.prepared, guard=principal.guard):
            changed = await self._core.database.write(unit, self.announce, guard=principal.guard)
        return guild_object(changed.after)

    async def judged(self, state: GuildState, fields: Mapping[str, Any], *, guard: Guard) -> JudgedFields:
        """The named fields as they would be written.

        :raises ApiError: CONTENT_BLOCKED.
        :raises InvalidFormBody: with every field that cannot be taken.
        :raises StorageUnavailable: when an image cannot be written.
        """
        known = state.guild
        pictures = await guild_changes.judged(self._media, known, fields, guard)
        columns = without_repeated(known, self._judged(known, state.channels, fields, pictures.errors))
        pictures = pictures.without_repeated(known)
        return JudgedFields({**columns, **pictures.columns()}, pictures, known)

    def write(
        self,
        connection: sqlite3.Connection,
        guild_id: int,
        judged: JudgedFields,
        actor: Actor,
        further: Callable[[Guild, Guild], Guild] = lambda before, after: after,
    ) -> ChangedGuild:
        """In a unit of writing: write the fields, and what `further` makes of the guild, of what it was and what it is
        with the fields; hand the result to `announce` after the commit.

        :raises ApiError: UNKNOWN_GUILD, and what `further` raises.
        :raises InvalidFormBody: where a channel, or a feature that an image needs, has gone meanwhile.
        """
        before = require_guild(connection, guild_id)
        _require_channels(connection, guild_id, judged.columns)
        if "verification_level" in judged.columns:
            _require_level(before, judged.columns["verification_level"])
        judged.pictures.store(connection, before)
        after = attrs.evolve(before, **judged.columns)
        if "features" in judged.columns:
            wanted = judged.columns["features"]
            after = attrs.evolve(after, features=_features_after(before.features, judged.known.features, wanted))
        return self.replace(connection, before, further(before, after), actor)

    def replace(self, connection: sqlite3.Connection, before: Guild, after: Guild, actor: Actor) -> ChangedGuild:
        """In a unit of writing: store a guild in place of what it was; hand the result to `announce` after the
        commit."""
        renamed = _renamed(connection, before, after)
        for channel in renamed:
            channels.replace(connection, channel)
        entry = None
        if after != before:
            guilds.replace(connection, after)
            changes = changes_between(logged(before), logged(after))
            if any(change["key"] not in UNLOGGED for change in changes):
                entry = self._core.audit_log.record(
                    connection, after.id, AuditAction.GUILD_UPDATE, actor, target_id=after.id, changes=changes
                )
        return ChangedGuild(before, after, renamed, entry)

    async def _require_mfa_level_change(self, principal: Principal, access: GuildAccess, proof: SudoProof) -> None:
        """Sudo mode first, then ownership, then a second factor (guilds.md, Modify guild)."""
        await self._sudo.require(principal.account, proof)
        if access.state.guild.owner_id != principal.user_id:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        if not self._factors.held(principal.account).any:
            raise InvalidFormBody.at("mfa_level", FieldCode.MUST_ENABLE_2FA_BEFORE_REQUIRING_FOR_MODS)

    def _judged(
        self,
        guild: Guild,
        present: Mapping[int, Channel],
        fields: Mapping[str, Any],
        wrong_images: Iterable[FieldError],
    ) -> dict[str, object]:
        """The columns that change, images apart. Raises InvalidFormBody with all that is wrong, or CONTENT_BLOCKED."""
        errors = list(wrong_images)
        changes = {name: value for name, value in fields.items() if name not in JUDGED_APART}
        for name in ("name", "features", "verification_level", "message_history_cutoff", "message_retention_days"):
            if name in changes:
                try:
                    changes[name] = getattr(self, f"_{name}")(guild, changes[name])
                except InvalidFormBody as refused:
                    errors.extend(refused.errors)
        if "system_channel_flags" in changes:
            changes["system_channel_flags"] &= SYSTEM_CHANNEL_FLAGS
        if "content_warning_level" in changes:
            level = changes["content_warning_level"]
            changes["content_warning_level"] = level if level == CONTENT_WARNING else 0
        if changes.get("content_warning_text") is not None:
            changes["content_warning_text"] = changes["content_warning_text"].strip() or None
        changes.update(_nsfw(guild, fields))
        errors.extend(_wrong_channels(present, changes))
        if errors:
            raise InvalidFormBody(errors)
        for name in ("name", "content_warning_text"):
            if changes.get(name) is not None:
                self._core.blocked.require_text(changes[name])
        return changes

    # One field each: what is stored of what was asked for

    def _name(self, guild: Guild, value: str) -> str:
        return normalised_name(value)

    def _features(self, guild: Guild, value: list[str]) -> frozenset[str]:
        wanted = frozenset(value)
        if wanted - guild.features - TOGGLEABLE_GUILD_FEATURES:
            raise InvalidFormBody.at("features", FieldCode.GUILD_FEATURE_NOT_TOGGLEABLE)
        return wanted

    def _verification_level(self, guild: Guild, value: int) -> int:
        level = min(value, VerificationLevel.HIGH.value)
        _require_level(guild, level)
        return level

    def _message_history_cutoff(self, guild: Guild, value: int | None) -> int | None:
        if value is not None:
            if value < guild.created_at:
                raise InvalidFormBody.at(
                    "message_history_cutoff", FieldCode.MESSAGE_HISTORY_CUTOFF_BEFORE_GUILD_CREATION
                )
            if value > self._core.clock.now_ms():
                raise InvalidFormBody.at("message_history_cutoff", FieldCode.MESSAGE_HISTORY_CUTOFF_IN_FUTURE)
        return value

    def _message_retention_days(self, guild: Guild, value: int | None) -> int | None:
        wrong = wrong_age(self._core.settings.retention, value)
        if wrong and value != guild.message_retention_days:  # that was chosen before the bounds were changed
            raise InvalidFormBody(wrong)
        return value

    def announce(self, changed: ChangedGuild) -> None:
        """After the commit: publish Guild Update and the events that follow from the change."""
        before, after = changed.before, changed.after
        guild_id = after.id
        state = self._core.guild_states.get(guild_id)
        if state is None:
            return
        state.put_guild(changed.after)
        for channel in changed.renamed:
            state.put_channel(channel)
        self._core.bus.publish(guild_updated(state))
        if (before.message_history_cutoff, before.owner_id) != (after.message_history_cutoff, after.owner_id):
            self._core.bus.publish(GuildStateChanged(guild_id))
        if changed.renamed:
            self._core.bus.publish(GuildChannelsChanged(guild_id))
        if changes_availability(before, after):
            self._core.bus.publish(GuildAvailabilityChanged(guild_id))
        self._core.audit_log.publish(changed.entry)


def _require_channels(connection: sqlite3.Connection, guild_id: int, changes: Mapping[str, Any]) -> None:
    """Raise InvalidFormBody, unless the channels that are named are there at the moment of writing."""
    if CHANNEL_MEMBERS & changes.keys():
        present = {channel.id: channel for channel in channels.of_guild(connection, guild_id)}
        errors = _wrong_channels(present, changes)
        if errors:
            raise InvalidFormBody(errors)


def changes_availability(before: Guild, after: Guild) -> bool:
    """Whether the guild is closed to others than before, or its being closed is told differently (guilds.md, Guild
    features)."""
    changed = before.features ^ after.features
    is_closed = not UNAVAILABLE_GUILD_FEATURES.isdisjoint(after.features)
    return bool(changed & UNAVAILABLE_GUILD_FEATURES) or (is_closed and GuildFeature.UNAVAILABLE_HIDDEN in changed)


def _require_level(guild: Guild, level: int) -> None:
    if GuildFeature.DISCOVERABLE in guild.features and level < VerificationLevel.LOW:
        raise InvalidFormBody.at("verification_level", FieldCode.DISCOVERABLE_GUILD_VERIFICATION_LEVEL_TOO_LOW)


def _features_after(before: frozenset[str], known: frozenset[str], wanted: frozenset[str]) -> frozenset[str]:
    """The set with what is wanted beyond what was known, and without what was known and is not wanted; what cannot be
    toggled is left as it is (guilds.md, Modify guild)."""
    toggleable = frozenset(str(feature) for feature in TOGGLEABLE_GUILD_FEATURES)
    return (before - (toggleable & known - wanted)) | (toggleable & wanted - known)


def _nsfw(guild: Guild, fields: Mapping[str, object]) -> Mapping[str, object]:
    """The value that `nsfw` and the older `nsfw_level` give together; `nsfw` wins (guilds.md, Modify guild)."""
    if "nsfw" in fields:
        return {"nsfw": fields["nsfw"]}
    if "nsfw_level" not in fields:
        return {}
    changes: dict[str, object] = {"nsfw": fields["nsfw_level"] == NsfwLevel.AGE_RESTRICTED}
    if changes["nsfw"] and "content_warning_level" not in fields and guild.content_warning_level == 0:
        changes["content_warning_level"] = CONTENT_WARNING
    return changes


def _wrong_channels(present: Mapping[int, Channel], changes: Mapping[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, types, prefix, wanted in (
        ("system_channel_id", SYSTEM_CHANNEL_TYPES, "SYSTEM_CHANNEL_MUST_BE", "TEXT"),
        ("afk_channel_id", frozenset({ChannelType.GUILD_VOICE}), "AFK_CHANNEL_MUST_BE", "VOICE"),
    ):
        channel_id = changes.get(name)
        if channel_id is None:
            continue
        channel = present.get(channel_id)
        if channel is None:
            errors.append(FieldError(name, FieldCode[f"{prefix}_IN_GUILD"]))
        elif channel.type not in types:
            errors.append(FieldError(name, FieldCode[f"{prefix}_{wanted}"]))
    return errors


def _renamed(connection: sqlite3.Connection, before: Guild, after: Guild) -> tuple[Channel, ...]:
    """The channels that get a plain name because the guild loses flexible names; forums and media channels keep theirs
    until their next change (guilds.md, Modify guild)."""
    flexible = GuildFeature.TEXT_CHANNEL_FLEXIBLE_NAMES
    if flexible not in before.features or flexible in after.features:
        return ()
    held = (channel for channel in channels.of_guild(connection, after.id) if channel.type in SYSTEM_CHANNEL_TYPES)
    plain = ((channel, plain_name(channel.name or "")) for channel in held)
    return tuple(attrs.evolve(channel, name=name) for channel, name in plain if name and name != channel.name)


def logged(guild: Guild) -> Mapping[str, object]:
    """A guild as the audit log compares it: every column but a few, snowflakes as text (guilds.md, Audit log)."""
    cutoff = guild.message_history_cutoff
    columns = attrs.asdict(guild, recurse=False, filter=lambda column, _: column.name not in NEVER_LOGGED)
    return {
        **{f"{name}_hash" if name in GUILD_IMAGES else name: value for name, value in columns.items()},
        **{name: None if columns[name] is None else str(columns[name]) for name in SNOWFLAKES},
        "features": sorted(guild.features),
        "nsfw_level": int(NsfwLevel.AGE_RESTRICTED if guild.nsfw else NsfwLevel.SAFE),
        "message_history_cutoff": None if cutoff is None else iso_timestamp(cutoff),
    }
