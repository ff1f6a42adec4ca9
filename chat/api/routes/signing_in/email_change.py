"""Changing the account's address, proof by proof (signing_in.md, Change of the email address)."""

from __future__ import annotations

from typing import Annotated, Any

import attrs

from chat.api import buckets
from chat.api.fields import Exact, Length, SudoFields
from chat.api.operation import InstanceKind, Policy, Request, Routes
from chat.api.schemas.accounts.users import PRIVATE_USER
from chat.api.schemas.shapes import NOTHING, TEXT, record
from chat.api.schemas.signing_in.authentication import EMAIL_CHANGE, NEW_EMAIL_ASKED
from chat.clock import iso_timestamp
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.policy import account_rules
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.signing_in.email_change import NewAsked
from chat.store.accounts.accounts import email_key

routes = Routes()

Secret = Annotated[str, Exact(), Length(1, 256)]
Code = Annotated[str, Exact(), Length(1, 32)]


@attrs.frozen
class Ticket:
    """The body of the steps that mail a code again."""

    ticket: Secret = attrs.field(repr=False)


@attrs.frozen
class VerifyOriginal:
    """The body of verify-original."""

    ticket: Secret = attrs.field(repr=False)
    code: Code = attrs.field(repr=False)


@attrs.frozen
class RequestNew:
    """The body of request-new."""

    ticket: Secret = attrs.field(repr=False)
    new_email: str
    original_proof: Secret = attrs.field(repr=False)


@attrs.frozen
class VerifyNew:
    """The body of verify-new."""

    ticket: Secret = attrs.field(repr=False)
    code: Code = attrs.field(repr=False)
    original_proof: Secret = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Apply(SudoFields):
    """The body of apply."""

    email_token: Secret = attrs.field(repr=False)


@attrs.frozen
class RequestReplacement:
    """The body of bounced/request-new."""

    new_email: str


@attrs.frozen(kw_only=True)
class VerifyReplacement(SudoFields):
    """The body of bounced/verify-new."""

    ticket: Secret = attrs.field(repr=False)
    code: Code = attrs.field(repr=False)


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/start",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_START,
    instance=InstanceKind.EMAIL,
    answers=EMAIL_CHANGE,
    secret=True,
)
async def start_email_change(request: Request, signing_in: SigningInArea) -> object:
    """Begin, and mail the present address a code where it has to agree."""
    started = await signing_in.email_changes.start(request.principal.user_id)
    issued = started.issued
    return {
        "ticket": started.ticket,
        "require_original": issued is not None,
        "original_email": started.email,
        "original_proof": started.proof,
        "original_code_expires_at": None if issued is None else iso_timestamp(issued.expires_at),
        "resend_available_at": None if issued is None else iso_timestamp(issued.resend_at),
    }


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/resend-original",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_RESEND,
    instance=InstanceKind.EMAIL,
    body=Ticket,
    answers=NOTHING,
)
async def resend_original(request: Request, signing_in: SigningInArea, body: Ticket) -> None:
    """Mail the present address another code."""
    await signing_in.email_changes.resend_original(request.principal.user_id, body.ticket)


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/verify-original",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_VERIFY,
    instance=InstanceKind.EMAIL,
    body=VerifyOriginal,
    answers=record({"original_proof": TEXT}),
    secret=True,
)
async def verify_original(request: Request, signing_in: SigningInArea, body: VerifyOriginal) -> object:
    """Take the code of the present address."""
    proof = await signing_in.email_changes.verify_original(request.principal.user_id, body.ticket, body.code)
    return {"original_proof": proof}


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/request-new",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_REQUEST,
    instance=InstanceKind.EMAIL,
    body=RequestNew,
    answers=NEW_EMAIL_ASKED,
    secret=True,
)
async def request_new_email(request: Request, signing_in: SigningInArea, body: RequestNew) -> object:
    """Mail the new address a code."""
    _limit_codes_to(request, body.new_email)
    asked = await signing_in.email_changes.request_new(
        request.principal.user_id, body.ticket, body.new_email, body.original_proof
    )
    return _new_asked(asked)


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/resend-new",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_RESEND,
    instance=InstanceKind.EMAIL,
    body=Ticket,
    answers=NOTHING,
)
async def resend_new(request: Request, signing_in: SigningInArea, body: Ticket) -> None:
    """Mail the new address another code."""
    await signing_in.email_changes.resend_new(request.principal.user_id, body.ticket)


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/verify-new",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_VERIFY,
    instance=InstanceKind.EMAIL,
    body=VerifyNew,
    answers=record({"email_token": TEXT}),
    secret=True,
)
async def verify_new(request: Request, signing_in: SigningInArea, body: VerifyNew) -> object:
    """Take the code of the new address; the answer is what apply asks for."""
    token = await signing_in.email_changes.verify_new(
        request.principal.user_id, body.ticket, body.code, body.original_proof
    )
    return {"email_token": token}


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/apply",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_APPLY,
    instance=InstanceKind.EMAIL,
    body=Apply,
    answers=PRIVATE_USER,
)
async def apply_email_change(
    request: Request, signing_in: SigningInArea, accounts: AccountsArea, body: Apply
) -> object:
    """Change the address; sudo mode."""
    account = await signing_in.email_changes.apply(request.principal.account, body.email_token, request.proof(body))
    return accounts.accounts.own(account)


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/bounced/request-new",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_REQUEST,
    instance=InstanceKind.EMAIL,
    body=RequestReplacement,
    answers=NEW_EMAIL_ASKED,
    secret=True,
)
async def request_email_replacement(request: Request, signing_in: SigningInArea, body: RequestReplacement) -> object:
    """Mail a code to the address that is to replace one which takes no mail."""
    _limit_codes_to(request, body.new_email)
    return _new_asked(await signing_in.email_changes.request_replacement(request.principal.user_id, body.new_email))


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/bounced/resend-new",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_RESEND,
    instance=InstanceKind.EMAIL,
    body=Ticket,
    answers=NOTHING,
)
async def resend_replacement(request: Request, signing_in: SigningInArea, body: Ticket) -> None:
    """Mail another code."""
    await signing_in.email_changes.resend_replacement(request.principal.user_id, body.ticket)


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/bounced/verify-new",
    policy=Policy.USER_ONLY,
    bucket=buckets.EMAIL_CHANGE_VERIFY,
    instance=InstanceKind.EMAIL,
    body=VerifyReplacement,
    answers=PRIVATE_USER,
)
async def verify_replacement(
    request: Request, signing_in: SigningInArea, accounts: AccountsArea, body: VerifyReplacement
) -> object:
    """Take the code, and change the address; sudo mode."""
    account = await signing_in.email_changes.verify_replacement(
        request.principal.account, body.ticket, body.code, request.proof(body)
    )
    return accounts.accounts.own(account)


def _limit_codes_to(request: Request, email: str) -> None:
    request.limit(buckets.CODES_TO_EMAIL, email_key(account_rules.email(email, path="new_email")))


def _new_asked(asked: NewAsked) -> dict[str, Any]:
    return {
        "ticket": asked.ticket,
        "new_email": asked.email,
        "new_code_expires_at": iso_timestamp(asked.issued.expires_at),
        "resend_available_at": iso_timestamp(asked.issued.resend_at),
    }
