"""The process that unpacks pictures: `python -m chat.media.image_process`.

It reads jobs from standard input and answers on standard output, a line of JSON each, until its input ends. It gives
itself little of everything first, so that a picture that was made to do harm harms nothing but this process, which its
parent replaces (`chat.media.image_workers`).
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any, Final

from chat.media.pixels import Unusable, placeholder, render
from chat.media.renditions import Rendition

MEMORY_BYTES: Final = 1 << 30
"""A picture of PIXELS_MAXIMUM takes 128 MiB unpacked, once more while it is turned, and libraries theirs."""

FILE_BYTES: Final = 1 << 26
"""The largest rendition."""

JOB_CHARACTERS: Final = 8_192

NICENESS: Final = 10
"""Messages come first."""


def done(job: dict[str, Any]) -> dict[str, Any]:
    """The answer to a job: `refused` where the file does not lend itself to it."""
    try:
        source = Path(job["source"])
        if job["kind"] == "placeholder":
            return {"placeholder": placeholder(source)}
        return {"moving": render(source, Path(job["target"]), Rendition(**job["rendition"]))}
    except (Unusable, MemoryError, OSError) as error:
        return {"refused": type(error).__name__}


def main() -> None:
    """Work until nobody asks any more."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)
    os.nice(NICENESS)
    while line := sys.stdin.buffer.readline(JOB_CHARACTERS):
        answer = done(json.loads(line))
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
