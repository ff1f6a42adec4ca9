"""Figures, targets and ratios."""

import pytest

from chat.bench.measuring import BenchReport, Figure, median_ratio, rounded, rows


@pytest.mark.parametrize(
    ("figure", "met", "target"),
    [
        (Figure("ratio", 0.6, "of the floor", at_least=0.6), True, "at least 0.6"),
        (Figure("ratio", 0.59, "of the floor", at_least=0.6), False, "at least 0.6"),
        (Figure("memory", 32.0, "KiB", at_most=32.0), True, "at most 32"),
        (Figure("memory", 32.1, "KiB", at_most=32.0), False, "at most 32"),
        (Figure("rate", 5.0, "writes/s"), None, ""),
    ],
)
def test_a_figure_knows_whether_its_target_is_met(figure: Figure, met: bool | None, target: str) -> None:
    assert figure.met is met
    assert figure.target == target


def test_a_ratio_is_the_median_of_rounds_that_belong_together() -> None:
    assert median_ratio([10.0, 30.0, 80.0], [10.0, 10.0, 20.0]) == 3.0


@pytest.mark.parametrize(("value", "text"), [(0.12345, "0.123"), (12.345, "12.3"), (1234567.8, "1,234,568")])
def test_people_get_short_numbers(value: float, text: str) -> None:
    assert rounded(value) == text


def test_a_report_as_json_and_as_lines() -> None:
    report = BenchReport("store", (Figure("rate", 5.0, "writes/s"), Figure("size", 1.0, "MB", at_most=2.0)), ("busy",))
    assert report.as_json() == {
        "bench": "store",
        "figures": {
            "rate": {"value": 5.0, "unit": "writes/s", "target": None, "met": None},
            "size": {"value": 1.0, "unit": "MB", "target": "at most 2", "met": True},
        },
        "notes": ["busy"],
    }
    assert rows([report]) == [
        ("rate", "5", "writes/s", "", None),
        ("size", "1", "MB", "at most 2", True),
    ]
