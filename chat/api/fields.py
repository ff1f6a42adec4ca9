"""The building blocks with which bodies and queries are declared.

A declaration is an attrs class whose annotations say everything: `Annotated[str, Length(1, 100)]`, `Snowflake`,
`Maybe[str | None] = OMITTED`. A rule raises `Refusal` with the code of the field; `chat.api.structuring` adds the path
(http.md, Validation)."""

from __future__ import annotations

import datetime
import enum
import re
from collections.abc import Sized
from typing import Annotated, Any, Final, Literal, Protocol, TypeVar, Union, runtime_checkable

import attrs

from chat.classes import frozen
from chat.clock import read_moment
from chat.protocol.visible_text import trimmed, without_nul
from chat.protocol.whole_numbers import whole
from chat.registries.error_codes import FieldCode
from chat.snowflake import MAXIMUM as SNOWFLAKE_MAXIMUM

T = TypeVar("T")


class Omitted(enum.Enum):
    """The value of a member that was not sent, where absence differs from null."""

    OMITTED = "omitted"


OMITTED: Final = Omitted.OMITTED

Maybe = Union[T, Omitted]  # noqa: UP007 - a generic alias is written this way
"""A member that may be absent or null, and that tells the two apart: `name: Maybe[str | None] = OMITTED`."""


class Refusal(ValueError):
    """Raised by a rule for a value that does not fit its field."""

    def __init__(self, code: FieldCode = FieldCode.INVALID_FORMAT) -> None:
        super().__init__(code)
        self.code = code


Schema = dict[str, Any]
"""JSON Schema (2020-12) as plain values, which hold each other to any depth."""

PasskeyResponse = dict[str, Any]
"""What a browser's WebAuthn answered; `chat.auth.webauthn` checks its members."""


@runtime_checkable
class Rule(Protocol):
    """An annotation that checks a value which already has the annotated type."""

    def check(self, value: Any) -> None:
        """Raise Refusal unless the value obeys."""
        ...


@runtime_checkable
class Form(Protocol):
    """An annotation that reads the value as it was sent, in place of the annotated type."""

    def read(self, value: object) -> Any:
        """The value as the program holds it; Refusal when it cannot be read."""
        ...


@runtime_checkable
class Described(Protocol):
    """A Rule or a Form with its own part of the OpenAPI document; all of them have one."""

    @property
    def schema(self) -> Schema:
        """The schema: for a Rule what it adds to that of the type, for a Form that of the value as it is sent."""
        ...


@frozen
class Length:
    """Bounds on the characters of text.

    Too long is CONTENT_EXCEEDS_MAX_LENGTH and too short INVALID_FORMAT, unless `code` names one for both.
    """

    minimum: int
    maximum: int
    code: FieldCode | None = None

    @property
    def schema(self) -> Schema:
        return {"minLength": self.minimum, "maxLength": self.maximum}

    def check(self, value: str) -> None:
        if len(value) > self.maximum:
            raise Refusal(self.code or FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
        if len(value) < self.minimum:
            raise Refusal(self.code or FieldCode.INVALID_FORMAT)


class AsWritten:
    """Text that may consist of what cannot be seen, without NUL: the blank field of an embed (messages.md, Embeds).
    Nothing but spaces and control characters is no text."""

    schema: Final[Schema] = {"type": "string"}

    def read(self, value: object) -> str:
        if type(value) is not str:
            raise Refusal
        return "" if _BLANK.fullmatch(value) else without_nul(value)


_BLANK: Final = re.compile(r"[\x00-\x20\x7f]*", re.ASCII)


class Exact:
    """Text that is judged or compared character by character: NUL stays, and so does what cannot be seen."""

    schema: Final[Schema] = {"type": "string"}

    def read(self, value: object) -> str:
        if type(value) is not str:
            raise Refusal
        return value


class Trimmed:
    """A name or an address without the white space and invisible characters around it, which pasting and keyboards
    leave there."""

    schema: Final[Schema] = {"type": "string"}

    def read(self, value: object) -> str:
        if type(value) is not str:
            raise Refusal
        return trimmed(value)


@frozen
class Range:
    """Bounds on a number, both included."""

    minimum: int
    maximum: int
    code: FieldCode = FieldCode.INVALID_FORMAT

    @property
    def schema(self) -> Schema:
        return {"minimum": self.minimum, "maximum": self.maximum}

    def check(self, value: int) -> None:
        if not self.minimum <= value <= self.maximum:
            raise Refusal(self.code)


@frozen
class Items:
    """Bounds on the number of items of a list, or of members of an object."""

    minimum: int
    maximum: int
    code: FieldCode = FieldCode.INVALID_FORMAT

    @property
    def schema(self) -> Schema:
        return {
            "minItems": self.minimum,
            "maxItems": self.maximum,
            "minProperties": self.minimum,
            "maxProperties": self.maximum,
        }

    def check(self, value: Sized) -> None:
        if not self.minimum <= len(value) <= self.maximum:
            raise Refusal(self.code)


@frozen
class Pattern:
    """Text that as a whole matches a regular expression."""

    expression: re.Pattern[str]
    code: FieldCode = FieldCode.INVALID_FORMAT

    @property
    def schema(self) -> Schema:
        return {"pattern": f"^(?:{self.expression.pattern})$"}

    def check(self, value: str) -> None:
        if self.expression.fullmatch(value) is None:
            raise Refusal(self.code)


_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,29}", re.ASCII)


@frozen
class Decimal:
    """A whole number of up to 64 bits, from a string of decimal digits or, with `numbers`, from a JSON integer."""

    maximum: int
    format_code: FieldCode
    range_code: FieldCode
    numbers: bool = True

    @property
    def schema(self) -> Schema:
        digits = {"type": "string", "pattern": f"^(0|[1-9][0-9]{{0,{len(str(self.maximum)) - 1}}})$"}
        if not self.numbers:
            return digits
        return {"anyOf": [digits, {"type": "integer", "minimum": 0, "maximum": self.maximum}]}

    def read(self, value: object) -> int:
        told = whole(value)
        if type(told) is str:
            if _DECIMAL.fullmatch(told) is None:
                raise Refusal(self.format_code)
            number = int(told)
        elif type(told) is int and self.numbers:
            number = told
        else:
            raise Refusal(self.format_code if type(told) is float else FieldCode.INVALID_FORMAT)
        if number < 0:
            raise Refusal(self.format_code)
        if number > self.maximum:
            raise Refusal(self.range_code)
        return number


SNOWFLAKE: Final = Decimal(SNOWFLAKE_MAXIMUM, FieldCode.INVALID_SNOWFLAKE_FORMAT, FieldCode.SNOWFLAKE_OUT_OF_RANGE)

Snowflake = Annotated[int, SNOWFLAKE]
"""An id, at most 9223372036854775807."""

PermissionBits = Annotated[
    int, Decimal((1 << 63) - 1, FieldCode.INVALID_INTEGER_FORMAT, FieldCode.INTEGER_OUT_OF_INT64_RANGE)
]
"""A permission mask; requests may not set bit 63 (permissions.md, Masks)."""

FlagBits = Annotated[
    int, Decimal((1 << 64) - 1, FieldCode.INVALID_INTEGER_FORMAT, FieldCode.INTEGER_OUT_OF_INT64_RANGE, numbers=False)
]
"""An unsigned 64-bit mask, as decimal text (http.md, Validation)."""


class _Moment:
    """An ISO 8601 moment with its time zone; `zone` is used if none is given. `earliest_ms` is the earliest moment that
    is accepted."""

    schema: Final[Schema] = {"type": "string", "format": "date-time"}

    def __init__(self, zone: datetime.tzinfo | None = None, earliest_ms: int = 0) -> None:
        self._zone = zone
        self._earliest_ms = earliest_ms

    def read(self, value: object) -> int:
        if type(value) is not str:
            raise Refusal
        try:
            moment = read_moment(value)
        except ValueError:
            raise Refusal(FieldCode.INVALID_ISO_TIMESTAMP) from None
        if moment.tzinfo is None:
            if self._zone is None or len(value) <= _DATE_CHARACTERS:
                raise Refusal(FieldCode.INVALID_ISO_TIMESTAMP)
            moment = moment.replace(tzinfo=self._zone)
        milliseconds = round((moment - _EPOCH) / _MILLISECOND)
        if not self._earliest_ms <= milliseconds < _YEAR_10000_MS:  # what lies outside is no ISO 8601 again
            raise Refusal(FieldCode.INVALID_ISO_TIMESTAMP)
        return milliseconds


_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MILLISECOND: Final = datetime.timedelta(milliseconds=1)
_YEAR_1_MS: Final = -62_135_596_800_000
_YEAR_10000_MS: Final = 253_402_300_800_000
_DATE_CHARACTERS: Final = len("2015-01-01")

Timestamp = Annotated[int, _Moment()]
"""An ISO 8601 moment with a time zone, from 1970 to 9999 in UTC, held as Unix milliseconds."""

UtcTimestamp = Annotated[int, _Moment(datetime.UTC, _YEAR_1_MS)]
"""A moment of the years 1 to 9999 whose time zone may be missing; it then counts as UTC."""


# `dict[str, Any]`: the members are those of whichever body it is.
def named_members(body: Any) -> dict[str, Any]:
    """The members of a body that were sent, of those that tell absence apart."""
    values = {field.name: getattr(body, field.name) for field in attrs.fields(type(body))}
    return {name: value for name, value in values.items() if value is not OMITTED}


@frozen(kw_only=True)
class SudoFields:
    """To be inherited by the bodies of operations that ask for sudo mode; `Request.proof` makes a proof of them."""

    password: Annotated[str, Exact(), Length(1, 256)] | None = attrs.field(default=None, repr=False)
    mfa_method: Literal["totp", "webauthn"] | None = None
    mfa_code: Annotated[str, Exact(), Length(1, 32)] | None = attrs.field(default=None, repr=False)
    webauthn_response: PasskeyResponse | None = attrs.field(default=None, repr=False)
    webauthn_challenge: Annotated[str, Exact(), Length(1, 1_024)] | None = attrs.field(default=None, repr=False)
