"""Components of messages and forms: read by the table of their kinds, judged as a tree, and as the wire has them
(interactions.md, Components).

They are stored as they are shown, but for media, whose addresses depend on the moment: `attachment://NAME` stands for a
file of the same message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast
from urllib.parse import urlsplit

from chat import wire
from chat.domain.policy.embeds import OWN_FILE, Addresses
from chat.errors import FieldError, InvalidFormBody
from chat.media.delivery import file_name
from chat.protocol.visible_text import without_nul
from chat.protocol.whole_numbers import whole
from chat.registries.channel_types import ChannelType
from chat.registries.components import (
    AT_THE_TOP,
    COMPONENTS_OF_MESSAGE,
    DEFAULTS_OF,
    ID_MAXIMUM,
    IN_FORMS_ALONE,
    KINDS,
    MENUS,
    NOT_IN_FORMS,
    TEXT_OF_MESSAGE,
    ComponentMember,
    ComponentPlace,
    Held,
    Said,
)
from chat.registries.error_codes import FieldCode
from chat.registries.interactions import ButtonStyle, ComponentType
from chat.snowflake import MAXIMUM
from chat.store.messages.attachments import Attachment

StoredComponent = dict[str, Any]
"""A component, or an object in one, as it is stored. A row of `KINDS` says which members it has, so no type does."""

Component = Mapping[str, Any]
Components = Sequence[Component]

COMPONENT_TYPES: Final = frozenset(map(int, ComponentType))
CHANNEL_TYPES: Final = frozenset(map(int, ChannelType))

ANYTHING: Final = Held(frozenset(ComponentType), 0, COMPONENTS_OF_MESSAGE)


class _Unreadable(Exception):
    """A value does not fit its member."""

    def __init__(self, code: FieldCode = FieldCode.INVALID_FORMAT) -> None:
        super().__init__(code)
        self.code = code


def read_components(value: object) -> tuple[StoredComponent, ...]:
    """Components as they are stored, out of what was sent. Where they may stand is not asked
    (`placed_components`); members that their kind does not have are ignored.

    :raises InvalidFormBody: for every member that is wrong, by its path in the list.
    """
    reading = _Reading()
    found = reading.components(value, "", ANYTHING)
    if reading.wrong:
        raise InvalidFormBody(reading.wrong)
    return tuple(found)


class _Reading:
    """Reads one tree and collects what is wrong with it."""

    def __init__(self) -> None:
        self.wrong: list[FieldError] = []

    def refuse(self, path: str, code: FieldCode) -> None:
        self.wrong.append(FieldError(path or "root", code))

    def components(self, value: object, path: str, held: Held) -> list[StoredComponent]:
        if not isinstance(value, list):
            self.refuse(path, FieldCode.INVALID_FORMAT)
            return []
        if not held.least <= len(value) <= held.most:
            self.refuse(path, FieldCode.TOO_MANY_COMPONENTS if value else FieldCode.BASE_TYPE_REQUIRED)
            return []
        read = (self.component(each, _below(path, index), held) for index, each in enumerate(value))
        return [each for each in read if each is not None]

    def component(self, value: object, path: str, held: Held) -> StoredComponent | None:
        number = whole(value.get("type")) if isinstance(value, dict) else None
        if not isinstance(value, dict) or type(number) is not int or number not in COMPONENT_TYPES:
            self.refuse(_below(path, "type") if isinstance(value, dict) else path, FieldCode.INVALID_FORMAT)
            return None
        kind = ComponentType(number)
        if kind not in held.kinds:
            self.refuse(_below(path, "type"), FieldCode.COMPONENT_TYPE_NOT_ALLOWED_HERE)
            return None
        shown: StoredComponent = {"type": kind.value}
        wrong_before = len(self.wrong)
        own_id = whole(value.get("id"))
        if type(own_id) is int and 0 < own_id <= ID_MAXIMUM:
            shown["id"] = own_id
        elif own_id not in (None, 0):
            self.refuse(_below(path, "id"), FieldCode.INVALID_FORMAT)
        shown |= self.members(value, path, KINDS[kind].members)
        for name, inner in KINDS[kind].holds.items():
            if inner.single:
                one = self.component(value.get(name), _below(path, name), inner)
                if one is not None:
                    shown[name] = one
            else:
                shown[name] = self.components(value.get(name), _below(path, name), inner)
        if len(self.wrong) == wrong_before:
            for name, code in _wrong_together(kind, shown):
                self.refuse(_below(path, name), code)
        return shown

    def members(self, value: StoredComponent, path: str, members: Mapping[str, ComponentMember]) -> StoredComponent:
        shown: StoredComponent = {}
        for name, member in members.items():
            told = value.get(name)
            if told is None or (told == "" and not member.required):
                if member.required:
                    self.refuse(_below(path, name), FieldCode.BASE_TYPE_REQUIRED)
                elif member.default is not None and member.default is not False:
                    shown[name] = member.default
                continue
            if member.said is Said.OBJECTS:
                shown[name] = self.objects(told, _below(path, name), member)
                continue
            try:
                shown[name] = READERS[member.said](told, member)
            except _Unreadable as error:
                self.refuse(_below(path, name), error.code)
        return shown

    def objects(self, value: object, path: str, member: ComponentMember) -> list[StoredComponent]:
        if not isinstance(value, list) or not member.least <= len(value) <= member.most:
            self.refuse(path, FieldCode.INVALID_FORMAT)
            return []
        found = []
        for index, each in enumerate(value):
            here = _below(path, index)
            if isinstance(each, dict):
                found.append(self.members(each, here, member.of or {}))
            else:
                self.refuse(here, FieldCode.INVALID_FORMAT)
        return found


def _below(path: str, name: object) -> str:
    return f"{path}.{name}".strip(".")


def _text(value: object, member: ComponentMember) -> str:
    if type(value) is not str:
        raise _Unreadable
    text = without_nul(value)
    if len(text) > member.most:
        raise _Unreadable(FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
    if len(text) < member.least:
        raise _Unreadable(FieldCode.BASE_TYPE_REQUIRED)
    return text


def _id(value: object, _: ComponentMember) -> str:
    number = whole(value)
    if isinstance(number, str) and _ID.fullmatch(number):
        number = int(number)
    if type(number) is not int or not 0 < number <= MAXIMUM:
        raise _Unreadable
    return str(number)


def _truth(value: object, _: ComponentMember) -> bool:
    if type(value) is not bool:
        raise _Unreadable
    return value


def _number(value: object, member: ComponentMember) -> int:
    number = whole(value)
    if type(number) is not int:
        raise _Unreadable
    if not member.least <= number <= member.most or (member.among is not None and number not in member.among):
        raise _Unreadable(FieldCode.VALUE_MUST_BE_INTEGER_IN_RANGE)
    return number


def _address(value: object, member: ComponentMember) -> str:
    address = _text(value, member)
    try:
        parts = urlsplit(address)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or any(character <= " " or character == "\x7f" for character in address):
        raise _Unreadable
    return address


def _media(value: object, member: ComponentMember) -> dict[str, str]:
    url = value.get("url") if isinstance(value, dict) else None
    if type(url) is str and url.startswith(OWN_FILE) and len(OWN_FILE) < len(url) <= member.most:
        return {"url": OWN_FILE + file_name(url.removeprefix(OWN_FILE))}
    return {"url": _address(url, member)}


def _emoji(value: object, member: ComponentMember) -> StoredComponent:
    """An emoji of a guild by its id, or a character; an id is written as text, as everywhere."""
    if not isinstance(value, dict):
        raise _Unreadable
    name, emoji_id = value.get("name"), value.get("id")
    if emoji_id not in (None, ""):
        shown = {"id": _id(emoji_id, member), "name": name if type(name) is str else None}
        return {**shown, "animated": True} if value.get("animated") is True else shown
    if type(name) is not str or not 0 < len(name) <= EMOJI_CHARACTERS:
        raise _Unreadable
    return {"id": None, "name": without_nul(name)}


_ID: Final = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
EMOJI_CHARACTERS: Final = 32


def _channel_types(value: object, member: ComponentMember) -> list[int]:
    if not isinstance(value, list) or len(value) > member.most:
        raise _Unreadable
    numbers = [whole(each) for each in value]
    if not all(type(number) is int and number in CHANNEL_TYPES for number in numbers):
        raise _Unreadable
    return [cast(int, number) for number in dict.fromkeys(numbers)]


Reader = Callable[[object, ComponentMember], Any]

READERS: Final[Mapping[Said, Reader]] = {
    Said.TEXT: _text,
    Said.ID: _id,
    Said.TRUTH: _truth,
    Said.NUMBER: _number,
    Said.ADDRESS: _address,
    Said.MEDIA: _media,
    Said.EMOJI: _emoji,
    Said.CHANNEL_TYPES: _channel_types,
}

Wrong = Iterator[tuple[str, FieldCode]]


def _wrong_together(kind: ComponentType, shown: Component) -> Wrong:
    """What is wrong with members that are good by themselves."""
    if kind is ComponentType.BUTTON:
        yield from _wrong_button(shown)
    elif kind is ComponentType.ACTION_ROW:
        kinds = {each["type"] for each in shown["components"]}
        if len(shown["components"]) > 1 and kinds != {ComponentType.BUTTON}:
            yield "components", FieldCode.TOO_MANY_COMPONENTS
    elif kind is ComponentType.TEXT_INPUT:
        if shown.get("min_length", 0) > shown.get("max_length", 4_000):
            yield "min_length", FieldCode.MINIMUM_ABOVE_MAXIMUM
    elif kind is ComponentType.FILE:
        if not shown.get("file", {}).get("url", OWN_FILE).startswith(OWN_FILE):
            yield "file", FieldCode.COMPONENT_FILE_MISSING
    elif kind in MENUS:
        yield from _wrong_menu(kind, shown)


def _wrong_button(shown: Component) -> Wrong:
    leads = shown.get("style") == ButtonStyle.LINK
    if "style" in shown:
        wanted, unwanted = ("url", "custom_id") if leads else ("custom_id", "url")
        if wanted not in shown:
            yield wanted, FieldCode.BASE_TYPE_REQUIRED
        if unwanted in shown:
            yield unwanted, FieldCode.NOT_FOR_THIS_TYPE
    if not shown.get("label") and "emoji" not in shown:
        yield "label", FieldCode.BASE_TYPE_REQUIRED


def _wrong_menu(kind: ComponentType, shown: Component) -> Wrong:
    least, most = shown.get("min_values", 1), shown.get("max_values", 1)
    options = shown.get("options", ())
    if least > most or (options and least > len(options)):
        yield "min_values", FieldCode.MINIMUM_ABOVE_MAXIMUM
    values = [option.get("value") for option in options]
    for index, value in enumerate(values):
        if value in values[:index]:
            yield f"options.{index}.value", FieldCode.NAME_NOT_UNIQUE
    chosen = [option for option in options if option.get("default")]
    defaults = shown.get("default_values", ())
    if len(chosen) > most:
        yield "options", FieldCode.TOO_MANY_COMPONENTS
    if len(defaults) > most:
        yield "default_values", FieldCode.TOO_MANY_COMPONENTS
    for index, default in enumerate(defaults):
        if default.get("type") not in DEFAULTS_OF[kind]:
            yield f"default_values.{index}", FieldCode.INVALID_FORMAT


# A tree as a whole


def placed_components(components: Components, place: ComponentPlace, path: str = "components") -> tuple[Component, ...]:
    """The tree with an `id` at each component: its own, or the next number that is free.

    :raises InvalidFormBody: COMPONENT_TYPE_NOT_ALLOWED_HERE, TOO_MANY_COMPONENTS, CUSTOM_ID_NOT_UNIQUE, NAME_NOT_UNIQUE
        (an `id`), CONTENT_EXCEEDS_MAX_LENGTH.
    """
    wrong = [FieldError(_below(path, here), code) for here, code in _wrong_in_place(components, place)]
    every = list(walk(components))
    if len(every) > COMPONENTS_OF_MESSAGE:
        wrong.append(FieldError(path, FieldCode.TOO_MANY_COMPONENTS))
    if place is not ComponentPlace.FORM and sum(map(len, texts_of_components(components))) > TEXT_OF_MESSAGE:
        wrong.append(FieldError(path, FieldCode.CONTENT_EXCEEDS_MAX_LENGTH))
    for member, code in (("custom_id", FieldCode.CUSTOM_ID_NOT_UNIQUE), ("id", FieldCode.NAME_NOT_UNIQUE)):
        seen: set[object] = set()
        for here, component in every:
            value = component.get(member)
            if value is not None and value in seen:
                wrong.append(FieldError(_below(_below(path, here), member), code))
            seen.add(value)
    if wrong:
        raise InvalidFormBody(wrong)
    free = _free_ids({component["id"] for _, component in every if "id" in component})
    return tuple(_numbered(component, free) for component in components)


def _wrong_in_place(components: Components, place: ComponentPlace) -> Wrong:
    held = AT_THE_TOP[place]
    if not held.least <= len(components) <= held.most:
        yield "", FieldCode.TOO_MANY_COMPONENTS if components else FieldCode.BASE_TYPE_REQUIRED
    for index, component in enumerate(components):
        if component["type"] not in held.kinds:
            yield f"{index}.type", FieldCode.COMPONENT_TYPE_NOT_ALLOWED_HERE
    for here, component in walk(components):
        if component["type"] in (NOT_IN_FORMS if place is ComponentPlace.FORM else IN_FORMS_ALONE):
            yield f"{here}.type", FieldCode.COMPONENT_TYPE_NOT_ALLOWED_HERE


def walk(components: Iterable[Component], path: str = "") -> Iterator[tuple[str, Component]]:
    """Every component with its path, each before those that it holds."""
    for index, component in enumerate(components):
        here = _below(path, index)
        yield here, component
        for name, held in KINDS[ComponentType(component["type"])].holds.items():
            if held.single and name in component:
                inner = component[name]
                yield _below(here, name), inner
            elif not held.single:
                yield from walk(component[name], _below(here, name))


def _free_ids(taken: set[int]) -> Iterator[int]:
    number = 0
    while True:
        number += 1
        if number not in taken:
            yield number


def _numbered(component: Component, free: Iterator[int]) -> StoredComponent:
    numbered = {"type": component["type"], "id": component.get("id") or next(free), **component}
    for name, held in KINDS[ComponentType(component["type"])].holds.items():
        if held.single:
            numbered[name] = _numbered(component[name], free)
        else:
            numbered[name] = [_numbered(each, free) for each in component[name]]
    return numbered


def texts_of_components(components: Components) -> Iterator[str]:
    """Every text that people read in components."""
    for _, component in walk(components):
        for name in ("label", "content", "placeholder", "description", "value"):
            if isinstance(component.get(name), str):
                yield component[name]
        for part in (*component.get("options", ()), *component.get("items", ())):
            yield from (part[name] for name in ("label", "description") if name in part)


def addresses_of_components(components: Components) -> Iterator[str]:
    """Every address that components lead to or show something from, `attachment://` among them."""
    for _, component in walk(components):
        if "url" in component:
            yield component["url"]
        yield from (media["url"] for media in _media_of(component))


def _media_of(component: Component) -> Iterator[Mapping[str, str]]:
    for name in ("media", "file"):
        if name in component:
            yield component[name]
    yield from (item["media"] for item in component.get("items", ()))


def require_own_files(components: Components, files: Iterable[Attachment]) -> None:
    """Check that every `attachment://NAME` is a file of the message. Raises InvalidFormBody, COMPONENT_FILE_MISSING."""
    names = {OWN_FILE + file.filename for file in files}
    for here, component in walk(components):
        if any(media["url"].startswith(OWN_FILE) and media["url"] not in names for media in _media_of(component)):
            raise InvalidFormBody.at(f"components.{here}", FieldCode.COMPONENT_FILE_MISSING)


def is_interactive(component: Component) -> bool:
    """Whether a person can press it, or choose in it: what has a `custom_id`."""
    return "custom_id" in component


# As the wire has them


def component_objects(stored: Components, files: Sequence[Attachment], addresses: Addresses) -> list[wire.Component]:
    """Components to be shown; `files` are the attachments of their message."""
    return [cast("wire.Component", _shown(component, files, addresses)) for component in stored]


def _shown(component: Component, files: Sequence[Attachment], addresses: Addresses) -> StoredComponent:
    shown = dict(component)
    for name, held in KINDS[ComponentType(component["type"])].holds.items():
        if held.single:
            shown[name] = _shown(component[name], files, addresses)
        else:
            shown[name] = component_objects(component[name], files, addresses)
    for name in ("media", "file"):
        if name in component:
            shown[name] = _media_object(component[name], files, addresses)
    if component["type"] == ComponentType.FILE:
        shown |= _of_file(component["file"]["url"], files)
    if "items" in component:
        shown["items"] = [
            {**item, "media": _media_object(item["media"], files, addresses)} for item in component["items"]
        ]
    return shown


def _of_file(url: str, files: Sequence[Attachment]) -> StoredComponent:
    file = _named(url, files)
    return {} if file is None else {"name": file.filename, "size": file.size}


def _named(url: str, files: Sequence[Attachment]) -> Attachment | None:
    return next((file for file in files if OWN_FILE + file.filename == url), None)


def _media_object(media: Mapping[str, str], files: Sequence[Attachment], addresses: Addresses) -> StoredComponent:
    url = media["url"]
    if not url.startswith(OWN_FILE):
        return {**media, "proxy_url": addresses.external(url)}
    file = _named(url, files)
    if file is None:
        return dict(media)
    address = addresses.attachment(file)
    shown: StoredComponent = {
        "url": address,
        "proxy_url": address,
        "content_type": file.content_type,
        "attachment_id": str(file.id),
    }
    if file.width is not None and file.height is not None:
        shown |= {"width": file.width, "height": file.height}
    if file.placeholder is not None:
        shown["placeholder"] = file.placeholder
    return shown
