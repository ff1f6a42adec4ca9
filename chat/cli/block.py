"""`chat block`: what is not allowed on the instance, the lists of the Admin API (administration.md, Blocklists)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import click

from chat import wire
from chat.cli.administration import Instance, administering
from chat.cli.options import instance_options, reason_option
from chat.errors import ApiError, InvalidFormBody, OperatorError
from chat.registries.blocklists import Blocklist
from chat.registries.error_codes import ErrorCode

if TYPE_CHECKING:
    from chat.domain.administration.blocklists import Blocklists

BLOCK_COLUMNS: Final = ("list", "added_at", "reason", "value")
PAGE: Final = 1_000
NAMES: Final = [name.value for name in Blocklist]

list_argument = click.argument("name", metavar="LIST", type=click.Choice(NAMES))
value_argument = click.argument("value", metavar="VALUE")


@click.group(epilog=f"LIST is one of: {', '.join(NAMES)}.")
def block() -> None:
    """Blocklists: what is not allowed on this instance.

    Mail addresses, networks, phrases, pages and files. `chat ban` has the networks that were banned for guessing.
    """


@block.command("list")
@instance_options
@click.argument("name", metavar="[LIST]", type=click.Choice(NAMES), required=False)
@administering(*BLOCK_COLUMNS)
async def list_blocks(instance: Instance, name: str | None) -> list[wire.BlockedValue]:
    """What is on the lists, or on LIST alone.

    They are email, ip, phrase, url, url_domain, file_sha, avatar_hash and profile_substring.
    """
    service = _service(instance)
    found: list[wire.BlockedValue] = []
    for each in Blocklist if name is None else (Blocklist(name),):
        after: str | None = ""
        while after is not None:
            page = await service.page(instance.acting(), each, after, PAGE)
            found += page["entries"]
            after = page["next_after"]
    return found


@block.command()
@instance_options
@list_argument
@value_argument
@reason_option
@administering(*BLOCK_COLUMNS)
async def add(instance: Instance, name: str, value: str, reason: str | None) -> wire.BlockedValue:
    """Put VALUE on LIST.

    A network for ip, @example.com for the addresses of a domain, a SHA-256 for file_sha.
    """
    from chat.domain.administration import server_notes

    with _in_words(name, value), instance.telling(server_notes.blocklist_changed()):
        return await _service(instance).add(instance.acting(), Blocklist(name), value, reason)


@block.command()
@instance_options
@list_argument
@value_argument
@administering()
async def remove(instance: Instance, name: str, value: str) -> Mapping[str, object]:
    """Take VALUE off LIST, as `chat block list` shows it."""
    from chat.domain.administration import server_notes
    from chat.domain.administration.blocklists import comparable

    with _in_words(name, value), instance.telling(server_notes.blocklist_changed()):
        await _service(instance).remove(instance.acting(), Blocklist(name), value)
        return {"list": name, "value": comparable(Blocklist(name), value), "removed": True}


def _service(instance: Instance) -> Blocklists:
    return instance.areas().administration.blocklists


@contextlib.contextmanager
def _in_words(name: str, value: str) -> Iterator[None]:
    """Say in the block what is wrong with the value."""
    try:
        yield
    except InvalidFormBody:
        raise OperatorError(f"{value!r} cannot be on the list {name}, or the list is full") from None
    except ApiError as error:
        if error.code != ErrorCode.NOT_FOUND:
            raise
        raise OperatorError(f"{value!r} is not on the list {name}") from None
