"""The bodies and queries of operations as JSON Schema, made from the classes that `chat.api.structuring` reads."""

from __future__ import annotations

import enum
import inspect
import re
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import attrs

from chat.api.fields import Described, Form, Omitted, Schema
from chat.api.schemas.shapes import REFERENCE

_PLAIN: Final[Mapping[object, str]] = {str: "string", int: "integer", bool: "boolean", float: "number"}

_KEYWORDS_OF: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "array": frozenset({"minItems", "maxItems"}),
    "object": frozenset({"minProperties", "maxProperties"}),
    "integer": frozenset({"minimum", "maximum"}),
    "number": frozenset({"minimum", "maximum"}),
}
_BOUNDS: Final = frozenset().union(*_KEYWORDS_OF.values())


class InputSchemas:
    """Writes the classes of bodies down, each once among the components.

    Their names end in `Body`, so that none is that of an answer's object. A class that was published under another name
    keeps that as its `BODY_NAME`, for programs that were generated from the document. Classes of one name are told
    apart by the module they are from, so `all_classes` has to hold those of every operation.
    """

    def __init__(self, components: dict[str, Schema], all_classes: Iterable[Any]) -> None:
        self._components = components
        self._names = _names_of(all_classes)

    def of(self, declared: Any) -> Schema:
        """The schema of a declared type."""
        origin, inner = get_origin(declared), get_args(declared)
        if attrs.has(declared):
            return self._reference(declared)
        if origin is Annotated:
            return self._annotated(inner[0], inner[1:])
        if origin is Literal:
            return {"enum": list(inner)}
        if origin in (list, tuple, frozenset):
            return {"type": "array", "items": self.of(inner[0])}
        if origin in (dict, Mapping):
            return {"type": "object", **self._members(*inner)}
        if origin in (Union, types.UnionType):
            return self._union([kind for kind in inner if kind is not Omitted])
        if inspect.isclass(declared) and issubclass(declared, enum.Enum):
            return {"enum": [member.value for member in declared]}
        return {"type": _PLAIN[declared]} if declared in _PLAIN else {}

    def members(self, declared: type[Any], *, null_is_default: bool = True) -> Iterator[tuple[str, bool, Schema]]:
        """The members of a class: name, whether it has to be there, and its schema.

        `null_is_default` says that null may be sent in place of a default, as in JSON bodies.
        """
        for field in attrs.fields(attrs.resolve_types(declared, include_extras=True)):
            schema = self.of(field.type)
            default = field.default
            required = default is attrs.NOTHING
            if not required and null_is_default and not _tells_null_apart(field.type):
                schema = _or_null(schema)
            if isinstance(default, str | int | float):
                schema = {**schema, "default": default.value if isinstance(default, enum.Enum) else default}
            yield field.name, required, schema

    def requires_something(self, declared: Any) -> bool:
        """Whether there has to be a body: no bytes at all are an object without members."""
        if inspect.isclass(declared) and attrs.has(declared):
            return any(required for _, required, _ in self.members(declared))
        return True

    def _reference(self, declared: type[Any]) -> Schema:
        name = self._names[declared]
        if name not in self._components:
            self._components[name] = {}  # it may hold itself
            self._components[name] = self.whole(declared)
        return {"$ref": REFERENCE + name}

    def whole(self, declared: type[Any]) -> Schema:
        """The schema of a class itself, not a reference to it."""
        members = list(self.members(declared))
        schema: Schema = {"type": "object"}
        description = described(declared.__doc__)
        if description:
            schema["description"] = description
        schema["properties"] = {name: member for name, _, member in members}
        required = [name for name, is_required, _ in members if is_required]
        if required:
            schema["required"] = required
        return schema

    def _annotated(self, plain: Any, annotations: Iterable[Any]) -> Schema:
        described = [annotation for annotation in annotations if isinstance(annotation, Described)]
        forms = [annotation for annotation in described if isinstance(annotation, Form)]
        schema = dict(forms[0].schema) if forms else self.of(plain)
        for rule in described:
            if rule not in forms:
                schema = _bounded(schema, rule.schema)
        return schema

    def _union(self, kinds: list[Any]) -> Schema:
        rest = [self.of(kind) for kind in kinds if kind is not type(None)]
        schema = rest[0] if len(rest) == 1 else {"anyOf": rest}
        return _or_null(schema) if type(None) in kinds else schema

    def _members(self, name: Any, member: Any) -> Schema:
        names = self.of(name)
        if "anyOf" in names:  # names are text
            names = next(choice for choice in names["anyOf"] if choice.get("type") == "string")
        schema = {} if member is Any else {"additionalProperties": self.of(member)}
        return {**schema, "propertyNames": names} if names != {"type": "string"} else schema


def _tells_null_apart(declared: Any) -> bool:
    return bool({type(None), Omitted} & {*get_args(declared)})


def _bounded(schema: Schema, bounds: Mapping[str, Any]) -> Schema:
    """The schema within bounds, of those that can apply to its type."""
    kinds = schema.get("type", ())
    applicable = frozenset().union(
        *(_KEYWORDS_OF.get(kind, frozenset()) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    )
    return {**schema, **{word: bound for word, bound in bounds.items() if word in applicable or word not in _BOUNDS}}


def _or_null(schema: Schema) -> Schema:
    kind = schema.get("type")
    if not schema or (isinstance(kind, list) and "null" in kind):
        return schema
    if "enum" in schema:
        return schema if None in schema["enum"] else {**schema, "enum": [*schema["enum"], None]}
    if kind is not None:
        return {**schema, "type": [*([kind] if isinstance(kind, str) else kind), "null"]}
    choices = schema["anyOf"] if set(schema) == {"anyOf"} else [schema]
    return schema if {"type": "null"} in choices else {"anyOf": [*choices, {"type": "null"}]}


def text_schema(schema: Schema) -> Schema:
    """The schema of a value in a query or a form, where an id is nothing but text."""
    if type(schema.get("default")) is int and "anyOf" in schema:
        schema = {**schema, "default": str(schema["default"])}
    for choice in schema.get("anyOf", ()):
        if choice.get("type") == "string":
            return {**{word: value for word, value in schema.items() if word != "anyOf"}, **choice}
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [single for single in kind if single != "null"]
        return {**schema, "type": kinds[0] if len(kinds) == 1 else kinds}
    if "enum" in schema:
        return {**schema, "enum": [choice for choice in schema["enum"] if choice is not None]}
    return schema


def _names_of(all_classes: Iterable[Any]) -> dict[Any, str]:
    by_name: dict[str, list[Any]] = defaultdict(list)
    for declared in _reached(all_classes):
        by_name[declared.__name__].append(declared)
    names: dict[Any, str] = {}
    for name, classes in by_name.items():
        for declared in classes:
            family = declared.__module__.rpartition(".")[2] if len(classes) > 1 else ""
            prefix = re.sub(r"(?:^|_)([a-z])", lambda match: match[1].upper(), family)
            names[declared] = vars(declared).get("BODY_NAME") or f"{prefix}{name.removesuffix('Body')}Body"
    return names


def _reached(declared: Iterable[Any]) -> Iterator[Any]:
    """Every attrs class that these types are made of, each once."""
    left, seen = list(declared), set()
    while left:
        one = left.pop()
        if inspect.isclass(one) and attrs.has(one):
            if one in seen:
                continue
            seen.add(one)
            yield one
            left.extend(field.type for field in attrs.fields(attrs.resolve_types(one, include_extras=True)))
        else:
            left.extend(get_args(one))


_SOURCES: Final = re.compile(r"\s*\([^()]*\b(?:[a-z_]+\.md,\s|conventions of)[^()]*\)")
_BODY_OF: Final = re.compile(r"The body of [A-Z…/]\S* ?\S*\.", re.DOTALL)


def told(docstring: str | None) -> tuple[str, str]:
    """The first sentences without their full stop, and the further paragraphs in Markdown; fields are left out."""
    plain = _SOURCES.sub("", inspect.cleandoc(docstring or "")).replace("``", "`")
    summary, *rest = [" ".join(paragraph.split()) for paragraph in plain.split("\n\n")]
    return summary.removesuffix("."), "\n\n".join(paragraph for paragraph in rest if not paragraph.startswith(":"))


def described(docstring: str | None) -> str:
    """The whole docstring as Markdown; "" if it is only "The body of POST /..."."""
    summary, rest = told(docstring)
    whole = f"{summary}.\n\n{rest}".strip() if summary else ""
    return "" if _BODY_OF.fullmatch(whole) else whole
