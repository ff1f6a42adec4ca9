"""The gateway as an AsyncAPI 3 document, made of the registries and of the objects of the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from chat.api.openapi.descriptions import of_member
from chat.manual.declared import documented
from chat.manual.schema_words import objects_in
from chat.registries import event_rules, events, opcodes

OBJECTS: Final[Mapping[str, str]] = {
    "the entry": "AuditLogEntry",
    "the guild": "Guild",
    "the invite": "InviteWithMetadata",
    "the member": "Member",
    "the meme": "FavoriteMeme",
    "the message": "Message",
    "the whole message": "Message",
    "the private user": "PrivateUser",
    "the relationship": "Relationship",
    "the thread member": "ThreadMember",
    "the thread": "Thread",
    "the whole settings for": "UserGuildSettings",
    "the whole settings": "UserSettings",
}
"""What the rows of the events call an object of the HTTP API, and its name there; of two that fit the first counts."""


ABOUT: Final[Mapping[str, Any]] = {
    "info": {
        "title": "chat gateway",
        "version": "1",
        "description": "The WebSocket of a self-hosted community chat server. A client sends Identify, receives "
        "Ready and then a Dispatch for everything that its account may see.",
        "license": {"name": "Apache-2.0"},
    },
    "defaultContentType": "application/json",
    "servers": {
        "instance": {
            "host": "{host}",
            "protocol": "wss",
            "description": "An instance; its discovery document at /.well-known/chat names the address.",
            "variables": {"host": {"default": "127.0.0.1:8080", "description": "Name or address, with the port."}},
        }
    },
}

CHANNEL: Final[Mapping[str, Any]] = {
    "address": "/gateway",
    "description": "One connection. `?v=1&encoding=json` are needed, `compress=zstd-stream` is possible.",
}

QUERY: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["v"],
    "properties": {"v": {"const": "1"}, "encoding": {"enum": ["json"]}, "compress": {"enum": ["zstd-stream"]}},
}


def asyncapi_text(openapi: Mapping[str, Any]) -> bytes:
    """The document in JSON, as it is sent and printed; `openapi` is the document of the HTTP API."""
    return (json.dumps(asyncapi_document(openapi), indent=1, ensure_ascii=False) + "\n").encode()


def asyncapi_document(openapi: Mapping[str, Any]) -> dict[str, Any]:
    """A message for each opcode and one for each event, and the objects of the HTTP API that they hold."""
    numbers = {one: text for one, text in documented(opcodes)["Opcode"].items() if one != opcodes.Opcode.DISPATCH.name}
    messages = {**_dispatches(), **{name: _plain(opcodes.Opcode[name], about) for name, about in numbers.items()}}
    by_the_server = [name for name, about in numbers.items() if about.startswith(("Server", "Both"))]
    by_the_client = [name for name, about in numbers.items() if about.startswith(("Client", "Both"))]
    return {
        "asyncapi": "3.0.0",
        **ABOUT,
        "channels": {
            "gateway": {
                **CHANNEL,
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
                "bindings": {"ws": {"query": QUERY, "bindingVersion": "0.1.0"}},
            }
        },
        "operations": {
            "sendToClient": _operation("send", "What the server sends.", [*event_rules.EVENTS, *by_the_server]),
            "receiveFromClient": _operation("receive", "What a client sends.", by_the_client),
        },
        "components": {"messages": messages, "schemas": _schemas_of(messages, openapi)},
    }


def _dispatches() -> dict[str, Any]:
    """The message of each event."""
    texts = documented(events)["EventName"]
    messages = {}
    for name, rule in event_rules.EVENTS.items():
        schema = {
            "type": "object",
            "required": ["op", "d", "s", "t"],
            "properties": {
                "op": {"const": 0},
                "d": payload_schema(rule.payload),
                "s": {"type": "integer", "minimum": 1},
                "t": {"const": str(name)},
            },
        }
        messages[str(name)] = _message(str(name), texts[name.name], schema)
    return messages


def _plain(opcode: opcodes.Opcode, about: str) -> dict[str, Any]:
    """The message of an opcode that is no Dispatch."""
    schema = {"type": "object", "required": ["op"], "properties": {"op": {"const": int(opcode)}, "d": {}}}
    return _message(opcode.name, about, schema)


def _schemas_of(messages: Mapping[str, Any], openapi: Mapping[str, Any]) -> dict[str, Any]:
    """The objects that the payloads are made of, as the OpenAPI document has them, but closed to nothing."""
    schemas = openapi["components"]["schemas"]
    return {name: _open(schemas[name]) for name in sorted(objects_in(messages, schemas))}


def _open(schema: Any) -> Any:
    """Without `additionalProperties: false`: a payload has the object's members and some of its own."""
    if isinstance(schema, list):
        return [_open(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {word: _open(value) for word, value in schema.items() if (word, value) != ("additionalProperties", False)}


def _message(name: str, about: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "title": name.replace("_", " ").capitalize(), "summary": f"{about}.", "payload": schema}


def _operation(action: str, summary: str, names: list[str]) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": "#/channels/gateway"},
        "summary": summary,
        "messages": [{"$ref": f"#/channels/gateway/messages/{name}"} for name in names],
    }


def payload_schema(told: str) -> dict[str, Any]:
    """A schema of the `d` that an event's row tells of: its members by name, as far as it names them."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", told)
    if plain.startswith("a bare list"):
        return {"type": "array", "description": f"{plain}."}
    if plain == "`{}`" or plain.startswith("never sent"):
        return {"type": "object", "description": f"{plain}."}
    schema: dict[str, Any] = {"type": "object", "description": f"{plain[:1].upper()}{plain[1:]}."}
    whole = next((name for words, name in OBJECTS.items() if re.match(rf"{words}\b", plain)), None)
    if whole is not None:
        schema["allOf"] = [{"$ref": f"#/components/schemas/{whole}"}]
    named = list(_named(plain if whole is None else plain.partition(", ")[2]))
    if named:
        schema["properties"] = {name: _member_schema(name) for name, _ in named}
        schema["required"] = [name for name, optional in named if not optional]
    return schema


def _member_schema(name: str) -> dict[str, Any]:
    about = of_member(name, ())
    return {"description": about} if about else {}


def _named(told: str) -> Iterator[tuple[str, bool]]:
    """The members at the top of the payload: those behind `of` and `with` are deeper."""
    for part in re.split(r"[,;] ", told):
        match = re.match(r"`(\w+)(\?)?`", part)
        if match is None:
            return
        yield match[1], match[2] is not None
        if re.search(r"` of `", part):
            return
