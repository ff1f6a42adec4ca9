"""Changing the account's address or its password, proof by proof (signing_in.md, Change of the email address, Change of
the password)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import Exact, Length, SudoFields, Trimmed
from chat.api.operation import InstanceKind, Policy, Request, Routes
from chat.api.routes.signing_in.authentication import client_of
from chat.auth.tokens import id_hash
from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.policy import account_rules
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.signing_in.email_change import NewAsked
from chat.registries.error_codes import FieldCode
from chat.store.accounts.accounts import email_key

routes = Routes(policy=Policy.USER_ONLY, instance=InstanceKind.EMAIL)

Secret = Annotated[str, Exact(), Length(1, 256)]
Code = Annotated[str, Exact(), Length(1, 32)]


@frozen
class EmailChangeTicket:
    """The body of the steps that mail a code again."""

    ticket: Secret = attrs.field(repr=False)


@frozen
class PasswordChangeTicket(EmailChangeTicket):
    """The body of resend."""


@frozen
class TypedCode:
    """The body of verify."""

    ticket: Secret = attrs.field(repr=False)
    code: Code = attrs.field(repr=False)


@frozen
class VerifyOriginal(TypedCode):
    """The body of verify-original."""


@frozen
class RequestNew:
    """The body of request-new."""

    ticket: Secret = attrs.field(repr=False)
    new_email: Annotated[str, Trimmed()]
    original_proof: Secret = attrs.field(repr=False)


@frozen
class VerifyNew:
    """The body of verify-new."""

    ticket: Secret = attrs.field(repr=False)
    code: Code = attrs.field(repr=False)
    original_proof: Secret = attrs.field(repr=False)


@frozen(kw_only=True)
class EmailChangeApply(SudoFields):
    """The body of apply."""

    email_token: Secret = attrs.field(repr=False)


@frozen
class RequestReplacement:
    """The body of bounced/request-new."""

    new_email: Annotated[str, Trimmed()]


@frozen(kw_only=True)
class VerifyReplacement(SudoFields):
    """The body of bounced/verify-new."""

    ticket: Secret = attrs.field(repr=False)
    code: Code = attrs.field(repr=False)


@routes.operation("POST", "/v1/users/@me/email-change/start", bucket=buckets.EMAIL_CHANGE_START, secret=True)
async def start_email_change(request: Request, signing_in: SigningInArea) -> wire.EmailChange:
    """Begin, and mail the present address a code where it has to agree."""
    started = await signing_in.email_changes.start(request.principal.user_id, request.guard)
    issued = started.issued
    return {
        "ticket": started.ticket,
        "require_original": issued is not None,
        "original_email": started.email,
        "original_proof": started.proof,
        "original_code_expires_at": None if issued is None else iso_timestamp(issued.expires_at),
        "resend_available_at": None if issued is None else iso_timestamp(issued.resend_at),
    }


@routes.operation("POST", "/v1/users/@me/email-change/resend-original", bucket=buckets.EMAIL_CHANGE_RESEND)
async def resend_original(request: Request, signing_in: SigningInArea, body: EmailChangeTicket) -> None:
    """Mail the present address another code."""
    await signing_in.email_changes.resend_original(request.principal.user_id, body.ticket, request.guard)


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/verify-original",
    bucket=buckets.EMAIL_CHANGE_VERIFY,
    secret=True,
)
async def verify_original(
    request: Request, signing_in: SigningInArea, body: VerifyOriginal
) -> wire.VerifyOriginalAnswer:
    """Take the code of the present address."""
    proof = await signing_in.email_changes.verify_original(
        request.principal.user_id, body.ticket, body.code, request.guard
    )
    return {"original_proof": proof}


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/request-new",
    bucket=buckets.EMAIL_CHANGE_REQUEST,
    secret=True,
)
async def request_new_email(request: Request, signing_in: SigningInArea, body: RequestNew) -> wire.NewEmailAsked:
    """Mail the new address a code."""
    _limit_codes_to(request, body.new_email)
    asked = await signing_in.email_changes.request_new(
        request.principal.user_id, body.ticket, body.new_email, body.original_proof, request.guard
    )
    return _new_asked(asked)


@routes.operation("POST", "/v1/users/@me/email-change/resend-new", bucket=buckets.EMAIL_CHANGE_RESEND)
async def resend_new(request: Request, signing_in: SigningInArea, body: EmailChangeTicket) -> None:
    """Mail the new address another code."""
    await signing_in.email_changes.resend_new(request.principal.user_id, body.ticket, request.guard)


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/verify-new",
    bucket=buckets.EMAIL_CHANGE_VERIFY,
    secret=True,
)
async def verify_new(request: Request, signing_in: SigningInArea, body: VerifyNew) -> wire.VerifyNewAnswer:
    """Take the code of the new address; the answer is what apply asks for."""
    token = await signing_in.email_changes.verify_new(
        request.principal.user_id, body.ticket, body.code, body.original_proof, request.guard
    )
    return {"email_token": token}


@routes.operation("POST", "/v1/users/@me/email-change/apply", bucket=buckets.EMAIL_CHANGE_APPLY)
async def apply_email_change(
    request: Request, signing_in: SigningInArea, accounts: AccountsArea, body: EmailChangeApply
) -> wire.PrivateUser:
    """Change the address; sudo mode."""
    account = await signing_in.email_changes.apply(request.principal.account, body.email_token, request.proof(body))
    return accounts.accounts.own(account)


@routes.operation(
    "POST",
    "/v1/users/@me/email-change/bounced/request-new",
    bucket=buckets.EMAIL_CHANGE_REQUEST,
    secret=True,
)
async def request_email_replacement(
    request: Request, signing_in: SigningInArea, body: RequestReplacement
) -> wire.NewEmailAsked:
    """Mail a code to the address that is to replace one which takes no mail."""
    _limit_codes_to(request, body.new_email)
    return _new_asked(
        await signing_in.email_changes.request_replacement(request.principal.user_id, body.new_email, request.guard)
    )


@routes.operation("POST", "/v1/users/@me/email-change/bounced/resend-new", bucket=buckets.EMAIL_CHANGE_RESEND)
async def resend_replacement(request: Request, signing_in: SigningInArea, body: EmailChangeTicket) -> None:
    """Mail another code."""
    await signing_in.email_changes.resend_replacement(request.principal.user_id, body.ticket, request.guard)


@routes.operation("POST", "/v1/users/@me/email-change/bounced/verify-new", bucket=buckets.EMAIL_CHANGE_VERIFY)
async def verify_replacement(
    request: Request, signing_in: SigningInArea, accounts: AccountsArea, body: VerifyReplacement
) -> wire.PrivateUser:
    """Take the code, and change the address; sudo mode."""
    account = await signing_in.email_changes.verify_replacement(
        request.principal.account, body.ticket, body.code, request.proof(body)
    )
    return accounts.accounts.own(account)


def _limit_codes_to(request: Request, email: str) -> None:
    request.limit(buckets.CODES_TO_EMAIL, email_key(account_rules.email(email, path="new_email")))


def _new_asked(asked: NewAsked) -> wire.NewEmailAsked:
    return {
        "ticket": asked.ticket,
        "new_email": asked.email,
        "new_code_expires_at": iso_timestamp(asked.issued.expires_at),
        "resend_available_at": iso_timestamp(asked.issued.resend_at),
    }


@frozen(kw_only=True)
class Complete(SudoFields):
    """The body of complete."""

    ticket: Secret = attrs.field(repr=False)
    verification_proof: Secret = attrs.field(repr=False)
    new_password: Annotated[str, Exact(), Length(1, 256, FieldCode.PASSWORD_LENGTH_INVALID)] = attrs.field(repr=False)


@routes.operation(
    "POST",
    "/v1/users/@me/password-change/start",
    bucket=buckets.PASSWORD_CHANGE_START,
    secret=True,
)
async def start_password_change(request: Request, signing_in: SigningInArea) -> wire.PasswordChange:
    """Mail a code to the account's address."""
    ticket, issued = await signing_in.password_changes.start(request.principal.user_id, request.guard)
    return {
        "ticket": ticket,
        "code_expires_at": iso_timestamp(issued.expires_at),
        "resend_available_at": iso_timestamp(issued.resend_at),
    }


@routes.operation("POST", "/v1/users/@me/password-change/resend", bucket=buckets.PASSWORD_CHANGE_RESEND)
async def resend_password_change(request: Request, signing_in: SigningInArea, body: PasswordChangeTicket) -> None:
    """Mail another code."""
    await signing_in.password_changes.resend(request.principal.user_id, body.ticket, request.guard)


@routes.operation(
    "POST",
    "/v1/users/@me/password-change/verify",
    bucket=buckets.PASSWORD_CHANGE_VERIFY,
    secret=True,
)
async def verify_password_change(
    request: Request, signing_in: SigningInArea, body: TypedCode
) -> wire.VerifyPasswordChangeAnswer:
    """Take the code."""
    proof = await signing_in.password_changes.verify(request.principal.user_id, body.ticket, body.code, request.guard)
    return {"verification_proof": proof}


@routes.operation(
    "POST",
    "/v1/users/@me/password-change/complete",
    bucket=buckets.PASSWORD_CHANGE_COMPLETE,
    secret=True,
)
async def complete_password_change(request: Request, signing_in: SigningInArea, body: Complete) -> wire.SignedInAnew:
    """Set the password; every sign-in ends, and the answer carries a new one. With a factor: sudo mode."""
    signed_in = await signing_in.password_changes.complete(
        request.principal,
        body.ticket,
        body.verification_proof,
        body.new_password,
        request.proof(body),
        client_of(request),
    )
    return {**signed_in.answer(), "auth_session_id_hash": id_hash(signed_in.sign_in.session.token_hash)}
