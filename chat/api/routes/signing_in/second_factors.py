"""Operations on an account's second factors, and what sudo mode can be proved with (signing_in.md, TOTP)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import Exact, Length, PasskeyResponse, Refusal, Schema, SudoFields
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.signing_in.passkey_assertions import ChallengeContext
from chat.protocol.visible_text import without_nul
from chat.registries.error_codes import FieldCode

routes = Routes(policy=Policy.USER_ONLY)

NAME_CHARACTERS: Final = 100


class _CredentialName:
    """What people call a passkey, without the white space around it."""

    schema: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": NAME_CHARACTERS}

    def read(self, value: object) -> str:
        if type(value) is not str:
            raise Refusal
        name = without_nul(value).strip()
        if len(name) > NAME_CHARACTERS:
            raise Refusal(FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
        if not name:
            raise Refusal
        return name


CredentialName = Annotated[str, _CredentialName()]
Code = Annotated[str, Exact(), Length(1, 32)]
Challenge = Annotated[str, Exact(), Length(1, 1_024)]


@frozen(kw_only=True)
class EnableTotp(SudoFields):
    """The body of mfa/totp/enable; `secret` is Base32."""

    secret: Annotated[str, Exact(), Length(1, 256)] = attrs.field(repr=False)
    code: Code = attrs.field(repr=False)


@frozen(kw_only=True)
class DisableTotp(SudoFields):
    """The body of mfa/totp/disable: a code of the authenticator or a backup code."""

    code: Code = attrs.field(repr=False)


@frozen(kw_only=True)
class GetBackupCodes(SudoFields):
    """The body of mfa/backup-codes."""

    regenerate: bool = False


@frozen(kw_only=True)
class RegisterCredential:
    """The body of mfa/webauthn/credentials: a registration response."""

    response: PasskeyResponse = attrs.field(repr=False)
    challenge: Challenge = attrs.field(repr=False)
    name: CredentialName


@frozen
class RenameCredential:
    """The body of PATCH mfa/webauthn/credentials/{credential}."""

    name: CredentialName


@frozen(kw_only=True)
class SetPasskeySecondFactor(SudoFields):
    """The body of PUT mfa/webauthn."""

    enabled: bool


@routes.operation("POST", "/v1/users/@me/mfa/totp/enable", bucket=buckets.MFA_CHANGE, secret=True)
async def enable_totp(request: Request, signing_in: SigningInArea, body: EnableTotp) -> wire.BackupCodes:
    """Set an authenticator up; sudo mode, unless the sign-in is fresh."""
    codes = await signing_in.totp.enable(request.principal.account, body.secret, body.code, request.proof(body))
    return {"backup_codes": codes}


@routes.operation("POST", "/v1/users/@me/mfa/totp/disable", bucket=buckets.MFA_CHANGE)
async def disable_totp(request: Request, signing_in: SigningInArea, body: DisableTotp) -> None:
    """Forget the authenticator and all backup codes; sudo mode."""
    await signing_in.totp.disable(request.principal.account, body.code, request.proof(body))


@routes.operation("POST", "/v1/users/@me/mfa/backup-codes", bucket=buckets.MFA_CHANGE, secret=True)
async def get_backup_codes(request: Request, signing_in: SigningInArea, body: GetBackupCodes) -> wire.BackupCodes:
    """Show the backup codes, or make new ones; sudo mode."""
    codes = await signing_in.totp.backup_codes(
        request.principal.account, regenerate=body.regenerate, proof=request.proof(body)
    )
    return {"backup_codes": codes}


@routes.operation("PUT", "/v1/users/@me/mfa/webauthn", bucket=buckets.MFA_CHANGE)
async def set_passkey_second_factor(request: Request, signing_in: SigningInArea, body: SetPasskeySecondFactor) -> None:
    """Make passkeys a second factor of signing in, or no longer; sudo mode."""
    await signing_in.passkeys.set_second_factor(
        request.principal.account, enabled=body.enabled, proof=request.proof(body)
    )


@routes.operation("GET", "/v1/users/@me/mfa/webauthn/credentials", bucket=buckets.MFA)
async def list_credentials(request: Request, signing_in: SigningInArea) -> list[wire.WebauthnCredential]:
    """The account's passkeys, the oldest first."""
    return signing_in.passkeys.of_account(request.principal.user_id)


@routes.operation(
    "POST",
    "/v1/users/@me/mfa/webauthn/credentials/registration-options",
    bucket=buckets.MFA_CHANGE,
)
async def get_registration_options(
    request: Request, signing_in: SigningInArea, body: SudoFields
) -> wire.WebauthnCreationOptions:
    """What to ask an authenticator for; sudo mode, unless the sign-in is fresh. The answer carries no token of it."""
    return await signing_in.passkeys.registration_options(request.principal.account, request.proof(body))


@routes.operation("POST", "/v1/users/@me/mfa/webauthn/credentials", bucket=buckets.MFA_CHANGE)
async def register_credential(request: Request, signing_in: SigningInArea, body: RegisterCredential) -> None:
    """Add the passkey that an authenticator made; its challenge stands for sudo mode."""
    await signing_in.passkeys.register(
        request.principal.account, body.response, body.challenge, body.name, request.guard
    )


@routes.operation("PATCH", "/v1/users/@me/mfa/webauthn/credentials/{credential}", bucket=buckets.MFA_CHANGE)
async def rename_credential(
    request: Request, signing_in: SigningInArea, credential: str, body: RenameCredential
) -> None:
    """Call a passkey something else."""
    await signing_in.passkeys.rename(request.principal.account, credential, body.name, request.guard)


@routes.operation("DELETE", "/v1/users/@me/mfa/webauthn/credentials/{credential}", bucket=buckets.MFA_CHANGE)
async def delete_credential(request: Request, signing_in: SigningInArea, credential: str, body: SudoFields) -> None:
    """Take a passkey away; sudo mode."""
    await signing_in.passkeys.delete(request.principal.account, credential, request.proof(body))


@routes.operation("GET", "/v1/users/@me/sudo/mfa-methods", bucket=buckets.MFA)
async def list_sudo_methods(request: Request, signing_in: SigningInArea) -> wire.SudoMethods:
    """What the account can prove itself with in sudo mode."""
    held = signing_in.factors.held(request.principal.account)
    return {
        "totp": held.totp,
        "webauthn": held.webauthn,
        "backup_codes": held.backup_codes,
        "has_mfa": held.any,
    }


@routes.operation(
    "POST",
    "/v1/users/@me/sudo/webauthn/authentication-options",
    bucket=buckets.SUDO_OPTIONS,
)
async def get_sudo_options(request: Request, signing_in: SigningInArea) -> wire.WebauthnRequestOptions:
    """What to ask a passkey for, to prove oneself in sudo mode."""
    return await signing_in.assertions.options(ChallengeContext.SUDO, request.principal.user_id, request.guard)
