"""Runs `chat import` and looks at what it left behind."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

from chat.clock import SystemClock
from chat.store import deep_check, whole_database
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from tests.cli.command_line import Outcome

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da6364f8cf500f0003860180"
    "5a347d6a0000000049454e44ae426082"
)
"""The smallest PNG."""


@attrs.frozen
class ImportCommand:
    """The command on one data directory."""

    command: Callable[..., Outcome]
    data: Path
    guild_id: int

    def discord(self, path: Path, *options: object, guild: object = None) -> dict[str, Any]:
        """Import an export; what the command printed."""
        return self.bring("discord", path, *options, guild=guild)

    def bring(self, source: str, path: Path, *options: object, guild: object = None) -> dict[str, Any]:
        """The same of any service."""
        to = self.guild_id if guild is None else guild
        ending = self.command("import", source, path, "--guild", to, "--json", *options)
        assert ending.status == 0, ending.err
        assert ending.err == ""
        found: dict[str, Any] = ending.json
        return found

    def refused(self, *arguments: object) -> str:
        """What a command says that fails."""
        ending = self.command(*arguments)
        assert (ending.status, ending.out) == (1, "")
        return ending.err

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What the database has."""
        with contextlib.closing(connect(DataDirectory(self.data).database)) as connection:
            return connection.execute(query, values).fetchall()

    def execute(self, statement: str, *values: object) -> None:
        """Somebody here does something."""
        with contextlib.closing(connect(DataDirectory(self.data).database)) as connection:
            connection.execute(statement, values)

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of the tables that an import writes, apart from its own ledger."""
        tables = (
            "channels",
            "roles",
            "permission_overwrites",
            "threads",
            "messages",
            "message_mentions",
            "message_role_mentions",
            "message_reactions",
            "message_reaction_users",
            "attachments",
            "expressions",
            "assets",
            "users",
            "placeholders",
            "imported_messages",
            "message_search_queue",
        )
        return {table: sorted(self.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}  # noqa: S608

    def require_order(self) -> None:
        """Fail unless `chat check --deep` finds nothing."""
        with contextlib.closing(connect(DataDirectory(self.data).database)) as connection:
            found = [*self._problems(connection)]
        assert not found, found

    @staticmethod
    def _problems(connection: Any) -> Iterator[str]:
        yield from whole_database.damages(connection)
        yield from whole_database.broken_references(connection)
        yield from deep_check.misshapen(connection)
        yield from deep_check.wrong_counts(connection)
        yield from deep_check.wrong_search_entries(connection)
        yield from deep_check.wrong_name_keys(connection)
        yield from deep_check.ids_out_of_range(connection, SystemClock().now_ms())
