"""Back to the seeded world (development.md, Development routes)."""

from __future__ import annotations

import sqlite3

from chat.development.node import node_of
from chat.development.parts import DevelopmentServices
from chat.development.seeded_world import hash_passwords
from chat.development.world_rows import populate
from chat.store.erasure import erase_everything
from chat.store.last_id import last_id


async def reset(services: DevelopmentServices) -> None:
    """Erase everything, make the seeded world's rows anew and forget what memory holds of the time before."""
    development = services.development
    async with development.turn:
        # First of all the store has to be able to write again.
        node_of(services).clear()
        hashes = await hash_passwords(development.world, development.hash_password)
        _end_sessions(services)

        def write(connection: sqlite3.Connection) -> None:
            erase_everything(connection)
            populate(connection, development.world, hashes)

        await services.database.write(write, lambda _: _forget(services))


def _end_sessions(services: DevelopmentServices) -> None:
    table = services.development.gateway.table
    for session in table:
        table.end(session)


def _forget(services: DevelopmentServices) -> None:
    development = services.development
    _end_sessions(services)  # of those who came back while the erasure waited for its turn
    development.guild_states.forget_all()
    development.http_faults.clear()
    development.gateway.admission.reset()
    development.gateway.commands.forget()
    services.rate_limiter.clear()
    services.messages.forget_recent()
    services.threads.forget_recent()
    services.sign_ins.forget_uses()
    services.admin_api_keys.forget_uses()
    services.address_bans.forget_all()
    services.administration.blocklists.forget_all()
    for forget in development.forget:
        forget()
    development.clock.set_back()
    development.snowflakes.set_back()
    development.snowflakes.stay_above(last_id(services.database.reader))
