"""Passwords: hashing, verification, the queue in front of them."""

from __future__ import annotations

import random
import time
import unicodedata

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from chat.auth.passwords import (
    CHEAP,
    CONCURRENT_HASHES,
    STRONG,
    WAITING_OF_NETWORK,
    Asker,
    HashCost,
    Match,
    Passwords,
    is_too_common,
    prepared,
)
from chat.errors import RateLimited

MODERATE = HashCost(memory_kib=8_192, passes=2, lanes=1)


@pytest.fixture
def passwords() -> Passwords:
    return Passwords(random.Random(1), CHEAP, in_threads=False)


async def test_a_hash_verifies_its_password_and_no_other(passwords: Passwords) -> None:
    encoded = await passwords.hash("correct horse")
    assert await passwords.verify(encoded, "correct horse")
    assert not await passwords.verify(encoded, "correct horse ")
    assert not await passwords.verify(encoded, "Correct horse")


@pytest.mark.parametrize(
    ("kept", "typed"),
    [
        ("Z\u00fcrich und B\u00e4r", "Zu\u0308rich und Ba\u0308r"),  # of a Mac's keyboard and file names
        ("Zu\u0308rich und Ba\u0308r", "Z\u00fcrich und B\u00e4r"),
        ("\ud55c\uad6d\uc5b4\ub85c", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165\u1105\u1169"),
        ("ein\u00a0Wort f\u00fcr", "ein Wort f\u00fcr"),  # Option and space
    ],
)
async def test_the_same_letters_are_the_same_password(passwords: Passwords, kept: str, typed: str) -> None:
    assert kept != typed
    assert await passwords.match(await passwords.hash(kept), typed) == Match(is_outdated=False)
    before = passwords._hasher.hash(typed)  # as it was kept before
    assert await passwords.verify(before, typed)
    match = await passwords.match(before, typed)
    assert match is not None
    assert match.is_outdated == (prepared(typed) != typed)
    assert await passwords.match(None, typed) is None


@given(st.text(), st.text())
def test_preparing_exchanges_no_password_for_another(one: str, other: str) -> None:
    assert prepared(prepared(one)) == prepared(one)
    assert prepared(unicodedata.normalize("NFD", one)) == prepared(one)
    if one.isascii():
        assert prepared(one) == one
    if unicodedata.normalize("NFKC", one) != unicodedata.normalize("NFKC", other):
        assert prepared(one) != prepared(other)


async def test_equal_passwords_have_different_hashes(passwords: Passwords) -> None:
    assert await passwords.hash("correct horse") != await passwords.hash("correct horse")


async def test_the_stock_parameters_are_the_second_choice_of_the_rfc() -> None:
    passwords = Passwords(random.Random(1), in_threads=False)
    assert (await passwords.hash("x")).startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert HashCost(65_536, 3, 4) == STRONG


async def test_an_unknown_account_verifies_nothing_and_costs_a_verification() -> None:
    passwords = Passwords(random.Random(1), MODERATE, in_threads=False)
    encoded = await passwords.hash("correct horse")

    async def seconds(stored: str | None) -> float:
        started = time.process_time()
        assert not await passwords.verify(stored, "wrong")
        return time.process_time() - started

    known = min([await seconds(encoded) for _ in range(5)])
    unknown = min([await seconds(None) for _ in range(5)])
    assert known / 3 < unknown < known * 3


async def test_what_is_no_hash_verifies_nothing(passwords: Passwords) -> None:
    assert not await passwords.verify("not a hash", "password")


async def test_a_hash_of_other_parameters_is_outdated(passwords: Passwords) -> None:
    assert Passwords(random.Random(1), MODERATE).is_outdated(await passwords.hash("x"))
    assert not passwords.is_outdated(await passwords.hash("x"))


async def test_two_of_a_network_work_five_wait_and_the_eighth_is_told_to_come_later() -> None:
    passwords = Passwords(random.Random(1), MODERATE)
    outcomes: list[str] = []

    async def verify(asker: Asker) -> None:
        try:
            await passwords.verify(None, "flood", asker)
        except RateLimited as refused:
            outcomes.append(f"{asker.network} refused for {refused.headers['Retry-After']} s")
        else:
            outcomes.append(f"{asker.network} done")

    async with trio.open_nursery() as nursery:
        for _ in range(CONCURRENT_HASHES + WAITING_OF_NETWORK + 3):
            nursery.start_soon(verify, Asker("crowd"))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(verify, Asker("elsewhere"))
        nursery.start_soon(verify, Asker("crowd", 7))
    assert outcomes.count("crowd done") == CONCURRENT_HASHES + WAITING_OF_NETWORK + 1
    assert outcomes.count("crowd refused for 1 s") == 3
    assert outcomes.count("elsewhere done") == 1


async def test_the_loop_goes_on_while_a_password_is_hashed() -> None:
    passwords = Passwords(random.Random(1), MODERATE)
    turns = 0
    async with trio.open_nursery() as nursery:

        async def count() -> None:
            nonlocal turns
            while True:
                await trio.lowlevel.checkpoint()
                turns += 1

        nursery.start_soon(count)
        await passwords.hash("correct horse")
        nursery.cancel_scope.cancel()
    assert turns > 10


@pytest.mark.parametrize("password", ["password", "PASSWORD1", "12345678", "qwertyuiop", "iloveyou", "letmein1"])
def test_the_commonest_passwords_are_known(password: str) -> None:
    assert is_too_common(password)


def test_a_name_of_the_account_is_no_password() -> None:
    assert is_too_common("Alice_Liddell", ["alice_liddell", None])
    assert not is_too_common("correct horse", ["alice", None])
