"""What an import did, as it is told: how much of each kind came, what was here before, what did not come, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.classes import define
from chat.imports.form import TROUBLES, TroubleRecord

LISTED: Final = 200
"""Things that are named one by one of those that did not come; of more there is the number."""

MISSING: Final = frozenset({"file is missing"})
"""Reasons for which the export is at fault: what it names it does not have."""

KINDS: Final = ("roles", "channels", "threads", "people", "emojis", "stickers", "messages", "reactions", "files")


@define(eq=False)
class ImportReport:
    """Counts of what came and of what was there, and what was missing or refused."""

    came: Counter[str] = attrs.field(factory=Counter)
    present: Counter[str] = attrs.field(factory=Counter)
    reasons: Counter[str] = attrs.field(factory=Counter)
    """Of what did not come, by `kind: reason`."""
    listed: list[dict[str, str]] = attrs.field(factory=list)
    bytes: int = 0
    """Of files."""
    unread: dict[str, int] = attrs.field(factory=dict)
    """By channel with new messages: the newest message that it had before. What came behind that is to count as read
    for those who had read so far."""

    def trouble(self, record: TroubleRecord) -> None:
        """Something does not come along."""
        self.reasons[f"{record.what}: {record.reason}"] += 1
        if len(self.listed) < LISTED:
            self.listed.append({"kind": record.what, "name": record.name[:200], "reason": record.reason})

    def kept(self) -> dict[str, Any]:
        """As the store has it."""
        return {
            "came": dict(self.came),
            "present": dict(self.present),
            "reasons": dict(self.reasons),
            "listed": self.listed,
            "bytes": self.bytes,
            "unread": self.unread,
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
        )


def report_fields(report: ImportReport) -> dict[str, Any]:
    """The report as it is printed."""
    split = [one.partition(": ") for one in sorted(report.reasons)]
    counted = [
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
