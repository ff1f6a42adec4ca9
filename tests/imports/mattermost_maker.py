"""Writes a world as Mattermost's bulk export has it; every text in it is ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.imports.discord_world import put
from tests.imports.talk_world import EMOJI_NAMES, Part, Said, World

SIGNS = {"bold": "**", "italic": "_", "strike": "~~"}


def markdown(part: Part) -> str:
    match part.kind:
        case "person":
            return f"@{part.text}"
        case "room":
            return f"~{part.text}"
        case "code":
            return f"`{part.text}`"
        case "link":
            return part.text
        case "emoji":
            return f":{EMOJI_NAMES[part.text]}:"
        case _:
            text = part.text if part.marks else re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", part.text)
            for mark in sorted(part.marks):
                text = f"{SIGNS[mark]}{text}{SIGNS[mark]}"
            return text


def post(said: Said) -> dict[str, Any]:
    return {
        "user": said.by,
        "type": "",
        "message": " ".join(map(markdown, said.parts)),
        "props": {},
        "create_at": said.moment_ms,
        "edit_at": said.moment_ms + 5 if said.edited else 0,
        "is_pinned": said.pinned,
        "reactions": [
            {"user": key, "create_at": said.moment_ms + 9, "emoji_name": EMOJI_NAMES[emoji]}
            for emoji, keys in said.reactions.items()
            for key in keys
        ],
        "attachments": [{"path": f"20200913/{said.number}/{name}"} for name in said.files],
    }


def write_mattermost(folder: Path, world: World) -> Path:
    """The directory of an export."""
    lines: list[dict[str, Any]] = [
        {"type": "version", "version": 1},
        {"type": "team", "team": {"name": "keepers", "display_name": "Keepers", "type": "I"}},
    ]
    for room in world.rooms:
        channel = {"team": "keepers", "name": room.name, "display_name": room.name, "header": room.topic, "purpose": ""}
        lines.append({"type": "channel", "channel": channel | {"type": "O" if room.members is None else "P"}})
    for person in world.people:
        rooms = [{"name": room.name} for room in world.rooms if room.members is None or person.key in room.members]
        user = {"username": person.key, "nickname": person.name, "email": f"{person.key}@keepers.invalid"}
        lines.append({"type": "user", "user": user | {"teams": [{"name": "keepers", "channels": rooms}]}})
    told = {one.number for one in world.said}
    for said in world.said:
        if said.under not in told - {said.number}:  # a root, or an answer to what is not there
            replies = [one for one in world.said if one.under == said.number and one is not said]
            place = {"team": "keepers", "channel": said.room, "replies": list(map(post, replies))}
            lines.append({"type": "post", "post": post(said) | place})
        for name in said.files:
            put(folder, f"data/20200913/{said.number}/{name}", name.encode())
    put(folder, "import.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines).encode())
    return folder
