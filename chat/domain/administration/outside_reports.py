"""Reports by people without an account, as the Digital Services Act of the European Union asks for (instance.md,
Reports).

The reporter first proves to hold an email address: a code goes to it, and for the code there is a ticket, which is good
for one report. What is reported is named by what a person without an account can see: the URL of a message, a tag, an
invite; or by ids.
"""

from __future__ import annotations

import re
import sqlite3
from typing import Final, TypedDict

import orjson
import structlog

from chat import wire
from chat.auth.tokens import token_hash
from chat.auth.typed_codes import TypedCodes
from chat.classes import define, frozen
from chat.domain.administration.messages import TO_MESSAGE
from chat.domain.administration.reports import NewReport
from chat.domain.core import Core
from chat.domain.messages.message_reading import Messages
from chat.domain.signing_in.mailed_codes import MOST_WRONG, refused_ticket, wrong_code
from chat.errors import ApiError
from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mailer
from chat.registries.error_codes import ErrorCode
from chat.registries.reports import ReportKind
from chat.snowflake import MAXIMUM
from chat.store.accounts import accounts
from chat.store.accounts.accounts import email_key
from chat.store.administration import reports
from chat.store.administration.reports import Report
from chat.store.guard import Guard
from chat.store.guilds import channels, guilds, invites
from chat.store.signing_in import tickets
from chat.store.signing_in.tickets import Ticket

CODE_KIND: Final = "report_email_code"
TICKET_KIND: Final = "report_ticket"

CODE_LIFETIME_MS: Final = 10 * 60_000
TICKET_LIFETIME_MS: Final = 60 * 60_000

_TAG: Final = re.compile(r"([A-Za-z0-9_]{1,32})(?:#([0-9]{1,4}))?")

log: Final = structlog.get_logger("chat.reports")


@frozen(kw_only=True)
class Reporter:
    """The full legal name of the reporter, and the country of residence (ISO 3166-1, two letters)."""

    name: str
    country: str


class ThingReported(TypedDict, total=False):
    """What a report keeps of the thing that was found."""

    reported_user_id: int | None
    guild_id: int | None
    channel_id: int
    message_id: int
    snapshot: str


@frozen(kw_only=True)
class ReportedThing:
    """What a person reports; each kind can be named in several ways, of which one is given."""

    kind: ReportKind
    user_id: int | None = None
    user_tag: str | None = None
    guild_id: int | None = None
    invite_code: str | None = None
    channel_id: int | None = None
    message_id: int | None = None
    message_link: str | None = None


@define(eq=False)
class OutsideReports:
    """Takes reports of people without an account."""

    _core: Core
    _codes: TypedCodes
    _messages: Messages
    _mailer: Mailer

    async def send_code(self, email: str, guard: Guard) -> None:
        """Mail a code to an email address; it takes the place of an earlier one."""
        key = _code_key(email)
        code = self._codes.mailed()
        body = {"code": self._codes.digest(code, key).hex()}

        def unit(connection: sqlite3.Connection) -> None:
            now = self._core.clock.now_ms()
            tickets.delete(connection, key)
            tickets.insert(connection, Ticket(key, CODE_KIND, None, body, now, now + CODE_LIFETIME_MS))
            mail = letters.report_code(Letterhead.of(self._core.settings), email, code=code)
            self._mailer.post(connection, mail)

        await self._core.database.write(unit, guard=guard)

    async def verify(self, email: str, code: str, guard: Guard) -> str:
        """Take the code that went to an address; the ticket for one report. Raises INVALID_CODE at `code`, the same for
        a wrong one, one that is over, and an address that no code went to."""
        key, secret = _code_key(email), self._core.mint.secret()

        def unit(connection: sqlite3.Connection) -> bool:
            now = self._core.clock.now_ms()
            waiting = tickets.find(connection, CODE_KIND, key, now)
            if waiting is None:
                return False
            if not self._codes.matches(code, key, bytes.fromhex(waiting.body["code"])):
                tickets.count_attempt(connection, key, MOST_WRONG)
                return False  # not raised here: the attempt has to be counted
            tickets.delete(connection, key)
            ticket = Ticket(token_hash(secret), TICKET_KIND, None, {"email": email}, now, now + TICKET_LIFETIME_MS)
            tickets.insert(connection, ticket)
            return True

        if not await self._core.database.write(unit, guard=guard):
            raise wrong_code()
        return secret

    async def report(
        self, secret: str, reporter: Reporter, thing: ReportedThing, new: NewReport, guard: Guard
    ) -> wire.Reported:
        """Report something with a ticket, which is used up by it. Raises INVALID_OR_EXPIRED_TICKET at `ticket`;
        UNKNOWN_USER, UNKNOWN_GUILD, UNKNOWN_MESSAGE; the ticket stays good."""
        key = token_hash(secret)
        if tickets.find(self._core.database.reader, TICKET_KIND, key, self._core.clock.now_ms()) is None:
            raise refused_ticket()
        about = await self._about(thing)

        def unit(connection: sqlite3.Connection) -> Report:
            ticket = tickets.take(connection, TICKET_KIND, key, self._core.clock.now_ms())
            if ticket is None:
                raise refused_ticket()
            report = new.report(
                self._core,
                thing.kind,
                reporter_email=ticket.body["email"],
                reporter_name=reporter.name,
                reporter_country=reporter.country,
                **about,
            )
            reports.insert(connection, report)
            return report

        report = await self._core.database.write(unit, guard=guard)
        log.info("report from outside", report_id=report.id, kind=report.kind, category=report.category)
        return {"report_id": str(report.id), "status": report.status}

    async def _about(self, thing: ReportedThing) -> ThingReported:
        if thing.kind is ReportKind.USER:
            return self._about_user(thing)
        if thing.kind is ReportKind.GUILD:
            return self._about_guild(thing)
        return await self._about_message(thing)

    def _about_user(self, thing: ReportedThing) -> ThingReported:
        reader = self._core.database.reader
        account = None
        if thing.user_id is not None:
            account = accounts.by_id(reader, thing.user_id)
        elif (tag := _TAG.fullmatch(thing.user_tag or "")) is not None:
            account = accounts.by_tag(reader, tag[1], int(tag[2] or 0))
        if account is None or account.is_deleted:
            raise ApiError(ErrorCode.UNKNOWN_USER)
        return {"reported_user_id": account.id}

    def _about_guild(self, thing: ReportedThing) -> ThingReported:
        reader = self._core.database.reader
        guild_id = thing.guild_id
        if guild_id is None and thing.invite_code is not None:
            code = thing.invite_code.rpartition("/")[2]
            invite = invites.named(reader, code, self._core.clock.now_ms())
            guild_id = guilds.by_vanity_url_code(reader, code.lower()) if invite is None else invite.guild_id
        guild = None if guild_id is None else guilds.by_id(reader, guild_id)
        if guild is None:
            raise ApiError(ErrorCode.UNKNOWN_GUILD)
        return {"guild_id": guild.id, "reported_user_id": guild.owner_id}

    async def _about_message(self, thing: ReportedThing) -> ThingReported:
        channel_id, message_id = thing.channel_id, thing.message_id
        if channel_id is None or message_id is None:
            found = TO_MESSAGE.search(thing.message_link or "")
            channel_id, message_id = (0, 0) if found is None else (int(found[1]), int(found[2]))
        if max(channel_id, message_id) > MAXIMUM:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        message = await self._messages.without_viewer(channel_id, message_id)
        return {
            "reported_user_id": None if "webhook_id" in message else int(message["author"]["id"]),
            "guild_id": channels.guild_of(self._core.database.reader, channel_id),
            "channel_id": channel_id,
            "message_id": message_id,
            "snapshot": orjson.dumps(message).decode(),
        }


def _code_key(email: str) -> bytes:
    """Under which the code for an address is kept."""
    return token_hash(f"report {email_key(email)}")
