"""The words that answers are declared with.

A shape is a JSON schema with other shapes inside. One with a name is an object of the wire's vocabulary: it stands once
in the OpenAPI document, and all others point at it:

    ROLE = wire_object("Role", {"id": SNOWFLAKE, "name": text(100)}, optional={"unicode_emoji": TEXT})

    @routes.operation("GET", "/v1/guilds/{guild_id}/roles", ..., answers=listed(ROLE))

An object takes no other members than its own, so that whatever is missing or left over is found: every answer in the
test run is held against what its operation declares.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from chat.classes import frozen

JSON: Final = "application/json"

_NO_MEMBERS: Final[Mapping[str, Any]] = {}


@frozen(eq=False)
class Shape:
    """What a value looks like: `schema` is JSON Schema (2020-12) in which a Shape may stand for a schema.

    `media_type` is that of an answer of this shape; None where there is no body.
    """

    schema: Mapping[str, Any]
    name: str | None = None
    media_type: str | None = JSON


@frozen(eq=False, kw_only=True)
class ObjectShape(Shape):
    """An object whose members are known, so that others can be made of it."""

    members: Mapping[str, Shape]
    optional: Mapping[str, Shape]

    def extended(
        self,
        name: str | None,
        members: Mapping[str, Shape] = _NO_MEMBERS,
        *,
        optional: Mapping[str, Shape] = _NO_MEMBERS,
        without: Iterable[str] = (),
        description: str | None = None,
    ) -> ObjectShape:
        """An object with these members too, in place of those by their names, and without some."""
        dropped = {*without, *members, *optional}
        kept, kept_optional = (
            {member: shape for member, shape in own.items() if member not in dropped}
            for own in (self.members, self.optional)
        )
        return _object(name, {**kept, **members}, {**kept_optional, **optional}, description)


def wire_object(
    name: str,
    members: Mapping[str, Shape],
    *,
    optional: Mapping[str, Shape] = _NO_MEMBERS,
    description: str | None = None,
) -> ObjectShape:
    """An object of the wire's vocabulary: `members` are always there, those that are `optional` may be absent."""
    return _object(name, members, optional, description)


def record(members: Mapping[str, Shape], *, optional: Mapping[str, Shape] = _NO_MEMBERS) -> ObjectShape:
    """An object without a name of its own."""
    return _object(None, members, optional, None)


def _object(
    name: str | None, members: Mapping[str, Shape], optional: Mapping[str, Shape], description: str | None
) -> ObjectShape:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {**members, **optional},
        "required": list(members),
        "additionalProperties": False,
    }
    if description is not None:
        schema["description"] = description
    return ObjectShape(schema, name, members=members, optional=optional)


def named(name: str) -> Shape:
    """The shape of that name, for those that hold themselves. It must stand somewhere else in the same document."""
    return Shape({"$ref": REFERENCE + name})


def nullable(shape: Shape) -> Shape:
    """The shape, or null."""
    kind = shape.schema.get("type")
    if shape.name is None and isinstance(kind, str) and "enum" not in shape.schema:
        return Shape({**shape.schema, "type": [kind, "null"]})
    return Shape({"anyOf": [shape, {"type": "null"}]})


def listed(shape: Shape, *, maximum: int | None = None) -> Shape:
    """A list of such values."""
    bound = {} if maximum is None else {"maxItems": maximum}
    return Shape({"type": "array", "items": shape, **bound})


def mapped(shape: Shape, *, names: Shape | None = None) -> Shape:
    """An object whose members all have this shape, whatever their names; `names` is the shape of those."""
    bound = {} if names is None else {"propertyNames": names}
    return Shape({"type": "object", "additionalProperties": shape, **bound})


def either(*shapes: Shape) -> Shape:
    """One of several."""
    return Shape({"anyOf": list(shapes)})


def choice(*values: str | int | None) -> Shape:
    """One of these values."""
    return Shape({"enum": list(values)})


def member_of(enumeration: type[enum.Enum]) -> Shape:
    """A value of the enumeration."""
    return choice(*(member.value for member in enumeration))


def integer(minimum: int | None = None, maximum: int | None = None) -> Shape:
    """A whole number within bounds, both included."""
    bounds = {"minimum": minimum, "maximum": maximum}
    return Shape({"type": "integer", **{word: bound for word, bound in bounds.items() if bound is not None}})


def text(maximum: int | None = None, *, pattern: str | None = None, minimum: int | None = None) -> Shape:
    """Text with bounds on its length, in characters."""
    bounds = {"minLength": minimum, "maxLength": maximum, "pattern": pattern}
    return Shape({"type": "string", **{word: bound for word, bound in bounds.items() if bound is not None}})


def binary(media_type: str = "*/*") -> Shape:
    """A body that is no JSON."""
    return Shape({}, media_type=media_type)


TEXT: Final = text()
BOOLEAN: Final = Shape({"type": "boolean"})
TRUE: Final = Shape({"const": True})
INTEGER: Final = integer()
COUNT: Final = integer(0)
NUMBER: Final = Shape({"type": "number"})
NULL: Final = Shape({"type": "null"})
ANYTHING: Final = Shape({})
"""For what is nobody's to bound, as in what an outside service said."""

OPEN_OBJECT: Final = Shape({"type": "object"})
"""An object whose members are others' business."""

SNOWFLAKE: Final = text(pattern="^(0|[1-9][0-9]{0,18})$")
"""An id as decimal digits."""

BITS: Final = text(pattern="^(0|[1-9][0-9]{0,19})$")
"""A mask of 64 bits as decimal digits."""

TIMESTAMP: Final = Shape(
    {"type": "string", "format": "date-time", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}
)
DATE: Final = Shape({"type": "string", "format": "date"})
ADDRESS: Final = Shape({"type": "string", "format": "uri-reference"})
EMAIL: Final = text(254)
ASSET: Final = text(pattern="^(a_)?[A-Za-z0-9_-]{1,64}$")
"""The hash that an image is found by; `a_` marks moving ones."""

COLOR: Final = integer(0, 0xFFFFFF)
NOTHING: Final = Shape({}, media_type=None)
"""No body; as an operation's only answer: 204."""

Answers = Shape | Mapping[int, Shape]
"""What an operation declares: the shape of 200 (or NOTHING: 204), or the shapes by status."""


def by_status(answers: Answers) -> Mapping[int, Shape]:
    """A declaration in full."""
    if isinstance(answers, Shape):
        return {204 if answers.media_type is None else 200: answers}
    return answers


REFERRED: Final = "$ref"
"""The word of a schema that points at a named shape; in a Shape it may hold that shape itself."""

REFERENCE: Final = "#/components/schemas/"
"""What stands before the name of a named shape where one points at it."""


class Components(dict[str, object]):
    """The named schemas of a document, gathered while shapes are written out."""

    def __init__(self) -> None:
        super().__init__()
        self._shapes: dict[str, Shape] = {}

    def written(self, value: Any) -> Any:
        """A shape, or a schema with shapes in it, as plain JSON Schema that points at the named ones.

        :raises ValueError: when two shapes have one name.
        """
        match value:
            case Shape(name=None):
                return self.written(value.schema)
            case Shape(name=str(name)):
                if self._shapes.setdefault(name, value) is not value:
                    raise ValueError(f"two shapes are called {name}")
                if name not in self:
                    self[name] = {}  # it may hold itself
                    self[name] = self.written(value.schema)
                return {"$ref": REFERENCE + name}
            case Mapping():
                written = {word: self.written(inner) for word, inner in value.items()}
                return {**written.pop(REFERRED), **written} if isinstance(value.get(REFERRED), Shape) else written
            case list() | tuple():
                return [self.written(inner) for inner in value]
            case _:
                return value

    def missing(self) -> Iterator[str]:
        """Names that are pointed at and stand nowhere."""
        for reference in _references(self):
            if reference.removeprefix(REFERENCE) not in self:
                yield reference


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for word, inner in value.items():
            if word == "$ref" and isinstance(inner, str):
                yield inner
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)
