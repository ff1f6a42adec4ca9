"""Writes a world as Slack exports a workspace; every text in it is ours. Each second message has blocks of rich text,
the others mrkdwn alone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.imports.discord_world import put
from tests.imports.talk_world import BEGAN_MS, EMOJI_NAMES, Part, Said, World

BEGAN = BEGAN_MS // 1_000
SIGNS = {"bold": "*", "italic": "_", "strike": "~"}


def person_key(key: str) -> str:
    return f"U{key.upper()}"


def room_key(name: str) -> str:
    return f"C{name.upper()}"


def stamp(number: int) -> str:
    return f"{BEGAN + number * 60}.000200"


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mrkdwn(part: Part) -> str:
    match part.kind:
        case "person":
            return f"<@{person_key(part.text)}>"
        case "room":
            return f"<#{room_key(part.text)}|{part.text}>"
        case "code":
            return f"`{_plain(part.text)}`"
        case "link":
            return f"<{part.text}>"
        case "emoji":
            return f":{EMOJI_NAMES[part.text]}:"
        case _:
            text = _plain(part.text)
            for mark in sorted(part.marks):
                text = f"{SIGNS[mark]}{text}{SIGNS[mark]}"
            return text


def element(part: Part) -> dict[str, Any]:
    match part.kind:
        case "person":
            return {"type": "user", "user_id": person_key(part.text)}
        case "room":
            return {"type": "channel", "channel_id": room_key(part.text)}
        case "code":
            return {"type": "text", "text": part.text, "style": {"code": True}}
        case "link":
            return {"type": "link", "url": part.text}
        case "emoji":
            return {"type": "emoji", "name": EMOJI_NAMES[part.text], "unicode": f"{ord(part.text):x}"}
        case _:
            return {"type": "text", "text": part.text, "style": dict.fromkeys(part.marks, True)}


def message(world: World, said: Said, *, rich: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "message",
        "user": person_key(said.by),
        "text": " ".join(map(mrkdwn, said.parts)),
        "ts": stamp(said.number),
        "reactions": [
            {"name": EMOJI_NAMES[emoji], "users": [person_key(one) for one in keys], "count": len(keys)}
            for emoji, keys in said.reactions.items()
        ],
        "files": [
            {"id": f"F{said.number}{name[0].upper()}", "name": name, "size": len(name), "mode": "hosted"}
            | {"url_private": f"https://files.invalid/{name}"}
            for name in said.files
        ],
    }
    if rich:
        elements = [element(part) for part in said.parts]
        spaced = [one for each in elements for one in (each, {"type": "text", "text": " "})][:-1]
        section = {"type": "rich_text_section", "elements": spaced}
        made["blocks"] = [{"type": "rich_text", "elements": [section]}]
    if said.under is not None:
        made["thread_ts"] = stamp(said.under)
    elif any(one.under == said.number for one in world.said):
        made |= {"thread_ts": stamp(said.number), "reply_count": 1}
    if said.edited:
        made["edited"] = {"user": made["user"], "ts": stamp(said.number + 1)}
    return made


def write_slack(folder: Path, world: World) -> Path:
    """The directory of an export."""
    put(folder, "users.json", [_user(one.key, one.name) for one in world.people])
    for name, is_private in (("channels.json", False), ("groups.json", True)):
        rooms = [room for room in world.rooms if (room.members is not None) == is_private]
        put(
            folder,
            name,
            [
                {
                    "id": room_key(room.name),
                    "name": room.name,
                    "created": BEGAN - 86_400,
                    "members": [person_key(one) for one in room.members or ()],
                    "topic": {"value": room.topic},
                    "purpose": {"value": ""},
                    "pins": [
                        {"id": stamp(one.number), "type": "C", "created": BEGAN + one.number * 60 + 5}
                        for one in world.said
                        if one.room == room.name and one.pinned
                    ],
                }
                for room in rooms
            ],
        )
    days: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for place, said in enumerate(world.said):
        day = datetime.fromtimestamp(said.moment_ms / 1_000, UTC).date().isoformat()
        days.setdefault((said.room, day), []).append(message(world, said, rich=place % 2 == 0))
        for name in said.files:
            put(folder, f"__uploads/F{said.number}{name[0].upper()}/{name}", name.encode())
    for (room, day), messages in days.items():
        put(folder, f"{room}/{day}.json", messages)
    return folder


def _user(key: str, name: str) -> dict[str, Any]:
    profile = {"display_name": name, "real_name": name, "image_72": f"https://pictures.invalid/{key}.png"}
    return {"id": person_key(key), "name": key, "real_name": name, "is_bot": False, "profile": profile}
