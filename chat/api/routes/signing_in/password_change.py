"""Changing the password with a mailed code (signing_in.md, Change of the password)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.api import buckets
from chat.api.fields import Exact, Length, SudoFields
from chat.api.operation import InstanceKind, Policy, Request, Routes
from chat.api.routes.signing_in.authentication import client_of
from chat.api.schemas.shapes import NOTHING, TEXT, record
from chat.api.schemas.signing_in.authentication import PASSWORD_CHANGE, PASSWORD_CHANGED
from chat.auth.tokens import id_hash
from chat.clock import iso_timestamp
from chat.domain.signing_in.assemble import SigningInArea

routes = Routes()

Secret = Annotated[str, Exact(), Length(1, 256)]
Code = Annotated[str, Exact(), Length(1, 32)]


@attrs.frozen
class Ticket:
    """The body of resend."""

    ticket: Secret = attrs.field(repr=False)


@attrs.frozen
class TypedCode:
    """The body of verify."""

    ticket: Secret = attrs.field(repr=False)
    code: Code = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Complete(SudoFields):
    """The body of complete."""

    ticket: Secret = attrs.field(repr=False)
    verification_proof: Secret = attrs.field(repr=False)
    new_password: Annotated[str, Exact(), Length(1, 256, "PASSWORD_LENGTH_INVALID")] = attrs.field(repr=False)


@routes.operation(
    "POST",
    "/v1/users/@me/password-change/start",
    policy=Policy.USER_ONLY,
    bucket=buckets.PASSWORD_CHANGE_START,
    instance=InstanceKind.EMAIL,
    answers=PASSWORD_CHANGE,
    secret=True,
)
async def start_password_change(request: Request, signing_in: SigningInArea) -> object:
    """Mail a code to the account's address."""
    ticket, issued = await signing_in.password_changes.start(request.principal.user_id)
    return {
        "ticket": ticket,
        "code_expires_at": iso_timestamp(issued.expires_at),
        "resend_available_at": iso_timestamp(issued.resend_at),
    }


@routes.operation(
    "POST",
    "/v1/users/@me/password-change/resend",
    policy=Policy.USER_ONLY,
    bucket=buckets.PASSWORD_CHANGE_RESEND,
    instance=InstanceKind.EMAIL,
    body=Ticket,
    answers=NOTHING,
)
async def resend_password_change(request: Request, signing_in: SigningInArea, body: Ticket) -> None:
    """Mail another code."""
    await signing_in.password_changes.resend(request.principal.user_id, body.ticket)


@routes.operation(
    "POST",
    "/v1/users/@me/password-change/verify",
    policy=Policy.USER_ONLY,
    bucket=buckets.PASSWORD_CHANGE_VERIFY,
    instance=InstanceKind.EMAIL,
    body=TypedCode,
    answers=record({"verification_proof": TEXT}),
    secret=True,
)
async def verify_password_change(request: Request, signing_in: SigningInArea, body: TypedCode) -> object:
    """Take the code."""
    proof = await signing_in.password_changes.verify(request.principal.user_id, body.ticket, body.code)
    return {"verification_proof": proof}


@routes.operation(
    "POST",
    "/v1/users/@me/password-change/complete",
    policy=Policy.USER_ONLY,
    bucket=buckets.PASSWORD_CHANGE_COMPLETE,
    instance=InstanceKind.EMAIL,
    body=Complete,
    answers=PASSWORD_CHANGED,
    secret=True,
)
async def complete_password_change(request: Request, signing_in: SigningInArea, body: Complete) -> object:
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
