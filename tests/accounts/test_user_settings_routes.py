"""Settings of an account (wire facts 5.4)."""

from __future__ import annotations

from typing import Any

import pytest

from chat.domain.standing.user_objects import user_settings_object
from chat.testing.rest_client import Response
from chat.testing.world import World

PATH = "/v1/users/@me/settings"


def errors(answer: Response) -> list[tuple[str, str]]:
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    return [(error["path"], error["code"]) for error in answer.json()["errors"]]


async def test_a_new_account_has_the_defaults(chat_world: World) -> None:
    body = (await chat_world.anyone.register(username="dave")).expect(200)
    settings = (await chat_world.anyone.signed_in(body["token"]).get(PATH)).expect(200)
    assert settings == user_settings_object({})
    assert settings["guild_folders"] == [
        {"id": -1, "name": None, "color": None, "flags": 0, "icon": "folder", "guild_ids": []}
    ]


CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"theme": "dark"}, {}),
    ({"locale": "de"}, {}),
    ({"status": "dnd"}, {}),
    ({"status_resets_at": "2030-01-01T00:00:00+00:00"}, {"status_resets_at": "2030-01-01T00:00:00.000Z"}),
    ({"status_resets_at": None, "status_resets_to": None}, {}),
    ({"restricted_guilds": [5, "6"]}, {"restricted_guilds": ["5", "6"]}),
    ({"render_spoilers": 2, "afk_timeout": 0, "developer_mode": True}, {}),
    ({"synced_preferences": ""}, {}),
    ({"synced_preferences": "AAAA"}, {}),
    ({"trusted_domains": ["*"]}, {}),
    ({"person_notifications": {"5": 0, "6": 2}}, {}),
    ({"person_notifications": {}}, {}),
    ({"person_notifications": None}, {"person_notifications": {}}),
    ({"custom_status": {"text": "", "emoji_name": ""}}, {"custom_status": None}),
    (
        {"custom_status": {"text": "away", "expires_at": "2990-01-01T00:00:00Z", "emoji_id": "5", "emoji_name": "x"}},
        {
            "custom_status": {
                "text": "away",
                "expires_at": "2990-01-01T00:00:00.000Z",
                "emoji_id": "5",
                "emoji_name": None,
                "emoji_animated": False,
            }
        },
    ),
    (
        {"guild_folders": [{"id": 1, "name": "Games", "color": 255, "guild_ids": ["7"]}, {"id": -1}]},
        {
            "guild_folders": [
                {"id": 1, "name": "Games", "color": 255, "flags": 0, "icon": "folder", "guild_ids": ["7"]},
                {"id": -1, "name": None, "color": None, "flags": 0, "icon": "folder", "guild_ids": []},
            ],
            "guild_positions": ["7"],
        },
    ),
]


@pytest.mark.parametrize(("change", "shown"), CHANGES)
async def test_what_is_changed_stays_changed_and_the_rest_stays(
    chat_world: World, change: dict[str, Any], shown: dict[str, Any]
) -> None:
    before = (await chat_world.bob.rest.get(PATH)).expect(200)
    expected = {**before, **change, **shown}
    assert (await chat_world.bob.rest.patch(PATH, change)).expect(200) == expected
    assert (await chat_world.bob.rest.get(PATH)).expect(200) == expected


async def test_a_guild_that_is_gone_does_not_come_back_with_a_layout_from_before(chat_world: World) -> None:
    bob = chat_world.bob.rest
    guild_id = (await bob.create_guild("short-lived")).expect(200)["id"]
    before = (await bob.get(PATH)).expect(200)
    body = {"password": chat_world.bob.password}
    (await bob.post(f"/v1/guilds/{guild_id}/delete", body)).expect(204)
    layout = {"guild_folders": before["guild_folders"], "restricted_guilds": [guild_id, chat_world.guild_id]}
    after = (await bob.patch(PATH, layout)).expect(200)
    assert guild_id not in after["guild_positions"]
    assert [name for folder in after["guild_folders"] for name in folder["guild_ids"]] == [chat_world.guild_id]
    assert after["restricted_guilds"] == [chat_world.guild_id]


async def test_positions_are_the_order_of_the_guilds_in_the_folders(chat_world: World) -> None:
    """Both ways: folders show in the positions, positions order the folders; guilds that come and go are in both."""
    bob, guild_id = chat_world.bob, chat_world.guild_id
    assert (await bob.rest.get(PATH)).expect(200)["guild_positions"] == [guild_id]
    folders = [{"id": -1, "guild_ids": [guild_id, "5"]}, {"id": 3, "guild_ids": ["7", "8"]}, {"id": 4}]
    settings = (await bob.rest.patch(PATH, {"guild_folders": folders})).expect(200)
    assert settings["guild_positions"] == [guild_id, "5", "7", "8"]

    settings = (await bob.rest.patch(PATH, {"guild_positions": ["8", "99", "5", "8"]})).expect(200)
    assert [(folder["id"], folder["guild_ids"]) for folder in settings["guild_folders"]] == [
        (3, ["8", "7"]),
        (-1, ["5", guild_id]),
        (4, []),
    ]
    assert settings["guild_positions"] == ["8", "7", "5", guild_id]
    at_bob = await bob.connect()
    assert at_bob.ready["user_settings"]["guild_positions"] == settings["guild_positions"]
    created = (await bob.rest.create_guild("Another")).expect(200)["id"]
    assert (await at_bob.expect("USER_SETTINGS_UPDATE")).data["guild_positions"] == ["8", "7", "5", guild_id, created]


async def test_changes_add_up(chat_world: World) -> None:
    await chat_world.bob.rest.patch(PATH, {"theme": "coal"})
    settings = (await chat_world.bob.rest.patch(PATH, {"locale": "fr"})).expect(200)
    assert (settings["theme"], settings["locale"]) == ("coal", "fr")


async def test_the_accounts_sessions_hear_of_it(chat_world: World) -> None:
    first, second = await chat_world.bob.connect(), await chat_world.bob.connect()
    settings = (await chat_world.bob.rest.patch(PATH, {"theme": "light"})).expect(200)
    for client in (first, second):
        assert (await client.expect("USER_SETTINGS_UPDATE")).data == settings


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"theme": "pink"}, ("theme", "INVALID_FORMAT")),
        ({"theme": None}, ("theme", "INVALID_FORMAT")),
        ({"status": "unknown"}, ("status", "INVALID_FORMAT")),
        ({"locale": "not a language"}, ("locale", "INVALID_FORMAT")),
        ({"render_spoilers": 3}, ("render_spoilers", "INVALID_FORMAT")),
        ({"time_format": -1}, ("time_format", "INVALID_FORMAT")),
        ({"developer_mode": "yes"}, ("developer_mode", "INVALID_FORMAT")),
        ({"restricted_guilds": ["x"]}, ("restricted_guilds.0", "INVALID_SNOWFLAKE_FORMAT")),
        ({"restricted_guilds": [5] * 1_001}, ("restricted_guilds", "INVALID_FORMAT")),
        ({"status_resets_at": "soon"}, ("status_resets_at", "INVALID_ISO_TIMESTAMP")),
        ({"custom_status": {"text": "x" * 129}}, ("custom_status.text", "CONTENT_EXCEEDS_MAX_LENGTH")),
        (
            {"custom_status": {"text": "x", "expires_at": "2020-01-01T00:00:00Z"}},
            ("custom_status.expires_at", "INVALID_FORMAT"),
        ),
        ({"guild_folders": [{"id": -2}]}, ("guild_folders.0.id", "INVALID_FORMAT")),
        ({"guild_folders": [{"id": 1, "color": 0x1000000}]}, ("guild_folders.0.color", "COLOR_VALUE_TOO_HIGH")),
        ({"guild_folders": {"id": 1}}, ("guild_folders", "INVALID_FORMAT")),
    ],
)
async def test_settings_that_are_not_taken(chat_world: World, change: object, expected: tuple[str, str]) -> None:
    before = (await chat_world.bob.rest.get(PATH)).expect(200)
    assert errors(await chat_world.bob.rest.patch(PATH, change)) == [expected]
    assert (await chat_world.bob.rest.get(PATH)).expect(200) == before
