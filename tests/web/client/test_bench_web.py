"""`chat bench web` runs, in the smallest way, and reports its figures. Area: the web client as a whole."""

from __future__ import annotations

import json
import subprocess
import sys

from playwright.sync_api import Browser

FIGURES = {
    "first_visit",
    "first_visit_requests",
    "first_message",
    "ready_to_painted",
    "scrolling_longest_task",
    "scrolling_heap",
    "talking_longest_task",
    "talking_rate",
    "enter_to_shown_p50",
}


def test_it_reports(chromium: Browser) -> None:
    assert chromium.is_connected()  # else there is none to measure with
    command = [sys.executable, "-m", "chat", "bench", "web", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["figures"]
    assert set(figures) == FIGURES
    # What does not depend on the machine holds even so.
    assert figures["first_visit"]["value"] < 180
    assert figures["first_visit_requests"]["value"] < 40
