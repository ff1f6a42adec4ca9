"""Every block of the manual does what the page says: commands run, settings are taken, JSON and Python are whole.

The `sh` blocks of a page run in their order in one shell, in a directory with an instance in `./chat-data`. A block
that cannot run here says why behind its fence: `sh no-run="needs a domain"`.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import attrs
import pytest
from markdown_it import MarkdownIt

from chat.config import load_settings
from chat.imports import form_lines
from chat.imports.community import LINES
from chat.imports.form import ChannelRecord, GuildRecord, MessageRecord, PersonRecord, Record
from chat.manual.library import FOLDER
from tests.imports.discord_world import channel, channel_id, export, message, moment, packed, put
from tests.imports.matrix_maker import write_matrix
from tests.imports.mattermost_maker import write_mattermost
from tests.imports.slack_maker import write_slack
from tests.imports.talk_world import EXAMPLE
from tests.imports.zulip_maker import as_tar, write_zulip
from tests.test_readme import as_here, environment, free_port, run_in_shell

PAGES: Final = sorted(path.stem for path in FOLDER.glob("*.md"))

ELSEWHERE: Final = {
    "testing": "tests/testing/test_manual_examples.py",
    "bots": "tests/conformance/test_client_libraries.py",
    "nodes": "tests/nodes/test_manual_of_nodes.py",
    "install": "tests/packaging/test_first_hour.py",
}
"""Pages whose commands another test runs, as they take libraries, a broker, or a bare machine, that are made there."""

WITHOUT_INSTANCE: Final = frozenset({"operating", "first-hour", "install", "setup"})
"""Pages that begin with nothing."""


def make_export(place: Path) -> None:
    """What another program has left beside the reader."""
    put(place / "export", "general.json", export(channel(1, "general"), message(1, "The lamp is lit.")))


def make_community(place: Path) -> None:
    """What `chat export guild` has left."""
    records: list[Record] = [
        GuildRecord(id=channel_id(9), name="Lighthouse keepers"),
        ChannelRecord(id=channel_id(1), type=0, name="general"),
        PersonRecord(id=moment(0), name="Anna"),
        MessageRecord(id=moment(1), channel_id=channel_id(1), author_id=moment(0), content="The lamp is lit."),
    ]
    put(place / "out", LINES, b"".join(form_lines.written(records)))


def make_slack(place: Path) -> None:
    """An archive as Slack makes it."""
    packed(write_slack(place / "slack", EXAMPLE), place / "slack.zip")


def make_others(place: Path) -> None:
    """Exports of the other services."""
    packed(write_mattermost(place / "mattermost", EXAMPLE), place / "mattermost.zip")
    write_matrix(place / "matrix", EXAMPLE)
    as_tar(write_zulip(place / "zulip", EXAMPLE), place / "zulip.tar.gz")


BROUGHT: Final[Mapping[str, Callable[[Path], None]]] = {
    "moving-from-discord": make_export,
    "moving-from-slack": make_slack,
    "moving-from-another-service": make_others,
    "moving-to-another-instance": make_community,
}
"""What pages suppose to be there, as files from elsewhere."""

NO_RUN: Final = re.compile(r'no-run="([^"]+)"')

END_WHAT_RUNS: Final = 'for job in $(jobs -p); do kill "$job"; done; wait || true\n'
"""Servers that a page started behind its commands."""

MOST_NOT_RUN: Final = 0.35
"""Of the blocks with commands on all pages together."""


@attrs.frozen
class Block:
    """A fenced block: the first word behind the fence, why it is not run, and its lines."""

    language: str
    not_run: str | None
    code: str


def blocks(page: str) -> list[Block]:
    tokens = MarkdownIt().parse((FOLDER / f"{page}.md").read_text(encoding="utf-8"))
    found = []
    for token in tokens:
        if token.type == "fence":
            reason = NO_RUN.search(token.info)
            found.append(Block((token.info.split() or [""])[0], reason[1] if reason else None, token.content))
    return found


def commands(page: str) -> list[str]:
    return [block.code for block in blocks(page) if block.language == "sh" and block.not_run is None]


def read_json(text: str) -> None:
    """One document, or one on each line as a log has them."""
    try:
        json.loads(text)
    except json.JSONDecodeError:
        for line in text.splitlines():
            json.loads(line)


def test_what_is_not_run_says_why_and_is_the_smaller_part() -> None:
    shell = [block for page in PAGES for block in blocks(page) if block.language == "sh"]
    assert shell
    for page in PAGES:
        text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
        assert re.findall(r"^```\w+ (?!(?:no-run|file)=\"[^\"]+\")", text, re.MULTILINE) == [], page
    assert sum(block.not_run is not None for block in shell) <= MOST_NOT_RUN * len(shell)


@pytest.mark.parametrize("page", PAGES)
def test_settings_json_and_python_are_whole(page: str, tmp_path: Path) -> None:
    for number, block in enumerate(block for block in blocks(page) if block.not_run is None):
        match block.language:
            case "toml":
                (tmp_path / f"{number}.toml").write_text(block.code, encoding="utf-8")
                load_settings(tmp_path, tmp_path / f"{number}.toml", {})
            case "json":
                read_json(block.code)
            case "python":
                ast.parse(block.code)
            case "http":
                assert re.match(r"(?:GET|POST|PUT|PATCH|DELETE) /\S+(?: HTTP/1\.1)?\n", block.code), block.code


@pytest.mark.long
@pytest.mark.skipif(shutil.which("curl") is None, reason="requests are sent with curl")
@pytest.mark.parametrize("page", [page for page in PAGES if commands(page) and page not in ELSEWHERE])
def test_the_commands_of_a_page_run_as_printed(page: str, tmp_path: Path) -> None:
    if page not in WITHOUT_INSTANCE:
        make = [sys.executable, "-m", "chat", "user", "create", "--username", "carla", "--email", "carla@example.org"]
        made = subprocess.run(
            [*make, "--acl", "*", "--json"],
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert made.returncode == 0, made.stderr
    if page in BROUGHT:
        BROUGHT[page](tmp_path)
    port = free_port()
    path = f'PATH="{Path(sys.executable).parent}:$PATH"\n'
    script = "\n".join(as_here(code, port) for code in commands(page))
    run_in_shell(f"{path}{script}\n{END_WHAT_RUNS}", tmp_path)


def test_pages_whose_commands_run_elsewhere_are_there() -> None:
    for page, test in ELSEWHERE.items():
        assert page in PAGES
        assert page in (Path(__file__).parents[2] / test).read_text(encoding="utf-8")
