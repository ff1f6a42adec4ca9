"""Which scopes an authorisation asks for, and which it can get (applications.md, Scopes)."""

from __future__ import annotations

import re
from typing import Final

from chat.domain.applications.oauth2_errors import invalid_scope
from chat.registries.built_in_applications import ADMIN_APPLICATION_ID
from chat.registries.scopes import ADMIN_SCOPE, SCOPES, Scope

_SEPARATORS: Final = re.compile(r"[\s+]+")


def scopes_of(application_id: int) -> tuple[str, ...]:
    """Every scope that the application can be granted, in registry order: `admin` is for the built-in one alone,
    which has no bot."""
    if application_id == ADMIN_APPLICATION_ID:
        return (*(scope.value for scope in SCOPES if scope is not Scope.BOT), ADMIN_SCOPE)
    return tuple(scope.value for scope in SCOPES)


def requested_scopes(text: str | None, application_id: int) -> tuple[str, ...]:
    """The scopes in a `scope` parameter, each once, in registry order.

    :raises OAuth2Error: invalid_scope for none at all, and for one that this application cannot be granted.
    """
    asked = {name for name in _SEPARATORS.split(text or "") if name}
    known = scopes_of(application_id)
    if not asked or not asked.issubset(known):
        raise invalid_scope()
    return tuple(name for name in known if name in asked)
