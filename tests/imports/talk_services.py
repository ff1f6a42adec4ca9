"""The services whose exports are made and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from chat.imports.mattermost import MattermostExport
from chat.imports.slack import SlackExport
from tests.imports.mattermost_maker import write_mattermost
from tests.imports.slack_maker import write_slack
from tests.imports.talk_world import World


@attrs.frozen
class Service:
    """How a service's export is made and read; `pins` tells whether it says what is pinned."""

    write: Callable[[Path, World], Path]
    export: Any
    pins: bool = True


SERVICES: Final[Mapping[str, Service]] = {
    "slack": Service(write_slack, SlackExport),
    "mattermost": Service(write_mattermost, MattermostExport),
}
