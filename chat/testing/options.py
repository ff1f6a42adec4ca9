"""What the person who runs the tests asks of the kit: a seed, or a server that is there already.

The pytest plugin fills this from its options, other runners from the environment.

| option | environment | what |
|---|---|---|
| `--chat-seed N` | `CHAT_TEST_SEED` | another world, and another order of what is left to chance, for each test |
| `--chat-url URL` | `CHAT_TEST_URL` | the world lives on the server there, of any program |
| `--chat-gateway node` | `CHAT_TEST_GATEWAY` | a gateway node serves the sockets; usually the server does |
| `--chat-world FILE` | `CHAT_TEST_WORLD` | its accounts: a file with what `chat dev --json` prints |
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

if TYPE_CHECKING:
    from chat.development.answers import KnownWorld

PREFIX: Final = "CHAT_TEST_"
NAMES: Final = ("seed", "url", "world", "gateway")


class OptionError(ValueError):
    """An option is not of its form; the text says which and what it takes."""


class Options(NamedTuple):
    """`url` is None for a server in the test itself. No attrs class: the plugin costs other suites nothing."""

    seed: int | None = None
    url: str | None = None
    world: KnownWorld | None = None
    at_node: bool = False

    def seed_of(self, test: str) -> int:
        """The seed of a test's server: it follows from the test's name, so that a test does the same each time."""
        name = test if self.seed is None else f"{self.seed}:{test}"
        return zlib.crc32(name.encode())


def read(values: Mapping[str, str | None]) -> Options:
    """Options from text, by `seed`, `url`, `world` and `gateway`. Raises OptionError."""
    seed, url, world, gateway = (values.get(name) or None for name in NAMES)
    if seed is not None and not seed.isdecimal():
        raise OptionError(f"the seed is a whole number from 0, not {seed!r}")
    if world is not None and url is None:
        raise OptionError("a world is that of a server: give its URL as well")
    if gateway not in {None, "server", "node"}:
        raise OptionError(f"the gateway is the server's or a node's: server or node, not {gateway!r}")
    if gateway == "node" and url is not None:
        raise OptionError("a gateway node stands beside a server in the test, not beside one that is there already")
    return Options(
        at_node=gateway == "node",
        seed=None if seed is None else int(seed),
        url=None if url is None else _checked(url),
        world=None if world is None else _description(Path(world)),
    )


def of_environment() -> Options:
    """The options that the environment names. Raises OptionError."""
    return read({name: os.environ.get(PREFIX + name.upper()) for name in NAMES})


def _checked(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise OptionError(f"the URL is that of an API, such as http://127.0.0.1:8080/v1, not {url!r}")
    return url.rstrip("/")


def _description(path: Path) -> KnownWorld:
    try:
        description = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise OptionError(f"{path} does not hold what `chat dev --json` prints: {error}") from error
    if not isinstance(description, dict) or "users" not in description:
        raise OptionError(f"{path} does not hold what `chat dev --json` prints: it names no `users`")
    return cast("KnownWorld", description)


_chosen: Options | None = None


def choose(options: Options | None) -> None:
    """Let these options count from now on; None lets the environment decide."""
    global _chosen
    _chosen = options


def current() -> Options:
    """The options that count. Raises OptionError where the environment decides, and badly."""
    return of_environment() if _chosen is None else _chosen
