"""A self-hosted community chat server: an HTTP API, a realtime gateway and one SQLite store in one program."""

from typing import Final

__version__: Final = "1.0.0"
