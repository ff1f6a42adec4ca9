"""Where operations name and show objects of guilds, as the fixture says it, and as the declarations say it.

`spec_fixtures/access/objects.json` has three parts. `kinds`: what members of paths, queries and bodies name, by their
own names. `apart`: the operations that have nothing to do with channels, messages, roles and webhooks. `operations`: a
row for each of the others, with

    shows        what its answers show
    kinds        what members name that elsewhere, by the same name, name something else
    requests     what to try, where more than the address is needed: `path`, `query`, `body` with placeholders
    unasked      in place of requests, why nothing is tried
    passes_over  it succeeds and leaves out what the caller may not have
    whole        why its answer shows everything
    own          the refusal that the object's own people get

and in a request

    as           which of OWN_OPERATIONS says whether it may succeed, if not what reads the object
    of           `guild`: it is for channels of the guild alone
    unless       the permission in the guild that stands in for the right to the object
    publishes    the owner shows the object to everybody by it
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.api.schemas.shapes import JSON
from chat.testing.strategies.declared import REFERENCE, document

TABLE: Final = json.loads(Path("spec_fixtures", "access", "objects.json").read_text(encoding="utf-8"))
KINDS: Final[Mapping[str, str]] = {name: kind for kind, names in TABLE["kinds"].items() for name in names}
"""What a member of a path, a query or a body names, by its own name."""

JUDGED: Final = frozenset({"channel", "message", "role", "webhook"})
"""Objects that have an operation of their own, which says who may do what with them."""

SHOWN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("CategoryChannel", "ForumChannel", "LinkChannel", "TextChannel", "VoiceChannel"), "channel"),
    **dict.fromkeys(("Thread", "Post"), "channel"),
    **dict.fromkeys(("DirectMessageChannel", "GroupChannel", "PersonalNotesChannel"), "conversation"),
    **dict.fromkeys(("Webhook", "FollowedChannel"), "webhook"),
    **dict.fromkeys(("Message", "SavedMessage"), "message"),
    **dict.fromkeys(("Invite", "InviteWithMetadata"), "invite"),
    **dict.fromkeys(("Guild", "GuildWithCollections"), "guild"),
    "AuditLog": "audit log",
    "Role": "role",
    "ThreadMember": "thread member",
}
"""What an object in an answer shows."""

SNOWFLAKE: Final = "^(0|[1-9][0-9]{0,18})$"

OWN_OPERATIONS: Final[Mapping[str, tuple[str, str, Any]]] = {
    "sees": ("GET", "/v1/channels/$channel", ...),
    "reads": ("GET", "/v1/channels/$channel/messages/$message", ...),
    "changes": ("PATCH", "/v1/channels/$channel", {}),
    "overwrites": ("DELETE", "/v1/channels/$channel/permissions/1", ...),
    "webhooks": ("GET", "/v1/channels/$channel/webhooks", ...),
    "webhook": ("GET", "/v1/webhooks/$webhook", ...),
    "role": ("PATCH", "/v1/guilds/$guild/roles/$role", {}),
}
"""What an object's own operation is asked: method, address and body."""

PATH_MEMBERS: Final[Mapping[str, str]] = {
    "channel_id": "$channel",
    "thread_id": "$channel",
    "message_id": "$message",
    "attachment_id": "$attachment",
    "webhook_id": "$webhook",
    "role_id": "$role",
    "guild_id": "$guild",
    "user_id": "$member",
    "target_id": "$member",
    "emoji": "$emoji",
}


@attrs.frozen
class Trial:
    """A request that names objects by placeholders."""

    operation: str
    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    asked: str | None
    """Which of OWN_OPERATIONS says whether it may succeed; None where nothing is judged."""
    unless: str | None = None
    """A permission in the guild that stands in for that."""
    passes_over: bool = False
    """Whether it succeeds without the objects that the caller may not have."""
    in_guild: bool = False
    """Whether it is only for channels of the guild itself; others have no meaning there."""
    publishes: bool = False
    """Whether the owner shows the object to others by it."""
    own_code: str | None = None
    """What those are answered whose object it is, where that is a refusal."""
    whole: bool = False
    """Whether the answer shows everything, as the documents have it."""

    @property
    def only_reads(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET" or self.passes_over

    @property
    def in_path(self) -> bool:
        """Whether the address names the object and nothing else does."""
        return any(name in self.path for name in ("$channel", "$webhook", "$role"))

    def names(self, *placeholders: str) -> bool:
        """Whether one of these stands in the request."""
        text = f"{self.path} {json.dumps([self.query, None if self.body is ... else self.body])}"
        return any(re.search(rf"{re.escape(name)}\b", text) for name in placeholders)


def trials() -> list[Trial]:
    """The requests of the table."""
    return [trial for row in TABLE["operations"] if "unasked" not in row for trial in _trials_of(row)]


def _trials_of(row: Mapping[str, Any]) -> Iterator[Trial]:
    method, declared = row["operation"].split()
    for request in row.get("requests", [{}]):
        members = {**PATH_MEMBERS, **request.get("path", {})}
        path = declared
        for name, placeholder in members.items():
            path = path.replace(f"{{{name}}}", placeholder)
        trial = Trial(
            row["operation"],
            method,
            path,
            request.get("query", {}),
            request.get("body", ...),
            None,
            request.get("unless"),
            "passes_over" in row,
            request.get("of") == "guild",
            "publishes" in request,
            row.get("own"),
            "whole" in row,
        )
        yield attrs.evolve(trial, asked=request.get("as") or _asked_of(trial))


def _asked_of(trial: Trial) -> str | None:
    for placeholder, asked in (("$role", "role"), ("$webhook", "webhook"), ("$message", "reads"), ("$channel", "sees")):
        if trial.names(placeholder):
            return asked
    return None


# What the declarations say


def declared() -> list[Operation]:
    """Every operation apart from those of administrators, which are judged by ACL."""
    return [operation for routes in ROUTES for operation in routes.operations]


def named_by(operation: Operation) -> set[str]:
    """Where the operation takes ids: `path.channel_id`, `query.around`, `body[].parent_id`, `body.overrides{}`."""
    found = {f"path.{name}" for name in operation.path_members}
    described = document()["paths"].get(operation.path, {}).get(operation.method.lower(), {})
    for parameter in described.get("parameters", ()):
        if parameter["in"] == "query" and [*_ids(parameter["schema"], "query")]:
            found.add(f"query.{parameter['name']}")
    contents = described.get("requestBody", {}).get("content", {})
    for media_type, content in contents.items():
        if media_type == JSON or JSON not in contents:  # a form beside it repeats the members of the JSON body
            found.update(_ids(content.get("schema", {}), "body"))
    return found


def shown_by(operation: Operation) -> set[str]:
    """What the answers of the operation show, of SHOWN."""
    described = document()["paths"].get(operation.path, {}).get(operation.method.lower(), {})
    seen: set[str] = set()
    for status, answer in described.get("responses", {}).items():
        if status.startswith("2"):
            for content in answer.get("content", {}).values():
                _reach(content.get("schema", {}), seen)
    return {SHOWN[name] for name in seen & SHOWN.keys()}


def kind_of(place: str, row: Mapping[str, Any]) -> str | None:
    """What is named at a place, as the table has it."""
    name = place.removesuffix("[]").removesuffix("{}").rpartition(".")[2]
    kind: str | None = row.get("kinds", {}).get(place, KINDS.get(name))
    return kind


def tried_at(row: Mapping[str, Any]) -> set[str]:
    """The places at which the row's requests put an object."""
    found: set[str] = set()
    for request in row.get("requests", [{}]):
        members = {**PATH_MEMBERS, **request.get("path", {})}
        found.update(
            f"path.{name}"
            for name in members
            if members[name] in {"$channel", "$message", "$webhook", "$role", "$code"}
            and f"{{{name}}}" in row["operation"]
        )
        found.update(_placeholders(request.get("query", {}), "query"), _placeholders(request.get("body"), "body"))
    return found


def _placeholders(value: object, at: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _placeholders(member, f"{at}.{name}")
    elif isinstance(value, list):
        for member in value:
            yield from _placeholders(member, f"{at}[]")
    elif value in ("$channel", "$message", "$webhook", "$role"):
        yield at


def _schema(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document()["components"]["schemas"][name.removeprefix(REFERENCE)]
    return found


def _ids(schema: Mapping[str, Any], at: str) -> Iterator[str]:
    if "$ref" in schema:
        yield from _ids(_schema(schema["$ref"]), at)
    if schema.get("pattern") == SNOWFLAKE:
        yield at
    if schema.get("propertyNames", {}).get("pattern") == SNOWFLAKE:
        yield at + "{}"
    for choice in schema.get("anyOf", ()):
        yield from _ids(choice, at)
    for name, member in schema.get("properties", {}).items():
        yield from _ids(member, f"{at}.{name}")
    if isinstance(schema.get("items"), Mapping):
        yield from _ids(schema["items"], at + "[]")
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield from _ids(schema["additionalProperties"], at + ".*")


def _reach(schema: Mapping[str, Any], seen: set[str]) -> None:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REFERENCE)
        if name not in seen:
            seen.add(name)
            _reach(_schema(name), seen)
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        _reach(inner, seen)
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), Mapping):
            _reach(schema[word], seen)
