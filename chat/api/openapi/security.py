"""The credentials as OpenAPI tells of them: which there are, and which an operation takes (access.md, Credential
forms)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from chat.api.operation import Operation
from chat.auth.policy import Policy
from chat.registries.scopes import ADMIN_SCOPE, Scope

SESSION: Final = "session"
BOT: Final = "bot"
OAUTH2: Final = "oauth2"
ADMIN_KEY: Final = "adminKey"
CLIENT: Final = "oauth2Client"

Requirement = dict[str, list[str]]

_SCOPES: Final[Mapping[str, str]] = {
    Scope.IDENTIFY.value: "Read the account without its email address.",
    Scope.EMAIL.value: "Read the account's email address too.",
    Scope.GUILDS.value: "List and read the account's guilds.",
    Scope.CONNECTIONS.value: "List the account's connections.",
    Scope.BOT.value: "Add the application's bot to a guild.",
    ADMIN_SCOPE: "Use the administrative API; for the built-in Admin application only.",
}


def security_schemes(origin: str) -> dict[str, Any]:
    """Every form of credential, for an instance at this origin."""
    return {
        SESSION: _header("A session token as it is (`cht_` and 36 characters), or behind `Bearer `."),
        BOT: _header("`Bot ` and a bot token, exactly in this spelling."),
        ADMIN_KEY: _header("`Admin ` and an admin API key (`cha_…`); below `/v1/admin` only."),
        CLIENT: {
            "type": "http",
            "scheme": "basic",
            "description": "An application's id and client secret, each form-encoded (RFC 6749 2.3.1).",
        },
        OAUTH2: {
            "type": "oauth2",
            "description": "`Bearer ` and an access token.",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{origin}/v1/oauth2/authorize",
                    "tokenUrl": f"{origin}/v1/oauth2/token",
                    "refreshUrl": f"{origin}/v1/oauth2/token",
                    "scopes": dict(_SCOPES),
                }
            },
        },
    }


def _header(description: str) -> dict[str, str]:
    return {"type": "apiKey", "in": "header", "name": "Authorization", "description": description}


def security_of(operation: Operation) -> list[Requirement]:
    """The credentials that the operation takes, any of which will do; an empty one where none is needed."""
    return list(_requirements(operation))


def _requirements(operation: Operation) -> Iterator[Requirement]:
    match operation.policy:
        case Policy.URL:
            yield {}
        case Policy.NONE:
            yield {}
            if operation.client_credentials:
                yield {CLIENT: []}
            elif operation.bots_refused_with is None:
                yield {SESSION: []}
                yield {BOT: []}
        case Policy.USER | Policy.THREADS:
            yield {SESSION: []}
            if operation.bots_refused_with is None:
                yield {BOT: []}
        case Policy.USER_ONLY:
            yield {SESSION: []}
        case Policy.BOT | Policy.GATEWAY_BOT | Policy.OWN_APPLICATION:
            yield {BOT: []}
        case Policy.ADMIN:
            yield {SESSION: []}
            yield {OAUTH2: [ADMIN_SCOPE]}
            yield {ADMIN_KEY: []}
        case Policy.OAUTH2:
            yield {OAUTH2: [] if operation.scope is None else [operation.scope.value]}
    if operation.scope is not None and operation.policy is not Policy.OAUTH2:
        yield {OAUTH2: [operation.scope.value]}
