"""The words of each mail, in the language of the account that it goes to.

Links carry their secret in the fragment, which browsers never send.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from chat.classes import frozen
from chat.config import Settings
from chat.mail.mailer import Action, Letter, Mail, MailKind
from chat.store.accounts import user_settings
from chat.words import ENGLISH, language_of, said

SURFACE: Final = "letters"


@frozen
class Letterhead:
    """Who writes, and in which language."""

    service_name: str
    public_url: str
    language: str = ENGLISH

    @classmethod
    def of(cls, settings: Settings) -> Letterhead:
        """For somebody whose language is not known."""
        return cls(settings.service_name, settings.public_url)

    @classmethod
    def to(cls, connection: sqlite3.Connection, settings: Settings, user_id: int | None) -> Letterhead:
        """In the language of that account's settings; in English without an account."""
        locale = "" if user_id is None else user_settings.of_user(connection, user_id).get("locale", "")
        return cls(settings.service_name, settings.public_url, language_of(locale))

    def say(self, english: str, **values: str) -> str:
        """Words of `chat/words/<language>/letters.json`; values stand in their places as they are."""
        return said(self.language, SURFACE, english).format(service_name=self.service_name, **values)

    def letter(
        self,
        *,
        subject: str,
        paragraphs: tuple[str, ...],
        action: Action | None = None,
        code: str | None = None,
        closing: tuple[str, ...] = (),
    ) -> Letter:
        """A letter that knows its language."""
        return Letter(
            subject=subject,
            paragraphs=paragraphs,
            action=action,
            code=code,
            closing=closing,
            language=self.language,
        )


def verification(head: Letterhead, recipient: str, *, token: str) -> Mail:
    """Asks the holder of an address to confirm it."""
    say = head.say
    letter = head.letter(
        subject=say("Confirm your address for {service_name}"),
        paragraphs=(
            say("Somebody, hopefully you, gave this address to {service_name}."),
            say("Confirm that it is yours within 24 hours."),
        ),
        action=Action(say("Confirm this address"), f"{head.public_url}/verify#token={token}"),
        closing=(say("If it was not you, do nothing: the address stays unconfirmed."),),
    )
    return Mail(recipient, letter, MailKind.VERIFICATION, token)


def ip_authorization(head: Letterhead, recipient: str, *, address: str, token: str) -> Mail:
    """Asks the holder of an account whether it is them who signs in from an address never seen before."""
    say = head.say
    letter = head.letter(
        subject=say("Confirm a new place you sign in to {service_name} from"),
        paragraphs=(
            say(
                "Somebody with your password signs in to {service_name} from the address {address}, which "
                "your account has not used before.",
                address=address,
            ),
            say("If it is you, confirm it within 15 minutes."),
        ),
        action=Action(say("Sign in from this address"), f"{head.public_url}/authorize-ip#token={token}"),
        closing=(say("If it is not you, do not follow the link, and change your password: somebody else knows it."),),
    )
    return Mail(recipient, letter, MailKind.IP_AUTHORIZATION, token)


def password_reset(head: Letterhead, recipient: str, *, token: str) -> Mail:
    """Lets the holder of an address choose a new password."""
    say = head.say
    letter = head.letter(
        subject=say("Reset your password for {service_name}"),
        paragraphs=(
            say("Somebody, hopefully you, asked to reset the password of your account at {service_name}."),
            say("Choose a new one within an hour. It signs you out everywhere."),
        ),
        action=Action(say("Choose a new password"), f"{head.public_url}/reset#token={token}"),
        closing=(say("If it was not you, do nothing: your password stays what it is."),),
    )
    return Mail(recipient, letter, MailKind.PASSWORD_RESET, token)


def password_change(head: Letterhead, recipient: str, *, code: str) -> Mail:
    """Gives the signed-in holder the code for changing the password."""
    say = head.say
    letter = head.letter(
        subject=say("Your code for changing your password for {service_name}"),
        paragraphs=(say("Somebody who is signed in to your account wants to change its password. The code for it:"),),
        code=code,
        closing=(
            say("It works for ten minutes."),
            say(
                "If it was not you, tell nobody this code, and change your password yourself: somebody else "
                "is signed in."
            ),
        ),
    )
    return Mail(recipient, letter, MailKind.PASSWORD_CHANGE, code)


def email_change_from(head: Letterhead, recipient: str, *, code: str) -> Mail:
    """Asks the holder of an account's address whether the account may leave it."""
    say = head.say
    letter = head.letter(
        subject=say("Your code for changing your address for {service_name}"),
        paragraphs=(
            say("Somebody who is signed in to your account wants to give it another address. The code for it:"),
        ),
        code=code,
        closing=(
            say("It works for ten minutes."),
            say("If it was not you, tell nobody this code, and change your password: somebody else is signed in."),
        ),
    )
    return Mail(recipient, letter, MailKind.EMAIL_CHANGE, code)


def email_change_to(head: Letterhead, recipient: str, *, code: str) -> Mail:
    """Asks the holder of an address whether an account may have it."""
    say = head.say
    letter = head.letter(
        subject=say("Your code for using this address with {service_name}"),
        paragraphs=(say("Somebody, hopefully you, wants to use this address at {service_name}. The code for it:"),),
        code=code,
        closing=(say("It works for ten minutes."), say("If it was not you, do nothing: the address is not used.")),
    )
    return Mail(recipient, letter, MailKind.EMAIL_CHANGE, code)


def email_revert(head: Letterhead, recipient: str, *, token: str) -> Mail:
    """Tells the holder of an address that the account has left it, and takes it back if that was wrong."""
    say = head.say
    letter = head.letter(
        subject=say("Your address for {service_name} was changed"),
        paragraphs=(
            say("Your account at {service_name} has another address now; this one no longer belongs to it."),
            say("If you changed it yourself, you are done."),
            say(
                "If you did not, take your account back within 72 hours: this address is restored, you choose "
                "a new password, and everybody is signed out."
            ),
        ),
        action=Action(say("It was not me"), f"{head.public_url}/email-revert#token={token}"),
    )
    return Mail(recipient, letter, MailKind.EMAIL_REVERT, token)


def temporary_ban(head: Letterhead, recipient: str, *, until: str, reason: str | None) -> Mail:
    """Tells the holder that the account is banned until a moment (ISO 8601)."""
    say = head.say
    letter = head.letter(
        subject=say("Your account at {service_name} is suspended"),
        paragraphs=(
            say("An administrator has suspended your account at {service_name} until {until}.", until=until),
            *(() if reason is None else (say("The reason given: {reason}", reason=reason),)),
            say("You were signed out everywhere. After that time you can sign in again."),
        ),
    )
    return Mail(recipient, letter, MailKind.TEMPORARY_BAN)


def unban(head: Letterhead, recipient: str, *, reason: str | None) -> Mail:
    """Tells the holder of an account that its suspension is over."""
    say = head.say
    letter = head.letter(
        subject=say("Your account at {service_name} is open again"),
        paragraphs=(
            say("An administrator has lifted the suspension of your account at {service_name}."),
            *(() if reason is None else (say("The reason given: {reason}", reason=reason),)),
        ),
        action=Action(say("Sign in"), f"{head.public_url}/login"),
    )
    return Mail(recipient, letter, MailKind.UNBAN)


def account_deletion(head: Letterhead, recipient: str, *, kind: MailKind, due: str, reason: str | None) -> Mail:
    """Tells the holder of an account when it is erased: with reproach as DELETION_ENFORCEMENT, without as
    DELETION_NOTICE."""
    say = head.say
    first = (
        say("Your account at {service_name} broke its rules and is closed.")
        if kind is MailKind.DELETION_ENFORCEMENT
        else say("Your account at {service_name} is going to be deleted.")
    )
    letter = head.letter(
        subject=say("Your account at {service_name} will be deleted"),
        paragraphs=(
            first,
            *(() if reason is None else (say("The reason given: {reason}", reason=reason),)),
            say("It is erased for good at {due}. Until then nobody can sign in to it.", due=due),
        ),
    )
    return Mail(recipient, letter, kind)


def deletion_cancelled(head: Letterhead, recipient: str) -> Mail:
    """Tells the holder of an account that it stays."""
    say = head.say
    letter = head.letter(
        subject=say("Your account at {service_name} stays"),
        paragraphs=(say("The deletion of your account at {service_name} was called off. You can sign in again."),),
        action=Action(say("Sign in"), f"{head.public_url}/login"),
    )
    return Mail(recipient, letter, MailKind.DELETION_CANCELLED)


def report_code(head: Letterhead, recipient: str, *, code: str) -> Mail:
    """Asks a reporter without an account to confirm the email address."""
    say = head.say
    letter = head.letter(
        subject=say("Your code for a report to {service_name}"),
        paragraphs=(say("Somebody, hopefully you, wants to report something to {service_name}. The code for it:"),),
        code=code,
        closing=(say("It works for ten minutes."), say("If it was not you, do nothing.")),
    )
    return Mail(recipient, letter, MailKind.REPORT_CODE, code)


def report_resolved(head: Letterhead, recipient: str, *, comment: str | None) -> Mail:
    """Thanks the reporter for a report that was dealt with."""
    say = head.say
    letter = head.letter(
        subject=say("Your report to {service_name} was dealt with"),
        paragraphs=(
            say(
                "The people who look after {service_name} have dealt with what you reported. Thank you for "
                "telling them."
            ),
            *(() if comment is None else (say("They write: {comment}", comment=comment),)),
        ),
    )
    return Mail(recipient, letter, MailKind.REPORT_RESOLVED)


def disk_nearly_full(head: Letterhead, recipient: str, *, free: str) -> Mail:
    """Warns an administrator."""
    say = head.say
    letter = head.letter(
        subject=say("The disk of {service_name} is nearly full"),
        paragraphs=(
            say(
                "Only {free} are free on the disk of {service_name}. When it is full, nothing can be written.",
                free=free,
            ),
            say("The console shows what takes the room, and can clean up."),
        ),
        action=Action(say("Look at the storage"), f"{head.public_url}/admin/storage"),
    )
    return Mail(recipient, letter, MailKind.DISK_NEARLY_FULL)


def trial(head: Letterhead) -> Letter:
    """Tells an operator that mail arrives (`chat mail test`)."""
    say = head.say
    return head.letter(
        subject=say("Mail from {service_name} arrives"),
        paragraphs=(say("{service_name} was asked to send a letter to this address, and here it is."),),
        action=Action(say("Open {service_name}"), head.public_url),
    )
