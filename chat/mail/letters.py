"""The words of each mail. Links carry their secret in the fragment, which browsers never send."""

from __future__ import annotations

from chat.mail.mailer import Action, Letter, Mail, MailKind


def verification(recipient: str, *, service_name: str, public_url: str, token: str) -> Mail:
    """Asks the holder of an address to confirm it."""
    letter = Letter(
        subject=f"Confirm your address for {service_name}",
        paragraphs=(
            f"Somebody, hopefully you, gave this address to {service_name}.",
            "Confirm that it is yours within 24 hours.",
        ),
        action=Action("Confirm this address", f"{public_url}/verify#token={token}"),
        closing=("If it was not you, do nothing: the address stays unconfirmed.",),
    )
    return Mail(recipient, letter, MailKind.VERIFICATION, token)


def ip_authorization(recipient: str, *, service_name: str, public_url: str, address: str, token: str) -> Mail:
    """Asks the holder of an account whether it is them who signs in from an address never seen before."""
    letter = Letter(
        subject=f"Confirm a new place you sign in to {service_name} from",
        paragraphs=(
            f"Somebody with your password signs in to {service_name} from the address {address}, "
            "which your account has not used before.",
            "If it is you, confirm it within 15 minutes.",
        ),
        action=Action("Sign in from this address", f"{public_url}/authorize-ip#token={token}"),
        closing=("If it is not you, do not follow the link, and change your password: somebody else knows it.",),
    )
    return Mail(recipient, letter, MailKind.IP_AUTHORIZATION, token)


def password_reset(recipient: str, *, service_name: str, public_url: str, token: str) -> Mail:
    """Lets the holder of an address choose a new password."""
    letter = Letter(
        subject=f"Reset your password for {service_name}",
        paragraphs=(
            f"Somebody, hopefully you, asked to reset the password of your account at {service_name}.",
            "Choose a new one within an hour. It signs you out everywhere.",
        ),
        action=Action("Choose a new password", f"{public_url}/reset#token={token}"),
        closing=("If it was not you, do nothing: your password stays what it is.",),
    )
    return Mail(recipient, letter, MailKind.PASSWORD_RESET, token)


def password_change(recipient: str, *, service_name: str, code: str) -> Mail:
    """Gives the signed-in holder the code for changing the password."""
    letter = Letter(
        subject=f"Your code for changing your password for {service_name}",
        paragraphs=("Somebody who is signed in to your account wants to change its password. The code for it:",),
        code=code,
        closing=(
            "It works for ten minutes.",
            "If it was not you, tell nobody this code, and change your password yourself: somebody else is signed in.",
        ),
    )
    return Mail(recipient, letter, MailKind.PASSWORD_CHANGE, code)


def email_change_from(recipient: str, *, service_name: str, code: str) -> Mail:
    """Asks the holder of an account's address whether the account may leave it."""
    letter = Letter(
        subject=f"Your code for changing your address for {service_name}",
        paragraphs=("Somebody who is signed in to your account wants to give it another address. The code for it:",),
        code=code,
        closing=(
            "It works for ten minutes.",
            "If it was not you, tell nobody this code, and change your password: somebody else is signed in.",
        ),
    )
    return Mail(recipient, letter, MailKind.EMAIL_CHANGE, code)


def email_change_to(recipient: str, *, service_name: str, code: str) -> Mail:
    """Asks the holder of an address whether an account may have it."""
    letter = Letter(
        subject=f"Your code for using this address with {service_name}",
        paragraphs=(f"Somebody, hopefully you, wants to use this address at {service_name}. The code for it:",),
        code=code,
        closing=("It works for ten minutes.", "If it was not you, do nothing: the address is not used."),
    )
    return Mail(recipient, letter, MailKind.EMAIL_CHANGE, code)


def email_revert(recipient: str, *, service_name: str, public_url: str, token: str) -> Mail:
    """Tells the holder of an address that the account has left it, and takes it back if that was wrong."""
    letter = Letter(
        subject=f"Your address for {service_name} was changed",
        paragraphs=(
            f"Your account at {service_name} has another address now; this one no longer belongs to it.",
            "If you changed it yourself, you are done.",
            "If you did not, take your account back within 72 hours: this address is restored, you choose a new "
            "password, and everybody is signed out.",
        ),
        action=Action("It was not me", f"{public_url}/email-revert#token={token}"),
    )
    return Mail(recipient, letter, MailKind.EMAIL_REVERT, token)


def temporary_ban(recipient: str, *, service_name: str, until: str, reason: str | None) -> Mail:
    """Tells the holder that the account is banned until a moment (ISO 8601)."""
    letter = Letter(
        subject=f"Your account at {service_name} is suspended",
        paragraphs=(
            f"An administrator has suspended your account at {service_name} until {until}.",
            *(() if reason is None else (f"The reason given: {reason}",)),
            "You were signed out everywhere. After that time you can sign in again.",
        ),
    )
    return Mail(recipient, letter, MailKind.TEMPORARY_BAN)


def unban(recipient: str, *, service_name: str, public_url: str, reason: str | None) -> Mail:
    """Tells the holder of an account that its suspension is over."""
    letter = Letter(
        subject=f"Your account at {service_name} is open again",
        paragraphs=(
            f"An administrator has lifted the suspension of your account at {service_name}.",
            *(() if reason is None else (f"The reason given: {reason}",)),
        ),
        action=Action("Sign in", f"{public_url}/login"),
    )
    return Mail(recipient, letter, MailKind.UNBAN)


def account_deletion(recipient: str, *, kind: MailKind, service_name: str, due: str, reason: str | None) -> Mail:
    """Tells the holder of an account when it is erased: with reproach as DELETION_ENFORCEMENT, without as
    DELETION_NOTICE."""
    first = (
        f"Your account at {service_name} broke its rules and is closed."
        if kind is MailKind.DELETION_ENFORCEMENT
        else f"Your account at {service_name} is going to be deleted."
    )
    letter = Letter(
        subject=f"Your account at {service_name} will be deleted",
        paragraphs=(
            first,
            *(() if reason is None else (f"The reason given: {reason}",)),
            f"It is erased for good at {due}. Until then nobody can sign in to it.",
        ),
    )
    return Mail(recipient, letter, kind)


def deletion_cancelled(recipient: str, *, service_name: str, public_url: str) -> Mail:
    """Tells the holder of an account that it stays."""
    letter = Letter(
        subject=f"Your account at {service_name} stays",
        paragraphs=(f"The deletion of your account at {service_name} was called off. You can sign in again.",),
        action=Action("Sign in", f"{public_url}/login"),
    )
    return Mail(recipient, letter, MailKind.DELETION_CANCELLED)


def report_code(recipient: str, *, service_name: str, code: str) -> Mail:
    """Asks a reporter without an account to confirm the email address."""
    letter = Letter(
        subject=f"Your code for a report to {service_name}",
        paragraphs=(f"Somebody, hopefully you, wants to report something to {service_name}. The code for it:",),
        code=code,
        closing=("It works for ten minutes.", "If it was not you, do nothing."),
    )
    return Mail(recipient, letter, MailKind.REPORT_CODE, code)


def report_resolved(recipient: str, *, service_name: str, comment: str | None) -> Mail:
    """Thanks the reporter for a report that was dealt with."""
    letter = Letter(
        subject=f"Your report to {service_name} was dealt with",
        paragraphs=(
            f"The people who look after {service_name} have dealt with what you reported. Thank you for telling them.",
            *(() if comment is None else (f"They write: {comment}",)),
        ),
    )
    return Mail(recipient, letter, MailKind.REPORT_RESOLVED)


def trial(service_name: str, public_url: str) -> Letter:
    """Tells an operator that mail arrives (`chat mail test`)."""
    return Letter(
        subject=f"Mail from {service_name} arrives",
        paragraphs=(f"{service_name} was asked to send a letter to this address, and here it is.",),
        action=Action(f"Open {service_name}", public_url),
    )
