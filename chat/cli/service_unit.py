"""The unit of systemd that runs a server on a data directory: what `chat setup` says of the start depends on it."""

from __future__ import annotations

import contextlib
import itertools
import shlex
from pathlib import Path
from typing import Final

BOOTED: Final = Path("/run/systemd/system")
"""It is there where systemd runs the machine (sd_booted(3))."""

PLACES: Final = (Path("/etc/systemd/system"), Path("/usr/lib/systemd/system"), Path("/lib/systemd/system"))
"""Where units are (systemd.unit(5))."""


def unit_of(data: Path) -> str | None:
    """The name of the unit, such as `chat`, whose command is `serve` with this directory; None where there is none, or
    systemd does not run the machine. Units whose name begins with `chat` are looked at."""
    if not BOOTED.is_dir():
        return None
    for place in PLACES:
        for file in sorted(place.glob("chat*.service")):
            with contextlib.suppress(OSError, ValueError):  # not for this account; not to be parsed
                if any(_serves(line, data) for line in file.read_text("utf-8").splitlines()):
                    return file.stem
    return None


def _serves(line: str, data: Path) -> bool:
    if not line.startswith("ExecStart="):
        return False
    words = shlex.split(line.removeprefix("ExecStart="))
    named = [after for word, after in itertools.pairwise(words) if word == "--data"]
    named += [word.removeprefix("--data=") for word in words if word.startswith("--data=")]
    return "serve" in words and any(Path(each) == data.absolute() for each in named)
