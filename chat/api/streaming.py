"""Sends an answer whose body is made while it is sent, one piece in memory at a time.

A piece is made only when the one before is on its way, so a client that reads slowly slows the making down. It ends
when the client goes (its connection's write deadline counts too), and the making is told so at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final

import trio

from chat.api.answers import RawHeaders, Streamed
from chat.api.bodies import Receive

CLOSE_SECONDS: Final = 2.0
"""How long what the body was made of may take to go away."""

Send = Callable[[Any], Awaitable[None]]


async def send_streamed(
    answer: Streamed, headers: RawHeaders, receive: Receive, send: Send, *, head_only: bool
) -> None:
    """Send the whole answer, or only its head; breaks off where the body cannot be finished."""
    try:
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        if head_only or await _send_pieces(answer, receive, send):
            await send({"type": "http.response.body", "body": b""})
    finally:
        if answer.aclose is not None:
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await answer.aclose()


async def _send_pieces(answer: Streamed, receive: Receive, send: Send) -> bool:
    """Whether all of the body went out. The end of the answer is not sent here: it looks as if the client had gone."""
    complete = False
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_when_gone, receive, nursery.cancel_scope)
        try:
            async with aclosing(answer.pieces()) as pieces:
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            complete = True
        except (OSError, EOFError):
            pass  # the head is out: a body that is too short is all that can be said
        nursery.cancel_scope.cancel()
    return complete


async def _cancel_when_gone(receive: Receive, scope: trio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
