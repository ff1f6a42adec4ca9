"""`chat bench import`: an export of DiscordChatExporter comes, and somebody asks for the writer all the while."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from chat.bench import world
from chat.bench.measuring import HERE, MEASURED_CORE, BenchReport, Figure
from chat.classes import frozen
from chat.errors import OperatorError
from chat.snowflake import snowflake_at
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory

PEOPLE: Final = 200
BEGAN_MS: Final = 1_600_000_000_000
APART_MS: Final = 20_000
SENTENCES: Final = (
    "the lamp is lit and a ship went past at dawn while fog lay over bay nobody saw it but two keepers who wrote it "
    "down in their book with names of all that came by since spring as they do every day now think we should ask them "
    "what happens when light goes out again tomorrow yes maybe later sounds good thanks"
)
WORDS: Final = tuple(SENTENCES.split(" "))

ASK_SECONDS: Final = 0.0005
"""Between two questions for the writer."""

MEGABYTE: Final = 1_000_000


@frozen
class MovingBenchPlan:
    messages: int = 200_000
    channels: int = 20


WHOLE: Final = MovingBenchPlan()

QUICK: Final = MovingBenchPlan(messages=400, channels=2)


def run(plan: MovingBenchPlan) -> BenchReport:
    """Bring one export along."""
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
        data, exported = Path(directory) / "data", Path(directory) / "export"
        guild_id = world.prepare(data, world.MEMBERS).guild_id
        size = write_export(exported, plan)
        command = ("import", "discord", str(exported), "--guild", str(guild_id), "--json", "--data", str(data))
        start = time.perf_counter()
        with _importing(command) as process:
            longest = _longest_hold(DataDirectory(data).database, process)
            out, _ = process.communicate()
            seconds = time.perf_counter() - start
        found = json.loads(out) if process.returncode == 0 else {}
        if found.get("counts", {}).get("messages") != plan.messages:
            raise OperatorError(f"the import ended with status {process.returncode}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    return BenchReport(
        "import",
        (
            Figure("messages_per_cpu_second", plan.messages / cpu, "messages/s", at_least=20_000),
            Figure("messages_per_second", plan.messages / seconds, "messages/s"),
            Figure("longest_hold", longest * 1_000, "ms", at_most=20),
            Figure("memory", used.ru_maxrss * 1_024 / MEGABYTE, "MB", at_most=200),
            Figure("export_size", size / MEGABYTE, "MB"),
        ),
        ("the figures count the start of the command and the reading of the export",),
    )


@contextlib.contextmanager
def _importing(command: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    arguments = (sys.executable, "-m", "chat", *command)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as process:  # noqa: S603
        os.sched_setaffinity(process.pid, {MEASURED_CORE} & os.sched_getaffinity(0) or os.sched_getaffinity(0))
        yield process


def _longest_hold(database: Path, process: subprocess.Popen[str]) -> float:
    """The longest time for which nobody else could begin to write, in seconds, while the process lives."""
    longest, blocked_since = 0.0, None
    with contextlib.closing(connect(database)) as connection:
        connection.execute("PRAGMA busy_timeout = 0")
        while process.poll() is None:
            now = time.perf_counter()
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                blocked_since = now if blocked_since is None else blocked_since
                longest = max(longest, time.perf_counter() - blocked_since)
            else:
                connection.execute("ROLLBACK")
                blocked_since = None
            time.sleep(ASK_SECONDS)
    return longest


def write_export(folder: Path, plan: MovingBenchPlan) -> int:
    """Write an export as DiscordChatExporter does; its bytes."""
    chance = random.Random(7)  # noqa: S311 - the same export each time
    folder.mkdir(parents=True)
    people = [_person(number) for number in range(PEOPLE)]
    each = plan.messages // plan.channels
    size = 0
    for channel in range(plan.channels):
        first = plan.messages - each * (plan.channels - 1) if channel == 0 else each
        messages = [_message(chance, people, number * plan.channels + channel) for number in range(first)]
        size += _write_channel(folder, channel, messages)
    return size


def _write_channel(folder: Path, channel: int, messages: list[dict[str, object]]) -> int:
    of = {"id": str(snowflake_at(BEGAN_MS) - 1_000 + channel), "type": "GuildTextChat", "categoryId": None}
    whole = {
        "guild": {"id": str(snowflake_at(BEGAN_MS) - 5_000), "name": "Lighthouse keepers", "iconUrl": ""},
        "channel": {**of, "category": None, "name": f"room{channel}", "topic": None},
        "dateRange": {"after": None, "before": None},
        "exportedAt": "2023-11-14T22:13:20+00:00",
        "messages": messages,
        "messageCount": len(messages),
    }
    path = folder / f"{channel}.json"
    path.write_text(json.dumps(whole, indent=2, ensure_ascii=False), "utf-8")
    return path.stat().st_size


def _person(number: int) -> dict[str, object]:
    role = {"id": str(snowflake_at(BEGAN_MS) - 9_000 + number % 5), "name": f"role {number % 5}", "color": "#00FF00"}
    return {
        "id": str(snowflake_at(BEGAN_MS) + 1 + number),
        "name": f"keeper{number}",
        "discriminator": "0000",
        "nickname": f"Keeper {number}",
        "color": None,
        "isBot": False,
        "roles": [{**role, "position": 1 + number % 5}],
        "avatarUrl": "https://cdn.invalid/avatar.png",
    }


def _message(chance: random.Random, people: list[dict[str, object]], number: int) -> dict[str, object]:
    """A few words, sometimes an answer, a mention, a link, an embed or a reaction."""
    author, kind = chance.choice(people), chance.random()
    words = " ".join(chance.choices(WORDS, k=1 + min(60, int(chance.expovariate(0.08)))))
    made: dict[str, object] = {
        "id": str(_id(number)),
        "type": "Default",
        "timestamp": "2020-09-13T12:26:40.123+00:00",
        "timestampEdited": "2020-09-13T12:27:40.123+00:00" if chance.random() < 0.05 else None,
        "callEndedTimestamp": None,
        "isPinned": chance.random() < 0.001,
        "content": words,
        "author": author,
        "attachments": [],
        "embeds": [],
        "stickers": [],
        "reactions": [],
        "mentions": [],
        "inlineEmojis": [],
    }
    if kind < 0.1 and number > 100:
        made |= {"type": "Reply", "reference": {"messageId": str(_id(number - 40)), "channelId": None}}
    elif kind < 0.15:
        other = chance.choice(people)
        made |= {"content": f"<@{other['id']}> {words}", "mentions": [other]}
    elif kind < 0.18:
        made["content"] = f"{words} https://lighthouse.example/{number}"
        made["embeds"] = [{"title": "Lighthouse", "url": "https://lighthouse.example", "description": words}]
    if chance.random() < 0.05:
        thumb = {"id": "", "name": "\N{THUMBS UP SIGN}", "code": "thumbsup", "isAnimated": False, "imageUrl": ""}
        who = chance.sample(people, 3)
        made["reactions"] = [{"emoji": thumb, "count": len(who), "users": who}]
    return made


def _id(number: int) -> int:
    return snowflake_at(BEGAN_MS + 60_000 + number * APART_MS // 100) + 5
