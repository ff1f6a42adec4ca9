"""The ASGI application: every operation of the API in front of Quart-Trio, and what happens around each request.

Quart's routing and contexts cost several times as much as an operation. So a request for one is the kernel's
(`chat.api.kernel`), and most never come here: the connection answers them (`chat.api.http_connection`). Everything else
goes Quart's own way: pages for people, and the 404 of an unknown path. Quart's sessions stay closed, because no secret
key is set: nothing in here sets or reads a cookie. WebSockets are the gateway's, on its own listener; here they are
refused.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import structlog
from quart import Blueprint, Request, Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException

from chat.api.answers import Answer, Send, encode, refusal
from chat.api.bodies import Receive
from chat.api.kernel import Kernel
from chat.errors import ApiError
from chat.observation import CAUSE, SEEN, Observation, told, watching
from chat.registries.error_codes import STATUS_FALLBACKS, ErrorCode
from chat.registries.limits import JSON_BODY_BYTES

log: Final = structlog.get_logger("chat.api")

UNKNOWN_TO_PEOPLE: Final = frozenset({404, 405})
"""Statuses that are 404 NOT_FOUND here: the API does not tell which methods a path would take (http.md, Addresses)."""


class Pages(Protocol):
    """The pages for people, which live beside the API (`chat.web`)."""

    @property
    def blueprint(self) -> Blueprint:
        """Their routes."""

    async def not_found(self, asked: Request) -> Response | None:
        """The page for a person who followed a link that leads nowhere; None for a client that wants JSON."""


class ChatApp(QuartTrio):
    """The whole HTTP side of one server as an ASGI application."""

    def __init__(self, kernel: Kernel, pages: Pages | None = None) -> None:
        super().__init__("chat.api", static_folder=None, template_folder=None)
        self.kernel: Final = kernel
        self._pages = pages
        self._observers = kernel.observers
        self.config["MAX_CONTENT_LENGTH"] = JSON_BODY_BYTES
        self.url_map.redirect_defaults = False
        self.register_error_handler(HTTPException, self._refuse)
        self.register_error_handler(ApiError, self._explain)
        self.register_error_handler(Exception, self._fail)
        self._unregistered = None if pages is None else pages.blueprint
        if self._observers:
            self.after_request(_note_route)

    async def asgi_app(self, scope: Any, receive: Receive, send: Send) -> None:
        """ASGI's entry; what is observed is told of when it is over."""
        if not self._observers or scope["type"] != "http":
            await self._answer(scope, receive, send)
            return
        scope[SEEN] = seen = Observation(scope["method"])
        CAUSE.set(seen)
        try:
            await self._answer(scope, receive, watching(seen, send))
        finally:
            told(self._observers, seen)

    async def _answer(self, scope: Any, receive: Receive, send: Send) -> None:
        """The kernel first, then Quart."""
        if scope["type"] == "http" and await self.kernel.serve_asgi(scope, receive, send):
            return
        if scope["type"] == "websocket":
            await _refuse_websocket(scope, receive, send)
            return
        if self._unregistered is not None and scope["type"] == "http":
            # Its paths take long to compile, and those who only use the API never ask for a page.
            blueprint, self._unregistered = self._unregistered, None
            self.register_blueprint(blueprint)
        await super().asgi_app(scope, receive, self.kernel.noting_failures(scope, send))

    # Quart runs a handler that is no coroutine in a thread, and virtual time would jump meanwhile.

    async def _refuse(self, error: HTTPException) -> Response:
        status = 404 if error.code in UNKNOWN_TO_PEOPLE else error.code or 500
        return await self._explain(ApiError(STATUS_FALLBACKS.get(status, ErrorCode.GENERAL_ERROR), status=status))

    async def _explain(self, error: ApiError) -> Response:
        page = await self._pages.not_found(request) if self._pages is not None and error.status == 404 else None
        return self._response(refusal(error)) if page is None else page

    async def _fail(self, error: Exception) -> Response:
        log.error("page failed", path=request.path, exc_info=error)
        return self._response(refusal(ApiError(ErrorCode.INTERNAL_SERVER_ERROR)))

    def _response(self, answer: Answer) -> Response:
        status, headers, body = encode(answer, self.kernel.request_id(request.scope))
        return Response(body, status, {name.decode("ascii"): value.decode("latin-1") for name, value in headers})


async def _note_route(response: Response) -> Response:
    seen: Any = request.scope.get(SEEN)
    rule = request.url_rule
    if seen is not None and rule is not None:
        seen.route = rule.rule
    return response


async def _refuse_websocket(scope: Any, receive: Receive, send: Send) -> None:
    """Decline the handshake: as 404 where the server can say so, else by closing it."""
    await receive()
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1000})
        return
    status, headers, body = encode(refusal(ApiError(ErrorCode.NOT_FOUND)), "websocket")
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body, "more_body": False})
