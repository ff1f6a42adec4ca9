"""A settings file that is changed keeps what a person wrote (`chat.config.writing`)."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.config.writing import HEADING, changed_file, write_settings_file
from chat.errors import OperatorError

FILE = Path("chat.toml")

COMMENTS = st.sampled_from(["", "# a note", "#", "#   # odd", "# [mail]", "# port = 1"])
GAPS = st.sampled_from(["", "\n", "\n\n"])


@st.composite
def lines(draw: st.DrawFn, settings: dict[str, list[str]]) -> str:
    """Some of these settings, in any order, with comments and blank lines between and behind them."""
    text = ""
    for name in draw(st.permutations(sorted(settings))):
        if draw(st.booleans()):
            above, behind = draw(COMMENTS), draw(st.sampled_from(["", "  # why"]))
            text += (
                draw(GAPS)
                + (f"{above}\n" if above else "")
                + f"{name} = {draw(st.sampled_from(settings[name]))}{behind}\n"
            )
    return text + draw(GAPS) + draw(st.sampled_from(["", "# at the end\n"]))


ROOT = {
    "port": ["8080", "9_000"],
    "host": ['"127.0.0.1"', "'::'"],
    "trusted_proxies": ["[]", '["10.0.0.1"]', '[\n  "10.0.0.1", # office\n  # none other\n]'],
    "registration": ['"open"', '"""closed"""'],
    "service_name": ['"A # b"'],
}
MAIL = {"mode": ['"off"'], "host": ['"smtp.example"'], "port": ["25"], "password": ['"p#w"']}
OTHER = {"max_guilds": ["3"], "max_bitrate": ["96000"]}


@st.composite
def files(draw: st.DrawFn) -> str:
    """A settings file as people write them."""
    text = draw(lines(ROOT))
    for name, settings in draw(st.permutations([("mail", MAIL), ("limits", OTHER)])):
        if draw(st.booleans()):
            text += f"[{name}]{draw(st.sampled_from(['', ' # s']))}\n{draw(lines(settings))}"
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "port": st.sampled_from([8080, 9_001]),
        "public_url": st.just("https://chat.example"),
        "trusted_proxies": st.sampled_from([("10.0.0.1", "::1/128"), ("10.0.0.1",), ()]),
        "registration": st.sampled_from(["open", "closed", None]),
        "mail.mode": st.just("smtp"),
        "mail.from": st.just("chat@chat.example"),
        "mail.password": st.sampled_from(["new", None]),
        "mail.port": st.just(587),
        "sso.enabled": st.just(False),
    },
)


@given(text=files(), changes=CHANGES)
def test_only_what_is_to_change_changes(text: str, changes: dict[str, object]) -> None:
    expected = tomllib.loads(text)
    for name, value in changes.items():
        section, _, key = name.rpartition(".")
        if value is None:
            (expected.get(section, {}) if section else expected).pop(key, None)
        else:
            (expected.setdefault(section, {}) if section else expected)[key] = (
                list(value) if isinstance(value, tuple) else value
            )
    try:
        made = changed_file(text, changes, FILE)
    except OperatorError:  # a list that loses entries may have comments in it: then nothing is written
        assert "# none other" in text
        return
    assert tomllib.loads(made) == expected
    # Each line that has nothing to do with a change is there, in its order.
    changed = {name.rpartition(".")[2] for name in changes}
    kept = [line for line in text.splitlines() if line.strip() and line.split(" =")[0] not in changed]
    left = iter(made.splitlines())
    assert [line for line in kept if line not in left and '"10.0.0.1"' not in line] == []
    assert changed_file(made, changes, FILE) == made


def test_a_new_file_says_what_its_settings_mean() -> None:
    made = changed_file("", {"port": 9_000, "mail.port": 25}, FILE)
    assert made == (
        HEADING + "# The port to listen on; 0 picks a free one.\nport = 9000\n\n[mail]\n# Its port.\nport = 25\n"
    )


def test_comments_stay_with_what_they_are_about() -> None:
    text = "port = 1 # one\n\n# of mail\n[mail]\nport = 2\n\n# of limits\n[limits]\n"
    assert changed_file(text, {"host": "::1", "mail.host": "x"}, FILE) == (
        'port = 1 # one\n# The address to listen on.\nhost = "::1"\n\n# of mail\n[mail]\nport = 2\n'
        '# The SMTP server.\nhost = "x"\n\n# of limits\n[limits]\n'
    )


@pytest.mark.parametrize(
    "text",
    ['mail = {mode = "off"} # short\n', 'mail.mode = "off"\nport = 1\nmail.host = "x" # z\n', "[mail]\n[sso]\n"],
)
def test_other_ways_to_write_sections(text: str) -> None:
    made = changed_file(text, {"mail.port": 25, "public_url": "https://x"}, FILE)
    found = tomllib.loads(made)
    assert (found["mail"]["port"], found["public_url"]) == (25, "https://x")
    assert text.count("#") <= made.count("#")


def test_a_file_that_is_no_toml_is_left_alone() -> None:
    for text in ("port = ", "\ufeffport = 1", "[mail", "port = 1\nport = 2"):
        with pytest.raises(OperatorError, match="is not TOML"):
            changed_file(text, {"port": 2}, FILE)


def test_the_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "chat.toml"
    file.write_text("port = 1\n")

    def refuse(draft: Path) -> None:
        assert draft.read_text() == "port = 2\n"
        raise OperatorError("no")

    with pytest.raises(OperatorError):
        write_settings_file(file, "port = 2\n", judge=refuse)
    assert [path.name for path in tmp_path.iterdir()] == ["chat.toml"]
    assert file.read_text() == "port = 1\n"
    write_settings_file(file, "port = 2\n", judge=lambda _: None)
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("port = 2\n", 0o600)
