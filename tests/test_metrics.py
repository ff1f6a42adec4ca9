"""`/metrics`: what is counted, who may read it, and that it names nobody."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
import trio.testing
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from chat.admin.routes import ADMIN_ROUTES
from chat.api.routes.every import ROUTES
from chat.assembly import Surroundings
from chat.auth.passwords import CHEAP
from chat.clock import SystemClock
from chat.config import load_settings
from chat.domain.administration.gateway_nodes import NodesStanding, NodeStanding, NodeState
from chat.observation import METHODS, OTHER, UNKNOWN
from chat.server import Server
from chat.store.administration import backups
from chat.store.administration.backups import BackupRecord
from chat.store.database import open_database
from chat.store.guard import UNGUARDED
from chat.testing.network import MemoryNetwork, MemoryRoute
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World

FIXTURE: dict[str, dict[str, Any]] = json.loads(Path("spec_fixtures/metrics.json").read_text())["metrics"]
DECLARED = {operation.path for routes in (*ROUTES, *ADMIN_ROUTES) for operation in routes.operations}
measured = pytest.mark.chat_settings(metrics="on", rate_limits=True)


async def samples(client: RestClient) -> list[Sample]:
    answer = await client.get("/metrics")
    assert answer.status == 200
    assert answer.header("Content-Type").startswith("text/plain; version=")
    return list(parsed(answer.body.decode()))


def parsed(text: str) -> Iterator[Sample]:
    for family in text_string_to_metric_families(text):
        yield from family.samples


def value_of(found: list[Sample], name: str, **labels: str) -> float:
    return sum(sample.value for sample in found if sample.name == name and labels.items() <= sample.labels.items())


async def converse(world: World) -> None:
    """A little of everything, with names, ids, words and addresses that nobody should be able to read off."""
    bob = await world.bob.connect()
    sent = (await world.alice.rest.send_message(world.channel_id, "canary-words")).expect(200)
    await bob.expect("MESSAGE_CREATE")
    (await world.alice.rest.get(f"/v1/channels/{world.channel_id}/messages", {"limit": 7})).expect(200)
    for path in (f"/v1/users/{sent['id']}", "/canary/path?canary=query", "/login", "/invite/canary", "/static/canary"):
        await world.anyone.get(path)
    await world.anyone.request("CANARY", "/v1/users/@me")
    for _ in range(60):
        await world.anyone.get("/v1/gateway/bot")
    bob.drop()
    stranger = await world.carol.open()
    await stranger.identify("nobody's")
    await stranger.closed()
    await trio.testing.wait_all_tasks_blocked()


@measured
async def test_what_happens_is_counted(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    await converse(chat_world)
    await trio.sleep(2)
    found = await samples(chat_world.anyone)
    posted = "POST /v1/channels/{channel_id}/messages"
    assert value_of(found, "chat_http_requests_total", operation=posted, status="200") == 1
    assert value_of(found, "chat_http_request_duration_seconds_count", operation=posted) == 1
    assert value_of(found, "chat_http_requests_total", operation="GET /v1/gateway/bot", status="429") > 0
    assert value_of(found, "chat_http_requests_total", operation="GET /login", status="200") == 1
    assert value_of(found, "chat_http_requests_total", operation="GET /gateway", status="101") == 2
    assert value_of(found, "chat_http_requests_total", operation="OTHER /v1/users/@me", status="404") == 1
    assert value_of(found, "chat_http_rate_limited_total", scope="global") > 0
    assert value_of(found, "chat_http_response_bytes_total") > 1_000
    assert value_of(found, "chat_gateway_sessions", state="retained") == 1
    assert (
        value_of(found, "chat_gateway_sessions", state="attached") == value_of(found, "chat_gateway_connections") == 0
    )
    assert value_of(found, "chat_gateway_closes_total", code="peer") == 1
    assert value_of(found, "chat_gateway_closes_total", code="4004") == 1
    assert value_of(found, "chat_gateway_dispatches_total") >= 2  # Ready and the message
    assert value_of(found, "chat_gateway_retained_bytes") > 0
    assert value_of(found, "chat_store_commit_duration_seconds_count") > 0
    assert value_of(found, "chat_store_units_total", outcome="written") > 0
    assert value_of(found, "chat_store_bytes", part="database") > 0
    assert value_of(found, "chat_event_loop_lag_seconds_count") > 0
    dispatches = value_of(found, "chat_gateway_dispatches_total")
    await trio.sleep(70)  # the session is over
    found = await samples(chat_world.anyone)
    assert value_of(found, "chat_gateway_sessions") == 0
    assert value_of(found, "chat_gateway_dispatches_total") >= dispatches
    chat_server.database.failing = True
    found = await samples(chat_world.anyone)  # what the store would have to be asked for is left out
    assert {sample.name for sample in found} & {"chat_store_bytes", "chat_jobs"} == {"chat_store_bytes"}


@measured
async def test_the_metrics_are_those_of_the_fixture_and_every_label_is_of_a_list(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    await converse(chat_world)
    last = BackupRecord(directory="/backups", tried_at=7_000, failure="full", made_at=5_000, made_path="/backups/1")
    await chat_server.database.write(partial(backups.note, known=last), guard=UNGUARDED)
    assert chat_server.server.metrics is not None
    chat_server.server.metrics.certificate_ends_at = lambda: 1_800_000_000_000
    dead = NodeStanding(
        id="f0", name="node 2", version="1", state=NodeState.DEAD, sessions=3, unheard_messages=0, heard_at=0
    )
    nodes = (attrs.evolve(dead, name="node 1", state=NodeState.UP, deliveries=7), dead)
    chat_server.server.metrics.nodes = lambda: NodesStanding(at=0, process=1, broker_is_up=True, nodes=nodes)
    await trio.sleep(2)
    text = (await chat_world.anyone.get("/metrics")).body.decode()
    types = dict(re.findall(r"^# TYPE (chat_\w+) (\w+)$", text, re.MULTILINE))
    assert types == {name: entry["type"] for name, entry in FIXTURE.items()}
    helps = dict(re.findall(r"^# HELP (chat_\w+) (.+)$", text, re.MULTILINE))
    assert helps.keys() == types.keys()
    assert "_created" not in text
    assert re.search(r"^chat_backup_(failed 1|success_timestamp_seconds 5)\.0$", text, re.MULTILINE)
    assert re.findall(r'^chat_node_up\{node="(node .)"\} (.)', text, re.MULTILINE) == [("node 1", "1"), ("node 2", "0")]
    assert re.findall(r'^chat_node_deliveries_total\{node="(.*)"\} (.)', text, re.MULTILINE) == [("node 1", "7")]
    for sample in parsed(text):
        if not sample.name.startswith("chat_"):
            assert sample.name.startswith("process_")
            assert sample.labels == {}
            continue
        name = sample.name if sample.name in FIXTURE else re.sub(r"_(bucket|count|sum)$", "", sample.name)
        expected = FIXTURE[name]["labels"]
        assert sample.labels.keys() - {"le"} == expected.keys()
        for label, values in expected.items():
            if isinstance(values, list):
                assert sample.labels[label] in values
            elif label == "operation":
                method, path = sample.labels[label].split(" ")
                assert method in METHODS | {OTHER}
                assert path in DECLARED | {"/metrics", "/gateway", UNKNOWN} or re.fullmatch(r"/[a-z<>:_/.-]*", path)
            elif label == "code":
                assert re.fullmatch(r"4\d\d\d|peer|other", sample.labels[label])
            elif label == "status":
                assert re.fullmatch(r"[1-5]\d\d|none", sample.labels[label])
            else:
                assert label == "version" or sample.labels[label] in {"node 1", "node 2"}
    assert not re.search(r"canary|alice|bob|carol|127\.0\.0|\d{15,}(?!\.)|cht_", re.sub(r" \S+$", "", text, flags=re.M))
    assert chat_world.channel_id not in text


def of_backups(found: list[Sample]) -> dict[str, float]:
    prefix = "chat_backup_"
    return {sample.name.removeprefix(prefix): sample.value for sample in found if sample.name.startswith(prefix)}


@pytest.mark.chat_settings(metrics="on", **{"backup.directory": "kept", "backup.every": 6, "storage.warn_bytes": 5_000})
async def test_where_backups_are_to_be_made_there_are_figures_before_the_first(
    chat_world: World, chat_server: ChatServer
) -> None:
    found = await samples(chat_world.anyone)
    never = {"interval_seconds": 21_600, "failed": 0, "attempt_timestamp_seconds": 0, "success_timestamp_seconds": 0}
    assert of_backups(found) == never
    assert value_of(found, "chat_disk_warning_bytes") == 5_000
    failed = BackupRecord(directory="kept", tried_at=7_000, failure="full")
    await chat_server.database.write(partial(backups.note, known=failed), guard=UNGUARDED)
    assert of_backups(await samples(chat_world.anyone)) == {**never, "failed": 1, "attempt_timestamp_seconds": 7}


@measured
async def test_where_none_are_to_be_made_nothing_is_missed(chat_world: World) -> None:
    assert of_backups(await samples(chat_world.anyone)) == {"interval_seconds": 86_400}


@measured
async def test_the_open_port_hides_them_from_everybody_but_loopback(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    assert (await chat_world.anyone.get("/metrics")).status == 200
    assert (await chat_world.anyone.request("HEAD", "/metrics")).body == b""
    assert (await chat_world.anyone.post("/metrics", {})).status == 404
    assert (await RestClient(chat_server.route("::1")).get("/metrics")).status == 200
    for stranger in ("192.0.2.7", "10.0.0.1", "2001:db8::1"):
        answer = await RestClient(chat_server.route(stranger)).get("/metrics")
        assert (answer.status, answer.code) == (404, "NOT_FOUND")
    for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
        by_proxy = RestClient(chat_server.route(), headers={header: "127.0.0.1"})
        assert (await by_proxy.get("/metrics")).status == 404, header


@pytest.mark.chat_settings(metrics="on", trusted_proxies=["127.0.0.1"])
async def test_a_trusted_proxy_does_not_hand_them_out_either(chat_server: ChatServer, chat_world: World) -> None:
    by_proxy = RestClient(chat_server.route(), headers={"X-Forwarded-For": "192.0.2.7"})
    assert (await by_proxy.get("/metrics")).status == 404


async def test_without_them_there_is_no_page(chat_world: World) -> None:
    assert (await chat_world.anyone.get("/metrics")).code == "NOT_FOUND"


async def test_on_an_address_of_their_own_all_who_reach_it_read_them(tmp_path: Path) -> None:
    network, own = MemoryNetwork(), MemoryNetwork()
    async with open_database(tmp_path / "chat.sqlite3", inline=True, durable=False) as database:
        server = Server(
            Surroundings(
                settings=load_settings(tmp_path, flags={"metrics": "on", "metrics_listen": "127.0.0.1:0"}).settings,
                database=database,
                clock=SystemClock(),
                chance=random.Random(1),
                directory=tmp_path,
                secret=bytes(32),
                hash_cost=CHEAP,
                work_in_threads=False,
            )
        )
        async with server.running([network.listen()], maximum_connections=10, metrics_listeners=[own.listen()]):
            scraper = RestClient(MemoryRoute(own, "192.0.2.7"))
            assert value_of(await samples(scraper), "chat_build_info") == 1
            head = await scraper.request("HEAD", "/metrics")
            assert (head.status, head.body) == (200, b"")
            for path in ("/", "/v1/users/@me", "/_health", "/gateway?v=1&encoding=json"):
                assert (await scraper.get(path)).status == 404, path
            assert (await RestClient(MemoryRoute(network)).get("/metrics")).status == 404
            openmetrics = RestClient(
                MemoryRoute(own), headers={"Accept": "application/openmetrics-text; version=1.0.0"}
            )
            answer = await openmetrics.get("/metrics")
            assert answer.header("Content-Type").startswith("application/openmetrics-text")
            assert answer.body.endswith(b"# EOF\n")


def test_without_them_nothing_of_them_is_imported() -> None:
    script = """
import sys
import chat.serving, chat.cli.serve, chat.development.node
assert not {name for name in sys.modules if name.startswith(("prometheus", "chat.metrics", "chat.log"))}
"""
    subprocess.run([sys.executable, "-c", script], check=True)
