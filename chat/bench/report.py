"""Figures: what was measured, in which unit, and what it should be."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import attrs


@attrs.frozen
class Figure:
    """One result. `at_least` and `at_most` are what is asked for, where something is."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether it is as asked; None where nothing is asked."""
        if self.at_least is None and self.at_most is None:
            return None
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )

    @property
    def target(self) -> str:
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return "" if self.at_most is None else f"at most {self.at_most:g}"


@attrs.frozen
class Report:
    """The figures of one bench. `notes` say what a reader has to know before believing them."""

    bench: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "bench": self.bench,
            "figures": {
                figure.name: {
                    "value": round(figure.value, 4),
                    "unit": figure.unit,
                    "target": figure.target or None,
                    "met": figure.met,
                }
                for figure in self.figures
            },
            "notes": list(self.notes),
        }


def median_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """The median of the ratios of rounds that were measured one right after the other."""
    return statistics.median(one / other for one, other in zip(numerators, denominators, strict=True) if other)


def rounded(value: float) -> str:
    """A value for people: four digits at most, thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def rows(reports: Iterable[Report]) -> list[tuple[str, str, str, str, bool | None]]:
    """Lines for a table: name, value, unit, target, whether it is met."""
    return [
        (figure.name, rounded(figure.value), figure.unit, figure.target, figure.met)
        for report in reports
        for figure in report.figures
    ]
