"""Back to the seeded world (development.md, Development routes)."""

from __future__ import annotations

import sqlite3

from chat.development.node import node_of
from chat.development.parts import Development
from chat.development.seeded_world import hash_passwords
from chat.development.world_rows import populate
from chat.store.erasure import erase_everything
from chat.store.last_id import last_id


async def reset(development: Development) -> None:
    """Erase everything, make the seeded world's rows anew and forget what memory holds of the time before."""
    async with development.turn:
        # First of all the store has to be able to write again.
        node_of(development).clear()
        hashes = await hash_passwords(development.world, development.hash_password)
        _end_sessions(development)

        def write(connection: sqlite3.Connection) -> None:
            erase_everything(connection)
            populate(connection, development.world, hashes)

        await development.core.database.write(write, lambda _: _forget(development))


def _end_sessions(development: Development) -> None:
    table = development.gateway.table
    for session in table:
        table.end(session)


def _forget(development: Development) -> None:
    _end_sessions(development)  # of those who came back while the erasure waited for its turn
    development.core.guild_states.forget_all()
    development.http_faults.clear()
    development.gateway.admission.reset()
    development.gateway.commands.forget()
    development.limiter.clear()
    development.areas.messages.sending.forget_recent()
    development.areas.threads.threads.forget_recent()
    development.areas.signing_in.sign_ins.forget_uses()
    development.areas.administration.admin_api_keys.forget_uses()
    development.address_bans.forget_all()
    development.areas.administration.blocklists.forget_all()
    for forget in development.forget:
        forget()
    development.clock.set_back()
    development.core.snowflakes.set_back()
    development.core.snowflakes.stay_above(last_id(development.core.database.reader))
