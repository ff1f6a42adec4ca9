"""Every setting is what the contract says; the later place counts; what is wrong is told with place and remedy."""

from __future__ import annotations

import contextlib
import json
import re
import string
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.config import Settings, load_settings
from chat.config.broker_address import FORM as BROKER
from chat.config.declare import LARGEST, Setting, UnexpectedValueError
from chat.config.limits import ORDERED
from chat.config.loading import DEFAULT, SETTINGS
from chat.errors import OperatorError

FIXTURE = json.loads(Path("spec_fixtures/settings.json").read_text())
DEFAULTS: dict[str, Any] = FIXTURE["settings"]
SMTP = {"CHAT_MAIL__MODE": "smtp", "CHAT_MAIL__HOST": "mail.example", "CHAT_MAIL__FROM": "chat@mail.example"}
NOWHERE = Path("no such directory")


def value(name: str, settings: Settings) -> Any:
    found = SETTINGS[name].of(settings)
    return list(found) if isinstance(found, tuple) else found


def variable(name: str) -> str:
    return "CHAT_" + name.upper().replace(".", "__")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path


def write_settings(directory: Path, text: str) -> Path:
    file = directory / "chat.toml"
    file.write_text(text)
    return file


# What there is


def test_the_settings_are_exactly_those_of_the_contract() -> None:
    both = "chat/config/settings.py (limits: limits.py) and spec_fixtures/settings.json"
    differ = sorted(SETTINGS.keys() ^ DEFAULTS.keys())
    assert not differ, f"{both} differ in {differ}"
    assert list(SETTINGS) == list(DEFAULTS), f"{both} have another order"


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_default_is_that_of_the_contract(name: str) -> None:
    loaded = load_settings(NOWHERE)
    expected = DEFAULTS[name]
    assert loaded.origins[name] == DEFAULT
    if isinstance(expected, dict):
        assert SETTINGS[name].declaration.derived == expected["derived"]
    else:
        assert value(name, loaded.settings) == expected
        assert SETTINGS[name].declaration.derived is None


@pytest.mark.parametrize("name", DEFAULTS)
def test_under_chat_dev_some_defaults_are_others(name: str) -> None:
    loaded = load_settings(NOWHERE, development=True)
    if name in FIXTURE["development"]:
        assert value(name, loaded.settings) == FIXTURE["development"][name]
        assert loaded.origins[name] == "chat dev"
    else:
        assert value(name, loaded.settings) == value(name, load_settings(NOWHERE).settings)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.name)
def test_every_setting_has_one_line_of_help(setting: Setting) -> None:
    assert re.fullmatch(r"\S[^\n]{4,110}", setting.declaration.help)
    assert setting.expected


# Where values come from


def test_the_later_place_counts(data: Path) -> None:
    write_settings(data, 'port = 1\nservice_name = "file"\nsign_in = "username"\nrate_limits = true\n')
    loaded = load_settings(
        data,
        environment={"CHAT_PORT": "2", "CHAT_SERVICE_NAME": "environment", "PATH": "/bin"},
        flags={"port": 3, "host": None},
        development=True,
    )
    origins = {name: loaded.origins[name] for name in ("port", "service_name", "sign_in", "rate_limits", "mail.mode")}
    assert origins == {
        "port": "flag --port",
        "service_name": "environment CHAT_SERVICE_NAME",
        "sign_in": str(data / "chat.toml"),
        "rate_limits": str(data / "chat.toml"),
        "mail.mode": "chat dev",
    }
    assert loaded.origins["host"] == DEFAULT
    settings = loaded.settings
    assert (settings.port, settings.service_name, settings.sign_in) == (3, "environment", "username")
    assert (settings.rate_limits, settings.mail.mode, settings.host) == (True, "keep", "127.0.0.1")


def test_a_named_settings_file_takes_the_place_of_that_in_the_data_directory(data: Path) -> None:
    write_settings(data, "port = 1")
    other = data / "other.toml"
    other.write_text('service_name = "Parley"\n[gateway]\nidentify_budget = 7\n')
    loaded = load_settings(data, other)
    assert (loaded.settings.port, loaded.settings.service_name) == (8080, "Parley")
    assert loaded.settings.gateway.identify_budget == 7
    assert loaded.origins["gateway.identify_budget"] == str(other)
    assert loaded.data_directory == data


def test_sections_and_lists_come_from_the_environment_as_json() -> None:
    loaded = load_settings(
        NOWHERE,
        environment={
            "CHAT_MAIL": '{"mode": "smtp", "host": "mail.example", "from": "chat@mail.example", "port": 25}',
            "CHAT_MAIL__PORT": "465",
            "CHAT_TRUSTED_PROXIES": '["10.0.0.0/8", "fd00::/8"]',
        },
    )
    assert (loaded.settings.mail.host, loaded.settings.mail.port) == ("mail.example", 465)
    assert loaded.settings.mail.from_ == "chat@mail.example"
    assert loaded.settings.trusted_proxies == ("10.0.0.0/8", "fd00::/8")
    assert loaded.origins["mail.host"] == "environment CHAT_MAIL"
    assert loaded.origins["mail.port"] == "environment CHAT_MAIL__PORT"


@pytest.mark.parametrize(("text", "expected"), [("true", True), ("1", True), ("FALSE", False), ("0", False)])
def test_truths_come_from_the_environment(text: str, expected: bool) -> None:
    assert load_settings(NOWHERE, environment={"CHAT_RATE_LIMITS": text}).settings.rate_limits is expected


@pytest.mark.parametrize("text", ["", "null"])
def test_an_optional_setting_can_be_unset_from_the_environment(data: Path, text: str) -> None:
    write_settings(data, 'geolocation_file = "cities.mmdb"')
    assert load_settings(data, environment={"CHAT_GEOLOCATION_FILE": text}).settings.geolocation_file is None


def test_where_the_data_lies_is_not_a_setting() -> None:
    load_settings(NOWHERE, environment={"CHAT_DATA": "elsewhere"})


# What follows from others


def test_reserved_words_follow_the_service_name_unless_they_are_set() -> None:
    named = load_settings(NOWHERE, environment={"CHAT_SERVICE_NAME": "Parley"}).settings
    assert named.reserved_invite_words == ("Parley",)
    both = {"CHAT_SERVICE_NAME": "Parley", "CHAT_RESERVED_INVITE_WORDS": "[]"}
    assert load_settings(NOWHERE, environment=both).settings.reserved_invite_words == ()


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1", "http://127.0.0.1:5000"),
        ("0.0.0.0", "http://127.0.0.1:5000"),  # noqa: S104 - an operator's choice
        ("::", "http://[::1]:5000"),
        ("chat.example", "http://chat.example:5000"),
    ],
)
def test_public_url_follows_host_and_the_port_that_was_found(host: str, origin: str) -> None:
    settings = load_settings(NOWHERE, flags={"host": host, "port": 0}).settings
    assert settings.listening_on(5000).public_url == origin
    assert settings.listening_on(5000).port == 5000


def test_public_url_stays_as_it_was_set() -> None:
    settings = load_settings(NOWHERE, flags={"public_url": "https://chat.example"}).settings
    assert settings.listening_on(5000).public_url == "https://chat.example"


@pytest.mark.parametrize(
    ("flags", "relying_party"),
    [
        ({}, "localhost"),
        ({"host": "::1"}, "localhost"),
        ({"host": "10.0.0.7"}, "10.0.0.7"),
        ({"public_url": "https://chat.example:8443"}, "chat.example"),
        ({"public_url": "https://chat.example", "webauthn.rp_id": "example"}, "example"),
    ],
)
def test_the_relying_party_follows_public_url_unless_it_is_set(flags: dict[str, object], relying_party: str) -> None:
    assert load_settings(NOWHERE, flags=flags).settings.relying_party_id == relying_party


def test_everyone_has_the_limits_of_premium_unless_the_instance_says_otherwise() -> None:
    stock = load_settings(NOWHERE).settings
    assert stock.limits_for(premium=False).max_guilds == 200
    plain = load_settings(NOWHERE, flags={"premium_mode": "none"}).settings
    assert plain.limits_for(premium=False).max_guilds == 100
    assert plain.limits_for(premium=True).max_guilds == 200
    assert plain.limits_for(premium=True).max_guild_roles == plain.limits.max_guild_roles


@pytest.mark.parametrize("maximum", [3, 100])
def test_a_limit_that_is_set_holds_with_and_without_premium(maximum: int) -> None:
    loaded = load_settings(NOWHERE, environment={"CHAT_LIMITS__MAX_GUILDS": str(maximum)})
    assert loaded.settings.limits_for(premium=True).max_guilds == maximum
    assert loaded.origins["limits.max_guilds_premium"] == "environment CHAT_LIMITS__MAX_GUILDS"
    both = {"CHAT_LIMITS__MAX_GUILDS": "3", "CHAT_LIMITS__MAX_GUILDS_PREMIUM": "5"}
    settings = load_settings(NOWHERE, environment=both).settings
    assert settings.limits_for(premium=True).max_guilds == 5


# What is refused

WRONG = [
    ("CHAT_PORT", "x", "setting port (environment CHAT_PORT): expected a whole number from 0 to 65535, not \"x\""),
    ("CHAT_PORT", "65536", "expected a whole number from 0 to 65535, not 65536"),
    ("CHAT_PORT", "80.0", "expected a whole number from 0 to 65535, not 80.0"),
    ("CHAT_PORT", "true", "expected a whole number"),
    ("CHAT_PORT", "", "expected a whole number"),
    ("CHAT_RATE_LIMITS", "yes please", "expected true or false, not \"yes please\""),
    ("CHAT_SIGN_IN", "Email", "expected email or username, not \"Email\""),
    ("CHAT_SEARCH", "true", "expected on or off"),
    ("CHAT_SERVICE_NAME", " ", "expected a text, not \" \""),
    ("CHAT_TRUSTED_PROXIES", "10.0.0.0/8", "expected a list of networks"),
    ("CHAT_TRUSTED_PROXIES", '["10.0.0.1/8"]', "expected a list of networks"),
    ("CHAT_TRUSTED_PROXIES", "[" * 100_000, "expected a list of networks"),
    ("CHAT_RESERVED_INVITE_WORDS", "[1]", "expected a list of texts, not [1]"),
    ("CHAT_PUBLIC_URL", "chat.example", "expected an origin such as https://chat.example"),
    ("CHAT_PUBLIC_URL", "https://chat.example/", "expected an origin"),
    ("CHAT_PUBLIC_URL", "https://chat.example:port", "expected an origin"),
    ("CHAT_PUBLIC_URL", "ftp://chat.example", "expected an origin"),
    ("CHAT_SSO__ISSUER", "issuer", "expected an http or https address, or nothing"),
    ("CHAT_MAIL__FROM", "nobody", "setting mail.from (environment CHAT_MAIL__FROM): expected a mail address"),
    ("CHAT_PUBLIC_URL", "https://chat example", "expected an origin"),
    ("CHAT_PUBLIC_URL", "https://ch\u00e4t.example", "expected an origin"),
    ("CHAT_PUBLIC_URL", f"https://{'a' * 300}.example", "expected an origin"),
    ("CHAT_HOST", "\U0001f600", "expected a host name or address"),
    ("CHAT_HOST", "a" * 5_000, "expected a host name or address"),
    ("CHAT_HOST", "a b", "expected a host name or address"),
    ("CHAT_MAIL__HOST", "mail.example:25", "expected a host name"),
    ("CHAT_WEBAPP_DIRECTORY", "a\0b", "expected no control characters"),
    ("CHAT_GATEWAY__HEARTBEAT_INTERVAL_MS", "99", "a whole number of milliseconds of at least 100, not 99"),
    ("CHAT_LIMITS__MAX_GUILDS", str(2**53), "at least 0 and at most 9007199254740991, not 9007199254740992"),
    ("CHAT_LIMITS__AVATAR_MAX_SIZE", str(2**64), "at most 9007199254740991"),
    ("CHAT_LIMITS__AVATAR_MAX_SIZE", "-1", "a whole number of bytes of at least 0, not -1"),
    ("CHAT_MAIL", "smtp", "setting mail (environment CHAT_MAIL): expected a JSON object"),
    ("CHAT_MAIL", '{"mod": "smtp"}', "unknown setting mail.mod (environment CHAT_MAIL): did you mean mail.mode?"),
    ("CHAT_PRT", "1", "unknown setting prt (environment CHAT_PRT): did you mean port?"),
    ("CHAT_", "1", "expected one of those that `chat config show` lists"),
    ("CHAT_XYZZY__PLUGH", "1", "unknown setting xyzzy.plugh (environment CHAT_XYZZY__PLUGH)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "message"), WRONG)
def test_a_wrong_variable_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(OperatorError) as refusal:
        load_settings(NOWHERE, environment={name: text})
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prt = 1", "unknown setting prt ({file}): did you mean port?"),
        ('port = "1"', 'setting port ({file}): expected a whole number from 0 to 65535, not "1"'),
        ("rate_limits = 1", "expected true or false, not 1"),
        ("port = 1970-01-01", 'not "1970-01-01"'),
        ("mail = 1", "setting mail ({file}): expected a section of settings"),
        ("[port]\nx = 1", "setting port ({file}): expected a whole number"),
        ("port = ", "the settings file {file} is not TOML: "),
    ],
)
def test_a_wrong_settings_file_is_refused(data: Path, text: str, message: str) -> None:
    file = write_settings(data, text)
    with pytest.raises(OperatorError) as refusal:
        load_settings(data)
    assert message.format(file=file) in str(refusal.value)


def test_a_settings_file_that_is_not_text_is_refused(data: Path) -> None:
    (data / "chat.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(OperatorError, match="is not TOML"):
        load_settings(data)


def test_a_named_settings_file_must_exist(data: Path) -> None:
    with pytest.raises(OperatorError, match="there is no settings file"):
        load_settings(data, data / "missing.toml")


def test_a_settings_file_that_cannot_be_read_is_refused(data: Path) -> None:
    with pytest.raises(OperatorError, match="cannot read the settings file"):
        load_settings(data, data)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"CHAT_MAIL__MODE": "smtp"}, "setting mail.host: expected a host name, because of mail.mode"),
        ({**SMTP, "CHAT_MAIL__FROM": ""}, "setting mail.from: expected a mail address, because of mail.mode"),
        ({"CHAT_SSO__ENFORCED": "true"}, "setting sso.enabled: expected true, because of sso.enforced"),
        ({"CHAT_SSO__ENABLED": "true"}, "setting sso.issuer: expected an http or https address"),
        ({"CHAT_CAPTCHA__PROVIDER": "hcaptcha"}, "setting captcha.site_key: expected a text"),
        ({"CHAT_GIF__PROVIDER": "klipy"}, "setting gif.api_key: expected a text, because of gif.provider"),
        ({"CHAT_SINGLE_COMMUNITY_ENABLED": "true"}, "setting single_community_guild_id: expected a whole number"),
        (
            {"CHAT_LIMITS__MIN_BITRATE": "70000"},
            "setting limits.min_bitrate (environment CHAT_LIMITS__MIN_BITRATE): expected at most 64000, as "
            "limits.default_bitrate is",
        ),
        ({"CHAT_LIMITS__MAX_BITRATE": "10000"}, "expected at least 64000, as limits.default_bitrate is"),
        ({"CHAT_LIMITS__DEFAULT_VOICE_CONNECTION_LIMIT": "101"}, "expected at most 100"),
        ({"CHAT_BILLING__STORE_URL": "http://store.example"}, "expected nothing while self_hosted is true"),
        (
            {"CHAT_METRICS_LISTEN": "127.0.0.1:9090"},
            "metrics_listen (environment CHAT_METRICS_LISTEN): expected nothing",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(environment: dict[str, str], message: str) -> None:
    with pytest.raises(OperatorError) as refusal:
        load_settings(NOWHERE, environment=environment)
    assert message in str(refusal.value)


@pytest.mark.parametrize("text", ["9090", "localhost:9090", "127.0.0.1", ":9090", "127.0.0.1:99999", "a@127.0.0.1:1"])
def test_metrics_listen_on_an_address_with_a_port(text: str) -> None:
    with pytest.raises(OperatorError, match="an address and a port such as"):
        load_settings(NOWHERE, environment={"CHAT_METRICS": "on", "CHAT_METRICS_LISTEN": text})
    for right in ("127.0.0.1:9090", "[::1]:0", "0.0.0.0:1"):
        environment = {"CHAT_METRICS": "on", "CHAT_METRICS_LISTEN": right}
        assert load_settings(NOWHERE, environment=environment).settings.metrics_listen == right


def test_settings_that_complete_each_other_are_accepted() -> None:
    assert load_settings(NOWHERE, environment=SMTP).settings.mail.mode == "smtp"


def test_a_secret_is_neither_in_an_error_nor_in_the_representation(data: Path) -> None:
    with pytest.raises(OperatorError) as refusal:
        load_settings(NOWHERE, flags={"mail.password": 12345})
    assert "12345" not in str(refusal.value)
    settings = load_settings(NOWHERE, environment={"CHAT_SSO__CLIENT_SECRET": "hunter2"}).settings
    assert settings.sso.client_secret == "hunter2"
    assert "hunter2" not in repr(settings)


# Whatever is said in one way can be said in the others

HOST_NAMES = st.lists(
    st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=63), min_size=1, max_size=3
).map(".".join)
FORMS = {
    "networks": st.ip_addresses().map(str),
    "an address": st.ip_addresses().map(str),
    "a host name": HOST_NAMES,
    "a host name or address": HOST_NAMES | st.ip_addresses().map(str),
    "an origin such as https://chat.example": st.integers(1, 65_535).map("https://chat.example:{}".format),
    "an http or https address": st.text(string.ascii_lowercase, min_size=1).map("http://chat.example/{}".format),
    "a mailto: or https: address": st.text(string.ascii_lowercase, min_size=1).map("mailto:{}@chat.example".format),
    "addresses, each with a port if it is not 53": st.integers(1, 65_535).map("9.9.9.9:{}".format),
    BROKER: st.integers(0, 15).map("redis://chat.example/{}".format),
    "a colour such as #0b6e4f": st.integers(0, 0xFFFFFF).map("#{:06x}".format),
    "a mail address": st.text(string.ascii_lowercase, min_size=1).map("{}@chat.example".format),
}
TEXTS = st.text('a0é漢🙂 "\\{[]},:.').map("x{}".format)


def values(setting: Setting, kind: Any = None) -> st.SearchStrategy[Any]:
    """What a setting may be, None aside."""
    kind = setting.type if kind is None else kind
    declaration = setting.declaration
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if get_origin(kind) is tuple:
        return st.lists(FORMS.get(declaration.form or "", TEXTS), max_size=3)
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(declaration.minimum, declaration.maximum or LARGEST)
    if kind is str:
        return FORMS.get(declaration.form or "", TEXTS)
    return values(setting, get_args(kind)[0])


DEPENDENT = {
    *("billing.store_url", "metrics_listen", "sso.enabled"),
    *(f"limits.{name}" for pair in ORDERED for name in pair),
    *(f"retention.{name}" for name in ("messages_days", "least_days", "most_days")),
}
"""What another setting may forbid, whatever its own value is."""

FREE = [setting for setting in SETTINGS.values() if setting.name not in DEPENDENT]
COMPLETE: dict[str, object] = {
    "tls_certificate": "server.pem",
    "tls_key": "server.key",
    "mail.host": "mail.example",
    "mail.from": "chat@mail.example",
    "sso.enabled": True,
    "sso.issuer": "http://sso.example",
    "sso.client_id": "chat",
    "sso.client_secret": "secret",
    "captcha.site_key": "site",
    "captcha.secret_key": "secret",
    "gif.api_key": "secret",
    "single_community_guild_id": 1,
}


def test_what_is_not_any_text_is_drawn_in_its_form() -> None:
    declarations = [setting.declaration for setting in FREE]
    asked = {one.form for one in declarations if one.accepts is not None and not one.accepts("x")}
    assert asked
    assert asked - {*FORMS} == set()


@given(chosen=st.lists(st.sampled_from(FREE), unique_by=lambda setting: setting.name, max_size=8), data=st.data())
def test_the_environment_and_flags_agree(chosen: list[Setting], data: st.DataObject) -> None:
    native = {setting.name: data.draw(values(setting), label=setting.name) for setting in chosen}
    as_text = {
        variable(name): value if isinstance(value, str) else json.dumps(value)
        for name, value in (COMPLETE | native).items()
    }
    from_flags = load_settings(NOWHERE, flags=COMPLETE | native).settings
    assert load_settings(NOWHERE, environment=as_text).settings == from_flags
    for name, given_value in native.items():
        assert value(name, from_flags) == given_value


VARIABLES = st.sampled_from([variable(name) for name in SETTINGS]) | st.text("AB_", max_size=6).map("CHAT_{}".format)


@given(st.dictionaries(VARIABLES, st.text('a0é🙂 "\\{[]},:.-')))
def test_no_environment_leads_to_anything_but_settings_or_a_refusal(environment: dict[str, str]) -> None:
    with contextlib.suppress(OperatorError):
        load_settings(NOWHERE, environment=environment)


TEXT_SETTINGS = [name for name, setting in SETTINGS.items() if str(setting.type) in ("<class 'str'>", "str | None")]


@pytest.mark.parametrize("name", TEXT_SETTINGS)
@pytest.mark.parametrize("character", ["\r", "\r\nBcc: all@example.org", "\0", "\x1b", "\x7f", "\x85", "\u2028"])
def test_no_setting_has_control_characters(name: str, character: str) -> None:
    """They would come into headers of mails and answers, lines of the log, and pages."""
    with pytest.raises(UnexpectedValueError, match="no control characters and one line"):
        SETTINGS[name].from_native(f"a{character}b")
    if name != "service_description":
        with pytest.raises(UnexpectedValueError, match="no control characters and one line"):
            SETTINGS[name].from_native("a\nb")


def test_a_description_may_have_lines() -> None:
    assert SETTINGS["service_description"].from_native("one\ntwo") == "one\ntwo"


def test_browsers_are_asked_for_https_where_the_host_is_all_ours() -> None:
    ours = {"tls_certificate": "a.pem", "tls_key": "b.pem"}
    for settings, asks in (
        ({**ours, "public_url": "https://chat.example"}, True),
        ({**ours, "public_url": "https://chat.example:443"}, True),
        ({**ours, "public_url": "https://chat.example:8443"}, False),
        ({**ours, "public_url": "http://chat.example"}, False),
        ({"public_url": "https://chat.example"}, False),  # behind a proxy, which says it or does not
        ({**ours, "public_url": "https://chat.example", "hsts_max_age": 0}, False),
    ):
        assert Settings(**settings).asks_for_https is asks  # type: ignore[arg-type]
