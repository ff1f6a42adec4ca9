"""The OpenAPI document as programs get it (wire facts 2.1)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from chat.testing.server import ChatServer
from chat.testing.world import World

PATH = "/v1/openapi.json"


async def test_the_document_is_openapi_3_1(chat_world: World, chat_server: ChatServer) -> None:
    answer = await chat_world.anyone.get(PATH)
    document = answer.expect(200)
    assert answer.header("content-type") == "application/json"
    assert document["openapi"] == "3.1.0"
    assert document["servers"] == [{"url": chat_server.settings.public_url}]
    assert PATH in document["paths"]
    assert "/v1/admin/users/{user_id}" in document["paths"]
    assert not any(path.startswith("/v1/_dev") for path in document["paths"])
    validate(document, cls=OpenAPIV31SpecValidator)


async def test_whoever_has_it_is_not_sent_it_again(chat_world: World) -> None:
    client = chat_world.anyone
    etag = (await client.get(PATH)).header("etag")
    assert etag is not None
    again = await client.request("GET", PATH, headers={"If-None-Match": etag})
    assert (again.status, again.body, again.header("etag")) == (304, b"", etag)
    assert (await client.request("GET", PATH, headers={"If-None-Match": '"other"'})).status == 200
    assert (await client.request("HEAD", PATH)).header("etag") == etag


async def test_a_credential_that_is_none_does_not_matter(chat_world: World) -> None:
    assert (await chat_world.anyone.signed_in("Bot nobody").get(PATH)).status == 200


async def test_the_command_prints_what_the_server_hands_out(
    chat_world: World, chat_server: ChatServer, tmp_path: Path
) -> None:
    (tmp_path / "chat.toml").write_text(f"public_url = {json.dumps(chat_server.settings.public_url)}\n")
    printed = subprocess.run(  # noqa: ASYNC221 - nothing else happens meanwhile
        [sys.executable, "-m", "chat", "openapi", "--data", str(tmp_path)], check=True, capture_output=True, timeout=60
    )
    assert printed.stderr == b""
    assert json.loads(printed.stdout) == (await chat_world.anyone.get(PATH)).expect(200)


def test_the_command_knows_settings_that_are_wrong(tmp_path: Path) -> None:
    (tmp_path / "chat.toml").write_text("public_url = 1\n")
    printed = subprocess.run(
        [sys.executable, "-m", "chat", "openapi", "--data", str(tmp_path)], check=False, capture_output=True, timeout=60
    )
    assert (printed.returncode, printed.stdout) == (1, b"")
    assert b"public_url" in printed.stderr
    assert len(printed.stderr.splitlines()) == 1
