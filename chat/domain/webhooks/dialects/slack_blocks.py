"""The blocks of a message in Slack's form as what an embed shows: text from top to end, fields, pictures, links of
buttons. A block of a kind that nobody knows shows its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from chat.classes import define
from chat.domain.webhooks.built_embeds import BLANK, Field, inner, list_at, text_at, value_at
from chat.domain.webhooks.dialects.slack_markup import escaped, in_our_markup, link

RULE: Final = "———"

Block = Mapping[str, Any]


@define
class Shown:
    """What blocks show."""

    lines: list[str] = attrs.field(factory=list)
    fields: list[Field] = attrs.field(factory=list)
    pictures: list[str] = attrs.field(factory=list)
    thumbnail: str = ""

    @property
    def text(self) -> str:
        """All of the text."""
        return "\n".join(line for line in self.lines if line.strip()).removesuffix(RULE).rstrip()


def shown(blocks: Iterable[object]) -> Shown:
    """What these blocks show."""
    found = Shown()
    for block in blocks:
        if isinstance(block, Mapping):
            _KINDS.get(text_at(block, "type"), _unknown)(block, found)
    return found


def links_of(actions: Iterable[object]) -> str:
    """The buttons that lead somewhere, as links in a line."""
    return " · ".join(link(_label(action), text_at(action, "url")) for action in actions if text_at(action, "url"))


def _words(told: object) -> str:
    """A text object, or text by itself."""
    if isinstance(told, str):
        return in_our_markup(told)
    text = value_at(told, "text")
    return in_our_markup(text) if text_at(told, "type") == "mrkdwn" else escaped(text)


def _label(button: object) -> str:
    return text_at(button, "text", "text") or text_at(button, "text") or text_at(button, "value")


def _section(block: Block, found: Shown) -> None:
    found.lines.append(_words(inner(block, "text")))
    for told in list_at(block, "fields"):
        first, _, rest = _words(told).partition("\n")
        found.fields.append(Field(first, rest, inline=True) if rest else Field(BLANK, first, inline=True))
    accessory = inner(block, "accessory")
    if text_at(accessory, "type") == "image":
        found.thumbnail = found.thumbnail or _picture_of(accessory)
    else:
        found.lines.append(links_of([accessory]))


def _header(block: Block, found: Shown) -> None:
    words = escaped(text_at(block, "text", "text"))
    found.lines.append(f"### {words}" if words.strip() else "")


def _context(block: Block, found: Shown) -> None:
    parts = []
    for element in list_at(block, "elements"):
        if text_at(element, "type") == "image":
            parts.append(escaped(text_at(element, "alt_text")))
        else:
            parts.append(_words(element))
    words = " ".join(part for part in parts if part.strip())
    found.lines.extend(f"-# {line}" for line in words.splitlines() if line.strip())


def _image(block: Block, found: Shown) -> None:
    found.lines.append(escaped(text_at(block, "title", "text")))
    found.pictures.append(_picture_of(block))


def _picture_of(told: object) -> str:
    return text_at(told, "image_url") or text_at(told, "slack_file", "url")


def _actions(block: Block, found: Shown) -> None:
    found.lines.append(links_of(list_at(block, "elements")))


def _divider(_: Block, found: Shown) -> None:
    if any(line.strip() for line in found.lines):
        found.lines.append(RULE)


def _video(block: Block, found: Shown) -> None:
    found.lines.append(
        link(text_at(block, "title", "text"), text_at(block, "title_url") or text_at(block, "video_url"))
    )
    found.lines.append(_words(inner(block, "description")))
    found.pictures.append(text_at(block, "thumbnail_url"))


def _markdown(block: Block, found: Shown) -> None:
    found.lines.append(text_at(block, "text"))


def _input(block: Block, found: Shown) -> None:
    found.lines.append(_words(inner(block, "label")))


def _table(block: Block, found: Shown) -> None:
    for row in list_at(block, "rows"):
        cells = row if isinstance(row, list) else []
        found.lines.append(" | ".join(_cell(cell) for cell in cells))


def _cell(cell: object) -> str:
    return " ".join(_rich(cell)) if text_at(cell, "type") == "rich_text" else escaped(value_at(cell, "text"))


def _rich_text(block: Block, found: Shown) -> None:
    found.lines.extend(_rich(block))


def _unknown(block: Block, found: Shown) -> None:
    found.lines.append(_words(inner(block, "text")))


_KINDS: Final[Mapping[str, Callable[[Block, Shown], None]]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "image": _image,
    "actions": _actions,
    "context_actions": _actions,
    "divider": _divider,
    "video": _video,
    "markdown": _markdown,
    "input": _input,
    "table": _table,
    "rich_text": _rich_text,
}


INDENT_MAXIMUM: Final = 8

# Rich text: paragraphs, lists, quotes and code of pieces in which only their style is markup


def _rich(block: object) -> Iterable[str]:
    for part in list_at(block, "elements"):
        yield from _part(part)


def _depth(told: str) -> int:
    """How far a list is indented. Thousands of digits make no number (`sys.set_int_max_str_digits`)."""
    if not told.isdecimal():
        return 0
    return min(int(told), INDENT_MAXIMUM) if len(told) < 10 else INDENT_MAXIMUM


def _part(part: object) -> Iterable[str]:
    match text_at(part, "type"):
        case "rich_text_list":
            ordered = text_at(part, "style") == "ordered"
            indent = "  " * _depth(text_at(part, "indent"))
            for number, entry in enumerate(list_at(part, "elements"), 1):
                yield f"{indent}{f'{number}.' if ordered else '-'} {_inline(entry)}"
        case "rich_text_quote":
            yield "\n".join(f"> {line}" for line in _inline(part).splitlines())
        case "rich_text_preformatted":
            code = "".join(text_at(piece, "text") or text_at(piece, "url") for piece in list_at(part, "elements"))
            yield f"```\n{code.replace('```', '` ` `')}\n```"
        case _:
            yield _inline(part)


def _inline(part: object) -> str:
    return "".join(_styled(piece) for piece in list_at(part, "elements"))


def _styled(piece: object) -> str:
    words = _piece(piece)
    if inner(piece, "style", "code") is True:
        return f"`{text_at(piece, 'text').replace('`', ' ')}`"
    bare = words.strip()
    if not bare:
        return words
    marked = bare
    for style, mark in (("strike", "~~"), ("italic", "_"), ("bold", "**")):
        if inner(piece, "style", style) is True:
            marked = f"{mark}{marked}{mark}"
    return words.replace(bare, marked, 1)


def _piece(piece: object) -> str:
    match text_at(piece, "type"):
        case "link":
            return link(text_at(piece, "text"), text_at(piece, "url"))
        case "user":
            return f"@{text_at(piece, 'user_id')}"
        case "usergroup":
            return f"@{text_at(piece, 'usergroup_id')}"
        case "channel":
            return f"#{text_at(piece, 'channel_id')}"
        case "broadcast":
            return "@here" if text_at(piece, "range") == "here" else "@everyone"
        case "emoji":
            return f":{text_at(piece, 'name')}:"
        case "color":
            return text_at(piece, "value")
        case "date":
            moment = text_at(piece, "timestamp")
            return f"<t:{moment}:f>" if moment.isdecimal() and moment.isascii() else escaped(text_at(piece, "fallback"))
    return escaped(text_at(piece, "text"))
