"""The ledger plugin itself, run in small projects of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.spec import ledger
from tests.spec.ledger import IN_A_MARK, proves

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]

PASSING = """
    import pytest

    @pytest.mark.rule("000.a.1")
    def test_one():
        pass

    @pytest.mark.rule("000.a.1", "000.a.2")
    def test_both():
        pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Two documents: one with two rules to prove and one pending, one with nothing to prove yet."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # each run would import all of them anew
    folder = pytester.path / "spec_fixtures" / "rules"
    folder.mkdir(parents=True)
    rows = [{"id": "000.a.1"}, {"id": "000.a.2"}, {"id": "000.b.1", "pending": True}]
    (folder / "000.json").write_text(json.dumps(rows))
    (folder / "001.json").write_text(json.dumps([{"id": "001.a.1", "pending": True}]))
    pytester.makeini("[pytest]\naddopts = -p xdist -p tests.spec.ledger -p no:cacheprovider\n")
    return pytester


@contextmanager
def outside_tests() -> Iterator[None]:
    """As if no test ran."""
    running, ledger._running[:] = list(ledger._running), []
    try:
        yield
    finally:
        ledger._running[:] = running


def test_counts_what_passed_for_each_document(project: pytest.Pytester) -> None:
    project.makepyfile(PASSING)
    result = project.runpytest("--ledger", "--rules-report", "report.json")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["000: 3 rules, 2 covered, 1 pending", "001: 1 rules, 0 covered, 1 pending"])
    assert json.loads((project.path / "report.json").read_text()) == {
        "000.a.1": {"passed": 2, "failed": 0},
        "000.a.2": {"passed": 1, "failed": 0},
    }


def test_counts_across_worker_processes(project: pytest.Pytester) -> None:
    project.makepyfile(PASSING)
    result = project.runpytest("-n2", "--ledger", "--rules-report", "report.json")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["000: 3 rules, 2 covered, 1 pending"])
    assert json.loads((project.path / "report.json").read_text())["000.a.1"] == {"passed": 2, "failed": 0}


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_complete_run_fails_when_a_rule_has_no_test(project: pytest.Pytester, processes: str) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.rule("000.a.1")
        def test_one():
            pass
        """
    )
    result = project.runpytest("-n", processes, "--ledger")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["000: 3 rules, 1 covered, 1 pending", "not covered: 1", "  000.a.2"])


def test_a_partial_run_may_leave_rules_without_a_test(project: pytest.Pytester) -> None:
    project.makepyfile("def test_nothing(): pass")
    assert project.runpytest().ret == pytest.ExitCode.OK


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_complete_run_may_have_two_parts(project: pytest.Pytester, processes: str) -> None:
    project.makepyfile(PASSING)
    first = project.runpytest("-n", processes, "-k", "test_one", "--rules-report", "first.json")
    assert first.ret == pytest.ExitCode.OK
    alone = ("-n", processes, "-k", "test_both", "--ledger", "--rules-report", "both.json")
    result = project.runpytest(*alone, "--rules-before", "first.json")
    assert result.ret == pytest.ExitCode.OK
    assert json.loads((project.path / "both.json").read_text())["000.a.1"] == {"passed": 2, "failed": 0}


def test_a_failure_in_the_first_part_counts_in_the_second(project: pytest.Pytester) -> None:
    project.makepyfile(PASSING)
    (project.path / "first.json").write_text(json.dumps({"000.a.2": {"passed": 0, "failed": 1}}))
    result = project.runpytest("--ledger", "--rules-before", "first.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["not covered: 1", "  000.a.2"])


def test_one_failing_test_outweighs_the_passing_ones(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.fixture
        def broken_before():
            raise RuntimeError

        @pytest.fixture
        def broken_after():
            yield
            raise RuntimeError

        pytestmark = pytest.mark.rule("000.a.1")

        def test_passes():
            pass

        def test_fails():
            assert False

        @pytest.mark.rule("000.a.2")
        def test_fails_in_set_up(broken_before):
            pass

        @pytest.mark.rule("000.b.1")
        def test_fails_in_tear_down(broken_after):
            pass

        @pytest.mark.skip
        def test_is_skipped():
            pass

        @pytest.mark.xfail
        def test_is_expected_to_fail():
            assert False
        """
    )
    result = project.runpytest("--rules-report", "report.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["000: 3 rules, 0 covered, 1 pending"])
    assert json.loads((project.path / "report.json").read_text()) == {
        "000.a.1": {"passed": 2, "failed": 3},
        "000.a.2": {"passed": 0, "failed": 1},
        "000.b.1": {"passed": 1, "failed": 1},
    }


CONTEXTS = """
    import pytest
    from tests.spec.ledger import proves

    @pytest.mark.rule("000.b.1")
    def test_reaches_one_and_fails_in_the_next():
        with proves("000.a.1"):
            assert True
        with proves("000.a.2"):
            assert not True

    def test_never_gets_there():
        if not True:
            with proves("000.a.3"):
                assert True

    def test_passes_once_and_fails_once():
        for number in (1, 2):
            with proves("000.a.4"):
                assert number == 1

    def test_fails_inside():
        with proves("000.a.6"):
            with proves("000.a.7"):
                assert not True

    def test_skips_in_a_context():
        with proves("000.a.5"):
            pytest.skip("not here")
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_context_counts_for_itself_if_it_was_reached(project: pytest.Pytester, processes: str) -> None:
    rows = [{"id": f"000.a.{number}"} for number in range(1, 8)] + [{"id": "000.b.1"}]
    (project.path / "spec_fixtures" / "rules" / "000.json").write_text(json.dumps(rows))
    project.makepyfile(CONTEXTS)
    result = project.runpytest("-n", processes, "--rules-report", "report.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert json.loads((project.path / "report.json").read_text()) == {
        "000.a.1": {"passed": 1, "failed": 0},
        "000.a.2": {"passed": 0, "failed": 1},
        "000.a.4": {"passed": 0, "failed": 1},
        "000.a.7": {"passed": 0, "failed": 1},
        "000.b.1": {"passed": 0, "failed": 1},
    }


def test_a_context_counts_against_its_rule_if_the_test_cannot_be_torn_down(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        from tests.spec.ledger import proves

        @pytest.fixture
        def broken_after():
            yield
            raise RuntimeError

        def test_one(broken_after):
            with proves("000.a.1"):
                pass
        """
    )
    assert project.runpytest("--rules-report", "report.json").ret == pytest.ExitCode.TESTS_FAILED
    assert json.loads((project.path / "report.json").read_text()) == {"000.a.1": {"passed": 1, "failed": 1}}


def test_a_context_with_an_invented_id_fails_its_test(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from tests.spec.ledger import proves

        def test_one():
            with proves("000.a.1", "000.a.9"):
                pass
        """
    )
    result = project.runpytest("--rules-report", "report.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*LookupError: 000.a.9: no file of spec_fixtures/rules/ holds it"])
    assert json.loads((project.path / "report.json").read_text()) == {}


def test_a_context_stands_in_a_test() -> None:
    with pytest.raises(LookupError, match="stands in a test"), outside_tests(), proves("000.framing.1"):
        pass


def test_cases_of_a_rule_carry_its_mark(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        from tests.spec.ledger import cases_of

        @pytest.mark.parametrize("n", [*cases_of("000.a.1", 1, 2), *cases_of("000.a.2", 3), 4])
        def test_one(n):
            assert n != 2

        @pytest.mark.parametrize(("n", "m"), cases_of("000.b.1", (1, 2)))
        def test_pairs(n, m):
            assert n < m
        """
    )
    project.runpytest("--rules-report", "report.json").assert_outcomes(passed=4, failed=1)
    assert json.loads((project.path / "report.json").read_text()) == {
        "000.a.1": {"passed": 1, "failed": 1},
        "000.a.2": {"passed": 1, "failed": 0},
        "000.b.1": {"passed": 1, "failed": 0},
    }


def test_marks_with_more_ids_than_a_reader_can_tell_apart_stop_the_run(project: pytest.Pytester) -> None:
    rows = [{"id": f"000.a.{number}"} for number in range(1, IN_A_MARK + 2)]
    (project.path / "spec_fixtures" / "rules" / "000.json").write_text(json.dumps(rows))
    project.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.rule("000.a.1")

        @pytest.mark.rule("000.a.1", "000.a.2", "000.a.3")
        def test_three():
            pass

        @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.rule("000.a.4"))])
        @pytest.mark.rule("000.a.2", "000.a.3")
        def test_four(n):
            pass
        """
    )
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*::test_four* names 4 rules in its marks: `with proves(...)` tells them apart"])
    result.stdout.no_fnmatch_line("*::test_three*")


@pytest.mark.parametrize("processes", ["0", "2"])
def test_an_invented_id_stops_the_run(project: pytest.Pytester, processes: str) -> None:
    project.makepyfile(
        """
        import pytest

        class TestGroup:
            @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.rule("000.a.9"))])
            def test_one(self, n):
                pass
        """
    )
    result = project.runpytest("-n", processes)
    assert result.ret in {pytest.ExitCode.INTERRUPTED, pytest.ExitCode.TESTS_FAILED}
    result.stdout.fnmatch_lines(["*::test_one* names '000.a.9', which no file of spec_fixtures/rules/ holds"])


def test_an_id_that_is_in_the_ledger_twice_is_a_usage_error(project: pytest.Pytester) -> None:
    (project.path / "spec_fixtures" / "rules" / "002.json").write_text(json.dumps([{"id": "000.a.1"}]))
    result = project.runpytest_subprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*rule 000.a.1 is in the ledger twice"])


def test_collecting_only_proves_and_reports_nothing(project: pytest.Pytester) -> None:
    project.makepyfile(PASSING)
    result = project.runpytest("--collect-only", "--ledger", "--rules-report", "report.json")
    assert result.ret == pytest.ExitCode.OK
    assert not (project.path / "report.json").exists()
