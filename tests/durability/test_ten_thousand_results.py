"""Ten thousand accounts, entries, sign-ins and relationships: totals are right, pages have their size, and while they
are put together others are served (issue 6, Bad input). In a process of its own, because there threads do the reading.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
import trio

from chat.snowflake import snowflake_at
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_audit_log
from chat.store.administration.admin_audit_log import AdminAuditLogEntry
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession
from chat.store.standing import relationships
from chat.store.standing.relationships import Relationship
from chat.testing import RestClient
from tests.durability.server_process import running

pytestmark = pytest.mark.long

MANY: Final = 10_000
START_MS: Final = 1_700_000_000_000


def fill(data: Path, holder_id: int, admin_id: int) -> None:
    """Give the store ten thousand of each, as the server itself writes them."""
    with connect(DataDirectory(data).database) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for number in range(MANY):
            user_id = snowflake_at(START_MS + number)
            account = Account(
                id=user_id,
                username=f"harbour_{number}",
                discriminator=number % 9_999 + 1,
                email=f"harbour_{number}@example.com",
                last_active_ip="10.9.8.7",
                created_at=START_MS + number,
            )
            accounts.insert(connection, account)
            entry = AdminAuditLogEntry(
                id=snowflake_at(START_MS + number),
                admin_user_id=admin_id,
                action="get_user",
                target_type="user",
                target_id=str(user_id),
                reason=None,
                metadata={"found": "true"},
            )
            admin_audit_log.insert(connection, entry)
            auth_sessions.insert(
                connection,
                AuthSession(
                    number.to_bytes(32, "big"),
                    holder_id,
                    START_MS + number,
                    START_MS + number,
                    address=f"10.0.{number // 256}.{number % 256}",
                    user_agent=f"Mozilla/5.0 (X11; Linux x86_64; rv:{number % 200}.0) Gecko/20100101 Firefox/140.0",
                ),
            )
            relationships.put(connection, Relationship(holder_id, user_id, 1, None, START_MS))
        connection.execute("COMMIT")
    connection.close()


@attrs.define
class Others:
    """Asks for something small all the while."""

    rest: RestClient
    answers: int = 0

    async def run(self) -> None:
        while True:
            (await self.rest.get("/_health")).expect(200)
            self.answers += 1
            await trio.sleep(0.005)


async def test_ten_thousand_of_everything(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        world = server.world
        holder = next(user["id"] for user in world["users"] if user["username"] == "bob")
        await trio.to_thread.run_sync(fill, tmp_path, int(holder), int(world["admin"]["id"]))
        admin = RestClient(server.route, token=world["admin"]["token"])

        async def asked(path: str) -> Any:
            others = Others(RestClient(server.route))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(others.run)
                before = time.perf_counter()
                answer = await admin.request("GET", f"/v1/admin{path}", seconds=60)
                took = time.perf_counter() - before
                nursery.cancel_scope.cancel()
            await others.rest.aclose()
            # A loop that stood still all the while would have answered one of them, or none.
            assert took < 0.2 or others.answers >= 3, path
            return answer.expect(200)

        for path in ("/users?q=harbour&limit=200", "/users?last_active_ip=10.9.8.7&limit=200"):
            for offset, count in ((0, 200), (MANY - 50, 50), (MANY, 0), (100_000, 0)):
                page = await asked(f"{path}&offset={offset}")
                assert (len(page["users"]), page["total"]) == (count, MANY)
        page = await asked("/audit-logs?limit=200&q=get_user&offset=9900")
        assert (len(page["logs"]), page["total"]) == (100, MANY)
        page = await asked(f"/users/{holder}/sessions")
        assert len(page["sessions"]) == MANY + 1
        page = await asked(f"/users/{holder}/relationships")
        assert len(page["friends"]) == MANY
        await asked(f"/users/{holder}/guilds")
        await asked(f"/users/{holder}/dm-channels")
        ended = await admin.request("DELETE", f"/v1/admin/users/{holder}/sessions", seconds=60)
        assert ended.expect(200) == {"terminated_count": MANY + 1}
        await admin.aclose()
