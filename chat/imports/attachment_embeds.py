"""What Slack and Mattermost call attachments, a box that a program shows, as an embed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from chat.imports.discord_embeds import Embed, embeds_of
from chat.imports.discord_values import objects_in, text_of
from chat.imports.marks import on_lines

_COLOR: Final = re.compile(r"#?([0-9A-Fa-f]{6})")


Say = Callable[[Mapping[str, Any], str], str]


def attachment_embeds(given: Iterable[Mapping[str, Any]], say: Say) -> tuple[Embed, ...]:
    """The embeds. `say` gives the text that an attachment has under a name."""
    return embeds_of([_embed(one, say) for one in given])


def _embed(given: Mapping[str, Any], say: Say) -> Mapping[str, object]:
    color = _COLOR.fullmatch(text_of(given.get("color")))
    said = on_lines([say(given, "pretext"), say(given, "text")])
    image = text_of(given.get("image_url"))
    return {
        "title": text_of(given.get("title")),
        "url": text_of(given.get("title_link")) or text_of(given.get("from_url")),
        "description": said or ("" if given.get("title") or image else text_of(given.get("fallback"))),
        "color": "" if color is None else f"#{color[1]}",
        "author": {"name": text_of(given.get("author_name")), "url": text_of(given.get("author_link"))},
        "thumbnail": {"url": text_of(given.get("thumb_url"))},
        "image": {"url": image},
        "footer": {"text": text_of(given.get("footer"))},
        "fields": [
            {"name": text_of(one.get("title")), "value": say(one, "value"), "isInline": bool(one.get("short"))}
            for one in objects_in(given.get("fields"))
        ],
    }
