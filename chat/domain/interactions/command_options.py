"""What a person fills into a command, held against what the command declares (interactions.md, Interactions)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import attrs

from chat import wire
from chat.classes import define
from chat.errors import FieldError, InvalidFormBody
from chat.protocol.payload import parse_snowflake
from chat.protocol.whole_numbers import whole
from chat.registries.error_codes import FieldCode
from chat.registries.interactions import HOLDING, NAMING, OPTION_TEXT_CHARACTERS, SAFE_INTEGER, OptionType
from chat.store.messages.attachments import Attachment

Option = Mapping[str, Any]
Found = Callable[[int], bool]

FILE_NUMBER: Final = re.compile(r"[0-9]{1,3}", re.ASCII)


@define
class NamedIds:
    """The ids that options name: what the application is told of as `resolved`."""

    users: list[int] = attrs.field(factory=list)
    roles: list[int] = attrs.field(factory=list)
    channels: list[int] = attrs.field(factory=list)
    files: list[Attachment] = attrs.field(factory=list)


@define(kw_only=True)
class OptionReading:
    """Reads the options of one invocation. `is_user`, `is_role` tell whether there is such a thing here, and
    `channel_type` of which type a channel is that the person sees; None for others. `files` came with the invocation.
    While a person types (`typed`) nothing has to be there yet but the one option that is `focused`, and what is typed
    there may be anything."""

    is_user: Found
    is_role: Found
    channel_type: Callable[[int], int | None]
    files: Sequence[Attachment] = ()
    typed: bool = False
    named: NamedIds = attrs.field(factory=NamedIds)
    focused: int = attrs.field(default=0, init=False)
    wrong: list[FieldError] = attrs.field(factory=list)

    def read(self, sent: object, declared: Sequence[Option]) -> list[wire.FilledOption]:
        """The options as the application is told of them.

        :raises InvalidFormBody: for each that is not declared, missing, or of another kind, below `data.options`; below
            `files` for a file that no option names.
        """
        read = self._options(sent, declared, "data.options")
        if self.typed and self.focused != 1:
            self._refuse("data.options", FieldCode.BASE_TYPE_REQUIRED)
        for number, file in enumerate(self.files):
            if not self.wrong and file not in self.named.files:
                self._refuse(f"files.{number}", FieldCode.NOT_FOR_THIS_TYPE)
        if self.wrong:
            raise InvalidFormBody(self.wrong)
        return read

    def _refuse(self, path: str, code: FieldCode = FieldCode.INVALID_FORMAT) -> None:
        self.wrong.append(FieldError(path, code))

    def _options(self, sent: object, declared: Sequence[Option], path: str) -> list[wire.FilledOption]:
        if not isinstance(sent, list) or len(sent) > max(len(declared), 1):
            self._refuse(path)
            return []
        known = {option["name"]: option for option in declared}
        holds = bool(declared) and declared[0]["type"] in HOLDING
        told: list[wire.FilledOption] = []
        names: set[str] = set()
        for index, each in enumerate(sent):
            here = f"{path}.{index}"
            name = each.get("name") if isinstance(each, dict) else None
            option = known.get(name) if isinstance(name, str) else None
            if option is None or name in names or each.get("type", option["type"]) != option["type"]:
                self._refuse(here, FieldCode.NOT_FOR_THIS_TYPE)
                continue
            names.add(option["name"])
            told.append(self._option(each, option, here))
        if holds and len(told) != 1:
            self._refuse(path, FieldCode.BASE_TYPE_REQUIRED)
        if not holds and not self.typed:
            for option in declared:
                if option.get("required") and option["name"] not in names:
                    self._refuse(f"{path}.{option['name']}", FieldCode.BASE_TYPE_REQUIRED)
        return told

    def _option(self, sent: Mapping[str, Any], option: Option, path: str) -> wire.FilledOption:
        told: wire.FilledOption = {"name": option["name"], "type": option["type"]}
        kind = OptionType(option["type"])
        if kind in HOLDING:
            told["options"] = self._options(sent.get("options", []), option.get("options", ()), f"{path}.options")
            return told
        if self.typed and sent.get("focused") is True:
            self.focused += 1
            if not option.get("autocomplete") or type(sent.get("value")) is not str:
                self._refuse(path)
            return {**told, "value": str(sent.get("value"))[:OPTION_TEXT_CHARACTERS], "focused": True}
        value = whole(sent.get("value"))
        refused = READERS[kind](self, value, option)
        if refused is not None:
            self._refuse(f"{path}.value", refused)
        elif option.get("choices") and value not in [choice["value"] for choice in option["choices"]]:
            self._refuse(f"{path}.value")
        elif kind is OptionType.ATTACHMENT:
            value = self.named.files[-1].id
        told["value"] = str(value) if kind in NAMING else cast("wire.OptionValue", value)
        return told

    def text(self, value: object, option: Option) -> FieldCode | None:
        if type(value) is not str:
            return FieldCode.INVALID_FORMAT
        if not option.get("min_length", 0) <= len(value) <= option.get("max_length", OPTION_TEXT_CHARACTERS):
            return FieldCode.STRING_LENGTH_INVALID
        return None

    def number(self, value: object, option: Option) -> FieldCode | None:
        kinds = (int,) if option["type"] == OptionType.INTEGER else (int, float)
        if type(value) not in kinds or not isinstance(value, int | float):
            return FieldCode.INVALID_FORMAT
        if not option.get("min_value", -SAFE_INTEGER) <= value <= option.get("max_value", SAFE_INTEGER):
            return FieldCode.VALUE_MUST_BE_INTEGER_IN_RANGE
        return None

    def truth(self, value: object, option: Option) -> FieldCode | None:
        return None if type(value) is bool else FieldCode.INVALID_FORMAT

    def user(self, value: object, option: Option) -> FieldCode | None:
        return self._take(value, self.is_user, self.named.users)

    def role(self, value: object, option: Option) -> FieldCode | None:
        return self._take(value, self.is_role, self.named.roles)

    def mentionable(self, value: object, option: Option) -> FieldCode | None:
        return None if self.role(value, option) is None else self.user(value, option)

    def channel(self, value: object, option: Option) -> FieldCode | None:
        allowed = option.get("channel_types")

        def is_allowed(channel_id: int) -> bool:
            kind = self.channel_type(channel_id)
            return kind is not None and (not allowed or kind in allowed)

        return self._take(value, is_allowed, self.named.channels)

    def attachment(self, value: object, option: Option) -> FieldCode | None:
        """The number of a file, as text."""
        number = int(value) if isinstance(value, str) and FILE_NUMBER.fullmatch(value) else len(self.files)
        if number >= len(self.files):
            return FieldCode.COMPONENT_FILE_MISSING
        self.named.files.append(self.files[number])
        return None

    def _take(self, value: object, is_there: Found, named: list[int]) -> FieldCode | None:
        told = parse_snowflake(value)
        if told is None:
            return FieldCode.INVALID_SNOWFLAKE_FORMAT
        if not is_there(told):
            return FieldCode.INVALID_SNOWFLAKE
        named.append(told)
        return None


Reader = Callable[[OptionReading, object, Option], FieldCode | None]

READERS: Final[Mapping[OptionType, Reader]] = {
    OptionType.STRING: OptionReading.text,
    OptionType.INTEGER: OptionReading.number,
    OptionType.NUMBER: OptionReading.number,
    OptionType.BOOLEAN: OptionReading.truth,
    OptionType.USER: OptionReading.user,
    OptionType.CHANNEL: OptionReading.channel,
    OptionType.ROLE: OptionReading.role,
    OptionType.MENTIONABLE: OptionReading.mentionable,
    OptionType.ATTACHMENT: OptionReading.attachment,
}
