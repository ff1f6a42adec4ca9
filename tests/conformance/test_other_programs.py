"""Programs of other people that take an address, unmodified, send to a webhook of a real server.

They are told of a webhook as they would be told of any: `fluxer://` for apprise, the address below `/api/webhooks` for
all others. The manual names them with their versions (`chat/manual/bots.md`, Programs that send).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import trio

import chat.manual
from tests.conformance.clients.installed import installed_by_npm, installed_by_pip, node, uptime_kuma
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long

HERE: Final = Path(__file__).parent / "programs"
PYTHON_LIST: Final = HERE / "requirements.txt"
CLIENTS: Final = Path(__file__).parent / "clients" / "package.json"
UPTIME_KUMA: Final = "2.0.0-dev.0"
MANUAL: Final = Path(chat.manual.__file__).parent / "bots.md"
PROGRAM_SECONDS: Final = 120


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with running(tmp_path) as process:
        yield process


class Webhook:
    """A webhook of the seeded channel, and what it has sent."""

    def __init__(self, server: ServerProcess, made: Mapping[str, Any]) -> None:
        self._server = server
        self.host = server.route.host
        self.credential = f"{made['id']}/{made['token']}"
        self.url = f"http://{self.host}/api/webhooks/{self.credential}"

    async def sent(self) -> list[dict[str, Any]]:
        """Its messages, oldest first."""
        path = f"/v1/channels/{self._server.channel_id}/messages"
        messages: list[dict[str, Any]] = (await self._server.alice.get(path)).expect(200)
        return [message for message in reversed(messages) if "webhook_id" in message]


@pytest.fixture
async def webhook(server: ServerProcess) -> Webhook:
    path = f"/v1/channels/{server.channel_id}/webhooks"
    return Webhook(server, (await server.alice.post(path, {"name": "Alarm"})).expect(200))


@pytest.fixture(scope="module")
def python_programs() -> dict[str, str]:
    """The environment in which the programs in Python are found."""
    folder = installed_by_pip("programs", PYTHON_LIST)
    return {**os.environ, "PYTHONPATH": str(folder), "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}


async def run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a program to its end, which is to be a success."""
    with trio.fail_after(PROGRAM_SECONDS):
        done = await trio.run_process(
            command, env=dict(environment), capture_stdout=True, capture_stderr=True, check=False
        )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


async def test_apprise_by_its_documented_addresses(
    webhook: Webhook, python_programs: dict[str, str], tmp_path: Path
) -> None:
    note = trio.Path(tmp_path, "note.txt")
    await note.write_text("attached")
    place = f"{webhook.host}/{webhook.credential}"
    places = (  # below /api, /api/v1 and /v1, and at the root
        f"fluxer://below-api@{place}",
        f"fluxer://below-api-v1@{webhook.host}/api/v1/{webhook.credential}",
        f"fluxer://below-v1@{webhook.host}/v1/{webhook.credential}",
        f"fluxer://at-the-root@{place}?path=/",
    )
    await run(["apprise", "--body", "hello", *places], python_programs)
    await run(["apprise", "-t", "Disk", "-b", "almost full", "-a", str(note), f"fluxer://{place}"], python_programs)
    *plain, titled, attached = await webhook.sent()
    names = {message["author"]["username"] for message in plain if message["content"] == "hello"}
    assert names == {"below-api", "below-api-v1", "below-v1", "at-the-root"}
    assert titled["content"].split() == ["Disk", "almost", "full"]
    assert [file["filename"] for file in attached["attachments"]] == ["note.txt"]


async def test_programs_and_libraries_in_python(webhook: Webhook, python_programs: dict[str, str]) -> None:
    await run(["dchook", "--webhook", webhook.url, "from dchook"], python_programs)
    await run([sys.executable, str(HERE / "senders.py"), webhook.url], python_programs)
    first, edited, last = await webhook.sent()
    assert first["content"] == "from dchook"
    assert (edited["content"], edited["embeds"][0]["title"]) == ("edited by discord-webhook", "A title")
    assert [file["filename"] for file in edited["attachments"]] == ["note.txt"]
    assert (last["content"], last["embeds"][0]["title"]) == ("from dhooks-lite", "An embed")


async def test_programs_and_libraries_on_node(webhook: Webhook, python_programs: dict[str, str]) -> None:
    modules = installed_by_npm("programs", (HERE / "package.json", HERE / "package-lock.json")) / "node_modules"
    kuma = uptime_kuma(UPTIME_KUMA)
    if not (kuma / "node_modules").exists():
        (kuma / "node_modules").symlink_to(modules)
    apprise = f"fluxer://{webhook.host}/{webhook.credential}"
    command = [str(node()), "--no-warnings", str(HERE / "senders.cjs"), webhook.url, apprise, str(kuma)]
    await run(command, {**python_programs, "NODE_PATH": str(modules)})
    text, titled, tried, down, by_apprise = await webhook.sent()
    assert (text["author"]["username"], text["content"]) == ("Node", "from discord-webhook-node")
    assert titled["embeds"][0]["title"] == "A title"
    assert tried["content"] == "uptime-kuma tries its provider"
    assert "Site" in down["embeds"][0]["title"]
    assert (tried["author"]["username"], down["content"]) == ("Uptime Kuma", "look")
    assert by_apprise["content"].split() == ["Uptime", "uptime-kuma", "by", "way", "of", "apprise"]


def test_the_manual_names_these_versions() -> None:
    files = (PYTHON_LIST, HERE / "requirements-2018.txt", HERE / "package.json", CLIENTS)
    lists = "".join(file.read_text() for file in files) + f'"uptime-kuma": "{UPTIME_KUMA}"'
    section = MANUAL.read_text().partition("## Programs that send")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\S+) \| (\S+) \| tests \|", section, re.MULTILINE)
    assert len(rows) >= 6
    for name, version in rows:
        assert f"{name}=={version}\n" in lists or f'"{name}": "{version}"' in lists, name
