"""A new field of a guild is forgotten nowhere: not by the audit log, nor by archives, nor by the content policy."""

from __future__ import annotations

import re
import typing
from typing import Any, Final

import attrs
import pytest

from chat.api.routes.guilds.guilds import SUDO_MEMBERS, ModifyGuild
from chat.domain.guilds.guild_changes import GUILD_IMAGES, logged
from chat.store.administration.archive_tables import GUILD_TABLES
from chat.store.guilds.guilds import Guild
from chat.testing import World

GUILD: Final = Guild(1, 2, "Harbour", 0)
OTHERS: Final[dict[type, Any]] = {bool: True, int: 77, str: "other", frozenset: frozenset({"BANNER"})}
UNLOGGED: Final = frozenset({"id", "created_at", "member_count"})
UNARCHIVED: Final = frozenset(f"{image}_{side}" for image in GUILD_IMAGES for side in ("width", "height"))


def kind_of(holder: type[Any], name: str) -> type[Any]:
    """The class of a field's values, whether or not it may be null or absent."""
    hint = typing.get_type_hints(holder)[name]
    plain = next(iter(typing.get_args(hint)), hint) if typing.get_origin(hint) is not frozenset else hint
    kind: type[Any] = typing.get_origin(plain) or plain
    return kind


TEXTS: Final = [
    field.name
    for field in attrs.fields(ModifyGuild)
    if field.name not in GUILD_IMAGES and field.name not in SUDO_MEMBERS and kind_of(ModifyGuild, field.name) is str
]


@pytest.mark.parametrize("name", [field.name for field in attrs.fields(Guild) if field.name not in UNLOGGED])
def test_a_change_of_every_column_shows_in_the_audit_log(name: str) -> None:
    changed = attrs.evolve(GUILD, **{name: OTHERS[kind_of(Guild, name)]})
    assert logged(changed) != logged(GUILD)


def test_archives_of_guilds_have_every_column() -> None:
    table = next(table for table in GUILD_TABLES if table.name == "guild/guild")
    columns = {field.name for field in attrs.fields(Guild)} - UNARCHIVED
    assert columns - set(re.findall(r"\w+", table.query)) == set()


@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["forbidden"]})
@pytest.mark.parametrize("name", TEXTS)
async def test_the_content_policy_judges_every_text_of_modify_guild(chat_world: World, name: str) -> None:
    refused = await chat_world.alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {name: "forbidden words"})
    assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED")
