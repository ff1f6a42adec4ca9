"""Blocks as large as a Ready come from memory that a server keeps."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from chat.allocator import KEPT_BYTES

PAGE_BYTES = 4_096

FAULTS = """
import resource, sys
from chat.allocator import keep_large_blocks
if sys.argv[1] == "kept":
    keep_large_blocks()
size, times = int(sys.argv[2]), int(sys.argv[3])
for _ in range(times):
    began = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    frames = [b"x" * size for _ in range(3)]
    frames = None
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - began)
"""
"""Three frames at a time are under way, as when several log in: how many pages the last round takes anew."""


def _faults(mode: str, size: int) -> int:
    arguments = (sys.executable, "-c", FAULTS, mode, str(size), "20")
    return int(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators are left as they are")
@pytest.mark.parametrize("size", [KEPT_BYTES // 8, KEPT_BYTES // 4, KEPT_BYTES // 2])
def test_large_blocks_lie_where_others_of_their_size_lay(size: int) -> None:
    assert _faults("given back", size) > size // PAGE_BYTES
    assert _faults("kept", size) < size // PAGE_BYTES // 8
