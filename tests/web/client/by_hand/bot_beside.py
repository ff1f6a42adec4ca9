"""A bot that answers while a person uses the client: on a thread of its own, by the kit's client."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import trio

from chat.testing.gateway_client import GatewayClient
from chat.testing.network import TcpRoute
from tests.web.browsing import WAIT_MS, Instance

SHORT_SECONDS: Final = 0.5

Told = dict[str, Any]
Answer = Callable[[Told], dict[str, Any] | None]
"""What is answered to an interaction: the body of the callback; None for nothing at all."""


class BotBeside:
    """The bot of the seeded world. `answers` has what it says, by the name of a command or the `custom_id`."""

    def __init__(self, home: Instance) -> None:
        self.home = home
        self.token: str = home.world["bot"]["token"]
        self.application_id: str = home.world["bot"]["application_id"]
        self.channel_id: str = home.world["channel_id"]
        self.path = f"/channels/{home.world['guild_id']}/{self.channel_id}"
        self.answers: dict[str, Answer] = {}
        self.told: list[Told] = []
        """What it has heard, the oldest first."""
        self._ready, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._live,))

    def says(self, **body: Any) -> str:
        """A message of the bot; its id."""
        return str(self.home.call("POST", f"/v1/channels/{self.channel_id}/messages", body, f"Bot {self.token}")["id"])

    def registers(self, *commands: dict[str, Any]) -> None:
        """These are its commands, and no others."""
        path = f"/v1/applications/{self.application_id}/commands"
        self.home.call("PUT", path, list(commands), f"Bot {self.token}")

    def completes(self, told: Told, method: str = "PATCH", **body: Any) -> None:
        """Say later what an answer was to be."""
        path = f"/v1/webhooks/{self.application_id}/{told['token']}/messages/@original"
        self.home.call(method, path, body)

    async def _live(self) -> None:
        async with trio.open_nursery() as nursery:
            client = await GatewayClient.connect(nursery, TcpRoute.of(self.home.world["base_url"]))
            await client.identify(self.token)
            await client.expect("READY")
            self._ready.set()
            while not self._over.is_set():
                with trio.move_on_after(SHORT_SECONDS):
                    told = (await client.expect("INTERACTION_CREATE", seconds=2 * SHORT_SECONDS)).data
                    nursery.start_soon(trio.to_thread.run_sync, self._answer, told)
            nursery.cancel_scope.cancel()

    def _answer(self, told: Told) -> None:
        self.told.append(told)
        name = told["data"].get("custom_id") or told["data"].get("name", "")
        body = self.answers[name](told) if name in self.answers else None
        if body is not None:
            self.home.call("POST", f"/v1/interactions/{told['id']}/{told['token']}/callback", body)

    def __enter__(self) -> BotBeside:
        self._thread.start()
        assert self._ready.wait(WAIT_MS / 1000)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
