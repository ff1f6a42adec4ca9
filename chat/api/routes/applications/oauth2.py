"""OAuth2 operations (applications.md, Authorisation; RFC 6749, 7009, 7636, 7662).

Clients call token, revoke and introspect with their own credentials, which are none of the forms of access.md,
Credential forms; so those operations admit anyone, and the protocol authenticates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, TypeVar

import attrs

from chat import wire
from chat.api import buckets
from chat.api.bodies import FORM_TYPE
from chat.api.fields import Exact, Items, Length, PermissionBits, Refusal, Schema, Snowflake
from chat.api.oauth2_forms import client_credentials, parameters_of, read_form, required
from chat.api.operation import Answer, Policy, Request, Routes
from chat.api.schemas.shapes import (
    NOTHING,
    SNOWFLAKE,
    TEXT,
    Shape,
    choice,
    either,
    record,
    text,
)
from chat.auth.principal import CredentialKind
from chat.classes import frozen
from chat.domain.applications.assemble import ApplicationsArea
from chat.domain.applications.oauth2_authorization import AuthorizationRequest
from chat.domain.applications.oauth2_protocol import NOT_STORED, OAuth2Error, OAuth2ErrorCode
from chat.domain.applications.oauth2_tokens import CodeExchange
from chat.protocol.whole_numbers import whole
from chat.registries.scopes import Scope

B = TypeVar("B")

routes = Routes()

PARAMETER_LENGTH: Final = 2_048
"""Characters of a parameter of an authorisation request."""

AUTHORIZATIONS_AT_ONCE: Final = 100

Parameter = Annotated[str, Exact(), Length(1, PARAMETER_LENGTH)]

_REQUEST_PARAMETERS: Final = tuple(field.name for field in attrs.fields(AuthorizationRequest))


class _ApplicationId:
    """An application's snowflake, which text of another form does not name: the protocol has an answer to that."""

    schema: Final[Schema] = {"type": ["string", "integer"]}

    def read(self, value: object) -> str:
        told = whole(value)
        if type(told) not in (str, int):
            raise Refusal
        return str(told)


ClientId = Annotated[str, _ApplicationId()]


@frozen(kw_only=True)
class Consent:
    """The body of POST /v1/oauth2/authorize/consent: the parameters of the authorisation request, and for a bot the
    guild that it is to join with what permissions."""

    client_id: ClientId | None = None
    redirect_uri: Parameter | None = None
    response_type: Parameter | None = None
    scope: Parameter | None = None
    state: Parameter | None = None
    code_challenge: Parameter | None = None
    code_challenge_method: Parameter | None = None
    guild_id: Snowflake | None = None
    permissions: PermissionBits | None = None

    def request(self) -> AuthorizationRequest:
        """The authorisation request that is consented to."""
        return AuthorizationRequest(**{name: getattr(self, name) for name in _REQUEST_PARAMETERS})


@frozen(kw_only=True)
class RevokeAuthorizations:
    """The body of POST /v1/oauth2/@me/authorizations/revoke."""

    application_id: Snowflake | None = None
    application_ids: Annotated[list[Snowflake], Items(0, AUTHORIZATIONS_AT_ONCE)] = attrs.field(factory=list)


@routes.operation(
    "GET",
    "/v1/oauth2/applications/{application_id}/public",
    policy=Policy.NONE,
    bucket=buckets.APPLICATION,
)
async def get_public_application(
    request: Request, applications: ApplicationsArea, application_id: int
) -> wire.PublicApplication:
    """An application as the page that asks for consent shows it."""
    caller = request.caller
    viewer = caller.account if caller is not None and caller.kind is CredentialKind.SESSION else None
    return applications.oauth2_identity.public(application_id, viewer)


_WORD: Final = text(PARAMETER_LENGTH, minimum=1)
_SECRET_PARAMETERS: Final[Mapping[str, Shape]] = {"client_id": SNOWFLAKE, "client_secret": TEXT}
"""How a client shows itself that does not use HTTP Basic."""

_TOKEN_FORM: Final = {
    FORM_TYPE: either(
        record(
            {"grant_type": choice("authorization_code"), "code": TEXT, "redirect_uri": TEXT},
            optional={"code_verifier": TEXT, **_SECRET_PARAMETERS},
        ),
        record(
            {"grant_type": choice("refresh_token"), "refresh_token": TEXT},
            optional={"scope": TEXT, **_SECRET_PARAMETERS},
        ),
    )
}
_ONE_TOKEN: Final = {FORM_TYPE: record({"token": TEXT}, optional={"token_type_hint": TEXT, **_SECRET_PARAMETERS})}


@routes.operation(
    "GET",
    "/v1/oauth2/authorize",
    policy=Policy.NONE,
    bucket=buckets.OAUTH2_AUTHORIZE,
    parameters=record({}, optional=dict.fromkeys(_REQUEST_PARAMETERS, _WORD)),
    oauth2_errors=True,
    answers={302: NOTHING},
)
async def authorize(request: Request, applications: ApplicationsArea) -> Answer:
    """Send a browser that brings an authorisation request to the page that asks for consent."""
    parameters = parameters_of(request.query_string)
    asked = AuthorizationRequest(**{name: parameters.get(name) for name in _REQUEST_PARAMETERS})
    query = request.query_string.decode("ascii")
    return Answer(302, headers={"Location": applications.oauth2_authorization.destination(asked, query)})


@routes.operation(
    "POST",
    "/v1/oauth2/authorize/consent",
    policy=Policy.USER_ONLY,
    bucket=buckets.OAUTH2_CONSENT,
    oauth2_errors=True,
    secret=True,
)
async def consent_to_application(
    request: Request, applications: ApplicationsArea, body: Consent
) -> wire.ConsentToApplicationAnswer:
    """Consent to an authorisation request."""
    redirect_to = await applications.oauth2_authorization.consent(
        request.principal,
        body.request(),
        guild_id=body.guild_id,
        permissions=body.permissions or 0,
        reason=request.audit_log_reason,
    )
    return {"redirect_to": redirect_to}


@routes.operation(
    "POST",
    "/v1/oauth2/token",
    policy=Policy.NONE,
    bucket=buckets.OAUTH2_TOKEN,
    oauth2_errors=True,
    client_credentials=True,
    streamed=True,
    accepts=_TOKEN_FORM,
    secret=True,
)
async def issue_tokens(request: Request, applications: ApplicationsArea) -> Answer[wire.OAuth2Tokens]:
    """Exchange an authorisation code or a refresh token."""
    form = await read_form(request)
    shown = client_credentials(request, form)
    match required(form, "grant_type"):
        case "authorization_code":
            presented = CodeExchange(required(form, "code"), required(form, "redirect_uri"), form.get("code_verifier"))
            return _not_kept(await applications.oauth2_tokens.exchange(shown, presented, request.guard))
        case "refresh_token":
            refresh_token = required(form, "refresh_token")
            return _not_kept(
                await applications.oauth2_tokens.refresh(shown, refresh_token, form.get("scope"), request.guard)
            )
        case _:
            raise OAuth2Error(
                OAuth2ErrorCode.UNSUPPORTED_GRANT_TYPE, "grant_type is authorization_code or refresh_token."
            )


@routes.operation(
    "POST",
    "/v1/oauth2/token/revoke",
    policy=Policy.NONE,
    bucket=buckets.OAUTH2_REVOKE,
    oauth2_errors=True,
    client_credentials=True,
    streamed=True,
    accepts=_ONE_TOKEN,
)
async def revoke_token(request: Request, applications: ApplicationsArea) -> Answer[wire.RevokeTokenAnswer]:
    """End a token; 200 whether there was one or not (RFC 7009 2.2)."""
    form = await read_form(request)
    shown = client_credentials(request, form)
    await applications.oauth2_tokens.revoke(shown, required(form, "token"), request.guard)
    return _not_kept({})


@routes.operation(
    "POST",
    "/v1/oauth2/introspect",
    policy=Policy.NONE,
    bucket=buckets.OAUTH2_INTROSPECT,
    oauth2_errors=True,
    client_credentials=True,
    streamed=True,
    accepts=_ONE_TOKEN,
)
async def introspect_token(request: Request, applications: ApplicationsArea) -> Answer[wire.Introspection]:
    """Tell what a token is good for."""
    form = await read_form(request)
    shown = client_credentials(request, form)
    return _not_kept(applications.oauth2_tokens.introspect(shown, required(form, "token")))


@routes.operation(
    "GET",
    "/v1/oauth2/userinfo",
    policy=Policy.OAUTH2,
    scope=Scope.IDENTIFY,
    bucket=buckets.OAUTH2_IDENTITY,
)
@routes.operation(
    "POST",
    "/v1/oauth2/userinfo",
    policy=Policy.OAUTH2,
    scope=Scope.IDENTIFY,
    bucket=buckets.OAUTH2_IDENTITY,
    name="post_user_info",
)
async def get_user_info(request: Request, applications: ApplicationsArea) -> wire.UserInfo:
    """The account behind the access token."""
    return applications.oauth2_identity.user_info(request.principal)


@routes.operation("GET", "/v1/oauth2/@me", policy=Policy.OAUTH2, bucket=buckets.OAUTH2_IDENTITY)
async def get_current_authorization(request: Request, applications: ApplicationsArea) -> wire.CurrentAuthorization:
    """What the access token is for."""
    return applications.oauth2_identity.current(request.principal)


@routes.operation(
    "GET",
    "/v1/oauth2/@me/authorizations",
    policy=Policy.USER_ONLY,
    bucket=buckets.OAUTH2_AUTHORIZATIONS,
)
async def list_authorizations(request: Request, applications: ApplicationsArea) -> list[wire.Authorization]:
    """The applications that can act for the caller."""
    return await applications.oauth2_identity.authorizations(request.principal)


@routes.operation(
    "DELETE",
    "/v1/oauth2/@me/authorizations/{application_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.OAUTH2_AUTHORIZATIONS_END,
)
async def end_authorization(request: Request, applications: ApplicationsArea, application_id: int) -> None:
    """Take an authorisation back."""
    await applications.oauth2_identity.end(request.principal, application_id)


@routes.operation(
    "POST", "/v1/oauth2/@me/authorizations/revoke", policy=Policy.USER_ONLY, bucket=buckets.OAUTH2_AUTHORIZATIONS_END
)
async def end_authorizations(request: Request, applications: ApplicationsArea, body: RevokeAuthorizations) -> None:
    """Take several authorisations back; those that were never given are passed over."""
    named = [*body.application_ids, *([] if body.application_id is None else [body.application_id])]
    await applications.oauth2_identity.end_all(request.principal, named)


@routes.operation(
    "GET",
    "/v1/users/@me/connections",
    policy=Policy.USER_ONLY,
    scope=Scope.CONNECTIONS,
    bucket=buckets.USER_OWN,
)
async def list_connections(request: Request) -> list[dict[str, object]]:
    """The caller's accounts elsewhere. This instance connects none."""
    return []


def _not_kept(body: B) -> Answer[B]:
    """An answer that no cache may keep (RFC 6749 5.1)."""
    return Answer(200, body, NOT_STORED)
