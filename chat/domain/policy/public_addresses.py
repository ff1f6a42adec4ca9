"""Under which addresses media are found, as far as wire objects need to know."""

from __future__ import annotations

from typing import Protocol

from chat.store.messages.attachments import Attachment


class Addresses(Protocol):
    """Gives addresses of media (`chat.media.signing.MediaAddresses`)."""

    def attachment(self, attachment: Attachment) -> str:
        """Where an attachment is found from now on, for a while."""

    def external(self, url: str) -> str:
        """The address here under which something outside is served."""
