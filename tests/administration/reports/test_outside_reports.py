"""People without an account report what they have seen (wire facts, appendix A: reports, dsa)."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.domain.signing_in.mailed_codes import MOST_WRONG
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.mailed import mails

EMAIL = "Someone@example.org"
WHO = {"reporter_full_legal_name": "Erika Mustermann", "reporter_country_of_residence": "DE", "category": "scam"}


async def code_of(world: World, email: str = EMAIL) -> str:
    assert (await world.anyone.post("/v1/reports/dsa/email/send", {"email": email})).expect(200) == {"ok": True}
    last = (await mails(world, "report_code"))[-1]
    assert last["to"] == email
    code: str = last["token"]
    return code


async def verify(world: World, code: str, email: str = EMAIL) -> Response:
    return await world.anyone.post("/v1/reports/dsa/email/verify", {"email": email, "code": code})


async def ticket_of(world: World) -> str:
    ticket: str = (await verify(world, await code_of(world))).expect(200)["ticket"]
    return ticket


async def report(world: World, ticket: str, kind: str, **members: Any) -> Response:
    return await world.anyone.post("/v1/reports/dsa", {"ticket": ticket, "kind": kind, **WHO, **members})


def refusal(answer: Response) -> tuple[str, str]:
    [error] = answer.expect(400)["errors"]
    return error["path"], error["code"]


async def test_what_can_be_seen_from_outside_can_be_reported(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, bob = chat_world, chat_world.bob
    sent = (await bob.rest.send_message(world.channel_id, "send me your password")).expect(200)
    invite = (await world.alice.rest.create_channel_invite(world.channel_id)).expect(200)["code"]
    tag = (await bob.rest.get("/v1/users/@me")).expect(200)
    link = f"https://chat.example/channels/{world.guild_id}/{world.channel_id}/{sent['id']}"
    ids = []
    for kind, members in (
        ("message", {"message_link": link, "additional_info": "a trick"}),
        ("message", {"channel_id": world.channel_id, "message_id": sent["id"]}),
        ("user", {"user_tag": f"{tag['username'].upper()}#{tag['discriminator']}"}),
        ("user", {"user_id": bob.id}),
        ("guild", {"invite_code": f"https://chat.example/invite/{invite}"}),
        ("guild", {"guild_id": world.guild_id}),
    ):
        ticket = await ticket_of(world)
        made = (await report(world, ticket, kind, **members)).expect(200)
        assert made == {"report_id": made["report_id"], "status": "pending"}
        ids.append(made["report_id"])
        again = await report(world, ticket, kind, **members)
        assert refusal(again) == ("ticket", "INVALID_OR_EXPIRED_TICKET"), "one ticket, one report"
    shown = [(await world.admin.rest.get(f"/v1/admin/reports/{report_id}")).expect(200) for report_id in ids]
    for one in shown:
        assert (one["reporter_id"], one["reporter_email"]) == (None, EMAIL)
        assert (one["reporter_full_legal_name"], one["reporter_country_of_residence"]) == ("Erika Mustermann", "DE")
    assert [one["reported_user_id"] for one in shown] == [bob.id] * 4 + [world.alice.id] * 2
    assert [one["guild_id"] for one in shown] == [world.guild_id] * 2 + [None] * 2 + [world.guild_id] * 2
    assert (shown[0]["message"]["content"], shown[0]["message_id"]) == ("send me your password", sent["id"])
    # They are told as everybody is, and not shown to whoever may not know them.
    (await world.admin.rest.post(f"/v1/admin/reports/{ids[0]}/resolve", {"public_comment": "done"})).expect(200)
    [told] = await mails(world, "report_resolved")
    assert told["to"] == EMAIL
    await world.anyone.post(f"/v1/_dev/users/{bob.id}", {"acls": ["admin:authenticate", "report:view"]})
    hidden = (await bob.rest.get(f"/v1/admin/reports/{ids[0]}")).expect(200)
    assert {value for key, value in hidden.items() if key.startswith("reporter")} == {None}


async def test_codes_tickets_and_what_there_is_not(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    wrong = ("code", "INVALID_CODE")
    assert refusal(await verify(world, "AAAA-AAAA")) == wrong, "no code went to this address"
    for email in ("nobody", "", "a@" + "b" * 300 + ".example"):
        answer = await world.anyone.post("/v1/reports/dsa/email/send", {"email": email})
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    first = await code_of(world)
    code = await code_of(world)
    assert refusal(await verify(world, first)) == wrong, "a newer one stands in its place"
    assert refusal(await verify(world, code, "other@example.org")) == wrong
    ticket = (await verify(world, f" {code.lower()} ", EMAIL.lower())).expect(200)["ticket"]
    assert refusal(await verify(world, code)) == wrong, "it works once"
    code = await code_of(world)
    for _ in range(MOST_WRONG):
        assert refusal(await verify(world, "AAAA-AAAA")) == wrong
    assert refusal(await verify(world, code)) == wrong, "after five wrong ones the right one comes too late"
    code = await code_of(world)
    await trio.sleep(600)
    assert refusal(await verify(world, code)) == wrong, "ten minutes"

    for kind, members, expected in (
        ("user", {"user_tag": "nobody#0001"}, "UNKNOWN_USER"),
        ("user", {"user_tag": "# #"}, "UNKNOWN_USER"),
        ("user", {"user_id": "77"}, "UNKNOWN_USER"),
        ("user", {"guild_id": world.guild_id}, "UNKNOWN_USER"),
        ("guild", {"invite_code": "nothing"}, "UNKNOWN_GUILD"),
        ("guild", {}, "UNKNOWN_GUILD"),
        ("message", {"message_link": "https://elsewhere.example/"}, "UNKNOWN_MESSAGE"),
        ("message", {"message_link": "/channels/1/99999999999999999999/9"}, "UNKNOWN_MESSAGE"),
        ("message", {"message_link": f"/channels/1/{world.channel_id}/9999999999999999999"}, "UNKNOWN_MESSAGE"),
        ("message", {"channel_id": world.channel_id, "message_id": "77"}, "UNKNOWN_MESSAGE"),
        ("message", {"channel_id": world.channel_id}, "UNKNOWN_MESSAGE"),
    ):
        answer = await report(world, ticket, kind, **members)
        assert (answer.status, answer.code) == (404, expected), (kind, members)
    for members in (
        {"category": "boring"},
        {"reporter_full_legal_name": None},
        {"reporter_full_legal_name": "x" * 161},
        {"reporter_country_of_residence": "Germany"},
        {"reporter_country_of_residence": "de"},
        {"kind": "planet"},
        {"user_id": "x"},
        {"ticket": None},
    ):
        body = {"ticket": ticket, "kind": "user", "user_id": world.bob.id, **WHO, **members}
        answer = await world.anyone.post("/v1/reports/dsa", body)
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), members
    assert refusal(await report(world, "x" * 43, "user", user_id=world.bob.id))[0] == "ticket"
    assert chat_server.database.reader.execute("SELECT count(*) FROM reports").fetchone() == (0,)
    (await report(world, ticket, "user", user_id=world.bob.id)).expect(200)
    ticket = await ticket_of(world)
    await trio.sleep(3_600)
    assert refusal(await report(world, ticket, "user", user_id=world.bob.id)) == ("ticket", "INVALID_OR_EXPIRED_TICKET")


@pytest.mark.chat_settings(rate_limits=True)
async def test_nobodys_mailbox_is_filled(chat_world: World, autojump_clock: MockClock) -> None:
    for _ in range(3):
        await code_of(chat_world)
    refused = await chat_world.anyone.post("/v1/reports/dsa/email/send", {"email": EMAIL.upper()})
    assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    assert len(await mails(chat_world, "report_code")) == 3


async def test_the_kind_has_two_names_and_tags_are_told(chat_world: World, autojump_clock: MockClock) -> None:
    world = chat_world
    ticket = await ticket_of(world)
    for members, path in (({}, "kind"), ({"kind": "user", "report_type": "guild"}, "report_type")):
        answer = await world.anyone.post("/v1/reports/dsa", {"ticket": ticket, **WHO, **members})
        assert refusal(answer) == (path, "INVALID_FORMAT")
    sent = (await world.bob.rest.send_message(world.channel_id, "trick")).expect(200)
    link = f"https://chat.example/channels/{world.guild_id}/{world.channel_id}/{sent['id']}"
    for members, info in (
        ({"report_type": "user", "user_id": world.bob.id}, None),
        ({"report_type": "guild", "kind": "guild", "guild_id": world.guild_id, "additional_info": "x"}, "x"),
        (
            {
                "report_type": "message",
                "message_link": link,
                "reported_user_tag": "bob#0001",
                "reporter_fluxer_tag": "erika#0002",
                "additional_info": "a trick",
            },
            "Tag of the reporter: erika#0002\nTag of the author: bob#0001\na trick",
        ),
    ):
        body = {"ticket": await ticket_of(world), **WHO, **members}
        made = (await world.anyone.post("/v1/reports/dsa", body)).expect(200)
        shown = (await world.admin.rest.get(f"/v1/admin/reports/{made['report_id']}")).expect(200)
        assert (shown["kind"], shown["additional_info"]) == (members["report_type"], info)
