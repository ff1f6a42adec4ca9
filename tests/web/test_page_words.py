"""What pages, console, letters and refusals say: their English stands in every other language, with the same places and
markup, and no catalogue has words that nothing says."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Final

import pytest
from jinja2 import Environment

from chat.mail import letters
from chat.mail.smtp import WITHOUT_BUTTON
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.testing.world import World
from chat.web.assets import HERE, STATIC
from chat.web.pages import TEMPLATES
from chat.words import ENGLISH, FOLDER, LANGUAGES, catalogue
from tests.web.test_pages_over_http import HTML, PATHS, asks

OTHERS: Final = [language for language in LANGUAGES if language != ENGLISH]

STRING: Final = r'"((?:[^"\\\n]|\\.)*)"'
SAID: Final = re.compile(rf"(?<![\w.$])tn?\(\s*{STRING}")
PLURAL: Final = re.compile(rf"(?<![\w.$])plural\((?:[^\"()]|\([^()]*\))*?,\s*{STRING},\s*{STRING}")
TOKEN: Final = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
BEFORE: Final = re.compile(r"\b(?:tn?\(|plural\([^\"`]*|plural\([^\"`]*\"[^\"]*\",)\s*$")
"""What stands before a string that is translated."""

SENTENCE: Final = re.compile(r"[\"`](?:…|[A-Z“][a-z]*) [^\n]*[a-z]{2}")
"""A string that reads like words for people, its values as dots."""

PLACES: Final = re.compile(r"<[^>]+>|%\(\w+\)s|\{\w+\}")

TABLES: Final = ("REPORT_KINDS", "REPORT_CATEGORIES", "JOB_TYPES", "JOB_STATUSES", "AUDIT_TARGETS")

NOT_WORDS: Final = frozenset({'"The request was declined."'})
"""What goes to programs."""


def entries(language: str, surface: str) -> dict[str, str | dict[str, str]]:
    found: dict[str, str | dict[str, str]] = json.loads((FOLDER / language / f"{surface}.json").read_text("utf-8"))
    return found


SURFACES_OF_SCRIPTS: Final = {"admin": "console", "dev": "workbench"}
"""What the scripts say whose names begin so; every other one is of the pages."""


def surface_of(path: Path) -> str:
    return SURFACES_OF_SCRIPTS.get(path.stem.partition("_")[0], "pages")


def scripts(surface: str) -> list[Path]:
    return [path for path in sorted((HERE / STATIC).glob("*.js")) if surface_of(path) == surface]


def in_templates() -> set[str]:
    environment = Environment(extensions=["jinja2.ext.i18n"], autoescape=True, trim_blocks=True, lstrip_blocks=True)
    extract = environment.extract_translations  # type: ignore[attr-defined]  # the extension's
    texts = (path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.html"))
    return {words for text in texts for _, _, words in extract(text) if isinstance(words, str)}


def in_scripts(surface: str) -> set[str]:
    said = set()
    for path in scripts(surface):
        text = path.read_text(encoding="utf-8")
        said |= {json.loads(f'"{words}"') for words in SAID.findall(text)}
        said |= {json.loads(f'"{other}"') for _, other in PLURAL.findall(text)}
    return said


def on_pages() -> set[str]:
    return in_templates() | in_scripts("pages")


def names(script: str, table: str) -> list[str]:
    """The members of a table of names in a script of the console."""
    text = (HERE / STATIC / script).read_text(encoding="utf-8")
    found = re.search(rf"const {table} = (?:/\*\* @type {{const}} \*/ \()?\[([^\]]*)\]", text)
    assert found is not None
    return re.findall(r'"(\w+)"', found[1])


def of_registries() -> set[str]:
    """Names without their joints, as the console shows them: states within a sentence as they are, the rest capital."""
    states = [*names("admin_registries.js", "JOB_STATUSES"), "pending", "resolved"]
    kinds = [name for table in TABLES for name in names("admin_registries.js", table)]
    others = [*names("admin_discovery.js", "STATUSES"), *names("admin_guild_actions.js", "IMAGES"), *AdminAction]
    joined = (name.replace("_", " ") for name in [*kinds, *others])
    headings = (re.sub(r"\bguild\b", "community", re.sub(r"\bguilds\b", "communities", name)) for name in joined)
    return {*states, *(name[0].upper() + name[1:] for name in headings)}


def in_console() -> set[str]:
    return (in_scripts("console") | of_registries()) - on_pages()


def on_workbench() -> set[str]:
    return in_scripts("workbench") - on_pages()


def in_errors() -> set[str]:
    return {code.message for codes in (ErrorCode, FieldCode) for code in codes}


def in_letters() -> set[str]:
    calls = (node for node in ast.walk(ast.parse(inspect.getsource(letters))) if isinstance(node, ast.Call))
    said = (call.args[0] for call in calls if ast.unparse(call.func) == "say")
    return {WITHOUT_BUTTON, *(words.value for words in said if isinstance(words, ast.Constant))}


SURFACES: Final = {
    "pages": on_pages,
    "console": in_console,
    "workbench": on_workbench,
    "errors": in_errors,
    "letters": in_letters,
}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_what_is_said_and_no_more(language: str, surface: str) -> None:
    assert entries(language, surface).keys() == SURFACES[surface]()


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_is_in_order_and_keeps_places_and_markup(language: str, surface: str) -> None:
    found = entries(language, surface)
    assert list(found) == sorted(found)
    for english, entry in found.items():
        for form in [entry] if isinstance(entry, str) else entry.values():
            assert sorted(PLACES.findall(form)) == sorted(PLACES.findall(english)), english


def test_a_template_has_no_words_but_those_that_are_translated() -> None:
    for path in TEMPLATES.glob("*.html"):
        text = re.sub(r"\{% trans.*?%\}.*?\{% endtrans %\}", "", path.read_text(encoding="utf-8"))
        text = re.sub(r"\{% block layout %\}\w+\{% endblock %\}", "", text)
        assert re.findall(r"\b(?:aria-label|alt|title|data-title|data-missing)=\"[^\"{]+\"", text) == [], path.name
        assert re.findall(r"[A-Za-z]{2,}", re.sub(r"<[^>]*>|\{\{.*?\}\}|\{%.*?%\}", "", text)) == [], path.name
        code = " ".join(re.findall(r"\{\{.*?\}\}|\{%.*?%\}", text))
        assert re.findall(r'(?<!_\()"[A-Z][a-z]* [^"]*"', code) == [], path.name


def test_what_a_template_leaves_empty_is_filled_by_a_script() -> None:
    scripts = "".join(path.read_text(encoding="utf-8") for path in (HERE / STATIC).glob("*.js"))
    for path in TEMPLATES.glob("*.html"):
        empty = re.findall(r'<(\w+) [^>]*?\bid="([\w-]+)"[^>]*></\1>', path.read_text(encoding="utf-8"))
        assert {name for _, name in empty if f'"{name}"' not in scripts} == set(), path.name


@pytest.mark.parametrize("path", sorted((HERE / STATIC).glob("*.js")), ids=lambda path: path.name)
def test_a_script_has_no_words_but_those_that_are_translated(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    strings = [token for token in TOKEN.finditer(text) if SENTENCE.match(re.sub(r"\$\{[^}]*\}", "…", token[0]))]
    found = {string[0] for string in strings if not BEFORE.search(text, max(0, string.start() - 300), string.start())}
    assert found - NOT_WORDS == set()


@pytest.mark.parametrize("path", PATHS)
async def test_a_page_speaks_the_language_of_the_browser(chat_world: World, path: str) -> None:
    english = await asks(chat_world.anyone, path)
    german = await asks(chat_world.anyone, path, Accept_Language="fr, de-AT;q=0.9, en;q=0.5")
    assert (english.header("vary"), german.header("vary")) == ("Accept-Language", "Accept-Language")
    assert english.header("etag") != german.header("etag")
    text = german.body.decode()
    assert text.startswith('<!doctype html>\n<html lang="de">')
    shown = {english for english, words in catalogue("de", "pages").items() if " " in english and words != english}
    assert [words for words in shown if f">{words}<" in text or f'"{words}"' in text] == []
    again = await asks(chat_world.anyone, path, Accept_Language="de", If_None_Match=german.header("etag") or "")
    assert again.status == 304
    for language in ("en-GB, de;q=0.5", "fr", "", "*"):
        assert (await asks(chat_world.anyone, path, Accept_Language=language)).body == english.body


async def test_what_is_nowhere_is_so_in_the_language_of_the_browser(chat_world: World) -> None:
    page = await asks(chat_world.anyone, "/nowhere", Accept=HTML["Accept"], Accept_Language="de")
    assert page.status == 404
    assert "Hier gibt es nichts" in page.body.decode()


def test_people_read_of_communities() -> None:
    """The word of the API is "guild"; pages and console say what the client says."""
    guilds = re.compile(r"\bguilds?\b", re.IGNORECASE)
    assert [words for words in sorted(in_console() | on_pages()) if guilds.search(words)] == []
