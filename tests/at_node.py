"""Tests of the gateway that run against a gateway node as well.

A pytest plugin. `--chat-gateway=node` runs whatever asks for a server against a node; modules marked `at_node` always
do (`tests/nodes/test_same_protocol.py`). A test marked `own_gateway` is left out there: it is about what the
development routes do to the server's own gateway alone.
"""

from __future__ import annotations

import pytest

from chat.testing import options


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known."""
    config.addinivalue_line("markers", "at_node: the gateway is a node's")
    config.addinivalue_line("markers", "own_gateway: not against a gateway node")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what a node does not do."""
    at_node = options.current().at_node or item.get_closest_marker("at_node") is not None
    if at_node and item.get_closest_marker("own_gateway") is not None:
        pytest.skip("the development routes do this to the server's own gateway only")
