"""What a device is told of a message: a title, a line or two, and where it leads.

It is JSON for the service worker of the web client, which shows it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import attrs
import orjson

from chat.registries.message_types import MessageType

BODY_CHARACTERS: Final = 500
"""What a device shows of a text at most."""

PLACE_CHARACTERS: Final = 100

OWN_CONVERSATIONS: Final = "@me"
"""Stands in addresses of the web client for a guild."""

# One pass; no alternative looks further than to the first character that decides it.
_MARKS: Final = re.compile(
    r"<@!?(?P<user>[0-9]{1,19})>"
    r"|<@&(?P<role>[0-9]{1,19})>"
    r"|<#(?P<channel>[0-9]{1,19})>"
    r"|<a?:(?P<emoji>[A-Za-z0-9_]{2,32}):[0-9]{1,19}>"
    r"|\|\|(?P<spoiler>[^|]+)\|\|"
    r"|(?P<control>[\x00-\x09\x0b-\x1f\x7f])"
)


@attrs.frozen
class Place:
    """Where a message was written: names as the receiver knows them. `name` is of the channel or the group."""

    channel_id: str
    guild_id: str | None = None
    name: str | None = None
    guild_name: str | None = None
    role_names: Mapping[int, str] = attrs.field(factory=dict)
    channel_names: Mapping[int, str] = attrs.field(factory=dict)


def push_object(message: Mapping[str, Any], place: Place, user_id: int, origin: str) -> dict[str, Any]:
    """What is told of a message, as MESSAGE_CREATE has it. `origin` is that of the web client."""
    author = message["author"]
    where = quote(place.guild_id or OWN_CONVERSATIONS, safe="@")
    return {
        "type": "message_create",
        "title": _title(message, place),
        "body": body_text(message, place),
        "icon": _icon(author, origin),
        "data": {
            "user_id": str(user_id),
            "guild_id": place.guild_id,
            "channel_id": place.channel_id,
            "message_id": message["id"],
            "author_id": author["id"],
            "url": f"{origin}/channels/{where}/{place.channel_id}/{message['id']}",
        },
    }


def push_bytes(told: Mapping[str, Any], most: int) -> bytes:
    """The JSON of it, with as much of the text as fits into `most` bytes."""
    body = told["body"]
    while len(encoded := orjson.dumps({**told, "body": body})) > most and body:
        body = f"{body[: len(body) // 2].rstrip('…')}…" if len(body) > 1 else ""
    return encoded


def body_text(message: Mapping[str, Any], place: Place) -> str:
    """The text as it reads without markup; of a message without one, what it carries."""
    text = str(message["content"])
    if text.strip():
        shown = _plain(text[: 2 * BODY_CHARACTERS], message, place).strip()
        return shown if len(shown) <= BODY_CHARACTERS else f"{shown[: BODY_CHARACTERS - 1]}…"
    if message["type"] == MessageType.CALL:
        return "Started a call"
    if message["attachments"]:
        return f"Sent {_counted('file', message['attachments'], 'filename')}"
    if message["stickers"]:
        return f"Sent {_counted('sticker', message['stickers'], 'name')}"
    if message.get("message_snapshots"):
        return "Forwarded a message"
    titles = [embed["title"] for embed in message["embeds"] if embed.get("title")]
    return str(titles[0])[:BODY_CHARACTERS] if titles else "Sent a message"


def _counted(what: str, items: list[Mapping[str, Any]], name: str) -> str:
    return f"a {what}: {items[0][name]}"[:BODY_CHARACTERS] if len(items) == 1 else f"{len(items)} {what}s"


def _title(message: Mapping[str, Any], place: Place) -> str:
    author = _name(message["author"])
    nick = (message.get("member") or {}).get("nick") or message.get("nicks", {}).get(message["author"]["id"])
    who = str(nick or author)
    if place.guild_id is not None:
        return f"{who} (#{_short(place.name)}, {_short(place.guild_name)})"
    return who if place.name is None else f"{who} ({_short(place.name)})"


def _short(name: str | None) -> str:
    return (name or "")[:PLACE_CHARACTERS]


def _name(user: Mapping[str, Any]) -> str:
    return str(user.get("global_name") or user["username"])


def _icon(author: Mapping[str, Any], origin: str) -> str | None:
    avatar = author.get("avatar")
    return None if avatar is None else f"{origin}/media/avatars/{author['id']}/{avatar}.webp"


def _plain(text: str, message: Mapping[str, Any], place: Place) -> str:
    users = {user["id"]: _name(user) for user in message["mentions"]}

    def shown(match: re.Match[str]) -> str:
        kind = match.lastgroup
        value = match[kind] if kind is not None else ""
        match kind:
            case "user":
                return f"@{users.get(value, 'unknown')}"
            case "role":
                return f"@{place.role_names.get(int(value), 'unknown')}"
            case "channel":
                return f"#{place.channel_names.get(int(value), 'unknown')}"
            case "emoji":
                return f":{value}:"
            case "spoiler":
                return "▮" * min(len(value), 8)  # what is hidden in the app is not shown on a locked screen
            case _:
                return " "

    return _MARKS.sub(shown, text)
