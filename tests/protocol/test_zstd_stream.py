"""zstd-stream in both directions: continuous, bounded in output and in window, and absent where it cannot be loaded.

Area: protocol. Rules: 000.framing, 000.limits.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.zstd_stream import Compressor, Decompressor, zstd_available
from chat.registries.close_codes import DECODE_FAILED, DECOMPRESSION_FAILED, PAYLOAD_TOO_LARGE, Close

HEARTBEAT = b'{"op":1,"d":null}'
DOCUMENTED = (DECODE_FAILED, DECOMPRESSION_FAILED, PAYLOAD_TOO_LARGE)


def noise(length: int) -> bytes:
    """The same bytes each time, that nothing compresses."""
    return hashlib.shake_256(b"noise").digest(length)


class Client:
    """A client's side of a compressed connection, on the library's own stream objects."""

    def __init__(self, **parameters: int) -> None:
        self._parameters = zstandard.ZstdCompressionParameters.from_level(3, **parameters)
        self._decompressor = zstandard.ZstdDecompressor().decompressobj()
        self.begins_a_frame()

    def begins_a_frame(self) -> None:
        self._compressor = zstandard.ZstdCompressor(compression_params=self._parameters).compressobj()

    def sends(self, payload: bytes) -> bytes:
        return self._compressor.compress(payload) + self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    def sends_last(self, payload: bytes) -> bytes:
        """The same, ending the zstd frame."""
        return self._compressor.compress(payload) + self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH)

    def reads(self, message: bytes) -> bytes:
        return self._decompressor.decompress(message)


# Inbound


@pytest.mark.rule("000.framing.17")
def test_one_stream_carries_message_after_message() -> None:
    client, decompressor = Client(), Decompressor()
    payloads = [b'{"op":1,"d":%d}' % sequence for sequence in range(200)]
    messages = [client.sends(payload) for payload in payloads]
    assert [decompressor.decompress(message) for message in messages] == payloads
    assert len(messages[-1]) < len(payloads[-1])
    assert Decompressor().decompress(messages[-1]) is DECOMPRESSION_FAILED  # it cannot be read without the others


@pytest.mark.rule("000.framing.9")
def test_a_client_may_end_a_frame_and_begin_another() -> None:
    client, decompressor = Client(), Decompressor()
    assert decompressor.decompress(client.sends(HEARTBEAT)) == HEARTBEAT
    assert decompressor.decompress(client.sends_last(b'{"op":3,"d":1}')) == b'{"op":3,"d":1}'
    client.begins_a_frame()
    assert decompressor.decompress(client.sends(HEARTBEAT)) == HEARTBEAT
    assert decompressor.decompress(client.sends(HEARTBEAT)) == HEARTBEAT


def test_two_frames_in_one_message_are_one_payload() -> None:
    client, decompressor = Client(), Decompressor()
    first = client.sends_last(HEARTBEAT[:7])
    client.begins_a_frame()
    assert decompressor.decompress(first + client.sends(HEARTBEAT[7:])) == HEARTBEAT


@pytest.mark.rule("000.framing.7")
def test_an_empty_message_fails_to_decode() -> None:
    assert Decompressor().decompress(b"") is DECODE_FAILED


def test_a_message_that_yields_nothing_fails_to_decode() -> None:
    assert Decompressor().decompress(Client().sends(HEARTBEAT)[:6]) is DECODE_FAILED
    assert Decompressor().decompress(b"\x50\x2a\x4d\x18\x02\x00\x00\x00ab") is DECODE_FAILED  # a skippable frame


@pytest.mark.rule("000.framing.6", "000.framing.14")
@pytest.mark.parametrize(
    "garbage", [HEARTBEAT, b"\x00" * 40, b"\xff" * 40, b"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff" * 3]
)
def test_what_is_not_zstd_fails_to_decompress(garbage: bytes) -> None:
    assert Decompressor().decompress(garbage) is DECOMPRESSION_FAILED


def test_a_damaged_message_fails_and_so_does_everything_after_it() -> None:
    client, decompressor = Client(write_checksum=True), Decompressor()
    assert decompressor.decompress(client.sends(HEARTBEAT)) == HEARTBEAT
    ending = bytearray(client.sends_last(b'{"op":3,"d":1}'))
    ending[-1] ^= 1
    assert decompressor.decompress(bytes(ending)) is DECOMPRESSION_FAILED
    assert Decompressor().decompress(Client().sends(HEARTBEAT)) == HEARTBEAT
    client.begins_a_frame()
    assert decompressor.decompress(client.sends(HEARTBEAT)) is DECOMPRESSION_FAILED


@pytest.mark.rule("000.framing.8")
def test_a_window_of_8_mib_is_read_and_a_larger_one_is_not() -> None:
    assert Decompressor().decompress(Client(window_log=23).sends(HEARTBEAT)) == HEARTBEAT
    assert Decompressor().decompress(Client(window_log=24).sends(HEARTBEAT)) is DECOMPRESSION_FAILED
    assert Decompressor().decompress(Client(window_log=27).sends(HEARTBEAT)) is DECOMPRESSION_FAILED


@pytest.mark.rule("000.framing.5", "000.limits.2")
def test_16384_bytes_pass_and_one_more_does_not() -> None:
    client, decompressor = Client(), Decompressor()
    assert decompressor.decompress(client.sends(b"x" * 16_384)) == b"x" * 16_384
    assert decompressor.decompress(client.sends(b"y" * 16_384)) == b"y" * 16_384
    assert decompressor.decompress(client.sends(b"z" * 16_385)) is PAYLOAD_TOO_LARGE
    assert decompressor.decompress(client.sends(HEARTBEAT)) is PAYLOAD_TOO_LARGE


@pytest.mark.rule("000.framing.4")
def test_the_limit_on_the_wire_comes_first() -> None:
    incompressible = noise(16_384)
    message = Client().sends(incompressible)
    assert len(message) > 16_384
    assert Decompressor().decompress(message) is PAYLOAD_TOO_LARGE
    assert Decompressor().decompress(b"\x00" * 16_385) is PAYLOAD_TOO_LARGE


def bomb(inflated: int) -> bytes:
    """A message within the limit on the wire that inflates to at least this many bytes."""
    message = zstandard.ZstdCompressor(level=19).compress(b"\x00" * inflated)
    assert len(message) <= 16_384
    return message


def test_a_bomb_of_some_hundred_mebibytes_stops_at_the_limit() -> None:
    """Reliability F12: 16 KB on the wire, which the library's push API would make 500 MiB of."""
    message = bomb(100_000_000)
    message = (message * (16_384 // len(message)))[:16_384]
    inflated = sum(len(piece) for piece in zstandard.ZstdDecompressor().read_to_iter(message[: len(bomb(100_000_000))]))
    assert inflated == 100_000_000
    decompressor = Decompressor()
    tracemalloc.start()
    assert decompressor.decompress(message) is PAYLOAD_TOO_LARGE
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


def test_messages_that_inflate_to_the_limit_leave_nothing_behind() -> None:
    client, decompressor = Client(), Decompressor()
    messages = [client.sends(b"\x00" * 16_384) for _ in range(500)]
    tracemalloc.start()
    for message in messages:
        assert decompressor.decompress(message) == b"\x00" * 16_384
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_a_payload_or_a_documented_close(data: bytes, after_a_good_message: bool) -> None:
    decompressor = Decompressor()
    if after_a_good_message:
        assert decompressor.decompress(Client().sends(HEARTBEAT)) == HEARTBEAT
    outcome = decompressor.decompress(data)
    assert outcome in DOCUMENTED if isinstance(outcome, Close) else 0 < len(outcome) <= 16_384


@given(st.integers(0, 60), st.integers(0, 255), st.integers(0, 400))
def test_a_spoilt_message_is_a_payload_or_a_documented_close(place: int, value: int, length: int) -> None:
    message = bytearray(Client().sends(bytes(range(256)) * 2))
    message[place % len(message)] = value
    outcome = Decompressor().decompress(bytes(message[:length]))
    assert outcome in DOCUMENTED if isinstance(outcome, Close) else 0 < len(outcome) <= 16_384


# Outbound


@pytest.mark.rule("000.framing.16")
@given(st.lists(st.binary(min_size=1, max_size=3_000), min_size=1, max_size=12))
def test_each_message_gives_its_whole_payload_at_once(payloads: list[bytes]) -> None:
    client, compressor = Client(), Compressor()
    for payload in payloads:
        assert client.reads(compressor.compress(payload)) == payload


def test_a_large_ready_passes_through_the_small_window() -> None:
    client, compressor = Client(), Compressor()
    ready = noise(300_000) + b"x" * 700_000
    assert client.reads(compressor.compress(ready)) == ready
    assert client.reads(compressor.compress(HEARTBEAT)) == HEARTBEAT


def test_a_stream_of_messages_shrinks() -> None:
    compressor = Compressor()
    compressor.compress(b'{"op":0,"t":"TYPING_START","s":1,"d":{"channel_id":"81384788765712384","user_id":"1"}}')
    payload = b'{"op":0,"t":"TYPING_START","s":2,"d":{"channel_id":"81384788765712384","user_id":"2"}}'
    assert len(compressor.compress(payload)) < len(payload) / 2


def _resident_kib() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_pair_costs_less_than_130_kib() -> None:
    ready = b'{"op":0,"t":"READY","s":1,"d":"%b"}' % noise(15_000).hex().encode()
    identify = Client().sends(b'{"op":2,"d":{"token":"t","properties":{"os":"a","browser":"b","device":"c"}}}')
    before = _resident_kib()
    pairs = [(Compressor(), Decompressor()) for _ in range(200)]
    for compressor, decompressor in pairs:
        compressor.compress(ready)
        assert isinstance(decompressor.decompress(identify), bytes)
    assert (_resident_kib() - before) / len(pairs) < 130


def test_without_the_library_there_is_no_zstd(monkeypatch: pytest.MonkeyPatch) -> None:
    assert zstd_available()
    monkeypatch.setitem(sys.modules, "zstandard", None)  # how Python marks a module that cannot be imported
    assert not zstd_available()
