"""Who watches a topic of the client's store is run once a flush, and harms no other watcher."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.client.node import NodeProcess, running_node


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


def test_a_watcher_runs_once_a_flush_with_all_its_topics(node_process: NodeProcess) -> None:
    assert node_process.call("./watchers", "onceAFlush") == {
        "before": [],
        "runs": [["read:5", "read:6"]],
        "again": [["read:5", "read:6"]],
        "ended": [["read:5", "read:6"]],
        "wakes": 2,
        "versions": [2, 1, 0],
    }


def test_a_watcher_that_throws_harms_no_other(node_process: NodeProcess) -> None:
    assert node_process.call("./watchers", "oneThrows") == {"ran": 2, "reported": ["Error: oh"]}


@pytest.mark.parametrize("name", ["NOT_YET_INVENTED", "constructor", "toString", ""])
def test_an_unknown_dispatch_is_passed_over(node_process: NodeProcess, name: str) -> None:
    store = node_process.keep("store/store", "makeStore")
    assert store.call("apply", name, {"id": "1"}) is None
