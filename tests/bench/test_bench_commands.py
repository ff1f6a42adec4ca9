"""Every bench runs, in the smallest way, and reports its figures. What they say depends on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import chat
from chat.cli.main import root

GUILD_COSTS = (
    "ready",
    "message_to_passive",
    "message",
    "role_name",
    "role_permissions",
    "member_role",
    "channel_shown",
    "join",
    "leave",
    "first_member_list",
    "first_member_list_of_a_role",
    "first_member_list_without_a_role",
    "first_member_list_without_members",
    "member_list",
    "member_role_while_watched",
)

REQUESTS = ("health", "get_guild", "get_own_user", "get_messages", "post_message")
IDENTIFIES = {"identify_per_cpu_second", "identify_floor_per_cpu_second", "leaving_per_cpu_second"}
READIES = {
    f"ready_{guilds}_{time}"
    for guilds in ("3_communities", "3_guilds", "1_of_communities", "1_of_guilds")
    for time in ("first", "again")
}
GROWTH_COSTS = ("get_own_user", "get_guild", "read_newest", "read_middle", "post")

FIGURES = {
    "guild": {
        *(f"{cost}_300" for cost in GUILD_COSTS),
        *(f"{cost}_growth" for cost in GUILD_COSTS),
        "longest_turn_300",
        "memory_300",
    },
    "gateway": {
        "memory_20",
        "pairs_20_ratio",
        "pairs_20_per_cpu_second",
        "pairs_20_floor_per_cpu_second",
        "bursts_20_ratio",
        "bursts_20_per_cpu_second",
        "bursts_20_floor_per_cpu_second",
        "longest_turn_20",
        "longest_turn_wall_20",
        "latency_p50_20",
        "latency_p99_20",
        "memory_zstd_20",
        "zstd_20_ratio",
        "zstd_20_per_cpu_second",
        "mount_pairs_20_ratio",
        "mount_bursts_20_ratio",
    },
    "http": {
        *(f"{name}_per_cpu_second" for name in (*REQUESTS, "empty", "empty_stock", "node")),
        *(f"{name}_node_ratio" for name in ("health", "get_guild", "post_message")),
        *(f"{name}_ratio" for name in ("get_guild", "post_message")),
        *(f"{name}_stock_ratio" for name in ("get_guild", "post_message")),
        *IDENTIFIES,
        *READIES,
        "read_newest_300",
        "read_middle_300",
        "search_rare_300",
        "search_common_300",
        "search_beginning_300",
        "search_author_300",
        "search_author_ratio_300",
        "post_while_read_300",
        "post_while_read_sessions",
    },
    "store": {
        "one_at_a_time",
        "writers_1",
        "writers_1_ratio",
        "writers_64",
        "writers_64_ratio",
        "writers_512",
        "writers_512_ratio",
    },
    "start": {"listening_after", "idle_memory"},
    "growth": {
        "listening_after_300",
        "longest_turn_300",
        *(f"{cost}_300" for cost in GROWTH_COSTS),
        *(f"{cost}_growth" for cost in GROWTH_COSTS),
    },
    "restart": {
        "first_posts_while_retained_20",
        "post_while_retained_20",
        "first_posts_while_retained_20_of_one",
        "post_while_retained_20_of_one",
        "longest_turn_20",
        "stopped_after_20",
        "listening_after_20",
        "memory_before_20",
        "memory_after_20",
    },
    "nodes": {
        "memory_at_a_node",
        "memory_at_the_core",
        "node_ratio",
        "node_per_cpu_second",
        "serve_per_cpu_second",
        "core_post_to_20",
        "latency_added_p50",
        "latency_added_p99",
        "two_nodes_ratio",
        "storm_of_20",
    },
    "idle": {
        "connections",
        "heartbeats_answered",
        "tasks",
        "tasks_growth",
        "memory",
        "memory_growth",
        "memory_per_session",
        "longest_turn",
        "server_cpu",
    },
    "import": {"messages_per_cpu_second", "messages_per_second", "longest_hold", "memory", "export_size"},
}


AT_ONCE = 3
"""They wait as much as they work."""


def run(bench: str, *options: str) -> dict[str, Any]:
    """What `chat bench` reports for programs; raises CalledProcessError with a status other than 0."""
    finished = subprocess.run(
        [sys.executable, "-m", "chat", "bench", bench, "--quick", "--json", *options],
        env=os.environ | {"PYTHONPATH": str(Path(chat.__file__).parents[1])},
        stdout=subprocess.PIPE,
        text=True,
        timeout=240,
        check=True,
    )
    report: dict[str, Any] = json.loads(finished.stdout)
    return report


@pytest.mark.long(minutes=1)
def test_every_bench_reports_all_its_figures() -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        reports = dict(zip(FIGURES, pool.map(run, FIGURES), strict=True))
    for bench, report in reports.items():
        assert report["bench"] == bench
        assert set(report["figures"]) == FIGURES[bench], bench
        # Faults of the measurement are noted; that a machine is busy may be.
        assert not [note for note in report["notes"] if "undelivered" in note], bench


@pytest.mark.long
def test_another_checkout_is_measured_beside_this_one() -> None:
    report = run("http", "--requests-only", "--identifies-only", "--against", str(Path(chat.__file__).parents[1]))
    alone = {name for name in FIGURES["http"] if not name.endswith(("_300", "_sessions"))}
    compared = (*REQUESTS, "identify")
    against = {f"against_{name}_per_cpu_second" for name in compared} | {f"{name}_against_ratio" for name in compared}
    against |= {f"against_{name}" for name in READIES} | {f"{name}_against_ratio" for name in READIES}
    assert set(report["figures"]) == alone | against


def test_people_get_lines_with_the_target_beside_the_figure() -> None:
    ending = CliRunner().invoke(root, ["bench", "store", "--quick"])
    assert ending.exit_code == 0
    heading, *lines = ending.output.splitlines()
    assert heading.split("\t") == ["figure", "measured", "unit", "target", "met"]
    assert {line.split("\t")[0] for line in lines} == FIGURES["store"]
