"""What names, addresses, passwords and dates of birth an account may have (accounts.md, Names and tags), and whether it
is there at all.

Each function returns the value as it is stored, or raises the refusal at the field that it was given for.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from chat.auth.passwords import LONGEST, SHORTEST, is_too_common, prepared
from chat.domain.standing.user_objects import age_years
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.visible_text import tidy, trimmed
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts.accounts import Account

USERNAME_LENGTH: Final = 32
GLOBAL_NAME_LENGTH: Final = 32
EMAIL_LENGTH: Final = 254
MINIMUM_AGE_YEARS: Final = 13

NO_MAIL_DOMAINS: Final = ("invalid",)
"""Domains at which there is never mail (RFC 6761 6.4), nor below. Those of home networks are not among them: `local`,
`localhost`, `onion`, `test`."""

HOME_DOMAIN: Final = ".home.arpa"
"""The part of `arpa` that home networks use (RFC 8375); the rest of `arpa` holds numbers and no mailboxes."""

RESERVED_NAMES: Final = frozenset({"everyone", "here"})
"""Mentions that no account is called like."""

RESERVED_PARTS: Final = ("systemmessage",)
"""Words that no username may contain, nor may it contain the service's name."""

_USERNAME: Final = re.compile(r"[A-Za-z0-9_]*", re.ASCII)
_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]")


def username(value: str, *, service_name: str, path: str = "username") -> str:
    """A username: 1 to 32 letters, digits and underscores, free of reserved words.

    :raises InvalidFormBody: at `path`.
    """
    if not 1 <= len(value) <= USERNAME_LENGTH:
        raise InvalidFormBody.at(path, FieldCode.USERNAME_LENGTH_INVALID)
    if _USERNAME.fullmatch(value) is None:
        raise InvalidFormBody.at(path, FieldCode.USERNAME_INVALID_CHARACTERS)
    if value.casefold() in RESERVED_NAMES:
        raise InvalidFormBody.at(path, FieldCode.USERNAME_RESERVED_VALUE)
    bare = _bare(value)
    if any(part and part in bare for part in (*RESERVED_PARTS, _bare(service_name))):
        raise InvalidFormBody.at(path, FieldCode.USERNAME_CANNOT_CONTAIN_RESERVED_TERMS)
    return value


def username_from(text: str, *, service_name: str) -> str | None:
    """A username made of other text, such as a global name; None where nothing of it can be used."""
    plain = unicodedata.normalize("NFKD", text)
    kept = re.sub(r"[^A-Za-z0-9_]", "", re.sub(r"\s+", "_", plain.strip()))[:USERNAME_LENGTH]
    try:
        return username(kept, service_name=service_name)
    except InvalidFormBody:
        return None


def global_name(value: str | None, *, path: str = "global_name") -> str | None:
    """A display name: 1 to 32 characters after tidying up; nothing left of it means none.

    :raises InvalidFormBody: at `path`.
    """
    if value is None:
        return None
    name = tidy(value)
    if len(name) > GLOBAL_NAME_LENGTH:
        raise InvalidFormBody.at(path, FieldCode.GLOBAL_NAME_LENGTH_INVALID)
    if name.casefold() in RESERVED_NAMES:
        raise InvalidFormBody.at(path, FieldCode.GLOBAL_NAME_RESERVED_VALUE)
    return name or None


def email(value: str, *, path: str = "email") -> str:
    """An email address, without what surrounds it and cannot be seen; any domain is taken at which there may be mail,
    since an instance may live where no public name reaches.

    :raises InvalidFormBody: at `path`.
    """
    bare = trimmed(value)
    if len(bare) > EMAIL_LENGTH:
        raise InvalidFormBody.at(path, FieldCode.EMAIL_LENGTH_INVALID)
    address = _validated(bare)
    if address is None:
        raise InvalidFormBody.at(path, FieldCode.INVALID_EMAIL_ADDRESS)
    return address


def known_email(value: str) -> str:
    """The address of a sign-in in the form in which accounts store theirs. Text that is no address stays as it is,
    since no account has it."""
    bare = trimmed(value)
    if bare.isascii() and "xn--" not in bare.lower():
        return bare  # letter case alone may differ
    return _validated(bare) or bare


def _validated(value: str) -> str | None:
    """The address as it is stored; None for text that is no address."""
    import email_validator  # at the first address, not at the start

    email_validator.SPECIAL_USE_DOMAIN_NAMES[:] = NO_MAIL_DOMAINS  # the library means it to be set
    try:
        address = email_validator.validate_email(
            value, check_deliverability=False, test_environment=True, globally_deliverable=False
        )
    except email_validator.EmailNotValidError:
        return None
    domain = address.ascii_domain
    if domain.endswith(".arpa") and not f".{domain}".endswith(HOME_DOMAIN):
        return None
    return address.normalized


def password(value: str, *, names: Iterable[str | None] = (), path: str = "password") -> str:
    """A password to be set: 8 to 256 characters, not among the commonest, not one of the account's own names.

    :raises InvalidFormBody: at `path`.
    """
    if not SHORTEST <= len(prepared(value)) <= LONGEST:
        raise InvalidFormBody.at(path, FieldCode.PASSWORD_LENGTH_INVALID)
    if is_too_common(prepared(value), names):
        raise InvalidFormBody.at(path, FieldCode.PASSWORD_IS_TOO_COMMON)
    return value


def date_of_birth(value: str, *, now_ms: int, path: str = "date_of_birth") -> str:
    """A date of birth, YYYY-MM-DD, at least MINIMUM_AGE_YEARS before the moment (Unix milliseconds).

    :raises InvalidFormBody: at `path`.
    """
    try:
        valid = datetime.date.fromisoformat(value).isoformat() == value
    except ValueError:
        valid = False
    if not valid:
        raise InvalidFormBody.at(path, FieldCode.INVALID_DATE_OF_BIRTH_FORMAT)
    if age_years(value, now_ms) < MINIMUM_AGE_YEARS:
        raise InvalidFormBody.at(path, FieldCode.MUST_BE_MINIMUM_AGE)
    return value


def _bare(text: str) -> str:
    """Letters and digits only, in lower case: the form in which names are compared with reserved words."""
    return _NOT_ALPHANUMERIC.sub("", text.casefold())


def present(account: Account | None) -> Account:
    """The account, if it is not deleted (access.md, Account gates).

    Each operation that turns deleted accounts away asks here, not all operations: a session of a deleted account that
    is still there may read and write, but its password and its email address belong to no account any more.

    :raises ApiError: UNAUTHORIZED for an account that does not exist, ACCESS_DENIED for a deleted one.
    """
    if account is None:
        raise ApiError(ErrorCode.UNAUTHORIZED)
    if account.is_deleted:
        raise ApiError(ErrorCode.ACCESS_DENIED)
    return account
