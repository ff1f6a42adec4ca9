"""How a setting is declared, and how a value from outside is checked against its declaration.

A setting is a field of an attrs class: its annotation is the type, its metadata the help, the unit and the bounds.
Types are `bool`, `int`, `str`, a `Literal` of texts, `tuple[str, ...]`, and each of them `| None`. A field without that
metadata is a section: its annotation is a class of further settings.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

import attrs

from chat.classes import frozen

_METADATA: Final = "chat.config"

LARGEST: Final = 2**53 - 1
"""No number is larger, unless its declaration says so: what reads JSON with floats keeps it."""

_BREAKS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters, and what else ends a line: no text of a setting has them, since it may come into a header of a
mail or an answer, into a line of the log and into a page."""


class UnexpectedValueError(ValueError):
    """A value that a setting cannot have; the message says what it should have been."""


@frozen
class Declaration:
    """What is known of a setting besides its type.

    `accepts` says whether a text (or each text of a list) is of the form that `form` names. `secret` values are not
    shown; one with `lines` may have several. A setting that `follows` a neighbour has that one's value when only that
    one is given. `derived` says in words where the default comes from when it is not a constant.
    """

    help: str
    unit: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    form: str | None = None
    accepts: Callable[[str], bool] | None = None
    secret: bool = False
    lines: bool = False
    follows: str | None = None
    derived: str | None = None


def setting(default: Any, help: str, **declaration: Any) -> Any:
    """A field that is a setting; `default` may be an `attrs.Factory`."""
    declared = Declaration(help, **declaration)
    return attrs.field(default=default, repr=not declared.secret, metadata={_METADATA: declared})


@frozen
class Setting:
    """A setting as it is known from outside: `name` is dotted, `path` the attributes that lead to its value."""

    name: str
    path: tuple[str, ...]
    type: Any
    declaration: Declaration

    def of(self, settings: Any) -> Any:
        """Its value in a Settings object."""
        for attribute in self.path:
            settings = getattr(settings, attribute)
        return settings

    @property
    def expected(self) -> str:
        """In words, what values it takes."""
        return _in_words(self.type, self.declaration)

    def from_native(self, value: object) -> Any:
        """The value from TOML, JSON or a flag, checked; raises UnexpectedValueError."""
        if _conforms(self.type, self.declaration, value):
            return tuple(value) if isinstance(value, list) else value
        shown = _shown(value, self.declaration)
        if _breaks(value, self.declaration):
            raise UnexpectedValueError(f"expected no control characters and one line, not {shown}")
        if type(value) is int and value > LARGEST and self.declaration.maximum is None:
            raise UnexpectedValueError(f"expected {self.expected} and at most {LARGEST}, not {shown}")
        raise UnexpectedValueError(f"expected {self.expected}, not {shown}")

    def from_text(self, text: str) -> Any:
        """The value from an environment variable, checked; raises UnexpectedValueError."""
        return self.from_native(_native(self.type, text))


def settings_of(settings: type[Any], names: tuple[str, ...] = (), path: tuple[str, ...] = ()) -> Iterator[Setting]:
    """Every setting of a class and of its sections, in the order of declaration."""
    annotations = typing.get_type_hints(settings)
    for field in attrs.fields(settings):
        inner_names, inner_path = (*names, field.name.rstrip("_")), (*path, field.name)
        if _METADATA in field.metadata:
            yield Setting(".".join(inner_names), inner_path, annotations[field.name], field.metadata[_METADATA])
        else:
            yield from settings_of(annotations[field.name], inner_names, inner_path)


def _conforms(kind: Any, declaration: Declaration, value: object) -> bool:
    match _alternatives(kind):
        case [inner, types.NoneType]:
            return value is None or _conforms(inner, declaration, value)
        case _ if typing.get_origin(kind) is Literal:
            return value in typing.get_args(kind)
        case _ if typing.get_origin(kind) is tuple:
            return isinstance(value, (list, tuple)) and all(_conforms(str, declaration, item) for item in value)
    if type(value) is not kind:
        return False
    if isinstance(value, str):
        return not _breaks(value, declaration) and (declaration.accepts is None or declaration.accepts(value))
    if kind is int:
        return _within(declaration, typing.cast("int", value))
    return True


def _breaks(value: object, declaration: Declaration) -> bool:
    """Whether a text has what it may not have, or one of a list."""
    texts = [text for text in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(text, str)]
    return any(_BREAKS.search(text.replace("\n", "") if declaration.lines else text) for text in texts)


def _within(declaration: Declaration, value: int) -> bool:
    above = declaration.minimum is None or value >= declaration.minimum
    return above and value <= (LARGEST if declaration.maximum is None else declaration.maximum)


def _native(kind: Any, text: str) -> object:
    """The value that a text from the environment stands for; the text itself where it stands for none."""
    match _alternatives(kind):
        case [inner, types.NoneType]:
            return None if text in {"", "null"} else _native(inner, text)
    if kind is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if kind is int or typing.get_origin(kind) is tuple:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _in_words(kind: Any, declaration: Declaration) -> str:
    match _alternatives(kind):
        case [inner, types.NoneType]:
            return f"{_in_words(inner, declaration)}, or nothing"
        case _ if typing.get_origin(kind) is Literal:
            *others, last = typing.get_args(kind)
            return f"{', '.join(others)} or {last}"
        case _ if typing.get_origin(kind) is tuple:
            return f"a list of {declaration.form or 'texts'}"
    if kind is bool:
        return "true or false"
    if kind is int:
        return _number_in_words(declaration)
    return declaration.form or "a text"


def _number_in_words(declaration: Declaration) -> str:
    unit = f" of {declaration.unit}" if declaration.unit else ""
    if declaration.maximum is not None:
        return f"a whole number{unit} from {declaration.minimum} to {declaration.maximum}"
    if declaration.minimum is not None:
        return f"a whole number{unit} of at least {declaration.minimum}"
    return f"a whole number{unit}"


def _alternatives(kind: Any) -> list[Any]:
    is_union = typing.get_origin(kind) in {typing.Union, types.UnionType}
    return list(typing.get_args(kind)) if is_union else []


def _shown(value: object, declaration: Declaration) -> str:
    if declaration.secret:
        return "what was given"
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
