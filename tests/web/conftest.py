"""One Chromium and one `chat dev` for each module of browser tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.web.browsing import CHROMIUM, FLAGS, SHELL, WAIT_MS, Instance, Visitor, instance

MakeVisitor = Callable[..., Any]


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark."""
    config.addinivalue_line("markers", "whole_browser: Chromium with all that it has around its pages")


def pytest_itemcollected(item: pytest.Item) -> None:
    """What opens a browser takes long."""
    if "chromium" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.long)


@pytest.fixture(scope="module")
def chromium(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """The system's Chromium: its engine, or all of it where the module has the mark `whole_browser`."""
    if CHROMIUM is None:
        if "TESTS_REQUIRE_CHROMIUM" in os.environ:
            pytest.fail("TESTS_REQUIRE_CHROMIUM is set and there is no chromium")
        pytest.skip("no chromium on this machine")
    expect.set_options(timeout=WAIT_MS)
    program = CHROMIUM if request.node.get_closest_marker("whole_browser") else SHELL
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS), headless=True)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    """A `chat dev` with its stock settings."""
    with instance() as running:
        yield running


@pytest.fixture
def visit(chromium: Browser, home: Instance) -> Iterator[MakeVisitor]:
    """Makes visitors; what their pages did wrong fails the test."""
    visitors: list[Visitor] = []

    def make(at: Instance = home, *, kind: type[Visitor] = Visitor, **options: Any) -> Any:
        visitor = kind(chromium, at, **options)
        visitors.append(visitor)
        return visitor

    yield make
    for visitor in visitors:
        visitor.close()


@pytest.fixture
def visitor(visit: MakeVisitor) -> Visitor:
    """A person at the stock instance."""
    return visit()
