"""Settings about programs of others, and what such settings have to be."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Literal

from chat.classes import frozen
from chat.config.declare import setting


def parsed_by(parse: Callable[[str], object]) -> Callable[[str], bool]:
    """Whether a text is one that `parse` takes."""

    def accepts(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return accepts


is_network = parsed_by(ipaddress.ip_network)


@frozen(kw_only=True)
class InteractionSettings:
    """Interactions that applications hear by HTTP."""

    private_networks_allowed: tuple[str, ...] = setting(
        (), "networks of applications' endpoints that are not public; asked without TLS too", accepts=is_network,
        form="networks",
    )  # fmt: skip


@frozen(kw_only=True)
class ImportSettings:
    """Communities that people bring along from other programs."""

    from_browser: Literal["administrators", "everyone", "off"] = setting(
        "administrators", "who brings communities along in the browser: accounts that hold `*`, everyone, or nobody"
    )
    max_bytes: int = setting(
        2_147_483_648, "the largest export that is uploaded; the command line has no such limit", unit="bytes",
        minimum=1,
    )  # fmt: skip


@frozen
class CompatSettings:
    """Programs that were written for other services of this family."""

    fluxer: Literal["on", "off"] = setting("on", "answer at the addresses and headers that their programs expect")
    discord: Literal["on", "off"] = setting("off", "client libraries of that service: /api/v10 and /gateway?v=10")
    strict: Literal["on", "off"] = setting("off", "refuse there, by its name, what this server has not")
