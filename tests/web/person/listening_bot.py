"""The bot of the world: what it says with buttons, menus and forms, and what it answers, on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import trio
from trio_websocket import ConnectionClosed, HandshakeError

from chat.testing.gateway_client import GatewayClient, GatewayClosed, HandshakeRefused, NothingArrived
from chat.testing.network import TcpRoute
from tests.web.browsing import WAIT_MS

Told = dict[str, Any]
Call = Callable[..., Any]

LISTENS_S: Final = 0.5
PAUSE_S: Final = 0.1
GONE: Final = (GatewayClosed, HandshakeRefused, NothingArrived, ConnectionClosed, HandshakeError, OSError)
EPHEMERAL: Final = 64
OF_COMPONENTS: Final = 32_768
INVOKED, PRESSED, COMPLETED, SUBMITTED = 2, 3, 4, 5
"""Types of interactions."""


def _button(custom_id: str, **members: Any) -> dict[str, Any]:
    return {"type": 2, "style": 1, "label": custom_id.capitalize(), "custom_id": custom_id, **members}


def _row(*components: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


BEDS: Final = [
    {"label": name, "value": name, "description": f"A bed of {name}, which is " + "long " * at}
    for at, name in enumerate(("beans", "kale", "leeks", "حديقة"))
]
FORM: Final = {
    "custom_id": "report",
    "title": "Report on one bed",
    "components": [
        _row({"type": 4, "custom_id": "what", "style": 1, "label": "What grows?", "max_length": 40}),
        {"type": 18, "label": "More", "component": {"type": 4, "custom_id": "more", "style": 2, "required": False}},
        {"type": 18, "label": "Bed", "component": {"type": 3, "custom_id": "bed", "options": BEDS}},
    ],
}
SAID: Final[tuple[dict[str, Any], ...]] = (
    {
        "content": "What shall be done?",
        "components": [
            _row(
                _button("plant"),
                _button("secret", style=2, emoji={"name": "\N{SEEDLING}"}),
                _button("later", style=3),
                _button("silent", style=4),
                {"type": 2, "style": 5, "label": "Read", "url": "https://example.org/"},
            ),
            _row(_button("open", label="Fill in a form"), _button("never", disabled=True)),
            _row({"type": 3, "custom_id": "beds", "options": BEDS, "min_values": 1, "max_values": 2}),
            _row({"type": 5, "custom_id": "who", "placeholder": "Who waters?"}),
        ],
    },
    {
        "flags": OF_COMPONENTS,
        "components": [
            {
                "type": 17,
                "accent_color": 0x2E7D32,
                "components": [
                    {"type": 9, "components": [{"type": 10, "content": "**Now**"}], "accessory": _button("secret")},
                    {"type": 14, "spacing": 2},
                    {"type": 10, "content": "- kale\n- leeks"},
                ],
            }
        ],
    },
    {
        "content": "A card",
        "embeds": [
            {
                "title": "The calendar " * 9,
                "url": "https://example.org/calendar",
                "description": "Sown **early**; see `north`.",
                "color": 0xB71C1C,
                "fields": [{"name": f"bed {at}", "value": "leeks " * at, "inline": at < 3} for at in range(1, 5)],
                "footer": {"text": "of the club"},
            }
        ],
    },
)
COMMANDS: Final[tuple[dict[str, Any], ...]] = (
    {"name": "hello", "description": "Greets, and says so at some length."},
    {
        "name": "plant",
        "description": "Plants something.",
        "options": [
            {"type": 3, "name": "what", "description": "A plant", "required": True, "autocomplete": True},
            {"type": 4, "name": "count", "description": "How many", "min_value": 1, "max_value": 9},
            {"type": 6, "name": "who", "description": "Who waters it"},
        ],
    },
    {"name": "Look at it", "type": 3},
    {"name": "Thank", "type": 2},
)


def _answer(told: Told) -> dict[str, Any] | None:
    """The body of the callback; None where it stays silent."""
    name = told["data"].get("custom_id") or told["data"].get("name", "")
    if told["type"] == COMPLETED:
        return {"type": 8, "data": {"choices": [{"name": one.title(), "value": one} for one in ("kale", "leek")]}}
    if name == "silent":
        return None
    if name == "open":
        return {"type": 9, "data": FORM}
    if name == "plant" and told["type"] == PRESSED:
        again = [_row(_button("plant", label="Plant again"))]
        return {"type": 7, "data": {"content": "Planted", "components": again}}
    if name == "later":
        return {"type": 5}
    if told["type"] == PRESSED and name in ("beds", "who"):
        return {"type": 6}
    return {"type": 4, "data": {"content": f"Done: {name}", "flags": 0 if name == "hello" else EPHEMERAL}}


class ListeningBot:
    """Connected for as long as the process lives; after the world was put back it comes again."""

    def __init__(self, call: Call, base_url: str, token: str, application_id: str) -> None:
        self._call, self._route = call, TcpRoute.of(base_url)
        self._token, self._application_id = token, application_id
        self._ready = threading.Event()
        self._times = 0

    def registers(self) -> None:
        """Tell the server of its commands."""
        self._call("bot", "PUT", f"/applications/{self._application_id}/commands", list(COMMANDS))

    def comes(self) -> None:
        """Connect anew, and wait until it listens."""
        if self._times == 0:
            threading.Thread(target=trio.run, args=(self._live,), daemon=True).start()
        self._ready.clear()
        self._times += 1
        assert self._ready.wait(WAIT_MS / 1000), "the bot cannot connect"

    async def _live(self) -> None:
        while True:
            try:
                async with trio.open_nursery() as nursery:
                    await self._listen(nursery)
                    nursery.cancel_scope.cancel()
            except* GONE:
                await trio.sleep(PAUSE_S)

    async def _listen(self, nursery: trio.Nursery) -> None:
        times = self._times
        client = await GatewayClient.connect(nursery, self._route)
        await client.identify(self._token.removeprefix("Bot "))
        await client.expect("READY")
        if times == self._times:
            self._ready.set()
        while times == self._times:
            with trio.move_on_after(LISTENS_S):
                told = (await client.expect("INTERACTION_CREATE", seconds=2 * LISTENS_S)).data
                nursery.start_soon(trio.to_thread.run_sync, self._answers, told)

    def _answers(self, told: Told) -> None:
        body = _answer(told)
        if body is not None:
            self._call("bot", "POST", f"/interactions/{told['id']}/{told['token']}/callback", body)
        if body == {"type": 5}:
            path = f"/webhooks/{self._application_id}/{told['token']}/messages/@original"
            self._call("bot", "PATCH", path, {"content": "I have thought."})
