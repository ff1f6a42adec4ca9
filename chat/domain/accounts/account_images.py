"""Avatar and banner of an account, and those that it shows in one guild instead (accounts.md, Account images)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

import attrs

from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.policy import images
from chat.domain.policy.changes import Columns
from chat.domain.policy.images import AVATARS, BANNERS, PreparedImage
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.standing.user_objects import has_premium
from chat.errors import FieldError, InvalidFormBody
from chat.registries.error_codes import FieldCode
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.guilds.members import Member

ACCOUNT_IMAGES: Final[Mapping[str, str]] = {"avatar": AVATARS, "banner": BANNERS}
"""The kind of asset behind each image field of an account."""


def member_images(guild_id: int) -> Mapping[str, str]:
    """The kinds of asset behind the image fields of an account's membership; they are the account's."""
    return {field: f"{kind} of guild {guild_id}" for field, kind in ACCOUNT_IMAGES.items()}


@frozen
class AccountImageChanges:
    """The image fields of one request, judged: None for an image that goes."""

    by_field: Mapping[str, PreparedImage | None] = attrs.Factory(dict)

    @property
    def prepared(self) -> list[PreparedImage]:
        """The images that come."""
        return [image for image in self.by_field.values() if image is not None]

    def columns(self) -> Columns:
        """The columns of the account that change."""
        return {field: None if image is None else image.hash for field, image in self.by_field.items()}

    def without_repeated(self, known: Account | Member) -> AccountImageChanges:
        """The images without those that the account was known to have before."""
        return AccountImageChanges(
            {
                field: image
                for field, image in self.by_field.items()
                if (None if image is None else image.hash) != getattr(known, field)
            }
        )

    def store(self, connection: sqlite3.Connection) -> None:
        """In a unit of writing, beside the account's own row: with a change of that, the store takes the image that was
        there before away."""
        for image in self.prepared:
            images.store(connection, image)


@define(kw_only=True, eq=False)
class AccountImages:
    """Takes avatars and banners; moving avatars, and banners, are for premium and for bots."""

    _core: Core
    media: MediaLibrary

    async def judged(
        self,
        account: Account,
        fields: Mapping[str, str | None],
        guard: Guard,
        kinds: Mapping[str, str] = ACCOUNT_IMAGES,
    ) -> AccountImageChanges:
        """The image fields, looked at; an empty text counts as null. `kinds` has the kind of asset of each.

        :raises InvalidFormBody: with every field that cannot be taken: ANIMATED_AVATARS_REQUIRE_PREMIUM,
            BANNERS_REQUIRE_PREMIUM, and as `MediaLibrary.prepare`.
        """
        by_field: dict[str, PreparedImage | None] = {}
        errors: list[FieldError] = []
        for field, text in fields.items():
            try:
                by_field[field] = await self._image(account, field, kinds[field], text, guard)
            except InvalidFormBody as refused:
                errors.extend(refused.errors)
        if errors:
            raise InvalidFormBody(errors)
        return AccountImageChanges(by_field)

    async def _image(
        self, account: Account, field: str, kind: str, text: str | None, guard: Guard
    ) -> PreparedImage | None:
        if not text:
            return None
        is_privileged = self._is_privileged(account)
        if field == "banner" and not is_privileged:
            raise InvalidFormBody.at(field, FieldCode.BANNERS_REQUIRE_PREMIUM)
        image = await self.media.prepare(kind, account.id, text, path=field, guard=guard)
        if image.is_animated and not is_privileged:
            raise InvalidFormBody.at(field, FieldCode.ANIMATED_AVATARS_REQUIRE_PREMIUM)
        return image

    def _is_privileged(self, account: Account) -> bool:
        everyone = self._core.settings.premium_mode == "everyone"
        return everyone or account.bot or has_premium(account, self._core.clock.now_ms())
