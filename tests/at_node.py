"""Tests of the gateway that run against a gateway node as well.

A pytest plugin. `--chat-gateway=node` runs whatever asks for a server against a node; modules marked `at_node` always
do (`tests/nodes/test_same_protocol.py`). What a node does not do, or would take too long for, is left out there.
"""

from __future__ import annotations

from typing import Final

import pytest

from chat.testing import options

LEFT_OUT: Final = {
    "own_gateway": "the development routes do this to the server's own gateway only",
    "own_parts": "the test reaches into the parts of the server's own gateway",
    "virtual_days": "a node wakes up ten times a second: virtual days take minutes, and time must not stand still",
}
"""Marks of tests that do not run against a node, with the reason."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known."""
    config.addinivalue_line("markers", "at_node: the gateway is a node's")
    for mark, reason in LEFT_OUT.items():
        config.addinivalue_line("markers", f"{mark}: not against a gateway node, since {reason}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what a node does not do."""
    if not (options.current().at_node or item.get_closest_marker("at_node") is not None):
        return
    for mark, reason in LEFT_OUT.items():
        if item.get_closest_marker(mark) is not None:
            pytest.skip(reason)
