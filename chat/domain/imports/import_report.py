"""What an import did, as it is told: how much of each kind came, what was here before, what did not come, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

import attrs

from chat.classes import define
from chat.imports.form import TROUBLES, TroubleRecord

LISTED: Final = 200
"""Things that are named one by one of those that did not come; of more there is the number."""

MISSING: Final = frozenset({"encrypted", "file is missing"})
"""Reasons for which the export is at fault: what it names it does not have."""

KINDS: Final = ("roles", "channels", "threads", "people", "emojis", "stickers", "messages", "reactions", "files")


class ListedTrouble(TypedDict):
    """One thing that did not come."""

    kind: str
    name: str
    reason: str


class CountedTrouble(TypedDict):
    """How much of a kind did not come for one reason; `words` say the reason to people."""

    kind: str
    reason: str
    words: str
    count: int


class ReportFields(TypedDict):
    """A report as it is printed; counts are by kind, `bytes` are those of files."""

    counts: dict[str, int]
    present: dict[str, int]
    bytes: int
    missing: list[CountedTrouble]
    refused: list[CountedTrouble]
    listed: list[ListedTrouble]


class ImportFields(ReportFields):
    """An import as it is printed. A dry run has no id, no guild and no moments."""

    id: str | None
    guild_id: str | None
    state: str
    source: NotRequired[str]
    path: NotRequired[str]
    cancel_requested: NotRequired[bool]
    created_at: NotRequired[str]
    changed_at: NotRequired[str]
    completed_at: NotRequired[str | None]


class KeptReport(TypedDict):
    """A report as the store has it."""

    came: dict[str, int]
    present: dict[str, int]
    reasons: dict[str, int]
    listed: list[ListedTrouble]
    bytes: int
    unread: dict[str, int]
    made_unread: bool


@define(eq=False)
class ImportReport:
    """Counts of what came and of what was there, and what was missing or refused."""

    came: Counter[str] = attrs.field(factory=Counter)
    present: Counter[str] = attrs.field(factory=Counter)
    reasons: Counter[str] = attrs.field(factory=Counter)
    """Of what did not come, by `kind: reason`."""
    listed: list[ListedTrouble] = attrs.field(factory=list)
    bytes: int = 0
    """Of files."""
    unread: dict[str, int] = attrs.field(factory=dict)
    """By channel with new messages that was here before: the newest message that it had then. What came behind that is
    to count as read for those who had read so far."""
    made_unread: bool = False
    """Whether the channels that the import has made are still to count as read."""

    def trouble(self, record: TroubleRecord) -> None:
        """Something does not come along."""
        self.reasons[f"{record.what}: {record.reason}"] += 1
        if len(self.listed) < LISTED:
            self.listed.append({"kind": record.what, "name": record.name[:200], "reason": record.reason})

    def kept(self) -> KeptReport:
        """As the store has it."""
        return {
            "came": dict(self.came),
            "present": dict(self.present),
            "reasons": dict(self.reasons),
            "listed": self.listed,
            "bytes": self.bytes,
            "unread": self.unread,
            "made_unread": self.made_unread,
        }

    @staticmethod
    def of(kept: Mapping[str, Any]) -> ImportReport:
        """What was kept; an empty one where nothing was."""
        if not kept:
            return ImportReport()
        return ImportReport(
            Counter(kept["came"]),
            Counter(kept["present"]),
            Counter(kept["reasons"]),
            list(kept["listed"]),
            kept["bytes"],
            dict(kept["unread"]),
            kept.get("made_unread", False),
        )


def report_fields(report: ImportReport) -> ReportFields:
    """The report as it is printed."""
    split = [one.partition(": ") for one in sorted(report.reasons)]
    counted: list[CountedTrouble] = [
        {"kind": kind, "reason": reason, "words": TROUBLES[reason], "count": report.reasons[f"{kind}: {reason}"]}
        for kind, _, reason in split
    ]
    return {
        "counts": {kind: report.came[kind] for kind in KINDS},
        "present": {kind: report.present[kind] for kind in KINDS},
        "bytes": report.bytes,
        "missing": [one for one in counted if one["reason"] in MISSING],
        "refused": [one for one in counted if one["reason"] not in MISSING],
        "listed": report.listed,
    }
