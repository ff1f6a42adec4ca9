"""Icon, banner and splashes of a guild, as Modify guild takes them (guilds.md, Guild images)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.domain.policy import images
from chat.domain.policy.images import PreparedImage
from chat.domain.policy.media_library import MediaLibrary
from chat.errors import FieldError, InvalidFormBody
from chat.registries.error_codes import FieldCode
from chat.registries.guild_features import GuildFeature
from chat.store.guard import Guard
from chat.store.guilds.guilds import Guild


@attrs.frozen
class _Rules:
    """What holds for one image field."""

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


@attrs.frozen
class GuildImageChanges:
    """The image fields of one request, judged: None for an image that goes."""

    by_field: Mapping[str, PreparedImage | None]
    errors: tuple[FieldError, ...] = ()

    @property
    def prepared(self) -> list[PreparedImage]:
        """The images that come."""
        return [image for image in self.by_field.values() if image is not None]

    def columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for field, image in self.by_field.items():
            columns[field] = None if image is None else image.hash
            if GUILD_IMAGES[field].measured:
                columns[f"{field}_width"] = None if image is None else image.asset.width
                columns[f"{field}_height"] = None if image is None else image.asset.height
        return columns

    def without_repeated(self, known: Guild) -> GuildImageChanges:
        """Those of the images that are not the ones that the guild was known to have."""
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
