"""Messages in the form that Slack's incoming webhooks take, with Slack's markup: text, blocks, attachments, and the
members of an attachment on the message itself.

Nothing of it is too long: texts are shortened as those of embeds are, and what does not fit into one message is
counted. Nobody is notified, whatever the message says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chat.domain.webhooks.built_embeds import (
    Embed,
    Field,
    Named,
    built_embed,
    fitted,
    inner,
    list_at,
    moment,
    shortened,
    text_at,
    value_at,
)
from chat.domain.webhooks.dialects.slack_blocks import Shown, links_of, shown
from chat.domain.webhooks.dialects.slack_markup import in_our_markup, plainly

_COLOURS: Final = {"good": 0x2EB67D, "warning": 0xECB22E, "danger": 0xE01E5A}
_COLOUR: Final = re.compile(r"#?([0-9a-fA-F]{6})", re.ASCII)
_ATTACHMENT_MEMBERS: Final = (
    "actions", "author_icon", "author_link", "author_name", "color", "fallback", "fields", "footer", "footer_icon",
    "image_url", "thumb_url", "title", "title_link", "ts",
)  # fmt: skip
"""Members by which a message is an attachment itself."""

SlackMessage = Mapping[str, Any]


def slack_message(message: SlackMessage, characters: int, embeds: int) -> tuple[str, tuple[Embed, ...]]:
    """The text of the message and its embeds; `characters` and `embeds` bound them."""
    attachments = [attachment for attachment in list_at(message, "attachments") if isinstance(attachment, Mapping)]
    of_itself = {name: message[name] for name in _ATTACHMENT_MEMBERS if message.get(name)}
    if text_at(message, "text").strip() or text_at(message, "pretext").strip():
        of_itself.pop("fallback", None)
    made = [*_of_blocks(shown(list_at(message, "blocks")))]
    for attachment in ([of_itself] if of_itself else []) + attachments:
        made.extend(_of_attachment(attachment))
    fitting, left = fitted(made, embeds)
    content = _content(message, attachments)
    if not left:
        return shortened(content, characters), fitting
    more = f"… and {left} more"
    return "\n".join(filter(None, (shortened(content, characters - len(more) - 1), more))), fitting


def _content(message: SlackMessage, attachments: Sequence[object]) -> str:
    lines = [text_at(message, "text"), text_at(message, "pretext")]
    lines += [text_at(attachment, "pretext") for attachment in attachments]
    return "\n".join(in_our_markup(line) for line in lines if line.strip()).strip()


def _of_blocks(blocks: Shown) -> Sequence[Embed]:
    """The embeds of blocks: one, and one more for each further picture."""
    first, *others = blocks.pictures or [""]
    embed = built_embed(description=blocks.text, fields=blocks.fields, image=first, thumbnail=blocks.thumbnail)
    return [one for one in (embed, *(built_embed(image=other) for other in others)) if one is not None]


def _of_attachment(attachment: Mapping[str, Any]) -> Sequence[Embed]:
    blocks = shown(list_at(attachment, "blocks"))
    texts = (in_our_markup(text_at(attachment, "text")), blocks.text, links_of(list_at(attachment, "actions")))
    first, *others = [picture for picture in (text_at(attachment, "image_url"), *blocks.pictures) if picture] or [""]
    named = text_at(attachment, "author_name") or text_at(attachment, "author_subname")
    # `dict[str, Any]`: arguments of built_embed, each with a type of its own.
    members: dict[str, Any] = {
        "title": plainly(value_at(attachment, "title")),
        "url": text_at(attachment, "title_link"),
        "description": "\n".join(text for text in texts if text.strip()),
        "color": _color(text_at(attachment, "color")),
        "timestamp": moment(inner(attachment, "ts")),
        "author": Named(plainly(named), text_at(attachment, "author_link"), text_at(attachment, "author_icon")),
        "footer": Named(plainly(text_at(attachment, "footer")), icon_url=text_at(attachment, "footer_icon")),
        "fields": [*_fields(attachment), *blocks.fields],
        "image": first,
        "thumbnail": text_at(attachment, "thumb_url") or blocks.thumbnail,
    }
    embed = built_embed(**members)
    if embed is None and not text_at(attachment, "pretext").strip():
        embed = built_embed(**{**members, "description": in_our_markup(text_at(attachment, "fallback"))})
    return [one for one in (embed, *(built_embed(image=other) for other in others)) if one is not None]


def _fields(attachment: Mapping[str, Any]) -> Sequence[Field]:
    return [
        Field(
            in_our_markup(value_at(field, "title")),
            in_our_markup(value_at(field, "value")),
            inline=inner(field, "short") is True,
        )
        for field in list_at(attachment, "fields")
    ]


def _color(text: str) -> int | None:
    match = _COLOUR.fullmatch(text)
    return _COLOURS.get(text) if match is None else int(match[1], 16)
