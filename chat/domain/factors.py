"""What an account holds beside its password."""

from __future__ import annotations

import attrs


@attrs.frozen
class FactorsHeld:
    """The means by which an account could prove itself in sudo mode."""

    totp: bool = False
    webauthn: bool = False
    """Whether a passkey is registered, enabled as a second factor or not (document 000, Sudo mode 2)."""
    backup_codes: bool = False
    """Whether a backup code is left."""

    @property
    def any(self) -> bool:
        """Whether a TOTP secret or a passkey is there: backup codes alone make no factor."""
        return self.totp or self.webauthn
