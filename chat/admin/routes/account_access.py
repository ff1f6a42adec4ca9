"""Operations that close accounts, by bans and scheduled erasures (administration.md, Account bans; administration.md,
Scheduled deletion), on the ways into an account (administration.md, Ways into an account), and on registrations that
wait."""

from __future__ import annotations

from typing import Annotated, Any, Final

from chat import wire
from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Length, Range, Snowflake, Timestamp
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.administration.account_closing import DeletionWish
from chat.domain.administration.assemble import AdministrationArea
from chat.errors import InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import FieldCode
from chat.registries.reports import DeletionReason

routes = AdminRoutes()

HOURS_MAXIMUM: Final = 8_760
DAYS_MAXIMUM: Final = 365
DAYS: Final = 60
REASON_LENGTH: Final = 512


@frozen
class Ban:
    """The body of PUT …/ban."""

    duration_hours: Annotated[int, Range(0, HOURS_MAXIMUM)]
    reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None
    notify_user: bool = True


@frozen
class Unban:
    """The body of DELETE …/ban."""

    notify_user: bool = True
    public_reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None


@frozen
class AnnotateBan:
    """The body of POST …/ban/notes."""

    ban_audit_log_id: Snowflake
    note: Annotated[str, Length(1, REASON_LENGTH)]


@routes.admin_operation("PUT", "/v1/admin/users/{user_id}/ban", [Acl.USER_TEMP_BAN], AdminAction.TEMP_BAN)
async def ban_account(
    request: Request, administration: AdministrationArea, user_id: int, body: Ban
) -> wire.AdminUserAnswer:
    """Close an account, for a time or for good."""
    user = await administration.bans.ban(
        acting(request), user_id, hours=body.duration_hours, reason=body.reason, notify=body.notify_user
    )
    return {"user": user}


@routes.admin_operation("DELETE", "/v1/admin/users/{user_id}/ban", [Acl.USER_TEMP_BAN], AdminAction.UNBAN)
async def unban_account(
    request: Request, administration: AdministrationArea, user_id: int, body: Unban
) -> wire.AdminUserAnswer:
    """Lift an account's ban."""
    user = await administration.bans.unban(
        acting(request), user_id, public_reason=body.public_reason, notify=body.notify_user
    )
    return {"user": user}


@routes.admin_operation("POST", "/v1/admin/users/{user_id}/ban/notes", [Acl.USER_TEMP_BAN], AdminAction.ANNOTATE_BAN)
async def annotate_ban(request: Request, administration: AdministrationArea, user_id: int, body: AnnotateBan) -> None:
    """Add a note to the ban that stands."""
    await administration.bans.annotate(acting(request), user_id, body.ban_audit_log_id, body.note)


@frozen(kw_only=True)
class ScheduleDeletion:
    """The body of PUT …/deletion."""

    reason_code: DeletionReason
    public_reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None
    days_until_deletion: Annotated[int, Range(1, DAYS_MAXIMUM)] = DAYS
    replace_pending_deletion_at: Timestamp | None = None
    notify_user: bool = True


def wish_of(body: Any, replaces: int | None = None) -> DeletionWish:
    """The deletion that a body asks for, of one account or of many."""
    return DeletionWish(
        reason=body.reason_code,
        days=body.days_until_deletion,
        public_reason=body.public_reason,
        replaces=replaces,
        notify=body.notify_user,
    )


@frozen(kw_only=True)
class CancelDeletion:
    """The body of DELETE …/deletion."""

    expected_pending_deletion_at: Timestamp
    notify_user: bool = False


@routes.admin_operation("PUT", "/v1/admin/users/{user_id}/deletion", [Acl.USER_DELETE], AdminAction.SCHEDULE_DELETION)
async def schedule_deletion(
    request: Request, administration: AdministrationArea, user_id: int, body: ScheduleDeletion
) -> wire.AdminUserAnswer:
    """Schedule an account's erasure, or replace the one that is pending."""
    wish = wish_of(body, body.replace_pending_deletion_at)
    return {"user": await administration.deletions.schedule(acting(request), user_id, wish)}


@routes.admin_operation("DELETE", "/v1/admin/users/{user_id}/deletion", [Acl.USER_DELETE], AdminAction.CANCEL_DELETION)
async def cancel_deletion(
    request: Request, administration: AdministrationArea, user_id: int, body: CancelDeletion
) -> wire.AdminUserAnswer:
    """Take an account's pending erasure back."""
    user = await administration.deletions.cancel(
        acting(request), user_id, body.expected_pending_deletion_at, notify=body.notify_user
    )
    return {"user": user}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/message-deletion",
    [Acl.USER_CANCEL_BULK_MESSAGE_DELETION],
    AdminAction.CANCEL_BULK_MESSAGE_DELETION,
)
async def cancel_message_deletion(
    request: Request, administration: AdministrationArea, user_id: int
) -> wire.AdminUserAnswer:
    """Take an account's own wish to have its messages deleted back."""
    deletions = administration.deletions
    return {"user": await deletions.cancel_messages(acting(request), user_id)}


CREDENTIAL_ID_LENGTH: Final = 512


@routes.admin_operation(
    "POST",
    "/v1/admin/users/{user_id}/verification-email",
    [Acl.USER_UPDATE_EMAIL],
    AdminAction.RESEND_VERIFICATION_EMAIL,
)
async def send_verification_email(request: Request, administration: AdministrationArea, user_id: int) -> None:
    """Mail an account's address a link that verifies it."""
    await administration.credentials.send_verification(acting(request), user_id)


@routes.admin_operation(
    "POST", "/v1/admin/users/{user_id}/password-reset", [Acl.USER_UPDATE_EMAIL], AdminAction.SEND_PASSWORD_RESET
)
async def send_password_reset(request: Request, administration: AdministrationArea, user_id: int) -> None:
    """Mail an account's address a reset link."""
    await administration.credentials.send_password_reset(acting(request), user_id)


@routes.admin_operation(
    "POST",
    "/v1/admin/users/{user_id}/password-reset-link",
    [Acl.USER_CREATE_PASSWORD_RESET_LINK],
    AdminAction.CREATE_PASSWORD_RESET_LINK,
    secret=True,
)
async def create_password_reset_link(
    request: Request, administration: AdministrationArea, user_id: int
) -> wire.PasswordResetLink:
    """Make a reset link for the administrator to hand over."""
    return await administration.credentials.create_reset_link(acting(request), user_id, request.origin)


@routes.admin_operation(
    "DELETE", "/v1/admin/users/{user_id}/recovery-kit", [Acl.USER_DELETE_RECOVERY_KIT], AdminAction.REVOKE_RECOVERY_KIT
)
async def revoke_recovery_kit(request: Request, administration: AdministrationArea, user_id: int) -> None:
    """Void an account's recovery kit."""
    await administration.credentials.revoke_recovery_kit(acting(request), user_id)


@routes.admin_operation("DELETE", "/v1/admin/users/{user_id}/mfa", [Acl.USER_UPDATE_MFA], AdminAction.DISABLE_MFA)
async def disable_mfa(request: Request, administration: AdministrationArea, user_id: int) -> None:
    """Forget an account's second factors, passkeys excepted."""
    await administration.credentials.disable_mfa(acting(request), user_id)


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/webauthn-credentials",
    [Acl.USER_UPDATE_MFA],
    AdminAction.LIST_WEBAUTHN_CREDENTIALS,
    bucket=buckets.MODIFY,
)
async def list_webauthn_credentials(
    request: Request, administration: AdministrationArea, user_id: int
) -> wire.AdminPasskeys:
    """An account's passkeys."""
    return await administration.credentials.passkeys(acting(request), user_id)


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/webauthn-credentials/{credential}",
    [Acl.USER_UPDATE_MFA],
    AdminAction.DELETE_WEBAUTHN_CREDENTIAL,
)
async def delete_webauthn_credential(
    request: Request, administration: AdministrationArea, user_id: int, credential: str
) -> None:
    """Take one of an account's passkeys away."""
    if len(credential) > CREDENTIAL_ID_LENGTH:
        raise InvalidFormBody.at("credential_id", FieldCode.INVALID_FORMAT)
    await administration.credentials.delete_passkey(acting(request), user_id, credential)


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/sessions",
    [Acl.USER_UPDATE_FLAGS],
    AdminAction.TERMINATE_SESSIONS,
)
async def terminate_sessions(
    request: Request, administration: AdministrationArea, user_id: int
) -> wire.SessionsTerminated:
    """End every sign-in of an account."""
    ended = await administration.credentials.terminate_sessions(acting(request), user_id)
    return {"terminated_count": ended}


@routes.admin_operation("GET", "/v1/admin/registrations", [Acl.USER_LOOKUP], AdminAction.LIST_REGISTRATIONS)
async def list_registrations(request: Request, administration: AdministrationArea) -> wire.Registrations:
    """Registrations that wait for a decision, the longest waiting first."""
    return await administration.registrations.waiting(acting(request))


@routes.admin_operation(
    "POST", "/v1/admin/registrations/{user_id}/approve", [Acl.USER_UPDATE_FLAGS], AdminAction.APPROVE_REGISTRATION
)
async def approve_registration(request: Request, administration: AdministrationArea, user_id: int) -> None:
    """Let a registration in."""
    await administration.registrations.approve(acting(request), user_id)


@routes.admin_operation(
    "POST", "/v1/admin/registrations/{user_id}/reject", [Acl.USER_UPDATE_FLAGS], AdminAction.REJECT_REGISTRATION
)
async def reject_registration(request: Request, administration: AdministrationArea, user_id: int) -> None:
    """Turn a registration down."""
    await administration.registrations.reject(acting(request), user_id)
