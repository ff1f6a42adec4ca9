"""Names of addresses, asked of a real DNS server on loopback that may be silent, slow or a liar.

Area: signing_in. Rules: 002.user-object.
"""

from __future__ import annotations

import dns.message
import pytest
import trio
from trio.testing import MockClock

from chat.config.settings import host_and_port
from chat.domain.signing_in import reverse_dns
from chat.domain.signing_in.reverse_dns import ReverseDns, is_host_name
from tests.name_server import ARRIVING_SECONDS, NameServer, pass_time

ADDRESS, OTHER = "8.8.4.4", "2606:4700::1111"


async def names(lookups: ReverseDns, *addresses: str) -> dict[str, str]:
    found: dict[str, str] = {}
    await lookups.collect(addresses, found, 2.5)
    return found


@pytest.fixture
async def server(autojump_clock: MockClock, nursery: trio.Nursery) -> NameServer:
    autojump_clock.autojump_threshold = ARRIVING_SECONDS
    server = NameServer()
    await nursery.start(server.run)
    return server


@pytest.mark.rule("002.user-object.44")
async def test_a_name_is_reused_for_a_day_and_its_absence_for_an_hour(
    server: NameServer, autojump_clock: MockClock
) -> None:
    lookups = ReverseDns([server.address], in_threads=False)
    server.names = {ADDRESS: "dns.example.", OTHER: "six.example."}
    assert await names(lookups, ADDRESS, OTHER, ADDRESS) == {ADDRESS: "dns.example", OTHER: "six.example"}
    assert await names(lookups, "9.9.9.9") == {}
    assert sorted(server.asked) == sorted([ADDRESS, OTHER, "9.9.9.9"])

    server.names = {ADDRESS: "new.example.", "9.9.9.9": "nine.example."}
    await pass_time(autojump_clock, 3_599)
    assert await names(lookups, ADDRESS, "9.9.9.9", f"::ffff:{ADDRESS}") == {
        ADDRESS: "dns.example",
        f"::ffff:{ADDRESS}": "new.example",
    }
    await pass_time(autojump_clock, 1)
    assert await names(lookups, "9.9.9.9") == {"9.9.9.9": "nine.example"}
    await pass_time(autojump_clock, 86_400 - 3_600 - 1)
    assert await names(lookups, ADDRESS) == {ADDRESS: "dns.example"}
    await pass_time(autojump_clock, 1)
    assert await names(lookups, ADDRESS) == {ADDRESS: "new.example"}


async def test_nobody_is_asked_about_private_addresses_or_what_is_none(
    server: NameServer, autojump_clock: MockClock
) -> None:
    lookups = ReverseDns([server.address], in_threads=False)
    private = [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.9",
        "172.16.0.1",
        "169.254.1.1",
        "100.64.0.1",
        "203.0.113.5",
        "0.0.0.0",  # noqa: S104 - asked about, not bound
        "224.0.0.1",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fd00::1",
        "2001:db8::1",
        "::ffff:10.0.0.1",
        "",
        "unknown",
        "1.2.3",
        "é",
    ]
    assert await names(lookups, *private) == {}
    assert not server.asked


async def test_a_server_that_is_silent_slow_or_lies_gives_no_name_and_no_delay_beyond_the_deadline(
    server: NameServer, autojump_clock: MockClock
) -> None:
    lookups = ReverseDns([server.address], in_threads=False)
    server.names = {ADDRESS: "dns.example."}

    async def silent(question: dns.message.Message) -> list[bytes]:
        return []

    async def slow(question: dns.message.Message) -> list[bytes]:
        await trio.sleep(10)
        return [server.honest(question).to_wire()]

    async def other_id(question: dns.message.Message) -> list[bytes]:
        answer = server.honest(question)
        answer.id ^= 1
        return [answer.to_wire()]

    async def other_question(question: dns.message.Message) -> list[bytes]:
        asked = dns.message.make_query("4.4.4.4.in-addr.arpa.", "PTR", id=question.id)
        server.names["4.4.4.4"] = "liar.example."
        return [server.honest(asked).to_wire()]

    async def garbage(question: dns.message.Message) -> list[bytes]:
        return [b"", b"\0", bytes(12), question.to_wire()[:2] + b"\xff" * 60_000]

    async def no_host_name(question: dns.message.Message) -> list[bytes]:
        return [with_name(r"\<script\>alert\(1\)\000.example.", question)]

    async def refused(question: dns.message.Message) -> list[bytes]:
        answer = dns.message.make_response(question)
        answer.set_rcode(5)
        return [answer.to_wire()]

    def with_name(name: str, question: dns.message.Message) -> bytes:
        server.names[ADDRESS] = name
        return server.honest(question).to_wire()

    for answering in (silent, slow, other_id, other_question, garbage, no_host_name, refused):
        server.answering = answering
        before = trio.current_time()
        assert await names(lookups, ADDRESS) == {}, answering.__name__
        assert trio.current_time() - before <= reverse_dns.QUESTION_SECONDS + 0.1, answering.__name__
        # A failure is not asked about again at once, and is not kept for long.
        count = len(server.asked)
        assert await names(lookups, ADDRESS) == {}
        assert len(server.asked) == count
        await pass_time(autojump_clock, 3_600)
    server.answering, server.names = None, {ADDRESS: "dns.example."}
    assert await names(lookups, ADDRESS) == {ADDRESS: "dns.example"}


async def test_the_honest_answer_counts_among_forged_ones(server: NameServer, autojump_clock: MockClock) -> None:
    lookups = ReverseDns([server.address], in_threads=False)
    server.names = {ADDRESS: "dns.example."}

    async def forged_first(question: dns.message.Message) -> list[bytes]:
        forged = server.honest(question)
        forged.id ^= 0x5555
        return [forged.to_wire(), b"\xff" * 3, server.honest(question).to_wire()]

    server.answering = forged_first
    assert await names(lookups, ADDRESS) == {ADDRESS: "dns.example"}


async def test_few_questions_are_under_way_at_a_time_and_each_is_asked_once(
    server: NameServer, autojump_clock: MockClock
) -> None:
    lookups = ReverseDns([server.address], in_threads=False)
    many = [f"9.9.{number // 256}.{number % 256}" for number in range(100)]
    server.names = {address: f"host-{number}.example." for number, address in enumerate(many)}

    async def after_a_while(question: dns.message.Message) -> list[bytes]:
        await trio.sleep(0.25)
        return [server.honest(question).to_wire()]

    server.answering = after_a_while
    results: list[dict[str, str]] = [{}, {}, {}]
    async with trio.open_nursery() as nursery:
        for found in results:
            nursery.start_soon(lookups.collect, many, found, 2.5)
    assert server.most_under_way == reverse_dns.QUESTIONS_AT_A_TIME
    assert results == [{address: f"host-{number}.example" for number, address in enumerate(many)}] * 3
    assert len(server.asked) == 100


async def test_who_stops_waiting_leaves_the_rest_to_those_who_still_wait(
    server: NameServer, autojump_clock: MockClock
) -> None:
    lookups = ReverseDns([server.address], in_threads=False)
    server.names = {ADDRESS: "dns.example."}

    async def after_a_while(question: dns.message.Message) -> list[bytes]:
        await trio.sleep(0.5)
        return [server.honest(question).to_wire()]

    server.answering = after_a_while
    hasty: dict[str, str] = {}
    patient: dict[str, str] = {}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lookups.collect, [ADDRESS], hasty, 0.25)
        await trio.sleep(0.125)
        nursery.start_soon(lookups.collect, [ADDRESS], patient, 2.5)
    assert hasty == {}
    assert patient == {ADDRESS: "dns.example"}


async def test_the_cache_is_bounded(
    server: NameServer, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reverse_dns, "CACHE_ENTRIES", 2)
    lookups = ReverseDns([server.address], in_threads=False)
    server.names = {f"9.9.9.{number}": "x.example." for number in range(4)}
    for address in ("9.9.9.0", "9.9.9.1", "9.9.9.0", "9.9.9.2", "9.9.9.0", "9.9.9.1"):
        await names(lookups, address)
    assert server.asked == ["9.9.9.0", "9.9.9.1", "9.9.9.2", "9.9.9.1"]


async def test_a_server_that_does_not_exist_and_threads(nursery: trio.Nursery) -> None:
    nobody = ReverseDns(["127.0.0.1:1"])
    assert await names(nobody, ADDRESS) == {}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("9.9.9.9", ("9.9.9.9", 53)),
        ("9.9.9.9:5300", ("9.9.9.9", 5300)),
        ("2620:fe::fe", ("2620:fe::fe", 53)),
        ("[2620:fe::fe]:5300", ("2620:fe::fe", 5300)),
        *[(text, None) for text in ("", "dns.example", "9.9.9.9:x", "9.9.9.9:99999", "u@9.9.9.9", "9.9.9.9/24", ":53")],
    ],
)
def test_how_a_name_server_is_written(text: str, read: tuple[str, int] | None) -> None:
    if read is None:
        with pytest.raises(ValueError):
            host_and_port(text)
    else:
        assert host_and_port(text) == read


def test_what_a_host_name_is() -> None:
    assert all(map(is_host_name, ["a", "dns.google", "x_1.a-b.example", "a." * 126 + "a"]))
    assert not any(map(is_host_name, ["", ".", "a..b", "a b", "<b>", "a.example.", "é.example", "a" * 64, "a." * 127]))
