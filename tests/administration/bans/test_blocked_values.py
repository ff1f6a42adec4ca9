"""What is blocked, as it is asked for: against the plain way of asking, and on texts that are made to take long."""

from __future__ import annotations

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from chat.auth.address_bans import BlockedNetworks
from chat.domain.policy.blocked_values import (
    CHANGES_BORNE,
    BlockedLinks,
    PhraseMatcher,
    comparable_page,
    comparable_text,
)
from tests.growth import is_linear

short = st.text("abAB é", min_size=1, max_size=4)


@given(st.lists(short), st.lists(st.tuples(st.booleans(), short)), st.text("abAB é", max_size=30))
def test_phrases_are_found_as_by_looking_for_each(first: list[str], changes: list[tuple[bool, str]], text: str) -> None:
    held = set(first)
    matcher = PhraseMatcher(held)
    padding = {f"padding {number}" for number in range(2 * CHANGES_BORNE)}
    many = PhraseMatcher(held | padding)
    for adds, phrase in changes:
        for each in (matcher, many):
            (each.add if adds else each.discard)(phrase)
        (held.add if adds else held.discard)(phrase)
    assert matcher.is_in(text) == many.is_in(text) == any(phrase in text for phrase in held)
    assert (len(matcher), len(many)) == (len(held), len(held | padding))


networks = st.one_of(
    st.ip_addresses(v=4).flatmap(lambda found: st.integers(8, 32).map(lambda length: (str(found), length))),
    st.ip_addresses(v=6).flatmap(lambda found: st.integers(16, 128).map(lambda length: (str(found), length))),
).map(lambda pair: str(ipaddress.ip_network(pair, strict=False)))


@given(st.lists(networks, max_size=8), st.data())
def test_networks_cover_as_each_says(held: list[str], data: st.DataObject) -> None:
    blocked = BlockedNetworks()
    blocked.replace(held)
    parsed = [ipaddress.ip_network(network) for network in held]
    for gone in data.draw(st.lists(st.sampled_from(held), max_size=3)) if held else ():
        blocked.discard(gone)
        parsed = [network for network in parsed if str(network) != gone]
    candidates = [st.ip_addresses(), *(st.just(network[0]) for network in map(ipaddress.ip_network, held))]
    for address in data.draw(st.lists(st.one_of(candidates), max_size=5)):
        mapped = isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None
        if not mapped:
            expected = any(address.version == network.version and address in network for network in parsed)
            assert blocked.cover(str(address)) == blocked.cover(str(address)) == expected
    assert not blocked.cover("no address")


def test_pages_and_domains() -> None:
    links = BlockedLinks()
    links.pages.replace({comparable_page("https://One.example/Bad")})
    links.domains.replace({"evil.example", "xn--bcher-kva.example"})
    for text in (
        "<https://one.example/Bad>",
        "[x](https://one.example/Bad)",
        "HTTPS://ONE.EXAMPLE/Bad#there",
        "x evil.example",
        "//a.b.evil.example:80/",
        "me@Evil.Example",
        "http://bücher.example/",
        "https://shop.BU\u0308CHER.example",
        "XN--bcher-kva.example",
        "http://\uff45vil.example/",
        "http://evil\u3002example/",
        "evil.example.",
    ):
        assert links.are_in(text), text
    for text in (
        "https://one.example/bad",
        "https://one.example/Bad/er",
        "devil.example",
        "evil.example.org",
        "evil . example",
        "xn--\u00e9.example",
        "xn--.example",
        "xn--b-----.example",
    ):
        assert not links.are_in(text), text
    assert comparable_page("https://x") == "https://x/"
    assert comparable_page("https://x?y") == "https://x/?y"
    assert comparable_page("https://") == comparable_page("mailto:x") == comparable_page("//x/") == ""


def test_hostile_texts_take_no_longer_than_others() -> None:
    nested = {"a" * length + "b" for length in range(1, 256)}
    phrases = PhraseMatcher(nested | {f"word {number}" for number in range(5_000)})
    links = BlockedLinks()
    links.pages.replace({"https://one.example/"})
    links.domains.replace({"evil.example"})

    def judge(text: str) -> None:
        phrases.is_in(comparable_text(text))
        links.are_in(text)

    for piece in (
        "a",
        "a.",
        ".",
        "-",
        "http://",
        "https://a",
        "é.",
        "\U0001d54f",
        "\ufdfa",
        "ab.cd" * 40 + " ",
        "ä.ö ",
        "xn--a.ö ",
    ):
        assert is_linear(judge, lambda length, piece=piece: (piece * length)[:length], 500), piece
