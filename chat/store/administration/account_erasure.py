"""Deletes one account's rows in portions; `chat.domain.administration.account_erasure` says in which order.

Only what no other account has a part in is here. What others are told of (memberships, groups, relationships) goes the
way that it goes whenever it ends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

from chat.classes import frozen
from chat.registries.user_flags import UserFlag
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.connections import merge_index

AT_ONCE: Final = 500
"""Rows that one portion deletes at most."""


@frozen
class OwnRows:
    """Rows of a table that are an account's: those that hold its id in `column`. `key` is the primary key."""

    table: str
    key: tuple[str, ...]
    column: str = "user_id"
    condition: str = "TRUE"


CREDENTIALS: Final = (
    OwnRows("auth_sessions", ("token_hash",)),
    OwnRows("oauth2_grants", ("id",)),  # and their tokens
    OwnRows("admin_api_keys", ("id",), "owner_id"),
    OwnRows("tickets", ("secret_hash",)),
    OwnRows("email_tokens", ("token_hash",)),
    OwnRows("recovery_kits", ("user_id",)),
    OwnRows("sso_identities", ("issuer", "subject")),
    OwnRows("webauthn_credentials", ("credential_id",)),
    OwnRows("backup_codes", ("user_id", "position")),
    OwnRows("used_totp_codes", ("user_id", "step")),
)
"""Rows with which a client could still sign in. They are deleted all at once, together with the account's password; an
account has few of them."""

OWN_ROWS: Final = (
    OwnRows("ended_auth_sessions", ("token_hash",)),
    OwnRows("authorized_addresses", ("user_id", "network")),
    OwnRows("push_subscriptions", ("id",)),
    OwnRows("retained_sessions", ("session_id",)),
    OwnRows("pending_registrations", ("user_id",)),
    OwnRows("account_changes", ("id",)),
    OwnRows("kept_timeouts", ("guild_id", "user_id")),
    OwnRows("thread_members", ("thread_id", "user_id")),
    OwnRows("user_settings", ("user_id",)),
    OwnRows("user_guild_settings", ("user_id", "guild_id")),
    OwnRows("notification_words", ("user_id",)),
    OwnRows("settings_due", ("user_id", "setting")),
    OwnRows("errand_accounts", ("errand_id", "user_id")),
    OwnRows("user_notes", ("user_id", "target_id")),
    OwnRows("read_states", ("user_id", "channel_id")),
    OwnRows("mentions_read", ("user_id",)),
    OwnRows("dismissed_mentions", ("user_id", "message_id")),
    OwnRows("here_mentions", ("user_id", "message_id")),
    OwnRows("uncounted_messages", ("user_id", "message_id")),
    OwnRows("saved_messages", ("user_id", "message_id")),
    OwnRows("favorite_memes", ("id",)),  # and their files
    OwnRows("archives", ("id",), "subject_id", "subject_type = 'user' AND requested_by = subject_id"),  # ordered by it
    OwnRows("claim_requests", ("guild_id", "claimant_id"), "claimant_id"),
    OwnRows("brought_exports", ("id",)),
    OwnRows("drafts", ("user_id", "channel_id")),
    OwnRows("interactions", ("id",)),  # and the answers that it alone saw
    OwnRows("poll_votes", ("message_id", "answer_id", "user_id")),
    OwnRows("reminders", ("user_id", "message_id")),
    OwnRows("scheduled_messages", ("id",)),  # and their files
    OwnRows("attachments", ("id",), condition="message_id IS NULL"),  # what was uploaded for messages to come
    OwnRows("assets", ("kind", "owner_id", "hash"), "owner_id", "kind IN ('avatars', 'banners')"),
)
"""Everything else that is the account's alone."""


def delete_credentials(connection: sqlite3.Connection, user_id: int) -> None:
    """Delete everything with which a person or a program could come in as this account."""
    for rows in CREDENTIALS:
        connection.execute(f"DELETE FROM {rows.table} WHERE {rows.column} = ?", (user_id,))  # noqa: S608 - our own names
    connection.execute(
        "UPDATE applications SET bot_token_hash = NULL, bot_token_preview = NULL, bot_token_created_at = NULL"
        " WHERE bot_user_id = ?",
        (user_id,),
    )


def has_credentials(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether there is anything that `delete_credentials` deletes."""
    row = connection.execute(
        "SELECT 1 FROM applications WHERE bot_user_id = ? AND bot_token_hash IS NOT NULL", (user_id,)
    ).fetchone()
    return row is not None or _any(connection, CREDENTIALS, user_id)


def has_own_rows(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether there is anything that `delete_own_rows` deletes."""
    row = connection.execute("SELECT 1 FROM store_purchases WHERE user_id = ? LIMIT 1", (user_id,)).fetchone()
    return row is not None or _any(connection, OWN_ROWS, user_id)


def delete_own_rows(connection: sqlite3.Connection, user_id: int, limit: int = AT_ONCE) -> None:
    """Delete up to `limit` rows of the account. What was paid for in app stores stays in the books."""
    connection.execute(
        "UPDATE store_purchases SET user_id = NULL, account_token = NULL, gift_code = NULL WHERE user_id = ?",
        (user_id,),
    )
    left = limit
    for rows in OWN_ROWS:
        key = ", ".join(rows.key)
        left -= connection.execute(
            f"""
            DELETE FROM {rows.table}
             WHERE ({key}) IN (
                   SELECT {key} FROM {rows.table} WHERE {rows.column} = ? AND {rows.condition} LIMIT ?)
            """,  # noqa: S608 - our own names
            (user_id, max(0, left)),
        ).rowcount


def _any(connection: sqlite3.Connection, tables: Iterable[OwnRows], user_id: int) -> bool:
    looks = (
        connection.execute(
            f"SELECT 1 FROM {rows.table} WHERE {rows.column} = ? AND {rows.condition} LIMIT 1",  # noqa: S608
            (user_id,),
        )
        for rows in tables
    )
    return any(look.fetchone() is not None for look in looks)


def delete_mails(connection: sqlite3.Connection, account: Account) -> None:
    """Delete the mails to the account's address, kept ones and those that wait, unless another account has it too."""
    if account.email is None:
        return
    if all(holder.id == account.id for holder in accounts.of_address(connection, account.email)):
        connection.execute("DELETE FROM mails WHERE recipient = ?", (account.email,))
        connection.execute("DELETE FROM mail_outbox WHERE recipient = ?", (account.email,))


def is_anything_left(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether the account is in or has what others are told of."""
    looks = (owned_guild, a_guild, a_group, an_application)
    return any(look(connection, user_id) is not None for look in looks) or bool(related(connection, user_id, 1))


def owned_guild(connection: sqlite3.Connection, user_id: int) -> int | None:
    """A guild that the account owns."""
    return _one(connection, "SELECT id FROM guilds WHERE owner_id = ? ORDER BY id LIMIT 1", user_id)


def a_guild(connection: sqlite3.Connection, user_id: int) -> int | None:
    """A guild that the account is a member of."""
    return _one(connection, "SELECT guild_id FROM members WHERE user_id = ? ORDER BY guild_id LIMIT 1", user_id)


def a_group(connection: sqlite3.Connection, user_id: int) -> int | None:
    """A group that the account is in."""
    return _one(
        connection,
        "SELECT channel_id FROM private_channel_recipients WHERE user_id = ? AND is_group = 1 LIMIT 1",
        user_id,
    )


def an_application(connection: sqlite3.Connection, user_id: int) -> tuple[int, int | None] | None:
    """An application that the account owns, with the id of its bot account."""
    row = connection.execute(
        "SELECT id, bot_user_id FROM applications WHERE owner_id = ? ORDER BY id LIMIT 1", (user_id,)
    ).fetchone()
    return None if row is None else (row[0], row[1])


def forget_bot(connection: sqlite3.Connection, bot_user_id: int) -> None:
    """Leave an application without its bot account."""
    connection.execute("UPDATE applications SET bot_user_id = NULL WHERE bot_user_id = ?", (bot_user_id,))


def related(connection: sqlite3.Connection, user_id: int, limit: int) -> list[tuple[int, bool]]:
    """Up to `limit` accounts that this one has something with, or that have something with it; and whether it is they
    alone who have."""
    rows = connection.execute(
        """
        SELECT target_id, FALSE FROM relationships WHERE user_id = ?1
         UNION ALL
        SELECT user_id, TRUE FROM relationships WHERE target_id = ?1
         LIMIT ?2
        """,
        (user_id, limit),
    )
    return [(other_id, bool(theirs)) for other_id, theirs in rows]


def authors_of_notes_about(connection: sqlite3.Connection, user_id: int, limit: int) -> list[int]:
    """Up to `limit` accounts that noted something about this one."""
    rows = connection.execute("SELECT user_id FROM user_notes WHERE target_id = ? LIMIT ?", (user_id, limit))
    return [author_id for (author_id,) in rows]


def conversations(connection: sqlite3.Connection, user_id: int, limit: int) -> list[tuple[int, bool]]:
    """Up to `limit` conversations of two that the account is in and that something is to be done about: it has made
    something of them (`hide_conversation`), or the other one is gone too. And whether the other one is there still."""
    rows = connection.execute(
        """
        SELECT channel_id, is_left_to_other
          FROM (SELECT own.channel_id AS channel_id,
                       own.is_shown OR own.pin_position IS NOT NULL OR own.nick IS NOT NULL AS is_made_of,
                       EXISTS (SELECT 1
                                 FROM private_channel_recipients AS other JOIN users ON users.id = other.user_id
                                WHERE other.channel_id = own.channel_id AND other.user_id <> ?1
                                  AND NOT users.flags & ?3) AS is_left_to_other
                  FROM private_channel_recipients AS own
                 WHERE own.user_id = ?1 AND own.is_group = 0)
         WHERE is_made_of OR NOT is_left_to_other
         LIMIT ?2
        """,
        (user_id, limit, int(UserFlag.DELETED)),
    )
    return [(channel_id, bool(is_there)) for channel_id, is_there in rows]


def hide_conversation(connection: sqlite3.Connection, channel_id: int, user_id: int) -> None:
    """Keep nothing of what the account made of a conversation; the other one still has it."""
    connection.execute(
        """
        UPDATE private_channel_recipients SET is_shown = 0, pin_position = NULL, nick = NULL
         WHERE channel_id = ? AND user_id = ?
        """,
        (channel_id, user_id),
    )


def part(connection: sqlite3.Connection, channel_id: int) -> None:
    """A conversation is that of two accounts no longer."""
    connection.execute("DELETE FROM direct_messages WHERE channel_id = ?", (channel_id,))


SEARCH_PAGES: Final = 200
"""Pages of the index of accounts that one portion rewrites."""


def merge_search_index(connection: sqlite3.Connection, *, first: bool) -> bool:
    """Rewrite a portion of the index of accounts, so that the words of deleted entries leave it; whether there is more
    to do. The `first` portion takes all of the index on (SQLite, FTS5, the merge command)."""
    return merge_index(connection, "account_search", -SEARCH_PAGES if first else SEARCH_PAGES)


def _one(connection: sqlite3.Connection, query: str, *parameters: Any) -> int | None:
    row: Sequence[int] | None = connection.execute(query, parameters).fetchone()
    return None if row is None else row[0]
