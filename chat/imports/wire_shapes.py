"""Whether a value that comes from elsewhere has the shape of a part of a message on the wire: no member that the part
does not have, and none missing; each of its type and within its bounds; addresses that a browser can go to.

The shapes are those that `chat.wire` declares. A message is shown as it is stored, so nothing is stored that clients do
not know how to show.
"""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from chat import wire
from chat.wire.values import Rule

DEPTH: Final = 8
"""How deep parts may hold parts: embeds in the children of embeds."""

_ADDRESS: Final = "url"
_MADE_HERE: Final = "proxy_"
"""Begins the names of members that the server makes each time: addresses of its own."""

_LEADING: Final = ("https://", "http://", "attachment://")


def is_embed(value: object) -> bool:
    """Whether it is an embed as a message has one."""
    return _fits(value, wire.Embed, DEPTH)


def is_sticker(value: object) -> bool:
    """Whether it is a sticker as a message has one."""
    return _fits(value, wire.StickerItem, DEPTH)


def is_snapshot(value: object) -> bool:
    """Whether it is what a message carries that passes another one on, without files and components."""
    fits = _fits(value, wire.MessageSnapshot, DEPTH)
    return fits and isinstance(value, dict) and not {"attachments", "components"} & value.keys()


@functools.cache
def _members(shape: Any) -> tuple[Mapping[str, Any], frozenset[str]]:
    """The types of the members, and the names of those that have to be there."""
    found = get_type_hints(shape, include_extras=True)
    plain = {name: get_args(kind)[0] if get_origin(kind) is NotRequired else kind for name, kind in found.items()}
    return plain, frozenset(name for name, kind in found.items() if get_origin(kind) is not NotRequired)


def _fits(value: object, kind: Any, depth: int) -> bool:
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *rules = get_args(kind)
        return _fits(value, inner, depth) and all(_keeps(value, rule) for rule in rules if isinstance(rule, Rule))
    if origin in (Union, types.UnionType):
        return any(_fits(value, one, depth) for one in get_args(kind))
    if origin is list:
        return isinstance(value, list) and depth > 0 and all(_fits(one, get_args(kind)[0], depth - 1) for one in value)
    if is_typeddict(kind):
        return isinstance(value, dict) and depth > 0 and _has_members(value, kind, depth - 1)
    if kind is None or kind is type(None):
        return value is None
    if kind is str:
        return isinstance(value, str) and "\0" not in value
    return type(value) is kind or (kind is float and type(value) is int)


def _keeps(value: Any, rule: Rule) -> bool:
    """Whether a value of the right type is within the bounds of its member."""
    words = dict(rule.words)
    if words.get("format") == "date-time":
        return _is_moment(value)
    if "enum" in words and value not in words["enum"]:
        return False
    if "pattern" in words and re.search(words["pattern"], value) is None:
        return False
    if "minimum" in words and value < words["minimum"]:
        return False
    return "maximum" not in words or value <= words["maximum"]


def _is_moment(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _has_members(value: Mapping[str, object], shape: Any, depth: int) -> bool:
    members, needed = _members(shape)
    if not needed <= value.keys() <= members.keys() or any(name.startswith(_MADE_HERE) for name in value):
        return False
    addresses = [one for name, one in value.items() if name.endswith(_ADDRESS)]
    if not all(isinstance(one, str) and one.lower().startswith(_LEADING) for one in addresses):
        return False
    return all(_fits(one, members[name], depth) for name, one in value.items())
