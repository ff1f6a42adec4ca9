"""Tables of cases of strangers (`spec_fixtures/field/*.json`): what is sent, and what must come.

A row names its `case`, says what is sent (`to`, `args`, `json`, `files`) and what comes of it: the `status`, the
`answer`, what is `shown` of the message afterwards, `texts` that stand somewhere in it, and `matches` of its members
with regular expressions. What a row does not say is not looked at: an object has those members at least, a list has
exactly those items.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import chat

TABLES: Final = Path(chat.__file__).parents[1] / "spec_fixtures" / "field"
_LONG: Final = re.compile(r"\$L(\d+)")


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a table. `$L5000` is a text of 5,000 letters L."""
    text = _LONG.sub(lambda found: "L" * int(found[1]), (TABLES / f"{name}.json").read_text())
    table: list[dict[str, Any]] = json.loads(text)
    return table


def differences(expected: object, found: object, path: str = "") -> Iterator[str]:
    """Where something is not as expected, one line each."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name, value in expected.items():
            where = f"{path}.{name}".lstrip(".")
            if name in found:
                yield from differences(value, found[name], where)
            else:
                yield f"{where} is missing"
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{path}.{number}".lstrip("."))
    elif expected != found or type(expected) is not type(found):
        yield f"{path or 'it'} is {found!r:.200}, not {expected!r:.200}"


def faults(row: Mapping[str, Any], status: int, answer: object, shown: Mapping[str, Any] | None) -> list[str]:
    """What is wrong with what came of a row; `shown` is the newest message, None where there is none."""
    wrong = [] if status == row["status"] else [f"status {status}, not {row['status']}: {answer!r:.300}"]
    wrong += differences(row.get("answer", {}), answer) if "answer" in row else []
    if not {"shown", "texts", "matches"} & row.keys():
        return wrong
    if shown is None:
        return [*wrong, "nothing is shown"]
    wrong += differences(row.get("shown", {}), shown)
    written = words(shown)
    wrong += [f"{text!r} is not shown" for text in row.get("texts", ()) if text not in written]
    for path, pattern in row.get("matches", {}).items():
        if re.fullmatch(pattern, str(member(shown, path)), re.DOTALL) is None:
            wrong.append(f"{path} is {member(shown, path)!r:.200}")
    return wrong


def words(message: Mapping[str, Any]) -> str:
    """All that a message has people read."""
    shown = {name: message[name] for name in ("content", "embeds", "attachments")}
    return json.dumps(shown, ensure_ascii=False)


def member(value: Any, path: str) -> Any:
    """The member at a path of names and numbers; None where there is none."""
    for step in path.split("."):
        try:
            value = value[int(step) if isinstance(value, list) else step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
