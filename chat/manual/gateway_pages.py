"""The gateway's numbers, events and states, made of the registries and of the state table that the server reads."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from chat.manual.declared import documented, members
from chat.manual.markdown_text import page, table
from chat.protocol import transitions
from chat.registries import close_codes, event_rules, events, opcodes

AUDIENCE_WORDS: Final = "An event reaches one of these audiences:"


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
    texts, audiences = documented(events)["EventName"], documented(event_rules)["Audience"]
    parts = []
    for name, rule in event_rules.EVENTS.items():
        lines = [
            f"- `d`: {rule.payload}.",
            f"- Cause: {cause_in_words(rule.cause)}.",
            f"- Audience {rule.audience.value}: {_within_a_sentence(audiences[rule.audience.name])}.",
            f"- {'Retained for Resume' if rule.retained else 'Not retained for Resume'}; passive sessions "
            f"{'receive it too' if rule.passive else 'do not receive it'}.",
        ]
        parts.append(f"## {name}\n\n{texts[name.name]}.\n\n" + "\n".join(lines))
    rows = ([item.value, audiences[item.name]] for item in event_rules.Audience)
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


def cause_in_words(cause: str) -> str:
    """What causes an event, as the page says it."""
    if cause == event_rules.NEVER:
        return "none"
    number = re.fullmatch(r"op (\d+)", cause)
    return f"for one, `{cause}`" if number is None else f"opcode {number[1]}, {_opcode_name(int(number[1]))}"


def _within_a_sentence(text: str) -> str:
    return text[:1].lower() + text[1:]


def _opcode_name(number: int) -> str:
    return opcodes.Opcode(number).name.replace("_", " ").title()
