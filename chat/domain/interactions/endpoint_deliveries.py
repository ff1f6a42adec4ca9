"""Interactions that an application hears by HTTP, and answers in the answer to that request (interactions.md,
Interactions by HTTP).

What the endpoint is told is kept, sealed, until it has answered, so that a restart loses no interaction: what was under
way is sent once more while its three seconds last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import orjson
import structlog
import trio

from chat.classes import define, frozen
from chat.domain.applications.interaction_endpoints import InteractionEndpoints
from chat.domain.core import Core
from chat.domain.interactions.answers import Answers, Callback
from chat.errors import ApiError, InvalidFormBody
from chat.media.outside_addresses import OutsideRefused
from chat.store.applications import applications
from chat.store.interactions import interactions
from chat.store.interactions.interactions import Interaction

SEALED_FOR: Final = "interaction delivery"

WAITING: Final = 1_024
"""Interactions that wait for an endpoint, all together; one more counts as not answered at once."""

AT_A_TIME: Final = 64
AT_A_TIME_OF_ONE: Final = 16
"""Requests to the endpoint of one application, so that a slow one leaves room for others."""

ANSWERS_LATER: Final = frozenset({202, 204})
"""With these an endpoint says that it will answer at the address of callbacks."""

log: Final = structlog.get_logger("chat.interactions")


@frozen
class EndpointDelivery:
    """An interaction on its way to an endpoint."""

    interaction: Interaction
    url: str
    body: bytes = attrs.field(repr=False)
    token: str = attrs.field(repr=False)


@define(kw_only=True, eq=False)
class EndpointDeliveries:
    """Sends interactions while `run` runs. `read_callback` reads an answer as the address of callbacks takes it."""

    _core: Core
    _endpoints: InteractionEndpoints
    _answers: Answers
    _read_callback: Callable[[bytes], Callback]
    shaped: Callable[[Mapping[str, Any]], Mapping[str, Any]] = attrs.field(default=lambda told: told)
    """Puts what is told into the words of the second mount, where that is on: most endpoints are written for it."""
    _waiting: dict[int, EndpointDelivery] = attrs.field(factory=dict, init=False)
    """By the interaction's id, until they are over."""
    _queue: list[EndpointDelivery] = attrs.field(factory=list, init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)
    _places: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(AT_A_TIME), init=False)
    _of_applications: dict[int, trio.CapacityLimiter] = attrs.field(factory=dict, init=False)

    def prepared(self, interaction: Interaction, url: str, told: Mapping[str, Any]) -> EndpointDelivery:
        """What is to be sent of an interaction that is about to be stored."""
        return EndpointDelivery(interaction, url, orjson.dumps(self.shaped(told)), told["token"])

    def sealed(self, delivery: EndpointDelivery) -> bytes:
        """What is kept of it: whoever reads the database alone answers for nobody."""
        kept = orjson.dumps({"token": delivery.token, "body": delivery.body.decode()})
        return self._core.keys.seal(SEALED_FOR, kept, str(delivery.interaction.id).encode())

    def put(self, delivery: EndpointDelivery) -> None:
        """Send soon. Call it after the commit."""
        if len(self._waiting) >= WAITING:
            self._note(delivery, "too many interactions wait")
            return
        self._waiting[delivery.interaction.id] = delivery
        self._queue.append(delivery)
        self._wake.set()

    async def run(self) -> None:
        """Send what waits since before the start, then what comes, until cancelled."""
        for row, sealed in interactions.waiting_deliveries(self._core.database.reader, self._core.clock.now_ms()):
            self._take_up(row, sealed)
        async with trio.open_nursery() as nursery:
            while True:
                taken, self._queue, self._wake = self._queue, [], trio.Event()
                for each in taken:
                    nursery.start_soon(self._delivered, each)
                await self._wake.wait()

    def _take_up(self, row: Interaction, sealed: bytes) -> None:
        application = applications.by_id(self._core.database.reader, row.application_id)
        kept = self._core.keys.open(SEALED_FOR, sealed, str(row.id).encode())
        if row.id in self._waiting or application is None or application.interactions_endpoint_url is None:
            return
        if kept is not None:
            found = orjson.loads(kept)
            url = application.interactions_endpoint_url
            self.put(EndpointDelivery(row, url, found["body"].encode(), found["token"]))

    async def _delivered(self, delivery: EndpointDelivery) -> None:
        row = delivery.interaction
        limiter = self._of_applications.setdefault(row.application_id, trio.CapacityLimiter(AT_A_TIME_OF_ONE))
        seconds = max(0.0, ((row.due_at or 0) - self._core.clock.now_ms()) / 1_000)
        try:
            with trio.move_on_after(seconds) as waiting:
                async with limiter, self._places:
                    await self._exchanged(delivery)
            if waiting.cancelled_caught:
                self._note(delivery, "it does not answer in time")
        except OutsideRefused as refused:
            self._note(delivery, str(refused))
        except InvalidFormBody as refused:
            self._note(delivery, "its answer is wrong", errors=[error.as_member() for error in refused.errors])
        except ApiError as refused:
            self._note(delivery, "its answer is refused", code=refused.code)
        except Exception:  # one interaction that we cannot deliver is no reason to stop the others
            log.exception("an interaction was abandoned", interaction_id=row.id)
        finally:
            del self._waiting[row.id]
            if not limiter.borrowed_tokens and not limiter.statistics().tasks_waiting:
                self._of_applications.pop(row.application_id, None)

    async def _exchanged(self, delivery: EndpointDelivery) -> None:
        row = delivery.interaction
        with self._answers.settling(row.id):
            reply = await self._endpoints.ask(row.application_id, delivery.url, delivery.body)
            if reply.status in ANSWERS_LATER:
                return
            if reply.status != 200:
                raise OutsideRefused(f"it answers {reply.status}")
            callback = self._read_callback(reply.content)
            await self._answers.answer(self._answers.first(row.id, delivery.token), callback)

    def _note(self, delivery: EndpointDelivery, reason: str, **more: object) -> None:
        """Say why an endpoint has not answered; the person hears so when the three seconds are over."""
        row = delivery.interaction
        log.warning(
            "endpoint did not answer", application_id=row.application_id, interaction_id=row.id, reason=reason, **more
        )
