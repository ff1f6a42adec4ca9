"""The intermediate form as lines of JSON: the first says what the file is, each other one is a record.

    {"form": "chat community", "version": 1}
    {"kind": "guild", "id": "41771983423143937", "name": "Lighthouse keepers"}
    {"kind": "message", "id": "175928847299117063", "channel_id": "41771983423143937", "author_id": "...", ...}

Members that say nothing are left out. Ids are text, as on the wire.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final

import attrs
import orjson
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, override

from chat.imports.form import KIND_OF, KINDS, VERSION, Record, lone_surrogates_gone
from chat.snowflake import MAXIMUM

FORM: Final = "chat community"

LINE_BYTES: Final = 8 << 20
"""The longest line that is read."""


class NotTheForm(ValueError):
    """A line is not of the form; the text says which and why."""


def written(records: Iterable[Record]) -> Iterator[bytes]:
    """The lines of a file with these records."""
    yield orjson.dumps({"form": FORM, "version": VERSION}) + b"\n"
    yield from map(line_of, records)


def line_of(record: Record) -> bytes:
    """The line of one record."""
    return orjson.dumps({"kind": KIND_OF[type(record)], **as_plain(record)}) + b"\n"


def read(file: IO[bytes]) -> Iterator[Record]:
    """The records of a file.

    :raises NotTheForm: at the first line that holds no record.
    """
    for found in read_what_can_be(file):
        if isinstance(found, NotTheForm):
            raise found
        yield found


def read_what_can_be(file: IO[bytes]) -> Iterator[Record | NotTheForm]:
    """The records of a file, and in place of each line that holds none what is wrong with it.

    :raises NotTheForm: where the first line does not say what the file is.
    """
    _require_form(_value(file.readline(LINE_BYTES), 1))
    for number, line in enumerate(iter(functools.partial(file.readline, LINE_BYTES), b""), start=2):
        if len(line) == LINE_BYTES and not line.endswith(b"\n"):
            while (rest := file.readline(LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield NotTheForm(f"line {number} is longer than {LINE_BYTES} bytes")
            continue
        try:
            yield _record(_value(line, number), number)
        except NotTheForm as error:
            yield error


def _value(line: bytes, number: int) -> object:
    try:
        return orjson.loads(line)
    except ValueError as error:
        raise NotTheForm(f"line {number} is no JSON: {error}") from None


def _require_form(value: object) -> None:
    if not isinstance(value, dict) or value.get("form") != FORM:
        raise NotTheForm(f"line 1 does not say that this is a {FORM}")
    if value.get("version") != VERSION:
        raise NotTheForm(f"line 1 says version {value.get('version')}; this program reads version {VERSION}")


def _record(value: object, number: int) -> Record:
    kind = value.pop("kind", None) if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise NotTheForm(f"line {number} is of no known kind")
    try:
        found: Record = converter().structure(value, KINDS[kind])
    except Exception as error:  # noqa: BLE001 - cattrs raises what the wrong value raises
        raise NotTheForm(f"line {number} is no {kind}: {_first_of(error)}") from None
    return found


def _first_of(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__} {error}".strip()


def as_plain(record: Any) -> dict[str, object]:
    """A record as JSON has it."""
    plain = {}
    for field in attrs.fields(type(record)):
        value = getattr(record, field.name)
        if value != field.default:
            plain[field.name] = _plain_value(field.name, value)
    return plain


def _plain_value(name: str, value: Any) -> Any:
    if attrs.has(type(value)):
        return as_plain(value)
    if isinstance(value, tuple):
        return [_plain_value(name, entry) for entry in value]
    return str(value) if isinstance(value, int) and is_id(name) else value


IDS: Final = frozenset({"id", "mentions", "mention_roles", "applied_tags"})


def is_id(name: str) -> bool:
    """Whether a member of that name holds ids."""
    return name in IDS or name.endswith(("_id", "_ids"))


@functools.cache
def converter() -> Converter:
    """Turns parsed lines into records, strictly."""
    made = Converter(detailed_validation=False, forbid_extra_keys=True)
    made.register_structure_hook(int, _number)
    made.register_structure_hook(str, _text)
    made.register_structure_hook(bool, _truth)
    for record in _records(*KINDS.values()):
        attrs.resolve_types(record)
        ids = {
            field.name: override(struct_hook=_id_hook(field.type))
            for field in attrs.fields(record)
            if is_id(field.name) and field.name != "original_id"
        }
        made.register_structure_hook(record, make_dict_structure_fn(record, made, **ids))  # type: ignore[arg-type]
    return made


def _records(*classes: type[Any]) -> list[type[Any]]:
    """The classes of records with those inside them, the innermost first."""
    from chat.imports import form

    inner = [form.OverwriteRecord, form.TagRecord, form.ForumRecord, form.ThreadRecord]
    return [*inner, form.FileRecord, form.ReactionRecord, form.ReferenceRecord, *classes]


def _id_hook(declared: Any) -> Any:
    text = str(declared)
    if "tuple" in text:
        return lambda value, _: tuple(map(_id, _list(value)))
    if "None" in text:
        return lambda value, _: None if value is None else _id(value)
    return lambda value, _: _id(value)


def _id(value: object) -> int:
    if not isinstance(value, str) or not value.isascii() or not value.isdecimal() or not 0 < int(value) <= MAXIMUM:
        raise ValueError(f"{value!r} is no id")
    return int(value)


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value


def _number(value: object, _: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no number")
    return value


def _text(value: object, _: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return lone_surrogates_gone(value).replace("\0", "")


def _truth(value: object, _: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value
