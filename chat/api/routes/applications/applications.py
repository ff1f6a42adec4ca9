"""Operations on applications and their bots (applications.md, Own application; applications.md, Applications and
bots)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import OMITTED, Exact, Items, Length, Maybe, Range, SudoFields
from chat.api.operation import Policy, Request, Routes
from chat.api.routes.accounts.accounts import Discriminator, profile_of
from chat.classes import frozen
from chat.domain.applications.applications import NAME_LENGTH, BotChange, NewApplication
from chat.domain.applications.assemble import ApplicationsArea
from chat.domain.policy.profiles import TagChange

routes = Routes(policy=Policy.USER_ONLY)

INT32_MAXIMUM: Final = (1 << 31) - 1
REDIRECT_LENGTH: Final = 2_048
REDIRECTS_MAXIMUM: Final = 100
"""Items that are looked at at all; how many an application may have is a limit of the instance."""

Name = Annotated[str, Length(1, NAME_LENGTH)]
Redirects = Annotated[tuple[Annotated[str, Length(1, REDIRECT_LENGTH)], ...], Items(0, REDIRECTS_MAXIMUM)]


@frozen(kw_only=True)
class CreateApplication:
    """The body of POST /v1/oauth2/applications."""

    name: Name
    redirect_uris: Redirects = ()
    bot_public: bool = True
    bot_require_code_grant: bool = False
    public_client: bool = False


@frozen(kw_only=True)
class ChangeApplication:
    """The body of PATCH /v1/oauth2/applications/{application_id}."""

    BODY_NAME: ClassVar = "ApplicationsChangeApplicationBody"

    name: Maybe[Name] = OMITTED
    redirect_uris: Maybe[Redirects | None] = OMITTED
    bot_public: Maybe[bool] = OMITTED
    bot_require_code_grant: Maybe[bool] = OMITTED
    public_client: Maybe[bool] = OMITTED
    interactions_endpoint_url: Maybe[Annotated[str, Exact(), Length(1, REDIRECT_LENGTH)] | None] = OMITTED


@frozen(kw_only=True)
class ChangeBot:
    """The body of PATCH /v1/oauth2/applications/{application_id}/bot."""

    username: str | None = None
    discriminator: Discriminator | None = None
    bio: Maybe[str | None] = OMITTED
    avatar: Maybe[Annotated[str, Exact()] | None] = attrs.field(default=OMITTED, repr=False)
    banner: Maybe[Annotated[str, Exact()] | None] = attrs.field(default=OMITTED, repr=False)
    bot_flags: Annotated[int, Range(0, INT32_MAXIMUM)] | None = None


@routes.operation(
    "GET",
    "/v1/applications/@me",
    policy=Policy.OWN_APPLICATION,
    bucket=buckets.APPLICATION_OWN,
)
async def get_application_of_bot(request: Request, applications: ApplicationsArea) -> wire.OwnApplication:
    """The application that the calling bot belongs to."""
    return applications.applications.of_bot(request.principal)


@routes.operation(
    "POST",
    "/v1/oauth2/applications",
    bucket=buckets.APPLICATION_CREATE,
    closed_to_limited=True,
    secret=True,
)
async def create_application(
    request: Request, applications: ApplicationsArea, body: CreateApplication
) -> wire.NewApplication:
    """Create an application with its bot; tells the client secret and the bot token this once."""
    new = NewApplication(
        name=body.name,
        redirect_uris=body.redirect_uris,
        bot_public=body.bot_public,
        bot_require_code_grant=body.bot_require_code_grant,
        public_client=body.public_client,
    )
    return await applications.applications.create(request.principal, new)


@routes.operation(
    "GET",
    "/v1/oauth2/applications/@me",
    policy=Policy.USER,
    bucket=buckets.APPLICATIONS,
    name="list_oauth2_applications",
)
async def list_applications_or_get_own(
    request: Request, applications: ApplicationsArea
) -> list[wire.Application] | wire.OwnApplication:
    """A person's applications, oldest first; for a bot the one that it belongs to, which libraries ask for at login."""
    if request.principal.is_bot:
        return applications.applications.of_bot(request.principal)
    return await applications.applications.of_account(request.principal)


@routes.operation("GET", "/v1/users/@me/applications", bucket=buckets.APPLICATIONS)
async def list_applications(request: Request, applications: ApplicationsArea) -> list[wire.Application]:
    """The caller's applications, oldest first."""
    return await applications.applications.of_account(request.principal)


@routes.operation("GET", "/v1/oauth2/applications/{application_id}", bucket=buckets.APPLICATION)
async def get_application(request: Request, applications: ApplicationsArea, application_id: int) -> wire.Application:
    """One of the caller's applications."""
    return applications.applications.get(request.principal, application_id)


@routes.operation("PATCH", "/v1/oauth2/applications/{application_id}", bucket=buckets.APPLICATION_CHANGE)
async def change_application(
    request: Request, applications: ApplicationsArea, application_id: int, body: ChangeApplication
) -> wire.Application:
    """Change one of the caller's applications."""
    changes = {name: value for name, value in attrs.asdict(body, recurse=False).items() if value is not OMITTED}
    if "redirect_uris" in changes:
        changes["redirect_uris"] = changes["redirect_uris"] or ()
    return await applications.applications.change(request.principal, application_id, changes)


@routes.operation("DELETE", "/v1/oauth2/applications/{application_id}", bucket=buckets.APPLICATION_CHANGE)
async def delete_application(
    request: Request, applications: ApplicationsArea, application_id: int, body: SudoFields
) -> None:
    """Delete an application and its bot; sudo mode."""
    await applications.applications.delete(request.principal, application_id, request.proof(body))


@routes.operation(
    "PATCH", "/v1/oauth2/applications/{application_id}/bot", bucket=buckets.APPLICATION_CHANGE, images=True
)
async def change_bot(
    request: Request, applications: ApplicationsArea, application_id: int, body: ChangeBot
) -> wire.Bot:
    """Change the bot account of an application."""
    change = BotChange(profile_of(body), TagChange(body.username, body.discriminator), body.bot_flags)
    return await applications.applications.change_bot(request.principal, application_id, change)


@routes.operation(
    "POST",
    "/v1/oauth2/applications/{application_id}/bot/reset-token",
    bucket=buckets.APPLICATION_SECRETS,
    secret=True,
)
async def reset_bot_token(
    request: Request, applications: ApplicationsArea, application_id: int, body: SudoFields
) -> wire.BotToken:
    """Give the bot a new token; sudo mode."""
    return await applications.applications.reset_bot_token(request.principal, application_id, request.proof(body))


@routes.operation(
    "POST",
    "/v1/oauth2/applications/{application_id}/client-secret/reset",
    bucket=buckets.APPLICATION_SECRETS,
    secret=True,
)
async def reset_client_secret(
    request: Request, applications: ApplicationsArea, application_id: int, body: SudoFields
) -> wire.ClientSecret:
    """Give the application a new client secret; sudo mode."""
    return await applications.applications.reset_client_secret(request.principal, application_id, request.proof(body))
