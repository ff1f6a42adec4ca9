"""The browser of these tests costs no more than the pages that they open."""

from __future__ import annotations

from playwright.sync_api import Browser


def test_the_browser_opens_no_pages_of_its_own(chromium: Browser) -> None:
    """A page of its own beside each tab takes a process and starts a program in it; `UNWANTED` turns them off."""
    with chromium.new_context() as context:
        context.new_page().goto("about:blank")
        targets = chromium.new_browser_cdp_session().send("Target.getTargets", {"filter": [{}]})["targetInfos"]
    assert sorted(target["type"] for target in targets) == ["page", "tab"], targets
