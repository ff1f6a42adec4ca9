"""`chat bench`: what this machine's server can do, each figure as a ratio to a floor of the same run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from chat.cli.options import json_alone_option, print_json, print_table

if TYPE_CHECKING:
    from chat.bench.measuring import BenchReport


quick_option = click.option("--quick", is_flag=True, help="A few connections for a moment; the figures mean nothing.")
rounds_option = click.option(
    "--rounds", type=click.IntRange(1), help="Rounds of which the median counts.  [default: 5]"
)


@click.group()
def bench() -> None:
    """Measure what the server can do on this machine."""


@bench.command()
@click.option("--sessions", type=click.IntRange(1), multiple=True, help="How many.  [default: 1000, 3000 and 200]")
@rounds_option
@quick_option
@json_alone_option()
def gateway(sessions: tuple[int, ...], rounds: int | None, quick: bool, as_json: bool) -> None:
    """Deliveries, memory, latency.

    Deliveries per CPU second are held against a bare loop of send(); the longest turn of the loop is told too.
    """
    from chat.bench import gateway as measured

    _measure(measured, quick=quick, as_json=as_json, sessions=sessions, rounds=rounds)


@bench.command()
@click.option(
    "--messages",
    type=click.IntRange(100),
    multiple=True,
    help="How many in a channel.  [default: 10000, 100000 and 1000000]",
)
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Another checkout, to be measured in the same rounds.",
)
@click.option("--requests-only", is_flag=True, help="Leave Identifies and the growing channels out.")
@click.option("--identifies-only", is_flag=True, help="Leave requests and the growing channels out.")
@rounds_option
@quick_option
@json_alone_option()
def http(
    messages: tuple[int, ...],
    against: Path | None,
    requests_only: bool,
    identifies_only: bool,
    rounds: int | None,
    quick: bool,
    as_json: bool,
) -> None:
    """Requests, Identifies, and channels of growing size.

    Requests per CPU second are held against an empty route, and against an empty handler of Node's where there is one.
    """
    from chat.bench import http as measured

    growth = (measured.QUICK if quick else measured.WHOLE).growth
    if messages:
        growth = attrs.evolve(growth, messages=messages)
    if requests_only or identifies_only:
        parts = (measured.REQUESTS if requests_only else frozenset()) | (
            measured.IDENTIFIES if identifies_only else frozenset()
        )
    else:
        parts = measured.EVERY_PART
    _measure(measured, quick=quick, as_json=as_json, growth=growth, rounds=rounds, against=against, parts=parts)


@bench.command()
@rounds_option
@quick_option
@json_alone_option()
def store(rounds: int | None, quick: bool, as_json: bool) -> None:
    """Durable writes a second, alone and together.

    They are held against one commit at a time.
    """
    from chat.bench import store as measured

    _measure(measured, quick=quick, as_json=as_json, rounds=rounds)


@bench.command()
@rounds_option
@quick_option
@json_alone_option()
def start(rounds: int | None, quick: bool, as_json: bool) -> None:
    """Time until `chat serve` listens, idle memory.

    It starts on an existing database.
    """
    from chat.bench import start as measured

    _measure(measured, quick=quick, as_json=as_json, rounds=rounds)


@bench.command()
@click.option("--sessions", type=click.IntRange(1), multiple=True, help="How many.  [default: 1000, 2400 and 5000]")
@quick_option
@json_alone_option()
def restart(sessions: tuple[int, ...], quick: bool, as_json: bool) -> None:
    """A stop and the next start with full replay buffers.

    Sessions without a socket hold them; what a message costs meanwhile is told too.
    """
    from chat.bench import restart as measured

    _measure(measured, quick=quick, as_json=as_json, sessions=sessions)


@bench.command()
@click.option("--sessions", type=click.IntRange(1), help="How many at a node.  [default: 1000]")
@rounds_option
@quick_option
@json_alone_option()
def nodes(sessions: int | None, rounds: int | None, quick: bool, as_json: bool) -> None:
    """Gateway nodes around a core.

    Deliveries per CPU second, memory, latency and logins are held against one `chat serve`. Needs redis-server.
    """
    from chat.bench import nodes as measured

    _measure(measured, quick=quick, as_json=as_json, sessions=sessions, rounds=rounds)


@bench.command()
@click.option("--connections", type=click.IntRange(1), help="How many.  [default: 10000]")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="For how long.  [default: 120]")
@quick_option
@json_alone_option()
def idle(connections: int | None, seconds: float | None, quick: bool, as_json: bool) -> None:
    """Ten thousand sessions that say nothing.

    They are to stay up, with a flat number of tasks and flat memory.
    """
    from chat.bench import idle as measured

    _measure(measured, quick=quick, as_json=as_json, connections=connections, seconds=seconds)


@bench.command()
@click.option(
    "--members", type=click.IntRange(2), multiple=True, help="How many.  [default: 1000, 10000, 100000 and 200000]"
)
@click.option("--roles", type=click.IntRange(5), help="How many.  [default: 500]")
@quick_option
@json_alone_option()
def guild(members: tuple[int, ...], roles: int | None, quick: bool, as_json: bool) -> None:
    """What operations cost in guilds of growing size."""
    from chat.bench import guild as measured

    _measure(measured, quick=quick, as_json=as_json, members=members, roles=roles)


@bench.command()
@rounds_option
@quick_option
@json_alone_option()
def growth(rounds: int | None, quick: bool, as_json: bool) -> None:
    """Requests and the start, up to ten million messages.

    The largest instance has a million accounts too, and takes some GB on the disk.
    """
    from chat.bench import growth as measured

    _measure(measured, quick=quick, as_json=as_json, rounds=rounds)


@bench.command()
@quick_option
@json_alone_option()
def web(quick: bool, as_json: bool) -> None:
    """What the web client costs in a browser.

    It needs Chromium, and Playwright of the extra `dev`. `all` leaves it out.
    """
    from chat.bench import web as measured

    _measure(measured, quick=quick, as_json=as_json)


@bench.command("import")
@click.option("--messages", type=click.IntRange(1), help="How many.  [default: 200000]")
@quick_option
@json_alone_option()
def import_(messages: int | None, quick: bool, as_json: bool) -> None:
    """Messages of an old place a second.

    It tells too for how long nobody else can write, and the memory that it takes.
    """
    from chat.bench import moving as measured

    _measure(measured, quick=quick, as_json=as_json, messages=messages)


@bench.command("all")
@quick_option
@json_alone_option()
def every(quick: bool, as_json: bool) -> None:
    """Every bench, one after the other."""
    from chat.bench import gateway, growth, guild, http, idle, moving, restart, start, store

    benches: tuple[Any, ...] = (gateway, http, store, start, restart, growth, guild, idle, moving)
    _print([bench.run(bench.QUICK if quick else bench.WHOLE) for bench in benches], as_json=as_json)


def _measure(measured: Any, *, quick: bool, as_json: bool, **wishes: object) -> None:
    """Run a module of `chat.bench` by its plan, or its quick one, with the wishes that were told."""
    plan = attrs.evolve(
        measured.QUICK if quick else measured.WHOLE, **{name: wish for name, wish in wishes.items() if wish}
    )
    _print([measured.run(plan)], as_json=as_json)


def _print(reports: Iterable[BenchReport], *, as_json: bool) -> None:
    """A table and the notes below it, or JSON: one object, a list where there are several."""
    from chat.bench.measuring import rows

    reports = list(reports)
    if as_json:
        objects = [report.as_json() for report in reports]
        print_json(objects[0] if len(objects) == 1 else objects)
        return
    print_table(("figure", "measured", "unit", "target", "met"), rows(reports))
    for report in reports:
        for note in report.notes:
            click.echo(f"{report.bench}: {note}")
