"""The ledger of rules: which numbered rule of the documents has a test, and whether that test passes.

A pytest plugin. `spec_fixtures/rules/*.json` numbers every rule, and an id stands beside its assertion:

    with proves("000.framing.4"):
        assert ...

counts for the rule once the statements under it have run to their end, and against it if they raise. A test that is
about one thing says what it proves with `@pytest.mark.rule("000.framing.4")`, with three ids at most, and its outcome
goes to those rules. It works the same with pytest-xdist: the ids travel with the test's report.

    --rules-report FILE    writes {id: {"passed": n, "failed": n}} for every rule that a test of this run names
    --rules-before FILE    counts what an earlier part of the same run has written there as well
    --ledger               says that the run is complete now: a rule that is neither pending nor covered fails it

A rule is covered when a test or a context that names it passed and none failed.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
import pytest
from _pytest.mark import ParameterSet

RULES_FOLDER: Final = Path("spec_fixtures", "rules")
"""Where the ledger's files are, from the root of the project."""

PROPERTY: Final = "rules"
"""The user property under which a report carries the ids that its test's marks name."""

PROOFS: Final = "rule-proofs"
"""The user property under which a report carries what the contexts of its test found out: {id: whether it passed}."""

IN_A_MARK: Final = 3
"""The ids that the marks of one test can name. Beyond that a reader cannot tell which assertion proves which."""


@attrs.define
class Outcome:
    """How often tests that name a rule passed and failed."""

    passed: int = 0
    failed: int = 0

    @property
    def covers(self) -> bool:
        """Whether this is proof enough."""
        return self.passed > 0 and self.failed == 0


@attrs.frozen
class Ledger:
    """The rules (id, and whether each is pending) and what this run found out about them."""

    pending: dict[str, bool]
    outcomes: dict[str, Outcome] = attrs.field(factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Ledger:
        """The ledger as the files of the folder have it; an id that occurs twice is a usage error."""
        pending: dict[str, bool] = {}
        for path in sorted(folder.glob("*.json")):
            for row in json.loads(path.read_text(encoding="utf-8")):
                if row["id"] in pending:
                    raise pytest.UsageError(f"{path}: rule {row['id']} is in the ledger twice")
                pending[row["id"]] = row.get("pending", False)
        return cls(pending)

    def note(self, rules: Iterable[str], *, passed: bool) -> None:
        """One more test that names these rules has passed or failed."""
        for rule in rules:
            outcome = self.outcomes.setdefault(rule, Outcome())
            if passed:
                outcome.passed += 1
            else:
                outcome.failed += 1

    def add(self, report: Mapping[str, Mapping[str, int]]) -> None:
        """What an earlier part of the run has found out counts as well."""
        for rule, counted in report.items():
            outcome = self.outcomes.setdefault(rule, Outcome())
            outcome.passed += counted["passed"]
            outcome.failed += counted["failed"]

    def is_covered(self, rule: str) -> bool:
        """Whether this run proves the rule."""
        return rule in self.outcomes and self.outcomes[rule].covers

    def uncovered(self) -> list[str]:
        """The rules that have to be proved and are not."""
        return [rule for rule, pending in self.pending.items() if not pending and not self.is_covered(rule)]

    def summary(self) -> list[str]:
        """One line for each document."""
        lines = []
        for document in sorted({rule.partition(".")[0] for rule in self.pending}):
            rules = [rule for rule in self.pending if rule.startswith(f"{document}.")]
            covered = sum(self.is_covered(rule) for rule in rules)
            pending = sum(self.pending[rule] for rule in rules)
            lines.append(f"{document}: {len(rules)} rules, {covered} covered, {pending} pending")
        return lines

    def report(self) -> dict[str, dict[str, int]]:
        """What `--rules-report` writes."""
        return {rule: attrs.asdict(outcome) for rule, outcome in sorted(self.outcomes.items())}


LEDGER: Final = pytest.StashKey[Ledger]()

_running: Final[list[tuple[Ledger, dict[str, bool], list[BaseException]]]] = []
"""The ledger of the test that runs, what its contexts have found out, and the failures that one has answered for.
Runs inside runs (pytester) lie above."""


@contextmanager
def proves(*ids: str) -> Iterator[None]:
    """The statements under it prove these rules.

    A rule whose context is not reached is not proved, nor is one whose context ends early because one inside it
    failed: that one answers for it. A context that is entered more than once in a test passes if it passed each time.
    Raises LookupError outside a test, and for an id that no rule has.
    """
    if not _running:
        raise LookupError("proves() stands in a test")
    ledger, found, blamed = _running[-1]
    if invented := [rule for rule in ids if rule not in ledger.pending]:
        raise LookupError(f"{', '.join(invented)}: no file of {RULES_FOLDER}/ holds it")
    try:
        yield
    except pytest.skip.Exception:
        raise
    except BaseException as error:
        if all(error is not one for one in blamed):
            blamed.append(error)
            found.update(dict.fromkeys(ids, False))
        raise
    for rule in ids:
        found.setdefault(rule, True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of this plugin."""
    group = parser.getgroup("ledger", "the ledger of the documents' rules")
    group.addoption("--rules-report", type=Path, metavar="FILE", help="write the outcome of each rule to FILE as JSON")
    group.addoption("--rules-before", type=Path, metavar="FILE", help="add what an earlier part of the run wrote there")
    group.addoption(
        "--ledger", action="store_true", help="complete run: fail when a rule is neither pending nor covered"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the ledger and make the marker known."""
    config.addinivalue_line("markers", "rule(*ids): the rules of the documents, by their ids, that this test proves")
    config.stash[LEDGER] = Ledger.read(config.rootpath / RULES_FOLDER)


def rules_of(item: pytest.Item) -> list[str]:
    """The ids that a test names, its module's and class's included, each once."""
    return list(dict.fromkeys(rule for marker in item.iter_markers("rule") for rule in marker.args))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse marks with ids that no rule has, and with more ids than a reader can tell apart."""
    report = yield
    known = collector.config.stash[LEDGER].pending
    wrong = []
    for node in report.result or ():
        if isinstance(node, pytest.Item):
            rules = rules_of(node)
            invented = [rule for rule in rules if rule not in known]
            wrong += [f"{node.nodeid} names {rule!r}, which no file of {RULES_FOLDER}/ holds" for rule in invented]
            if len(rules) > IN_A_MARK:
                wrong.append(
                    f"{node.nodeid} names {len(rules)} rules in its marks: `with proves(...)` tells them apart"
                )
    if wrong:
        report.outcome = "failed"
        report.longrepr = "\n".join(wrong)
    return report


def pytest_itemcollected(item: pytest.Item) -> None:
    """Send the ids along with the test's reports."""
    rules = rules_of(item)
    if rules:
        item.user_properties.append((PROPERTY, rules))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Send along what the contexts of the test find out."""
    found: dict[str, bool] = {}
    _running.append((item.config.stash[LEDGER], found, []))
    try:
        return (yield)
    finally:
        _running.pop()
        if found:
            item.user_properties.append((PROOFS, found))


def cases_of(rule: str, *cases: object) -> list[ParameterSet]:
    """Cases of a parametrized test that prove one rule; a tuple is one case with several values."""
    mark = pytest.mark.rule(rule)
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=mark) for case in cases]


class Recorder:
    """Listens to the reports of the process that leads the run."""

    def __init__(self, config: pytest.Config, ledger: Ledger) -> None:
        self.config = config
        self.ledger = ledger

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A call counts as it ends, a context in it as that ended; before and after the call only failure counts."""
        if report.skipped or hasattr(report, "wasxfail") or (report.passed and report.when != "call"):
            return
        for name, rules in report.user_properties:
            if name == PROPERTY and isinstance(rules, list):
                self.ledger.note(rules, passed=report.passed)
            elif name == PROOFS and isinstance(rules, dict):
                for rule, passed in rules.items():
                    self.ledger.note([rule], passed=passed and report.when == "call")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int | pytest.ExitCode) -> None:
        """Write the report; turn success into failure when a complete run leaves rules unproved."""
        if self.config.option.collectonly:
            return
        path: Path | None = self.config.option.rules_report
        if path is not None:
            path.write_text(json.dumps(self.ledger.report(), indent=1) + "\n", encoding="utf-8")
        if self.config.option.ledger and exitstatus == pytest.ExitCode.OK and self.ledger.uncovered():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line for each document, and under --ledger the rules that are missing."""
        if self.config.option.collectonly or not self.ledger.pending:
            return
        terminalreporter.section("rules of the documents")
        for line in self.ledger.summary():
            terminalreporter.write_line(line)
        uncovered = self.ledger.uncovered()
        if self.config.option.ledger and uncovered:
            terminalreporter.write_line(f"not covered: {len(uncovered)}", red=True)
            for rule in uncovered:
                terminalreporter.write_line(f"  {rule}")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Record in the leading process only: workers of pytest-xdist send their reports there."""
    config = session.config
    if not hasattr(config, "workerinput"):
        before: Path | None = config.option.rules_before
        if before is not None:
            config.stash[LEDGER].add(json.loads(before.read_text(encoding="utf-8")))
        config.pluginmanager.register(Recorder(config, config.stash[LEDGER]), "ledger-recorder")
