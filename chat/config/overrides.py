"""Settings that the operator changes while the server runs: what is chosen there stands above file, environment and
flags (administration.md, Instance configuration).

Everybody holds one Settings object and reads it when it matters; this is the one place that alters it, between two
turns of the loop. A `Limits` object is replaced as a whole: whoever reads several of its values reads them of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from chat.config.declare import UnexpectedValueError
from chat.config.limits import Limits
from chat.config.loading import SETTINGS
from chat.config.settings import Settings

POLICY: Final = (
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
    """A value for the setting of this dotted name.

    :raises UnexpectedValueError: for a value that it cannot have, and a setting that cannot be chosen at run time.
    """
    if name not in POLICY and not (name.startswith(SECTION) and name.removeprefix(SECTION) in LIMITS):
        raise UnexpectedValueError(f"{name} is not chosen while the server runs")
    return SETTINGS[name].from_native(value)


def accepted(chosen: Mapping[str, object]) -> dict[str, Any]:
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
    """The settings with these values in the place of their own, as a new object.

    A limit that follows another one, and has not been chosen itself, has the value that was chosen for that one.
    """
    limits = {}
    for name in LIMITS:
        for source in (name, _FOLLOWED[name]):
            if source is not None and f"{SECTION}{source}" in values:
                limits[name] = values[f"{SECTION}{source}"]
                break
    policy = {name: values[name] for name in POLICY if name in values}
    return attrs.evolve(loaded, limits=attrs.evolve(loaded.limits, **limits), **policy)


class Overrides:
    """What is chosen at run time, over the settings that the server was started with."""

    def __init__(self, settings: Settings) -> None:
        self.settings: Final = settings
        """The object that everybody holds: what is in force."""
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
        for name in ("limits", *POLICY):
            object.__setattr__(self.settings, name, getattr(chosen, name))
        object.__setattr__(self.settings, "_premium_limits", chosen._premium_limits)
        for tell in self._told:
            tell()
