"""The words of each mail. Links carry their secret in the fragment, which browsers send to nobody."""

from __future__ import annotations

from chat.mail.letter import Action, Letter
from chat.mail.mailer import Mail, MailKind


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
