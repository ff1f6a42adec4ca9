"""Operations on accounts: reading, changing and closing one, and notes about others (accounts.md, Private user, Closing
an account; people.md, Notes)."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import OMITTED, Exact, Length, Maybe, Refusal, Schema, SudoFields, Trimmed
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.accounts.accounts import CredentialChange
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.policy.profiles import MARKS, TagChange
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.signing_in.email_change import AddressWish
from chat.errors import InvalidFormBody, RateLimited
from chat.protocol.whole_numbers import whole
from chat.registries.error_codes import FieldCode
from chat.registries.scopes import Scope

routes = Routes(policy=Policy.USER_ONLY)


PRONOUNS_LENGTH: Final = 40
COLOR_MAXIMUM: Final = 0xFFFFFF


class _AccentColor:
    """24 bits of red, green and blue."""

    schema: Final[Schema] = {"minimum": 0, "maximum": COLOR_MAXIMUM}

    def check(self, value: int) -> None:
        if value < 0:
            raise Refusal(FieldCode.COLOR_VALUE_TOO_LOW)
        if value > COLOR_MAXIMUM:
            raise Refusal(FieldCode.COLOR_VALUE_TOO_HIGH)


class _Discriminator:
    """One to four digits, as text or as a number."""

    schema: Final[Schema] = {
        "anyOf": [{"type": "string", "pattern": "^[0-9]{1,4}$"}, {"type": "integer", "minimum": 0, "maximum": 9_999}]
    }

    _digits = re.compile(r"[0-9]{1,4}", re.ASCII)

    def read(self, value: object) -> int:
        digits = whole(value)
        text = str(digits) if type(digits) in (int, str) else ""
        if self._digits.fullmatch(text) is None:
            raise Refusal(FieldCode.DISCRIMINATOR_INVALID_FORMAT)
        return int(text)


Color = Annotated[int, _AccentColor()]
Discriminator = Annotated[int, _Discriminator()]
Pronouns = Annotated[str, Length(1, PRONOUNS_LENGTH)]

PROFILE_FIELDS: Final = ("global_name", "bio", "pronouns", "accent_color", "avatar", "banner", "mention_flags")
"""Members of a change that are columns of the account by the same name."""


@frozen(kw_only=True)
class ChangeOwnAccount(SudoFields):
    """The body of PATCH /v1/users/@me."""

    username: str | None = None
    discriminator: Discriminator | None = None
    global_name: Maybe[str | None] = OMITTED
    bio: Maybe[str | None] = OMITTED
    pronouns: Maybe[Pronouns | None] = OMITTED
    accent_color: Maybe[Color | None] = OMITTED
    avatar: Maybe[Annotated[str, Exact()] | None] = attrs.field(default=OMITTED, repr=False)
    banner: Maybe[Annotated[str, Exact()] | None] = attrs.field(default=OMITTED, repr=False)
    mention_flags: Maybe[Literal[0, 1, 2]] = OMITTED
    premium_badge_hidden: bool | None = None
    premium_badge_masked: bool | None = None
    premium_badge_timestamp_hidden: bool | None = None
    premium_badge_sequence_hidden: bool | None = None
    has_dismissed_premium_onboarding: bool | None = None
    email: Annotated[str, Trimmed()] | None = None
    email_token: Annotated[str, Exact(), Length(1, 256)] | None = attrs.field(default=None, repr=False)
    new_password: Annotated[str, Exact()] | None = attrs.field(default=None, repr=False)


def profile_of(body: Any) -> dict[str, object]:
    """The profile columns that a body names, with their new values."""
    values = {name: getattr(body, name, OMITTED) for name in PROFILE_FIELDS}
    return {name: value for name, value in values.items() if value is not OMITTED}


@frozen
class WantedTag:
    """The query of GET /v1/users/check-tag."""

    username: Annotated[str, Length(1, 32)]
    discriminator: Discriminator


@routes.operation(
    "GET",
    "/v1/users/@me",
    policy=Policy.USER,
    scope=Scope.IDENTIFY,
    bucket=buckets.USER_OWN,
    kept=(),
)
async def get_own_account(request: Request, accounts: AccountsArea) -> wire.PrivateUser:
    """The caller's account, as it sees itself."""
    return accounts.accounts.of_caller(request.principal)


@routes.operation("PATCH", "/v1/users/@me", policy=Policy.USER, bucket=buckets.USER_OWN_CHANGE, images=True)
async def change_own_account(request: Request, accounts: AccountsArea, body: ChangeOwnAccount) -> wire.PrivateUser:
    """Change the caller's account; another password (sudo mode) ends all its sign-ins."""
    credentials = _credential_change(request, body)
    if body.username is not None and body.username != request.principal.account.username:
        _limit_username_changes(request)
    account = await accounts.accounts.change(
        request.principal, profile_of(body), TagChange(body.username, body.discriminator), credentials, _marks(body)
    )
    return accounts.accounts.own(account)


@routes.operation("GET", "/v1/users/check-tag", bucket=buckets.TAG_CHECK)
async def check_tag(request: Request, accounts_area: AccountsArea, query: WantedTag) -> wire.CheckTagAnswer:
    """Whether another account has a tag; the caller's own is not in its way."""
    accounts = accounts_area.accounts
    return {"taken": accounts.is_taken(request.principal, query.username, query.discriminator)}


@routes.operation("POST", "/v1/users/@me/terms-acceptance", bucket=buckets.TERMS_ACCEPTANCE)
async def accept_terms(request: Request, accounts: AccountsArea) -> wire.PrivateUser:
    """Agree to the terms of service and the privacy policy as they stand."""
    account = await accounts.accounts.accept_terms(request.principal)
    return accounts.accounts.own(account)


@routes.operation("GET", "/v1/users/{user_id}", policy=Policy.USER, bucket=buckets.USER)
async def get_account(request: Request, accounts: AccountsArea, user_id: int) -> wire.PartialUser:
    """Any account, as others see it."""
    return accounts.accounts.get(user_id)


def _credential_change(request: Request, body: ChangeOwnAccount) -> CredentialChange | None:
    """What the body wants of password and address. Who claims an account may call its first password `password`."""
    has_address = body.email is not None or body.email_token is not None
    if body.new_password is None and not has_address:
        return None
    account = request.principal.account
    if body.new_password is not None and account.bot:  # a bot signs in with its token
        raise InvalidFormBody.at("new_password", FieldCode.INVALID_FORMAT)
    password, path = body.new_password, "new_password"
    if password is None and account.password_hash is None and account.email is None:
        password, path = body.password, "password"
    return CredentialChange(
        password=password,
        password_path=path,
        address=AddressWish(body.email, body.email_token) if has_address else None,
        proof=request.proof(body),
    )


def _marks(body: ChangeOwnAccount) -> dict[str, bool]:
    """What the body says of flags of the account."""
    values = {name: getattr(body, name) for name in MARKS}
    return {name: value for name, value in values.items() if value is not None}


def _limit_username_changes(request: Request) -> None:
    try:
        request.limit(buckets.USERNAME_CHANGES, request.principal.user_id)
    except RateLimited:
        raise InvalidFormBody.at("username", FieldCode.USERNAME_CHANGED_TOO_MANY_TIMES) from None


@frozen(kw_only=True)
class CloseAccount(SudoFields):
    """The body of disable and delete."""


@routes.operation("POST", "/v1/users/@me/disable", bucket=buckets.ACCOUNT_CLOSING)
async def disable_own_account(request: Request, accounts: AccountsArea, body: CloseAccount) -> None:
    """Sign out everywhere until the holder signs in again; sudo mode, without a token in the answer."""
    await accounts.account_closing.disable(request.principal.account, request.proof(body))


@routes.operation("POST", "/v1/users/@me/delete", bucket=buckets.ACCOUNT_CLOSING)
async def delete_own_account(request: Request, accounts: AccountsArea, body: CloseAccount) -> None:
    """Have the account erased, unless its holder signs in again before the date; sudo mode."""
    await accounts.account_closing.delete(request.principal.account, request.proof(body))


@frozen(kw_only=True)
class OrderArchive(SudoFields):
    """The body of POST /v1/users/@me/harvest."""

    include_attachments: bool = False


@frozen(kw_only=True)
class FetchArchive(SudoFields):
    """The body of POST /v1/users/@me/harvest/download."""


@routes.operation("GET", "/v1/users/@me/harvest", bucket=buckets.OWN_ARCHIVE)
async def get_own_archive(request: Request, administration: AdministrationArea) -> wire.GetOwnArchiveAnswer:
    """How far the last archive of the own account is; null without one."""
    return {"harvest": administration.archives.own(request.principal.user_id)}


@routes.operation("POST", "/v1/users/@me/harvest", bucket=buckets.OWN_ARCHIVE)
async def order_own_archive(
    request: Request, signing_in: SigningInArea, administration: AdministrationArea, body: OrderArchive
) -> wire.OwnArchive:
    """Have everything put together that the instance holds of the own account, once a day; sudo mode."""
    proof, account = request.proof(body), request.principal.account
    await signing_in.sudo.require(account, proof)
    return await administration.archives.order_own(
        account.id, request.guard, include_attachments=body.include_attachments
    )


@routes.operation(
    "POST",
    "/v1/users/@me/harvest/download",
    bucket=buckets.OWN_ARCHIVE,
)
async def get_own_archive_address(
    request: Request, signing_in: SigningInArea, administration: AdministrationArea, body: FetchArchive
) -> wire.OwnArchiveAddress:
    """An address under which the archive is downloaded for an hour; sudo mode."""
    proof, account = request.proof(body), request.principal.account
    await signing_in.sudo.require(account, proof)
    return await administration.archives.own_address(account.id, request.guard)


@frozen(kw_only=True)
class WriteNote:
    """The body of PUT /v1/users/@me/notes/{user_id}: nothing, or null, takes the note away."""

    note: str | None = None


@routes.operation("GET", "/v1/users/@me/notes", bucket=buckets.NOTES)
async def list_notes(request: Request, accounts: AccountsArea) -> dict[wire.Snowflake, str]:
    """The caller's notes, by the ids of those whom they are about."""
    return accounts.user_notes.of_user(request.principal.user_id)


@routes.operation("GET", "/v1/users/@me/notes/{user_id}", bucket=buckets.NOTES)
async def get_note(request: Request, accounts: AccountsArea, user_id: int) -> wire.GetNoteAnswer:
    """The caller's note about an account."""
    return {"note": accounts.user_notes.get(request.principal.user_id, user_id)}


@routes.operation("PUT", "/v1/users/@me/notes/{user_id}", bucket=buckets.NOTE_CHANGE)
async def put_note(request: Request, accounts: AccountsArea, user_id: int, body: WriteNote) -> None:
    """Note something about an account."""
    await accounts.user_notes.put(request.principal.user_id, user_id, body.note, request.guard)
