"""The registries of document 001 as data in `spec_fixtures/guilds`, walked both ways.

Area: spec. Rules: 001.guild-object, 001.partial-guild, 001.registries, 001.states.
"""

from __future__ import annotations

import enum
import json
import typing
from pathlib import Path
from typing import Any

import attrs
import pytest

from chat.api.operation import Operation, Policy
from chat.api.routes.every import ROUTES
from chat.api.routes.guilds.guilds import ModifyGuild
from chat.domain.standing.guild_objects import guild_object, partial_guild_object
from chat.registries import guild_values
from chat.registries.guild_features import (
    NEW_GUILD_FEATURES,
    TOGGLEABLE_GUILD_FEATURES,
    UNAVAILABLE_GUILD_FEATURES,
    GuildFeature,
)
from chat.registries.guild_values import DisabledOperation, DiscoveryCategory, DiscoveryStatus, JoinSource
from chat.registries.scopes import Scope
from chat.store.guilds.guilds import Guild
from tests.spec.ledger import proves

FIXTURES = Path(__file__).parents[2] / "spec_fixtures" / "guilds"


def fixture(name: str) -> Any:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


LEVELS = fixture("levels")
OPERATIONS = {f"{operation.method} {operation.path}": operation for routes in ROUTES for operation in routes.operations}
PLAIN = Guild(id=7, owner_id=8, name="Harbour", created_at=0)


def test_the_levels_are_those_of_the_document() -> None:
    of_one = {
        "SplashCardAlignment": "001.registries.1",
        "GuildExplicitContentFilter": "001.registries.2",
        "DefaultMessageNotifications": "001.registries.3",
        "NsfwLevel": "001.registries.4",
    }
    assert of_one.keys() <= {row["registry"] for row in LEVELS}
    for row in LEVELS:
        registry = getattr(guild_values, row["registry"])
        with proves(*([of_one[row["registry"]]] if row["registry"] in of_one else [])):
            assert {member.name: member.value for member in registry} == row["values"]
    of_other_fixtures = {one.__name__ for one in (DisabledOperation, DiscoveryCategory, DiscoveryStatus, JoinSource)}
    elsewhere = {row["registry"] for row in LEVELS} | of_other_fixtures
    assert elsewhere == {
        name
        for name, value in vars(guild_values).items()
        if isinstance(value, type) and issubclass(value, enum.Enum) and value.__module__ == guild_values.__name__
    }


@pytest.mark.parametrize("row", LEVELS, ids=lambda row: row["member"])
def test_modify_guild_takes_what_a_registry_holds(row: dict[str, Any]) -> None:
    """Members with a closed set of values say so; the others store what is outside of it as the fixture says."""
    hints = typing.get_type_hints(ModifyGuild, include_extras=True)
    closed = [
        typing.get_args(kind)
        for kind in typing.get_args(hints[row["member"]])
        if typing.get_origin(kind) is typing.Literal
    ]
    if closed:
        others = {int(value) for value in row.get("stored_otherwise", {})}
        assert set(closed[0]) == set(row["values"].values()) | others
    else:
        assert row["stored_otherwise"]


def test_disabled_operations_are_those_of_the_document() -> None:
    rows = fixture("disabled_operations")
    assert {operation.name: operation.value for operation in DisabledOperation} == {
        row["name"]: 1 << row["bit"] for row in rows
    }


def test_features_are_those_of_the_document() -> None:
    rows = fixture("features")
    assert [row["feature"] for row in rows] == [feature.value for feature in GuildFeature]
    for member, features in (
        ("toggleable", TOGGLEABLE_GUILD_FEATURES),
        ("in_new_guilds", NEW_GUILD_FEATURES),
        ("closes", UNAVAILABLE_GUILD_FEATURES),
    ):
        assert {row["feature"] for row in rows if row[member]} == {feature.value for feature in features}


@pytest.mark.parametrize("row", fixture("operations"), ids=lambda row: row["operation"])
def test_an_operation_has_the_bucket_and_the_credentials_of_the_document(row: dict[str, Any]) -> None:
    operation = OPERATIONS[row["operation"]]
    bucket = operation.bucket
    assert bucket is not None
    assert (bucket.name, bucket.limit, bucket.window_ms) == (row["bucket"], row["limit"], row["window_ms"])
    assert operation.scope == (Scope.GUILDS if row["bearer"] == "guilds" else None)
    assert operation.policy in (Policy.USER, Policy.USER_ONLY)


def test_no_other_operation_counts_in_the_buckets_of_the_document() -> None:
    rows = fixture("operations")
    named = {row["bucket"] for row in rows}

    def counts(operation: Operation) -> bool:
        return operation.bucket is not None and operation.bucket.name in named

    assert {name for name, operation in OPERATIONS.items() if counts(operation)} == {row["operation"] for row in rows}


def test_the_objects_have_the_members_of_the_document_and_no_others() -> None:
    rows = fixture("guild_object")
    whole = guild_object(PLAIN)
    with proves("001.guild-object.1", "001.states.1"):
        assert set(whole) == set(rows["always"])
    nullable = {name for name, kind in rows["always"].items() if kind.startswith("?")}
    with proves("001.guild-object.1"):
        assert {name for name, value in whole.items() if value is None} <= nullable
    partial = partial_guild_object(attrs.evolve(PLAIN, vanity_url_code="harbour"))
    with proves("001.partial-guild.1", "001.partial-guild.5"):
        assert set(partial) == set(rows["partial"])
        assert partial == {name: whole[name] for name in partial}
