"""A handler of `logging` for Discord; the address is the first argument."""

from __future__ import annotations

import logging
import sys

from discord_logging.handler import DiscordHandler

log = logging.getLogger("job")
log.addHandler(DiscordHandler("nightly", sys.argv[1]))
log.warning("disk almost full")
try:
    int("no number")
except ValueError:
    log.exception("the job broke off")
