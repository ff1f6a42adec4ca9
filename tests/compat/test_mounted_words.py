"""What clients of the mount may say, and what becomes of objects, whatever they are made of (compat.md, Demanded
members)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from chat.compat.discord.intents import ALL_INTENTS, HEARD, is_heard, read_intents
from chat.compat.discord.objects import DEMANDED, completed
from chat.compat.discord.sockets import SAID
from chat.protocol.commands import Identify, Resume, parse_identify, parse_resume
from chat.registries.close_codes import Close
from chat.registries.opcodes import Opcode

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
TYPES: dict[str, st.SearchStrategy[Any]] = {
    "action_type": st.integers(),
    "animated": st.booleans(),
    "color": st.integers(),
    "count": st.integers(),
    "custom_status": st.none()
    | st.fixed_dictionaries({}, optional=dict.fromkeys(("text", "emoji_id", "emoji_name"), scalars)),
    "default_auto_archive_duration": st.none() | st.integers(),
    "flags": st.integers(),
    "tags": st.lists(st.text(max_size=4), max_size=3),
}
"""Of members that something is made of."""

names = sorted({mark for kind in DEMANDED for mark in kind.marks} | {"flags", "other"})
objects = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.fixed_dictionaries({}, optional={name: TYPES.get(name, inner) for name in names})
    ),
    max_leaves=30,
)
members_of_commands = st.sampled_from(
    ["token", "properties", "presence", "intents", "shard", "activities", "status", "session_id", "seq", "$os", "os"]
)
commands = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(members_of_commands, inner, max_size=6),
    max_leaves=20,
)


@given(d=st.dictionaries(members_of_commands, commands, max_size=8))
def test_whatever_a_client_says_is_read_or_refused(d: dict[str, Any]) -> None:
    assert isinstance(parse_identify(SAID[Opcode.IDENTIFY](d)), Identify | Close)
    assert isinstance(parse_resume(SAID[Opcode.RESUME](d)), Resume | Close)
    SAID[Opcode.PRESENCE_UPDATE](d)
    assert isinstance(read_intents(d.get("intents")), int | Close)


@given(token=st.text(max_size=40))
def test_a_token_of_ours_is_never_altered(token: str) -> None:
    said = SAID[Opcode.IDENTIFY]({"token": f"cht_{token}", "properties": {}})
    assert said["token"] == f"cht_{token}"


@given(intents=st.integers(0, ALL_INTENTS), more=st.integers(0, ALL_INTENTS))
def test_who_asks_for_more_hears_no_less(intents: int, more: int) -> None:
    for event in HEARD:
        for private in (False, True):
            assert not is_heard(event, intents, private=private) or is_heard(event, intents | more, private=private)


@given(value=objects)
@example(value=dict.fromkeys(("animated", "id", "joined_at", "name", "nick", "nsfw"), False))  # several kinds at once
def test_what_is_completed_keeps_what_it_had_and_is_left_alone(value: Any) -> None:
    before = json.dumps(value)
    made = completed(value)
    assert json.dumps(value) == before
    if isinstance(value, dict):
        assert value.keys() - made.keys() <= {"default_auto_archive_duration"}
        kept = value.keys() & made.keys() - {"emoji", "guild", "large", "message_snapshots", "tags"}
        assert all(made[name] == completed(value[name]) for name in kept)
    assert completed(made) == made
