"""`kill -9`: a code that was accepted counts no second time, and no factor that was promised is lost."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pyotp
import pytest

from chat.testing import SoftwareAuthenticator
from chat.testing.rest_client import RestClient
from tests.durability.server_process import running

pytestmark = pytest.mark.long

MFA = "/v1/users/@me/mfa"
STEP_SECONDS = 30
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


async def gives(client: RestClient, code: str) -> int:
    """How a code in sudo mode is answered."""
    return (await client.post(f"{MFA}/backup-codes", {"mfa_method": "totp", "mfa_code": code})).status


async def test_what_was_used_stays_used_and_what_was_set_up_stays(tmp_path: Path) -> None:
    data, log = tmp_path / "data", tmp_path / "log"
    with log.open("wb") as stream:
        async with running(data, log=stream) as server:
            app = pyotp.TOTP(SECRET)
            password = server.world["users"][1]["password"]
            body = {"secret": SECRET, "code": app.at(time.time() - STEP_SECONDS), "password": password}
            enabled = await server.bob.post(f"{MFA}/totp/enable", body)
            codes = [entry["code"] for entry in enabled.expect(200)["backup_codes"]]
            shown = app.now()
            assert await gives(server.bob, shown) == 200
            assert await gives(server.bob, codes[0]) == 200
            port = server.world["base_url"].rpartition(":")[2].partition("/")[0]
            key = SoftwareAuthenticator(f"http://localhost:{port}")
            proof = {"mfa_method": "totp", "mfa_code": codes[1]}
            path = f"{MFA}/webauthn/credentials"
            options = (await server.bob.post(f"{path}/registration-options", proof)).expect(200)
            body = {"response": key.create(options), "challenge": options["challenge"], "name": "Key"}
            (await server.bob.post(path, body)).expect(204)
            await server.end(signal.SIGKILL)
        async with running(data, log=stream) as server:
            for used in (shown, codes[0], codes[1]):
                assert await gives(server.bob, used) == 400
            assert await gives(server.bob, codes[2]) == 200
            assert (await server.bob.post(path, body)).status == 400
            assert [entry["name"] for entry in (await server.bob.get(path)).expect(200)] == ["Key"]
            # The next code, half a minute later by the server's clock.
            (await server.bob.post("/v1/_dev/clock", {"advance_ms": STEP_SECONDS * 1_000})).expect(200)
            assert await gives(server.bob, app.at(time.time() + STEP_SECONDS)) == 200
    written = log.read_text("utf-8")
    assert "totp enabled" in written
    assert not any(secret in written for secret in (SECRET, options["challenge"], *codes))
    assert not [path for path in data.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
