"""The services whose exports are made and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
from hypothesis import strategies as st

from chat.imports.matrix import MatrixExport
from chat.imports.mattermost import MattermostExport
from chat.imports.slack import SlackExport
from chat.imports.zulip import ZulipExport
from tests.imports.matrix_maker import write_matrix
from tests.imports.mattermost_maker import write_mattermost
from tests.imports.slack_maker import write_slack
from tests.imports.talk_world import PLAIN, World
from tests.imports.zulip_maker import write_zulip

PLAIN_WORDS: Final = st.text(
    st.sampled_from("abXY 01_|<>.,&;\N{LATIN SMALL LETTER U WITH DIAERESIS}"), min_size=1, max_size=12
)
"""Zulip takes no backslash before marks, so there are none but those that say nothing there."""

WITHOUT_MARKS: Final = PLAIN.map(lambda text: text.translate(dict.fromkeys(map(ord, "`*_~"))))
"""A text of Slack's cannot say that a star is only a star."""


@attrs.frozen
class Service:
    """How a service's export is made and read; `pins` tells whether it says what is pinned."""

    write: Callable[[Path, World], Path]
    export: Any
    pins: bool = True
    topics: bool = False
    """Whether every message stands in a thread, those that answer nothing each in one of its own."""
    files: int | None = None
    """That a message has at most."""
    plain: st.SearchStrategy[str] = PLAIN
    """Texts without marks as its maker can write them."""


SERVICES: Final[Mapping[str, Service]] = {
    "slack": Service(write_slack, SlackExport, plain=WITHOUT_MARKS),
    "mattermost": Service(write_mattermost, MattermostExport),
    "matrix": Service(write_matrix, MatrixExport, files=1),
    "zulip": Service(write_zulip, ZulipExport, pins=False, topics=True, plain=PLAIN_WORDS),
}
