"""A small honest HTTP client: HTTP/1.1 over any Trio stream, kept connections, JSON.

No answer raises: a test looks at `status` and `code` itself, or says what it expects.

    answer = await alice.send_message(channel_id, "hello")
    message = answer.expect(200)
    assert (await bob.get("/v1/users/1")).code == "UNKNOWN_USER"
"""

from __future__ import annotations

import json as json_text
import select
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import attrs
import h11
import trio

from chat.testing.connecting import Route
from chat.testing.forms import CONTENT_TYPE, message_form

REQUEST_SECONDS: Final = 30.0
"""How long a whole exchange may take."""

IDLE_SECONDS: Final = 1.0
"""How long an unused connection is worth keeping: servers close theirs after a few seconds, and a request that
crosses with the close is lost."""

BODY_BYTES: Final = 67_108_864
"""The longest answer that is read."""

READ_BYTES: Final = 65_536

Parameters = Mapping[str, str | int | bool | None]
"""Query parameters; those that are None are left out."""


class NoAnswer(Exception):
    """The connection ended before the answer did."""


@attrs.frozen
class Response:
    """What the server answered; header names are in lower case."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        return next((value for present, value in self.headers if present == name.lower()), None)

    def json(self) -> Any:
        """The decoded body; raises ValueError when it is not JSON."""
        return json_text.loads(self.body)

    @property
    def code(self) -> str | None:
        """The `code` of an error body, None where there is none."""
        try:
            value = self.json()
        except ValueError:
            return None
        return value.get("code") if isinstance(value, dict) and self.status >= 400 else None

    def expect(self, status: int) -> Any:
        """The decoded body (None when it is empty), or an AssertionError that shows what came instead."""
        if self.status != status:
            raise AssertionError(f"expected {status}, got {self.status}: {self.body[:2_000]!r}")
        return self.json() if self.body else None


@attrs.define(eq=False)
class _Exchange:
    """One connection, used by one request at a time. `since` is when it became idle."""

    stream: trio.abc.Stream
    parser: h11.Connection = attrs.field(factory=lambda: h11.Connection(h11.CLIENT))
    since: float | None = None
    answered: bool = False

    async def perform(self, request: h11.Request, body: bytes) -> Response:
        self.answered = False
        await self._send(request, body)
        head: h11.Response | None = None
        content = bytearray()
        while True:
            event = await self._next_event()
            match event:
                case h11.Response():
                    head = event
                case h11.Data():
                    content += event.data
                    if len(content) > BODY_BYTES:
                        raise NoAnswer("the answer is too long")
                case h11.EndOfMessage():
                    break
                case h11.ConnectionClosed():
                    raise NoAnswer("the connection ended before the answer")
                case _:
                    pass
        if head is None:
            raise NoAnswer("the answer has no head")
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers)
        return Response(head.status_code, headers, bytes(content))

    async def _send(self, request: h11.Request, body: bytes) -> None:
        parts: list[h11.Event] = [request, h11.Data(data=body), h11.EndOfMessage()]
        data = b"".join(sent for part in parts if (sent := self.parser.send(part)))
        try:
            await self.stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            # A server that refuses a request without reading it all has answered before it closed.
            if body == b"":
                raise NoAnswer("the connection broke") from error

    async def _next_event(self) -> h11.Event:
        while (event := self.parser.next_event()) is h11.NEED_DATA:
            try:
                data = await self.stream.receive_some(READ_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise NoAnswer("the connection broke") from error
            self.answered = self.answered or data != b""
            self.parser.receive_data(bytes(data))
        if event is h11.PAUSED:
            raise NoAnswer("the server changed the protocol")
        assert not isinstance(event, type)
        return event

    def can_continue(self) -> bool:
        """Get ready for another request, if both sides keep the connection."""
        if self.parser.our_state is not h11.DONE or self.parser.their_state is not h11.DONE:
            return False
        self.parser.start_next_cycle()
        self.since = trio.current_time()
        return True


class RestClient:
    """One client of the HTTP API. `token` goes into every request's Authorization header, with its scheme."""

    def __init__(self, route: Route, token: str | None = None, *, headers: Mapping[str, str] | None = None) -> None:
        self.route = route
        self.token = token
        self.headers = dict(headers or {})
        self._idle: list[_Exchange] = []

    def signed_in(self, token: str | None) -> RestClient:
        """A client that goes the same way, on the same connections, with another credential."""
        return self._beside(token, self.headers)

    def declaring(self, *capabilities: str) -> RestClient:
        """The same client with these client capabilities, such as `channel_threads` (access.md, Client
        capabilities)."""
        return self._beside(self.token, {**self.headers, "X-Service-Features": ", ".join(capabilities)})

    def _beside(self, token: str | None, headers: Mapping[str, str]) -> RestClient:
        other = RestClient(self.route, token, headers=headers)
        other._idle = self._idle  # an address holds only so many
        return other

    async def aclose(self) -> None:
        """Close the connections that wait for another request."""
        while self._idle:
            await trio.aclose_forcefully(self._idle.pop().stream)

    # Requests

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: object = ...,
        body: bytes | None = None,
        query: Parameters | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = REQUEST_SECONDS,
    ) -> Response:
        """Send a request and read the answer.

        `path` is the whole path from the root, as in `/v1/users/@me`; `json` is encoded, `body` goes as it is.

        Raises NoAnswer when the connection ends too early, trio.TooSlowError after `seconds`.
        """
        content = b"" if body is None else body
        named = {"Host": self.route.host, **self.headers}
        if self.token is not None:
            named["Authorization"] = self.token
        if json is not ...:
            content = json_text.dumps(json).encode()
            named["Content-Type"] = "application/json"
        if content or method in {"POST", "PUT", "PATCH"}:
            named["Content-Length"] = str(len(content))
        named.update(headers or {})
        request = h11.Request(method=method, target=_target(path, query), headers=list(named.items()))
        with trio.fail_after(seconds):
            return await self._perform(request, content)

    async def _perform(self, request: h11.Request, body: bytes) -> Response:
        exchange = await self._take_idle()
        if exchange is not None:
            try:
                return await self._perform_on(exchange, request, body)
            except NoAnswer:
                # The server may close a kept connection at any time; only what is safe to repeat is repeated.
                if exchange.answered or request.method not in {b"GET", b"HEAD", b"PUT", b"DELETE"}:
                    raise
        return await self._perform_on(_Exchange(await self.route.connect()), request, body)

    async def _perform_on(self, exchange: _Exchange, request: h11.Request, body: bytes) -> Response:
        reusable = False
        try:
            response = await exchange.perform(request, body)
            reusable = exchange.can_continue()
        except h11.RemoteProtocolError as error:
            raise NoAnswer(f"the answer is not HTTP: {error}") from error
        finally:
            if not reusable:
                await trio.aclose_forcefully(exchange.stream)
        if reusable:
            self._idle.append(exchange)
        return response

    async def _take_idle(self) -> _Exchange | None:
        while self._idle:
            exchange = self._idle.pop()
            is_young = exchange.since is not None and trio.current_time() - exchange.since < IDLE_SECONDS
            if is_young and not _has_ended(exchange.stream):
                return exchange
            await trio.aclose_forcefully(exchange.stream)
        return None

    async def get(self, path: str, query: Parameters | None = None) -> Response:
        return await self.request("GET", path, query=query)

    async def post(self, path: str, json: object = ...) -> Response:
        return await self.request("POST", path, json=json)

    async def put(self, path: str, json: object = ...) -> Response:
        return await self.request("PUT", path, json=json)

    async def patch(self, path: str, json: object) -> Response:
        return await self.request("PATCH", path, json=json)

    async def delete(self, path: str, json: object = ...) -> Response:
        return await self.request("DELETE", path, json=json)

    # Accounts

    async def register(self, **members: object) -> Response:
        """POST /v1/auth/register."""
        return await self.post("/v1/auth/register", members)

    async def login(self, **members: object) -> Response:
        """POST /v1/auth/login."""
        return await self.post("/v1/auth/login", members)

    async def logout(self) -> Response:
        """POST /v1/auth/logout."""
        return await self.post("/v1/auth/logout")

    # People; ids are snowflakes as int or text

    async def profile(self, user_id: int | str, **query: str | int | bool | None) -> Response:
        """GET /v1/users/{user_id}/profile; `guild_id`, `with_mutual_friends`, `with_mutual_guilds`."""
        given = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
        return await self.get(f"/v1/users/{user_id}/profile", given)

    async def request_friendship(self, user_id: int | str) -> Response:
        """POST /v1/users/@me/relationships/{user_id}."""
        return await self.post(f"/v1/users/@me/relationships/{user_id}")

    async def accept_friendship(self, user_id: int | str) -> Response:
        """PUT /v1/users/@me/relationships/{user_id} without a type."""
        return await self.put(f"/v1/users/@me/relationships/{user_id}")

    async def block(self, user_id: int | str) -> Response:
        """PUT /v1/users/@me/relationships/{user_id} with the type that blocks."""
        return await self.put(f"/v1/users/@me/relationships/{user_id}", {"type": 2})

    async def end_relationship(self, user_id: int | str) -> Response:
        """DELETE /v1/users/@me/relationships/{user_id}: unfriend, unblock, take back or turn down."""
        return await self.delete(f"/v1/users/@me/relationships/{user_id}")

    async def write_note(self, user_id: int | str, note: str | None) -> Response:
        """PUT /v1/users/@me/notes/{user_id}; None takes the note away."""
        return await self.put(f"/v1/users/@me/notes/{user_id}", {"note": note})

    async def change_settings(self, **members: object) -> Response:
        """PATCH /v1/users/@me/settings."""
        return await self.patch("/v1/users/@me/settings", members)

    async def change_guild_settings(self, guild_id: int | str | None, **members: object) -> Response:
        """What the account wants to be told of a guild; None stands for its conversations."""
        return await self.patch(f"/v1/users/@me/guilds/{guild_id or '@me'}/settings", members)

    async def make_group(self, *user_ids: int | str) -> Response:
        """A group with these accounts."""
        return await self.post("/v1/users/@me/channels", {"recipients": [str(user_id) for user_id in user_ids]})

    async def add_recipient(self, channel_id: int | str, user_id: int | str) -> Response:
        """Put a friend into a group."""
        return await self.put(f"/v1/channels/{channel_id}/recipients/{user_id}")

    async def remove_recipient(self, channel_id: int | str, user_id: int | str) -> Response:
        """Take somebody out of a group."""
        return await self.delete(f"/v1/channels/{channel_id}/recipients/{user_id}")

    async def ring(self, channel_id: int | str, *user_ids: int | str) -> Response:
        """Ring these accounts of a conversation, or all, and begin the call where there is none."""
        body = {"recipients": [str(user_id) for user_id in user_ids]} if user_ids else {}
        return await self.post(f"/v1/channels/{channel_id}/call/ring", body)

    async def stop_ringing(self, channel_id: int | str, *user_ids: int | str) -> Response:
        """Ring these accounts no more; without any, decline."""
        body = {"recipients": [str(user_id) for user_id in user_ids]} if user_ids else {}
        return await self.post(f"/v1/channels/{channel_id}/call/stop-ringing", body)

    async def end_call(self, channel_id: int | str) -> Response:
        """End a call for everybody."""
        return await self.post(f"/v1/channels/{channel_id}/call/end")

    async def subscribe_to_push(self, endpoint: str, p256dh: str, auth: str, **members: object) -> Response:
        """Have a browser told of messages; the keys are in base64url."""
        body = {"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}, **members}
        return await self.post("/v1/users/@me/push/subscribe", body)

    async def push_subscriptions(self) -> Response:
        """The browsers that are told."""
        return await self.get("/v1/users/@me/push/subscriptions")

    async def unsubscribe_from_push(self, subscription_id: str) -> Response:
        """Have a browser told no more."""
        return await self.delete(f"/v1/users/@me/push/subscriptions/{subscription_id}")

    async def open_conversation(self, user_id: int | str) -> Response:
        """POST /v1/users/@me/channels with one recipient."""
        return await self.post("/v1/users/@me/channels", {"recipient_id": str(user_id)})

    # Guilds, channels, messages; ids are snowflakes as int or text

    async def create_guild(self, name: str, **members: object) -> Response:
        """POST /v1/guilds."""
        return await self.post("/v1/guilds", {"name": name, **members})

    async def create_channel_invite(self, channel_id: int | str, **members: object) -> Response:
        """POST /v1/channels/{channel_id}/invites."""
        return await self.post(f"/v1/channels/{channel_id}/invites", members)

    async def accept_invite(self, code: str) -> Response:
        """POST /v1/invites/{code}."""
        return await self.post(f"/v1/invites/{quote(code)}")

    async def send_message(self, channel_id: int | str, content: str, **members: object) -> Response:
        """POST /v1/channels/{channel_id}/messages."""
        return await self.post(f"/v1/channels/{channel_id}/messages", {"content": content, **members})

    async def messages(self, channel_id: int | str, **query: str | int | None) -> Response:
        """GET /v1/channels/{channel_id}/messages; `limit`, `before`, `after`, `around`."""
        return await self.get(f"/v1/channels/{channel_id}/messages", query)

    async def edit_message(self, channel_id: int | str, message_id: int | str, content: str) -> Response:
        """PATCH /v1/channels/{channel_id}/messages/{message_id}."""
        return await self.patch(f"/v1/channels/{channel_id}/messages/{message_id}", {"content": content})

    async def delete_message(self, channel_id: int | str, message_id: int | str) -> Response:
        """DELETE /v1/channels/{channel_id}/messages/{message_id}."""
        return await self.delete(f"/v1/channels/{channel_id}/messages/{message_id}")

    async def bulk_delete_messages(self, channel_id: int | str, message_ids: Sequence[int | str]) -> Response:
        """POST /v1/channels/{channel_id}/messages/bulk-delete."""
        return await self.post(f"/v1/channels/{channel_id}/messages/bulk-delete", {"message_ids": list(message_ids)})

    async def purge_messages(self, channel_id: int | str, **members: object) -> Response:
        """POST /v1/channels/{channel_id}/messages/purge; `limit`, `before`, `user_ids`, `contains`, `has` and so on."""
        return await self.post(f"/v1/channels/{channel_id}/messages/purge", members)

    async def pin_message(self, channel_id: int | str, message_id: int | str) -> Response:
        """PUT /v1/channels/{channel_id}/pins/{message_id}."""
        return await self.put(f"/v1/channels/{channel_id}/pins/{message_id}")

    async def unpin_message(self, channel_id: int | str, message_id: int | str) -> Response:
        """DELETE /v1/channels/{channel_id}/pins/{message_id}."""
        return await self.delete(f"/v1/channels/{channel_id}/pins/{message_id}")

    async def pins(self, channel_id: int | str, **query: str | int | None) -> Response:
        """GET /v1/channels/{channel_id}/messages/pins; `limit`, `before`."""
        return await self.get(f"/v1/channels/{channel_id}/messages/pins", query)

    async def acknowledge_pins(self, channel_id: int | str) -> Response:
        """POST /v1/channels/{channel_id}/pins/ack."""
        return await self.post(f"/v1/channels/{channel_id}/pins/ack")

    async def messages_of_channels(self, *windows: Mapping[str, object]) -> Response:
        """POST /v1/channels/messages/bulk; each window has `channel_id`, `limit` and perhaps a cursor."""
        return await self.post("/v1/channels/messages/bulk", {"requests": list(windows)})

    async def preload_messages(self, *channel_ids: int | str) -> Response:
        """POST /v1/users/@me/preload-messages."""
        return await self.post("/v1/users/@me/preload-messages", {"channels": list(channel_ids)})

    async def slowmode(self, channel_id: int | str) -> Response:
        """GET /v1/channels/{channel_id}/slowmode."""
        return await self.get(f"/v1/channels/{channel_id}/slowmode")

    # Reactions; `emoji` is a Unicode emoji, or `name:id`

    async def react(self, channel_id: int | str, message_id: int | str, emoji: str, **query: str) -> Response:
        """PUT /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me; `session_id`."""
        return await self.request("PUT", _reactions(channel_id, message_id, emoji, "@me"), query=query)

    async def take_reaction(
        self, channel_id: int | str, message_id: int | str, emoji: str, user_id: int | str = "@me", **query: str
    ) -> Response:
        """DELETE /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/{user_id}; `session_id`."""
        path = _reactions(channel_id, message_id, emoji, str(user_id))
        return await self.request("DELETE", path, query=query)

    async def take_reactions(self, channel_id: int | str, message_id: int | str, emoji: str | None = None) -> Response:
        """DELETE /v1/channels/{channel_id}/messages/{message_id}/reactions, of one emoji or of all."""
        return await self.delete(_reactions(channel_id, message_id, *([] if emoji is None else [emoji])))

    async def reaction_users(
        self, channel_id: int | str, message_id: int | str, emoji: str, **query: str | int | None
    ) -> Response:
        """GET /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}; `limit`, `after`."""
        return await self.get(_reactions(channel_id, message_id, emoji), query)

    # What was read, mentions, saved messages

    async def acknowledge(self, channel_id: int | str, message_id: int | str, **members: object) -> Response:
        """POST /v1/channels/{channel_id}/messages/{message_id}/ack; `mention_count`, `manual`."""
        return await self.post(f"/v1/channels/{channel_id}/messages/{message_id}/ack", members)

    async def acknowledge_channels(self, *read_states: Mapping[str, object]) -> Response:
        """POST /v1/read-states/ack; each `channel_id`, `message_id`, `mention_count`, `manual`."""
        return await self.post("/v1/read-states/ack", {"read_states": list(read_states)})

    async def mentions(self, **query: str | int | bool | None) -> Response:
        """GET /v1/users/@me/mentions; `limit`, `before`, `roles`, `everyone`, `guilds`, `guild_id`."""
        given = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
        return await self.get("/v1/users/@me/mentions", given)

    async def read_mentions(self, *message_ids: int | str) -> Response:
        """POST /v1/users/@me/mentions/read: of these messages, or of all."""
        return await self.post("/v1/users/@me/mentions/read", {"message_ids": list(message_ids) or None})

    async def delete_mention(self, message_id: int | str) -> Response:
        """DELETE /v1/users/@me/mentions/{message_id}."""
        return await self.delete(f"/v1/users/@me/mentions/{message_id}")

    async def saved_messages(self, **query: str | int | None) -> Response:
        """GET /v1/users/@me/saved-messages; `limit`, `before`."""
        return await self.get("/v1/users/@me/saved-messages", query)

    async def save_message(self, channel_id: int | str, message_id: int | str) -> Response:
        """POST /v1/users/@me/saved-messages."""
        return await self.post("/v1/users/@me/saved-messages", {"channel_id": channel_id, "message_id": message_id})

    async def forget_saved_message(self, message_id: int | str) -> Response:
        """DELETE /v1/users/@me/saved-messages/{message_id}."""
        return await self.delete(f"/v1/users/@me/saved-messages/{message_id}")

    async def memes(self) -> Response:
        """GET /v1/users/@me/memes."""
        return await self.get("/v1/users/@me/memes")

    async def fetch_meme(self, url: str, **members: object) -> Response:
        """POST /v1/users/@me/memes; `name`, `alt_text`, `tags`."""
        return await self.post("/v1/users/@me/memes", {"url": url, **members})

    async def keep_meme(self, channel_id: int | str, message_id: int | str, **members: object) -> Response:
        """POST /v1/channels/{channel_id}/messages/{message_id}/memes; `attachment_id` or `embed_index`, `name`,
        `alt_text`, `tags`."""
        return await self.post(f"/v1/channels/{channel_id}/messages/{message_id}/memes", members)

    async def change_meme(self, meme_id: int | str, **members: object) -> Response:
        """PATCH /v1/users/@me/memes/{meme_id}; `name`, `alt_text`, `tags`."""
        return await self.patch(f"/v1/users/@me/memes/{meme_id}", members)

    async def delete_meme(self, meme_id: int | str) -> Response:
        """DELETE /v1/users/@me/memes/{meme_id}."""
        return await self.delete(f"/v1/users/@me/memes/{meme_id}")

    async def forget_read_state(self, channel_id: int | str) -> Response:
        """DELETE /v1/channels/{channel_id}/messages/ack."""
        return await self.delete(f"/v1/channels/{channel_id}/messages/ack")

    async def start_typing(self, channel_id: int | str) -> Response:
        """POST /v1/channels/{channel_id}/typing."""
        return await self.post(f"/v1/channels/{channel_id}/typing")

    # Files, webhooks and links

    async def send_files(self, channel_id: int | str, files: Mapping[str, bytes], **members: object) -> Response:
        """POST /v1/channels/{channel_id}/messages as a form with these files, by their names."""
        headers = {"Content-Type": CONTENT_TYPE}
        path = f"/v1/channels/{channel_id}/messages"
        return await self.request("POST", path, body=message_form(files, members), headers=headers)

    async def promise_uploads(self, channel_id: int | str, files: Mapping[str, int]) -> Response:
        """POST /v1/channels/{channel_id}/attachments for files of these names and sizes."""
        wanted = [
            {"id": str(number), "filename": name, "file_size": size}
            for number, (name, size) in enumerate(files.items())
        ]
        return await self.post(f"/v1/channels/{channel_id}/attachments", {"files": wanted})

    async def fetch(self, url: str, headers: Mapping[str, str] | None = None) -> Response:
        """GET an address that the server handed out."""
        return await self.request("GET", _path_of(url), headers=headers)

    async def upload(self, url: str, data: bytes) -> Response:
        """PUT the bytes of a promised upload to its address."""
        return await self.request("PUT", _path_of(url), body=data)

    async def create_webhook(self, channel_id: int | str, name: str, **members: object) -> Response:
        """POST /v1/channels/{channel_id}/webhooks."""
        return await self.post(f"/v1/channels/{channel_id}/webhooks", {"name": name, **members})

    async def execute_webhook(
        self, webhook: Mapping[str, Any], *, thread_id: int | str | None = None, wait: bool = True, **members: object
    ) -> Response:
        """POST /v1/webhooks/{id}/{token} of a webhook as it was made."""
        query = {"wait": "true" if wait else "false", "thread_id": thread_id}
        return await self.request("POST", _webhook_path(webhook), json=members, query=query)

    async def edit_webhook_message(
        self,
        webhook: Mapping[str, Any],
        message_id: int | str,
        *,
        thread_id: int | str | None = None,
        **members: object,
    ) -> Response:
        """PATCH /v1/webhooks/{id}/{token}/messages/{message_id}."""
        path = f"{_webhook_path(webhook)}/messages/{message_id}"
        return await self.request("PATCH", path, json=members, query={"thread_id": thread_id})

    async def delete_webhook_message(
        self, webhook: Mapping[str, Any], message_id: int | str, *, thread_id: int | str | None = None
    ) -> Response:
        """DELETE /v1/webhooks/{id}/{token}/messages/{message_id}."""
        path = f"{_webhook_path(webhook)}/messages/{message_id}"
        return await self.request("DELETE", path, query={"thread_id": thread_id})

    async def unfurl(self, url: str) -> Response:
        """POST /v1/unfurl."""
        return await self.post("/v1/unfurl", {"url": url})

    # Channels of guilds, threads and announcements; people declare `channel_threads` for threads

    async def create_channel(self, guild_id: int | str, name: str, **members: object) -> Response:
        """POST /v1/guilds/{guild_id}/channels."""
        return await self.post(f"/v1/guilds/{guild_id}/channels", {"name": name, **members})

    async def change_channel(self, channel_id: int | str, **members: object) -> Response:
        """PATCH /v1/channels/{channel_id}; of a thread too."""
        return await self.patch(f"/v1/channels/{channel_id}", members)

    async def start_thread(self, channel_id: int | str, name: str, **members: object) -> Response:
        """POST /v1/channels/{channel_id}/threads; in a forum with `message`."""
        return await self.post(f"/v1/channels/{channel_id}/threads", {"name": name, **members})

    async def start_thread_from(
        self, channel_id: int | str, message_id: int | str, name: str, **members: object
    ) -> Response:
        """POST /v1/channels/{channel_id}/messages/{message_id}/threads."""
        return await self.post(f"/v1/channels/{channel_id}/messages/{message_id}/threads", {"name": name, **members})

    async def join_thread(self, thread_id: int | str, user_id: int | str = "@me") -> Response:
        """PUT /v1/channels/{thread_id}/thread-members/{user_id}."""
        return await self.put(f"/v1/channels/{thread_id}/thread-members/{user_id}")

    async def leave_thread(self, thread_id: int | str, user_id: int | str = "@me") -> Response:
        """DELETE /v1/channels/{thread_id}/thread-members/{user_id}."""
        return await self.delete(f"/v1/channels/{thread_id}/thread-members/{user_id}")

    async def thread_members(self, thread_id: int | str, **query: str | int | None) -> Response:
        """GET /v1/channels/{thread_id}/thread-members; `limit`, `after`."""
        return await self.get(f"/v1/channels/{thread_id}/thread-members", query)

    async def archived_threads(
        self, channel_id: int | str, kind: str = "public", **query: str | int | None
    ) -> Response:
        """GET /v1/channels/{channel_id}/threads/archived/{kind}: `public` or `private`; `before`, `limit`."""
        return await self.get(f"/v1/channels/{channel_id}/threads/archived/{kind}", query)

    async def joined_archived_threads(self, channel_id: int | str, **query: str | int | None) -> Response:
        """GET /v1/channels/{channel_id}/users/@me/threads/archived/private; `before`, `limit`."""
        return await self.get(f"/v1/channels/{channel_id}/users/@me/threads/archived/private", query)

    async def search_threads(self, channel_id: int | str, **query: str | int | None) -> Response:
        """GET /v1/channels/{channel_id}/threads/search; `name`, `tag`, `archived`, `sort_by` ..."""
        return await self.get(f"/v1/channels/{channel_id}/threads/search", query)

    async def crosspost(self, channel_id: int | str, message_id: int | str) -> Response:
        """POST /v1/channels/{channel_id}/messages/{message_id}/crosspost."""
        return await self.post(f"/v1/channels/{channel_id}/messages/{message_id}/crosspost")

    async def follow(self, channel_id: int | str, webhook_channel_id: int | str) -> Response:
        """POST /v1/channels/{channel_id}/followers: have its messages in another channel."""
        return await self.post(f"/v1/channels/{channel_id}/followers", {"webhook_channel_id": str(webhook_channel_id)})

    # Development routes

    async def gateway_sessions(self) -> list[dict[str, Any]]:
        """GET /v1/_dev/sessions."""
        sessions: list[dict[str, Any]] = (await self.get("/v1/_dev/sessions")).expect(200)
        return sessions

    async def node(self, **state: object) -> dict[str, Any]:
        """POST /v1/_dev/gateway: set the node's state, as in `node(at_capacity=True)`."""
        answer: dict[str, Any] = (await self.post("/v1/_dev/gateway", state)).expect(200)
        return answer

    async def fault(self, action: str, target: object = "all", **members: object) -> int:
        """POST /v1/_dev/faults: strike sockets or sessions; how many were struck."""
        answer = (await self.post("/v1/_dev/faults", {"action": action, "target": target, **members})).expect(200)
        affected: int = answer["affected"]
        return affected

    async def advance_clock(self, milliseconds: int) -> dict[str, Any]:
        """POST /v1/_dev/clock. A server inside the test's own Trio run moves this client's clock as well."""
        answer = await self.request(
            "POST",
            "/v1/_dev/clock",
            json={"advance_ms": milliseconds},
            seconds=REQUEST_SECONDS + milliseconds / 1000,
        )
        reading: dict[str, Any] = answer.expect(200)
        return reading

    async def make_guilds(self, user_id: int | str, count: int, shard: tuple[int, int] | None = None) -> list[str]:
        """POST /v1/_dev/guilds/bulk: the ids of the new guilds."""
        body: dict[str, object] = {"user_id": str(user_id), "count": count}
        if shard is not None:
            body["shard"] = list(shard)
        guild_ids: list[str] = (await self.post("/v1/_dev/guilds/bulk", body)).expect(200)["guild_ids"]
        return guild_ids


def _has_ended(stream: trio.abc.Stream) -> bool:
    """Whether something has come on an idle connection: its end, what else (a server's clock may have been moved)."""
    if not isinstance(stream, trio.SocketStream):
        return False
    poller = select.poll()
    poller.register(stream.socket, select.POLLIN)
    return bool(poller.poll(0))


def _reactions(channel_id: int | str, message_id: int | str, *more: str) -> str:
    segments = (quote(segment, safe="@:") for segment in more)
    return "/".join((f"/v1/channels/{channel_id}/messages/{message_id}/reactions", *segments))


def _target(path: str, query: Parameters | None) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _path_of(url: str) -> str:
    """Path and query of an address."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _webhook_path(webhook: Mapping[str, Any]) -> str:
    """The address that is a webhook's credential."""
    return f"/v1/webhooks/{webhook['id']}/{webhook['token']}"
