"""The client's words: every key that it says stands in every language, each language has the same places for values,
and none has words that nothing says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.web.client.node import CLIENT, NodeProcess, running_node

SAID: Final = re.compile(r"\btn?\(\s*\"([^\"]+)\"")
PLACE: Final = re.compile(r"\{(\w+)\}")
KEY: Final = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+")
LANGUAGES: Final = sorted(path.stem for path in (CLIENT / "words").glob("*.json"))


def entries(language: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CLIENT / "words" / f"{language}.json").read_text(encoding="utf-8"))
    return found


def said() -> set[str]:
    scripts = (path.read_text(encoding="utf-8") for path in CLIENT.rglob("*.js"))
    return {key for script in scripts for key in SAID.findall(script)}


def places(entry: str | dict[str, str]) -> set[str]:
    return set(PLACE.findall(entry if isinstance(entry, str) else " ".join(entry.values())))


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_what_is_said_and_no_more(language: str) -> None:
    assert entries(language).keys() == said()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_is_in_order(language: str) -> None:
    found = entries(language)
    assert list(found) == sorted(found)
    for key, entry in found.items():
        assert KEY.fullmatch(key)
        assert isinstance(entry, str) or "other" in entry, key
        assert places(entry) == places(entries("en")[key]), key


def test_every_key_is_written_out() -> None:
    for path in CLIENT.rglob("*.js"):
        if path.parent.name != "words":
            assert not re.search(r"(?<![\w.])tn?\(\s*[^\"\s)]", path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize(
    ("entry", "values", "locale", "expected"),
    [
        ("plain", {}, "en", ["plain"]),
        ("{name} wrote", {"name": "Ana"}, "en", [{"value": "Ana"}, " wrote"]),
        ({"one": "{n} day", "other": "{n} days"}, {"n": 1}, "en", [{"value": "1"}, " day"]),
        ({"one": "{n} Tag", "other": "{n} Tage"}, {"n": 1234}, "de", [{"value": "1.234"}, " Tage"]),
        ("{name}", {"name": "{other}"}, "en", [{"value": "{other}"}]),
    ],
)
def test_words_are_put_together(
    node_process: NodeProcess, entry: Any, values: dict[str, Any], locale: str, expected: list[Any]
) -> None:
    assert node_process.call("words/catalogue", "compose", entry, values, locale) == expected


def test_a_place_without_a_value_is_an_error(node_process: NodeProcess) -> None:
    with pytest.raises(AssertionError, match="nothing for"):
        node_process.call("words/catalogue", "compose", "{name}", {}, "en")
