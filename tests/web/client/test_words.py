"""The client's words: what it says stands in every language, with the same places for values and the plural forms that
the language has, and no catalogue has words that nothing says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from chat.web.assets import read_assets
from tests.web.client.node import CLIENT, NodeProcess, running_node

SAID: Final = re.compile(r"\btn?\(\s*\"([^\"]+)\"")
PLACE: Final = re.compile(r"\{(\w+)\}")
KEY: Final = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+")
OF_THE_BROWSER: Final = re.compile(r"new Intl\.\w+\(\s*(?:undefined|\[\]|\))|\.toLocale\w+\(\s*(?:undefined|\[\]|\))")
LANGUAGES: Final = sorted(path.stem for path in (CLIENT / "words").glob("*.json"))
LISTED: Final = re.compile(r"""tag: "([^"]+)", name: "([^"]+)", isReviewed: (true|false)""")
READ: Final = [
    tag
    for tag, _, is_reviewed in LISTED.findall((CLIENT / "words/languages.js").read_text("utf-8"))
    if is_reviewed == "true"
]
"""Languages that somebody reads who speaks them."""
LACKING: Final = 0.1
"""The share of entries that another catalogue may lack: new words come in English first, and are said so."""
COUNTS: Final = [*range(201), 1_000, 1_000_000]


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


def test_no_form_of_words_is_in_the_language_of_the_browser() -> None:
    """Lists, numbers and moments are written by the language that was chosen."""
    scripts = {path.name: path.read_text(encoding="utf-8") for path in CLIENT.rglob("*.js")}
    assert {
        name: OF_THE_BROWSER.findall(script) for name, script in scripts.items() if OF_THE_BROWSER.search(script)
    } == {}


def test_every_catalogue_is_a_language_that_can_be_chosen() -> None:
    listed = LISTED.findall((CLIENT / "words/languages.js").read_text("utf-8"))
    assert sorted(tag for tag, _, _ in listed) == LANGUAGES, "chat/web/client/words/languages.js lists the catalogues"
    assert len({name for _, name, _ in listed}) == len(listed)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_what_is_said_and_no_more(language: str) -> None:
    found, wanted = entries(language).keys(), said()
    where = f"chat/web/client/words/{language}.json"
    assert found <= wanted, f"nothing says these words of {where}"
    missing = sorted(wanted - found)
    may_lack = 0 if language in READ else LACKING * len(wanted)
    assert len(missing) <= may_lack, f"{where} lacks {missing}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_catalogue_lacks_is_said_in_english(language: str) -> None:
    served = json.loads(read_assets().files[f"client/words/{language}.json"].content)
    assert served == {**entries("en"), **entries(language)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_plural_forms_are_those_of_the_language(node_process: NodeProcess, language: str) -> None:
    """As CLDR has them, by the browser's own Intl."""
    every = {form: form for form in ("zero", "one", "two", "few", "many", "other")}
    used = {node_process.call("words/catalogue", "compose", every, {"n": n}, language)[0] for n in COUNTS}
    for key, entry in entries(language).items():
        # Translators' tools write no form that whole numbers never take, and a text where there is but one form.
        forms = {"other"} if isinstance(entry, str) else entry.keys()
        has_plural = not isinstance(entries("en")[key], str)
        assert not has_plural or used - {"many"} <= forms | ({"other"} if "many" in forms else set()), key
        if has_plural and language in ("ar", "pl", "ru"):  # elsewhere "many" is for millions, and as "other"
            assert "many" in forms, key


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_is_in_order(language: str) -> None:
    found = entries(language)
    assert list(found) == sorted(found)
    for key, entry in found.items():
        assert KEY.fullmatch(key)
        assert places(entry) == places(entries("en")[key]), key
        for words in [entry] if isinstance(entry, str) else entry.values():
            assert words.strip() == words != "", key


def test_every_key_is_written_out() -> None:
    for path in CLIENT.rglob("*.js"):
        if path.parent.name != "words":
            assert not re.search(r"(?<![\w.])tn?\(\s*[^\"\s)]", path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize(
    ("wishes", "tag", "locale"),
    [
        ([], "en", "en"),
        (["en-GB", "de"], "en", "en-GB"),
        (["de-AT", "en"], "de", "de-AT"),
        (["xx", "no language at all", "", "de-Latn-CH"], "de", "de-Latn-CH"),
        (["pt-PT"], "pt-BR", "pt-PT"),
        (["zh-Hans-SG"], "zh-CN", "zh-Hans-SG"),
        (["zh-TW", "ja"], "ja", "ja"),  # another script than the one that is written here
        (["zh"], "zh-CN", "zh"),
        (["xx", "ar-EG"], "ar", "ar-EG"),
        (["sr", "x-klingon"], "en", "en"),
    ],
)
def test_which_language_is_spoken(node_process: NodeProcess, wishes: list[str], tag: str, locale: str) -> None:
    found = node_process.call("words/languages", "languageFor", wishes)
    assert (found["language"]["tag"], found["locale"]) == (tag, locale)


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
