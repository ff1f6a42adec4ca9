"""What people did with applications lately: each interaction with its token, its answers and its clock (workbench.md,
Commands of a bot).

The store knows how each stands; tokens are there as hashes, so they come from what the bot was told.
"""

from __future__ import annotations

from typing import Any, Final

import orjson
import trio

from chat.api.operation import Policy, Request, Routes
from chat.clock import iso_timestamp
from chat.development.answers import InteractionRequest, ShownInteraction
from chat.development.history import ENTRIES_PER_TURN, Exchanged, History, HistoryEntry
from chat.development.node import Development
from chat.domain.interactions.interactions import KEPT_MS
from chat.protocol.frames import OutgoingEvent
from chat.registries.interactions import TOKEN_LIFETIME_MS
from chat.store.interactions import interactions
from chat.store.interactions.interactions import Interaction

SHOWN_MAXIMUM: Final = 100
TOLD: Final = "INTERACTION_CREATE"
PLACES_OF_TOKENS: Final = ("/interactions/", "/webhooks/")
"""Before the id and the token in the addresses that answers go to."""

routes = Routes(policy=Policy.NONE, same_origin=True)


@routes.operation("GET", "/v1/_dev/interactions")
async def list_interactions(request: Request, development: Development, history: History) -> list[ShownInteraction]:
    """The latest interactions, the newest first: for half an hour of the server's clock."""
    since = development.core.clock.now_ms() - KEPT_MS
    latest = interactions.latest(development.core.database.reader, since, SHOWN_MAXIMUM)
    tokens, answers = await _told(history, min((each.created_at for each in latest), default=None))
    return [_shown(each, tokens.get(str(each.id)), answers) for each in latest]


async def _told(history: History, since_ms: int | None) -> tuple[dict[str, str], dict[str, list[InteractionRequest]]]:
    """From the history: the tokens of interactions by their ids, and the requests that came by each token."""
    tokens: dict[str, str] = {}
    answers: dict[str, list[InteractionRequest]] = {}
    first, entries = history.whole()
    if since_ms is None:
        return tokens, answers
    for position in range(len(entries) - 1, -1, -1):
        entry = entries[position]
        if entry.at_ms < since_ms:
            break
        if (len(entries) - position) % ENTRIES_PER_TURN == 0:
            await trio.lowlevel.checkpoint()
        match entry.what:
            case OutgoingEvent(name=name) as event if name == TOLD:
                told = orjson.loads(event.payload(entry.sequence))["d"]
                if "token" in told:
                    tokens[told["id"]] = told["token"]
            case Exchanged() as exchanged:
                token = _token_in(exchanged.path)
                if token is not None:
                    answers.setdefault(token, []).insert(0, _request(first + position, entry, exchanged))
            case _:
                pass
    return tokens, answers


def _token_in(path: str) -> str | None:
    """The part behind the id in the address of an answer."""
    for place in PLACES_OF_TOKENS:
        _, found, rest = path.partition("?")[0].partition(place)
        parts = rest.split("/")
        if found and len(parts) > 1:
            return parts[1]
    return None


def _request(number: int, entry: HistoryEntry, exchanged: Exchanged) -> InteractionRequest:
    body: Any = None
    if exchanged.body is not None:
        try:
            body = orjson.loads(exchanged.body)
        except orjson.JSONDecodeError:
            body = None
    return {
        "number": number,
        "at": iso_timestamp(entry.at_ms),
        "method": exchanged.method,
        "path": exchanged.path,
        "status": exchanged.status,
        "body": body,
    }


def _shown(
    interaction: Interaction, token: str | None, answers: dict[str, list[InteractionRequest]]
) -> ShownInteraction:
    return {
        "id": str(interaction.id),
        "type": interaction.type,
        "name": interaction.name,
        "application_id": str(interaction.application_id),
        "user_id": str(interaction.user_id),
        "channel_id": str(interaction.channel_id),
        "guild_id": None if interaction.guild_id is None else str(interaction.guild_id),
        "created_at": iso_timestamp(interaction.created_at),
        "due_at": None if interaction.due_at is None else iso_timestamp(interaction.due_at),
        "ends_at": iso_timestamp(interaction.created_at + TOKEN_LIFETIME_MS),
        "answered_with": interaction.answered_with,
        "token": token,
        "answers": answers.get(token or "", []),
    }
