"""Every registry against the documents' tables in `spec_fixtures`, both ways: missing and invented rows fail."""

from __future__ import annotations

import ast
import enum
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

import chat.registries
from chat.registries import (
    acls,
    admin_actions,
    close_codes,
    guild_features,
    limits,
    permissions,
    scopes,
    statuses,
    user_flags,
)
from chat.registries.close_codes import CLOSES, Close, CloseCode
from chat.registries.error_codes import STATUS_FALLBACKS, ErrorCode, FieldCode
from chat.registries.event_rules import EVENTS, Audience
from chat.registries.events import EventName
from chat.registries.opcodes import SESSION_COMMANDS, Opcode
from chat.registries.permissions import Permission

FIXTURES = Path(__file__).parents[2] / "spec_fixtures"

REGISTRIES = tuple(
    importlib.import_module(f"chat.registries.{module.name}")
    for module in pkgutil.iter_modules(chat.registries.__path__)
)

WITH_A_TABLE_OF_THEIR_OWN = {
    "Acl",
    "AdminAction",
    "AdminTarget",
    "Audience",
    "CloseCode",
    "ErrorCode",
    "EventName",
    "FieldCode",
    "Opcode",
    "Permission",
}
"""Enumerations that another fixture than `enumerations.json` holds."""


def fixture(name: str) -> Any:
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def members(module: ModuleType) -> dict[str, Any]:
    """The module's constants."""
    return {name: value for name, value in vars(module).items() if re.fullmatch(r"[A-Z][A-Z0-9_]*", name)}


def test_opcodes_are_those_of_the_registry() -> None:
    rows = fixture("gateway/opcodes.json")
    assert {(opcode.value, opcode.name) for opcode in Opcode} == {(row["op"], row["name"]) for row in rows}
    assert {opcode.value for opcode in SESSION_COMMANDS} == {row["op"] for row in rows if row["session_command"]}


def test_closes_are_those_of_the_document_and_the_rulings() -> None:
    rows = fixture("gateway/close_codes.json")
    assert {(close.code.value, close.reason) for close in CLOSES} == {(row["code"], row["reason"]) for row in rows}
    assert {(code.value, code.name) for code in CloseCode} == {(row["code"], row["name"]) for row in rows}
    assert len(CLOSES) == len(set(CLOSES)) == len(rows)


def test_every_close_of_the_module_is_listed() -> None:
    assert {value for value in members(close_codes).values() if isinstance(value, Close)} == set(CLOSES)


def test_close_reasons_fit_a_close_frame() -> None:
    assert all(len(close.reason.encode()) <= 123 for close in CLOSES)


def test_events_are_those_of_the_registry() -> None:
    rows = fixture("gateway/events.json")
    bare = sorted(set(EventName) - set(EVENTS))
    assert not bare, f"chat/registries/event_rules.py has no row in EVENTS of {bare}"
    assert [(name.name, name.value) for name in EventName] == [(name.value, name.value) for name in EventName]
    declared = {name.value: (rule.audience, rule.retained, rule.passive) for name, rule in EVENTS.items()}
    listed = {row["name"]: (Audience(row["audience"]), row["retained"], row["passive"]) for row in rows}
    differ = {name for name in declared.keys() | listed.keys() if declared.get(name) != listed.get(name)}
    assert not differ, f"chat/registries/event_rules.py and spec_fixtures/gateway/events.json differ: {sorted(differ)}"


def test_limits_are_those_of_the_documents() -> None:
    assert members(limits) == {row["name"]: row["value"] for row in fixture("gateway/limits.json")}


@pytest.mark.parametrize("row", fixture("gateway/limits.json"), ids=lambda row: row["name"])
def test_the_name_of_a_limit_says_its_unit(row: dict[str, Any]) -> None:
    if row["unit"] == "ms":
        assert row["name"].endswith("_MS")
    elif row["unit"] == "bytes":
        assert "BYTES" in row["name"]
    assert ("_MS" in row["name"], "BYTES" in row["name"]) == (row["unit"] == "ms", row["unit"] == "bytes")


def test_permission_bits_are_those_of_the_registry() -> None:
    rows = fixture("permissions.json")["bits"]
    assert {permission.name: permission.value for permission in Permission} == {
        row["name"]: 1 << row["bit"] for row in rows
    }
    elevated = {row["name"] for row in rows if row["elevated"]}
    assert {permission.name for permission in Permission if permission & permissions.ELEVATED} == elevated


@pytest.mark.parametrize("mask", fixture("permissions.json")["masks"], ids=lambda mask: mask["name"])
def test_permission_masks_are_the_union_of_their_bits(mask: dict[str, Any]) -> None:
    value = getattr(permissions, mask["name"])
    assert type(value) is int
    assert str(value) == mask["decimal"]
    if mask["bits"] is not None:
        assert {permission.name for permission in Permission if permission & value} == set(mask["bits"])
        assert value & ~permissions.ALL_DEFINED == 0


def test_error_codes_have_an_error_status_and_one_plain_sentence() -> None:
    for code, registered in ErrorCode.__members__.items():
        assert code == registered
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", code)
        assert 400 <= registered.status <= 599
    for message in [registered.message for registered in (*FieldCode, *ErrorCode)]:
        assert re.fullmatch(r"[A-Z].*\.", message)
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*", code) for code in FieldCode)


def test_a_status_falls_back_to_a_code_of_its_own() -> None:
    assert all(code.status == status for status, code in STATUS_FALLBACKS.items())


@pytest.mark.parametrize("row", fixture("error_codes.json")["codes"], ids=lambda row: row["code"])
def test_a_documented_error_code_has_its_status(row: dict[str, Any]) -> None:
    assert ErrorCode[row["code"]].status == row["status"]


def test_error_codes_are_those_of_the_documents() -> None:
    rows = fixture("error_codes.json")
    assert set(ErrorCode) == {row["code"] for row in rows["codes"]}
    assert set(FieldCode) == {row["code"] for row in rows["field_codes"]}


def test_states_close_and_dispatch_only_what_the_registries_hold() -> None:
    closes = {(close.code.value, close.reason) for close in CLOSES}
    states = {"Opening", "Unauthenticated", "Starting", "Replaying", "Ready", "Closed"}
    for row in fixture("gateway/states.json"):
        assert row["state"] in states - {"Closed"}
        assert row["next"] in states
        if row["close"] is not None:
            assert tuple(row["close"]) in closes
            assert row["next"] == "Closed"


@pytest.mark.parametrize(
    "name", ["framing_cases", "resume_cases.payload", "identify_cases", "heartbeat_cases", "resume_cases.position"]
)
def test_cases_close_only_with_what_the_registry_holds(name: str) -> None:
    file, _, part = name.partition(".")
    rows = fixture(f"gateway/{file}.json")
    closes = {(close.code.value, close.reason) for close in CLOSES}
    for row in rows[part] if part else rows:
        assert isinstance(row["verdict"], str) or tuple(row["verdict"]) in closes
    names = [row["name"] for row in (rows[part] if part else rows)]
    assert len(names) == len(set(names))


def enumerations() -> list[type[enum.Enum]]:
    found = [
        value
        for module in REGISTRIES
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, enum.Enum) and value.__module__ == module.__name__
    ]
    return sorted(found, key=lambda enumeration: enumeration.__name__)


def test_enumerations_are_those_of_the_documents() -> None:
    names = [enumeration.__name__ for enumeration in enumerations()]
    assert len(names) == len(set(names))
    assert set(names) == fixture("enumerations.json").keys() | WITH_A_TABLE_OF_THEIR_OWN


@pytest.mark.parametrize("name", sorted(fixture("enumerations.json")))
def test_an_enumeration_has_the_values_of_the_documents(name: str) -> None:
    (enumeration,) = (candidate for candidate in enumerations() if candidate.__name__ == name)
    assert {member.name: member.value for member in enumeration} == fixture("enumerations.json")[name]


def test_public_user_flags_are_the_six_low_bits() -> None:
    assert user_flags.PUBLIC_USER_FLAGS == 0b1111101


def test_toggleable_guild_features() -> None:
    assert {feature.value for feature in guild_features.TOGGLEABLE_GUILD_FEATURES} == {
        "CLONE_EMOJI_ENABLED",
        "CLONE_STICKER_ENABLED",
        "DETACHED_BANNER",
        "INVITES_DISABLED",
        "TEXT_CHANNEL_FLEXIBLE_NAMES",
        "HIDE_OWNER_CROWN",
    }


def test_acls_are_those_of_the_registry_in_its_order() -> None:
    rows = fixture("acls.json")
    assert [(acl.value, acl.name) for acl in acls.ACLS] == [(row["acl"], row["name"]) for row in rows]
    assert len(rows) == acls.ACLS_MAXIMUM == 106


def test_administrative_actions_have_the_targets_and_the_metadata_of_the_document() -> None:
    rows = fixture("admin_actions.json")
    assert [target.value for target in admin_actions.AdminTarget] == rows["targets"]
    assert {action.value for action in admin_actions.AdminAction} == {row["action"] for row in rows["actions"]}
    assert {
        action.value: (kind.target.value, sorted(kind.metadata)) for action, kind in admin_actions.ADMIN_ACTIONS.items()
    } == {row["action"]: (row["target"], row["metadata"]) for row in rows["actions"]}


def test_statuses_in_their_precedence() -> None:
    assert [status.value for status in statuses.STATUS_PRECEDENCE] == ["dnd", "online", "idle", "invisible", "offline"]


def test_scopes_in_their_order() -> None:
    assert [scope.value for scope in scopes.SCOPES] == ["identify", "email", "guilds", "connections", "bot"]
    assert scopes.ADMIN_SCOPE == "admin"  # of the built-in application alone, and so no member of the registry


def test_every_constant_of_a_registry_has_its_sentence() -> None:
    for module in REGISTRIES:
        assert module.__file__ is not None
        source = Path(module.__file__).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(source):
            if re.match(r"[A-Z][A-Z0-9_]*(: Final.*?)? = ", line):
                end = number
                while not source[end + 1].strip().startswith('"""') and source[end + 1].strip():
                    end += 1
                assert source[end + 1].strip().startswith('"""'), f"{module.__name__}:{number + 1}"


NOT_READ: Final = {"CLOSES", "ENCODE_FAILED", "MentionFlag"}
"""The sum of all closes is for tests. `Encode failed` is registered, and no payload of the server causes it. The server
stores the mention flags of accounts, and clients alone tell them apart."""


def names_used(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Load()) | ast.Attribute(_, name) | ast.alias(name):
                yield name


def test_the_program_uses_every_name_of_a_registry() -> None:
    files = Path(chat.registries.__path__[0]).parent.rglob("*.py")
    used = {name for file in files for name in names_used(ast.parse(file.read_text(encoding="utf-8")))}
    for module in REGISTRIES:
        own = {
            name
            for name, value in vars(module).items()
            if re.fullmatch(r"[A-Z][A-Z0-9_]*", name) or getattr(value, "__module__", None) == module.__name__
        }
        unused = {name for name in own if not name.startswith("_")} - used - NOT_READ
        assert not unused, f"{module.__name__} holds what the program does not read: {sorted(unused)}"
