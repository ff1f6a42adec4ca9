"""The gateway as an AsyncAPI 3 document, made of the registries and of the objects of the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping
from typing import Any, Final, get_origin, is_typeddict

from chat import wire
from chat.api.fields import Schema
from chat.api.openapi.descriptions import of_member
from chat.api.schemas.declared import Member, base_of, members_of, own_members
from chat.manual.declared import documented
from chat.manual.schema_words import REFERENCE, objects_in
from chat.registries import event_rules, events, opcodes
from chat.registries.event_rules import EventRule

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


def asyncapi_document(openapi: Mapping[str, Any]) -> dict[str, object]:
    """A message for each opcode and one for each event, and the objects of the HTTP API that they hold."""
    texts = documented(opcodes)["Opcode"]
    plain = {_name_of(one): (one, texts[one.name]) for one in opcodes.Opcode if one is not opcodes.Opcode.DISPATCH}
    schemas = openapi["components"]["schemas"]
    messages = _dispatches(schemas) | {name: _plain(name, one, about) for name, (one, about) in plain.items()}
    by_the_server = [name for name, (_, about) in plain.items() if about.startswith(("Server", "Both"))]
    by_the_client = [name for name, (_, about) in plain.items() if about.startswith(("Client", "Both"))]
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
        "components": {"messages": messages, "schemas": _schemas_of(messages, schemas)},
    }


def _dispatches(schemas: Container[str]) -> dict[str, Schema]:
    """The message of each event; `schemas` are the names of the objects of the HTTP API."""
    texts = documented(events)["EventName"]
    messages = {}
    for name, rule in event_rules.EVENTS.items():
        schema = {
            "type": "object",
            "required": ["op", "d", "s", "t"],
            "properties": {
                "op": {"const": 0},
                "d": payload_schema(rule, schemas),
                "s": {"type": "integer", "minimum": 1},
                "t": {"const": str(name)},
            },
        }
        messages[str(name)] = _message(str(name), texts[name.name], schema)
    return messages


def _name_of(opcode: opcodes.Opcode) -> str:
    """The opcode's name; with `_COMMAND` where an event has the same name, such as PRESENCE_UPDATE."""
    return f"{opcode.name}_COMMAND" if opcode.name in event_rules.EVENTS else opcode.name


def _plain(name: str, opcode: opcodes.Opcode, about: str) -> dict[str, object]:
    """The message of an opcode that is no Dispatch."""
    schema = {"type": "object", "required": ["op"], "properties": {"op": {"const": int(opcode)}, "d": {}}}
    return _message(name, about, schema)


def _schemas_of(messages: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, object]:
    """The objects that the payloads are made of, as the OpenAPI document has them, but closed to nothing."""
    return {name: _open(schemas[name]) for name in sorted(objects_in(messages, schemas))}


def _open(schema: Any) -> Any:
    """Without `additionalProperties: false`: a payload has the object's members and some of its own."""
    if isinstance(schema, list):
        return [_open(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {word: _open(value) for word, value in schema.items() if (word, value) != ("additionalProperties", False)}


def _message(name: str, about: str, schema: Mapping[str, Any]) -> dict[str, object]:
    return {"name": name, "title": name.replace("_", " ").capitalize(), "summary": f"{about}.", "payload": schema}


def _operation(action: str, summary: str, names: list[str]) -> dict[str, object]:
    return {
        "action": action,
        "channel": {"$ref": "#/channels/gateway"},
        "summary": summary,
        "messages": [{"$ref": f"#/channels/gateway/messages/{name}"} for name in names],
    }


def payload_schema(rule: EventRule, schemas: Container[str]) -> dict[str, object]:
    """A schema of the `d` of an event: the object among `schemas` that it is or adds to, and the members of its own."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", rule.payload)
    carried = getattr(wire, rule.carries)
    if get_origin(carried) is list:
        return {"type": "array", "description": f"{plain}."}
    if carried is wire.NoMembers:
        return {"type": "object", "description": f"{plain}."}
    schema: dict[str, object] = {"type": "object", "description": f"{plain[:1].upper()}{plain[1:]}."}
    if not is_typeddict(carried):  # one of several objects
        return schema
    own: dict[str, Member] = {}
    whole = carried
    while whole is not None and whole.__name__ not in schemas:
        own = {**own_members(whole), **own}
        whole = base_of(whole)
    if whole is None:  # with the members of every base
        own = members_of(carried)
    else:
        schema["allOf"] = [{"$ref": f"{REFERENCE}{whole.__name__}"}]
    if own:
        schema["properties"] = {name: _member_schema(name, member.text) for name, member in own.items()}
        schema["required"] = [name for name, member in own.items() if member.required]
    return schema


def _member_schema(name: str, told: str) -> dict[str, object]:
    about = told or of_member(name, ())
    return {"description": about} if about else {}
