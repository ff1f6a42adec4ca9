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


def test_what_happens_while_a_page_is_fetched_counts_more_than_the_page(node_process: NodeProcess) -> None:
    store = node_process.keep("store/store", "makeStore")
    settled = node_process.keep("store/logs", "beginFetch", store.member("read"), "100")
    store.call("apply", "MESSAGE_DELETE", {"channel_id": "100", "id": "1"})
    store.call("apply", "MESSAGE_UPDATE", {"channel_id": "100", "id": "2", "content": "after"})
    store.call("apply", "MESSAGE_DELETE", {"channel_id": "200", "id": "3"})
    page = [{"id": str(number), "content": "before", "reactions": [number]} for number in (3, 2, 1)]
    assert settled.call("call", None, page) == [
        page[0],
        {"channel_id": "100", "id": "2", "content": "after", "reactions": [2]},
    ]
    later = node_process.keep("store/logs", "beginFetch", store.member("read"), "100")
    assert later.call("call", None, page) == page
