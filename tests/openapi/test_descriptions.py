"""Every property and every parameter of the OpenAPI document says in a sentence what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from chat.admin.routes import ADMIN_ROUTES
from chat.api.openapi.descriptions import descriptions
from chat.api.openapi.document import openapi_document
from chat.api.routes.every import ROUTES

DOCUMENT: Final = openapi_document([*ROUTES, *ADMIN_ROUTES], "")

STOP_WORDS: Final = frozenset(
    re.findall(r"\w+", "a an and are as by for has in is it its of on or s the this to was what which whether")
)

WORD: Final = re.compile(r"[a-z]+")


def properties(schema: Any, places: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every property with its description, by the way that leads to it."""
    if isinstance(schema, list):
        for item in schema:
            yield from properties(item, places)
    elif isinstance(schema, dict):
        members = schema.get("properties")
        for word, value in schema.items():
            if word == "properties" and isinstance(members, dict):
                for name, member in members.items():
                    yield ".".join((*places, name)), member.get("description", "")
                    yield from properties(member, (*places, name))
            else:
                yield from properties(value, places)


def described() -> dict[str, str]:
    schemas = DOCUMENT["components"]["schemas"].items()
    found = {way: text for name, schema in schemas for way, text in properties(schema, (name,))}
    found.update(properties(DOCUMENT["paths"]))
    found.update(properties(DOCUMENT["components"]["responses"]))
    for path in DOCUMENT["paths"].values():
        for operation in path.values():
            found.update({f"?{one['name']}": one["description"] for one in operation.get("parameters", ())})
    return found


def only_repeats(name: str, text: str) -> bool:
    """Whether a text has no word that is not in the name."""
    in_name = set(WORD.findall(re.sub(r"([A-Z])", r" \1", name).lower()))
    said = {word.removesuffix("s") for word in WORD.findall(text.lower()) if word not in STOP_WORDS}
    return said <= {word.removesuffix("s") for word in in_name}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return described()


def test_no_property_and_no_parameter_is_without_a_description(texts: dict[str, str]) -> None:
    assert len(texts) > 1_000
    assert sorted(way for way, text in texts.items() if not text.strip()) == [], (
        "tell in chat/api/openapi/descriptions.json what it is"
    )


def test_a_description_is_a_sentence_that_says_more_than_the_name(texts: dict[str, str]) -> None:
    wrong = [way for way, text in texts.items() if only_repeats(way.rpartition(".")[2].lstrip("?"), text)]
    assert wrong == [], (
        "these only repeat the name; a text stands in chat/wire or in chat/api/openapi/descriptions.json"
    )
    halves = [way for way, text in texts.items() if not re.match(r"[A-Z`].*[.]$", text, re.DOTALL)]
    assert halves == [], "no sentence in chat/wire or in chat/api/openapi/descriptions.json"


@pytest.mark.parametrize(
    ("name", "text"), [("guild_name", "The name of the guild."), ("userIds", "The user's ids."), ("id", "An id.")]
)
def test_a_text_that_only_repeats_the_name_is_found(name: str, text: str) -> None:
    assert only_repeats(name, text)


def test_no_sentence_is_about_something_that_is_not_there() -> None:
    known = descriptions()
    ways = set(described())
    names = {way.rpartition(".")[2] for way in ways}
    assert sorted(known["of_objects"].keys() - ways) == []
    assert sorted(known["members"].keys() - names - {way.lstrip("?") for way in ways}) == []
    assert sorted(known["parameters"].keys() - {way.removeprefix("?") for way in ways if way[0] == "?"}) == []


def test_programs_that_were_made_from_the_document_find_what_they_knew() -> None:
    """Generators call their types as the components are called, and a renamed class must not rename those."""
    taken = {
        path: DOCUMENT["paths"][path]["patch"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for path in ("/v1/oauth2/applications/{application_id}", "/v1/guilds/{guild_id}/discovery")
    }
    assert [name.rpartition("/")[2] for name in taken.values()] == [
        "ApplicationsChangeApplicationBody",
        "GuildDiscoveryChangeApplicationBody",
    ]
    unsubscribed = DOCUMENT["paths"]["/v1/users/@me/push/subscriptions/{subscription}"]["delete"]["responses"]["200"]
    success = unsubscribed["content"]["application/json"]["schema"]["properties"]["success"]
    assert success["enum"] == [True]
