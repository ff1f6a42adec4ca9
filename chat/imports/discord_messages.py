"""Messages of DiscordChatExporter's JSON as records, with the people, roles and emojis that they are the first to name.

A person may be known from a mention alone before the first message of their own; what a message says of its author
counts then, and the record comes once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from chat.classes import define, frozen
from chat.imports.discord_embeds import embeds_of, missing_file_embed
from chat.imports.discord_names import with_ids
from chat.imports.discord_values import color_of, moment_ms, number_of, object_in, objects_in, shown_text, text_of
from chat.imports.export_files import ExportFiles
from chat.imports.form import (
    ExpressionRecord,
    FileRecord,
    MessageRecord,
    PersonRecord,
    ReactionRecord,
    Record,
    ReferenceRecord,
    RoleRecord,
    TroubleRecord,
)
from chat.imports.wishes import ReadingWish
from chat.markdown.inline import mentions_in
from chat.registries.message_types import MessageFlag, MessageReferenceType, MessageType
from chat.snowflake import snowflake_time_ms

CONTENT_CHARACTERS: Final = 4_000
"""The longest text of a message: what the service let its paying accounts write."""

WEBHOOK_DISCRIMINATOR: Final = "0000"

_TYPES: Final[Mapping[str, MessageType]] = {
    "Default": MessageType.DEFAULT,
    "Reply": MessageType.REPLY,
    "ChannelPinnedMessage": MessageType.CHANNEL_PINNED_MESSAGE,
    "GuildMemberJoin": MessageType.USER_JOIN,
    "ThreadCreated": MessageType.THREAD_CREATED,
    "21": MessageType.THREAD_STARTER_MESSAGE,
    "12": MessageType.CHANNEL_FOLLOW_ADD,
}
"""Kinds of messages that this server has; any other is shown as text, where it has some."""

_WORDLESS: Final = frozenset(
    {MessageType.CHANNEL_PINNED_MESSAGE, MessageType.USER_JOIN, MessageType.THREAD_STARTER_MESSAGE}
)
"""Clients have the words for these."""

ANIMATED: Final = "<a:"


@frozen
class _SeenPerson:
    """How much was told of a person so far."""

    wrote: bool
    has_avatar: bool
    looked_for: tuple[object, str]
    """Which picture the reader tried to find last, and beside which file."""


@define(eq=False)
class DiscordMessages:
    """Makes records of messages. `channels` are the names of the channels of the export by id, `roles` ids of roles by
    name, as the template has them."""

    _files: ExportFiles
    _now_ms: int
    _guild_id: int
    _channels: Mapping[int, str]
    _roles: Mapping[str, int]
    _people: dict[int, _SeenPerson] = attrs.field(factory=dict, init=False)
    _seen_roles: set[int] = attrs.field(factory=set, init=False)
    _told_roles: set[str] = attrs.field(factory=set, init=False)
    _seen_emojis: set[int] = attrs.field(factory=set, init=False)
    _channel_ids: dict[str, int] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        names = list(self._channels.values())
        self._channel_ids = {name: key for key, name in self._channels.items() if names.count(name) == 1}

    def records(self, given: Mapping[str, Any], channel_id: int, file: str, wish: ReadingWish) -> Iterator[Record]:
        """What one message of the file of a channel comes to; `given` is it as the export has it."""
        message_id = number_of(given.get("id"))
        if message_id is None:
            yield TroubleRecord(what="message", name=f"{given.get('id')} in {file}"[:200], reason="no id")
            return
        moment = snowflake_time_ms(message_id)
        if moment > self._now_ms:
            yield TroubleRecord(what="message", name=str(message_id), reason="from the future")
            return
        if moment < wish.since:
            return
        author = object_in(given.get("author"))
        author_id = number_of(author.get("id"))
        if author_id is None:
            yield TroubleRecord(what="message", name=str(message_id), reason="no id")
            return
        is_webhook = bool(author.get("isBot")) and author.get("discriminator") == WEBHOOK_DISCRIMINATOR
        if not is_webhook:
            yield from self._person(author, file, wrote=True)
        if given.get("mentions") or given.get("reactions") or given.get("interaction"):
            yield from self._named_people(given, file)
        if given.get("inlineEmojis") or given.get("reactions"):
            yield from self._emojis(given, file, wish)
        message = self._message(given, message_id, channel_id, author_id)
        if is_webhook:
            message = attrs.evolve(message, webhook_name=shown_text(author.get("name")) or "?")
        if wish.files and given.get("attachments"):
            files = list(self._attachments(given, file, message_id))
            yield from (found for found in files if isinstance(found, TroubleRecord))
            missing = [found.name for found in files if isinstance(found, FileRecord) and found.path is None]
            message = attrs.evolve(
                message,
                files=tuple(found for found in files if isinstance(found, FileRecord) and found.path is not None),
                embeds=(*message.embeds, *map(missing_file_embed, missing))[:10],
            )
        if _is_empty(message):
            yield TroubleRecord(what="message", name=str(message_id), reason="unknown kind")
        else:
            yield message

    def _message(self, given: Mapping[str, Any], message_id: int, channel_id: int, author_id: int) -> MessageRecord:
        kind = _TYPES.get(str(given.get("type")), MessageType.DEFAULT)
        reference = _reference(object_in(given.get("reference")), channel_id)
        content = self._content(given)
        if kind in _WORDLESS:
            content = ""
        elif kind is MessageType.THREAD_CREATED:
            content = "" if reference is None else self._channels.get(reference.channel_id, "")
        if kind is MessageType.REPLY and reference is None:
            kind = MessageType.DEFAULT
        named = list(mentions_in(content)) if "<@" in content or "@everyone" in content or "@here" in content else []
        listed = given.get("mentions")
        people = {number_of(person.get("id")) for person in objects_in(listed)} if listed else set()
        people.update(int(one.value) for one in named if one.kind == "user")
        forwarded = object_in(given.get("forwardedMessage"))
        if forwarded:
            reference = _forward(reference, channel_id)
        return MessageRecord(
            id=message_id,
            channel_id=channel_id,
            author_id=author_id,
            type=int(kind),
            content=content,
            flags=int(MessageFlag.HAS_THREAD) if message_id in self._channels else 0,
            edited_at=moment_ms(given.get("timestampEdited")),
            pinned=bool(given.get("isPinned")),
            mentions=tuple(sorted(person for person in people if person is not None)) if people else (),
            mention_roles=tuple(sorted({int(one.value) for one in named if one.kind == "role"})) if named else (),
            mention_everyone=any(one.kind == "all" for one in named),
            reference=reference,
            embeds=embeds_of(given["embeds"]) if given.get("embeds") else (),
            stickers=tuple(_stickers(given)) if given.get("stickers") else (),
            snapshot=_snapshot(forwarded, message_id) if forwarded else None,
            reactions=tuple(_reactions(given)) if given.get("reactions") else (),
        )

    def _content(self, given: Mapping[str, Any]) -> str:
        content = text_of(given.get("content"))[:CONTENT_CHARACTERS]
        if not content or not ("@" in content or "#" in content or ":" in content):
            return content
        people: dict[str, int] = {}
        for person in objects_in(given.get("mentions")):
            person_id = number_of(person.get("id"))
            if person_id is not None:
                people |= {text_of(person.get(name)): person_id for name in ("name", "nickname")}
        emojis: dict[str, str] = {}
        for emoji in objects_in(given.get("inlineEmojis")):
            emoji_id = number_of(emoji.get("id"))
            if emoji_id is not None:
                opening = ANIMATED if emoji.get("isAnimated") else "<:"
                name = text_of(emoji.get("name"))
                emojis[name] = f"{opening}{name}:{emoji_id}>"
        return with_ids(content, people, self._channel_ids, emojis)[:CONTENT_CHARACTERS]

    # Who and what a message is the first to name

    def _person(self, given: Mapping[str, Any], file: str, *, wrote: bool) -> Iterator[Record]:
        person_id = number_of(given.get("id"))
        if person_id is None:
            return
        seen = self._people.get(person_id)
        wanted = given.get("avatarUrl"), file
        if seen is None or (wrote and not seen.wrote) or not (seen.has_avatar or seen.looked_for == wanted):
            avatar = self._files.find(text_of(given.get("avatarUrl")) or "?", file)
            self._people[person_id] = _SeenPerson(wrote or bool(seen and seen.wrote), avatar is not None, wanted)
            if seen is None or (wrote and not seen.wrote) or avatar is not None:
                name = shown_text(given.get("name"))
                yield PersonRecord(
                    id=person_id,
                    name=shown_text(given.get("nickname")) or name or "?",
                    username=name or None,
                    bot=bool(given.get("isBot")),
                    avatar=avatar,
                )
        yield from self._roles_of(given)

    def _roles_of(self, given: Mapping[str, Any]) -> Iterator[Record]:
        for role in objects_in(given.get("roles")):
            told = role.get("id")
            if isinstance(told, str) and told in self._told_roles:
                continue  # as most are
            role_id = number_of(told)
            if role_id is None or role_id in self._seen_roles:
                continue
            self._seen_roles.add(role_id)
            self._told_roles.add(str(told))
            name = shown_text(role.get("name")) or "?"
            if name not in self._roles:
                place = role.get("position")
                yield RoleRecord(
                    id=role_id,
                    name=name,
                    color=color_of(role.get("color")),
                    position=place if type(place) is int and 0 <= place < 10_000 else 1,
                )

    def _named_people(self, given: Mapping[str, Any], file: str) -> Iterator[Record]:
        for person in objects_in(given.get("mentions")):
            yield from self._person(person, file, wrote=False)
        for reaction in objects_in(given.get("reactions")):
            for person in objects_in(reaction.get("users")):
                yield from self._person(person, file, wrote=False)
        caller = object_in(object_in(given.get("interaction")).get("user"))
        if caller:
            yield from self._person(caller, file, wrote=False)

    def _emojis(self, given: Mapping[str, Any], file: str, wish: ReadingWish) -> Iterator[Record]:
        if not wish.files:
            return
        inline = objects_in(given.get("inlineEmojis"))
        for emoji in [*inline, *(object_in(entry.get("emoji")) for entry in objects_in(given.get("reactions")))]:
            emoji_id = number_of(emoji.get("id"))
            if emoji_id is None or emoji_id in self._seen_emojis:
                continue
            self._seen_emojis.add(emoji_id)
            path = self._files.find(text_of(emoji.get("imageUrl")) or "?", file)
            if path is not None:
                name, animated = shown_text(emoji.get("name")), bool(emoji.get("isAnimated"))
                yield ExpressionRecord(id=emoji_id, what="emojis", name=name or "emoji", path=path, animated=animated)

    def _attachments(
        self, given: Mapping[str, Any], file: str, message_id: int
    ) -> Iterator[FileRecord | TroubleRecord]:
        for place, attachment in enumerate(objects_in(given.get("attachments"))):
            url, name = text_of(attachment.get("url")), text_of(attachment.get("fileName")) or "file"
            size = attachment.get("fileSizeBytes")
            path = self._files.find(url, file) if url else None
            if path is None:
                yield TroubleRecord(what="file", name=f"{message_id}/{name}"[:200], reason="file is missing")
            yield FileRecord(
                id=number_of(attachment.get("id")) or message_id + place,
                name=name,
                size=size if type(size) is int and size >= 0 else 0,
                path=path,
            )


def _is_empty(message: MessageRecord) -> bool:
    parts = (message.content, message.files, message.embeds, message.stickers, message.snapshot)
    return message.type in (MessageType.DEFAULT, MessageType.REPLY) and not any(parts)


def _reference(given: Mapping[str, Any], channel_id: int) -> ReferenceRecord | None:
    message_id, place = number_of(given.get("messageId")), number_of(given.get("channelId"))
    if message_id is None and place is None:
        return None
    return ReferenceRecord(channel_id=place or channel_id, message_id=message_id or 0)


def _forward(reference: ReferenceRecord | None, channel_id: int) -> ReferenceRecord:
    if reference is None:
        return ReferenceRecord(channel_id=channel_id, message_id=0, type=int(MessageReferenceType.FORWARD))
    return attrs.evolve(reference, type=int(MessageReferenceType.FORWARD))


def _snapshot(given: Mapping[str, Any], message_id: int) -> Mapping[str, Any]:
    from chat.clock import iso_timestamp

    moment = moment_ms(given.get("timestamp")) or snowflake_time_ms(message_id)
    snapshot = {
        "timestamp": iso_timestamp(moment),
        "type": int(MessageType.DEFAULT),
        "flags": 0,
        "content": text_of(given.get("content"))[:CONTENT_CHARACTERS],
    }
    embeds = embeds_of(given.get("embeds"))
    return {**snapshot, "embeds": list(embeds)} if embeds else snapshot


def _stickers(given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for sticker in objects_in(given.get("stickers"))[:3]:
        sticker_id = number_of(sticker.get("id"))
        if sticker_id is not None:
            name = shown_text(sticker.get("name")) or "sticker"
            yield {"id": str(sticker_id), "name": name, "animated": sticker.get("format") not in ("Png", "PNG", 1)}


def _reactions(given: Mapping[str, Any]) -> Iterator[ReactionRecord]:
    for reaction in objects_in(given.get("reactions")):
        emoji = object_in(reaction.get("emoji"))
        name, count = shown_text(emoji.get("name")), reaction.get("count")
        people = {number_of(person.get("id")) for person in objects_in(reaction.get("users"))}
        if name:
            yield ReactionRecord(
                name=name,
                emoji_id=number_of(emoji.get("id")),
                animated=bool(emoji.get("isAnimated")),
                count=count if type(count) is int and count > 0 else 1,
                user_ids=tuple(sorted(person for person in people if person is not None)),
            )
