"""Whatever is sent to a development route is either understood or refused in the documented form."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.api.structuring import body_structure
from chat.development.crowd import Crowd
from chat.development.faults import FaultName, FaultRequest
from chat.development.limits import LimitsChange
from chat.development.node import NodeChange
from chat.development.routes import ClockChange, RelationshipOfTwo
from chat.development.world_state import GuildChange, WorldAccountChange
from chat.errors import InvalidFormBody

BODIES = (
    WorldAccountChange,
    ClockChange,
    FaultRequest,
    GuildChange,
    Crowd,
    LimitsChange,
    NodeChange,
    RelationshipOfTwo,
)

words = st.sampled_from(
    ["", "all", "5", "-5", "x", "a@b", "2001-01-01", "2001-01-01T00:00:00Z", "10.0.0.7", *FaultName]
)
scalars = st.none() | st.booleans() | st.integers(-2, 2**64) | st.floats(allow_nan=False) | words | st.text(max_size=40)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["session_id", "user_id", "joined_at", "roles", "5", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def members_of(body: type[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any values under the names that the body has."""
    return st.dictionaries(st.sampled_from([field.name for field in attrs.fields(body)]), values)


@pytest.mark.parametrize("body", BODIES)
@given(data=st.data())
def test_a_body_is_understood_or_refused(body: type[Any], data: st.DataObject) -> None:
    sent = data.draw(values | members_of(body))
    try:
        read = body_structure(body)(sent)
        if isinstance(read, FaultRequest):
            _ = read.as_http_fault().error() if read.is_http else read.as_socket_fault()
        if isinstance(read, Crowd):
            read.parsed_shard()
    except InvalidFormBody:
        return
    assert isinstance(read, body)
