"""From plain values to the attrs class that an operation declares, or to the list of wrong fields.

Cattrs builds one function per class when it is first needed; its error groups become paths and codes (http.md,
Validation). Types are strict: `true` is no integer, `1.5` is no integer, text is no list; but `1.0` is an integer.
Unknown members are ignored (http.md, Validation).
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

import attrs
from cattrs import AttributeValidationNote, BaseValidationError, Converter
from cattrs.gen import make_dict_structure_fn

from chat.api.fields import Form, Omitted, Refusal, Rule
from chat.api.unread_members import CURRENT
from chat.errors import FieldError, InvalidFormBody
from chat.protocol.visible_text import is_empty, visible
from chat.protocol.whole_numbers import whole
from chat.registries.error_codes import FieldCode

T = TypeVar("T")

Structure = Callable[[object], Any]
"""Turns parsed values into an instance of a declared class; raises InvalidFormBody."""


def _once_per_class(make: Callable[[type[Any]], T]) -> Callable[[type[Any]], T]:
    """Compiling takes long, and one process may start many servers (the test kit does)."""
    made: dict[type[Any], T] = {}

    @functools.wraps(make)
    def made_before_or_now(declared: type[Any]) -> T:
        if declared not in made:
            made[declared] = make(declared)
        return made[declared]

    return made_before_or_now


@_once_per_class
def body_structure(declared: type[Any]) -> Structure:
    """The function that turns parsed JSON into the declared class; made once per class."""
    return _structure(_JSON, declared, is_body=True)


@_once_per_class
def query_structure(declared: type[Any]) -> Structure:
    """As `body_structure`, for the text values of a query string."""
    return _structure(_QUERY, declared)


@_once_per_class
def repeated_names(declared: type[Any]) -> frozenset[str]:
    """The parameters of a query of which every value counts: those that are declared as lists."""
    fields = attrs.fields(attrs.resolve_types(declared, include_extras=True))
    return frozenset(field.name for field in fields if _holds_list(field.type))


def _holds_list(declared: object) -> bool:
    if _is_annotated(declared) and any(isinstance(annotation, Form) for annotation in get_args(declared)):
        return False  # it reads one text by itself
    return _is_list(declared) or any(_holds_list(inner) for inner in get_args(declared))


def _structure(converter: Converter, declared: type[Any], *, is_body: bool = False) -> Structure:
    compiled: list[Callable[[object, object], Any]] = []  # at first use: all together they are half of a server's start

    def structure(value: object) -> Any:
        if not compiled:
            compiled.append(converter.get_structure_hook(declared))
        hook = compiled[0]
        try:
            made = hook(value, declared)
        except (BaseValidationError, InvalidFormBody, Refusal) as error:
            raise InvalidFormBody(list(_field_errors(error, ()))) from None
        if is_body and (unread := CURRENT.get()) is not None:
            unread.judge(declared, value)
        return made

    return structure


def _field_errors(error: Exception, path: tuple[str, ...]) -> Iterator[FieldError]:
    if isinstance(error, BaseValidationError):
        for inner in error.exceptions:
            names = [note.name for note in getattr(inner, "__notes__", ()) if isinstance(note, AttributeValidationNote)]
            yield from _field_errors(inner, (*path, *names))
    elif isinstance(error, InvalidFormBody):
        for field in error.errors:
            inside = () if field.path == "root" else (field.path,)
            yield FieldError(".".join((*path, *inside)) or "root", field.code, field.message)
    else:
        # A missing member is a KeyError, an unknown value of an enumeration a ValueError: one code stands for both.
        code = error.code if isinstance(error, Refusal) else FieldCode.INVALID_FORMAT
        yield FieldError(".".join(path) or "root", code)


# The hooks. Each takes the value and the type it was registered for.


def _exactly(kind: type[Any]) -> Callable[[object, object], Any]:
    def structure(value: object, _: object) -> Any:
        if type(value) is not kind:
            raise Refusal
        return value

    return structure


def _integer(value: object, _: object) -> int:
    number = whole(value)
    if type(number) is not int:
        raise Refusal
    return number


def _text(value: object, _: object) -> str:
    if type(value) is not str:
        raise Refusal
    return visible(value)


def _number(value: object, _: object) -> float:
    if type(value) is not int and type(value) is not float:
        raise Refusal
    return float(value)


def _enumeration(plain: type[Any]) -> Callable[[object, type[enum.Enum]], enum.Enum]:
    def structure(value: object, declared: type[enum.Enum]) -> enum.Enum:
        plainly = whole(value)
        if type(plainly) is not plain:
            raise Refusal
        return declared(plainly)

    return structure


_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
# Programs in Python write `True`.
_TRUTH: Final[Mapping[object, bool]] = {
    **dict.fromkeys(("true", "True", "1"), True),
    **dict.fromkeys(("false", "False", "0"), False),
}


def _whole_number_text(value: object, _: object) -> int:
    if type(value) is not str or _WHOLE_NUMBER.fullmatch(value) is None:
        raise Refusal
    return int(value)


def _truth_text(value: object, _: object) -> bool:
    if value not in _TRUTH:
        raise Refusal
    return _TRUTH[value]


def _is_annotated(declared: object) -> bool:
    return get_origin(declared) is Annotated


def _annotated(declared: Any, converter: Converter) -> Callable[[object, object], Any]:
    plain, *annotations = get_args(declared)
    rules = [annotation for annotation in annotations if isinstance(annotation, Rule)]
    forms = [annotation for annotation in annotations if isinstance(annotation, Form)]
    inner = converter.get_structure_hook(plain)

    def structure(value: object, _: object) -> Any:
        read = forms[0].read(value) if forms else inner(value, plain)
        for rule in rules:
            rule.check(read)
        return read

    return structure


def _admits_omission(declared: object) -> bool:
    return get_origin(declared) is Union and Omitted in get_args(declared)


def _unless_omitted(declared: Any, converter: Converter) -> Callable[[object, object], Any]:
    """A member that is there is never the omission, so what remains of the union is what to read."""
    kinds = tuple(kind for kind in get_args(declared) if kind is not Omitted)
    rest: Any = Union[kinds]  # noqa: UP007 - built at run time
    inner = converter.get_structure_hook(rest)
    return lambda value, _: inner(value, rest)


def _is_list(declared: object) -> bool:
    return get_origin(declared) in (list, tuple, frozenset)


def _items(declared: Any, converter: Converter) -> Callable[[object, object], Any]:
    """`list[T]`, `tuple[T, ...]` and `frozenset[T]` are read from JSON lists."""
    build, kind = get_origin(declared), get_args(declared)[0]
    inner = converter.get_structure_hook(kind)

    def structure(value: object, _: object) -> Any:
        if type(value) is not list:
            raise Refusal
        items: list[Any] = []
        errors: list[FieldError] = []
        for index, item in enumerate(value):
            try:
                items.append(inner(item, kind))
            except (BaseValidationError, InvalidFormBody, ValueError) as error:
                errors.extend(_field_errors(error, (str(index),)))
        if errors:
            raise InvalidFormBody(errors)
        return items if build is list else build(items)

    return structure


def _is_mapping(declared: object) -> bool:
    return get_origin(declared) in (dict, Mapping)


def _mapping(declared: Any, converter: Converter) -> Callable[[object, object], Any]:
    kinds = get_args(declared)
    read_name, read_member = (converter.get_structure_hook(kind) for kind in kinds)

    def structure(value: object, _: object) -> Any:
        if type(value) is not dict:
            raise Refusal
        members: dict[Any, Any] = {}
        errors: list[FieldError] = []
        for name, member in value.items():
            try:
                members[read_name(name, kinds[0])] = read_member(member, kinds[1])
            except (BaseValidationError, InvalidFormBody, ValueError) as error:
                errors.extend(_field_errors(error, (name,)))
        if errors:
            raise InvalidFormBody(errors)
        return members

    return structure


def _is_literal(declared: object) -> bool:
    return get_origin(declared) is Literal


def _literal(declared: Any) -> Callable[[object, object], Any]:
    choices = {(type(choice), choice) for choice in get_args(declared)}

    def structure(value: object, _: object) -> Any:
        plainly = whole(value)
        if isinstance(plainly, list | dict) or (type(plainly), plainly) not in choices:
            raise Refusal
        return plainly

    return structure


def _class(declared: type[Any], converter: Converter) -> Callable[[object, object], Any]:
    inner = make_dict_structure_fn(declared, converter, _cattrs_detailed_validation=True)
    absent_when_null = frozenset(_names_with_plain_default(declared))
    null_when_empty = frozenset(_names_of_optional_text(declared))

    def structure(value: object, _: object) -> Any:
        if type(value) is not dict:
            raise Refusal
        for name in null_when_empty & value.keys():
            text = value[name]  # an empty one is left as the operation reads it, see `empty_strings_are_null`
            if type(text) is str and text and is_empty(text):
                value[name] = None
        if None in value.values():
            value = {
                name: member for name, member in value.items() if member is not None or name not in absent_when_null
            }
        return inner(value, declared)

    return structure


def _names_with_plain_default(declared: type[Any]) -> Iterator[str]:
    """Optional members that tell neither null nor absence apart from their default: null means the default."""
    for field in attrs.fields(attrs.resolve_types(declared, include_extras=True)):
        admitted = get_args(field.type)
        if field.default is not attrs.NOTHING and type(None) not in admitted and Omitted not in admitted:
            yield field.name


def _names_of_optional_text(declared: type[Any]) -> Iterator[str]:
    """Members that are text or null: where there is nothing to be seen they are null (http.md, Validation)."""
    for field in attrs.fields(attrs.resolve_types(declared, include_extras=True)):
        admitted = get_args(field.type)
        if type(None) in admitted and any(_is_text(kind) for kind in admitted):
            yield field.name


def _is_text(declared: object) -> bool:
    if not _is_annotated(declared):
        return declared is str
    plain, *annotations = get_args(declared)
    return plain is str and not any(isinstance(annotation, Form) for annotation in annotations)


def _converter() -> Converter:
    converter = Converter(detailed_validation=True)
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook(enum.StrEnum, _enumeration(str))
    converter.register_structure_hook_factory(attrs.has, _class)
    converter.register_structure_hook_factory(_is_list, _items)
    converter.register_structure_hook_factory(_is_mapping, _mapping)
    converter.register_structure_hook_factory(_is_literal, _literal)
    converter.register_structure_hook_factory(_admits_omission, _unless_omitted)
    converter.register_structure_hook_factory(_is_annotated, _annotated)
    return converter


def _json_converter() -> Converter:
    converter = _converter()
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(bool, _exactly(bool))
    converter.register_structure_hook(enum.IntEnum, _enumeration(int))
    return converter


def _query_converter() -> Converter:
    converter = _converter()
    converter.register_structure_hook(int, _whole_number_text)
    converter.register_structure_hook(bool, _truth_text)
    converter.register_structure_hook(
        enum.IntEnum, lambda value, declared: declared(_whole_number_text(value, declared))
    )
    return converter


_JSON: Final = _json_converter()
_QUERY: Final = _query_converter()
