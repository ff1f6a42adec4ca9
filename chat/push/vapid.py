"""How this instance names itself to push services (VAPID, RFC 8292): a signed token for each service's origin.

The key belongs to the instance's secret, so it is the same after every start: a subscription is bound to it.
"""

from __future__ import annotations

import collections
from typing import Final

from chat.auth.keys import Keys
from chat.clock import Clock
from chat.push.encryption import encoded, key_of, public_bytes

TOKEN_MS: Final = 12 * 3_600_000
"""How long a token counts; push services accept up to a day."""

RENEWED_BEFORE_MS: Final = 3_600_000
ORIGINS_REMEMBERED: Final = 256


class Vapid:
    """Makes the Authorization of push requests. `contact` is where the operator of a push service may turn to."""

    def __init__(self, keys: Keys, clock: Clock, contact: str) -> None:
        self._key: Final = key_of(keys.of("web push, first half") + keys.of("web push, second half"))
        self.public_key: Final = encoded(public_bytes(self._key))
        """What a browser subscribes with (`applicationServerKey`), base64url."""
        self._clock = clock
        self._contact = contact
        self._tokens: collections.OrderedDict[str, tuple[str, int]] = collections.OrderedDict()

    def authorization(self, origin: str) -> str:
        """The header for a push service."""
        import jwt  # a third of a second, which a server that sends nothing does not pay

        now_ms = self._clock.now_ms()
        token, ends_at = self._tokens.get(origin, ("", 0))
        if ends_at - RENEWED_BEFORE_MS <= now_ms or ends_at - TOKEN_MS > now_ms:
            ends_at = now_ms + TOKEN_MS
            claims = {"aud": origin, "exp": ends_at // 1_000, "sub": self._contact}
            token = jwt.encode(claims, self._key, algorithm="ES256")
            self._tokens[origin] = token, ends_at
            if len(self._tokens) > ORIGINS_REMEMBERED:
                self._tokens.popitem(last=False)
        return f"vapid t={token}, k={self.public_key}"
