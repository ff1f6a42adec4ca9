"""What a device is told of a message: JSON for the service worker of the web client, which shows it as it is.

It has a title, a line or two, and where it leads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict
from urllib.parse import quote

import attrs
import orjson

from chat.classes import frozen
from chat.markdown.inline import Mention, mentions_in, spoilers_in
from chat.registries.message_types import MessageType

REMINDED_OF_NOTHING: Final = "The message was deleted, or you cannot see it any more."

BODY_CHARACTERS: Final = 500
"""How many characters of a text a device shows at most."""

PLACE_CHARACTERS: Final = 100

OWN_CONVERSATIONS: Final = "@me"
"""Stands in addresses of the web client for a guild."""

_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


@frozen
class NotificationPlace:
    """Where a message was written, with names as the receiver knows them. `name` is that of the channel or the
    group."""

    channel_id: str
    guild_id: str | None = None
    name: str | None = None
    guild_name: str | None = None
    role_names: Mapping[int, str] = attrs.field(factory=dict)
    channel_names: Mapping[int, str] = attrs.field(factory=dict)


class PushData(TypedDict):
    """Where a notification leads, and what it is about."""

    user_id: str
    guild_id: str | None
    channel_id: str
    message_id: str
    author_id: str | None
    url: str
    tag: NotRequired[str]
    """What it stands for on the device, where that is not its channel: a later one with the same takes its place."""


class PushObject(TypedDict):
    """A notification as the service worker shows it."""

    type: str
    title: str
    body: str
    icon: str | None
    data: PushData


def push_object(message: Mapping[str, Any], place: NotificationPlace, user_id: int, origin: str) -> PushObject:
    """The notification of a message, made from its MESSAGE_CREATE. `origin` is that of the web client."""
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


def as_reminder(told: PushObject) -> PushObject:
    """The notification of a message as a reminder of it, which stands beside those of its channel."""
    data: PushData = {**told["data"], "tag": f"reminder {told['data']['message_id']}"}
    return {**told, "type": "reminder", "title": f"Reminder: {told['title']}", "data": data}


def reminder_of_nothing(user_id: int, channel_id: int, message_id: int, origin: str) -> PushObject:
    """The message was deleted, or the account sees it no more: what is not there leads nowhere."""
    data: PushData = {
        "user_id": str(user_id),
        "guild_id": None,
        "channel_id": str(channel_id),
        "message_id": str(message_id),
        "author_id": None,
        "url": f"{origin}/channels/{OWN_CONVERSATIONS}",
    }
    return as_reminder(
        {"type": "reminder", "title": "a message", "body": REMINDED_OF_NOTHING, "icon": None, "data": data}
    )


def push_bytes(told: PushObject, most: int) -> bytes:
    """The JSON of it, with as much of the text as fits into `most` bytes."""
    body = told["body"]
    while len(encoded := orjson.dumps({**told, "body": body})) > most and body:
        body = f"{body[: len(body) // 2].rstrip('…')}…" if len(body) > 1 else ""
    return encoded


def body_text(message: Mapping[str, Any], place: NotificationPlace) -> str:
    """The text as it reads without markup; of a message without one, what it carries."""
    text = str(message["content"])
    if text.strip():
        shown = _plain(text, message, place).strip()
        return shown if len(shown) <= BODY_CHARACTERS else f"{shown[: BODY_CHARACTERS - 1]}…"
    if message["type"] == MessageType.CALL:
        return "Started a call"
    if message["attachments"]:
        return f"Sent {_counted('file', message['attachments'], 'filename')}"
    if message["stickers"]:
        return f"Sent {_counted('sticker', message['stickers'], 'name')}"
    if message.get("poll"):
        return f"Asked: {message['poll']['question']['text']}"
    if message["type"] == MessageType.POLL_RESULT:
        return "A poll is over"
    if message.get("message_snapshots"):
        return "Forwarded a message"
    titles = [embed["title"] for embed in message["embeds"] if embed.get("title")]
    return str(titles[0])[:BODY_CHARACTERS] if titles else "Sent a message"


def _counted(what: str, items: list[Mapping[str, Any]], name: str) -> str:
    return f"a {what}: {items[0][name]}"[:BODY_CHARACTERS] if len(items) == 1 else f"{len(items)} {what}s"


def _title(message: Mapping[str, Any], place: NotificationPlace) -> str:
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


def _plain(text: str, message: Mapping[str, Any], place: NotificationPlace) -> str:
    users = {user["id"]: _name(user) for user in message["mentions"]}

    def shown(mention: Mention) -> str:
        match mention.kind:
            case "user":
                return f"@{users.get(mention.value, 'unknown')}"
            case "role":
                return f"@{place.role_names.get(int(mention.value), 'unknown')}"
            case "channel":
                return f"#{place.channel_names.get(int(mention.value), 'unknown')}"
            case "emoji":
                return f":{mention.value.partition(':')[0]}:"
            case _:
                return f"@{mention.value}"

    # What is hidden in the app is not shown on a locked screen.
    pieces = [(start, end, "\u25ae" * min(end - start - len("||||"), 8)) for start, end in spoilers_in(text)]
    pieces.extend((mention.start, mention.end, shown(mention)) for mention in mentions_in(text))
    said: list[str] = []
    at = 0
    for start, end, words in sorted(pieces):
        if start >= at:  # what lies in a spoiler is gone with it
            said.extend((text[at:start], words))
            at = end
    return _CONTROL.sub(" ", "".join([*said, text[at:]]))
