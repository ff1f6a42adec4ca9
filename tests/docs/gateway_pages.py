"""The manual's reference of the gateway, and its AsyncAPI document: made of the registries, of the state table, of
docs/reference (gateway.md as a whole, payloads.md as a whole) and of the fixtures that name the cause of each event."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from chat.admin.routes import ADMIN_ROUTES
from chat.api.openapi.descriptions import of_member
from chat.api.openapi.document import openapi_document
from chat.api.routes.every import ROUTES
from chat.manual.schema_words import objects_in
from chat.protocol import transitions
from chat.registries import close_codes, events, opcodes
from tests.docs.declared import documented, members, page, table

ROOT: Final = Path(__file__).parents[2]
REFERENCE: Final = ROOT / "docs" / "reference"
CAUSES: Final = ROOT / "spec_fixtures" / "gateway" / "event_causes.json"

PAGES_OF_NAMES: Final[Mapping[str, str]] = {
    "events": "[the list of events](gateway-events.md)",
    "limits": "[the list of limits](limits.md)",
    "gateway": "[the gateway](gateway.md)",
    "payloads": "[the list of events](gateway-events.md)",
}

AUDIENCE_WORDS: Final = "An event reaches one of these audiences:"

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
"""What payloads.md calls an object of the HTTP API, and its name there; of two that fit the first counts."""

LEFT_OUT: Final = frozenset({"Routing", "Audiences"})
"""Sections of the paper that are about the program."""


def gateway_page() -> str:
    """The protocol in words: the paper of the contributors without its citations."""
    source = (REFERENCE / "gateway.md").read_text(encoding="utf-8")
    sections = re.split(r"^(?=## )", source, flags=re.MULTILINE)[1:]
    kept = [part.strip() for part in sections if part.splitlines()[0][3:] not in LEFT_OUT]
    text = re.sub(
        r"`chat\.[\w.]+` holds the state table as data\.",
        "[States](gateway-states.md) has every step.",
        "\n\n".join(kept),
    )
    text = re.sub(r" \((?:below|compat\.md|architecture\.md, [^)]*)\)", "", text)
    text = re.sub(r"`(\w+)\.md`", lambda match: PAGES_OF_NAMES[match[1]], text)
    return page(
        "The gateway",
        "The gateway is a WebSocket at `/gateway`, on the port of the HTTP API. A client signs in with Identify, "
        "receives Ready, and then a Dispatch for everything that happens and that its account may see. "
        "[The list of events](gateway-events.md) has each Dispatch with its payload and its cause, "
        "[numbers](gateway-codes.md) has opcodes and close codes, and [states](gateway-states.md) says what a "
        "connection does with each input. The same is there as an AsyncAPI 3 document at `/docs/asyncapi.json`; "
        "`chat asyncapi` prints it.",
        text,
    )


def codes_page() -> str:
    """Opcodes and close codes."""
    reasons = documented(close_codes)[""]
    closes = (
        [str(int(value.code)), f"`{value.reason}`" if value.reason else "none", reasons[name]]
        for name, value in vars(close_codes).items()
        if isinstance(value, close_codes.Close) and name in reasons
    )
    return page(
        "Opcodes and close codes",
        "`op` says what a payload is. A close code says why a connection ended; its reason is for people.",
        "## Opcodes\n\n" + table(("op", "name", "meaning"), members(opcodes.Opcode, documented(opcodes)["Opcode"])),
        "## Close codes\n\n" + table(("code", "reason", "when"), closes),
    )


def events_page() -> str:
    """Every Dispatch with payload, cause and audience."""
    texts, audiences = documented(events)["EventName"], documented(events)["Audience"]
    payloads, causes = payloads_by_event(), causes_by_event()
    parts = []
    for name, rule in events.EVENTS.items():
        lines = [
            f"- `d`: {payloads[name]}.",
            f"- Cause: {causes[name]}.",
            f"- Audience {rule.audience.value}: {_within_a_sentence(audiences[rule.audience.name])}.",
            f"- {'Retained for Resume' if rule.retained else 'Not retained for Resume'}; passive sessions "
            f"{'receive it too' if rule.passive else 'do not receive it'}.",
        ]
        parts.append(f"## {name}\n\n{texts[name.name]}.\n\n" + "\n".join(lines))
    rows = ([item.value, audiences[item.name]] for item in events.Audience)
    return page(
        "Events",
        "Every Dispatch (opcode 0) by its name `t`: what its `d` holds, what causes it, and who receives it. A `?` "
        "marks a member that may be absent. Objects are those of [the HTTP API](api-objects.md).",
        f"{AUDIENCE_WORDS}\n\n{table(('audience', 'who receives'), rows)}",
        *parts,
    )


def states_page() -> str:
    """The state table of a connection."""
    kinds = documented(transitions)["Kind"]
    steps = documented(transitions)["Step"]
    by_state: dict[str, list[list[str]]] = {}
    for (state, kind), rule in transitions.TRANSITIONS.items():
        rows = by_state.setdefault(words(state.name), [])
        if rule.steps or rule.next_state is not state:
            done = ", ".join(step_in_words(step) for step in rule.steps) or "nothing"
            rows.append([words(kind.name), done, words(rule.next_state.name)])
    return page(
        "States of a connection",
        "A connection is in one state. What happens to it leads by some steps to the next one. These tables are the "
        "ones that the server itself reads. What a table does not name changes nothing in that state.",
        *(
            f"## {state}\n\n{table(('what happens', 'what the server does', 'next state'), rows)}"
            for state, rows in by_state.items()
            if rows
        ),
        "## What happens\n\n" + table(("input", "meaning"), ([words(name), text] for name, text in kinds.items())),
        "## What the server does\n\n"
        + table(("step", "meaning"), ([words(name), text] for name, text in steps.items())),
    )


def step_in_words(step: Any) -> str:
    """An effect or a step as the table names it."""
    if hasattr(step, "name") and hasattr(step, "value"):
        return words(step.name).lower()
    closes = [value for value in attrs.asdict(step, recurse=False).values() if isinstance(value, close_codes.Close)]
    name = words(re.sub(r"(?<!^)(?=[A-Z])", "_", type(step).__name__))
    return name + "".join(f" with {int(one.code)} `{one.reason}`" for one in closes)


def words(name: str) -> str:
    """A constant's name as words."""
    return name.replace("_", " ").lower().capitalize() if name.isupper() else name.replace("_", " ").lower()


def payloads_by_event() -> dict[str, str]:
    """What payloads.md says of the `d` of each event."""
    found = {}
    text = (REFERENCE / "payloads.md").read_text(encoding="utf-8")
    for names, payload in re.findall(r"^\| (`[A-Z_`, ]+`) \| (.*) \|$", text, re.MULTILINE):
        plain = re.sub(r"gateway\.md, ([A-Z][\w ]*)", r"[\1](gateway.md#\1)", payload)
        plain = re.sub(r"#([A-Z][\w ]*)\)", lambda match: f"#{match[1].lower().replace(' ', '-')})", plain)
        found.update(dict.fromkeys(re.findall(r"\w+", names), plain))
    return found


def causes_by_event() -> dict[str, str]:
    """What causes each event, in words."""
    found = {}
    for row in json.loads(CAUSES.read_text(encoding="utf-8")):
        if "never" in row:
            found[row["event"]] = f"none: {row['never']}"
        else:
            cause = re.sub(r"^op (\d+)$", lambda op: f"opcode {op[1]}, {_opcode_name(int(op[1]))}", row["cause"])
            found[row["event"]] = cause if cause.startswith("opcode") else f"for one, `{cause}`"
    return found


def _within_a_sentence(text: str) -> str:
    return text[:1].lower() + text[1:]


def _opcode_name(number: int) -> str:
    return opcodes.Opcode(number).name.replace("_", " ").title()


def asyncapi_document() -> dict[str, Any]:
    """The gateway as an AsyncAPI 3 document: a message for each opcode and one for each event."""
    texts, numbers, payloads = documented(events)["EventName"], documented(opcodes)["Opcode"], payloads_by_event()
    messages: dict[str, Any] = {}
    for name in events.EVENTS:
        schema = {
            "type": "object",
            "required": ["op", "d", "s", "t"],
            "properties": {
                "op": {"const": 0},
                "d": payload_schema(payloads[name]),
                "s": {"type": "integer", "minimum": 1},
                "t": {"const": str(name)},
            },
        }
        messages[str(name)] = _message(str(name), texts[name.name], schema)
    sent, received = [str(name) for name in events.EVENTS], []
    for opcode in opcodes.Opcode:
        if opcode is opcodes.Opcode.DISPATCH:
            continue
        schema = {"type": "object", "required": ["op"], "properties": {"op": {"const": int(opcode)}, "d": {}}}
        about = numbers[opcode.name]
        messages[opcode.name] = _message(opcode.name, about, schema)
        if about.startswith(("Server", "Both")):
            sent.append(opcode.name)
        if about.startswith(("Client", "Both")):
            received.append(opcode.name)
    return {
        "asyncapi": "3.0.0",
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
        "channels": {
            "gateway": {
                "address": "/gateway",
                "description": "One connection. `?v=1&encoding=json` are needed, `compress=zstd-stream` is possible.",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
                "bindings": {
                    "ws": {
                        "query": {
                            "type": "object",
                            "required": ["v"],
                            "properties": {
                                "v": {"const": "1"},
                                "encoding": {"enum": ["json"]},
                                "compress": {"enum": ["zstd-stream"]},
                            },
                        },
                        "bindingVersion": "0.1.0",
                    }
                },
            }
        },
        "operations": {
            "sendToClient": _operation("send", "What the server sends.", sent),
            "receiveFromClient": _operation("receive", "What a client sends.", received),
        },
        "components": {"messages": messages, "schemas": _schemas_of(messages)},
    }


def _schemas_of(messages: Mapping[str, Any]) -> dict[str, Any]:
    """The objects that the payloads are made of, as the OpenAPI document has them, but closed to nothing."""
    schemas = openapi_document([*ROUTES, *ADMIN_ROUTES], "")["components"]["schemas"]
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
    """A schema of the `d` that payloads.md tells of: its members by name, as far as it names them."""
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


def asyncapi_text() -> str:
    """The document as the package has it."""
    return json.dumps(asyncapi_document(), indent=1, ensure_ascii=False) + "\n"
