"""What other programs post to a webhook, as their documents have it, and what a channel shows of it: over HTTP, each as
JSON and, where the program does so, as a form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from chat.testing.world import World
from tests.webhooks.surfaces import new_webhook, webhook_path

CASES: Final[list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[2] / "spec_fixtures" / "field" / "webhooks.json").read_text(encoding="utf-8")
)
"""`to` is the dialect, `headers` what the program sends besides, `body` what it posts; `shows` are texts that the
message holds, `hides` such as it does not, `silent` says that there is none, `embeds` how many it has."""


def texts_of(value: Any) -> list[str]:
    """Every text in a message's content and embeds."""
    if isinstance(value, dict):
        return [text for member in value.values() for text in texts_of(member)]
    if isinstance(value, list):
        return [text for member in value for text in texts_of(member)]
    return [value] if isinstance(value, str) else []


async def posted(world: World, path: str, case: dict[str, Any], *, form: bool) -> None:
    headers = {**case.get("headers", {})}
    body = json.dumps(case["body"]).encode()
    if form:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode({"payload": json.dumps(case["body"])}).encode()
    else:
        headers["Content-Type"] = "application/json; charset=utf-8"
    answer = await world.anyone.request("POST", f"{path}/{case['to']}", body=body, headers=headers)
    assert answer.status == (200 if case["to"] == "slack" else 204), answer.body


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
async def test_a_payload_is_shown(chat_world: World, case: dict[str, Any]) -> None:
    path = webhook_path(await new_webhook(chat_world.alice.rest, chat_world.channel_id))
    for form in (False, True):
        await posted(chat_world, path, case, form=form)
    said = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)
    if case.get("silent"):
        assert said == []
        return
    first, second = said
    assert first["embeds"] == second["embeds"]
    assert first["content"] == second["content"]
    told = "\n".join(texts_of([first["content"], first["embeds"]]))
    for text in case["shows"]:
        assert text in told, told
    for text in case.get("hides", ()):
        assert text not in told
    assert len(first["embeds"]) == case.get("embeds", 1)
    assert not first["mention_everyone"]
    assert first["mentions"] == first["mention_roles"] == []
