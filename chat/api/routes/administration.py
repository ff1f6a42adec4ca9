"""Operations with which people report accounts, messages and guilds (instance.md, Reports)."""

from __future__ import annotations

import re
from typing import Annotated, Final

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import Exact, Length, Pattern, Snowflake, Trimmed
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.administration.outside_reports import ReportedThing, Reporter
from chat.domain.administration.reports import NewReport
from chat.domain.policy import account_rules
from chat.errors import InvalidFormBody
from chat.registries.error_codes import FieldCode
from chat.registries.reports import ReportCategory, ReportKind
from chat.store.accounts.accounts import email_key

routes = Routes()

INFO_LENGTH: Final = 1_000
NAME_LENGTH: Final = 160
LINK_LENGTH: Final = 512
CODE_LENGTH: Final = 64
COUNTRY: Final = re.compile("[A-Z]{2}")


@frozen(kw_only=True)
class Reported:
    """What every report says."""

    category: ReportCategory
    additional_info: Annotated[str, Length(0, INFO_LENGTH)] | None = None

    def new(self) -> NewReport:
        """The report without what it is about."""
        return NewReport(category=self.category, additional_info=self.additional_info)


@frozen(kw_only=True)
class ReportUser(Reported):
    """The body of POST /v1/reports/user."""

    user_id: Snowflake
    guild_id: Snowflake | None = None


@frozen(kw_only=True)
class ReportMessage(Reported):
    """The body of POST /v1/reports/message."""

    channel_id: Snowflake
    message_id: Snowflake


@frozen(kw_only=True)
class ReportGuild(Reported):
    """The body of POST /v1/reports/guild."""

    guild_id: Snowflake


@routes.operation("POST", "/v1/reports/user", policy=Policy.USER_ONLY, bucket=buckets.REPORT_CREATE)
async def report_user(request: Request, administration: AdministrationArea, body: ReportUser) -> wire.Reported:
    """Report an account."""
    return await administration.reports.report_user(request.principal, body.user_id, body.guild_id, body.new())


@routes.operation("POST", "/v1/reports/message", policy=Policy.USER_ONLY, bucket=buckets.REPORT_CREATE)
async def report_message(request: Request, administration: AdministrationArea, body: ReportMessage) -> wire.Reported:
    """Report a message."""
    return await administration.reports.report_message(request.principal, body.channel_id, body.message_id, body.new())


@routes.operation("POST", "/v1/reports/guild", policy=Policy.USER_ONLY, bucket=buckets.REPORT_CREATE)
async def report_guild(request: Request, administration: AdministrationArea, body: ReportGuild) -> wire.Reported:
    """Report a guild."""
    return await administration.reports.report_guild(request.principal, body.guild_id, body.new())


# Without an account


@frozen(kw_only=True)
class SendReportCode:
    """The body of POST /v1/reports/dsa/email/send."""

    email: Annotated[str, Trimmed(), Length(1, 254)]


@frozen(kw_only=True)
class VerifyReportCode(SendReportCode):
    """The body of POST /v1/reports/dsa/email/verify."""

    code: Annotated[str, Exact(), Length(1, CODE_LENGTH)] = attrs.field(repr=False)


@frozen(kw_only=True)
class ReportFromOutside(Reported):
    """The body of POST /v1/reports/dsa: what is reported, named in one of the ways that its kind has."""

    ticket: Annotated[str, Exact(), Length(1, CODE_LENGTH)] = attrs.field(repr=False)
    kind: ReportKind | None = None
    report_type: ReportKind | None = None
    reporter_full_legal_name: Annotated[str, Length(1, NAME_LENGTH)]
    reporter_country_of_residence: Annotated[str, Pattern(COUNTRY)]
    user_id: Snowflake | None = None
    user_tag: Annotated[str, Length(1, LINK_LENGTH)] | None = None
    guild_id: Snowflake | None = None
    invite_code: Annotated[str, Length(1, LINK_LENGTH)] | None = None
    channel_id: Snowflake | None = None
    message_id: Snowflake | None = None
    message_link: Annotated[str, Length(1, LINK_LENGTH)] | None = None
    reported_user_tag: Annotated[str, Length(1, LINK_LENGTH)] | None = None
    reporter_fluxer_tag: Annotated[str, Length(1, LINK_LENGTH)] | None = None

    def thing(self) -> ReportedThing:
        """What is reported. Raises INVALID_FORMAT where neither of its two names says the kind, or they differ."""
        kind = self.kind or self.report_type
        if kind is None:
            raise InvalidFormBody.at("kind", FieldCode.INVALID_FORMAT)
        if self.report_type not in {None, kind}:
            raise InvalidFormBody.at("report_type", FieldCode.INVALID_FORMAT)
        names = (field.name for field in attrs.fields(ReportedThing) if field.name != "kind")
        return ReportedThing(kind=kind, **{name: getattr(self, name) for name in names})

    def new(self) -> NewReport:
        """The report without what it is about. Tags that nothing is looked up by stand above what else was said."""
        tags = (("Tag of the reporter", self.reporter_fluxer_tag), ("Tag of the author", self.reported_user_tag))
        said = [f"{name}: {tag}" for name, tag in tags if tag is not None]
        info = "\n".join(part for part in (*said, self.additional_info) if part is not None)
        return NewReport(category=self.category, additional_info=info or None)


@routes.operation(
    "POST",
    "/v1/reports/dsa/email/send",
    policy=Policy.NONE,
    bucket=buckets.REPORT_OUTSIDE,
)
async def send_report_code(
    request: Request, administration: AdministrationArea, body: SendReportCode
) -> wire.SendReportCodeAnswer:
    """Mail a code to the address of a person who wants to report something without an account."""
    email = account_rules.email(body.email)
    request.limit(buckets.REPORT_CODES_TO_EMAIL, email_key(email))
    await administration.outside_reports.send_code(email, request.guard)
    return {"ok": True}


@routes.operation(
    "POST",
    "/v1/reports/dsa/email/verify",
    policy=Policy.NONE,
    bucket=buckets.REPORT_OUTSIDE,
    secret=True,
)
async def verify_report_code(
    request: Request, administration: AdministrationArea, body: VerifyReportCode
) -> wire.VerifyReportCodeAnswer:
    """Take the code; the ticket is good for one report."""
    email = account_rules.email(body.email)
    request.limit(buckets.REPORT_CODES_TRIED, email_key(email))
    return {"ticket": await administration.outside_reports.verify(email, body.code, request.guard)}


@routes.operation("POST", "/v1/reports/dsa", policy=Policy.NONE, bucket=buckets.REPORT_OUTSIDE)
async def report_from_outside(
    request: Request, administration: AdministrationArea, body: ReportFromOutside
) -> wire.Reported:
    """Report something without an account."""
    reporter = Reporter(name=body.reporter_full_legal_name, country=body.reporter_country_of_residence)
    reports = administration.outside_reports
    return await reports.report(body.ticket, reporter, body.thing(), body.new(), request.guard)
