"""People who sign in: with a password, and with the second factors that they set up."""

from __future__ import annotations

import random
import sqlite3
from typing import Any, Final

import attrs
import pyotp
import trio

from chat.auth.webauthn import RelyingParty
from chat.store.accounts import accounts
from chat.testing.authenticator import HONEST, Lie, SoftwareAuthenticator
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import Person, World

SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
SUDO_HEADER: Final = "X-Service-Sudo-Mode-JWT"
PASSKEYS: Final = "/v1/users/@me/mfa/webauthn"


def errors(answer: Response) -> list[tuple[str, str]]:
    """Path and code of each wrong field."""
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body
    return [(error["path"], error["code"]) for error in answer.json()["errors"]]


def refusal(answer: Response) -> tuple[int, str | None]:
    """Status and code."""
    return answer.status, answer.code


LAST_OF_A_STEP_MS: Final = 5_000
"""What is left of a step in which nothing is begun that has to be through before its end."""


class Phone:
    """An authenticator app with one secret, on the server's time."""

    def __init__(self, server: ChatServer, secret: str = SECRET) -> None:
        self.secret = secret
        self._server = server

    def code(self, steps: int = 0) -> str:
        """The code of the present step, or of one before or after it."""
        return pyotp.TOTP(self.secret).generate_otp(self._server.clock.now_ms() // 30_000 + steps)

    async def code_before(self) -> str:
        """The code of the step before, at a moment when it is taken for a while: the machine's clock does not wait."""
        left = 30_000 - self._server.clock.now_ms() % 30_000
        if left < LAST_OF_A_STEP_MS:
            await trio.sleep(left / 1_000)
        return self.code(-1)

    def wrong_code(self) -> str:
        """Six digits that no step near the present has."""
        near = {self.code(steps) for steps in range(-3, 4)}
        return next(code for code in map("{:06}".format, range(8)) if code not in near)


class Holder:
    """Somebody who signs in."""

    def __init__(self, server: ChatServer, world: World, person: Person) -> None:
        self.server = server
        self.world = world
        self.person = person
        self.phone = Phone(server)
        origin = RelyingParty.of(server.settings).origins[0]
        self.key = SoftwareAuthenticator(origin, chance=random.Random(int(person.id)))
        self.backup_codes: list[str] = []

    # Setting up

    async def enable_totp(self, password: str | None = None) -> None:
        """Set the phone up; `password` where it is not the one that the account began with."""
        code = await self.phone.code_before()
        proof = self.person.password if password is None else password
        body = {"secret": self.phone.secret, "code": code, "password": proof}
        answer = (await self.person.rest.post("/v1/users/@me/mfa/totp/enable", body)).expect(200)
        self.backup_codes = [code["code"] for code in answer["backup_codes"]]

    async def disable_totp(self) -> None:
        """Take the phone's secret away again."""
        proof = {"mfa_method": "totp", "mfa_code": self.phone.code()}
        body = {"code": self.backup_codes[0], **proof}
        (await self.person.rest.post("/v1/users/@me/mfa/totp/disable", body)).expect(204)

    async def add_passkey(self, *, as_second_factor: bool = False, **proof: object) -> None:
        """Register the key; `proof` is for sudo mode, the password where nothing else is given."""
        proof = proof or {"password": self.person.password}
        options = await self.person.rest.post(f"{PASSKEYS}/credentials/registration-options", proof)
        offered = options.expect(200)
        body = {"response": self.key.create(offered), "challenge": offered["challenge"], "name": "Key"}
        (await self.person.rest.post(f"{PASSKEYS}/credentials", body)).expect(204)
        if as_second_factor:
            (await self.person.rest.put(PASSKEYS, {"enabled": True, **await self.passkey_proof()})).expect(204)

    async def remove_passkey(self) -> None:
        """Take every passkey of the account away."""
        for credential in (await self.person.rest.get(f"{PASSKEYS}/credentials")).expect(200):
            path = f"{PASSKEYS}/credentials/{credential['id']}"
            (await self.person.rest.delete(path, await self.passkey_proof())).expect(204)

    async def passkey_proof(self) -> dict[str, object]:
        """The key as a proof in sudo mode."""
        path = "/v1/users/@me/sudo/webauthn/authentication-options"
        options = (await self.person.rest.post(path)).expect(200)
        return {
            "mfa_method": "webauthn",
            "webauthn_response": self.key.get(options),
            "webauthn_challenge": options["challenge"],
        }

    # Signing in

    async def login(self, client: RestClient | None = None, **members: object) -> Response:
        """The password."""
        members = {"email": self.person.email, "password": self.person.password, **members}
        return await (client or self.world.anyone).login(**members)

    async def ticket(self) -> str:
        """The ticket that the password gives."""
        ticket: str = (await self.login()).expect(200)["ticket"]
        return ticket

    async def show_code(self, ticket: str, code: str, client: RestClient | None = None) -> Response:
        """The second step with a code."""
        return await (client or self.world.anyone).post("/v1/auth/login/mfa/totp", {"ticket": ticket, "code": code})

    async def show_key(self, ticket: str, lie: Lie = HONEST) -> Response:
        """The second step with the key."""
        path = "/v1/auth/login/mfa/webauthn"
        options = (await self.world.anyone.post(f"{path}/authentication-options", {"ticket": ticket})).expect(200)
        return await self.world.anyone.post(path, {**self.assertion(options, lie), "ticket": ticket})

    async def show_key_alone(self, lie: Lie = HONEST, client: RestClient | None = None) -> Response:
        """Signing in with nothing but the key."""
        anyone = client or self.world.anyone
        options = (await anyone.post("/v1/auth/webauthn/authentication-options")).expect(200)
        return await anyone.post("/v1/auth/webauthn/authenticate", self.assertion(options, lie))

    def assertion(self, options: dict[str, Any], lie: Lie = HONEST) -> dict[str, Any]:
        """What the key answers to these options, with their challenge."""
        return {"response": self.key.get(options, lie), "challenge": options["challenge"]}


async def set_account(world: World, user_id: str, **members: object) -> dict[str, Any]:
    """Set the account's state directly."""
    account: dict[str, Any] = (await world.anyone.post(f"/v1/_dev/users/{user_id}", members)).expect(200)
    return account


async def set_password_hash(server: ChatServer, user_id: str, password_hash: str) -> None:
    """Replace what is stored of the password and nothing else, as the command line does beside a running server."""

    def unit(connection: sqlite3.Connection) -> None:
        account = accounts.by_id(connection, int(user_id))
        assert account is not None
        accounts.replace(connection, attrs.evolve(account, password_hash=password_hash))

    await server.database.write(unit)


async def holder_of(world: World, answer: Response) -> str:
    """Whose token an answer carries: it must be one that works."""
    body = answer.expect(200)
    assert set(body) >= {"token", "user_id", "user"}
    assert "mfa" not in body
    own = (await world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    assert own["id"] == body["user_id"] == body["user"]["id"]
    user_id: str = own["id"]
    return user_id
