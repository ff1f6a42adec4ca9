"""Messages in the form that Slack's incoming webhooks take (conventions of the field): text and attachments in Slack's
markup become content and embeds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from chat.domain.webhooks.built_embeds import Embed, Field, Named, built_embed, fitting, inner, list_at, moment, text_at

_COLOURS: Final = {"good": 0x2EB67D, "warning": 0xECB22E, "danger": 0xE01E5A}
_COLOUR: Final = re.compile(r"#?([0-9a-fA-F]{6})", re.ASCII)
_REFERENCE: Final = re.compile(r"<([^\s<>|][^<>\n|]{0,2047})(?:\|([^<>\n]{0,2048}))?>")
_ESCAPED: Final = re.compile(r"&(amp|lt|gt);")
_ESCAPES: Final = {"amp": "&", "lt": "<", "gt": ">"}
_BROADCASTS: Final = {"!channel": "@everyone", "!everyone": "@everyone", "!group": "@everyone", "!here": "@here"}

SlackMessage = Mapping[str, Any]


def slack_content(message: SlackMessage) -> str:
    """The text of the message."""
    lines = [text_at(message, "text")]
    lines += [text_at(attachment, "pretext") for attachment in list_at(message, "attachments")]
    return "\n".join(in_our_markup(line) for line in lines if line.strip()).strip()


def slack_embeds(message: SlackMessage, maximum: int) -> tuple[Embed, ...]:
    """The attachments of the message, at most so many."""
    return fitting((_embed(attachment) for attachment in list_at(message, "attachments")), maximum)


def in_our_markup(text: str) -> str:
    """Slack's links, mentions of everybody and escapes as ours."""
    return _ESCAPED.sub(lambda match: _ESCAPES[match[1]], _REFERENCE.sub(_reference, text))


def _reference(match: re.Match[str]) -> str:
    target, label = match[1], match[2]
    if target.startswith("!"):
        return _BROADCASTS.get(target.partition("^")[0], label or "")
    if target.startswith(("http://", "https://")):
        return f"[{label}]({target})" if label else target
    if target.startswith("mailto:"):
        return label or target.removeprefix("mailto:")
    if target.startswith(("@", "#")):  # Slack's own accounts and channels, of which only the name means anything here
        return f"{target[0]}{label}" if label else target
    return label or target


def _embed(attachment: object) -> Embed | None:
    shows_something = any(inner(attachment, member) for member in ("text", "pretext", "title", "fields", "image_url"))
    text = text_at(attachment, "text") if shows_something else text_at(attachment, "fallback")
    return built_embed(
        title=in_our_markup(text_at(attachment, "title")),
        url=text_at(attachment, "title_link"),
        description=in_our_markup(text),
        color=_color(text_at(attachment, "color")),
        timestamp=moment(inner(attachment, "ts")),
        author=Named(
            name=text_at(attachment, "author_name"),
            url=text_at(attachment, "author_link"),
            icon_url=text_at(attachment, "author_icon"),
        ),
        footer=Named(name=text_at(attachment, "footer"), icon_url=text_at(attachment, "footer_icon")),
        fields=[
            Field(
                in_our_markup(text_at(field, "title")),
                in_our_markup(text_at(field, "value")),
                inline=inner(field, "short") is True,
            )
            for field in list_at(attachment, "fields")
        ],
        image=text_at(attachment, "image_url"),
        thumbnail=text_at(attachment, "thumb_url"),
    )


def _color(text: str) -> int | None:
    match = _COLOUR.fullmatch(text)
    return _COLOURS.get(text) if match is None else int(match[1], 16)
