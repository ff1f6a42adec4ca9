"""Programs and libraries of strangers, unmodified, send to a webhook of a real server; what they sent is read back.

`tests/conformance/test_other_programs.py` holds those that expect a server of this family. Here are those that expect
Slack or Discord, and an HTTP client of 2018.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conformance.clients.installed import installed_by_npm, installed_by_pip, node, node_libraries
from tests.conformance.test_other_programs import HERE as PROGRAMS
from tests.conformance.test_other_programs import PYTHON_LIST, Webhook, python_programs, run, server, webhook
from tests.field import table

__all__ = ["python_programs", "server", "webhook"]  # fixtures

pytestmark = pytest.mark.long

OLD_LIST: Final = PROGRAMS / "requirements-2018.txt"
NEWEST_FOR_OLD: Final = (3, 11)
"""The last Python on which libraries of 2018 are found whole: `cgi` and `ssl.match_hostname` have gone since."""


async def shown(webhook: Webhook, *expected: dict[str, Any]) -> None:
    """The webhook's messages are these, oldest first, so far as each says."""
    assert list(table.differences(list(expected), await webhook.sent())) == []


async def test_libraries_of_slack_in_python(webhook: Webhook, python_programs: dict[str, str]) -> None:
    await run([sys.executable, str(PROGRAMS / "slack_senders.py"), f"{webhook.url}/slack"], python_programs)
    text, blocks, attached, form, attached_form, numbers = await webhook.sent()
    assert text["content"] == "from **slack_sdk**"
    written = table.words(blocks)
    for word in ("**web**", "https://status.example.com", "main", "3 min", "by octo"):
        assert word in written, written
    [fire] = attached["embeds"]
    wanted = {
        "title": "Fire",
        "description": "It **burns**",
        "fields": [{"name": "Priority", "value": "High", "inline": True}],
    }
    assert list(table.differences(wanted, fire)) == []
    assert (form["content"], form["author"]["username"]) == ("from slackweb", "Web")
    [sushi] = attached_form["embeds"]
    assert (sushi["title"], sushi["description"]) == ("Sushi", "_hungry_")
    assert numbers["content"] == "from slack_webhook"
    assert list(table.differences([{"name": "Load", "value": "98.5"}], numbers["embeds"][0]["fields"])) == []


async def test_slack_s_own_library_on_node(webhook: Webhook) -> None:
    lists = (PROGRAMS / "package.json", PROGRAMS / "package-lock.json")
    modules = installed_by_npm("programs", lists) / "node_modules"
    command = [str(node()), "--no-warnings", str(PROGRAMS / "slack_senders.cjs"), f"{webhook.url}/slack"]
    await run(command, {**os.environ, "NODE_PATH": str(modules)})
    text, blocks = await webhook.sent()
    assert (text["content"], text["author"]["username"]) == ("from @slack/webhook", "Node")
    written = table.words(blocks)
    for word in ("a **block**", "Build", "Passed", "true"):
        assert word in written, written


async def test_the_webhook_client_of_discord_js(webhook: Webhook, tmp_path: Path) -> None:
    modules = node_libraries() / "node_modules"
    program = tmp_path / "senders.mjs"
    program.write_text((PROGRAMS / "discordjs_senders.mjs").read_text())
    (tmp_path / "node_modules").symlink_to(modules)
    api = f"http://{webhook.host}/api"
    await run([str(node()), "--no-warnings", str(program), api, *webhook.credential.split("/")], os.environ)
    await shown(
        webhook,
        {
            "content": "edited by discord.js",
            "author": {"username": "Builder"},
            "embeds": [{"title": "Build", "color": 0x57F287, "fields": [{"inline": True}, {"name": "Branch"}]}],
        },
    )
    [message] = await webhook.sent()
    assert message["embeds"][0]["timestamp"].startswith("1969-07-20T20:17:40")
    assert "plot.png" in message["embeds"][0]["image"]["url"]


async def test_a_handler_of_logs(webhook: Webhook, python_programs: dict[str, str]) -> None:
    await run([sys.executable, str(PROGRAMS / "log_senders.py"), webhook.url], python_programs)
    warned, broken = await webhook.sent()
    assert "disk almost full" in table.words(warned)
    assert "Traceback" in table.words(broken)
    assert {warned["author"]["username"], broken["author"]["username"]} == {"nightly"}


async def test_apprise_by_its_general_plugins(
    webhook: Webhook, python_programs: dict[str, str], tmp_path: Path
) -> None:
    """`json://` and `form://` know nothing of this server; a query says what their members are to be called."""
    (tmp_path / "note.txt").write_text("attached")
    called = ":message=content&:title=username&:version=&:type="
    place = f"{webhook.host}/api/webhooks/{webhook.credential}"
    await run(["apprise", "-t", "Disk", "-b", "by JSON", f"json://{place}?{called}&:attachments="], python_programs)
    note = ["-a", str(tmp_path / "note.txt")]
    await run(["apprise", "-t", "Disk", "-b", "by a form", *note, f"form://{place}?{called}"], python_programs)
    await shown(
        webhook,
        {"content": "by JSON", "author": {"username": "Disk"}, "attachments": []},
        {"content": "by a form", "author": {"username": "Disk"}, "attachments": [{"filename": "note.txt"}]},
    )


@pytest.mark.skipif(sys.version_info[:2] > NEWEST_FOR_OLD, reason="MISSED OUT: this Python is too new for 2018")
async def test_requests_of_2018(webhook: Webhook) -> None:
    folder = installed_by_pip("requests-2018", OLD_LIST)
    quiet = {"PYTHONWARNINGS": "ignore", "PYTHONPATH": str(folder)}
    await run([sys.executable, str(PROGRAMS / "old_senders.py"), webhook.url], {**os.environ, **quiet})
    await shown(
        webhook,
        {"content": "from JSON"},
        {"content": "from a form", "author": {"username": "Old"}},
        {"content": "with a file", "attachments": [{"filename": "\u0444\u0430\u0439\u043b.txt", "size": 2}]},
        {"content": "with payload_json", "embeds": [{"title": "A title"}], "attachments": [{"filename": "a.txt"}]},
    )


def test_what_is_installed_is_named_once() -> None:
    names = [line.partition("==")[0] for line in PYTHON_LIST.read_text().splitlines() if "==" in line]
    assert len(names) == len(set(names))
