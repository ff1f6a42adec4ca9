"""What `chat dev` says to people: who is there, where its pages are, and with `--watch` what goes over the wire."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from chat.cli.options import as_text, print_table

if TYPE_CHECKING:
    from chat.development.seeded_world import SeededWorld

PAGES: Final[Mapping[str, str]] = {"workbench": "/dev", "chat": "/", "console": "/admin", "manual": "/docs"}

STREAM: Final = "/v1/_dev/history/stream?after=0"
OPCODES: Final[Mapping[int, str]] = {
    1: "HEARTBEAT",
    2: "IDENTIFY",
    3: "PRESENCE_UPDATE",
    4: "VOICE_STATE_UPDATE",
    6: "RESUME",
    7: "RECONNECT",
    8: "REQUEST_GUILD_MEMBERS",
    9: "INVALID_SESSION",
    10: "HELLO",
    11: "HEARTBEAT_ACK",
    14: "LAZY_REQUEST",
}


def introduce(world: SeededWorld, origin: str) -> None:
    """Print the accounts, what else a bot has to know, and the pages."""
    click.echo()
    print_table(
        ("account", "token", "password"),
        [(person.username, person.token, person.password) for person in world.people],
    )
    click.echo()
    print_table(
        ("what", "value"),
        [
            ("emails", [person.email for person in world.people]),
            ("bot token", world.bot.token),
            ("application", world.bot.application_id),
            ("client secret", world.bot.client_secret),
            ("admin key", world.admin_key),
            ("guild", world.guild_id),
            ("text channel", world.channel_id),
            ("voice channel", world.voice_channel_id),
        ],
        heading=False,
    )
    click.echo()
    print_table(("page", "address"), [(name, f"{origin}{path}") for name, path in PAGES.items()], heading=False)
    click.echo()


def watch(world: SeededWorld, host: str, port: int) -> None:
    """Print frames and requests as they go, in a thread that ends with the process."""
    from chat.config.settings import WILDCARD_HOSTS

    reachable = WILDCARD_HOSTS.get(host, host)
    names = {str(person.id): person.username for person in world.people} | {str(world.bot.user_id): "bot"}
    threading.Thread(target=_watch, args=(names, reachable, port), name="watch", daemon=True).start()


def _watch(names: Mapping[str, str], host: str, port: int) -> None:
    # The server ends first, or the reader of what is printed.
    with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        connection = http.client.HTTPConnection(host, port)
        connection.request("GET", STREAM)
        for line in connection.getresponse():
            for told in lines_of(json.loads(line), names):
                click.echo(told)


def lines_of(batch: Mapping[str, Any], names: Mapping[str, str]) -> Iterable[str]:
    """A line for each entry of a batch of the history's stream, and one for what was left out."""
    if batch["dropped"]:
        yield click.style(f"... {batch['dropped']} left out, too fast to show", fg="yellow")
    for entry in batch["entries"]:
        yield _line(entry, names)


def _line(entry: Mapping[str, Any], names: Mapping[str, str]) -> str:
    user_id = entry.get("user_id")
    who = "-" if user_id is None else names.get(user_id, user_id)
    at = click.style(entry["at"][11:23], dim=True)
    way, what, colour = _words(entry)
    told = " ".join(each for each in (what, *_figures(entry)) if each)
    return f"{at} {who:<10} {click.style(f'{way:<6}', fg=colour, bold=True)} {as_text(told)}"


def _words(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """Which way it went, what it was, and in which colour that is told."""
    match entry["kind"]:
        case "request":
            return entry["method"], entry["path"], "red" if entry["status"] >= 400 else "green"
        case "opened":
            return "opened", f"socket {entry['socket']} from {entry['address']}", "white"
        case "ended":
            side = "client" if entry["by_client"] else "server"
            return "closed", f"socket {entry['socket']} by the {side}: {entry['code']} {entry['reason']}", "white"
    name = entry["event"] or OPCODES.get(entry["op"], "no payload" if entry["op"] is None else f"opcode {entry['op']}")
    return ("->", name, "blue") if entry["direction"] == "in" else ("<-", name, "cyan")


def _figures(entry: Mapping[str, Any]) -> Iterable[str]:
    if entry["kind"] == "request":
        yield f"{entry['status']} {entry['ms']} ms"
    elif entry["kind"] == "frame":
        if entry["sequence"] is not None:
            yield f"s {entry['sequence']}"
        yield f"{entry['size']} B"
