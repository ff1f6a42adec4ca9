"""Callers that need not be looked up again: what a session or bot token stood for, while nothing has changed about it.

Before a caller is taken from memory the store is asked whether anything was committed since, and if so which accounts
changed (`caller_changes`, which triggers of the schema write): their callers are forgotten. So what ends or changes a
credential holds from the very next request on, wherever it was committed: by an operation, a job, or the command line
in another process. Only credentials that nothing but a commit ends are remembered; access tokens and admin API keys
end with time as well. A credential that stood for nothing is looked up each time, and takes as long as ever.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from chat.auth.credentials import Credential, resolve
from chat.auth.principal import CredentialKind, Principal
from chat.store.accounts.caller_changes import Follower

CALLERS_MAXIMUM: Final = 4_096
"""Callers in memory (some 2 KB each); the one that came first goes for another."""

ENDED_BY_COMMITS: Final = frozenset({CredentialKind.SESSION, CredentialKind.BOT})
"""Credentials that nothing but a commit ends."""

_Key = tuple[CredentialKind | None, str | None]


class RememberedCallers:
    """The memory of one server. `reader` is a connection that never writes."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._reader = reader
        self._callers: dict[_Key, Principal] = {}
        self._of_account: dict[int, set[_Key]] = {}
        self._changes = Follower(reader)

    def __len__(self) -> int:
        """How many callers are remembered."""
        return len(self._callers)

    def resolve(
        self, credential: Credential | None, now_ms: int, capabilities: frozenset[str] = frozenset()
    ) -> Principal | None:
        """As `chat.auth.credentials.resolve`, on what is committed by now."""
        self._catch_up()
        if credential is None or credential.kind not in ENDED_BY_COMMITS:
            return resolve(self._reader, credential, now_ms, capabilities)
        key = (credential.kind, credential.token)
        caller = self._callers.get(key)
        if caller is None or (caller.capabilities != capabilities and caller.kind is CredentialKind.SESSION):
            caller = resolve(self._reader, credential, now_ms, capabilities)
            if caller is not None:
                self._remember(key, caller)
        return caller

    def _catch_up(self) -> None:
        """Forget the callers that have changed."""
        changed = self._changes.changed()
        if changed is None:
            self._forget_all()
        else:
            for user_id in changed:
                self._forget(user_id)

    def start_anew(self) -> None:
        """Forget everybody, where the changes themselves were taken back or erased (`/v1/_dev/reset`)."""
        self._forget_all()
        self._changes.start_anew()

    def _forget_all(self) -> None:
        self._callers.clear()
        self._of_account.clear()

    def _remember(self, key: _Key, caller: Principal) -> None:
        while len(self._callers) >= CALLERS_MAXIMUM:
            oldest = next(iter(self._callers))
            self._forget(self._callers[oldest].user_id)
        self._callers[key] = caller
        self._of_account.setdefault(caller.user_id, set()).add(key)

    def _forget(self, user_id: int) -> None:
        for key in self._of_account.pop(user_id, ()):
            del self._callers[key]
