"""Which program wrote an export: whoever brings one along in the browser does not say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol

from chat.errors import OperatorError
from chat.imports.community import CommunityExport
from chat.imports.discord import DiscordExport
from chat.imports.export_files import ExportFiles
from chat.imports.form import Record
from chat.imports.matrix import MatrixExport
from chat.imports.mattermost import MattermostExport
from chat.imports.slack import SlackExport
from chat.imports.wishes import ReadingWish
from chat.imports.zulip import ZulipExport
from chat.registries.imports import ImportSource


class Export(Protocol):
    """What was exported, as the readers open it."""

    @property
    def percent_read(self) -> float:
        """How much of it was read."""

    def read(self, wish: ReadingWish, now_ms: int) -> Iterator[Record]:
        """The records of the export."""


READERS: Final[Mapping[ImportSource, Callable[[ExportFiles], Export]]] = {
    ImportSource.COMMUNITY: CommunityExport.open,
    ImportSource.ZULIP: ZulipExport.open,
    ImportSource.MATTERMOST: MattermostExport.open,
    ImportSource.SLACK: SlackExport.open,
    ImportSource.MATRIX: MatrixExport.open,
    ImportSource.DISCORD: DiscordExport.open,
}
"""Who reads what. Those come first that know their exports by the name of a file; the last two look into every file."""


def recognised(files: ExportFiles) -> tuple[ImportSource, Export] | None:
    """The program that wrote an export, and its reader; None for what no reader takes."""
    for source, read in READERS.items():
        try:
            return source, read(files)
        except OperatorError:
            continue
    return None
