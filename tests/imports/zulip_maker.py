"""Writes a world as Zulip exports an organization; every text in it is ours. A message that answers another one shares
its topic, and each one that answers nothing has a topic of its own.
"""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

from tests.imports.discord_world import put
from tests.imports.talk_world import Part, Said, World

SIGNS = {"bold": "**", "italic": "*", "strike": "~~"}
REALM = "5f1b0f6c-0000-4000-8000-000000000001"


def _key(world: World, key: str) -> int:
    known = [one.key for one in world.people]
    return 10 + known.index(key) if key in known else 999


def markdown(world: World, part: Part) -> str:
    match part.kind:
        case "person":
            keys = [one.key for one in world.people]
            name = world.person(part.text).name if part.text in keys else part.text
            return f"@**{name}|{_key(world, part.text)}**" if len(part.text) % 2 else f"@_**{name}**"
        case "room":
            return f"#**{part.text}**"
        case "code":
            return f"`{part.text}`"
        case "link":
            return part.text
        case "emoji":
            return {"\N{THUMBS UP SIGN}": ":+1:", "\N{PARTY POPPER}": ":tada:"}.get(part.text, ":wave:")
        case _:
            text = part.text
            for mark in sorted(part.marks):
                text = f"{SIGNS[mark]}{text}{SIGNS[mark]}"
            return text


def row(world: World, said: Said) -> dict[str, Any]:
    root = said.number if said.under is None else said.under
    files = "".join(f"\n[{name}](/user_uploads/2/{said.number}/{name.replace(' ', '-')})" for name in said.files)
    return {
        "id": 30_000_000 + said.number,
        "sender": _key(world, said.by),
        "recipient": 100 + [one.name for one in world.rooms].index(said.room),
        "subject": f"topic {root}",
        "content": " ".join(markdown(world, part) for part in said.parts) + files,
        "date_sent": said.moment_ms / 1_000,
        "last_edit_time": said.moment_ms / 1_000 + 60 if said.edited else None,
    }


def write_zulip(folder: Path, world: World) -> Path:
    """The directory of an export."""
    rooms = list(enumerate(world.rooms))
    reactions = [(said, emoji, key) for said in world.said for emoji, keys in said.reactions.items() for key in keys]
    members = [
        (place, person)
        for place, room in rooms
        for person in world.people
        if room.members is None or person.key in room.members
    ]
    realm = {
        "zerver_realm": [{"id": 2, "uuid": REALM, "name": "Lighthouse keepers", "string_id": "keepers"}],
        "zerver_userprofile": [
            {"id": _key(world, one.key), "full_name": one.name, "email": f"{one.key}@keepers.invalid", "is_bot": False}
            for one in world.people
        ],
        "zerver_stream": [
            {"id": 50 + place, "name": room.name, "description": room.topic, "date_created": 1_500_000_000.5}
            | {"invite_only": room.members is not None}
            for place, room in rooms
        ],
        "zerver_recipient": [{"id": 100 + place, "type": 2, "type_id": 50 + place} for place, _ in rooms],
        "zerver_subscription": [
            {"id": 500 + number, "recipient": 100 + place, "user_profile": _key(world, person.key), "active": True}
            for number, (place, person) in enumerate(members)
        ],
        "zerver_reaction": [
            {"id": number, "message": 30_000_000 + said.number, "user_profile": _key(world, key)}
            | {"reaction_type": "unicode_emoji", "emoji_code": f"{ord(emoji):x}", "emoji_name": "x"}
            for number, (said, emoji, key) in enumerate(reactions)
        ],
    }
    put(folder, "realm.json", realm)
    for place in range(0, max(1, len(world.said)), 3):
        rows = [row(world, said) for said in world.said[place : place + 3]]
        put(folder, f"messages-{place // 3 + 1:06}.json", {"zerver_message": rows, "zerver_usermessage": []})
    for said in world.said:
        for name in said.files:
            put(folder, f"uploads/2/{said.number}/{name.replace(' ', '-')}", name.encode())
    return folder


def as_tar(folder: Path, path: Path) -> Path:
    """The archive that Zulip makes."""
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, "zulip-export")
    return path
