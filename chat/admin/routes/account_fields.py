"""Operations on the field groups of an account (administration.md, Account fields)."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Final, Literal

import attrs

from chat import wire
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import FlagBits, Items, Length, Pattern, Range, Refusal, Schema, Trimmed
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import ACLS_MAXIMUM, Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import FieldCode

routes = AdminRoutes()

FLAGS_MAXIMUM = 64
"""Entries of a list of flags (administration.md, Account fields)."""

TRAITS_MAXIMUM = 100
TRAIT_LENGTH = 128
PROFILE_FIELDS_MAXIMUM = 10
EMAIL_LENGTH = 254
PREMIUM_FLAGS_LARGEST = (1 << 32) - 1


class Date:
    """YYYY-MM-DD, a day that there is."""

    schema: Final[Schema] = {"format": "date"}

    def check(self, value: str) -> None:
        try:
            if datetime.date.fromisoformat(value).isoformat() == value:
                return
        except ValueError:
            pass
        raise Refusal(FieldCode.INVALID_DATE_OF_BIRTH_FORMAT)


@frozen
class ChangeUsername:
    """The body of PATCH …/username."""

    username: str
    discriminator: Annotated[str, Pattern(re.compile(r"[0-9]{1,4}", re.ASCII), FieldCode.INVALID_FORMAT)] | None = None


@frozen
class ChangeEmail:
    """The body of PATCH …/email."""

    email: Annotated[str, Trimmed(), Length(1, EMAIL_LENGTH, FieldCode.EMAIL_LENGTH_INVALID)]


@frozen
class ChangeDateOfBirth:
    """The body of PATCH …/date-of-birth."""

    date_of_birth: Annotated[str, Date()]


@frozen
class ClearFields:
    """The body of DELETE …/profile-fields."""

    fields: Annotated[
        list[Literal["avatar", "banner", "bio", "pronouns", "global_name"]], Items(0, PROFILE_FIELDS_MAXIMUM)
    ]


@frozen
class SetBot:
    """The body of PUT …/bot-status."""

    bot: bool


@frozen
class SetSystem:
    """The body of PUT …/system-status."""

    system: bool


@frozen
class SetAcls:
    """The body of PUT …/acls."""

    acls: Annotated[list[Acl], Items(0, ACLS_MAXIMUM)]


@frozen
class SetTraits:
    """The body of PUT …/traits."""

    traits: Annotated[list[Annotated[str, Length(1, TRAIT_LENGTH)]], Items(0, TRAITS_MAXIMUM)]


@frozen
class UpdateFlags:
    """The body of PATCH …/flags."""

    add_flags: Annotated[list[FlagBits], Items(0, FLAGS_MAXIMUM)] = attrs.field(factory=list)
    remove_flags: Annotated[list[FlagBits], Items(0, FLAGS_MAXIMUM)] = attrs.field(factory=list)


PremiumFlags = Annotated[list[Annotated[int, Range(0, PREMIUM_FLAGS_LARGEST)]], Items(0, FLAGS_MAXIMUM)]


@frozen
class UpdatePremiumFlags:
    """The body of PATCH …/premium-flags."""

    add_flags: PremiumFlags = attrs.field(factory=list)
    remove_flags: PremiumFlags = attrs.field(factory=list)


@routes.admin_operation(
    "PATCH", "/v1/admin/users/{user_id}/username", [Acl.USER_UPDATE_USERNAME], AdminAction.CHANGE_USERNAME
)
async def change_username(
    request: Request, administration: AdministrationArea, user_id: int, body: ChangeUsername
) -> wire.AdminUserAnswer:
    """Give an account another tag."""
    number = None if body.discriminator is None else int(body.discriminator)
    accounts = administration.accounts
    return {"user": await accounts.change_username(acting(request), user_id, body.username, number)}


@routes.admin_operation("PATCH", "/v1/admin/users/{user_id}/email", [Acl.USER_UPDATE_EMAIL], AdminAction.CHANGE_EMAIL)
async def change_email(
    request: Request, administration: AdministrationArea, user_id: int, body: ChangeEmail
) -> wire.AdminUserAnswer:
    """Give an account another address."""
    accounts = administration.accounts
    return {"user": await accounts.change_email(acting(request), user_id, body.email)}


@routes.admin_operation(
    "PUT", "/v1/admin/users/{user_id}/email-verification", [Acl.USER_UPDATE_EMAIL], AdminAction.VERIFY_EMAIL
)
async def verify_email(request: Request, administration: AdministrationArea, user_id: int) -> wire.AdminUserAnswer:
    """Take an account's address for verified."""
    return {"user": await administration.accounts.verify_email(acting(request), user_id)}


@routes.admin_operation(
    "PATCH", "/v1/admin/users/{user_id}/date-of-birth", [Acl.USER_UPDATE_DOB], AdminAction.CHANGE_DOB
)
async def change_date_of_birth(
    request: Request, administration: AdministrationArea, user_id: int, body: ChangeDateOfBirth
) -> wire.AdminUserAnswer:
    """Give an account another date of birth."""
    accounts = administration.accounts
    return {"user": await accounts.change_date_of_birth(acting(request), user_id, body.date_of_birth)}


@routes.admin_operation(
    "DELETE", "/v1/admin/users/{user_id}/profile-fields", [Acl.USER_UPDATE_PROFILE], AdminAction.CLEAR_FIELDS
)
async def clear_profile_fields(
    request: Request, administration: AdministrationArea, user_id: int, body: ClearFields
) -> wire.AdminUserAnswer:
    """Clear parts of an account's profile."""
    return {"user": await administration.accounts.clear_fields(acting(request), user_id, body.fields)}


@routes.admin_operation(
    "PUT", "/v1/admin/users/{user_id}/bot-status", [Acl.USER_UPDATE_BOT_STATUS], AdminAction.SET_BOT_STATUS
)
async def set_bot_status(
    request: Request, administration: AdministrationArea, user_id: int, body: SetBot
) -> wire.AdminUserAnswer:
    """Make an account a bot's or a person's."""
    return {"user": await administration.accounts.set_bot(acting(request), user_id, bot=body.bot)}


@routes.admin_operation(
    "PUT", "/v1/admin/users/{user_id}/system-status", [Acl.USER_UPDATE_BOT_STATUS], AdminAction.SET_SYSTEM_STATUS
)
async def set_system_status(
    request: Request, administration: AdministrationArea, user_id: int, body: SetSystem
) -> wire.AdminUserAnswer:
    """Mark a bot as the system's, or take the mark away."""
    accounts = administration.accounts
    return {"user": await accounts.set_system(acting(request), user_id, system=body.system)}


@routes.admin_operation("PUT", "/v1/admin/users/{user_id}/acls", [Acl.ACL_SET_USER], AdminAction.SET_ACLS)
async def set_acls(
    request: Request, administration: AdministrationArea, user_id: int, body: SetAcls
) -> wire.AdminUserAnswer:
    """Replace what an account may do as an administrator."""
    accounts = administration.accounts
    return {"user": await accounts.set_acls(acting(request), user_id, tuple(map(str, body.acls)))}


@routes.admin_operation("PUT", "/v1/admin/users/{user_id}/traits", [Acl.USER_UPDATE_TRAITS], AdminAction.SET_TRAITS)
async def set_traits(
    request: Request, administration: AdministrationArea, user_id: int, body: SetTraits
) -> wire.AdminUserAnswer:
    """Replace an account's traits."""
    return {"user": await administration.accounts.set_traits(acting(request), user_id, body.traits)}


@routes.admin_operation("PATCH", "/v1/admin/users/{user_id}/flags", [Acl.USER_UPDATE_FLAGS], AdminAction.UPDATE_FLAGS)
async def update_flags(
    request: Request, administration: AdministrationArea, user_id: int, body: UpdateFlags
) -> wire.AdminUserAnswer:
    """Set and clear bits of an account's flags."""
    accounts = administration.accounts
    return {"user": await accounts.update_flags(acting(request), user_id, body.add_flags, body.remove_flags)}


@routes.admin_operation(
    "PATCH", "/v1/admin/users/{user_id}/premium-flags", [Acl.USER_UPDATE_FLAGS], AdminAction.UPDATE_PREMIUM_FLAGS
)
async def update_premium_flags(
    request: Request, administration: AdministrationArea, user_id: int, body: UpdatePremiumFlags
) -> wire.AdminUserAnswer:
    """Set and clear bits of an account's premium flags."""
    accounts = administration.accounts
    return {"user": await accounts.update_premium_flags(acting(request), user_id, body.add_flags, body.remove_flags)}
