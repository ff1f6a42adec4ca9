"""The plugin that leaves long tests out, run in small projects of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A file with a short test and two long ones."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # each run would import all of them anew
    pytester.makeini("[pytest]\naddopts = --strict-markers -p xdist -p tests.long -p no:cacheprovider\n")
    pytester.makepyfile(
        test_file="""
        import pytest

        def test_short():
            pass

        @pytest.mark.long
        @pytest.mark.parametrize("n", [1, 2])
        def test_long(n):
            pass
        """
    )
    return pytester


@pytest.mark.parametrize("processes", ["0", "1"])
def test_a_run_leaves_long_tests_out_and_says_so(project: pytest.Pytester, processes: str) -> None:
    result = project.runpytest("-n", processes)
    assert result.parseoutcomes()["passed"] == 1
    result.stdout.fnmatch_lines(["2 long tests left out: `-m long` runs them"])


@pytest.mark.parametrize("processes", ["0", "1"])
@pytest.mark.parametrize(
    ("asked", "ran"),
    [
        (["-m", "long"], 2),
        (["-m", "long or not long"], 3),
        (["test_file.py"], 3),
        (["test_file.py::test_long"], 2),
        (["test_file.py::test_long[1]"], 1),
    ],
)
def test_they_run_when_asked_for(project: pytest.Pytester, processes: str, asked: list[str], ran: int) -> None:
    result = project.runpytest("-n", processes, *asked)
    assert result.parseoutcomes()["passed"] == ran
    assert "left out" not in str(result.stdout)


@pytest.mark.parametrize("processes", ["0", "1"])
def test_what_takes_minutes_begins(project: pytest.Pytester, processes: str) -> None:
    project.makepyfile(
        test_later="""
        import pytest

        @pytest.mark.long
        def test_seconds():
            pass

        @pytest.mark.long(minutes=1)
        def test_a_minute():
            pass

        @pytest.mark.long(minutes=2)
        def test_two_minutes():
            pass
        """
    )
    result = project.runpytest("-n", processes, "-m", "long", "-v")
    tests = ["*two_minutes*", "*a_minute*", "*test_long*1*", "*test_long*2*", "*seconds*"]
    result.stdout.fnmatch_lines([f"{test}PASSED*" if processes == "0" else f"*PASSED{test}" for test in tests])
