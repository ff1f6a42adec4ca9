"""What a command may be, beyond the form of each member: names, which members go with which type, how options lie in
each other (interactions.md, Application commands).

Commands and options are plain objects here, as the wire shows them: without the members that were not given.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypedDict

from chat import wire
from chat.classes import frozen
from chat.errors import FieldError, InvalidFormBody
from chat.registries.error_codes import FieldCode
from chat.registries.interactions import (
    CHOICE_VALUE_CHARACTERS,
    COMMAND_CHARACTERS,
    COMMAND_NAME_CHARACTERS,
    HOLDING,
    OPTION_MEMBERS,
    SAFE_INTEGER,
    CommandType,
    OptionType,
)

Option = Mapping[str, Any]

_MARKS: Final = frozenset("-_'")
_CATEGORIES: Final = frozenset({"Ll", "Lm", "Lo", "Nd", "Nl", "No", "Mn", "Mc"})
"""Letters that have no upper case or are lower case, digits, and the signs that many scripts put on letters."""

_VALUES: Final[Mapping[OptionType, tuple[type, ...]]] = {
    OptionType.STRING: (str,),
    OptionType.INTEGER: (int,),
    OptionType.NUMBER: (int, float),
}


class CommandMembers(TypedDict, total=False):
    """What a body says of a command, in the members of the wire object; a change gives some of them."""

    type: int
    name: str
    name_localizations: wire.Localizations | None
    description: str
    description_localizations: wire.Localizations | None
    options: list[wire.CommandOption] | None
    default_member_permissions: str | None
    nsfw: bool
    contexts: list[int] | None
    integration_types: list[int]


@frozen
class CommandDraft:
    """A command as it is registered; `body` has the members of the wire object that `Command.body` holds."""

    type: int
    name: str
    body: Mapping[str, Any]


def require_command(draft: CommandDraft) -> None:
    """Check a command as a whole.

    :raises InvalidFormBody: for every member that is wrong.
    """
    wrong = list(_wrong(draft))
    if wrong:
        raise InvalidFormBody([FieldError(path, code) for path, code in wrong])


def is_typed_name(name: str) -> bool:
    """Whether a command or an option can be typed by this name: lower-case letters, digits, `-`, `_` and `'` of any
    script, 1 to 32 of them."""
    return 1 <= len(name) <= COMMAND_NAME_CHARACTERS and all(
        character in _MARKS or (unicodedata.category(character) in _CATEGORIES and character == character.lower())
        for character in name
    )


Wrong = Iterator[tuple[str, FieldCode]]


def _wrong(draft: CommandDraft) -> Wrong:
    body = draft.body
    options: Sequence[Option] = body.get("options", ())
    if draft.type == CommandType.CHAT_INPUT:
        yield from _wrong_names("", draft.name, body.get("name_localizations"))
        if not body["description"]:
            yield "description", FieldCode.BASE_TYPE_REQUIRED
        yield from _wrong_options(options, "options", frozenset(OptionType))
    elif body["description"] or options:
        yield ("options" if options else "description"), FieldCode.COMMAND_WITHOUT_DESCRIPTION
    if sum(map(len, _texts(draft.name, body))) > COMMAND_CHARACTERS:
        yield "options", FieldCode.COMMAND_TOO_LARGE


def _wrong_names(path: str, name: str, translated: Mapping[str, str] | None) -> Wrong:
    if not is_typed_name(name):
        yield f"{path}name", FieldCode.COMMAND_NAME_INVALID
    for language, text in (translated or {}).items():
        if not is_typed_name(text):
            yield f"{path}name_localizations.{language}", FieldCode.COMMAND_NAME_INVALID


def _wrong_options(options: Sequence[Option], path: str, allowed: frozenset[OptionType]) -> Wrong:
    """Options that stand beside each other: either all of them hold others, or none does."""
    holds = bool(options) and options[0]["type"] in HOLDING
    names: set[str] = set()
    optional = False
    for index, option in enumerate(options):
        here = f"{path}.{index}"
        kind = OptionType(option["type"])
        if kind not in allowed or (kind in HOLDING) is not holds:
            yield f"{here}.type", FieldCode.OPTION_TYPE_NOT_ALLOWED_HERE
            continue
        if option["name"] in names:
            yield f"{here}.name", FieldCode.NAME_NOT_UNIQUE
        names.add(option["name"])
        if optional and option.get("required"):
            yield f"{here}.required", FieldCode.REQUIRED_OPTIONS_FIRST
        optional = optional or not option.get("required")
        yield from _wrong_option(option, kind, here)


def _wrong_option(option: Option, kind: OptionType, path: str) -> Wrong:
    yield from _wrong_names(f"{path}.", option["name"], option.get("name_localizations"))
    for member, kinds in OPTION_MEMBERS.items():
        if option.get(member) and kind not in kinds:
            yield f"{path}.{member}", FieldCode.NOT_FOR_THIS_TYPE
    if option.get("autocomplete") and option.get("choices"):
        yield f"{path}.choices", FieldCode.NOT_FOR_THIS_TYPE
    if kind in HOLDING:
        below = frozenset({OptionType.SUB_COMMAND}) if kind is OptionType.SUB_COMMAND_GROUP else _TAKING_VALUES
        yield from _wrong_options(option.get("options", ()), f"{path}.options", below)
        if kind is OptionType.SUB_COMMAND_GROUP and not option.get("options"):
            yield f"{path}.options", FieldCode.BASE_TYPE_REQUIRED
    yield from _wrong_bounds(option, kind, path)
    if kind in _VALUES:
        yield from wrong_choices(option.get("choices", ()), kind, f"{path}.choices")


_TAKING_VALUES: Final = frozenset(OptionType) - HOLDING


def _wrong_bounds(option: Option, kind: OptionType, path: str) -> Wrong:
    for least, most in (("min_value", "max_value"), ("min_length", "max_length")):
        if option.get(least) is not None and option.get(most) is not None and option[least] > option[most]:
            yield f"{path}.{least}", FieldCode.MINIMUM_ABOVE_MAXIMUM
    for member in ("min_value", "max_value"):
        value = option.get(member)
        if value is None or kind not in OPTION_MEMBERS[member]:
            continue
        if (kind is OptionType.INTEGER and not isinstance(value, int)) or abs(value) > SAFE_INTEGER:
            yield f"{path}.{member}", FieldCode.VALUE_MUST_BE_INTEGER_IN_RANGE


def wrong_choices(choices: Sequence[Mapping[str, Any]], kind: OptionType, path: str) -> Wrong:
    """What is wrong with choices for an option of that type: text, whole numbers or numbers, each name once."""
    names: set[str] = set()
    for index, choice in enumerate(choices):
        value: Any = choice["value"]
        if type(value) not in _VALUES[kind]:
            yield f"{path}.{index}.value", FieldCode.INVALID_FORMAT
        elif isinstance(value, str):
            if len(value) > CHOICE_VALUE_CHARACTERS:
                yield f"{path}.{index}.value", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH
        elif abs(value) > SAFE_INTEGER:
            yield f"{path}.{index}.value", FieldCode.VALUE_MUST_BE_INTEGER_IN_RANGE
        if choice["name"] in names:
            yield f"{path}.{index}.name", FieldCode.NAME_NOT_UNIQUE
        names.add(choice["name"])


def texts_of_command(draft: CommandDraft) -> Iterator[str]:
    """What people read of a command: the words that the blocklists judge."""
    return _texts(draft.name, draft.body)


def _texts(name: str, body: Mapping[str, Any]) -> Iterator[str]:
    yield name
    yield body.get("description", "")
    for option in body.get("options", ()):
        yield from _texts(option["name"], option)
    for choice in body.get("choices", ()):
        yield choice["name"]
        if isinstance(choice["value"], str):
            yield choice["value"]
