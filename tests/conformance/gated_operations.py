"""Every operation under sudo mode, and how to come to the point where nothing but the proof is missing."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import attrs
import trio

from chat.testing.authenticator import SoftwareAuthenticator, base64url
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.enrolment import MFA, ORIGIN, PASSKEYS, Phone, assertion, passkey_of, register

NEW_PASSWORD: Final = "a better password by far"
NEW_EMAIL: Final = "robert@example.com"
ARCHIVE: Final = "/v1/users/@me/harvest"


@attrs.frozen
class Call:
    """A request to which only the proof is to be added."""

    method: str
    path: str
    body: dict[str, Any]


@attrs.define
class Scene:
    """Bob, with what he can prove himself with."""

    server: ChatServer
    world: World
    phone: Phone
    key: SoftwareAuthenticator | None = None

    @property
    def bob(self) -> Person:
        return self.world.bob

    async def enrol(self, *, phone: bool = True) -> None:
        """Give Bob a passkey and, unless told otherwise, an authenticator app."""
        self.key = await passkey_of(self.bob)
        if phone:
            await self.phone.enable(self.bob.rest, **await self.proof())

    async def proof(self) -> dict[str, Any]:
        """Sudo fields with an assertion of the passkey."""
        assert self.key is not None
        return await assertion(self.bob.rest, self.key)

    async def token(self) -> str:
        """A sudo token that was just issued."""
        body = {"session_id_hashes": [], **await self.proof()}
        token = (await self.bob.rest.post("/v1/auth/sessions/logout", body)).header("X-Service-Sudo-Mode-JWT")
        assert token is not None
        return token

    async def send(self, call: Call, proof: Mapping[str, Any] | None = None, token: str | None = None) -> Response:
        """The request with a proof."""
        headers = {} if token is None else {"X-Service-Sudo-Mode-JWT": token}
        body = {**call.body, **(proof or {})}
        return await self.bob.rest.request(call.method, call.path, json=body, headers=headers)

    async def mailed(self, kind: str, email: str) -> str:
        """The code that was mailed to an address last."""
        kept = (await self.world.anyone.get("/v1/_dev/mail")).expect(200)
        code: str = [mail["token"] for mail in kept if (mail["kind"], mail["to"]) == (kind, email)][-1]
        return code

    async def step(self, family: str, name: str, **members: object) -> dict[str, Any]:
        answer: dict[str, Any] = (await self.bob.rest.post(f"/v1/users/@me/{family}/{name}", members)).expect(200)
        return answer


@attrs.frozen(kw_only=True)
class Gated:
    """An operation under sudo mode."""

    operation: str
    """Method and path as declared."""
    prepare: Callable[[Scene], Awaitable[Call]]
    issues_token: bool = True
    asks_for_passwords: bool = True
    """Whether it is under sudo mode for an account that has nothing but a password, too."""
    with_phone: bool = True
    """Whether it is for accounts that have an authenticator app."""
    settings: Mapping[str, object] = {}

    @property
    def id(self) -> str:
        return self.operation.replace("/v1/", "")


def plain(operation: str, **body: object) -> Callable[[Scene], Awaitable[Call]]:
    """A request that needs no preparation."""
    method, path = operation.split(" ")

    async def prepare(_: Scene) -> Call:
        return Call(method, path, dict(body))

    return prepare


def of_application(method: str, suffix: str) -> Callable[[Scene], Awaitable[Call]]:
    """A request about an application of Bob's."""

    async def prepare(scene: Scene) -> Call:
        made = (await scene.bob.rest.post("/v1/oauth2/applications", {"name": "Chess"})).expect(200)
        return Call(method, f"/v1/oauth2/applications/{made['id']}{suffix}", {})

    return prepare


async def _enable_totp(scene: Scene) -> Call:
    return Call("POST", f"{MFA}/totp/enable", {"secret": scene.phone.secret, "code": scene.phone.code()})


async def _disable_totp(scene: Scene) -> Call:
    return Call("POST", f"{MFA}/totp/disable", {"code": scene.phone.code()})


async def _delete_passkey(scene: Scene) -> Call:
    other = SoftwareAuthenticator(ORIGIN, chance=random.Random(4))
    (await register(scene.bob.rest, other, "Other", **await scene.proof())).expect(204)
    return Call("DELETE", f"{PASSKEYS}/{base64url(other.passkeys[0].credential_id)}", {})


async def _apply_email_change(scene: Scene) -> Call:
    started = await scene.step("email-change", "start")
    ticket, code = started["ticket"], await scene.mailed("email_change", scene.bob.email)
    proof = (await scene.step("email-change", "verify-original", ticket=ticket, code=code))["original_proof"]
    asked = {"ticket": ticket, "original_proof": proof}
    await scene.step("email-change", "request-new", new_email=NEW_EMAIL, **asked)
    code = await scene.mailed("email_change", NEW_EMAIL)
    token = (await scene.step("email-change", "verify-new", code=code, **asked))["email_token"]
    return Call("POST", "/v1/users/@me/email-change/apply", {"email_token": token})


async def _replace_bounced_email(scene: Scene) -> Call:
    await scene.world.anyone.post(f"/v1/_dev/users/{scene.bob.id}", {"email_bounced": True})
    asked = await scene.step("email-change", "bounced/request-new", new_email=NEW_EMAIL)
    body = {"ticket": asked["ticket"], "code": await scene.mailed("email_change", NEW_EMAIL)}
    return Call("POST", "/v1/users/@me/email-change/bounced/verify-new", body)


async def _complete_password_change(scene: Scene) -> Call:
    ticket = (await scene.step("password-change", "start"))["ticket"]
    code = await scene.mailed("password_change", scene.bob.email)
    proof = (await scene.step("password-change", "verify", ticket=ticket, code=code))["verification_proof"]
    body = {"ticket": ticket, "verification_proof": proof, "new_password": NEW_PASSWORD}
    return Call("POST", "/v1/users/@me/password-change/complete", body)


async def _archive(scene: Scene) -> Call:
    bob = scene.bob
    proof = {"password": bob.password} if scene.key is None else await scene.proof()
    (await bob.rest.post(ARCHIVE, proof)).expect(200)
    while True:
        if (await bob.rest.get(ARCHIVE)).expect(200)["harvest"]["completed_at"] is not None:
            return Call("POST", f"{ARCHIVE}/download", {})
        await trio.sleep(0.05)


async def _leave_guild(scene: Scene) -> Call:
    return Call("DELETE", f"/v1/users/@me/guilds/{scene.world.guild_id}?delete_messages=true", {})


async def _guild_of_bob(scene: Scene) -> str:
    """The path of a guild that Bob owns and Carol is in."""
    guild = (await scene.bob.rest.create_guild("Bob's")).expect(200)
    members = {"members": {scene.world.carol.id: {}}}
    (await scene.world.anyone.post(f"/v1/_dev/guilds/{guild['id']}", members)).expect(200)
    return f"/v1/guilds/{guild['id']}"


async def _raise_mfa_level(scene: Scene) -> Call:
    return Call("PATCH", await _guild_of_bob(scene), {"mfa_level": 1})


async def _delete_guild(scene: Scene) -> Call:
    return Call("POST", f"{await _guild_of_bob(scene)}/delete", {})


async def _transfer_guild(scene: Scene) -> Call:
    path = f"{await _guild_of_bob(scene)}/transfer-ownership"
    return Call("POST", path, {"new_owner_id": scene.world.carol.id})


async def _delete_own_messages(scene: Scene) -> Call:
    return Call("POST", f"/v1/users/@me/guilds/{scene.world.guild_id}/messages/bulk-delete-mine", {})


async def _delete_own_messages_in_channel(scene: Scene) -> Call:
    return Call("POST", f"/v1/channels/{scene.world.channel_id}/messages/bulk-delete-mine", {})


LOGOUT: Final = "POST /v1/auth/sessions/logout"
ENABLE: Final = f"POST {MFA}/totp/enable"

GATED: Final = (
    Gated(operation=LOGOUT, prepare=plain(LOGOUT, session_id_hashes=[])),
    Gated(operation="DELETE /v1/users/@me/authorized-ips", prepare=plain("DELETE /v1/users/@me/authorized-ips")),
    Gated(operation="PATCH /v1/users/@me", prepare=plain("PATCH /v1/users/@me", new_password=NEW_PASSWORD)),
    Gated(operation="POST /v1/users/@me/disable", prepare=plain("POST /v1/users/@me/disable"), issues_token=False),
    Gated(operation="POST /v1/users/@me/delete", prepare=plain("POST /v1/users/@me/delete")),
    Gated(operation=f"POST {ARCHIVE}", prepare=plain(f"POST {ARCHIVE}")),
    Gated(operation=f"POST {ARCHIVE}/download", prepare=_archive),
    Gated(operation="DELETE /v1/oauth2/applications/{application_id}", prepare=of_application("DELETE", "")),
    Gated(
        operation="POST /v1/oauth2/applications/{application_id}/bot/reset-token",
        prepare=of_application("POST", "/bot/reset-token"),
    ),
    Gated(
        operation="POST /v1/oauth2/applications/{application_id}/client-secret/reset",
        prepare=of_application("POST", "/client-secret/reset"),
    ),
    Gated(operation=ENABLE, prepare=_enable_totp, with_phone=False),
    Gated(operation=f"POST {MFA}/totp/disable", prepare=_disable_totp, asks_for_passwords=False),
    Gated(
        operation=f"POST {MFA}/backup-codes",
        prepare=plain(f"POST {MFA}/backup-codes", regenerate=True),
        asks_for_passwords=False,
    ),
    Gated(operation=f"PUT {MFA}/webauthn", prepare=plain(f"PUT {MFA}/webauthn", enabled=False)),
    Gated(
        operation=f"POST {PASSKEYS}/registration-options",
        prepare=plain(f"POST {PASSKEYS}/registration-options"),
        issues_token=False,
    ),
    Gated(operation=f"DELETE {PASSKEYS}/{{credential}}", prepare=_delete_passkey, asks_for_passwords=False),
    Gated(
        operation="PATCH /v1/guilds/{guild_id}",
        prepare=_raise_mfa_level,
        asks_for_passwords=False,  # who has no factor cannot ask others for one
    ),
    Gated(operation="POST /v1/guilds/{guild_id}/delete", prepare=_delete_guild),
    Gated(operation="POST /v1/guilds/{guild_id}/transfer-ownership", prepare=_transfer_guild),
    Gated(operation="DELETE /v1/users/@me/guilds/{guild_id}", prepare=_leave_guild),
    Gated(operation="POST /v1/users/@me/messages/delete", prepare=plain("POST /v1/users/@me/messages/delete")),
    Gated(
        operation="POST /v1/users/@me/messages/bulk-delete-mine",
        prepare=plain("POST /v1/users/@me/messages/bulk-delete-mine"),
    ),
    Gated(operation="POST /v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine", prepare=_delete_own_messages),
    Gated(
        operation="POST /v1/channels/{channel_id}/messages/bulk-delete-mine", prepare=_delete_own_messages_in_channel
    ),
    Gated(operation="POST /v1/users/@me/email-change/apply", prepare=_apply_email_change),
    Gated(operation="POST /v1/users/@me/email-change/bounced/verify-new", prepare=_replace_bounced_email),
    Gated(
        operation="POST /v1/users/@me/password-change/complete",
        prepare=_complete_password_change,
        asks_for_passwords=False,  # the mailed code is proof enough
    ),
    Gated(
        operation="POST /v1/users/@me/recovery-kit",
        prepare=plain("POST /v1/users/@me/recovery-kit"),
        settings={"sign_in": "username"},
    ),
)
