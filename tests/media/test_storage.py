"""Files on the disk: whole or not there, in their place, with the right modes."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
import trio.testing

from chat.errors import StorageUnavailable
from chat.media.storage import BUFFERED_BYTES, PIECE_BYTES, MediaStorage


async def content(storage: MediaStorage, key: str, start: int, stop: int) -> bytes:
    return b"".join([piece async for piece in storage.pieces(key, start, stop)])


@pytest.mark.parametrize("in_threads", [True, False])
async def test_a_file_comes_in_pieces_and_goes_out_in_pieces(tmp_path: Path, in_threads: bool) -> None:
    storage = MediaStorage(tmp_path / "uploads", in_threads=in_threads)
    data = bytes(range(256)) * 3_000
    async with storage.receiving() as incoming:
        for start in range(0, len(data), 10_000):
            await incoming.write(data[start : start + 10_000])
        assert incoming.size == len(data)
        assert data.startswith(incoming.head)
        await incoming.keep("attachments/123456789")
    assert storage.path_of("attachments/123456789").read_bytes() == data
    assert await content(storage, "attachments/123456789", 0, len(data)) == data
    assert (
        await content(storage, "attachments/123456789", 1_000, PIECE_BYTES + 2_000) == data[1_000 : PIECE_BYTES + 2_000]
    )
    assert await content(storage, "attachments/123456789", 5, 5) == b""
    for path in (tmp_path / "uploads").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    with pytest.raises(EOFError):
        await content(storage, "attachments/123456789", 0, len(data) + 1)
    await storage.delete(["attachments/123456789", "attachments/1"])
    assert not await storage.has("attachments/123456789")
    with pytest.raises(FileNotFoundError):
        await content(storage, "attachments/123456789", 0, 1)


@pytest.mark.parametrize(
    "key", ["", "attachments", "attachments/", "attachments/x", "attachments/../1", "x/1", "/1", "assets/-1"]
)
async def test_what_is_no_key_is_no_path(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="no key"):
        MediaStorage(tmp_path, in_threads=False).path_of(key)


async def test_what_is_not_kept_is_gone(tmp_path: Path) -> None:
    storage = MediaStorage(tmp_path, in_threads=True)
    async with storage.receiving() as incoming:
        await incoming.write(bytes(BUFFERED_BYTES))
        assert len(list((tmp_path / "incoming").iterdir())) == 1
    assert list((tmp_path / "incoming").iterdir()) == []
    with trio.CancelScope() as scope:
        async with storage.receiving() as incoming:
            await incoming.write(bytes(BUFFERED_BYTES))
            scope.cancel()
            await trio.sleep_forever()
    assert list((tmp_path / "incoming").iterdir()) == []


async def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    storage = MediaStorage(tmp_path, in_threads=False)
    async with storage.receiving() as incoming:
        await incoming.keep("assets/1")
    assert await storage.has("assets/1")
    assert [keys async for keys in storage.keys(10)] == [["assets/1"]]


async def test_a_disk_that_takes_no_more_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "incoming").write_bytes(b"in the way")
    storage = MediaStorage(tmp_path, in_threads=False)
    with pytest.raises(StorageUnavailable):
        async with storage.receiving() as incoming:
            await incoming.write(bytes(BUFFERED_BYTES))
