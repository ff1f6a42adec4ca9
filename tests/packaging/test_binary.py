"""The program as one file: in a bare Debian without Python, with an empty environment."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any, Final

import pytest
from PIL import Image

import chat
from chat.manual.opening import MADE
from tests.packaging.conftest import Built, Debian
from tests.patience import PATIENCE_SECONDS
from tests.test_readme import README, as_here, blocks, run_in_shell

pytestmark = pytest.mark.long

BYTES_MAXIMUM: Final = 60_000_000
HERE: Final = "/opt/chat"
UNPACKED: Final = "/var/tmp/chat-0"  # noqa: S108 - where an account without a home has it
VERSION: Final = f"chat {chat.__version__}\n"


@pytest.fixture
def with_binary(debian: Debian, built: Built) -> Debian:
    """A Debian that has the file, and nothing else."""
    shutil.copy2(built.binary, debian.holds(HERE))
    return debian


def test_it_is_small_and_runs_on_the_glibc_that_the_readme_promises(with_binary: Debian, built: Built) -> None:
    assert built.binary.stat().st_size <= BYTES_MAXIMUM
    assert with_binary.run(HERE, "--version", environment={}) == VERSION
    promised = re.search(r"glibc (2\.[0-9]+)", README)
    assert promised is not None
    files = [str(file) for file in with_binary.holds(UNPACKED).rglob("*") if file.is_file()]
    symbols = subprocess.run(["objdump", "-T", *files], capture_output=True, text=True, check=False).stdout
    wanted = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", symbols)}
    assert max(wanted) <= tuple(map(int, promised[1].split(".")))


def test_the_first_conversation_and_a_picture(with_binary: Debian, tmp_path: Path, port: int) -> None:
    start, talk = blocks("sh", "A first conversation")
    (bot,) = blocks("python", "A first conversation")
    (tmp_path / "bot.py").write_text(bot, encoding="utf-8")
    (tmp_path / "picture.py").write_text(PICTURE, encoding="utf-8")
    Image.new("RGB", (128, 128), "teal").save(tmp_path / "picture.png")
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9" fill="teal"/></svg>'
    (tmp_path / "drawing.svg").write_text(drawing)
    start = start.replace(".venv/bin/chat", " ".join(with_binary.command(HERE)))
    script = (
        f"{as_here(start, port)}\n{as_here(talk, port)}\n"
        "echo; python3 picture.py\n"
        "kill -TERM %1\nwait %1\necho ended with $?\n"
    )
    said = run_in_shell(script, tmp_path).splitlines()
    answer: list[dict[str, Any]] = json.loads(said[-2][said[-2].index("}[") + 1 :])
    assert [message["content"] for message in answer] == ["pong", "ping"]
    assert said[-1] == "ended with 0"
    for name in ("picture.webp", "drawing.webp"):
        with Image.open(tmp_path / name) as redrawn:
            assert (redrawn.format, redrawn.size) == ("WEBP", (64, 64))
            assert redrawn.convert("RGB").getpixel((32, 32)) == pytest.approx((0, 128, 128), abs=3)


PICTURE: Final = """
import base64, json, urllib.request
world = json.load(open("world.json"))
headers = {"Authorization": world["users"][0]["token"], "Content-Type": "application/json"}
for name in ("picture.png", "drawing.svg"):
    body = json.dumps({"avatar": base64.b64encode(open(name, "rb").read()).decode()}).encode()
    request = urllib.request.Request(world["base_url"] + "/users/@me", body, headers, method="PATCH")
    me = json.load(urllib.request.urlopen(request))
    address = f"{world['base_url'].removesuffix('/v1')}/media/avatars/{me['id']}/{me['avatar']}.webp?size=64"
    open(name[:-3] + "webp", "wb").write(urllib.request.urlopen(address).read())
"""


def test_pages_words_and_the_manual_are_in_it(with_binary: Debian, port: int) -> None:
    with with_binary.serving(HERE, "serve", "--data", "/srv/chat", "--port", str(port), environment={}) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("listening on ")
        for path, expected in (
            ("/login", "<form"),
            ("/admin", "<script"),
            ("/docs", "<h1"),
            *((f"/docs/{source.entry.name}", f"<h1>{source.entry.title}") for source in MADE),
            ("/docs/gateway-events", "Someone joined"),
            ("/docs/gateway-states", "More than 45,000 ms passed"),
            ("/docs/asyncapi.json", '"summary": "Someone joined."'),
            ("/v1/openapi.json", '"openapi"'),
            ("/.well-known/chat", '"endpoints"'),
        ):
            assert expected in text_at(port, path)
        assert "Anmelden" in text_at(port, "/login", {"Accept-Language": "de"})
        assert with_binary.holds("/srv/chat/signing.key").stat().st_mode & 0o777 == 0o600


def text_at(port: int, path: str, headers: dict[str, str] | None = None) -> str:
    """The body at an address of the server."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers or {})
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - our own server
        content: bytes = answer.read()
        return content.decode()


def test_what_gateway_nodes_need_is_in_it(with_binary: Debian) -> None:
    command = with_binary.command(HERE, "gateway", "--nodes", "redis://127.0.0.1:1")
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    assert "the broker redis://127.0.0.1:1 cannot be reached: Connection refused" in ended.stderr


def folder_on_the_disk(debian: Debian) -> Path:
    """The one folder that was unpacked, once the mark is in it that a start sets in the background."""
    (folder,) = debian.holds(UNPACKED).glob("[!.]*")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (folder / ".whole").exists():
        assert time.monotonic() < deadline, "it is not on the disk"
        time.sleep(0.05)
    return folder


def test_it_is_unpacked_once_for_all_starts(with_binary: Debian) -> None:
    command = with_binary.command(HERE, "--version")
    together = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=120)[0] for process in together] == [VERSION] * 3
    made = folder_on_the_disk(with_binary).stat()
    assert with_binary.run(HERE, "--version", environment={}) == VERSION
    now = folder_on_the_disk(with_binary).stat()
    assert (now.st_ino, now.st_ctime_ns) == (made.st_ino, made.st_ctime_ns)
    assert with_binary.holds(UNPACKED).stat().st_mode & 0o777 == 0o700
    assert not list(with_binary.holds(UNPACKED).glob(".part*"))


def test_after_a_crash_it_is_unpacked_anew_and_another_version_goes(with_binary: Debian) -> None:
    with_binary.run(HERE, "--version", environment={})
    # What waits for the disk in the background does not outlive a crash, so it has ended before this one.
    folder = folder_on_the_disk(with_binary)
    other = folder.with_name("0123456789abcdef")
    other.mkdir()
    (folder / "chat").write_bytes(b"")  # as it lies on a disk that never got its bytes
    (folder / ".whole").unlink()
    (folder / ".unpacked").write_text("the boot before\n")
    assert with_binary.run(HERE, "--version", environment={}) == VERSION
    assert not other.exists()


@pytest.mark.parametrize("length", [4_000, 1_000_000])
def test_a_file_that_is_not_whole_says_so_and_leaves_nothing(debian: Debian, built: Built, length: int) -> None:
    debian.holds(HERE).write_bytes(built.binary.read_bytes()[:length])
    debian.holds(HERE).chmod(0o755)
    ended = subprocess.run(debian.command(HERE, "--version"), capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(
        f"chat: cannot unpack {HERE} into {UNPACKED}: the file is not whole"
    )
    assert not list(debian.holds(UNPACKED).glob("[!.]*"))
    assert not list(debian.holds(UNPACKED).glob(".part*"))


def test_a_place_that_is_somebody_elses_is_refused(with_binary: Debian) -> None:
    with_binary.run("install", "-d", "-o", "games", UNPACKED)
    ended = subprocess.run(with_binary.command(HERE, "--version"), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"chat: {UNPACKED} belongs to another account")


def test_after_a_kill_it_starts_again(with_binary: Debian, port: int) -> None:
    command = with_binary.command(HERE, "serve", "--data", "/srv/chat", "--port", str(port))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        server.send_signal(signal.SIGKILL)
    with with_binary.serving(HERE, "serve", "--data", "/srv/chat", "--port", str(port), environment={}) as again:
        assert again.stdout is not None
        assert again.stdout.readline().startswith("listening on ")
