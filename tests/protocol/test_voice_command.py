"""Voice State Update as clients write it (wire facts 1.3, opcode 4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.payload import ABSENT
from chat.protocol.voice import VoiceStateCommand, parse_voice_state


def commanded(**members: Any) -> VoiceStateCommand:
    command = parse_voice_state(members)
    assert command is not None
    return command


def test_an_empty_command_leaves_everything() -> None:
    assert commanded() == VoiceStateCommand(
        guild_id=None,
        channel_id=None,
        connection_id=None,
        self_mute=False,
        self_deaf=False,
        self_video=False,
        self_stream=False,
        is_mobile=False,
        viewer_stream_keys=ABSENT,
        latitude=None,
        longitude=None,
        mutation_id=None,
        runtime_epoch=None,
        base_version=None,
        p2p=False,
    )


def test_every_member() -> None:
    assert commanded(
        guild_id="1",
        channel_id=2,
        connection_id="c",
        self_mute=True,
        self_deaf="true",
        self_video=True,
        self_stream=True,
        is_mobile=True,
        viewer_stream_keys=["k"],
        latitude=52.5,
        longitude="13.4",
        mutation_id="m",
        runtime_epoch="e",
        base_version=3,
        p2p=True,
    ) == VoiceStateCommand(1, 2, "c", True, True, True, True, True, ("k",), "52.5", "13.4", "m", "e", 3, True)


@pytest.mark.parametrize("d", [None, [], "x", 1, True])
def test_what_is_no_object_is_dropped(d: Any) -> None:
    assert parse_voice_state(d) is None


@pytest.mark.parametrize("member", ["guild_id", "channel_id"])
@pytest.mark.parametrize("value", ["x", "", 0, -1, True, 1.5, [], "9223372036854775808"])
def test_a_place_that_cannot_exist_drops_the_command(member: str, value: Any) -> None:
    assert parse_voice_state({member: value}) is None


def test_a_connection_id_that_is_no_text_drops_the_command() -> None:
    assert parse_voice_state({"connection_id": 5}) is None


def test_null_is_not_the_same_as_leaving_out_for_what_is_watched() -> None:
    assert commanded(viewer_stream_keys=None).viewer_stream_keys == ()
    assert commanded(viewer_stream_keys=[]).viewer_stream_keys == ()
    assert commanded(viewer_stream_keys=["a", "b"]).viewer_stream_keys == ("a", "b")
    assert commanded(viewer_stream_keys=["a", 1]).viewer_stream_keys is ABSENT
    assert commanded(viewer_stream_keys="a").viewer_stream_keys is ABSENT


@pytest.mark.parametrize("untrue", [False, "false", "TRUE", 1, None, []])
def test_flags_are_true_or_the_word_for_it(untrue: Any) -> None:
    flags = ("self_mute", "self_deaf", "self_video", "self_stream", "is_mobile", "p2p")
    command = commanded(**dict.fromkeys(flags, untrue))
    assert not any(getattr(command, flag) for flag in flags)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3),
    max_leaves=5,
)
MEMBERS = st.sampled_from(
    ["guild_id", "channel_id", "connection_id", "viewer_stream_keys", "latitude", "mutation_id", "base_version"]
)


@given(JSON | st.dictionaries(MEMBERS, JSON))
def test_nothing_raises(d: Any) -> None:
    command = parse_voice_state(d)
    assert command is None or (isinstance(d, dict) and isinstance(command, VoiceStateCommand))
