"""Embeds: what they may hold beyond the form of each member, and as the wire has them (messages.md, Embeds).

They are stored as they are shown, but for what depends on the moment and on the place of the server: media have no
`proxy_url` yet, and `attachment://NAME` stands for a file of the same message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, cast

from chat import wire
from chat.errors import InvalidFormBody
from chat.registries.error_codes import FieldCode
from chat.store.messages.attachments import Attachment

EMBED_CHARACTERS: Final = 6_000
"""Characters of all texts in all embeds of one message."""

TITLE_CHARACTERS: Final = 256
DESCRIPTION_CHARACTERS: Final = 4_096
FIELDS: Final = 25
FIELD_NAME_CHARACTERS: Final = 256
FIELD_VALUE_CHARACTERS: Final = 1_024
FOOTER_CHARACTERS: Final = 2_048
AUTHOR_CHARACTERS: Final = 256
"""What each part of an embed may hold."""

Embeds = Sequence[Mapping[str, Any]]


def require_embeds(embeds: Embeds, maximum: int) -> None:
    """Check embeds against the limits of a message.

    :raises InvalidFormBody: TOO_MANY_EMBEDS, CONTENT_EXCEEDS_MAX_LENGTH at `embeds`.
    """
    if len(embeds) > maximum:
        raise InvalidFormBody.at("embeds", FieldCode.TOO_MANY_EMBEDS)
    if sum(map(len, texts_of(embeds))) > EMBED_CHARACTERS:
        raise InvalidFormBody.at("embeds", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)


def with_own_files(embeds: Embeds, files: Iterable[Attachment]) -> tuple[Mapping[str, Any], ...]:
    """The embeds without what stands for a file that their message does not have or that is no picture; one in which
    nothing is left then goes as a whole."""
    shown = {file.filename for file in files if _is_picture(file)}
    kept = (embed if names_of_own_files(embed) <= shown else _without_files(embed, shown) for embed in embeds)
    return tuple(embed for embed in kept if embed.keys() & _CONTENT_MEMBERS)


def _without_files(embed: Mapping[str, Any], shown: Collection[str]) -> Mapping[str, Any]:
    """The embed without pictures of the same message but those `shown`."""

    def is_lost(url: str) -> bool:
        return url.startswith(OWN_FILE) and url.removeprefix(OWN_FILE) not in shown

    left = {name: part for name, part in embed.items() if name not in MEDIA_MEMBERS or not is_lost(part["url"])}
    for name in ICON_MEMBERS:
        if is_lost(left.get(name, {}).get("icon_url", "")):
            left[name] = {member: value for member, value in left[name].items() if member != "icon_url"}
    return left


def _is_picture(file: Attachment) -> bool:
    return file.content_type.startswith("image/")


def texts_of(embeds: Embeds) -> Iterator[str]:
    """Every text that an embed shows."""
    for embed in embeds:
        yield from (embed[member] for member in ("title", "description") if member in embed)
        yield embed.get("author", {}).get("name", "")
        yield embed.get("footer", {}).get("text", "")
        yield from (embed[member]["description"] for member in MEDIA_MEMBERS if "description" in embed.get(member, {}))
        for field in embed.get("fields", ()):
            yield field["name"]
            yield field["value"]


def addresses_of(embeds: Embeds) -> Iterator[str]:
    """Every address that an embed leads to or shows something from."""
    for embed in embeds:
        yield embed.get("url") or ""
        for member in ("author", "footer", *MEDIA_MEMBERS):
            part = embed.get(member) or {}
            yield from (part[name] for name in ("url", "icon_url") if part.get(name))


OWN_FILE: Final = "attachment://"
MEDIA_MEMBERS: Final = ("image", "thumbnail", "video", "audio")
ICON_MEMBERS: Final = ("author", "footer", "provider")
_CONTENT_MEMBERS: Final = frozenset({"title", "description", "fields", *MEDIA_MEMBERS, *ICON_MEMBERS})


def embed_objects(
    stored: Iterable[Mapping[str, Any]], files: Sequence[Attachment], addresses: Addresses
) -> list[wire.Embed]:
    """Embeds to be shown; `files` are the attachments of their message."""
    return [_embed_object(embed, files, addresses) for embed in stored]


def names_of_own_files(embed: Mapping[str, Any]) -> set[str]:
    """The names of files of the same message that an embed shows."""
    media = (embed.get(member, {}).get("url", "") for member in MEDIA_MEMBERS)
    icons = (embed.get(member, {}).get("icon_url", "") for member in ICON_MEMBERS)
    return {url.removeprefix(OWN_FILE) for url in (*media, *icons) if url.startswith(OWN_FILE)}


def _embed_object(embed: Mapping[str, Any], files: Sequence[Attachment], addresses: Addresses) -> wire.Embed:
    shown: dict[str, object] = dict(embed)
    for member in MEDIA_MEMBERS:
        if member in embed:
            media = _media_object(embed[member], files, addresses)
            if media is None:
                del shown[member]
            else:
                shown[member] = media
    for member in ICON_MEMBERS:
        if "icon_url" in embed.get(member, {}):
            shown[member] = _with_icon(embed[member], files, addresses)
    if "children" in embed:
        shown["children"] = embed_objects(embed["children"], files, addresses)
    return cast("wire.Embed", shown)  # what was read when it was stored has these members


def _media_object(
    media: Mapping[str, Any], files: Sequence[Attachment], addresses: Addresses
) -> Mapping[str, object] | None:
    """None for a file that the message has no more, or that is no picture."""
    url: str = media["url"]
    if not url.startswith(OWN_FILE):
        return {**media, "proxy_url": addresses.external(url)}
    file = _file(url, files)
    if file is None:
        return None
    address = addresses.attachment(file)
    shown = {**media, "url": address, "proxy_url": address, "content_type": file.content_type}
    if file.content_hash is not None:
        shown["content_hash"] = file.content_hash
    if file.width is not None and file.height is not None:
        shown.update(width=file.width, height=file.height)
    if file.placeholder is not None:
        shown["placeholder"] = file.placeholder
    return shown


def _with_icon(part: Mapping[str, Any], files: Sequence[Attachment], addresses: Addresses) -> Mapping[str, object]:
    url: str = part["icon_url"]
    if not url.startswith(OWN_FILE):
        return {**part, "proxy_icon_url": addresses.external(url)}
    file = _file(url, files)
    if file is None:
        return {member: value for member, value in part.items() if member != "icon_url"}
    address = addresses.attachment(file)
    return {**part, "icon_url": address, "proxy_icon_url": address}


def _file(url: str, files: Sequence[Attachment]) -> Attachment | None:
    name = url.removeprefix(OWN_FILE)
    return next((file for file in files if file.filename == name and _is_picture(file)), None)


class Addresses(Protocol):
    """Gives addresses of media (`chat.media.delivery.MediaAddresses`)."""

    def attachment(self, attachment: Attachment) -> str:
        """Where an attachment is found from now on, until `attachments_until`."""

    def attachments_until(self) -> int:
        """When the addresses of attachments end that are made now (Unix ms)."""

    def external(self, url: str) -> str:
        """The address here under which something outside is served."""
