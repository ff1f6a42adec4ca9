"""Changes to a settings file that keep what a person wrote there: values, order, comments, blank lines.

tomlkit knows a document with its white space. What it makes is judged before it counts: read again, it must say what
the old file said with the changes, and no line of comment may be missing.
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array, Comment, InlineTable, Item, Null, Table, Whitespace

from chat.config.loading import SETTINGS
from chat.errors import OperatorError

HEADING: Final = """\
# Settings of this instance. `chat config show` lists every setting with its meaning, its value and its origin.
# The server reads this file when it starts.

"""

HELP_WIDTH: Final = 110


def changed_file(text: str, changes: Mapping[str, object], path: Path) -> str:
    """The text of a settings file with these settings, by their dotted names; None takes a setting out.

    A setting that is new in the file stands below a comment with its meaning.

    :raises OperatorError: when the text is no TOML, or cannot be changed so without a loss.
    """
    try:
        document = tomlkit.parse(text)
        for name, value in changes.items():
            _put(document, name, value)
        made = tomlkit.dumps(document) if text else HEADING + tomlkit.dumps(document).lstrip()
        is_kept = tomllib.loads(made) == _merged(tomllib.loads(text), changes) and not _lost(text, made)
    except (TOMLKitError, tomllib.TOMLDecodeError, ValueError) as error:
        raise OperatorError(f"the settings file {path} is not TOML: {error}") from error
    if not is_kept:
        names = ", ".join(changes)
        raise OperatorError(f"{path} is laid out so that {names} cannot be written into it: write it there by hand")
    return made


def write_settings_file(path: Path, text: str, *, judge: Callable[[Path], object]) -> None:
    """Put the file in place of the one that is there: whole or not at all, for its owner alone.

    `judge` looks at the new one before; what it raises leaves the old one where it is.

    :raises OSError: when the disk does not take it.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        judge(draft)
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


# `dict[str, Any]`: TOML as it is read, sections and values side by side.
def _merged(content: dict[str, Any], changes: Mapping[str, object]) -> dict[str, Any]:
    """What the file is to say."""
    for name, value in changes.items():
        section, _, key = name.rpartition(".")
        if value is None:
            content.get(section, {}).pop(key, None) if section else content.pop(key, None)
        else:
            place = content.setdefault(section, {}) if section else content
            place[key] = list(value) if isinstance(value, tuple) else value
    return content


def _lost(text: str, made: str) -> Counter[str]:
    """Lines of comment that are no longer there."""
    return _comments(text) - _comments(made)


def _comments(text: str) -> Counter[str]:
    return Counter(line.strip() for line in text.splitlines() if line.strip().startswith("#"))


def _put(document: tomlkit.TOMLDocument, name: str, value: object) -> None:
    section, _, key = name.rpartition(".")
    place: Any = document
    if section:
        if section not in document:
            if value is None:
                return
            document.append(section, tomlkit.table())
        place = document[section]
    if value is None:
        if key in place:
            place.remove(key)
    elif key in place:
        _replace(place, key, value)
    else:
        item = tomlkit.item(list(value) if isinstance(value, tuple) else value)
        if isinstance(place, InlineTable):
            place[key] = item  # which has no room for a comment
            return
        _append(place, key, item)
        item.trivia.indent = "".join(f"# {line}\n" for line in _help_of(name))


def _help_of(name: str) -> Sequence[str]:
    import textwrap

    words = SETTINGS[name].declaration.help
    return textwrap.wrap(f"{words[:1].upper()}{words[1:]}.", HELP_WIDTH)


def _replace(place: Any, key: str, value: object) -> None:
    present = place[key]
    if isinstance(present, Array) and isinstance(value, (list, tuple)) and all(item in value for item in present):
        for item in value:  # what stands there keeps its lines and comments
            if item not in present:
                present.append(item)
    elif present != value or type(present.unwrap() if isinstance(present, Item) else present) is not type(value):
        place[key] = list(value) if isinstance(value, tuple) else value


def _append(place: Any, key: str, item: Item) -> None:
    """Add a setting behind the last one of its section, before comments that belong to what follows."""
    container: Container = place if isinstance(place, Container) else getattr(place, "value", place)
    body = getattr(container, "body", None)
    if body is None:  # dotted keys in several places
        place[key] = item
        return
    tables = [at for at, (_, each) in enumerate(body) if isinstance(each, Table | AoT)]
    end = tables[0] if tables else len(body)
    start = end
    while start and isinstance(body[start - 1][1], Comment | Whitespace | Null):
        start -= 1
    first = body[end][1] if tables else None
    if start == 0 or (first is not None and (not isinstance(first, Table) or first.is_super_table())):
        place.append(key, item)
        return
    tail = body[start:end]
    for at in range(start, end):
        body[at] = (None, Null())
    above = "" if first is None else "".join(each.as_string() for _, each in tail) + first.trivia.indent
    place.append(key, item)
    if first is None:
        body.extend(tail)
    else:
        first.trivia.indent = above if above.startswith(("\n", "\r\n")) else f"\n{above}"
