"""Exports as DiscordChatExporter writes them, made from a few words: every text in them is ours."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from chat.imports.discord import DiscordExport
from chat.imports.export_files import open_export
from chat.imports.form import Record
from chat.imports.wishes import ReadingWish
from chat.snowflake import snowflake_at

YEAR_MS = 31_557_600_000
BEGAN_MS = 1_600_000_000_000
NOW_MS = 1_700_000_000_000
GUILD_ID = snowflake_at(BEGAN_MS) + 1


def moment(number: int) -> int:
    """The id of the n-th thing that happened."""
    return snowflake_at(BEGAN_MS + number * 60_000) + 7


def person(number: int, name: str, **more: Any) -> dict[str, Any]:
    return {
        "id": str(snowflake_at(BEGAN_MS) + number),
        "name": name,
        "discriminator": "0",
        "nickname": name.title(),
        "color": None,
        "isBot": False,
        "roles": [],
        "avatarUrl": "https://cdn.invalid/avatar.png",
        **more,
    }


ANNA = person(1_000, "anna")
BERT = person(2_000, "bert")


def message(number: int, content: str = "", author: dict[str, Any] = ANNA, **more: Any) -> dict[str, Any]:
    return {
        "id": str(moment(number)),
        "type": "Default",
        "timestamp": "2020-09-13T12:26:40+00:00",
        "timestampEdited": None,
        "callEndedTimestamp": None,
        "isPinned": False,
        "content": content,
        "author": author,
        "attachments": [],
        "embeds": [],
        "stickers": [],
        "reactions": [],
        "mentions": [],
        **more,
    }


def channel(number: int, name: str, kind: str = "GuildTextChat", **more: Any) -> dict[str, Any]:
    return {
        "id": str(channel_id(number)),
        "type": kind,
        "categoryId": None,
        "category": None,
        "name": name,
        "topic": None,
        **more,
    }


def channel_id(number: int) -> int:
    return snowflake_at(BEGAN_MS - YEAR_MS) + number


def export(of: dict[str, Any], *messages: dict[str, Any], guild_id: int = GUILD_ID) -> dict[str, Any]:
    return {
        "guild": {"id": str(guild_id), "name": "Lighthouse keepers", "iconUrl": "https://cdn.invalid/icon.png"},
        "channel": of,
        "dateRange": {"after": None, "before": None},
        "exportedAt": "2023-11-14T22:13:20+00:00",
        "messages": list(messages),
        "messageCount": len(messages),
    }


def put(folder: Path, name: str, content: object) -> Path:
    """Write a file of the export; a dict as JSON, with the spaces that the exporter makes."""
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        place.write_bytes(content)
    else:
        place.write_text(json.dumps(content, indent=2, ensure_ascii=False), "utf-8", errors="surrogatepass")
    return place


def packed(folder: Path, path: Path) -> Path:
    """The same as a ZIP archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place in sorted(folder.rglob("*")):
            archive.write(place, place.relative_to(folder))
    return path


def records(path: Path, **wish: Any) -> list[Record]:
    """What the reader makes of it."""
    files = open_export(path)
    try:
        return list(DiscordExport.open(files).read(ReadingWish(**wish), NOW_MS))
    finally:
        files.close()
