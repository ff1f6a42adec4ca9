"""What a person chose in a menu or wrote into a form, held against the component (interactions.md, Interactions)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from chat import wire
from chat.domain.interactions.command_options import READERS, OptionReading
from chat.domain.policy.component_trees import walk
from chat.errors import FieldError, InvalidFormBody
from chat.protocol.visible_text import without_nul
from chat.registries.components import MENUS
from chat.registries.error_codes import FieldCode
from chat.registries.interactions import ComponentType, OptionType

Component = Mapping[str, Any]

OPTION_OF_MENU: Final[Mapping[ComponentType, OptionType]] = {
    ComponentType.USER_SELECT: OptionType.USER,
    ComponentType.ROLE_SELECT: OptionType.ROLE,
    ComponentType.MENTIONABLE_SELECT: OptionType.MENTIONABLE,
    ComponentType.CHANNEL_SELECT: OptionType.CHANNEL,
}
"""Menus whose values are read as options of commands are."""

VALUE_CHARACTERS: Final = 4_000


def find_component(components: Sequence[Component], custom_id: object) -> Component:
    """The component that is used. Raises InvalidFormBody at `data.custom_id` for one that is not there or disabled."""
    for _, component in walk(components):
        if component.get("custom_id") == custom_id and custom_id is not None and not component.get("disabled"):
            return component
    raise InvalidFormBody.at("data.custom_id", FieldCode.INVALID_FORMAT)


def read_values(component: Component, sent: object, reading: OptionReading, path: str) -> list[str] | None:
    """The values that were chosen in a menu; None for a button.

    :raises InvalidFormBody: at `path`.
    """
    if component["type"] not in MENUS:
        return None
    values = sent if isinstance(sent, list) else []
    least = component.get("min_values", 1)
    if not least <= len(values) <= component.get("max_values", 1) or len({str(value) for value in values}) < len(
        values
    ):
        raise InvalidFormBody.at(path, FieldCode.INVALID_FORMAT)
    allowed = {option["value"] for option in component.get("options", ())}
    kind = OPTION_OF_MENU.get(component["type"])
    for index, value in enumerate(values):
        if kind is None:
            wrong = None if isinstance(value, str) and value in allowed else FieldCode.INVALID_FORMAT
        else:
            wrong = READERS[kind](reading, value, {**component, "type": kind})
        if wrong is not None:
            raise InvalidFormBody.at(f"{path}.{index}", wrong)
    return [str(value) for value in values]


def read_form(form: Sequence[Component], sent: object, reading: OptionReading) -> list[wire.FilledPart]:
    """A form as it was filled in, in the shape in which the application sent it.

    `sent` are the parts that have a `custom_id`, alone or in the shape of the form.

    :raises InvalidFormBody: below `data.components`.
    """
    given = {part["custom_id"]: part for part in _filled(sent)}
    wrong: list[FieldError] = []
    read = [_read_part(component, given, reading, wrong) for component in form]
    if wrong:
        raise InvalidFormBody(wrong)
    return read


def _filled(sent: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(sent, list):
        for part in sent:
            yield from _filled(part)
    elif isinstance(sent, dict):
        if isinstance(sent.get("custom_id"), str):
            yield sent
        yield from _filled(sent.get("components"))
        yield from _filled(sent.get("component"))


def _read_part(
    component: Component, given: Mapping[str, Mapping[str, Any]], reading: OptionReading, wrong: list[FieldError]
) -> wire.FilledPart:
    told: wire.FilledPart = {"type": component["type"], "id": component["id"]}
    if "components" in component:
        told["components"] = [_read_part(each, given, reading, wrong) for each in component["components"]]
    if "component" in component:
        told["component"] = _read_part(component["component"], given, reading, wrong)
    custom_id = component.get("custom_id")
    if custom_id is None:
        return told
    told["custom_id"] = custom_id
    part, path = given.get(custom_id, {}), f"data.components.{custom_id}"
    if component["type"] == ComponentType.TEXT_INPUT:
        told["value"] = _read_text(component, part.get("value"), path, wrong)
    elif not part.get("values") and component.get("required") is False:
        told["values"] = []
    else:
        try:
            told["values"] = read_values(component, part.get("values"), reading, path) or []
        except InvalidFormBody as error:
            wrong += error.errors
    return told


def _read_text(component: Component, value: object, path: str, wrong: list[FieldError]) -> str:
    text = without_nul(value) if isinstance(value, str) else ""
    if not text:
        if component.get("required", True):
            wrong.append(FieldError(path, FieldCode.BASE_TYPE_REQUIRED))
    elif not component.get("min_length", 0) <= len(text) <= component.get("max_length", VALUE_CHARACTERS):
        wrong.append(FieldError(path, FieldCode.STRING_LENGTH_INVALID))
    return text
