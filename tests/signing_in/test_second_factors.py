"""Backup codes and one-time codes as models have them: each counts exactly once, in any order, at any time."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import pyotp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.auth.keys import Keys
from chat.auth.typed_codes import STEP_MS
from chat.domain.signing_in.mfa_codes import CODES, BackupCodes, MfaCodes, opened_secret, sealed_secret, significant
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.database import connect
from chat.store.migrations import prepare
from chat.store.signing_in import one_time_codes

ALICE, BOB = 11, 12
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture(scope="module")
def database() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "chat.db"
        prepare(path, durable=False)
        yield path


@contextmanager
def emptied(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to two accounts that hold nothing yet; what happens in it is undone."""
    connection = connect(path, durable=False)
    connection.execute("BEGIN")
    try:
        for user_id, name in ((ALICE, "alice"), (BOB, "bob")):
            accounts.insert(connection, Account(id=user_id, username=name, discriminator=1))
        yield connection
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def keys(secret: bytes = bytes(32)) -> Keys:
    return Keys(secret, random.Random(5))


def book(seed: int = 1) -> BackupCodes:
    return BackupCodes(keys(), random.Random(seed))


# Backup codes


@given(st.integers(min_value=0))
def test_ten_different_codes_of_the_documented_form(seed: int) -> None:
    codes = book(seed).fresh()
    assert len(set(codes)) == CODES == 10
    for code in codes:
        assert len(code) == 9
        assert code[4] == "-"
        assert set(code.replace("-", "")) <= set("abcdefghijklmnopqrstuvwxyz0123456789")


def spoilt(code: str, chance: random.Random) -> str:
    """The code as somebody else would write it down."""
    letters = (letter.upper() if chance.random() < 0.5 else letter for letter in code.replace("-", ""))
    return "".join(chance.choice(["", " ", "-", ".", "\t", " \u2013 "]) + letter for letter in letters)


@given(
    order=st.lists(st.integers(min_value=0, max_value=CODES - 1), max_size=25),
    seed=st.integers(min_value=0, max_value=1_000),
)
def test_every_code_counts_once_in_any_order_and_spelling(database: Path, order: list[int], seed: int) -> None:
    codes_book, chance = book(seed), random.Random(seed)
    with emptied(database) as connection:
        codes = codes_book.fresh()
        codes_book.replace(connection, ALICE, codes)
        used: set[int] = set()
        for moment, position in enumerate(order):
            assert one_time_codes.is_backup_code_left(connection, ALICE) is (len(used) < CODES)
            written = spoilt(codes[position], chance)
            assert codes_book.use(connection, ALICE, written, moment) is (position not in used)
            used.add(position)
            shown = codes_book.of_user(connection, ALICE)
            assert [code["code"] for code in shown] == codes
            assert [code["consumed"] for code in shown] == [place in used for place in range(CODES)]
        assert not one_time_codes.is_backup_code_left(connection, BOB)


def test_a_code_is_its_accounts_own_even_when_the_rows_are_moved(database: Path) -> None:
    codes_book = book()
    with emptied(database) as connection:
        codes = codes_book.fresh()
        codes_book.replace(connection, ALICE, codes)
        assert not codes_book.use(connection, BOB, codes[0], 1)
        connection.execute("UPDATE backup_codes SET user_id = ?", (BOB,))
        assert not codes_book.use(connection, BOB, codes[0], 1)
        assert not codes_book.use(connection, BOB, "", 1)  # not even nothing opens what cannot be read
        assert not BackupCodes(keys(b"t" * 32), random.Random(1)).use(connection, ALICE, "", 1)


@pytest.mark.parametrize("wrong", ["", " ", "-", "aaaa-aaaa", "aaaaaaaa" * 4, "\uff41" * 8, "\x00"])
def test_what_is_no_code(database: Path, wrong: str) -> None:
    codes_book = book()
    with emptied(database) as connection:
        codes_book.replace(connection, ALICE, codes_book.fresh())
        assert not codes_book.use(connection, ALICE, wrong, 1)
        assert not any(code["consumed"] for code in codes_book.of_user(connection, ALICE))


def test_new_codes_take_the_place_of_the_old(database: Path) -> None:
    codes_book = book()
    with emptied(database) as connection:
        old, new = codes_book.fresh(), codes_book.fresh()
        codes_book.replace(connection, ALICE, old)
        codes_book.replace(connection, ALICE, new)
        assert not any(codes_book.use(connection, ALICE, code, 1) for code in old)
        assert all(codes_book.use(connection, ALICE, code, 1) for code in new)


@given(st.text())
def test_spelling_is_reduced_for_good(text: str) -> None:
    assert significant(significant(text)) == significant(text)


# Secrets at rest


def test_nothing_in_the_database_tells_secret_or_code(database: Path) -> None:
    codes_book = book()
    with emptied(database) as connection:
        codes = codes_book.fresh()
        codes_book.replace(connection, ALICE, codes)
        sealed = sealed_secret(keys(), ALICE, SECRET)
        dump = repr(connection.execute("SELECT * FROM backup_codes").fetchall()) + sealed
        assert SECRET not in dump
        assert not any(code in dump for code in codes)


def test_a_secret_is_opened_for_its_account_with_this_instances_key() -> None:
    alice = Account(id=ALICE, username="a", discriminator=1, totp_secret=sealed_secret(keys(), ALICE, SECRET))
    assert opened_secret(keys(), alice) == SECRET
    assert opened_secret(keys(), attrs.evolve(alice, id=BOB)) is None
    assert opened_secret(keys(b"t" * 32), alice) is None
    assert opened_secret(keys(), attrs.evolve(alice, totp_secret=None)) is None
    for damaged in ("", SECRET, "é", "AAAA", alice.totp_secret[:-4] if alice.totp_secret else ""):
        assert opened_secret(keys(), attrs.evolve(alice, totp_secret=damaged)) is None


# One-time codes


@attrs.define
class HandClock:
    """A clock that shows what the test sets it to."""

    moment: int = 1_767_225_600_000

    def now_ms(self) -> int:
        return self.moment


@given(
    tries=st.lists(
        st.tuples(st.integers(min_value=0, max_value=70_000), st.integers(min_value=-4, max_value=4)), max_size=40
    )
)
def test_a_code_counts_in_its_window_and_never_twice(database: Path, tries: list[tuple[int, int]]) -> None:
    """Each try lets some time pass and gives the code of a step around that moment."""
    clock = HandClock()
    generator = pyotp.TOTP(SECRET)
    with emptied(database) as connection:
        sealed = sealed_secret(keys(), ALICE, SECRET)
        account = accounts.by_id(connection, ALICE)
        assert account is not None
        accounts.replace(connection, attrs.evolve(account, totp_secret=sealed))
        codes = MfaCodes(clock, keys(), book())
        used: set[int] = set()
        for passed, offset in tries:
            clock.moment += passed
            present = clock.moment // STEP_MS
            code = generator.generate_otp(present + offset)
            around = [step for step in range(present - 1, present + 2) if generator.generate_otp(step) == code]
            expected = bool(around) and around[0] not in used
            assert codes.use(connection, ALICE, code) is expected
            used.update(around[:1])
            kept = {row[0] for row in connection.execute("SELECT step FROM used_totp_codes")}
            assert kept <= used
            assert len(kept) <= 4


def test_an_account_that_cannot_be_known_has_no_codes(database: Path) -> None:
    clock = HandClock()
    code = pyotp.TOTP(SECRET).generate_otp(clock.moment // STEP_MS)
    with emptied(database) as connection:
        assert not MfaCodes(clock, keys(), book()).use(connection, 404, code)
        account = accounts.by_id(connection, ALICE)
        assert account is not None
        elsewhere = sealed_secret(keys(b"t" * 32), ALICE, SECRET)
        accounts.replace(connection, attrs.evolve(account, totp_secret=elsewhere))
        codes = MfaCodes(clock, keys(), book())
        assert not codes.use(connection, ALICE, code)
        backup = book().fresh()
        book().replace(connection, ALICE, backup)
        assert codes.use(connection, ALICE, backup[0])  # the way in that is left


def test_what_is_past_is_forgotten(database: Path) -> None:
    with emptied(database) as connection:
        for step in range(100, 150):
            assert one_time_codes.use_totp_step(connection, ALICE, step, oldest=step - 1)
            assert not one_time_codes.use_totp_step(connection, ALICE, step, oldest=step - 1)
            assert one_time_codes.use_totp_step(connection, BOB, step, oldest=step - 1)
        rows = connection.execute("SELECT user_id, step FROM used_totp_codes ORDER BY user_id, step").fetchall()
        assert rows == [(ALICE, 148), (ALICE, 149), (BOB, 148), (BOB, 149)]
