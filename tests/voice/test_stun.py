"""STUN: the vectors of RFC 5769, and messages that are built, read, damaged and signed with another password."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.voice.protocol import stun
from chat.voice.protocol.demultiplexing import Kind, kind_of

REQUEST = bytes.fromhex(
    "000100582112a442b7e7a701bc34d686fa87dfae"
    "802200105354554e207465737420636c69656e74"
    "002400046e0001ff80290008932ff9b151263b36"
    "000600096576746a3a68367659202020"
    "000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2"
    "80280004e57a3bcf"
)
"""RFC 5769, 2.1: a request with a password, and padding that is not of zeros."""

PASSWORD = "VOkJxbRl1RmTxUk/WvJxBt"
TRANSACTION = bytes.fromhex("b7e7a701bc34d686fa87dfae")

addresses = st.ip_addresses().map(str)
passwords = st.text("abcdefghABCDEFGH0123456789+/", min_size=22, max_size=64)
transactions = st.binary(min_size=12, max_size=12)


def test_the_request_of_the_standard() -> None:
    message = stun.parse(REQUEST)
    assert message is not None
    assert (message.kind, message.transaction) == (stun.BINDING_REQUEST, TRANSACTION)
    assert message.local_name == "evtj"
    assert message.is_signed_with(PASSWORD)
    assert not message.is_signed_with(PASSWORD + "x")


def test_the_address_of_the_standards_response() -> None:
    assert stun.xor_address("192.0.2.1", 32_853, TRANSACTION) == bytes.fromhex("0001a147e112a643")
    v6 = stun.xor_address("2001:db8:1234:5678:11:2233:4455:6677", 32_853, TRANSACTION)
    assert v6 == bytes.fromhex("0002a1470113a9faa5d3f179bc25f4b5bed2b9d9")


@given(address=addresses, port=st.integers(0, 65_535), transaction=transactions, password=passwords)
def test_an_answer_is_read_as_it_was_built(address: str, port: int, transaction: bytes, password: str) -> None:
    request = stun.StunMessage(stun.BINDING_REQUEST, transaction, {})
    answer = stun.parse(stun.success(request, address, port, password))
    assert answer is not None
    assert (answer.kind, answer.transaction) == (stun.BINDING_SUCCESS, transaction)
    assert answer.attributes[stun.XOR_MAPPED_ADDRESS] == stun.xor_address(address, port, transaction)
    assert answer.is_signed_with(password)
    assert not answer.is_signed_with(password[::-1] + "!")


@given(at=st.integers(0, len(REQUEST) - 9), bit=st.integers(0, 7))
def test_one_wrong_bit_is_noticed(at: int, bit: int) -> None:
    damaged = bytearray(REQUEST)
    damaged[at] ^= 1 << bit
    message = stun.parse(bytes(damaged))
    assert message is None or not message.is_signed_with(PASSWORD)


@given(cut=st.integers(0, len(REQUEST) - 1))
def test_a_message_that_is_cut_short_is_none(cut: int) -> None:
    assert stun.parse(REQUEST[:cut]) is None


def test_what_stands_behind_the_signature_counts_for_nothing() -> None:
    signed = stun.build(stun.BINDING_REQUEST, TRANSACTION, {stun.USERNAME: b"us:them"}, PASSWORD)[:-8]
    longer = signed + bytes.fromhex("00250000")  # USE-CANDIDATE
    longer = longer[:2] + (len(longer) - stun.HEADER_BYTES).to_bytes(2, "big") + longer[4:]
    message = stun.parse(longer)
    assert message is not None
    assert message.is_signed_with(PASSWORD)
    assert stun.USE_CANDIDATE not in message.attributes


@given(kind=st.integers(0, 0xFFFF))
def test_what_is_stun_is_told_by_its_first_byte(kind: int) -> None:
    data = kind.to_bytes(2) + REQUEST[2:-8]
    data = data[:2] + (len(data) - stun.HEADER_BYTES).to_bytes(2) + data[4:]
    assert (stun.parse(data) is not None) == (kind_of(data) is Kind.STUN)
