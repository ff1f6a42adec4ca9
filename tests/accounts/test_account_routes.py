"""Accounts as their holders and others see and change them (wire facts 5.1, 6.5)."""

from __future__ import annotations

from typing import Any

import pytest
import trio.testing

from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response
from chat.testing.world import World

NEW_PASSWORD = "correct horse"

PARTIAL = {"id", "username", "discriminator", "global_name", "avatar", "avatar_color", "flags"}

PRIVATE = PARTIAL | {
    "bot",
    "is_staff",
    "acls",
    "traits",
    "email",
    "email_bounced",
    "phone",
    "has_verified_phone",
    "bio",
    "pronouns",
    "accent_color",
    "banner",
    "banner_color",
    "mfa_enabled",
    "verified",
    "premium_type",
    "premium_since",
    "premium_until",
    "premium_will_cancel",
    "premium_billing_cycle",
    "premium_lifetime_sequence",
    "premium_grace_ends_at",
    "premium_discriminator",
    "premium_badge_hidden",
    "premium_badge_masked",
    "premium_badge_timestamp_hidden",
    "premium_badge_sequence_hidden",
    "premium_purchase_disabled",
    "premium_enabled_override",
    "premium_perks_disabled",
    "password_last_changed_at",
    "last_voice_activity_sharing_change_at",
    "required_actions",
    "nsfw_allowed",
    "has_dismissed_premium_onboarding",
    "has_ever_purchased",
    "has_unread_gift_inventory",
    "unread_gift_inventory_count",
    "pending_bulk_message_deletion",
    "terms_agreed_at",
    "privacy_agreed_at",
}
"""Wire facts 5.1, private user, without what is absent for a plain account."""


def errors(answer: Response) -> list[tuple[str, str]]:
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    return [(error["path"], error["code"]) for error in answer.json()["errors"]]


async def test_the_own_account_has_every_member(chat_world: World) -> None:
    user = (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)
    assert set(user) == PRIVATE
    assert user["username"] == "alice"
    assert user["bot"] is False
    assert user["verified"] is True
    assert user["traits"] == ["premium"]


@pytest.mark.chat_settings(premium_mode="none")
async def test_premium_is_a_trait_where_it_is_not_everyones(chat_world: World) -> None:
    assert (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)["traits"] == []
    await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.alice.id}", {"premium_type": 1, "traits": ["beta"]})
    user = (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)
    assert (user["traits"], user["premium_type"]) == (["beta", "premium"], 1)


async def test_others_see_the_partial_account(chat_world: World) -> None:
    user = (await chat_world.bob.rest.get(f"/v1/users/{chat_world.alice.id}")).expect(200)
    assert set(user) == PARTIAL
    robot = (await chat_world.bob.rest.get(f"/v1/users/{chat_world.bot.id}")).expect(200)
    assert set(robot) == PARTIAL | {"bot"}


async def test_an_unknown_account(chat_world: World) -> None:
    answer = await chat_world.bob.rest.get("/v1/users/999999999999999999")
    assert (answer.status, answer.code) == (404, "UNKNOWN_USER")


async def test_a_deleted_account_is_shown_as_nobody(chat_world: World) -> None:
    flags = str(int(UserFlag.DELETED | UserFlag.PARTNER))
    await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.carol.id}", {"flags": flags})
    assert (await chat_world.bob.rest.get(f"/v1/users/{chat_world.carol.id}")).expect(200) == {
        "id": chat_world.carol.id,
        "username": "DeletedUser",
        "discriminator": "0000",
        "global_name": "Deleted User",
        "avatar": None,
        "avatar_color": None,
        "flags": 0,
    }


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        (UserFlag.STAFF | UserFlag.PARTNER | UserFlag.ACCOUNT_LIMITED, 5),
        (UserFlag.STAFF | UserFlag.STAFF_HIDDEN | UserFlag.SPAMMER, 64),
    ],
)
async def test_only_some_flags_are_for_others(chat_world: World, flags: UserFlag, shown: int) -> None:
    await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.carol.id}", {"flags": str(int(flags))})
    assert (await chat_world.bob.rest.get(f"/v1/users/{chat_world.carol.id}")).expect(200)["flags"] == shown


# Changes


async def test_a_profile_is_changed_and_told_of(chat_world: World) -> None:
    own = await chat_world.bob.connect()
    other = await chat_world.alice.connect()
    change = {"global_name": " Bob\u0007by ", "bio": "I play chess.", "pronouns": "he/him", "accent_color": 0xFFFFFF}
    user = (await chat_world.bob.rest.patch("/v1/users/@me", change)).expect(200)
    expected = {**change, "global_name": "Bobby"}
    assert {name: user[name] for name in expected} == expected
    assert (await own.expect("USER_UPDATE")).data == user
    member = (await other.expect("GUILD_MEMBER_UPDATE")).data
    assert member["guild_id"] == chat_world.guild_id
    assert member["user"]["global_name"] == "Bobby"
    assert "bio" not in member["user"]


async def test_null_and_empty_text_clear_and_absence_keeps(chat_world: World) -> None:
    await chat_world.bob.rest.patch("/v1/users/@me", {"bio": "x", "pronouns": "y", "global_name": "z"})
    user = (await chat_world.bob.rest.patch("/v1/users/@me", {"bio": "", "pronouns": None})).expect(200)
    assert (user["bio"], user["pronouns"], user["global_name"]) == (None, None, "z")


async def test_nothing_asked_nothing_changed(chat_world: World) -> None:
    before = (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)
    assert (await chat_world.bob.rest.patch("/v1/users/@me", {})).expect(200) == before
    assert (await chat_world.bob.rest.patch("/v1/users/@me", {"unknown": 5})).expect(200) == before


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"bio": "x" * 321}, ("bio", "CONTENT_EXCEEDS_MAX_LENGTH")),
        ({"pronouns": "x" * 41}, ("pronouns", "CONTENT_EXCEEDS_MAX_LENGTH")),
        ({"accent_color": -1}, ("accent_color", "COLOR_VALUE_TOO_LOW")),
        ({"accent_color": 0x1000000}, ("accent_color", "COLOR_VALUE_TOO_HIGH")),
        ({"accent_color": "red"}, ("accent_color", "INVALID_FORMAT")),
        ({"global_name": "x" * 33}, ("global_name", "GLOBAL_NAME_LENGTH_INVALID")),
        ({"username": "not allowed"}, ("username", "USERNAME_INVALID_CHARACTERS")),
        ({"discriminator": "12345"}, ("discriminator", "DISCRIMINATOR_INVALID_FORMAT")),
        ({"discriminator": "12a"}, ("discriminator", "DISCRIMINATOR_INVALID_FORMAT")),
        ({"discriminator": True}, ("discriminator", "DISCRIMINATOR_INVALID_FORMAT")),
        ({"discriminator": "0000"}, ("discriminator", "DISCRIMINATOR_OUT_OF_RANGE")),
    ],
)
async def test_what_a_profile_cannot_say(chat_world: World, change: dict[str, Any], expected: tuple[str, str]) -> None:
    assert errors(await chat_world.bob.rest.patch("/v1/users/@me", change)) == [expected]


async def test_a_new_username_keeps_a_discriminator_that_is_free(chat_world: World) -> None:
    before = (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)
    user = (await chat_world.bob.rest.patch("/v1/users/@me", {"username": "robert"})).expect(200)
    assert (user["username"], user["discriminator"]) == ("robert", before["discriminator"])


async def test_and_gets_another_where_it_is_not(chat_world: World) -> None:
    (await chat_world.alice.rest.patch("/v1/users/@me", {"discriminator": "0042"})).expect(200)
    (await chat_world.bob.rest.patch("/v1/users/@me", {"discriminator": 42})).expect(200)
    user = (await chat_world.bob.rest.patch("/v1/users/@me", {"username": "ALICE"})).expect(200)
    assert user["username"] == "ALICE"
    assert user["discriminator"] != "0042"


async def test_a_tag_belongs_to_one_account(chat_world: World) -> None:
    (await chat_world.alice.rest.patch("/v1/users/@me", {"discriminator": "42"})).expect(200)
    answer = await chat_world.bob.rest.patch("/v1/users/@me", {"username": "Alice", "discriminator": "0042"})
    assert errors(answer) == [("discriminator", "TAG_ALREADY_TAKEN")]


@pytest.mark.chat_settings(premium_mode="none")
async def test_choosing_a_discriminator_takes_premium(chat_world: World) -> None:
    answer = await chat_world.bob.rest.patch("/v1/users/@me", {"discriminator": "0042"})
    assert errors(answer) == [("discriminator", "CHANGING_DISCRIMINATOR_REQUIRES_PREMIUM")]
    await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.bob.id}", {"premium_type": 1})
    assert (await chat_world.bob.rest.patch("/v1/users/@me", {"discriminator": "0042"})).status == 200


@pytest.mark.chat_settings(tag_style="none")
async def test_an_instance_may_have_no_discriminators(chat_world: World) -> None:
    answer = await chat_world.bob.rest.patch("/v1/users/@me", {"discriminator": "0042"})
    assert errors(answer) == [("discriminator", "DISCRIMINATOR_NOT_SUPPORTED_ON_INSTANCE")]
    answer = await chat_world.bob.rest.patch("/v1/users/@me", {"username": "Alice"})
    assert errors(answer) == [("username", "USERNAME_ALREADY_TAKEN")]


async def test_a_bot_may_change_what_it_says_of_itself_but_has_no_password(chat_world: World) -> None:
    user = (await chat_world.bot.rest.patch("/v1/users/@me", {"bio": "beep"})).expect(200)
    assert (user["bio"], user["bot"], user["email"]) == ("beep", True, None)
    answer = await chat_world.bot.rest.patch("/v1/users/@me", {"new_password": NEW_PASSWORD})
    assert errors(answer) == [("new_password", "INVALID_FORMAT")]


# Passwords


async def test_a_new_password_ends_every_sign_in(chat_world: World) -> None:
    bob = chat_world.bob
    gateway = await bob.connect()
    body = {"password": bob.password, "new_password": NEW_PASSWORD}
    user = (await bob.rest.patch("/v1/users/@me", body)).expect(200)
    assert user["password_last_changed_at"] is not None
    assert (await bob.rest.get("/v1/users/@me")).status == 401
    assert await chat_world.session_of(gateway) is None
    assert (await chat_world.anyone.login(email=bob.email, password=bob.password)).status == 400
    assert (await chat_world.anyone.login(email=bob.email, password=NEW_PASSWORD)).status == 200


async def test_it_takes_the_old_one(chat_world: World) -> None:
    answer = await chat_world.bob.rest.patch("/v1/users/@me", {"new_password": NEW_PASSWORD})
    assert (answer.status, answer.code) == (403, "SUDO_MODE_REQUIRED")
    wrong = {"password": "wrong password", "new_password": NEW_PASSWORD, "bio": "changed"}
    assert errors(await chat_world.bob.rest.patch("/v1/users/@me", wrong)) == [("password", "INVALID_PASSWORD")]
    assert (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)["bio"] is None


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("short", "PASSWORD_LENGTH_INVALID"),
        ("password123", "PASSWORD_IS_TOO_COMMON"),
        ("bob@example.com", "PASSWORD_IS_TOO_COMMON"),
    ],
)
async def test_passwords_that_are_not_taken(chat_world: World, password: str, code: str) -> None:
    body = {"password": chat_world.bob.password, "new_password": password}
    assert errors(await chat_world.bob.rest.patch("/v1/users/@me", body)) == [("new_password", code)]


async def test_an_account_without_a_password_sets_its_first(chat_world: World) -> None:
    token = (await chat_world.anyone.register(email="dave@example.com", username="dave")).expect(200)["token"]
    dave = chat_world.anyone.signed_in(token)
    assert (await dave.patch("/v1/users/@me", {"new_password": NEW_PASSWORD})).status == 200
    assert (await chat_world.anyone.login(email="dave@example.com", password=NEW_PASSWORD)).status == 200


async def test_whether_a_tag_is_taken(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    tag = (await alice.rest.get(f"/v1/users/{bob.id}")).expect(200)
    query = {"username": tag["username"].upper(), "discriminator": tag["discriminator"]}
    assert (await alice.rest.get("/v1/users/check-tag", query)).expect(200) == {"taken": True}
    assert (await bob.rest.get("/v1/users/check-tag", query)).expect(200) == {"taken": False}
    assert (await alice.rest.get("/v1/users/check-tag", {**query, "username": "nobody_here"})).expect(200) == {
        "taken": False
    }
    for wrong in ({"username": "nobody"}, {**query, "discriminator": "12345"}, {**query, "username": "a b"}):
        refused = await alice.rest.get("/v1/users/check-tag", wrong)
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")


async def test_terms_are_agreed_to(autojump_clock: trio.testing.MockClock, chat_world: World) -> None:
    alice = chat_world.alice
    at_alice = await alice.connect()
    before = (await alice.rest.get("/v1/users/@me")).expect(200)
    await chat_world.anyone.advance_clock(60_000)
    own = (await alice.rest.post("/v1/users/@me/terms-acceptance")).expect(200)
    assert own["terms_agreed_at"] == own["privacy_agreed_at"] > (before["terms_agreed_at"] or "")
    assert (await at_alice.expect("USER_UPDATE")).data == own


async def test_how_one_wants_to_be_answered(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    assert "mention_flags" not in (await bob.rest.get(f"/v1/users/{alice.id}")).expect(200)
    assert (await alice.rest.patch("/v1/users/@me", {"mention_flags": 2})).expect(200)["mention_flags"] == 2
    assert (await bob.rest.get(f"/v1/users/{alice.id}")).expect(200)["mention_flags"] == 2
    refused = await alice.rest.patch("/v1/users/@me", {"mention_flags": 3})
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
    assert "mention_flags" not in (await alice.rest.patch("/v1/users/@me", {"mention_flags": 0})).expect(200)


async def test_onboarding_is_dismissed_once_and_for_all(chat_world: World) -> None:
    own = (await chat_world.alice.rest.patch("/v1/users/@me", {"has_dismissed_premium_onboarding": True})).expect(200)
    assert own["has_dismissed_premium_onboarding"] is True
    again = (await chat_world.alice.rest.patch("/v1/users/@me", {"bio": "more"})).expect(200)
    assert again["has_dismissed_premium_onboarding"] is True


@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["forbidden"]})
@pytest.mark.parametrize("field", ["global_name", "bio", "pronouns", "username"])
async def test_blocked_text_is_in_no_profile(chat_world: World, field: str) -> None:
    refused = await chat_world.alice.rest.patch("/v1/users/@me", {field: "Forbidden"})
    assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED")
    (await chat_world.alice.rest.patch("/v1/users/@me", {field: "allowed"})).expect(200)
