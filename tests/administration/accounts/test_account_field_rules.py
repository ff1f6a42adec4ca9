"""The operations that change one group of an account's fields, rule by rule (document 002).

Area: administration. Rules: 002.acls, 002.bot-status, 002.change-log-object, 002.conventions, 002.dob, 002.email,
002.email-verification, 002.events, 002.flags-op, 002.password-reset, 002.premium-flags, 002.profile-field-list,
002.profile-fields, 002.states, 002.system-status, 002.traits, 002.user-object, 002.username, 002.verification-email.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.domain.administration.account_fields import changed_bits
from chat.registries.user_flags import UserFlag
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.spec.ledger import cases_of, proves

NO_TAGS = pytest.mark.chat_settings(tag_style="none")
INVALID = (400, "INVALID_FORM_BODY")


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> Asking:
    return Asking(chat_server, chat_world)


async def nothing_more(*clients: Any) -> None:
    """No dispatch is left for these clients."""
    for client in clients:
        await client.expect_silence(1)


# Username


@pytest.mark.chat_settings(service_name="My Place!")
@pytest.mark.parametrize(
    "body",
    [
        *cases_of(
            "002.username.3",
            {},
            {"username": None},
            {"username": 5},
            {"username": ""},
            {"username": "   "},
            {"username": "x" * 33},
        ),
        *cases_of("002.username.4", {"username": "two words"}, {"username": "dots.too"}, {"username": "ünïcode"}),
        *cases_of("002.username.5", {"username": "everyone"}, {"username": "HERE"}),
        *cases_of("002.username.6", {"username": "the_MyPlace_bot"}, {"username": "System_Message"}),
        *cases_of(
            "002.username.7",
            {"username": "bob", "discriminator": "12345"},
            {"username": "bob", "discriminator": "1a"},
            {"username": "bob", "discriminator": 7},
            {"username": "bob", "discriminator": "-1"},
        ),
    ],
    ids=str,
)
async def test_usernames_that_nobody_can_have(ask: Asking, autojump_clock: MockClock, body: dict[str, Any]) -> None:
    assert (await ask.refused("PATCH", "/username", body))[:2] == INVALID
    assert (await ask.shown())["username"] == "bob"


@pytest.mark.parametrize("name", ["x", "y" * 32, "  trimmed  ", "everyone_", "here2", "A_1"])
async def test_usernames_that_somebody_can_have(ask: Asking, autojump_clock: MockClock, name: str) -> None:
    with proves("002.username.14"):
        user = await ask.user("PATCH", "/username", {"username": name})
    with proves("002.username.3", "002.username.5"):
        assert user["username"] == name.strip()
    with proves("002.username.10"):
        assert 1 <= user["discriminator"] <= 9999


@pytest.mark.rule("002.username.8", "002.username.24")
async def test_a_discriminator_of_choice_where_everyone_has_premium(ask: Asking, autojump_clock: MockClock) -> None:
    user = await ask.user("PATCH", "/username", {"username": "bob", "discriminator": "0042"})
    assert user["discriminator"] == 42
    [entry] = ask.entries("change_username")
    assert entry.metadata["discriminator"] == "42"


@pytest.mark.rule("002.username.9", "002.username.10")
@pytest.mark.chat_settings(premium_mode="none")
async def test_a_discriminator_by_lot_elsewhere(ask: Asking, autojump_clock: MockClock) -> None:
    before = await ask.shown()
    user = await ask.user("PATCH", "/username", {"username": "robert", "discriminator": "0042"})
    assert user["discriminator"] != 42 or before["discriminator"] == 42
    # Where the limit resolves above zero for the target, which by default it does with premium.
    await ask.set(premium_type=1)
    user = await ask.user("PATCH", "/username", {"username": "robert", "discriminator": "0042"})
    assert user["discriminator"] == 42


@pytest.mark.rule("002.username.9")
@pytest.mark.chat_settings(
    self_hosted=False, **{"limits.feature_custom_discriminator": 0, "limits.feature_custom_discriminator_premium": 0}
)
async def test_a_discriminator_by_lot_on_an_instance_of_many(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(premium_type=1)
    numbers = set()
    for number in ("0042", "0043"):
        user = await ask.user("PATCH", "/username", {"username": f"robert_{number}", "discriminator": number})
        numbers.add((number, user["discriminator"]))
    assert numbers != {("0042", 42), ("0043", 43)}


@pytest.mark.rule("002.username.15")
async def test_a_tag_that_is_taken(ask: Asking, autojump_clock: MockClock) -> None:
    alice = Asking(ask.server, ask.world, ask.world.alice.id)
    number = str((await alice.shown())["discriminator"])
    before = await ask.shown()
    wish = {"username": "ALICE", "discriminator": number}
    assert (await ask.refused("PATCH", "/username", wish))[:2] == (400, "TAG_ALREADY_TAKEN")
    assert (await ask.shown())["username"] == before["username"]


@NO_TAGS
async def test_without_discriminators(ask: Asking, autojump_clock: MockClock) -> None:
    with proves("002.username.11", "002.user-object.5"):
        assert (await ask.user("PATCH", "/username", {"username": "robert"}))["discriminator"] == 0
    with proves("002.username.11"):
        assert (await ask.user("PATCH", "/username", {"username": "rob", "discriminator": "0"}))["discriminator"] == 0
    with proves("002.username.12"):
        refused = await ask.refused("PATCH", "/username", {"username": "rob", "discriminator": "7"})
        assert refused == (*INVALID, "DISCRIMINATOR_NOT_SUPPORTED_ON_INSTANCE")
    with proves("002.username.13"):
        assert await ask.refused("PATCH", "/username", {"username": "aLiCe"}) == (*INVALID, "USERNAME_ALREADY_TAKEN")


async def test_whoever_sees_the_account_hears_its_new_name(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    before = await ask.shown()
    bob, alice = await world.bob.connect(), await world.alice.connect()
    user = await ask.user("PATCH", "/username", {"username": "robert"})
    with proves("002.username.19"):
        assert (await bob.expect("USER_UPDATE")).data["username"] == "robert"
    with proves("002.username.20"):
        for client in (bob, alice):
            event = await client.expect("GUILD_MEMBER_UPDATE")
            assert (event.data["guild_id"], event.data["user"]["username"]) == (world.guild_id, "robert")
    with proves("002.events.1"):
        await nothing_more(alice, bob)  # the account's own sessions alone get User Update

    with proves("002.change-log-object.10"):
        [entry] = await ask.change_log()
    with proves("002.change-log-object.3", "002.username.22"):
        assert entry["field"] == "service_tag"
        assert entry["old_value"] == f"bob#{before['discriminator']:04}"
        assert entry["new_value"] == f"robert#{user['discriminator']:04}"
    with proves("002.change-log-object.6", "002.change-log-object.7", "002.username.22"):
        assert (entry["reason"], entry["actor_user_id"]) == ("admin_action", world.admin.id)
    with proves("002.username.23"):
        [logged] = ask.entries("change_username")
        assert logged.metadata == {
            "old_username": "bob",
            "new_username": "robert",
            "discriminator": str(user["discriminator"]),
        }


# Address


@pytest.mark.rule("002.email.3", "002.email.4")
@pytest.mark.parametrize("email", [None, 5, "", "bob", "bob@", "@example.com", "a b@example.com", "b" * 250 + "@e.com"])
async def test_addresses_that_are_none(ask: Asking, autojump_clock: MockClock, email: Any) -> None:
    assert (await ask.refused("PATCH", "/email", {"email": email}))[:2] == INVALID
    assert (await ask.refused("PATCH", "/email", {}))[:2] == INVALID


async def test_a_new_address_is_unverified_and_nobody_is_written_to(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.set(email_bounced=True)
    bob, alice = await world.bob.connect(), await world.alice.connect()
    with proves("002.email.5"):
        user = await ask.user("PATCH", "/email", {"email": " Alice@Example.com "})
    with proves("002.email.6", "002.email.7", "002.states.20"):
        assert (user["email"], user["email_verified"], user["email_bounced"]) == ("Alice@example.com", False, True)
    with proves("002.email.11"):
        assert (await bob.expect("USER_UPDATE")).data["id"] == world.bob.id
    with proves("002.email.12"):
        await nothing_more(alice, bob)
    with proves("002.email.10"):
        assert (await world.anyone.get("/v1/_dev/mail")).expect(200) == []
    with proves("002.email.13", "002.change-log-object.10"):
        [entry] = await ask.change_log()
    with proves("002.email.13"):
        assert (entry["field"], entry["old_value"], entry["new_value"]) == (
            "email",
            "bob@example.com",
            "Alice@example.com",
        )
        assert (entry["reason"], entry["actor_user_id"]) == ("admin_action", world.admin.id)


@pytest.mark.rule("002.email.14", "002.email.16", "002.conventions.7")
async def test_the_audit_log_has_both_addresses(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.user("PATCH", "/email", {"email": "new@example.com"})
    await ask.set(email=None)
    await ask.user("PATCH", "/email", {"email": "newer@example.com"})
    first, second = ask.entries("change_email")
    assert first.metadata == {"old_email": "bob@example.com", "new_email": "new@example.com"}
    assert second.metadata == {"old_email": "null", "new_email": "newer@example.com"}


async def test_an_address_is_declared_verified(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(email_verified=False, email_bounced=True)
    bob = await ask.world.bob.connect()
    for _ in range(2):
        with proves("002.email-verification.3", "002.email-verification.8"):
            user = await ask.user("PUT", "/email-verification")
        with proves(
            "002.email-verification.4", "002.email-verification.5", "002.email-verification.7", "002.states.21"
        ):
            assert (user["email_verified"], user["email_bounced"]) == (True, False)
        with proves("002.email-verification.11"):
            assert (await bob.expect("USER_UPDATE")).data["verified"] is True
    with proves("002.email-verification.12"):
        assert [entry.metadata for entry in ask.entries("verify_email")] == [{"email": "bob@example.com"}] * 2


@pytest.mark.rule("002.email-verification.6", "002.email-verification.12")
async def test_no_address_can_be_verified_too(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(email=None, email_verified=False)
    user = await ask.user("PUT", "/email-verification")
    assert (user["email"], user["email_verified"]) == (None, True)
    [entry] = ask.entries("verify_email")
    assert entry.metadata == {"email": "null"}


@pytest.mark.chat_settings(sign_in="username")
@pytest.mark.parametrize("known", [True, False])
async def test_where_people_sign_in_with_a_username_addresses_are_nobodys_business(
    ask: Asking, autojump_clock: MockClock, known: bool
) -> None:
    if not known:
        ask.user_id = "1234"
    for rule, method, path, body in (
        ("002.email.8", "PATCH", "/email", {"email": "a@example.com"}),
        ("002.email-verification.9", "PUT", "/email-verification", ...),
        ("002.verification-email.13", "POST", "/verification-email", ...),
        ("002.password-reset.10", "POST", "/password-reset", ...),
    ):
        with proves(rule if known else "002.conventions.14"):
            assert (await ask.refused(method, path, body))[:2] == (400, "EMAIL_UNAVAILABLE_ON_INSTANCE")


# Date of birth


@pytest.mark.rule("002.dob.3", "002.dob.4")
@pytest.mark.parametrize(
    "date",
    [None, 5, "", "1999-1-2", "1999-01-2", "1999/01/02", "1999-13-01", "1999-02-30", "1999-01-02T"],
)
async def test_dates_that_are_none(ask: Asking, autojump_clock: MockClock, date: Any) -> None:
    assert (await ask.refused("PATCH", "/date-of-birth", {"date_of_birth": date}))[:2] == INVALID
    assert (await ask.refused("PATCH", "/date-of-birth", {}))[:2] == INVALID


async def test_a_date_of_birth_is_set_and_changed(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(date_of_birth=None)
    bob = await ask.world.bob.connect()
    for date in ("1990-12-31", "2000-02-29"):
        with proves("002.dob.5"):
            assert (await ask.user("PATCH", "/date-of-birth", {"date_of_birth": date}))["date_of_birth"] == date
        with proves("002.dob.7"):
            await bob.expect("USER_UPDATE")
    with proves("002.dob.9", "002.dob.10"):
        assert [entry.metadata for entry in ask.entries("change_dob")] == [
            {"old_dob": "null", "new_dob": "1990-12-31"},
            {"old_dob": "1990-12-31", "new_dob": "2000-02-29"},
        ]
    with proves("002.dob.8"):
        assert await ask.change_log() == []


# Profile fields


@pytest.mark.rule("002.profile-fields.3", "002.profile-fields.4", "002.profile-field-list.1")
@pytest.mark.parametrize(
    "fields",
    [None, "bio", ["email"], ["accent_color"], ["bio", 5], ["username"], ["bio"] * 11, [None], ["Bio"], ["locale"]],
)
async def test_fields_that_are_not_cleared(ask: Asking, autojump_clock: MockClock, fields: Any) -> None:
    assert (await ask.refused("DELETE", "/profile-fields", {"fields": fields}))[:2] == INVALID
    assert (await ask.refused("DELETE", "/profile-fields", {}))[:2] == INVALID


@pytest.mark.parametrize(
    ("named", "seen"),
    [
        (["bio"], False),
        (["pronouns"], False),
        (["banner"], False),
        (["global_name"], True),
        (["avatar"], True),
        (["avatar", "banner", "bio", "pronouns", "global_name", "bio"], True),
    ],
    ids=str,
)
async def test_fields_named_go_and_others_stay(
    ask: Asking, autojump_clock: MockClock, named: list[str], seen: bool
) -> None:
    world = ask.world
    (await world.bob.rest.patch("/v1/users/@me", {"bio": "about me", "pronouns": "he"})).expect(200)
    await ask.set(global_name="Bobby", avatar="0123456789abcdef0123456789abcdef")
    before = await ask.shown()
    bob, alice = await world.bob.connect(), await world.alice.connect()
    with proves("002.profile-fields.7"):
        after = await ask.user("DELETE", "/profile-fields", {"fields": named})
    with proves("002.profile-fields.5", "002.profile-field-list.1"):
        assert after == before | dict.fromkeys(named)
    with proves("002.profile-fields.10"):
        assert (await bob.expect("USER_UPDATE")).data["id"] == world.bob.id
    if seen:
        with proves("002.profile-fields.11"):
            for client in (bob, alice):
                assert (await client.expect("GUILD_MEMBER_UPDATE")).data["user"]["id"] == world.bob.id
    with proves("002.profile-fields.12"):
        await nothing_more(alice, bob)
    with proves("002.profile-fields.13"):
        [entry] = ask.entries("clear_fields")
        assert entry.metadata == {"fields": ",".join(dict.fromkeys(named))}


@pytest.mark.rule("002.profile-fields.6", "002.profile-fields.14", "002.conventions.8")
async def test_an_empty_list_clears_nothing_and_is_kept(ask: Asking, autojump_clock: MockClock) -> None:
    before = await ask.shown()
    assert await ask.user("DELETE", "/profile-fields", {"fields": []}) == before
    [entry] = ask.entries("clear_fields")
    assert entry.metadata == {"fields": ""}


# Bots and the system


@pytest.mark.rule("002.bot-status.3", "002.system-status.3")
@pytest.mark.parametrize("value", [None, 1, "true", [], ...])
async def test_what_is_neither_true_nor_false(ask: Asking, autojump_clock: MockClock, value: Any) -> None:
    for path, name in (("/bot-status", "bot"), ("/system-status", "system")):
        body = {} if value is ... else {name: value}
        assert (await ask.refused("PUT", path, body))[:2] == INVALID


async def test_an_account_becomes_a_bot_the_systems_and_a_person_again(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    with proves("002.system-status.4"):
        refused = await ask.refused("PUT", "/system-status", {"system": True})
        assert refused == (*INVALID, "USER_MUST_BE_A_BOT_TO_BE_MARKED_AS_A_SYSTEM_USER")
    bob, alice = await world.bob.connect(), await world.alice.connect()

    async def step(path: str, body: dict[str, bool], *, seen: bool = True) -> tuple[bool, bool]:
        of_bot = path == "/bot-status"
        with proves("002.bot-status.5" if of_bot else "002.system-status.5"):
            user = await ask.user("PUT", path, body)
        with proves("002.bot-status.8" if of_bot else "002.system-status.7"):
            own = (await bob.expect("USER_UPDATE")).data
            assert (own["id"], own.get("bot", False), own.get("system", False)) == (
                world.bob.id,
                user["bot"],
                user["system"],
            )
        if seen:
            with proves("002.bot-status.9" if of_bot else "002.system-status.8"):
                shown = (await alice.expect("GUILD_MEMBER_UPDATE")).data["user"]
                assert (shown["id"], shown.get("bot", False)) == (world.bob.id, user["bot"])
        await nothing_more(alice)
        return user["bot"], user["system"]

    with proves("002.states.22"):
        assert await step("/bot-status", {"bot": True}) == (True, False)
    assert await step("/bot-status", {"bot": True}, seen=False) == (True, False)
    assert await step("/system-status", {"system": True}) == (True, True)
    with proves("002.bot-status.4", "002.states.23"):
        assert await step("/bot-status", {"bot": False}) == (False, False)
    assert await step("/system-status", {"system": False}, seen=False) == (False, False)
    with proves("002.bot-status.10", "002.bot-status.11", "002.system-status.9"):
        assert [entry.metadata for entry in audit_log(ask.server)] == [
            {"bot": "true"},
            {"bot": "true"},
            {"system": "true"},
            {"bot": "false"},
            {"system": "false"},
        ]


@pytest.mark.rule("002.bot-status.6", "002.states.22")
async def test_who_holds_an_acl_does_not_become_a_bot(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(acls=["user:lookup"])
    assert (await ask.refused("PUT", "/bot-status", {"bot": True}))[:2] == (403, "ACCESS_DENIED")
    await ask.user("PUT", "/bot-status", {"bot": False})
    await ask.user("PUT", "/acls", {"acls": []})
    assert (await ask.user("PUT", "/bot-status", {"bot": True}))["bot"] is True


# ACLs and traits


@pytest.mark.rule("002.acls.3", "002.acls.4")
@pytest.mark.parametrize(
    "acls", [None, "user:lookup", ["user:everything"], ["user:lookup", 1], ["user:lookup"] * 107, [""], ["USER:LOOKUP"]]
)
async def test_acls_that_there_are_not(ask: Asking, autojump_clock: MockClock, acls: Any) -> None:
    assert (await ask.refused("PUT", "/acls", {"acls": acls}))[:2] == INVALID
    assert (await ask.refused("PUT", "/acls", {}))[:2] == INVALID


async def test_acls_are_replaced_as_a_whole(ask: Asking, autojump_clock: MockClock) -> None:
    bob = await ask.world.bob.connect()
    wanted = ["user:temp_ban", "admin:authenticate", "user:lookup", "user:temp_ban"]
    with proves("002.acls.6", "002.acls.12", "002.user-object.30"):
        assert (await ask.user("PUT", "/acls", {"acls": wanted}))["acls"] == wanted[:3]
    with proves("002.acls.16"):
        await bob.expect("USER_UPDATE")
    with proves("002.acls.7"):
        assert (await ask.user("PUT", "/acls", {"acls": ["user:delete"]}))["acls"] == ["user:delete"]
    assert (await ask.user("PUT", "/acls", {"acls": []}))["acls"] == []
    with proves("002.acls.17", "002.acls.18"):
        assert [entry.metadata for entry in ask.entries("set_acls")] == [
            {"acls": "user:temp_ban,admin:authenticate,user:lookup"},
            {"acls": "user:delete"},
            {"acls": ""},
        ]


async def test_what_is_taken_away_is_gone_at_once_for_sessions_and_keys(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.set(acls=["*"])
    wish = {"name": "mine", "acls": ["admin:authenticate", "user:lookup"]}
    key = (await world.bob.rest.post("/v1/admin/api-keys", wish)).expect(200)["key"]

    async def reached(path: str) -> list[tuple[int, str | None]]:
        answers = [
            await world.bob.rest.get(path),
            await world.anyone.request("GET", path, headers={"Authorization": f"Admin {key}"}),
        ]
        return [(answer.status, answer.json().get("code")) for answer in answers]

    lookup, guilds = f"/v1/admin/users/{world.carol.id}", f"/v1/admin/users/{world.carol.id}/guilds"
    with proves("002.acls.11", "002.user-object.32"):
        assert await reached(lookup) == [(200, None)] * 2
    await ask.user("PUT", "/acls", {"acls": ["admin:authenticate", "user:list:guilds"]})
    with proves("002.acls.10"):
        assert await reached(lookup) == [(403, "MISSING_ACL")] * 2
        assert await reached(guilds) == [(200, None), (403, "MISSING_ACL")]
    await ask.user("PUT", "/acls", {"acls": ["user:lookup"]})
    with proves("002.acls.11"):
        assert await reached(lookup) == [(403, "MISSING_PERMISSIONS")] * 2
    await ask.set(flags=str(int(UserFlag.STAFF)))
    await ask.user("PUT", "/acls", {"acls": []})
    with proves("002.acls.8", "002.acls.9", "002.user-object.32"):
        assert await reached(lookup) == [(403, "MISSING_PERMISSIONS")] * 2
    await ask.user("PUT", "/acls", {"acls": ["admin:authenticate", "user:lookup"]})
    with proves("002.acls.11"):
        assert await reached(lookup) == [(200, None)] * 2


@pytest.mark.rule("002.acls.13", "002.acls.14", "002.acls.15")
async def test_nobody_grants_more_than_they_hold_nor_anything_to_themselves(
    ask: Asking, autojump_clock: MockClock
) -> None:
    world = ask.world
    held = ["admin:authenticate", "acl:set:user", "user:lookup"]
    await ask.set(acls=held)
    carol = Asking(ask.server, world, world.carol.id)
    await carol.set(acls=["user:delete"])

    async def wish(user_id: str, *acls: str) -> tuple[int, str | None]:
        answer = await world.bob.rest.put(f"/v1/admin/users/{user_id}/acls", {"acls": list(acls)})
        return answer.status, answer.json().get("code")

    assert await wish(world.bob.id, *held) == (403, "ACCESS_DENIED")
    assert await wish("1234", "user:delete", "guild:delete") == (404, "UNKNOWN_USER")
    assert await wish(world.carol.id, "user:delete", "user:lookup") == (
        200,
        None,
    )
    assert await wish(world.carol.id, "user:lookup") == (403, "ACCESS_DENIED")  # takes away what it does not hold
    assert await wish(world.carol.id, "user:delete", "guild:delete") == (403, "ACCESS_DENIED")
    assert await wish(world.carol.id, "user:delete") == (200, None)
    assert (await ask.refused("PUT", "/acls", {"acls": ["nothing"]}))[:2] == INVALID
    own = Asking(ask.server, world, world.admin.id)
    assert (await own.refused("PUT", "/acls", {"acls": ["*"]}))[:2] == (403, "ACCESS_DENIED")
    assert (await carol.user("PUT", "/acls", {"acls": []}))["acls"] == []  # the wildcard takes everything


@pytest.mark.rule("002.traits.3", "002.traits.4")
@pytest.mark.parametrize(
    "traits",
    [None, "a", [""], ["x" * 129], [5], [f"trait {number}" for number in range(101)]],
    ids=lambda traits: str(traits)[:9],
)
async def test_traits_that_are_none(ask: Asking, autojump_clock: MockClock, traits: Any) -> None:
    assert (await ask.refused("PUT", "/traits", {"traits": traits}))[:2] == INVALID
    assert (await ask.refused("PUT", "/traits", {}))[:2] == INVALID


async def test_traits_are_labels_sorted_and_said_once(ask: Asking, autojump_clock: MockClock) -> None:
    bob = await ask.world.bob.connect()
    wanted = ["user:lookup", "*", "b", "admin:authenticate", "b", "x" * 128]
    with proves("002.traits.8"):
        user = await ask.user("PUT", "/traits", {"traits": wanted})
    with proves("002.traits.6", "002.traits.8", "002.user-object.33"):
        assert user["traits"] == sorted(set(wanted))
    with proves("002.traits.10"):
        await bob.expect("USER_UPDATE")
    with proves("002.traits.7"):
        answer = await ask.world.bob.rest.get(f"/v1/admin/users/{ask.world.carol.id}")
        assert answer.expect(403)["code"] == "MISSING_PERMISSIONS"
    with proves("002.traits.5"):
        assert (await ask.user("PUT", "/traits", {"traits": []}))["traits"] == []
    with proves("002.traits.11", "002.traits.12"):
        assert [entry.metadata for entry in ask.entries("set_traits")] == [
            {"traits": ",".join(sorted(set(wanted)))},
            {},
        ]


# Flags


@pytest.mark.rule("002.flags-op.4", "002.flags-op.5")
@pytest.mark.parametrize("name", ["add_flags", "remove_flags"])
@pytest.mark.parametrize(
    "flags", ["1", [1], ["-1"], ["18446744073709551616"], ["0x1"], [""], ["1.0"], [" 1"], ["1"] * 65, [None]], ids=str
)
async def test_flags_that_are_none(ask: Asking, autojump_clock: MockClock, name: str, flags: Any) -> None:
    assert (await ask.refused("PATCH", "/flags", {name: flags}))[:2] == INVALID


async def test_flags_are_set_and_then_cleared(ask: Asking, autojump_clock: MockClock) -> None:
    bob = await ask.world.bob.connect()
    most, top = "18446744073709551615", "9223372036854775808"
    combined, unnamed = "002.flags-op.6", "002.flags-op.7"
    left_out, both, whole = "002.flags-op.3", "002.flags-op.8", "002.user-object.8"
    steps: list[tuple[str, dict[str, Any], str, dict[str, str]]] = [
        (combined, {"add_flags": ["12", top]}, "9223372036854775820", {"add_flags": "12,9223372036854775808"}),
        (left_out, {"remove_flags": ["9223372036854775812"]}, "8", {"remove_flags": "9223372036854775812"}),
        (both, {"add_flags": ["2"], "remove_flags": ["2"]}, "8", {"add_flags": "2", "remove_flags": "2"}),
        (left_out, {}, "8", {}),
        (left_out, {"add_flags": ["0"] * 64}, "8", {"add_flags": ",".join(["0"] * 64)}),
        (whole, {"add_flags": [most]}, most, {"add_flags": most}),
        (unnamed, {"remove_flags": [most]}, "0", {"remove_flags": most}),
    ]
    for rule, body, flags, metadata in steps:
        with proves(rule, "002.flags-op.9"):
            assert (await ask.user("PATCH", "/flags", body))["flags"] == flags
        with proves("002.flags-op.11"):
            assert (await bob.expect("USER_UPDATE")).data["id"] == ask.world.bob.id
        with proves("002.flags-op.16", "002.flags-op.17"):
            assert ask.entries("update_flags")[-1].metadata == metadata | {"new_flags": flags}


@pytest.mark.rule("002.flags-op.12", "002.events.2")
async def test_others_hear_of_flags_that_are_public(ask: Asking, autojump_clock: MockClock) -> None:
    alice = await ask.world.alice.connect()
    await ask.user("PATCH", "/flags", {"add_flags": [str(int(UserFlag.SPAMMER))]})
    first = (await alice.expect("GUILD_MEMBER_UPDATE")).data["user"]["flags"]
    await ask.user("PATCH", "/flags", {"add_flags": [str(int(UserFlag.RATE_LIMIT_BYPASS))]})
    await ask.user("PATCH", "/flags", {"remove_flags": [str(int(UserFlag.RATE_LIMIT_BYPASS))]})
    await nothing_more(alice)
    await ask.user("PATCH", "/flags", {"add_flags": [str(int(UserFlag.BUG_HUNTER))]})
    second = (await alice.expect("GUILD_MEMBER_UPDATE")).data["user"]["flags"]
    assert (first, second) == (int(UserFlag.SPAMMER), int(UserFlag.SPAMMER | UserFlag.BUG_HUNTER))


@pytest.mark.rule("002.premium-flags.4", "002.premium-flags.5")
@pytest.mark.parametrize("name", ["add_flags", "remove_flags"])
@pytest.mark.parametrize("flags", [1, ["1"], [-1], [1 << 32], [1.5], [True], [1] * 65, [None]], ids=str)
async def test_premium_flags_that_are_none(ask: Asking, autojump_clock: MockClock, name: str, flags: Any) -> None:
    assert (await ask.refused("PATCH", "/premium-flags", {name: flags}))[:2] == INVALID


async def test_premium_flags_change_nothing_else(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(premium_type=1)
    before = await ask.shown()
    bob = await ask.world.bob.connect()
    left_out, order, integer = "002.premium-flags.3", "002.premium-flags.6", "002.user-object.9"
    steps: list[tuple[str, dict[str, Any], int, dict[str, str]]] = [
        (integer, {"add_flags": [6, 4294967295]}, 4294967295, {"add_flags": "6,4294967295", "remove_flags": ""}),
        (left_out, {"remove_flags": [4294967295]}, 0, {"add_flags": "", "remove_flags": "4294967295"}),
        (order, {"add_flags": [3], "remove_flags": [1]}, 2, {"add_flags": "3", "remove_flags": "1"}),
        (left_out, {}, 2, {"add_flags": "", "remove_flags": ""}),
    ]
    for rule, body, flags, metadata in steps:
        with proves(rule, "002.premium-flags.7", "002.premium-flags.8"):
            assert await ask.user("PATCH", "/premium-flags", body) == before | {"premium_flags": flags}
        with proves("002.premium-flags.10"):
            await bob.expect("USER_UPDATE")
        with proves("002.premium-flags.11", "002.premium-flags.12"):
            assert ask.entries("update_premium_flags")[-1].metadata == metadata | {"new_flags": str(flags)}


@pytest.mark.rule("002.flags-op.8", "002.premium-flags.6")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    bits=st.integers(0, 2**64 - 1),
    add=st.lists(st.integers(0, 2**64 - 1), max_size=5),
    remove=st.lists(st.integers(0, 2**64 - 1), max_size=5),
)
def test_what_is_in_both_lists_ends_cleared(bits: int, add: list[int], remove: list[int]) -> None:
    after = changed_bits(bits, add, remove)
    for position in range(64):
        bit = 1 << position
        if any(mask & bit for mask in remove):
            assert not after & bit
        elif any(mask & bit for mask in add):
            assert after & bit
        else:
            assert after & bit == bits & bit


@pytest.mark.rule("002.profile-fields.15")
def test_no_administrative_route_sets_a_part_of_a_profile() -> None:
    from chat.admin.routes import ADMIN_ROUTES

    bodies = [operation.body for routes in ADMIN_ROUTES for operation in routes.operations if operation.body]
    names = {field for body in bodies for field in body.__annotations__}
    assert not names & {"avatar", "banner", "bio", "pronouns", "global_name", "accent_color"}
