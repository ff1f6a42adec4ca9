"""The pages that declarations make: everything that is declared has its row, and each row says something."""

from __future__ import annotations

import enum
import importlib
import pkgutil
import re
from typing import Final

import click
import pytest

from chat import registries
from chat.cli.main import root
from chat.config.loading import DEVELOPMENT, SETTINGS
from chat.manual.command_page import commands_page
from chat.manual.declared import documented
from chat.manual.gateway_pages import codes_page, events_page, states_page, words
from chat.manual.library import FOLDER, PageSource
from chat.manual.opening import MADE
from chat.manual.setting_pages import limits_page, settings_page
from chat.manual.value_pages import ON_OTHER_PAGES, permissions_page, values_page
from chat.protocol import transitions
from chat.protocol.transitions import TRANSITIONS, Kind, Step
from chat.registries import limits, permissions, scopes
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminTarget
from chat.registries.close_codes import CLOSES
from chat.registries.event_rules import EVENTS
from chat.registries.opcodes import Opcode
from chat.registries.reports import DeletionReason

ROW: Final = re.compile(r"^\| (.+) \|$", re.MULTILINE)
CELLS: Final = re.compile(r"(?<!\\) ?\| ?")


NAMES_SAY_IT: Final = {f"`{one.name}`" for one in (*AdminTarget, *DeletionReason)}
"""Of these enumerations some members have no text."""


def rows_of(page: str) -> list[list[str]]:
    """The cells of every row of every table."""
    return [CELLS.split(row) for row in ROW.findall(page)]


def sections_of(page: str) -> dict[str, str]:
    """What stands below each heading of the second degree."""
    parts = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}


@pytest.mark.parametrize("source", MADE, ids=lambda source: source.entry.name)
def test_a_made_page_has_its_title_and_no_empty_section_or_cell(source: PageSource) -> None:
    page, entry = source.markdown(), source.entry
    assert page.startswith(f"# {entry.title}\n\n"), "the title in chat/manual/opening.py is that of the page"
    assert all(sections_of(page).values()), [title for title, text in sections_of(page).items() if not text]
    for row in rows_of(page):
        assert all(row) or row[1] in NAMES_SAY_IT, (
            f"{entry.name} has an empty cell: {row}; its declaration needs a text"
        )
    for head, row in re.findall(r"^(\|.*\|)\n\|[-|]+\|\n(\|.*\|)$", page, re.MULTILINE):
        assert len(CELLS.split(head)) == len(CELLS.split(row)), head


def test_a_made_page_is_no_file_but_for_what_people_write_of_it() -> None:
    files = {path.stem for path in FOLDER.glob("*.md")}
    assert {source.entry.name for source in MADE} & files == {"permissions"}, "delete the file: its page is made"


def test_every_setting_has_its_row_with_default_and_meaning() -> None:
    rows = {row[0]: row for row in rows_of(settings_page()) if len(row) == 4}
    for name, setting in SETTINGS.items():
        _, default, takes, meaning = rows[f"`{name}`"]
        assert (takes, meaning.lower()) == (setting.expected, setting.declaration.help.lower().replace("|", "\\|"))
        assert default
    developed = sections_of(settings_page())["Defaults of chat dev"]
    assert set(re.findall(r"^\| `([\w.]+)`", developed, re.MULTILINE)) == set(DEVELOPMENT)


def test_every_limit_has_its_row_with_its_value() -> None:
    rows = {row[0]: row[1] for row in rows_of(limits_page())}
    declared = {name: value for name, value in vars(limits).items() if name in documented(limits)[""]}
    assert declared.keys() == {name for name in vars(limits) if name.isupper()}, "each limit has a text below it"
    assert {name: rows[f"`{name}`"].replace(",", "") for name in declared} == {
        name: str(value) for name, value in declared.items()
    }


def test_every_event_has_a_section_with_payload_cause_and_audience() -> None:
    sections = sections_of(events_page())
    assert list(sections) == [str(name) for name in EVENTS]
    for name, rule in EVENTS.items():
        assert f"- `d`: {rule.payload}.\n- Cause: " in sections[name]
        assert f"- Audience {rule.audience.value}: " in sections[name]
        assert ("Not retained" in sections[name]) is not rule.retained
        assert ("do not receive it" in sections[name]) is not rule.passive


def test_every_opcode_and_every_close_has_its_row() -> None:
    sections = sections_of(codes_page())
    assert [row[1] for row in rows_of(sections["Opcodes"])[2:]] == [f"`{one.name}`" for one in Opcode]
    closes = {(row[0], row[1]) for row in rows_of(sections["Close codes"])[2:]}
    assert closes == {(str(int(one.code)), f"`{one.reason}`" if one.reason else "none") for one in CLOSES}


def test_every_transition_that_does_something_has_its_row() -> None:
    sections = sections_of(states_page())
    for state in {state for state, _ in TRANSITIONS}:
        does = [
            kind for (of, kind), rule in TRANSITIONS.items() if of is state and (rule.steps or rule.next_state != of)
        ]
        shown = sections.get(state.name.replace("_", " ").capitalize(), "")
        assert len(rows_of(shown)[2:]) == len(does), state
    for title, named in (("What happens", Kind), ("What the server does", Step)):
        told = documented(transitions)[named.__name__]
        assert {row[0] for row in rows_of(sections[title])[2:]} == {words(name) for name in told}


@pytest.mark.parametrize("registry", [permissions.Permission, scopes.Scope, Acl])
def test_every_right_has_its_row(registry: type[enum.Enum]) -> None:
    names = {row[1] for row in rows_of(permissions_page()) if len(row) == 3}
    assert {f"`{member.name}`" for member in registry} <= names


def test_every_enumeration_of_the_registries_has_a_section_with_all_its_values() -> None:
    sections = sections_of(values_page())
    found = set()
    for info in pkgutil.iter_modules(registries.__path__):
        module = importlib.import_module(f"{registries.__name__}.{info.name}")
        for name, registry in vars(module).items():
            if not isinstance(registry, enum.EnumMeta) or registry.__module__ != module.__name__:
                continue
            if info.name in ON_OTHER_PAGES:
                assert name not in sections
                continue
            found.add(name)
            assert {row[1] for row in rows_of(sections[name])[2:]} == {f"`{member.name}`" for member in registry}
    assert found == set(sections)


def commands_below(group: click.Group, context: click.Context) -> list[str]:
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        found.append(below.command_path)
        if isinstance(command, click.Group):
            found += commands_below(command, below)
    return found


def test_every_command_has_a_section_with_all_its_options() -> None:
    page = commands_page()
    headings = re.findall(r"^##+ (chat .*)$", page, re.MULTILINE)
    assert headings == commands_below(root, click.Context(root, info_name="chat"))
    serve = root.get_command(click.Context(root), "serve")
    assert serve is not None
    section = sections_of(page)["chat serve"]
    for option in serve.params:
        assert option.opts[0] in section
