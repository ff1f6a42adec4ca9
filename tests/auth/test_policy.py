"""Who may call an operation: every policy against every kind of caller."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import pytest

from chat.auth.credentials import AMBIGUOUS, Credential
from chat.auth.policy import Policy, admit
from chat.auth.principal import CredentialKind, Principal
from chat.errors import ApiError
from chat.registries.acls import Acl
from chat.registries.error_codes import ErrorCode
from chat.registries.scopes import Scope
from chat.store.accounts.accounts import Account

PERSON = Account(id=1, username="alice", discriminator=1)
ROBOT = Account(id=2, username="robot", discriminator=1, bot=True)

SESSION = Principal(PERSON, CredentialKind.SESSION, session_id_hash="hash")
BOT = Principal(ROBOT, CredentialKind.BOT, application_id=2)
OAUTH2 = Principal(PERSON, CredentialKind.OAUTH2, scopes=frozenset({Scope.GUILDS}))
ADMIN_KEY = Principal(PERSON, CredentialKind.ADMIN_KEY)

CALLERS = {"nobody": None, "session": SESSION, "bot": BOT, "oauth2": OAUTH2, "admin key": ADMIN_KEY}


def outcome(policy: Policy, caller: Principal | None, **options: object) -> str:
    """`admitted`, or the code of the refusal."""
    return outcome_of(policy, None if caller is None else Credential(caller.kind, "token"), caller, **options)


def outcome_of(policy: Policy, credential: Credential | None, caller: Principal | None, **options: object) -> str:
    try:
        admit(policy, credential, caller, **options)  # type: ignore[arg-type]
    except ApiError as refused:
        return refused.code
    return "admitted"


TABLE = [
    #  policy,           nobody,         session,        bot,             oauth2,          admin key
    (Policy.NONE, "admitted", "admitted", "admitted", "admitted", "admitted"),
    (Policy.USER, "UNAUTHORIZED", "admitted", "admitted", "ACCESS_DENIED", "UNAUTHORIZED"),
    (Policy.USER_ONLY, "UNAUTHORIZED", "admitted", "ACCESS_DENIED", "ACCESS_DENIED", "UNAUTHORIZED"),
    (Policy.BOT, "UNAUTHORIZED", "ACCESS_DENIED", "admitted", "ACCESS_DENIED", "UNAUTHORIZED"),
    (Policy.OAUTH2, "UNAUTHORIZED", "UNAUTHORIZED", "UNAUTHORIZED", "admitted", "UNAUTHORIZED"),
    (Policy.OWN_APPLICATION, "UNAUTHORIZED", "INVALID_TOKEN", "admitted", "INVALID_TOKEN", "INVALID_TOKEN"),
    (Policy.THREADS, "NOT_FOUND", "NOT_FOUND", "admitted", "NOT_FOUND", "NOT_FOUND"),
    (Policy.ADMIN, "UNAUTHORIZED", "MISSING_PERMISSIONS", "UNAUTHORIZED", "ACCESS_DENIED", "MISSING_PERMISSIONS"),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0].value)
def test_every_policy_against_every_caller(row: tuple[Policy, str, str, str, str, str]) -> None:
    policy, *expected = row
    assert [outcome(policy, caller) for caller in CALLERS.values()] == expected


@pytest.mark.parametrize("policy", [Policy.USER, Policy.USER_ONLY, Policy.OAUTH2])
def test_an_access_token_enters_with_the_scope_that_the_operation_names(policy: Policy) -> None:
    assert outcome(policy, OAUTH2, scope=Scope.GUILDS) == "admitted"


@pytest.mark.parametrize("policy", [Policy.USER, Policy.OAUTH2])
def test_without_the_scope_it_is_told_which_one_it_lacks(policy: Policy) -> None:
    with pytest.raises(ApiError) as refused:
        admit(policy, Credential(CredentialKind.OAUTH2, "token"), OAUTH2, scope=Scope.IDENTIFY)
    assert refused.value.code == "MISSING_OAUTH_SCOPE"
    assert refused.value.status == 403
    assert refused.value.members == {"required_scope": "identify"}


def test_a_session_needs_no_scope_where_both_are_taken() -> None:
    assert outcome(Policy.USER, SESSION, scope=Scope.IDENTIFY) == "admitted"


def test_an_operation_may_have_a_code_of_its_own_for_bots() -> None:
    assert outcome(Policy.NONE, BOT, bots_refused_with=ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED) == (
        "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED"
    )
    assert outcome(Policy.NONE, SESSION, bots_refused_with=ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED) == "admitted"
    assert (
        outcome(Policy.USER_ONLY, BOT, bots_refused_with=ErrorCode.BOTS_CANNOT_CREATE_GUILDS)
        == "BOTS_CANNOT_CREATE_GUILDS"
    )


@pytest.mark.parametrize(
    ("credential", "expected"),
    [
        (None, "INVALID_AUTH_TOKEN"),
        (AMBIGUOUS, "INVALID_AUTH_TOKEN"),
        (Credential(CredentialKind.BOT, None), "INVALID_AUTH_TOKEN"),
        (Credential(CredentialKind.BOT, "cht_" + "1" * 36), "INVALID_AUTH_TOKEN"),
        (Credential(CredentialKind.SESSION, "1.secret"), "INVALID_AUTH_TOKEN"),
        (Credential(CredentialKind.OAUTH2, "1.secret"), "INVALID_AUTH_TOKEN"),
        (Credential(CredentialKind.BOT, "1.secret"), "admitted"),
    ],
)
def test_the_gateway_address_asks_for_the_form_of_a_bot_token_only(credential: Credential, expected: str) -> None:
    assert outcome_of(Policy.GATEWAY_BOT, credential, None) == expected


@pytest.mark.parametrize("credential", [None, AMBIGUOUS, Credential(CredentialKind.BOT, None)])
def test_the_own_application_tells_a_wrong_scheme_from_a_wrong_token(credential: Credential | None) -> None:
    with pytest.raises(ApiError, match="UNAUTHORIZED"):
        admit(Policy.OWN_APPLICATION, credential, None)
    with pytest.raises(ApiError, match="INVALID_TOKEN"):
        admit(Policy.OWN_APPLICATION, Credential(CredentialKind.SESSION, None), None)


# Threads


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (CredentialKind.SESSION, "admitted"),
        (CredentialKind.OAUTH2, "NOT_FOUND"),
        (CredentialKind.ADMIN_KEY, "NOT_FOUND"),
    ],
)
def test_the_declaration_counts_with_a_session_only(kind: CredentialKind, expected: str) -> None:
    declared = Principal(PERSON, kind, capabilities=frozenset({"channel_threads"}))
    assert outcome(Policy.THREADS, declared) == expected


# Administrators


def administrator(*acls: str, key: Iterable[str] | None = None, **members: object) -> Principal:
    kind = CredentialKind.SESSION if key is None else CredentialKind.ADMIN_KEY
    key_acls = None if key is None else frozenset(key)
    return Principal(attrs.evolve(PERSON, acls=acls), kind, key_acls=key_acls, **members)  # type: ignore[arg-type]


ONE_OF_TWO = [frozenset({Acl.APPLICATION_LOOKUP, Acl.APPLICATION_LIST_BY_OWNER})]
BOTH = [frozenset({Acl.USER_LOOKUP}), frozenset({Acl.USER_VIEW_EMAIL})]


@pytest.mark.parametrize(
    ("caller", "acls", "expected"),
    [
        (administrator("admin:authenticate"), [], "admitted"),
        (administrator("*"), BOTH, "admitted"),
        (administrator("user:lookup", "user:view:email"), BOTH, "MISSING_PERMISSIONS"),
        (administrator("admin:authenticate", "user:lookup"), BOTH, "MISSING_ACL"),
        (administrator("admin:authenticate", "user:lookup", "user:view:email"), BOTH, "admitted"),
        (administrator("admin:authenticate", "application:list:by_owner"), ONE_OF_TWO, "admitted"),
        (administrator("admin:authenticate", "application:lookup"), ONE_OF_TWO, "admitted"),
        (administrator("admin:authenticate", "user:lookup"), ONE_OF_TWO, "MISSING_ACL"),
        (administrator("*", key=["*"]), BOTH, "admitted"),
        (administrator("*", key=["user:lookup", "user:view:email"]), BOTH, "MISSING_ACL"),
        (administrator("*", key=["admin:authenticate", "user:lookup"]), BOTH, "MISSING_ACL"),
        (administrator("admin:authenticate", "user:lookup", key=["*"]), BOTH, "MISSING_ACL"),
        (administrator("user:lookup", key=["*"]), [], "MISSING_PERMISSIONS"),
        # Of two that would do, one has to be the owner's and the key's.
        (
            administrator(
                "admin:authenticate", "application:lookup", key=["admin:authenticate", "application:list:by_owner"]
            ),
            ONE_OF_TWO,
            "MISSING_ACL",
        ),
    ],
)
def test_what_an_administrator_needs(caller: Principal, acls: list[frozenset[Acl]], expected: str) -> None:
    assert outcome(Policy.ADMIN, caller, acls=acls) == expected


@pytest.mark.parametrize(("is_admin_application", "expected"), [(False, "ACCESS_DENIED"), (True, "admitted")])
def test_an_access_token_is_the_admin_application_s(is_admin_application: bool, expected: str) -> None:
    account = attrs.evolve(PERSON, acls=("*",))
    bearer = Principal(account, CredentialKind.OAUTH2, is_admin_application=is_admin_application)
    assert outcome(Policy.ADMIN, bearer, acls=BOTH) == expected
