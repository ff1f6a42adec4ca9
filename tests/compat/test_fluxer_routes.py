"""Each address of the family is had, or stands in `spec_fixtures/http/family.json` with the reason why not.

The list is that of the family's own description of its API, without what administrators use. Whoever finds an address
that is missing adds its row: then this test asks for the operation or for a reason.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

import chat
from chat.api.routes.every import ROUTES
from chat.compat import fluxer
from chat.testing.world import World

TABLE: Final[dict[str, Any]] = json.loads(
    (Path(chat.__file__).parents[1] / "spec_fixtures/http/family.json").read_text()
)
ROWS: Final[list[dict[str, str]]] = TABLE["routes"]
HAD: Final = {
    f"{operation.method} {operation.path}" for routes in (*ROUTES, fluxer.routes) for operation in routes.operations
}
NOT_HAD: Final = [row["route"] for row in ROWS if "not_had" in row]


def shape(route: str) -> str:
    """An address whatever its parameters are called."""
    return re.sub(r"\{[^}]*\}", "{}", route)


def test_every_address_of_the_family_is_had_or_has_its_reason() -> None:
    had = {shape(route) for route in HAD}
    missing = [row["route"] for row in ROWS if "not_had" not in row and shape(row.get("ours", row["route"])) not in had]
    assert missing == []
    assert len(ROWS) == len({row["route"] for row in ROWS})


def test_what_is_not_had_is_not_there_and_says_why() -> None:
    had = {shape(route) for route in HAD}
    assert [route for route in NOT_HAD if shape(route) in had] == []
    assert {row["not_had"] for row in ROWS if "not_had" in row} == set(TABLE["reasons"])


@pytest.mark.parametrize("prefix", ["/v1", "/api/v1"])
async def test_what_is_not_had_is_answered_by_404(chat_world: World, prefix: str) -> None:
    for route in NOT_HAD:
        method, path = re.sub(r"\{[^}]*\}", "77", route).split()
        answer = await chat_world.alice.rest.request(method, path.replace("/v1", prefix, 1))
        assert (answer.status, answer.code) == (404, "NOT_FOUND"), route
