"""`chat config show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.config.loading import SETTINGS
from chat.store.administration import instance
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.migrations import prepare
from tests.cli.command_line import Run


def test_every_setting_is_shown_with_value_origin_and_meaning(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.mkdir()
    (data / "chat.toml").write_text("[mail]\nmode = 'keep'\n")
    monkeypatch.setenv("CHAT_RATE_LIMITS", "false")
    heading, *rows = run("config", "show", "--data", data).rows
    assert heading == ["setting", "value", "from", "meaning"]
    assert [row[0] for row in rows] == list(SETTINGS)
    shown = {row[0]: row[1:] for row in rows}
    assert shown["mail.mode"][:2] == ["keep", str(data / "chat.toml")]
    assert shown["rate_limits"][:2] == ["false", "environment CHAT_RATE_LIMITS"]
    assert shown["port"] == ["8080", "default", "the port to listen on; 0 picks a free one"]
    assert shown["ip_ban.exempt"][0] == "127.0.0.0/8, ::1"
    assert shown["gateway.heartbeat_interval_ms"][2].endswith("(milliseconds)")


def test_programs_get_json(run: Run, data: Path) -> None:
    settings = {setting["name"]: setting for setting in run("config", "show", "--data", data, "--json").json}
    assert settings["port"] == {
        "name": "port",
        "value": 8080,
        "origin": "default",
        "unit": None,
        "expected": "a whole number from 0 to 65535",
        "help": "the port to listen on; 0 picks a free one",
    }
    assert settings["mail.host"]["value"] is None


def test_the_settings_of_chat_dev_are_shown_on_request(run: Run, data: Path) -> None:
    rows = run("config", "show", "--data", data, "--dev").rows
    assert ["mail.mode", "keep", "chat dev"] in [row[:3] for row in rows]


def test_what_is_chosen_while_a_server_runs_counts_most(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_REGISTRATION", "approval")
    data.mkdir()
    database = DataDirectory(data).database
    prepare(database, durable=False)
    connection = connect(database)
    instance.choose_settings(connection, {"registration": "closed", "limits.max_guilds": 3, "port": 1, "gone": 2})
    connection.close()
    shown = {row[0]: row[1:3] for row in run("config", "show", "--data", data).rows}
    assert shown["registration"] == ["closed", "instance configuration"]
    assert shown["limits.max_guilds"] == shown["limits.max_guilds_premium"] == ["3", "instance configuration"]
    assert shown["port"] == ["8080", "default"]
    database.write_bytes(b"no database")
    shown = {row[0]: row[1:3] for row in run("config", "show", "--data", data).rows}
    assert shown["registration"] == ["approval", "environment CHAT_REGISTRATION"]


def test_a_secret_is_not_shown(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_MAIL__PASSWORD", "hunter2")
    for form in ([], ["--json"]):
        ending = run("config", "show", "--data", data, *form)
        assert "hunter2" not in ending.out
        assert "(secret)" in ending.out


def test_where_the_data_lies_comes_from_the_environment_too(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.mkdir()
    (data / "chat.toml").write_text("port = 1")
    monkeypatch.setenv("CHAT_DATA", str(data))
    assert ["port", "1"] in [row[:2] for row in run("config", "show").rows]


def test_another_settings_file_can_be_named(run: Run, data: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text("port = 2")
    rows = run("config", "show", "--data", data, "--config", file).rows
    assert ["port", "2", str(file)] in [row[:3] for row in rows]
