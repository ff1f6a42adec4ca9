"""Alerts and dashboard: every query names what the server really exposes, and Prometheus itself runs all of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import trio
import yaml
from prometheus_client.parser import text_string_to_metric_families

from chat import monitoring
from chat.store.administration import backups
from chat.store.administration.backups import BackupRecord
from chat.store.guard import UNGUARDED
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.cli.command_line import Run
from tests.cli.conftest import run as run
from tests.durability.server_process import ServerProcess, running
from tests.patience import PATIENCE_SECONDS

METRICS: Final[dict[str, dict[str, Any]]] = json.loads(Path("spec_fixtures/metrics.json").read_text("utf-8"))["metrics"]
"""What `tests/test_metrics.py` holds against the real exposition, both ways."""

PROCESS: Final = {
    "process_cpu_seconds_total": "counter",
    "process_max_fds": "gauge",
    "process_open_fds": "gauge",
    "process_resident_memory_bytes": "gauge",
    "process_start_time_seconds": "gauge",
}
"""Of those that every program of Prometheus has (`ProcessCollector`)."""

PROMETHEUS_OWN: Final = frozenset({"up"})
SCRAPED: Final = frozenset({"job", "instance"})
"""Labels that Prometheus adds."""

DASHBOARD: Final[dict[str, Any]] = json.loads(monitoring.text_of(monitoring.DASHBOARD))
RULES: Final[list[dict[str, Any]]] = yaml.safe_load(monitoring.text_of(monitoring.ALERTS))["groups"][0]["rules"]
TESTS: Final = Path(__file__).parent / "alerts_test.yml"

NAME: Final = re.compile(r"\b((?:chat|process)_[a-z_]+|up)\b")
SELECTOR: Final = re.compile(r"\b((?:chat|process)_[a-z_]+|up)\{([^}]*)\}")
GROUPED: Final = re.compile(r"\b(?:by|ignoring|on) \(([^)]*)\)")


def queries() -> dict[str, str]:
    """Every query by where it stands."""
    found = {f"alert {rule['alert']}": rule["expr"] for rule in RULES}
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            found[f"panel {panel['title']} {target['refId']} {panel['id']}"] = target["expr"]
    for annotation in DASHBOARD["annotations"]["list"]:
        found[f"annotation {annotation['name']}"] = annotation["expr"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            found[f"variable {variable['name']}"] = variable["query"]["query"]
    return found


def entry_of(name: str) -> dict[str, Any] | None:
    """The metric that a series belongs to."""
    if name in PROCESS:
        return {"type": PROCESS[name], "labels": {}}
    series = re.sub(r"_(bucket|count|sum)$", "", name)
    return METRICS.get(name) or (METRICS.get(series) if METRICS.get(series, {}).get("type") == "histogram" else None)


@pytest.mark.parametrize("place", queries())
def test_every_query_names_what_there_is(place: str) -> None:
    query = queries()[place]
    names = [name for name in NAME.findall(query) if name not in PROMETHEUS_OWN]
    labels = set(SCRAPED)
    for name in names:
        entry = entry_of(name)
        assert entry is not None, f"{place}: there is no {name}"
        labels |= {*entry["labels"], *(["le"] if name.endswith("_bucket") else [])}
        if entry["type"] == "counter":
            assert re.search(rf"\b(rate|increase)\({name}[^)]*\[", query), f"{place}: {name} only ever grows"
    for name, matchers in SELECTOR.findall(query):
        entry = entry_of(name) or {"labels": {}}
        for label, value in re.findall(r'([a-z_]+)=~?"([^"]*)"', matchers):
            assert label in entry["labels"].keys() | SCRAPED, f"{place}: {name} has no {label}"
            known = entry["labels"].get(label)
            assert not isinstance(known, list) or value in known, f"{place}: {label} is never {value}"
    for group in GROUPED.findall(query):
        assert set(re.findall(r"[a-z_]+", group)) <= labels, place
    assert names or "up{" in query


def test_every_alert_says_what_to_do_and_has_a_test() -> None:
    for rule in RULES:
        assert rule["annotations"].keys() == {"summary", "action"}, rule["alert"]
        assert rule["labels"]["severity"] in {"warning", "critical"}
    cases = [case for group in yaml.safe_load(TESTS.read_text("utf-8"))["tests"] for case in group["alert_rule_test"]]
    raised = {case["alertname"] for case in cases if case.get("exp_alerts")}
    assert raised == {case["alertname"] for case in cases} == {rule["alert"] for rule in RULES}


def test_the_dashboard_is_in_order() -> None:
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells


def test_the_files_are_printed(run: Run) -> None:
    assert run("monitoring", "alerts").out == monitoring.text_of(monitoring.ALERTS)
    assert json.loads(run("monitoring", "dashboard").out) == DASHBOARD
    scrape = yaml.safe_load(run("monitoring", "scrape", "--target", "10.0.0.2:9090").out)
    assert scrape["scrape_configs"][0]["job_name"] == "chat"
    assert scrape["scrape_configs"][0]["static_configs"] == [{"targets": ["10.0.0.2:9090"]}]


# The real programs


def program(name: str) -> str:
    """Where a program is; the test is left out, or fails where it must not be."""
    found = shutil.which(name)
    if found is None:
        if "TESTS_REQUIRE_PROMETHEUS" in os.environ:
            pytest.fail(f"TESTS_REQUIRE_PROMETHEUS is set and there is no {name}")
        pytest.skip(f"no {name} on this machine")
    return found


def try_alerts(folder: Path, tests: str) -> None:
    """What promtool says of the alerts, and of these tests of them."""
    promtool = program("promtool")
    (folder / "alerts.yml").write_text(monitoring.text_of(monitoring.ALERTS))
    (folder / "alerts_test.yml").write_text(tests)
    for command in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        ended = subprocess.run([promtool, *command], cwd=folder, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.long
def test_promtool_tries_every_alert(tmp_path: Path) -> None:
    try_alerts(tmp_path, TESTS.read_text("utf-8"))


FIRING: Final = 'count by (alertname) (ALERTS{alertstate="firing"})'


def firing_at(page: str, expected: dict[str, set[str]]) -> dict[str, Any]:
    """A test of promtool: of a page of metrics that stays as it is, the alerts that fire by the time since 1970."""
    samples = (sample for family in text_string_to_metric_families(page) for sample in family.samples)
    plain = {sample.name: int(sample.value) for sample in samples if not sample.labels}
    names = [name for name in plain if name.startswith(("chat_backup", "chat_disk"))]
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": f"{plain[name]}x600"} for name in names],
        "promql_expr_test": [
            {
                "expr": FIRING,
                "eval_time": moment,
                "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in sorted(alerts)],
            }
            for moment, alerts in expected.items()
        ],
    }


@pytest.mark.long
@pytest.mark.chat_settings(
    metrics="on", **{"backup.directory": "kept", "backup.every": 1, "storage.warn_bytes": 1 << 52}
)
async def test_alerts_follow_the_settings_of_a_server(
    chat_world: World, chat_server: ChatServer, tmp_path: Path
) -> None:
    before = (await chat_world.anyone.get("/metrics")).body.decode()
    made = BackupRecord(directory="kept", tried_at=3_600_000, made_at=3_600_000, made_path="kept/1")
    await chat_server.database.write(partial(backups.note, known=made), guard=UNGUARDED)
    after = (await chat_world.anyone.get("/metrics")).body.decode()
    tests = [
        firing_at(before, {"5m": set(), "5h": {"ChatDiskLow"}, "7h": {"ChatDiskLow", "ChatBackupNever"}}),
        firing_at(after, {"179m": {"ChatDiskLow"}, "182m": {"ChatDiskLow", "ChatBackupOld"}}),
    ]
    text = yaml.safe_dump({"rule_files": ["alerts.yml"], "evaluation_interval": "1m", "tests": tests})
    await trio.to_thread.run_sync(try_alerts, tmp_path, text)


class Prometheus:
    """A running one."""

    def __init__(self, port: int) -> None:
        self._origin = f"http://127.0.0.1:{port}"

    def asked(self, path: str, **query: str) -> Any:
        """What it answers; its data."""
        address = f"{self._origin}{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
            body = json.loads(answer.read())
        assert body["status"] == "success", body
        return body["data"]

    def series(self, query: str) -> list[Any]:
        found: list[Any] = self.asked("/api/v1/query", query=query)["result"]
        return found


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[Prometheus]:
    """Scrapes the target each half second, with the alerts."""
    binary = program("prometheus")
    (folder / "alerts.yml").write_text(monitoring.text_of(monitoring.ALERTS))
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 500ms, evaluation_interval: 500ms}\nrule_files: [alerts.yml]\n"
        f"scrape_configs:\n  - job_name: chat\n    static_configs: [{{targets: ['{target}']}}]\n"
    )
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            [
                binary,
                f"--config.file={folder}/prometheus.yml",
                f"--storage.tsdb.path={folder}/tsdb",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            assert process.poll() is None, (folder / "prometheus.log").read_text()
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=5).close()
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.1)
        yield Prometheus(port)
    finally:
        process.terminate()
        process.wait()


async def goes_on(server: ServerProcess) -> None:
    """Requests and writes, for ever."""
    number = 0
    while True:
        await server.alice.post(f"/v1/channels/{server.channel_id}/messages", {"content": str(number)})
        await server.bob.get("/v1/users/@me")
        await trio.sleep(0.1)
        number += 1


OF_NODES: Final = frozenset(panel["title"] for panel in DASHBOARD["panels"] if "chat_node_" in json.dumps(panel))
MAY_BE_EMPTY: Final = frozenset({"Sockets that ended", "Refused by limits"}) | OF_NODES
"""Panels about what does not happen here: there are no gateway nodes."""


@pytest.mark.long
async def test_prometheus_answers_every_query(tmp_path: Path) -> None:
    program("prometheus")
    async with running(tmp_path / "data", CHAT_METRICS="on") as server, trio.open_nursery() as nursery:
        client = await server.connect(nursery)
        await client.identify(server.token_of("carol"))
        await client.expect("READY")
        nursery.start_soon(goes_on, server)

        def ask() -> None:
            with prometheus(tmp_path, f"127.0.0.1:{server.route.port}") as scraper:
                until = time.monotonic() + PATIENCE_SECONDS
                while not scraper.series('rate(chat_event_loop_lag_seconds_count{job="chat"}[5s])'):
                    assert time.monotonic() < until
                    time.sleep(0.2)
                time.sleep(1.5)  # so that each rate has two samples
                for place, query in queries().items():
                    if place.startswith("variable"):
                        continue
                    filled = query.replace("$job", "chat").replace("$instance", ".*").replace("$__rate_interval", "5s")
                    found = scraper.series(filled)
                    title = place.removeprefix("panel ").rsplit(" ", 2)[0]
                    if place.startswith("panel") and title not in MAY_BE_EMPTY:
                        assert found, f"{place}: {filled}"
                states = {
                    rule["name"]: (rule["health"], rule["state"])
                    for group in scraper.asked("/api/v1/rules")["groups"]
                    for rule in group["rules"]
                }
                assert states.keys() == {rule["alert"] for rule in RULES}
                assert {health for health, _ in states.values()} <= {"ok", "unknown"}
                assert {name for name, (_, state) in states.items() if state == "firing"} == set()

        await trio.to_thread.run_sync(ask)
        await client.aclose()
        nursery.cancel_scope.cancel()
