"""What an operation declares it reads: no declared member counts as one that nothing reads."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.api.unread_members import UnreadMembers
from chat.testing import strategies
from tests.answers import operation_of


@pytest.mark.long
@pytest.mark.parametrize("name", strategies.operations_with_bodies())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.data())
def test_every_member_that_is_declared_is_read(name: str, data: st.DataObject) -> None:
    method, _, path = name.partition(" ")
    operation = operation_of(method, path)
    assert operation is not None
    assert operation.body is not None
    unread = UnreadMembers()
    unread.judge(operation.body, data.draw(strategies.request_bodies(name)))
    assert not unread.names
