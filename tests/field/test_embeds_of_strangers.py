"""Embeds and numbers as other programs write them: blank columns, dates of any kind, members of null, floats without a
fraction; and a file that an embed shows although it is no picture."""

from __future__ import annotations

import math
from typing import Any, Final

import attrs
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.admin.routes import ADMIN_ROUTES
from chat.api.bodies import parse_json
from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.api.structuring import body_structure
from chat.clock import read_moment
from chat.errors import InvalidFormBody
from chat.protocol.whole_numbers import whole
from chat.testing.world import World
from tests.webhooks.surfaces import form, png, post_form

TIMES: Final = {
    "1969-07-20T20:17:40Z": "1969-07-20T20:17:40.000Z",
    "0001-01-01T00:00:00Z": "0001-01-01T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z": "9999-12-31T23:59:59.999Z",
    "2016-12-31T23:59:60Z": "2017-01-01T00:00:00.000Z",
    "2016-12-31T23:59:60.5+00:00": "2017-01-01T00:00:00.500Z",
    "2026-11-21t10:00:00z": "2026-11-21T10:00:00.000Z",
    "2026-11-21T10:00:00": "2026-11-21T10:00:00.000Z",
    "2026-11-21 12:00:00 +0200": "2026-11-21T10:00:00.000Z",
    "2026-11-21 10:00:00 UTC": "2026-11-21T10:00:00.000Z",
    "2026-11-21T12:00:00+02": "2026-11-21T10:00:00.000Z",
    "2026-11-21T10:00Z": "2026-11-21T10:00:00.000Z",
    "20261121T100000Z": "2026-11-21T10:00:00.000Z",
    "2026-11-21T10:00:00,123456789Z": "2026-11-21T10:00:00.123Z",
}
NO_TIMES: Final = (
    "", "2026-11-21", "2026-02-30T00:00:00Z", "2026-11-21T24:30:00Z", "10:00", "1770000000", 1_770_000_000, 1.5, True,
    "9999-12-31T23:59:60Z", "0001-01-01T00:00:00+01:00", "2026-11-21T10:00:61Z", "+12026-11-21T10:00:00Z", [],
)  # fmt: skip


async def shown(world: World, **embed: Any) -> dict[str, Any]:
    path = f"/v1/channels/{world.channel_id}/messages"
    said = (await world.bob.rest.post(path, {"embeds": [{"title": "t", **embed}]})).expect(200)
    one: dict[str, Any] = said["embeds"][0]
    return one


async def test_a_time_as_programs_write_it(chat_world: World) -> None:
    for written, read in TIMES.items():
        assert (await shown(chat_world, timestamp=written))["timestamp"] == read, written
    assert "timestamp" not in await shown(chat_world, timestamp=None)
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    for written in NO_TIMES[1:]:
        answer = await chat_world.bob.rest.post(path, {"embeds": [{"title": "t", "timestamp": written}]})
        assert (answer.status, answer.json()["errors"][0]["path"]) == (400, "embeds.0.timestamp"), written


@given(st.text(max_size=30) | st.from_regex(r"[0-9T:. Zztu+-]{0,30}", fullmatch=True))
def test_no_text_makes_reading_a_time_fail(text: str) -> None:
    try:
        read_moment(text)
    except ValueError:
        return


async def test_members_of_null_are_absent(chat_world: World) -> None:
    nothing: dict[str, Any] = {
        "url": None, "description": None, "color": None, "author": {}, "footer": {"text": None}, "image": {"url": None},
        "thumbnail": None, "fields": None, "provider": None, "video": None, "type": "rich", "timestamp": None,
    }  # fmt: skip
    assert await shown(chat_world, **nothing) == {"type": "rich", "title": "t"}
    named = {"author": {"name": None, "url": "https://x.example"}, "footer": {"icon_url": "https://x.example/i.png"}}
    assert await shown(chat_world, **named) == {"type": "rich", "title": "t"}
    blank = [{"name": "\u200b", "value": "\u200b"}, {"name": "\u2800", "value": "\u3164", "inline": None}]
    assert (await shown(chat_world, fields=blank))["fields"] == [{**field, "inline": False} for field in blank]


async def test_a_content_of_nothing_to_be_seen_is_none(chat_world: World) -> None:
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    for content in ("\u200b", "\u3164\n", "\u2800 ", "\u00ad", ""):
        alone = await chat_world.bob.rest.post(path, {"content": content})
        assert alone.code == "CANNOT_SEND_EMPTY_MESSAGE"
        beside = (await chat_world.bob.rest.post(path, {"content": content, "embeds": [{"title": "t"}]})).expect(200)
        assert (beside["content"], len(beside["embeds"])) == ("", 1)
        body = form([("file", "a.txt", b"x")], orjson.dumps({"content": content}))
        assert (await post_form(chat_world.bob.rest, path, body)).expect(200)["content"] == ""


async def test_a_file_that_is_no_picture_is_no_picture_of_an_embed(chat_world: World) -> None:
    """The message keeps the file, and the embed what else it has."""
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    embed = {
        "title": "report", "image": {"url": "attachment://report.pdf"}, "thumbnail": {"url": "attachment://a.png"},
        "author": {"name": "a", "icon_url": "attachment://report.pdf"},
    }  # fmt: skip
    files = [("files[0]", "report.pdf", b"%PDF-1.7\n"), ("files[1]", "a.png", png())]
    said = (await post_form(chat_world.bob.rest, path, form(files, orjson.dumps({"embeds": [embed]})))).expect(200)
    assert [file["filename"] for file in said["attachments"]] == ["report.pdf", "a.png"]
    (one,) = said["embeds"]
    assert (one["title"], "image" in one, one["author"]) == ("report", False, {"name": "a"})
    assert one["thumbnail"]["width"] == 3
    alone = form(files[:1], orjson.dumps({"embeds": [{"image": {"url": "attachment://report.pdf"}}]}))
    said = (await post_form(chat_world.bob.rest, path, alone)).expect(200)
    assert (said["embeds"], len(said["attachments"])) == ([], 1)


# Numbers


async def test_a_number_without_a_fraction_is_an_integer(chat_world: World) -> None:
    path = f"/v1/channels/{chat_world.channel_id}"
    changed = await chat_world.alice.rest.request("PATCH", path, body=b'{"rate_limit_per_user": 5.0}')
    assert changed.expect(200)["rate_limit_per_user"] == 5
    for number in (b"5.5", b"1e300", b"-1.0", b"NaN", b"1e400", b'"5"', b"true"):
        refused = await chat_world.alice.rest.request("PATCH", path, body=b'{"rate_limit_per_user": %s}' % number)
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY"), number
    zero = await chat_world.alice.rest.request("PATCH", path, body=b'{"rate_limit_per_user": -0.0}')
    assert zero.expect(200)["rate_limit_per_user"] == 0
    assert (await shown(chat_world, color=16_711_680.0))["color"] == 0xFF0000


def as_floats(value: Any) -> Any:
    """The value with each integer that a float can hold as such a float."""
    if isinstance(value, dict):
        return {name: as_floats(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_floats(item) for item in value]
    return float(value) if type(value) is int and abs(value) <= 2**53 else value


def bodies() -> list[Operation]:
    return [one for routes in (*ROUTES, *ADMIN_ROUTES) for one in routes.operations if one.body is not None]


def outcome(operation: Operation, value: Any) -> Any:
    """What a body is read as, or where it is wrong."""
    assert operation.body is not None
    try:
        return body_structure(operation.body)(parse_json(orjson.dumps(value), empty_strings_are_null=False))
    except InvalidFormBody as refused:
        return sorted((error.path, error.code) for error in refused.errors)


NUMBERS: Final = (-1, 0, 1, 2, 5, 60, 300, 16_711_680, 2**31, 2**53)
SHAPES: Final = (*NUMBERS, [1, 2], [5], [[1, 2]], [{"id": 1}], {"id": 1}, {"parse": 1}, [{"id": 1, "position": 2}])


@pytest.mark.parametrize("operation", bodies(), ids=lambda one: f"{one.method} {one.path}")
def test_integers_and_whole_floats_are_read_alike_in_every_body(operation: Operation) -> None:
    """Each member of the body of every operation, once as integers and once as floats of the same values."""
    assert operation.body is not None
    for name in [field.name for field in attrs.fields(operation.body)] if attrs.has(operation.body) else []:
        for value in SHAPES:
            of_integers, of_floats = (outcome(operation, {name: told}) for told in (value, as_floats(value)))
            assert plain(of_integers) == plain(of_floats), (name, value)


def plain(read: Any) -> Any:
    return attrs.asdict(read) if attrs.has(type(read)) else read


@given(st.floats())
def test_what_counts_as_an_integer(number: float) -> None:
    found = whole(number)
    if math.isfinite(number) and number == math.floor(number) and abs(number) <= 2**53:
        assert type(found) is int
        assert found == number
    else:
        assert found is number
