"""What was mailed, and the words that the tests of recovery share."""

from __future__ import annotations

from typing import Any, Final

import trio

from chat.testing.world import World

Clock = trio.testing.MockClock

NEW_PASSWORD: Final = "correct horse battery"
MAIL_TOKEN: Final = "A" * 64
"""The form of a mailed token, and nobody's."""


async def mails(world: World, kind: str | None = None) -> list[dict[str, Any]]:
    """The mail kept so far, of one kind if that is given, oldest first."""
    kept: list[dict[str, Any]] = (await world.anyone.get("/v1/_dev/mail")).expect(200)
    return [mail for mail in kept if kind in (None, mail["kind"])]


async def last_token(world: World, kind: str) -> str:
    """What the last mail of this kind carries."""
    token: str = (await mails(world, kind))[-1]["token"]
    return token
