"""Where settings come from: built-in default < settings file < environment < flags; the later one counts.

Under `chat dev` a layer of its own lies right above the built-in defaults. What is unknown or of the wrong type
stops the start with its name, its place and what was expected.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.config.declare import Setting, UnexpectedValueError, settings_of
from chat.config.keeping import RetentionSettings
from chat.config.limits import ORDERED, Limits
from chat.config.settings import Settings, is_loopback
from chat.errors import OperatorError

SETTINGS: Final[Mapping[str, Setting]] = {setting.name: setting for setting in settings_of(Settings)}
"""Every setting by its dotted name."""

PREFIX: Final = "CHAT_"
"""Of environment variables that are settings."""

NOT_SETTINGS: Final = frozenset({"CHAT_DATA"})
"""Environment variables of the prefix that are flags of the command line: the settings file lies where --data says."""

DEFAULT: Final = "default"

DEVELOPMENT: Final[Mapping[str, object]] = {
    "rate_limits": False,
    "mail.mode": "keep",
    "gateway.address_header_for_tests": True,
    "client_packs": False,
    "storage.warn_bytes": 0,
    "interactions.private_networks_allowed": ("127.0.0.0/8", "::1/128"),
    "compat.discord": "on",
    "compat.strict": "on",
}
"""What `chat dev` has in place of the built-in defaults."""

_SECTIONS: Final = frozenset(name.rpartition(".")[0] for name in SETTINGS) - {""}


@frozen
class Loaded:
    """Settings, and of each by its dotted name where its value came from."""

    settings: Settings
    origins: Mapping[str, str]
    data_directory: Path
    settings_file: Path | None = None
    """The settings file, where it is not that of the data directory."""

    @property
    def follows_host(self) -> bool:
        """Whether the server cannot know by which name it is reached: on more than loopback, without public_url."""
        return self.origins["public_url"] == DEFAULT and not is_loopback(self.settings.host)


@frozen
class _Given:
    """A value that some place gives to a setting."""

    name: str
    origin: str
    value: object
    is_text: bool = False


def load_settings(
    data_directory: Path,
    config_file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    *,
    development: bool = False,
) -> Loaded:
    """Settings for an instance in `data_directory`.

    The settings file is `chat.toml` there, which need not exist, or `config_file`, which must. `flags` are dotted names
    with values; None stands for a flag that was not given. Raises OperatorError for the first thing that is wrong.
    """
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for given in _everything_given(data_directory, config_file, environment or {}, flags or {}, development):
        values[given.name] = _checked(given)
        origins[given.name] = given.origin
    for name, setting in SETTINGS.items():
        leader = _leader_of(setting)
        if name not in values and leader in values:
            values[name], origins[name] = values[leader], origins[leader]
        origins.setdefault(name, DEFAULT)
    settings = _build(Settings, values)
    _refuse_contradictions(settings, origins)
    return Loaded(settings, origins, data_directory, config_file)


def _everything_given(
    data_directory: Path,
    config_file: Path | None,
    environment: Mapping[str, str],
    flags: Mapping[str, object],
    development: bool,
) -> Iterator[_Given]:
    """In the order in which the later counts."""
    if development:
        for name, value in DEVELOPMENT.items():
            yield _Given(name, "chat dev", value)
    yield from _from_file(data_directory, config_file)
    yield from _from_environment(environment)
    for name, value in flags.items():
        if value is not None:
            yield _Given(name, f"flag --{name.replace('_', '-')}", value)


def _from_file(data_directory: Path, config_file: Path | None) -> Iterator[_Given]:
    path = data_directory / "chat.toml" if config_file is None else config_file
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if config_file is None:
            return
        raise OperatorError(f"there is no settings file {path}") from None
    except OSError as error:
        raise OperatorError(f"cannot read the settings file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OperatorError(f"the settings file {path} is not TOML: {error}") from error
    yield from _flat(content, str(path))


def _from_environment(environment: Mapping[str, str]) -> Iterator[_Given]:
    variables = [variable for variable in environment if variable.startswith(PREFIX) and variable not in NOT_SETTINGS]
    # A variable of a whole section comes before those of its members, which are the more particular.
    for variable in sorted(variables, key=lambda variable: (variable.count("__"), variable)):
        name = variable.removeprefix(PREFIX).lower().replace("__", ".")
        origin = f"environment {variable}"
        if name in _SECTIONS:
            yield from _flat(_section_from_text(environment[variable], name, origin), origin, name)
        else:
            yield _Given(name, origin, environment[variable], is_text=True)


def _section_from_text(text: str, name: str, origin: str) -> Mapping[str, object]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict):
        return content
    raise OperatorError(f"setting {name} ({origin}): expected a JSON object")


def _flat(content: Mapping[str, object], origin: str, section: str = "") -> Iterator[_Given]:
    """The settings of a nested document by their dotted names."""
    for key, value in content.items():
        name = f"{section}.{key}" if section else key
        if name not in _SECTIONS:
            yield _Given(name, origin, value)
        elif isinstance(value, dict):
            yield from _flat(value, origin, name)
        else:
            raise OperatorError(f"setting {name} ({origin}): expected a section of settings")


def _checked(given: _Given) -> Any:
    setting = SETTINGS.get(given.name)
    if setting is None:
        raise OperatorError(f"unknown setting {given.name} ({given.origin}): {_advice(given.name)}")
    try:
        return setting.from_text(str(given.value)) if given.is_text else setting.from_native(given.value)
    except UnexpectedValueError as error:
        raise OperatorError(f"setting {given.name} ({given.origin}): {error}") from None


def _advice(name: str) -> str:
    from difflib import get_close_matches  # only after a typo

    near = get_close_matches(name, SETTINGS, n=1)
    return f"did you mean {near[0]}?" if near else "expected one of those that `chat config show` lists"


def _leader_of(setting: Setting) -> str | None:
    """The setting whose value this one takes when only that one is given."""
    follows = setting.declaration.follows
    if follows is None:
        return None
    section = setting.name.rpartition(".")[0]
    return f"{section}.{follows}" if section else follows


def _build(kind: type[Any], values: Mapping[str, Any], section: str = "") -> Any:
    arguments = {}
    for field in attrs.fields(kind):
        name = f"{section}{field.name.rstrip('_')}"
        if name in values:
            arguments[field.name] = values[name]
        elif name in _SECTIONS:
            arguments[field.name] = _build(field.default.factory, values, f"{name}.")
    return kind(**arguments)


def _refuse_contradictions(settings: Settings, origins: Mapping[str, str]) -> None:
    needed = [
        ("tls_key", settings.tls_key, settings.tls_certificate is not None, "tls_certificate"),
        ("tls_certificate", settings.tls_certificate, settings.tls_key is not None, "tls_key"),
        ("mail.host", settings.mail.host, settings.mail.mode == "smtp", "mail.mode"),
        ("mail.from", settings.mail.from_, settings.mail.mode == "smtp", "mail.mode"),
        ("sso.issuer", settings.sso.issuer, settings.sso.enabled, "sso.enabled"),
        ("sso.client_id", settings.sso.client_id, settings.sso.enabled, "sso.enabled"),
        ("sso.enabled", settings.sso.enabled or None, settings.sso.enforced, "sso.enforced"),
        ("captcha.site_key", settings.captcha.site_key, settings.captcha.provider != "none", "captcha.provider"),
        ("captcha.secret_key", settings.captcha.secret_key, settings.captcha.provider != "none", "captcha.provider"),
        ("gif.api_key", settings.gif.api_key, settings.gif.provider != "none", "gif.provider"),
        (
            "retention.messages_days",
            settings.retention.messages_days,
            settings.retention.most_days is not None,
            "retention.most_days",
        ),
        (
            "single_community_guild_id",
            settings.single_community_guild_id,
            settings.single_community_enabled,
            "single_community_enabled",
        ),
    ]
    for name, value, is_needed, because in needed:
        if is_needed and value is None:
            expected = "true" if SETTINGS[name].type is bool else SETTINGS[name].expected.removesuffix(", or nothing")
            raise OperatorError(f"setting {name}: expected {expected}, because of {because} ({origins[because]})")
    for lower, higher in ORDERED:
        if getattr(settings.limits, lower) > getattr(settings.limits, higher):
            name = SECTION + (lower if origins[SECTION + lower] != DEFAULT else higher)
            other = higher if name == SECTION + lower else lower
            value = getattr(settings.limits, other)
            bound = "at most" if other == higher else "at least"
            raise OperatorError(f"setting {name} ({origins[name]}): expected {bound} {value}, as {SECTION}{other} is")
    _refuse_crossed_ages(settings.retention, origins)
    if settings.metrics == "off" and settings.metrics_listen is not None:
        raise OperatorError(
            f"setting metrics_listen ({origins['metrics_listen']}): expected nothing while metrics is off"
        )
    if settings.self_hosted and settings.billing.store_url is not None:
        raise OperatorError(
            f"setting billing.store_url ({origins['billing.store_url']}): expected nothing while self_hosted is true"
        )


def _refuse_crossed_ages(retention: RetentionSettings, origins: Mapping[str, str]) -> None:
    """The instance's own age of messages lies within the bounds of the ages that guilds choose."""
    for lower, higher in (("least_days", "most_days"), ("least_days", "messages_days"), ("messages_days", "most_days")):
        least, most = getattr(retention, lower), getattr(retention, higher)
        if least is not None and most is not None and least > most:
            name = f"retention.{higher}"
            raise OperatorError(f"setting {name} ({origins[name]}): expected at least {least}, as retention.{lower} is")


# What the operator changes while the server runs: it stands above file, environment and flags (administration.md,
# Instance configuration)

POLICY: Final = (
    "service_name",
    "service_description",
    "welcome_invite",
    "registration",
    "email_verification_required",
    "single_community_enabled",
    "single_community_guild_id",
    "direct_messages_disabled",
)
"""The settings besides limits that can be chosen at run time."""

SECTION: Final = "limits."
LIMITS: Final = tuple(field.name for field in attrs.fields(Limits))
ORIGIN: Final = "instance configuration"
"""What `chat config show` calls the place of such a value."""

_FOLLOWED: Final = {name: SETTINGS[f"{SECTION}{name}"].declaration.follows for name in LIMITS}


def checked(name: str, value: object) -> Any:
    """A value for the setting of this dotted name. Raises UnexpectedValueError for a value that it cannot have, and a
    setting that cannot be chosen at run time."""
    if name not in POLICY and not (name.startswith(SECTION) and name.removeprefix(SECTION) in LIMITS):
        raise UnexpectedValueError(f"{name} is not chosen while the server runs")
    return SETTINGS[name].from_native(value)


def accepted(chosen: Mapping[str, object]) -> dict[str, object]:
    """Those of these values, by dotted names, that settings of this program can have; another version may have stored
    others."""
    values = {}
    for name, value in chosen.items():
        try:
            values[name] = checked(name, value)
        except UnexpectedValueError:
            continue
    return values


def effective(loaded: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with these values in place of their own, as a new object. A limit that follows another one, and
    has not been chosen itself, has the value that was chosen for that one."""
    limits = {}
    for name in LIMITS:
        for source in (name, _FOLLOWED[name]):
            if source is not None and f"{SECTION}{source}" in values:
                limits[name] = values[f"{SECTION}{source}"]
                break
    policy = {name: values[name] for name in POLICY if name in values}
    if loaded.reserved_invite_words == (loaded.service_name,):
        policy["reserved_invite_words"] = (policy.get("service_name", loaded.service_name),)
    return attrs.evolve(loaded, limits=attrs.evolve(loaded.limits, **limits), **policy)


class Overrides:
    """What is chosen at run time, over the settings that the server was started with.

    All parts hold one Settings object and read it when it matters; this is the one place that alters it, between two
    turns of the loop. A `Limits` object is replaced as a whole: a reader of several values reads them of one.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings: Final = settings
        """The object that all parts hold: what is in force."""
        self.loaded: Final = attrs.evolve(settings)
        """As they were loaded."""
        self.values: Mapping[str, Any] = {}
        """What is chosen, by dotted names."""
        self._told: list[Callable[[], None]] = []

    def when_changed(self, tell: Callable[[], None]) -> None:
        """Call this after each change: for those who keep something that they have made of settings."""
        self._told.append(tell)

    def put(self, values: Mapping[str, Any]) -> None:
        """From now on these values are in force, and nothing that was chosen before."""
        chosen = effective(self.loaded, values)
        self.values = dict(values)
        for name in ("limits", "reserved_invite_words", *POLICY):
            object.__setattr__(self.settings, name, getattr(chosen, name))
        object.__setattr__(self.settings, "_premium_limits", chosen._premium_limits)
        for tell in self._told:
            tell()
