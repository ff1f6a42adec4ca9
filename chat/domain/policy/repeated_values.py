"""What a change merely repeats (guilds.md, Modify guild).

Clients send whole forms, of which people change one field. Where a change is judged before a slow step, somebody else
may change another field meanwhile, and the form would undo that. So what is the same as what was known when the change
was judged is no wish.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def without_repeated(known: object, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the columns that are to be different from what was known."""
    return {name: value for name, value in columns.items() if getattr(known, name) != value}
