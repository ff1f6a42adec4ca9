"""What tests of second factors share: a phone with an authenticator app, passkeys on an account, proofs."""

from __future__ import annotations

import random
from typing import Any, Final

import pyotp
import trio

from chat.auth.typed_codes import STEP_MS
from chat.clock import Clock
from chat.testing.authenticator import HONEST, Lie, SoftwareAuthenticator
from chat.testing.rest_client import Response, RestClient
from chat.testing.world import Person

ORIGIN: Final = "http://localhost:8080"
"""Where the pages of a server under test are; its relying party is `localhost`."""

SUDO_HEADER: Final = "X-Service-Sudo-Mode-JWT"
MFA: Final = "/v1/users/@me/mfa"
PASSKEYS: Final = f"{MFA}/webauthn/credentials"
SUDO_OPTIONS: Final = "/v1/users/@me/sudo/webauthn/authentication-options"
SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


class Phone:
    """An authenticator app. `next_code` never tells a code twice: it lets time pass where it has to, so the test wants
    `autojump_clock`."""

    def __init__(self, clock: Clock, secret: str = SECRET) -> None:
        self.secret = secret
        self._clock = clock
        self._told = -1

    def code(self, steps: int = 0) -> str:
        """The code that the app shows now, or `steps` time steps later."""
        return pyotp.TOTP(self.secret).generate_otp(self._clock.now_ms() // STEP_MS + steps)

    def wrong_code(self) -> str:
        """Six digits that no step around now has."""
        near = {self.code(steps) for steps in (-2, -1, 0, 1, 2)}
        return next(digits for number in range(10) if (digits := f"{number:06d}") not in near)

    async def next_code(self) -> str:
        """A code that was not told before."""
        now = self._clock.now_ms()
        if now // STEP_MS <= self._told:
            await trio.sleep(((self._told + 1) * STEP_MS - now) / 1_000)
        self._told = self._clock.now_ms() // STEP_MS
        return self.code()

    async def enable(self, client: RestClient, **proof: object) -> list[str]:
        """Set the app up for the account, with the code of the step before; its backup codes."""
        body = {"secret": self.secret, "code": self.code(-1), **proof}
        codes = (await client.post(f"{MFA}/totp/enable", body)).expect(200)["backup_codes"]
        assert all(code["consumed"] is False for code in codes)
        return [code["code"] for code in codes]

    async def proof(self) -> dict[str, str]:
        """Sudo fields with a code that was not told before."""
        return {"mfa_method": "totp", "mfa_code": await self.next_code()}


async def registration(client: RestClient, key: SoftwareAuthenticator, lie: Lie = HONEST, **proof: object) -> Any:
    """The body that registers a new passkey of the authenticator, without the name."""
    options = (await client.post(f"{PASSKEYS}/registration-options", proof)).expect(200)
    return {"response": key.create(options, lie), "challenge": options["challenge"]}


async def register(client: RestClient, key: SoftwareAuthenticator, name: str = "Key", **proof: object) -> Response:
    """Register a new passkey of the authenticator."""
    return await client.post(PASSKEYS, {**await registration(client, key, **proof), "name": name})


async def passkey_of(person: Person, name: str = "Key", *, counts: bool = True) -> SoftwareAuthenticator:
    """An authenticator with a passkey of a person who has a password and no factor so far."""
    key = SoftwareAuthenticator(ORIGIN, counts=counts, chance=random.Random(int(person.id)))
    (await register(person.rest, key, name, password=person.password)).expect(204)
    return key


async def assertion(client: RestClient, key: SoftwareAuthenticator, lie: Lie = HONEST) -> dict[str, Any]:
    """Sudo fields with the answer of a passkey."""
    options = (await client.post(SUDO_OPTIONS)).expect(200)
    return {
        "mfa_method": "webauthn",
        "webauthn_response": key.get(options, lie),
        "webauthn_challenge": options["challenge"],
    }


def errors(answer: Response) -> list[tuple[str, str]]:
    """Path and code of each wrong field."""
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body
    return [(error["path"], error["code"]) for error in answer.json()["errors"]]
