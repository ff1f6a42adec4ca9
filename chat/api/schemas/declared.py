"""The shapes of declared types: what `chat.wire` says in Python, as JSON Schema.

    shape_of(list[wire.Message])

An object's members come with the texts below them in the source, its description is its docstring. Nothing of this
happens before somebody asks for the documents: the source is read then.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from chat.api.answers import Answer
from chat.api.fields import Schema
from chat.api.openapi.inputs import described
from chat.api.schemas.shapes import (
    NOTHING,
    REFERRED,
    ObjectShape,
    Shape,
    choice,
    either,
    listed,
    mapped,
    named,
    nullable,
)
from chat.wire.values import GROUPED, Nameless, Rule

_PLAIN: Final[Mapping[object, Mapping[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}

_reading: Final[list[type]] = []
"""Objects whose members are being read: they may hold themselves."""


def shape_of(declared: Any) -> Shape:
    """The shape of a type.

    :raises TypeError: for a type that the wire has no word for.
    """
    origin, inner = get_origin(declared), get_args(declared)
    if is_typeddict(declared):
        return named(declared.__name__) if declared in _reading else object_shape(declared)
    if origin is Annotated:
        return _narrowed(inner[0], inner[1:])
    if origin is Literal:
        return Shape({"const": inner[0]}) if isinstance(inner[0], bool) else choice(*inner)
    if origin is list:
        return listed(shape_of(inner[0]))
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return _mapping(*inner)
    if origin in (Union, types.UnionType):
        return _union(inner)
    if declared in _PLAIN:
        return Shape(_PLAIN[declared])
    raise TypeError(f"{declared!r} has no shape")


def answer_shape(declared: Any) -> Shape:
    """The shape of an answer: a type's, that of an `Answer` with such a body, or a shape itself; NOTHING for None."""
    if isinstance(declared, Shape):
        return declared
    if get_origin(declared) is Answer:
        return answer_shape(get_args(declared)[0])
    if get_origin(declared) in (Union, types.UnionType):
        kinds = dict.fromkeys(get_args(kind)[0] if get_origin(kind) is Answer else kind for kind in get_args(declared))
        first, *others = map(answer_shape, kinds)
        return either(first, *others) if others else first
    return NOTHING if declared in (None, type(None)) else shape_of(declared)


def returned(handler: Callable[..., Any]) -> Any:
    """What a handler's annotation says that it returns."""
    plain = inspect.unwrap(handler)
    annotation = plain.__annotations__["return"]
    if annotation in {"object", "Any"}:
        raise TypeError(f"{handler.__module__}.{handler.__name__} does not say what it answers")
    return eval(annotation, plain.__globals__)  # noqa: S307 - our source


def _narrowed(plain: Any, rules: tuple[Any, ...]) -> Shape:
    shape = shape_of(plain)
    schema = dict(shape.schema)
    words: Schema = {}
    for rule in rules:
        if rule is GROUPED:
            return shape
        if isinstance(rule, Rule):
            words.update(rule.words)
    if "enum" in words:
        return Shape({"enum": list(words["enum"])})
    return Shape({**schema, **words})


def _mapping(names: Any, values: Any) -> Shape:
    if values in (Any, object):
        return Shape({"type": "object"})
    return mapped(shape_of(values), names=None if names is str else shape_of(names))


def _union(kinds: tuple[Any, ...]) -> Shape:
    rest = [shape_of(kind) for kind in kinds if kind is not type(None)]
    shape = rest[0] if len(rest) == 1 else either(*rest)
    return nullable(shape) if type(None) in kinds else shape


# Objects


class Member(NamedTuple):
    """A member of an object as its class declares it."""

    type: Any
    required: bool
    text: str


@functools.cache
def object_shape(declared: type) -> ObjectShape:
    """The shape of an object: each class has one."""
    _reading.append(declared)
    try:
        members = {name: (_member_shape(member), member.required) for name, member in members_of(declared).items()}
    finally:
        _reading.pop()
    required = {name: shape for name, (shape, is_required) in members.items() if is_required}
    optional = {name: shape for name, (shape, is_required) in members.items() if not is_required}
    schema: dict[str, object] = {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }
    is_nameless = Nameless in _sources(declared).bases_of(declared)
    description = "" if is_nameless else described(declared.__doc__)
    if description:
        schema["description"] = description
    return ObjectShape(schema, None if is_nameless else declared.__name__, members=required, optional=optional)


def _member_shape(member: Member) -> Shape:
    shape = shape_of(member.type)
    if not member.text:
        return shape
    if shape.name is not None:
        return Shape({REFERRED: shape, "description": member.text})
    return Shape({**shape.schema, "description": member.text})


def members_of(declared: type) -> dict[str, Member]:
    """All members of an object by name, those of its bases first."""
    return dict(_members(declared, {}))


def own_members(declared: type) -> dict[str, Member]:
    """The members that an object's class declares itself, by name."""
    every = members_of(declared)
    return {name: every[name] for name in _sources(declared).members_of(declared)}


def base_of(declared: type) -> Any:
    """The first object below which an object's class stands; None where there is none."""
    return next(filter(is_typeddict, _sources(declared).bases_of(declared)), None)


def _members(declared: Any, meant: Mapping[Any, Any]) -> Iterator[tuple[str, Member]]:
    sources = _sources(declared)
    if not sources.has(declared):  # made by a call, since a member has a name that no class takes
        for name, kind in get_type_hints(declared, include_extras=True).items():
            yield name, Member(kind, name in declared.__required_keys__, "")
        return
    for base in sources.bases_of(declared):
        plain = get_origin(base) or base
        if is_typeddict(plain) and plain is not Nameless:
            told = [meant.get(kind, kind) if isinstance(kind, TypeVar) else kind for kind in get_args(base)]
            yield from _members(plain, dict(zip(_parameters(plain), told, strict=False)))
    for name, (annotation, text) in sources.members_of(declared).items():
        required = get_origin(annotation) is not NotRequired
        kind = annotation if required else get_args(annotation)[0]
        yield name, Member(meant.get(kind, kind) if isinstance(kind, TypeVar) else kind, required, text)


def _parameters(declared: Any) -> tuple[Any, ...]:
    return tuple(getattr(declared, "__parameters__", ()))


class _Sources:
    """The classes of a module as they are written."""

    def __init__(self, module: types.ModuleType) -> None:
        tree = ast.parse(inspect.getsource(module))
        self._names = vars(module)
        self._classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def has(self, declared: type) -> bool:
        return declared.__name__ in self._classes

    def bases_of(self, declared: type) -> list[Any]:
        return [self._evaluated(base) for base in self._classes[declared.__name__].bases]

    def members_of(self, declared: type) -> dict[str, tuple[Any, str]]:
        body = self._classes[declared.__name__].body
        return {
            statement.target.id: (self._evaluated(statement.annotation), _text_below(body, index))
            for index, statement in enumerate(body)
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        }

    def _evaluated(self, expression: ast.expr) -> Any:
        return eval(compile(ast.Expression(expression), "<declaration>", "eval"), self._names)  # noqa: S307 - our source


@functools.cache
def _module(name: str) -> _Sources:
    return _Sources(sys.modules[name])


def _sources(declared: type) -> _Sources:
    return _module(declared.__module__)


def _text_below(body: list[ast.stmt], index: int) -> str:
    following = body[index + 1] if index + 1 < len(body) else None
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        value = following.value.value
        return " ".join(value.split()) if isinstance(value, str) else ""
    return ""
