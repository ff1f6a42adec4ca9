"""The scripts of pages and console, held against the templates: what they ask for is there, and of the kind that they
say; no class, id or other name for programs is translated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from chat.web.assets import CLIENT, HERE, STATIC
from chat.web.pages import TEMPLATES

SCRIPTS: Final = sorted((HERE / STATIC).glob("*.js"))
EVERY_SCRIPT: Final = [*SCRIPTS, *sorted((HERE / CLIENT).rglob("*.js"))]

ASKED: Final = re.compile(r"\b(byId|findById|inputById|buttonById|formById)\(\s*\"([^\"]+)\"(?:, (HTML\w+Element))?")
ELEMENT: Final = re.compile(r"<(\w+)(?=[\s>])[^<]*?\bid=\"([^\"{]+)\"")
OF_FIELD: Final = re.compile(r"-(?:label|hint)$")
"""The macros of the templates make these beside a field, from its id."""

KINDS: Final[Mapping[str, str]] = {
    "HTMLButtonElement": "button",
    "HTMLDetailsElement": "details",
    "HTMLDialogElement": "dialog",
    "HTMLFormElement": "form",
    "HTMLImageElement": "img",
    "HTMLInputElement": "input",
    "HTMLSelectElement": "select",
    "HTMLTableElement": "table",
    "HTMLTextAreaElement": "textarea",
    "HTMLTimeElement": "time",
    "buttonById": "button",
    "formById": "form",
    "inputById": "input",
}

FOR_PROGRAMS: Final = re.compile(
    r"(?<![\w.\"-])\"?(?:class|id|for|type|role|href|(?:data-|aria-(?:controls|labelledby|describedby))[\w-]*)\"?"
    r": `?(?:\$\{)?tn?\("
    r"|(?:className|dataset\[\"\w+\"\]|\.id) = tn?\(|classList\.\w+\(tn?\(|(?:byId|querySelector)\(tn?\("
)
"""An attribute or a property that programs read, and the call of a translation for its value."""

TRANSLATED_IN_TEMPLATE: Final = re.compile(
    r"\b(?:class|id|for|name|type|role|href|data-(?!missing|title)[\w-]+)=\"[^\"]*{{ _\("
)


def elements() -> dict[str, set[str]]:
    """The tags that have an id, in any template."""
    found: dict[str, set[str]] = {}
    for path in TEMPLATES.glob("*.html"):
        for tag, name in ELEMENT.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, set()).add(tag)
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_what_a_script_asks_for_stands_in_a_template(script: Path) -> None:
    tags = elements()
    templates = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.html"))
    wrong = []
    for function, name, kind in ASKED.findall(script.read_text(encoding="utf-8")):
        expected = KINDS.get(kind or function)
        made_by_a_macro = f'"{OF_FIELD.sub("", name)}"' in templates
        if name not in tags and not made_by_a_macro:
            wrong.append(f"#{name} stands nowhere")
        elif name in tags and expected is not None and expected not in tags[name]:
            wrong.append(f"#{name} is {tags[name]}, not {expected}")
    assert wrong == []


@pytest.mark.parametrize("script", EVERY_SCRIPT, ids=lambda path: path.relative_to(HERE).as_posix())
def test_no_name_for_programs_is_translated(script: Path) -> None:
    assert FOR_PROGRAMS.findall(script.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("script", EVERY_SCRIPT, ids=lambda path: path.relative_to(HERE).as_posix())
def test_what_stands_in_an_address_is_read_by_one_function(script: Path) -> None:
    """`decodeURIComponent` raises for "%zz", and anybody may send such a link: a message with one hid its channel."""
    uses = script.read_text(encoding="utf-8").count("decodeURIComponent(")
    assert uses == (1 if script.relative_to(HERE).as_posix() == "client/base/address.js" else 0)


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_no_name_for_programs_is_translated_in_a_template(template: Path) -> None:
    assert TRANSLATED_IN_TEMPLATE.findall(template.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "code",
    [
        'h("span", { class: t("optional") }, t("optional"))',
        'h("span", { id: `${t("here")}` })',
        'h("input", { "data-word": t("delete") })',
        'element.className = t("bad")',
    ],
)
def test_a_translated_name_is_found(code: str) -> None:
    """The first was in the console for a week: in German "optional" lost its style."""
    assert FOR_PROGRAMS.search(code) is not None
