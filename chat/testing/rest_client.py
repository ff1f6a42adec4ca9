"""A small honest client of the HTTP API.

No answer raises: a test looks at `status` and `code` itself, or says what it expects.

    answer = await alice.send_message(channel_id, "hello")
    message = answer.expect(200)
    assert (await bob.get("/v1/users/1")).code == "UNKNOWN_USER"
"""

from __future__ import annotations

import functools
import json as json_text
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote, urlsplit

from chat.api.routing import RouteTable
from chat.development.answers import ClockReading, NodeState, ShownSession
from chat.testing.http_client import REQUEST_SECONDS, HttpClient, Parameters
from chat.testing.http_client import NoAnswer as NoAnswer
from chat.testing.http_client import Response as Response

BOUNDARY: Final = "----boundary-of-the-test-kit"
CONTENT_TYPE: Final = f"multipart/form-data; boundary={BOUNDARY}"


class UnversionedPath(ValueError):
    """A request for an operation of the API went to its path without `/v1`."""


class RestClient(HttpClient):
    """The operations of the API by name; ids are snowflakes as int or text."""

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
        """As HttpClient has it. Raises UnversionedPath where `/v1` was forgotten: a 404 for the path of an operation
        without it. A request that names what it accepts is one for a page."""
        answer = await super().request(
            method, path, json=json, body=body, query=query, headers=headers, seconds=seconds
        )
        is_lost = answer.status == HTTPStatus.NOT_FOUND and not path.startswith("/v1/")
        if is_lost and "Accept" not in (headers or ()) and _is_operation(f"/v1{path}"):
            raise UnversionedPath(f"{method} {path} is answered with 404: the path of this operation is /v1{path}")
        return answer

    # Accounts

    async def register(self, **members: object) -> Response:
        return await self.post("/v1/auth/register", members)

    async def login(self, **members: object) -> Response:
        return await self.post("/v1/auth/login", members)

    async def logout(self) -> Response:
        return await self.post("/v1/auth/logout")

    # People

    async def profile(self, user_id: int | str, **query: str | int | bool | None) -> Response:
        """GET /v1/users/{user_id}/profile; `guild_id`, `with_mutual_friends`, `with_mutual_guilds`."""
        given = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
        return await self.get(f"/v1/users/{user_id}/profile", given)

    async def request_friendship(self, user_id: int | str) -> Response:
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
        return await self.patch("/v1/users/@me/settings", members)

    async def change_guild_settings(self, guild_id: int | str | None, **members: object) -> Response:
        """What the account wants to be told of a guild; None stands for its conversations."""
        return await self.patch(f"/v1/users/@me/guilds/{guild_id or '@me'}/settings", members)

    async def make_group(self, *user_ids: int | str) -> Response:
        return await self.post("/v1/users/@me/channels", {"recipients": [str(user_id) for user_id in user_ids]})

    async def add_recipient(self, channel_id: int | str, user_id: int | str) -> Response:
        return await self.put(f"/v1/channels/{channel_id}/recipients/{user_id}")

    async def remove_recipient(self, channel_id: int | str, user_id: int | str) -> Response:
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
        return await self.post(f"/v1/channels/{channel_id}/call/end")

    async def subscribe_to_push(self, endpoint: str, p256dh: str, auth: str, **members: object) -> Response:
        """Have a browser told of messages; the keys are in base64url."""
        body = {"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}, **members}
        return await self.post("/v1/users/@me/push/subscribe", body)

    async def push_subscriptions(self) -> Response:
        return await self.get("/v1/users/@me/push/subscriptions")

    async def unsubscribe_from_push(self, subscription_id: str) -> Response:
        return await self.delete(f"/v1/users/@me/push/subscriptions/{subscription_id}")

    async def open_conversation(self, user_id: int | str) -> Response:
        return await self.post("/v1/users/@me/channels", {"recipient_id": str(user_id)})

    # Guilds, channels, messages

    async def create_guild(self, name: str, **members: object) -> Response:
        return await self.post("/v1/guilds", {"name": name, **members})

    async def create_channel_invite(self, channel_id: int | str, **members: object) -> Response:
        return await self.post(f"/v1/channels/{channel_id}/invites", members)

    async def accept_invite(self, code: str) -> Response:
        return await self.post(f"/v1/invites/{quote(code)}")

    async def send_message(self, channel_id: int | str, content: str, **members: object) -> Response:
        return await self.post(f"/v1/channels/{channel_id}/messages", {"content": content, **members})

    async def messages(self, channel_id: int | str, **query: str | int | None) -> Response:
        """GET /v1/channels/{channel_id}/messages; `limit`, `before`, `after`, `around`."""
        return await self.get(f"/v1/channels/{channel_id}/messages", query)

    async def edit_message(self, channel_id: int | str, message_id: int | str, content: str) -> Response:
        return await self.patch(f"/v1/channels/{channel_id}/messages/{message_id}", {"content": content})

    async def delete_message(self, channel_id: int | str, message_id: int | str) -> Response:
        return await self.delete(f"/v1/channels/{channel_id}/messages/{message_id}")

    async def bulk_delete_messages(self, channel_id: int | str, message_ids: Sequence[int | str]) -> Response:
        return await self.post(f"/v1/channels/{channel_id}/messages/bulk-delete", {"message_ids": list(message_ids)})

    async def purge_messages(self, channel_id: int | str, **members: object) -> Response:
        """POST /v1/channels/{channel_id}/messages/purge; `limit`, `before`, `user_ids`, `contains`, `has` and so on."""
        return await self.post(f"/v1/channels/{channel_id}/messages/purge", members)

    async def pin_message(self, channel_id: int | str, message_id: int | str) -> Response:
        return await self.put(f"/v1/channels/{channel_id}/pins/{message_id}")

    async def unpin_message(self, channel_id: int | str, message_id: int | str) -> Response:
        return await self.delete(f"/v1/channels/{channel_id}/pins/{message_id}")

    async def pins(self, channel_id: int | str, **query: str | int | None) -> Response:
        """GET /v1/channels/{channel_id}/messages/pins; `limit`, `before`."""
        return await self.get(f"/v1/channels/{channel_id}/messages/pins", query)

    async def acknowledge_pins(self, channel_id: int | str) -> Response:
        return await self.post(f"/v1/channels/{channel_id}/pins/ack")

    async def messages_of_channels(self, *windows: Mapping[str, object]) -> Response:
        """POST /v1/channels/messages/bulk; each window has `channel_id`, `limit` and perhaps a cursor."""
        return await self.post("/v1/channels/messages/bulk", {"requests": list(windows)})

    async def preload_messages(self, *channel_ids: int | str) -> Response:
        return await self.post("/v1/users/@me/preload-messages", {"channels": list(channel_ids)})

    async def slowmode(self, channel_id: int | str) -> Response:
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
        return await self.delete(f"/v1/users/@me/mentions/{message_id}")

    async def saved_messages(self, **query: str | int | None) -> Response:
        """GET /v1/users/@me/saved-messages; `limit`, `before`."""
        return await self.get("/v1/users/@me/saved-messages", query)

    async def save_message(self, channel_id: int | str, message_id: int | str) -> Response:
        return await self.post("/v1/users/@me/saved-messages", {"channel_id": channel_id, "message_id": message_id})

    async def forget_saved_message(self, message_id: int | str) -> Response:
        return await self.delete(f"/v1/users/@me/saved-messages/{message_id}")

    async def memes(self) -> Response:
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
        return await self.delete(f"/v1/users/@me/memes/{meme_id}")

    async def search_gifs(self, words: str, **query: str) -> Response:
        """GET /v1/gifs/search; `after`, `language`."""
        return await self.get("/v1/gifs/search", {"q": words, **query})

    async def trending_gifs(self, **query: str) -> Response:
        """GET /v1/gifs/trending; `after`, `language`."""
        return await self.get("/v1/gifs/trending", query)

    async def forget_read_state(self, channel_id: int | str) -> Response:
        return await self.delete(f"/v1/channels/{channel_id}/messages/ack")

    async def start_typing(self, channel_id: int | str) -> Response:
        return await self.post(f"/v1/channels/{channel_id}/typing")

    # Files, webhooks and links

    async def send_files(self, channel_id: int | str, files: Mapping[str, bytes], **members: object) -> Response:
        """POST /v1/channels/{channel_id}/messages as a form with these files, by their names."""
        headers = {"Content-Type": CONTENT_TYPE}
        path = f"/v1/channels/{channel_id}/messages"
        return await self.request("POST", path, body=message_form(files, members), headers=headers)

    async def act(self, body: Mapping[str, object], files: Mapping[str, bytes]) -> Response:
        """POST /v1/interactions; as a form where there are files."""
        if not files:
            return await self.post("/v1/interactions", body)
        headers = {"Content-Type": CONTENT_TYPE}
        return await self.request("POST", "/v1/interactions", body=message_form(files, body), headers=headers)

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
        path = f"{_webhook_path(webhook)}/messages/{message_id}"
        return await self.request("PATCH", path, json=members, query={"thread_id": thread_id})

    async def delete_webhook_message(
        self, webhook: Mapping[str, Any], message_id: int | str, *, thread_id: int | str | None = None
    ) -> Response:
        path = f"{_webhook_path(webhook)}/messages/{message_id}"
        return await self.request("DELETE", path, query={"thread_id": thread_id})

    async def unfurl(self, url: str) -> Response:
        return await self.post("/v1/unfurl", {"url": url})

    # Channels of guilds, threads and announcements; people declare `channel_threads` for threads

    async def create_channel(self, guild_id: int | str, name: str, **members: object) -> Response:
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
        return await self.post(f"/v1/channels/{channel_id}/messages/{message_id}/threads", {"name": name, **members})

    async def join_thread(self, thread_id: int | str, user_id: int | str = "@me") -> Response:
        return await self.put(f"/v1/channels/{thread_id}/thread-members/{user_id}")

    async def leave_thread(self, thread_id: int | str, user_id: int | str = "@me") -> Response:
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
        return await self.post(f"/v1/channels/{channel_id}/messages/{message_id}/crosspost")

    async def follow(self, channel_id: int | str, webhook_channel_id: int | str) -> Response:
        """POST /v1/channels/{channel_id}/followers: have its messages in another channel."""
        return await self.post(f"/v1/channels/{channel_id}/followers", {"webhook_channel_id": str(webhook_channel_id)})

    # Development routes

    async def gateway_sessions(self) -> list[ShownSession]:
        sessions: list[ShownSession] = (await self.get("/v1/_dev/sessions")).expect(200)
        return sessions

    async def node(self, **state: object) -> NodeState:
        """POST /v1/_dev/gateway: set the node's state, as in `node(at_capacity=True)`."""
        answer: NodeState = (await self.post("/v1/_dev/gateway", state)).expect(200)
        return answer

    async def fault(self, action: str, target: object = "all", **members: object) -> int:
        """POST /v1/_dev/faults: strike sockets or sessions; how many were struck."""
        answer = (await self.post("/v1/_dev/faults", {"action": action, "target": target, **members})).expect(200)
        affected: int = answer["affected"]
        return affected

    async def advance_clock(self, milliseconds: int) -> ClockReading:
        """POST /v1/_dev/clock. A server inside the test's own Trio run moves this client's clock as well."""
        answer = await self.request(
            "POST", "/v1/_dev/clock", json={"advance_ms": milliseconds}, seconds=REQUEST_SECONDS + milliseconds / 1000
        )
        reading: ClockReading = answer.expect(200)
        return reading

    async def make_guilds(self, user_id: int | str, count: int, shard: tuple[int, int] | None = None) -> list[str]:
        """POST /v1/_dev/guilds/bulk: the ids of the new guilds."""
        body: dict[str, object] = {"user_id": str(user_id), "count": count}
        if shard is not None:
            body["shard"] = list(shard)
        guild_ids: list[str] = (await self.post("/v1/_dev/guilds/bulk", body)).expect(200)["guild_ids"]
        return guild_ids


@functools.cache
def _operations() -> RouteTable[None]:
    from chat.admin.routes import ADMIN_ROUTES
    from chat.api.routes.every import ROUTES

    table: RouteTable[None] = RouteTable()
    for path in {operation.path for routes in (*ROUTES, *ADMIN_ROUTES) for operation in routes.operations}:
        table.add("GET", path, None)
    return table


def _is_operation(path: str) -> bool:
    return _operations().find(path) is not None


def _reactions(channel_id: int | str, message_id: int | str, *more: str) -> str:
    segments = (quote(segment, safe="@:") for segment in more)
    return "/".join((f"/v1/channels/{channel_id}/messages/{message_id}/reactions", *segments))


def _path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _webhook_path(webhook: Mapping[str, Any]) -> str:
    return f"/v1/webhooks/{webhook['id']}/{webhook['token']}"


def message_form(files: Mapping[str, bytes], members: Mapping[str, object]) -> bytes:
    """A message with these files, by their names, and with these members beside them.

    The boundary may not stand in a file.
    """
    parts: list[tuple[str, str | None, bytes]] = [("payload_json", None, json_text.dumps(dict(members)).encode())]
    parts += [(f"files[{number}]", name, data) for number, (name, data) in enumerate(files.items())]
    return b"".join(_part(*part) for part in parts) + f"--{BOUNDARY}--\r\n".encode()


def _part(field: str, filename: str | None, data: bytes) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"'
    if filename is not None:
        quoted = filename.replace("\\", "\\\\").replace('"', '\\"')
        head += f'; filename="{quoted}"\r\nContent-Type: application/octet-stream'
    return f"{head}\r\n\r\n".encode() + data + b"\r\n"
