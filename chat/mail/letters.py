"""The words of each mail. Links carry their secret in the fragment, which browsers send to nobody."""

from __future__ import annotations

from chat.mail.mailer import Mail, MailKind


def verification(recipient: str, *, service_name: str, public_url: str, token: str) -> Mail:
    """Asks the holder of an address to confirm it."""
    text = (
        f"Somebody, hopefully you, gave this address to {service_name}.\n\n"
        f"Confirm that it is yours within 24 hours:\n{public_url}/verify#token={token}\n\n"
        "If it was not you, do nothing: the address stays unconfirmed.\n"
    )
    return Mail(recipient, f"Confirm your address for {service_name}", text, MailKind.VERIFICATION, token)
