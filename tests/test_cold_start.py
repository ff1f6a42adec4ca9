"""What a server that only starts does not import: each of these costs time and memory that most never need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import chat
from chat.store.data_directory import DataDirectory

NOT_AT_START = (
    "OpenSSL",
    "PIL",
    "anyio",
    "beartype",
    "chat.access_log",
    "chat.admin",
    "chat.api.openapi.document",
    "chat.api.routes.applications",
    "chat.api.routes.every",
    "chat.api.routes.webhooks",
    "chat.bench",
    "chat.compat.discord",
    "chat.development",
    "chat.mail.outbox",
    "chat.mail.smtp",
    "chat.manual",
    "chat.media.colours",
    "chat.media.drawings",
    "chat.media.image_process",
    "chat.metrics",
    "chat.testing",
    "chat.voice",
    "chat.wire.values",
    "chat.nodes.redis_broker",
    "coredis",
    "cryptography",
    "email_validator",
    "flask",
    "google.protobuf",
    "httpx",
    "hypercorn",
    "hypothesis",
    "jinja2",
    "jsonschema_rs",
    "jwt",
    "livekit",
    "markdown_it",
    "maxminddb",
    "pillow_heif",
    "pillow_jxl",
    "prometheus_client",
    "pygments",
    "pylibsrtp",
    "pytest",
    "quart",
    "resvg_py",
    "rich",
    "segno",
    "smtplib",
    "sqlite_utils",
    "tomlkit",
    "trio_websocket",
    "webauthn",
    "werkzeug",
    "zstandard",
)
"""Packages, with all that is in them, and modules."""

SCRIPT = """
import json, os, sys
from chat.cli import serve

def announce(addresses):
    print(json.dumps(sorted(sys.modules)), flush=True)
    os._exit(0)

serve.announce = announce
serve.serve(["--data", sys.argv[1], "--port", "0"])
"""


def test_a_start_imports_nothing_that_only_some_need(tmp_path: Path) -> None:
    DataDirectory(tmp_path).bring_database_up_to_date()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CHAT_")}
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env=environment | {"PYTHONPATH": str(Path(chat.__file__).parents[1])},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    imported = json.loads(ended.stdout)
    early = [name for name in imported if any(name == other or name.startswith(f"{other}.") for other in NOT_AT_START)]
    assert not early
    assert "chat.serving" in imported
