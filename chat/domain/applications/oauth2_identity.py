"""What the holder of an access token learns from it, and what accounts see of the authorisations that they gave
(applications.md, Granted access)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.applications.application_objects import authorized_application, bot_of, public_application
from chat.domain.applications.oauth2_authorization import code_kind
from chat.domain.applications.oauth2_protocol import OAuth2Clients, scopes_of
from chat.domain.core import Core
from chat.domain.standing.user_objects import partial_user, public_flags
from chat.errors import ApiError, StorageUnavailable
from chat.registries.error_codes import ErrorCode
from chat.registries.scopes import Scope
from chat.store.accounts.accounts import Account
from chat.store.applications import oauth2_grants
from chat.store.applications.applications import Application
from chat.store.applications.oauth2_grants import Grant
from chat.store.signing_in import tickets


@define(kw_only=True, eq=False)
class OAuth2Identity:
    """Reads what access tokens tell, and lists and ends authorisations."""

    _core: Core
    _clients: OAuth2Clients

    def public(self, application_id: int, account: Account | None) -> wire.PublicApplication:
        """An application as the public sees it, with the account that is looking. Raises UNKNOWN_APPLICATION."""
        if self._core.database.failing:
            raise StorageUnavailable
        application = self._application(application_id)
        bot = bot_of(self._core.database.reader, application)
        data = public_application(application, bot, scopes_of(application_id))
        if account is not None:
            data["current_user"] = partial_user(account)
        return data

    def user_info(self, principal: Principal) -> wire.UserInfo:
        """The account behind an access token; its address only with the scope `email`."""
        account = principal.account
        data: wire.UserInfo = {
            "sub": str(account.id),
            "id": str(account.id),
            "username": account.username,
            "discriminator": f"{account.discriminator:04d}",
            "global_name": account.global_name,
            "avatar": account.avatar,
            "flags": public_flags(account.flags),
        }
        if Scope.EMAIL in principal.scopes:
            data["email"] = account.email
            data["verified"] = account.email_verified
        return data

    def current(self, principal: Principal) -> wire.CurrentAuthorization:
        """Describe an access token: its application, scopes and expiry; the account only with the scope `identify`.

        :raises ApiError: UNKNOWN_APPLICATION, UNAUTHORIZED for a caller without an access token.
        """
        if principal.application_id is None or principal.expires_at is None:
            raise ApiError(ErrorCode.UNAUTHORIZED)
        known = scopes_of(principal.application_id)
        data: wire.CurrentAuthorization = {
            "application": authorized_application(self._application(principal.application_id)),
            "scopes": [scope for scope in known if scope in principal.scopes],
            "expires": iso_timestamp(principal.expires_at),
        }
        if Scope.IDENTIFY in principal.scopes:
            data["user"] = partial_user(principal.account)
        return data

    async def authorizations(self, principal: Principal) -> list[wire.Authorization]:
        """The applications that can act for the account, the longest authorised first; their grants taken together."""
        user_id, now = principal.user_id, self._core.clock.now_ms()

        def query(connection: sqlite3.Connection) -> list[wire.Authorization]:
            grants: dict[int, list[Grant]] = {}
            for grant in oauth2_grants.living_of_user(connection, user_id, now):
                grants.setdefault(grant.application_id, []).append(grant)
            found = (
                (self._clients.find(connection, application_id), given) for application_id, given in grants.items()
            )
            return [_authorization(application, given) for application, given in found if application is not None]

        return await self._core.database.read(query)

    async def end(self, principal: Principal, application_id: int) -> None:
        """Take an authorisation back: the application's tokens and codes for the account are worth nothing.

        :raises ApiError: UNKNOWN_APPLICATION for one that the account has not authorised.
        """
        if not await self.end_all(principal, [application_id]):
            raise ApiError(ErrorCode.UNKNOWN_APPLICATION)

    async def end_all(self, principal: Principal, application_ids: Sequence[int]) -> int:
        """As `end`, for several; those that the account has not authorised are passed over. Returns how many there
        were."""
        user_id, now = principal.user_id, self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> int:
            living = {grant.application_id for grant in oauth2_grants.living_of_user(connection, user_id, now)}
            for application_id in application_ids:
                tickets.delete_of_user(connection, user_id, code_kind(application_id))
                oauth2_grants.delete_of_application(connection, user_id, application_id)
            return len(living.intersection(application_ids))

        return await self._core.database.write(unit, guard=principal.guard)

    def _application(self, application_id: int) -> Application:
        application = self._clients.find(self._core.database.reader, application_id)
        if application is None:
            raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
        return application


def _authorization(application: Application, grants: Sequence[Grant]) -> wire.Authorization:
    granted = {scope for grant in grants for scope in grant.scopes}
    return {
        "application": authorized_application(application),
        "scopes": [scope for scope in scopes_of(application.id) if scope in granted],
        "authorized_at": iso_timestamp(grants[0].created_at),
    }
