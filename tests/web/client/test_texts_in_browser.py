"""Texts as strangers write them, drawn by Chromium on a telephone and on a desk. Area: the web client's texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, expect

from tests.web.browsing import Instance, Visitor
from tests.web.conftest import MakeVisitor

SIZES: Final = ({"width": 360, "height": 740}, {"width": 1280, "height": 900})

TEXTS: Final = (
    "[name](https://en.wikipedia.org/wiki/Foo_(bar)) [pointed](<https://e.example/x>) "
    "[titled](https://e.example 'title')",
    "\u770b\u8fd9\u4e2ahttps://e.example/a \u89c1 https://e.example/b\u3002\u8c22\u8c22 Https://e.example/c_",
    "> quoted\n> ```js\n> let a = 1\n> ```\n> behind",
    "````md\r\n```js\r\nlet a\r\n```\r\n````",
    "- first\n  ```py\n  def f():\n      pass\n  ```\n- second ** not bold **\n  goes on",
    "`code\n@everyone` https://medium.example/@everyone/x \\@everyone",
    "**\u91cd\u8981\uff1a**\u8bf7\u770b || hidden https://e.example/secret || ***both*** _see https://e.example/d_",
)


@pytest.fixture
def said(home: Instance) -> dict[str, Any]:
    """The messages, in a channel of Alice's guild."""
    alice = home.person("alice")
    channel = home.world["channel_id"]
    ids = []
    for text in TEXTS:
        message = home.call("POST", f"/v1/channels/{channel}/messages", {"content": text}, alice["token"])
        assert not message["mention_everyone"]
        ids.append(message["id"])
    return {"guild": home.world["guild_id"], "channel": channel, "ids": ids}


def links_of(message: Locator) -> list[str | None]:
    hrefs: list[str | None] = message.locator(".text a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    return hrefs


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size["width"]))
def test_texts_are_drawn_as_they_are_meant(
    home: Instance, visit: MakeVisitor, said: dict[str, Any], size: dict[str, int], tmp_path: Path
) -> None:
    bob: Visitor = visit(viewport=size, reduced_motion="reduce")
    bob.is_signed_in_as(home.person("bob"))
    bob.goes_to(f"/channels/{said['guild']}/{said['channel']}")
    messages = [bob.page.locator(f'article[data-id="{message_id}"]') for message_id in said["ids"]]
    for message in messages:
        expect(message).to_have_count(1)
    bob.page.screenshot(path=tmp_path / "texts.png")
    assert links_of(messages[0]) == [
        "https://en.wikipedia.org/wiki/Foo_(bar)", "https://e.example/x", "https://e.example",
    ]  # fmt: skip
    expect(messages[0].locator(".text")).to_have_text("name pointed titled")
    assert links_of(messages[1]) == ["https://e.example/a", "https://e.example/b", "Https://e.example/c_"]
    expect(messages[2].locator("blockquote pre code")).to_have_text("let a = 1")
    expect(messages[3].locator("pre code")).to_have_text("```js\nlet a\n```")
    expect(messages[4].locator("li").first.locator("pre code")).to_have_text("def f():\n    pass")
    expect(messages[4].locator("strong")).to_have_count(0)
    expect(messages[5].locator(".mention")).to_have_count(0)
    assert links_of(messages[5]) == ["https://medium.example/@everyone/x"]
    expect(messages[6].locator("strong").first).to_have_text("\u91cd\u8981\uff1a")
    expect(messages[6].locator(".spoiler")).to_have_count(1)
    expect(messages[6].locator("em").last).to_have_text("see https://e.example/d")
    bob.page_fits()
