"""Operations with which people report accounts, messages and guilds (design 7, reports)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api import buckets
from chat.api.fields import Length, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.administration import REPORTED
from chat.domain.reports import NewReport
from chat.registries.reports import ReportCategory

routes = Routes()

INFO_LENGTH: Final = 1_000


@attrs.frozen(kw_only=True)
class Reported:
    """What every report says."""

    category: ReportCategory
    additional_info: Annotated[str, Length(0, INFO_LENGTH)] | None = None

    def new(self) -> NewReport:
        """The report without what it is about."""
        return NewReport(category=self.category, additional_info=self.additional_info)


@attrs.frozen(kw_only=True)
class ReportUser(Reported):
    """The body of POST /v1/reports/user."""

    user_id: Snowflake
    guild_id: Snowflake | None = None


@attrs.frozen(kw_only=True)
class ReportMessage(Reported):
    """The body of POST /v1/reports/message."""

    channel_id: Snowflake
    message_id: Snowflake


@attrs.frozen(kw_only=True)
class ReportGuild(Reported):
    """The body of POST /v1/reports/guild."""

    guild_id: Snowflake


@routes.operation(
    "POST",
    "/v1/reports/user",
    policy=Policy.USER_ONLY,
    bucket=buckets.REPORT_CREATE,
    body=ReportUser,
    answers=REPORTED,
)
async def report_user(request: Request, body: ReportUser) -> object:
    """Report an account."""
    return await request.services.administration.reports.report_user(
        request.principal, body.user_id, body.guild_id, body.new()
    )


@routes.operation(
    "POST",
    "/v1/reports/message",
    policy=Policy.USER_ONLY,
    bucket=buckets.REPORT_CREATE,
    body=ReportMessage,
    answers=REPORTED,
)
async def report_message(request: Request, body: ReportMessage) -> object:
    """Report a message."""
    return await request.services.administration.reports.report_message(
        request.principal, body.channel_id, body.message_id, body.new()
    )


@routes.operation(
    "POST",
    "/v1/reports/guild",
    policy=Policy.USER_ONLY,
    bucket=buckets.REPORT_CREATE,
    body=ReportGuild,
    answers=REPORTED,
)
async def report_guild(request: Request, body: ReportGuild) -> object:
    """Report a guild."""
    return await request.services.administration.reports.report_guild(request.principal, body.guild_id, body.new())
