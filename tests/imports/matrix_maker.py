"""Writes a world as Element exports rooms, each in a folder of its own; every text in it is ours."""

from __future__ import annotations

import html
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.imports.discord_world import put
from tests.imports.talk_world import BEGAN_MS, Part, Room, Said, World

TAGS = {"bold": "strong", "italic": "em", "strike": "del"}


def person_key(key: str) -> str:
    return f"@{key}:keepers.invalid"


def room_key(name: str) -> str:
    return f"!{name}:keepers.invalid"


def event_key(number: int) -> str:
    return f"$event{number}"


def written(part: Part) -> str:
    text = html.escape(part.text)
    match part.kind:
        case "person":
            return f'<a href="https://matrix.to/#/{person_key(part.text)}">{text}</a>'
        case "room":
            return f'<a href="https://matrix.to/#/{room_key(part.text)}">#{text}</a>'
        case "code":
            return f"<code>{text}</code>"
        case "link":
            return f'<a href="{text}">{text}</a>'
        case _:
            for mark in sorted(part.marks):
                text = f"<{TAGS[mark]}>{text}</{TAGS[mark]}>"
            return text


def event(number: int, sender: str, kind: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
    made = {"event_id": event_key(number), "sender": person_key(sender), "type": kind, "content": content}
    return {**made, "origin_server_ts": BEGAN_MS + number * 60_000, **more}


def events_of(world: World, said: Said) -> list[dict[str, Any]]:
    """A message, with the events that say what became of it."""
    text = " ".join(map(written, said.parts))
    content: dict[str, Any] = {"msgtype": "m.text", "body": "plain", "format": "org.matrix.custom.html"}
    relation: dict[str, Any] = {}
    if said.under is not None:
        relation = {"m.relates_to": {"rel_type": "m.thread", "event_id": event_key(said.under)}}
        relation["m.relates_to"] |= {"is_falling_back": True, "m.in_reply_to": {"event_id": event_key(said.under)}}
    shown = content | {"formatted_body": text}
    if said.files:
        shown |= {"msgtype": "m.file", "filename": said.files[0], "url": "mxc://keepers.invalid/file"}
    first = shown | {"formatted_body": "first try"} if said.edited else shown
    found = [event(said.number, said.by, "m.room.message", first | relation)]
    if said.edited:
        replaced = {
            "m.relates_to": {"rel_type": "m.replace", "event_id": event_key(said.number)},
            "m.new_content": shown,
        }
        edit = event(said.number, said.by, "m.room.message", {**content, **replaced})
        found.append(edit | {"event_id": f"{event_key(said.number)}-edit"})
    for emoji, keys in said.reactions.items():
        for key in keys:
            relates = {"rel_type": "m.annotation", "event_id": event_key(said.number), "key": emoji}
            reaction = event(said.number, key, "m.reaction", {"m.relates_to": relates})
            found.append(reaction | {"event_id": f"{event_key(said.number)}-{key}-{ord(emoji)}"})
    return found


def room_events(world: World, room: Room) -> list[dict[str, Any]]:
    """What is known of the room before anybody wrote."""
    inside = [one for one in world.people if room.members is None or one.key in room.members]
    rule = {"join_rule": "public" if room.members is None else "invite"}
    pinned = {"pinned": [event_key(one.number) for one in world.said if one.room == room.name and one.pinned]}
    joined = {"membership": "join"}
    members = [
        event(0, one.key, "m.room.member", joined | {"displayname": one.name})
        | {"state_key": person_key(one.key), "unsigned": {"prev_content": joined}, "event_id": f"${room.name}{one.key}"}
        for one in inside
    ]
    state = [("m.room.join_rules", rule), ("m.room.pinned_events", pinned)]
    told = [event(0, "anna", kind, content, state_key="") for kind, content in state]
    return [one | {"room_id": room_key(room.name)} for one in (*told, *members)]


def write_matrix(folder: Path, world: World) -> Path:
    """The directory with the exports of all rooms."""
    for room in world.rooms:
        messages = [one for said in world.said if said.room == room.name for one in events_of(world, said)]
        export = {
            "room_name": room.name,
            "room_creator": person_key("anna"),
            "topic": room.topic,
            "export_date": "14/11/2023",
            "exported_by": "Anna",
            "messages": [*room_events(world, room), *messages],
        }
        put(folder, f"{room.name}/export.json", export)
    for said in world.said:
        for name in said.files[:1]:
            stem, _, ending = name.rpartition(".")
            sent = datetime.fromtimestamp(said.moment_ms / 1_000, UTC).strftime("%d-%m-%Y at %H-%M-%S")
            put(folder, f"{said.room}/files/{stem}-{sent}.{ending}", name.encode())
    return folder
