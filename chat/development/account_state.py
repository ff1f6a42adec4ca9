"""Account state on demand, past the rules (development.md, Development routes)."""

from __future__ import annotations

import datetime
import ipaddress
import re
import sqlite3
from typing import Annotated, Any, Final

import attrs

from chat.api.fields import OMITTED, FlagBits, Items, Length, Maybe, Omitted, Pattern, Refusal, Timestamp
from chat.development.parts import Development
from chat.domain.administration.admin_users import admin_user
from chat.domain.standing.verification import holder_of_factors
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.user_flags import PremiumType, UserFlag
from chat.store.accounts import accounts, user_settings
from chat.store.accounts.accounts import Account
from chat.store.guard import UNGUARDED

EMAIL_CHARACTERS: Final = 254
NAMES_MAXIMUM: Final = 106
"""ACLs of an account at most (administration.md, ACLs); for traits it is as good."""


class _DateOfBirth:
    """YYYY-MM-DD."""

    def check(self, value: str) -> None:
        try:
            if datetime.date.fromisoformat(value).isoformat() == value:
                return
        except ValueError:
            pass
        raise Refusal(FieldCode.INVALID_DATE_OF_BIRTH_FORMAT)


class _Address:
    def check(self, value: str) -> None:
        try:
            ipaddress.ip_address(value)
        except ValueError:
            raise Refusal from None


Email = Annotated[
    str,
    Length(3, EMAIL_CHARACTERS, FieldCode.EMAIL_LENGTH_INVALID),
    Pattern(re.compile(r"[^@\s]+@[^@\s]+"), FieldCode.INVALID_EMAIL_ADDRESS),
]
Names = Annotated[tuple[Annotated[str, Length(1, 100)], ...], Items(0, NAMES_MAXIMUM)]


@attrs.frozen
class AccountChange:
    """What is to be different; omitted members keep what they are. Each is the column of its name."""

    flags: Maybe[FlagBits] = OMITTED
    email: Maybe[Email | None] = OMITTED
    email_verified: Maybe[bool] = OMITTED
    email_bounced: Maybe[bool] = OMITTED
    passkey_second_factor: Maybe[bool] = OMITTED
    premium_type: Maybe[PremiumType | None] = OMITTED
    acls: Maybe[Names] = OMITTED
    traits: Maybe[Names] = OMITTED
    created_at: Maybe[Timestamp] = OMITTED
    last_active_ip: Maybe[Annotated[str, _Address()] | None] = OMITTED
    global_name: Maybe[Annotated[str, Length(1, 32, FieldCode.GLOBAL_NAME_LENGTH_INVALID)] | None] = OMITTED
    avatar: Maybe[Annotated[str, Length(1, 128)] | None] = OMITTED
    date_of_birth: Maybe[Annotated[str, _DateOfBirth()] | None] = OMITTED
    temp_banned_until: Maybe[Timestamp | None] = OMITTED
    pending_bulk_message_deletion_at: Maybe[Timestamp | None] = OMITTED

    def applied_to(self, account: Account) -> Account:
        named = {name: getattr(self, name) for name in _NAMES}
        return attrs.evolve(account, **{name: value for name, value in named.items() if not isinstance(value, Omitted)})


_NAMES: Final = tuple(field.name for field in attrs.fields(AccountChange))


async def change_account(development: Development, user_id: int, change: AccountChange) -> dict[str, Any]:
    """Change the account and tell those who see it; returns the Admin user object.

    :raises ApiError: UNKNOWN_USER.
    :raises InvalidFormBody: EMAIL_ALREADY_IN_USE at `email`.
    """

    def write(connection: sqlite3.Connection) -> tuple[Account, Account]:
        before = accounts.by_id(connection, user_id)
        if before is None:
            raise ApiError(ErrorCode.UNKNOWN_USER)
        after = change.applied_to(before)
        holder = None if after.email is None else accounts.by_email_key(connection, after.email)
        if holder is not None and holder.id != user_id:
            raise InvalidFormBody.at("email", FieldCode.EMAIL_ALREADY_IN_USE)
        accounts.replace(connection, after)
        return before, after

    def then(changed: tuple[Account, Account]) -> None:
        before, after = changed
        for session in development.gateway.table.of_user(user_id):
            session.is_staff = bool(after.flags & UserFlag.STAFF)
        development.core.account_events.changed(before, after)
        development.areas.messages.own_message_deletion.look_again()

    _, account = await development.core.database.write(write, then, guard=UNGUARDED)
    locale = user_settings.of_user(development.core.database.reader, user_id).get("locale")
    holder = holder_of_factors(development.core.database.reader, account)
    return admin_user(account, locale=locale, factors_of=holder, now_ms=development.core.clock.now_ms())
