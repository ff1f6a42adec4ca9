"""Bodies that come as forms, urlencoded or in parts: one field may hold the whole body as JSON, else each member of it
has a field of its own (messages.md, Sending messages).

What comes of a form is what JSON would have held, so the classes that operations declare read both. A field that
nothing reads is refused by its name: nobody's words are lost in silence.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin
from urllib.parse import parse_qsl

import attrs

from chat.api.bodies import FORM_TYPE, QUERY_PARAMETER_LIMIT, BodyChunks, parse_json
from chat.api.fields import Form as WrittenForm
from chat.api.fields import Omitted
from chat.api.request import Request
from chat.errors import FieldError, InvalidFormBody
from chat.registries.error_codes import FieldCode
from chat.registries.limits import JSON_BODY_BYTES

NAME_CHARACTERS: Final = 100
"""How many characters of a field's name a refusal repeats."""

_TRUTH: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "True", "1", "on"), True),
    **dict.fromkeys(("false", "False", "0", "off"), False),
}

Fields = Sequence[tuple[str, bytes]]
"""The fields of a form in their order; one that is no file each."""


def is_urlencoded(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether a body is a form without parts. Curl says so of JSON, too: an object is none."""
    if body.lstrip()[:1] in (b"{", b"["):
        return False
    return headers.get("content-type", "").partition(";")[0].strip().lower() == FORM_TYPE


def urlencoded_fields(body: bytes) -> Fields:
    """The fields of an urlencoded form.

    :raises InvalidFormBody: at `body`, for more than QUERY_PARAMETER_LIMIT fields.
    """
    try:
        pairs = parse_qsl(
            body.strip().decode("latin-1"),  # any byte, so that text which is not percent-encoded is taken, too
            keep_blank_values=True,
            encoding="latin-1",
            max_num_fields=QUERY_PARAMETER_LIMIT,
        )
    except ValueError:
        raise InvalidFormBody.at("body", FieldCode.INVALID_FORMAT) from None
    return [(name.encode("latin-1").decode("utf-8", "replace"), value.encode("latin-1")) for name, value in pairs]


class FormBody:
    """How a form stands for the body of a declared class; the field `whole` may hold all of it."""

    def __init__(self, declared: type[Any], whole: str) -> None:
        self._declared: Final = declared
        self._whole: Final = whole
        self._by_name: Mapping[str, _Reader] | None = None

    def of_fields(self, fields: Fields) -> object:
        """What a JSON body would have held, for `body_structure`.

        :raises InvalidFormBody: at a field that nothing reads or that cannot be read; at `body` where `whole` holds no
            JSON.
        """
        told = [value for name, value in fields if name == self._whole]
        if told:
            _refuse([name for name, _ in fields if name != self._whole] + [self._whole] * (len(told) - 1))
            return parse_json(told[0], empty_strings_are_null=False)
        readers = self._readers()
        values: dict[str, list[bytes]] = {}
        for name, value in fields:
            values.setdefault(name, []).append(value)
        _refuse(
            name
            for name, given in values.items()
            if name not in readers or (len(given) > 1 and not readers[name].repeats)
        )
        return {name: readers[name].read(name, given) for name, given in values.items()}

    async def received(self, request: Request) -> object:
        """As `of_fields`, of a form in parts, of which none may be a file.

        :raises InvalidFormBody: as `of_fields`; TOO_MANY_FILES at `files` for a file; at `body` for what is no form.
        :raises ApiError: PAYLOAD_TOO_LARGE.
        """
        from chat.media.multipart import boundary_of, read_form  # few need its parser, and not for a start

        boundary = boundary_of(request.headers.get("content-type"))
        if boundary is None:
            raise InvalidFormBody.at("body", FieldCode.INVALID_FORMAT)
        chunks = BodyChunks(request.receive, request.headers.get("content-length"), 2 * JSON_BODY_BYTES)
        form = await read_form(
            chunks, boundary, files_maximum=0, file_bytes=0, new_file=_no_file, never_a_file=self._whole
        )
        return self.of_fields(form.fields)

    def _readers(self) -> Mapping[str, _Reader]:
        if self._by_name is None:
            fields = attrs.fields(attrs.resolve_types(self._declared, include_extras=True))
            self._by_name = {field.name: _Reader(field.type) for field in fields}
        return self._by_name


async def _no_file() -> Any:
    raise AssertionError("a form without files asks for none")


def _refuse(names: Iterable[str]) -> None:
    errors = [FieldError(name[:NAME_CHARACTERS] or "root", FieldCode.INVALID_FORMAT) for name in names]
    if errors:
        raise InvalidFormBody(errors)


class _Reader:
    """Reads a field of a form by the declared type of its member."""

    def __init__(self, declared: Any) -> None:
        kinds = list(_alternatives(declared))
        lists = [kind for kind in kinds if get_origin(_plain(kind)) in (list, tuple, frozenset)]
        self.repeats: Final = bool(lists)
        """Whether each value of the field is an item of a list."""
        inner = [get_args(_plain(kind))[0] for kind in lists] or [declared]
        self._one: Final = _value_reader([choice for kind in inner for choice in _alternatives(kind)])

    def read(self, name: str, values: Sequence[bytes]) -> object:
        """The value. Raises InvalidFormBody at the name."""
        texts = [_decoded(name, value) for value in values]
        if not self.repeats:
            return self._read_one(name, texts[0])
        if len(texts) == 1 and (not texts[0] or texts[0].lstrip().startswith("[")):
            return _json(name, texts[0])
        return [self._read_one(name, text) for text in texts]

    def _read_one(self, name: str, text: str) -> object:
        return self._one(name, text)


def _alternatives(declared: Any) -> Iterable[Any]:
    """The kinds of which one is meant, without null and omission."""
    if get_origin(declared) in (Union, types.UnionType):
        for kind in get_args(declared):
            if kind is not type(None) and kind is not Omitted:
                yield from _alternatives(kind)
    elif get_origin(declared) is Annotated and _written_form(declared) is None:
        for kind in _alternatives(get_args(declared)[0]):
            yield kind
    else:
        yield declared


def _plain(declared: Any) -> Any:
    return get_args(declared)[0] if get_origin(declared) is Annotated else declared


def _written_form(declared: Any) -> WrittenForm | None:
    forms = [annotation for annotation in get_args(declared)[1:] if isinstance(annotation, WrittenForm)]
    return forms[0] if forms else None


def _value_reader(kinds: Sequence[Any]) -> Callable[[str, str], object]:
    if any(_takes_text(kind) for kind in kinds):
        return lambda _, text: text
    return _truth if bool in kinds else _json


def _takes_text(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        return _written_form(kind) is not None  # each of them reads text
    if get_origin(kind) is Literal:
        return any(isinstance(choice, str) for choice in get_args(kind))
    return isinstance(kind, type) and issubclass(kind, str)


def _truth(name: str, text: str) -> object:
    return _TRUTH[text] if text in _TRUTH else _json(name, text)


def _json(name: str, text: str) -> object:
    if not text.strip():
        return None
    try:
        return parse_json(text.encode(), empty_strings_are_null=False)
    except InvalidFormBody:
        raise InvalidFormBody.at(name, FieldCode.INVALID_FORMAT) from None


def _decoded(name: str, value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidFormBody.at(name, FieldCode.INVALID_FORMAT) from None
