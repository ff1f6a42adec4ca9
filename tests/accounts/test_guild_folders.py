"""The folder layout (wire facts 5.4)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.domain.accounts.guild_folders import with_guild, without_guild


def folder(folder_id: int, *guild_ids: str) -> dict[str, object]:
    return {"id": folder_id, "name": None, "guild_ids": list(guild_ids)}


def test_a_new_guild_goes_into_the_folder_of_those_nobody_has_sorted() -> None:
    assert with_guild([folder(4, "1"), folder(-1, "2")], 3) == [folder(4, "1"), folder(-1, "2", "3")]


def test_without_that_folder_the_first_takes_it() -> None:
    assert with_guild([folder(4, "1")], 3) == [folder(4, "1", "3")]


def test_without_any_folder_one_is_made() -> None:
    assert with_guild([], 3) == [
        {"id": -1, "name": None, "color": None, "flags": 0, "icon": "folder", "guild_ids": ["3"]}
    ]


def test_a_guild_has_one_place() -> None:
    layout = [folder(4, "3"), folder(-1)]
    assert with_guild(layout, 3) == layout


def test_a_guild_that_was_left_is_nowhere() -> None:
    assert without_guild([folder(4, "3", "1"), folder(-1, "3")], 3) == [folder(4, "1"), folder(-1)]


layouts = st.lists(
    st.builds(folder, st.integers(-1, 5), *[st.integers(1, 9).map(str)] * 2), unique_by=lambda each: each["id"]
)


@given(layouts, st.integers(1, 9))
def test_entering_and_leaving(layout: list[dict[str, object]], guild_id: int) -> None:
    inside = with_guild(layout, guild_id)
    assert any(str(guild_id) in each["guild_ids"] for each in inside)
    outside = without_guild(inside, guild_id)
    assert not any(str(guild_id) in each["guild_ids"] for each in outside)
    assert [each["id"] for each in outside] == [each["id"] for each in inside]
