"""Getting back into an account, and names for a new one (signing_in.md, Recovery kit)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import Exact, Length, SudoFields, Trimmed
from chat.api.operation import InstanceKind, Policy, Request, Routes
from chat.api.routes.signing_in.authentication import NO_BOTS, answer_to_sign_in, client_of, tried_by
from chat.auth.client_address import network_of
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.policy import account_rules
from chat.domain.signing_in.assemble import SigningInArea
from chat.registries.error_codes import FieldCode
from chat.store.accounts.accounts import email_key, username_key

routes = Routes(policy=Policy.NONE, bots_refused_with=NO_BOTS, closed_by_sso=True)

Token = Annotated[str, Exact(), Length(1, 256)]
Email = Annotated[str, Trimmed(), Length(1, 256)]
Password = Annotated[str, Exact(), Length(1, 256, FieldCode.PASSWORD_LENGTH_INVALID)]


@frozen
class Forgot:
    """The body of forgot."""

    email: Email


@frozen
class NewPassword:
    """The body of reset and of email-revert: the token of a mail, and the password to be."""

    token: Token = attrs.field(repr=False)
    password: Password = attrs.field(repr=False)


@frozen
class Recover:
    """The body of recovery: the code of a recovery kit, and the password to be."""

    username: Annotated[str, Trimmed(), Length(1, 256)]
    code: Annotated[str, Exact(), Length(1, 256)] = attrs.field(repr=False)
    password: Password = attrs.field(repr=False)


@frozen
class SuggestUsernames:
    """The body of username-suggestions."""

    global_name: Annotated[str, Length(1, 256)]


@frozen(kw_only=True)
class MakeRecoveryKit(SudoFields):
    """The body of recovery-kit."""


@routes.operation("POST", "/v1/auth/forgot", bucket=buckets.AUTH_FORGOT, asks_captcha=True, instance=InstanceKind.EMAIL)
async def request_password_reset(request: Request, signing_in: SigningInArea, body: Forgot) -> None:
    """Mail a reset link to the address, if an account has it; the answer is the same if none does."""
    request.limit(buckets.RECOVERIES_OF_ADDRESS, network_of(request.address))
    email = account_rules.email(body.email)
    request.limit(buckets.RECOVERIES_OF_EMAIL, email_key(email))
    await signing_in.password_recovery.request(email, request.guard)


@routes.operation("GET", "/v1/auth/reset/{token}", bucket=buckets.AUTH_RESET_CHECK)
async def check_reset_token(request: Request, signing_in: SigningInArea, token: str) -> wire.CheckResetTokenAnswer:
    """Whether a reset link is still good."""
    return {"valid": signing_in.password_recovery.is_valid(token)}


@routes.operation("POST", "/v1/auth/reset", bucket=buckets.AUTH_RESET, secret=True)
async def reset_password(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, body: NewPassword
) -> wire.SignIn:
    """Set the password that a reset link is for, and sign in."""
    entered = await signing_in.password_recovery.reset(body.token, body.password, client_of(request))
    return await answer_to_sign_in(request, entered, guilds=guilds)


@routes.operation(
    "POST",
    "/v1/auth/email-revert",
    bucket=buckets.AUTH_EMAIL_REVERT,
    instance=InstanceKind.EMAIL,
    secret=True,
)
async def revert_email(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, body: NewPassword
) -> wire.SignIn:
    """Undo a change of the mail address by the mailed link, and sign in."""
    entered = await signing_in.email_reverts.revert(body.token, body.password, client_of(request))
    return await answer_to_sign_in(request, entered, guilds=guilds)


@routes.operation(
    "POST",
    "/v1/auth/recovery",
    bucket=buckets.AUTH_RECOVERY,
    instance=InstanceKind.USERNAME,
    secret=True,
)
async def recover_account(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, body: Recover
) -> wire.SignIn:
    """Set a password with the code of a recovery kit, and sign in."""
    asker = signing_in.authentication.asker(body.username, request.address)
    tried = tried_by(asker, request.address, username_key(body.username))
    request.limit_all((buckets.KITS_OF_NAME, tried), (buckets.KITS_OF_ADDRESS, network_of(request.address)))
    kits = signing_in.recovery_kits
    return await answer_to_sign_in(
        request, await kits.recover(body.username, body.code, body.password, client_of(request)), guilds=guilds
    )


@routes.operation(
    "POST",
    "/v1/users/@me/recovery-kit",
    bots_refused_with=None,
    closed_by_sso=False,
    policy=Policy.USER_ONLY,
    bucket=buckets.RECOVERY_KIT,
    instance=InstanceKind.USERNAME,
    secret=True,
)
async def make_recovery_kit(
    request: Request, signing_in: SigningInArea, body: MakeRecoveryKit
) -> wire.MakeRecoveryKitAnswer:
    """Show the code of a new recovery kit, once; sudo mode."""
    account = request.principal.account
    return {"code": await signing_in.recovery_kits.make(account, request.proof(body))}


@routes.operation(
    "POST",
    "/v1/auth/username-suggestions",
    bucket=buckets.AUTH_USERNAME_SUGGESTIONS,
)
async def suggest_usernames(
    request: Request, signing_in: SigningInArea, body: SuggestUsernames
) -> wire.SuggestUsernamesAnswer:
    """A free username made of a display name, where one can be."""
    return {"suggestions": await signing_in.registration.suggest_usernames(body.global_name)}
