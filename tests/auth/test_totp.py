"""Codes of authenticator apps (RFC 6238; wire facts 6.3)."""

from __future__ import annotations

import base64

import pyotp
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chat.auth.typed_codes import STEP_MS, matching_step, normalised_secret, oldest_step

RFC_SECRET = base64.b32encode(b"12345678901234567890").decode()

secrets = st.binary(min_size=10, max_size=80).map(lambda raw: base64.b32encode(raw).decode().rstrip("="))
long_secrets = secrets.filter(lambda secret: len(secret) >= 23)  # pyotp, which is the judge, takes no shorter ones
moments = st.integers(min_value=300_000, max_value=4_000_000_000_000)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
     (2_000_000_000, "279037"), (20_000_000_000, "353130")],
)  # fmt: skip
def test_the_codes_of_the_standard(seconds: int, code: str) -> None:
    assert matching_step(RFC_SECRET, code, seconds * 1_000) == seconds // 30


@given(secret=long_secrets, issued=moments, later=st.integers(min_value=-200_000, max_value=200_000))
def test_a_code_counts_in_its_step_and_one_to_each_side(secret: str, issued: int, later: int) -> None:
    now = issued + later
    code = pyotp.TOTP(secret).generate_otp(issued // STEP_MS)
    distance = abs(now // STEP_MS - issued // STEP_MS)
    if distance <= 1:
        step = matching_step(secret, code, now)
        assert step is not None
        assert pyotp.TOTP(secret).generate_otp(step) == code
        assert step >= oldest_step(now)
    else:
        near = {pyotp.TOTP(secret).generate_otp(now // STEP_MS + offset) for offset in (-1, 0, 1)}
        assume(code not in near)  # one in a million is a code of two steps
        assert matching_step(secret, code, now) is None


def test_a_secret_of_eighty_bits_has_codes_too() -> None:
    # By the formula of RFC 4226 itself: HMAC-SHA1 of the step, four bytes at the offset that its last half byte names.
    assert matching_step("JBSWY3DPEHPK3PXP", "996554", 59_000) == 1


@pytest.mark.parametrize(
    "code",
    [
        "",
        "12345",
        "1234567",
        "abcdef",
        "12345a",
        "\uff11\uff12\uff13\uff14\uff15\uff16",
        "-12345",
        "1e5000",
        "\u0663\u0664\u0665\u0666\u0667\u0668",
        "0x1234",
    ],
)
def test_what_is_no_code_at_all(code: str) -> None:
    assert matching_step(RFC_SECRET, code, 59_000) is None


def test_a_code_may_be_written_with_blanks() -> None:
    assert matching_step(RFC_SECRET, " 287 082 ", 59_000) == 1


@pytest.mark.parametrize(
    ("written", "secret"),
    [
        ("JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"),
        ("jbswy3dpehpk3pxp", "JBSWY3DPEHPK3PXP"),
        ("JBSW Y3DP EHPK 3PXP", "JBSWY3DPEHPK3PXP"),
        ("jbsw-y3dp-ehpk-3pxp-gezd====", "JBSWY3DPEHPK3PXPGEZD"),
        ("A" * 128, "A" * 128),
    ],
)
def test_secrets_are_taken_as_people_copy_them(written: str, secret: str) -> None:
    assert normalised_secret(written) == secret


@pytest.mark.parametrize(
    "written",
    [
        "", "=", "A" * 15, "A" * 129, "A" * 136, "A" * 17, "A" * 19, "A" * 22,  # no Base32 has such a length
        "JBSWY3DPEHPK3PX1", "JBSWY3DPEHPK3PX0", "JBSWY3DPEHPK3PXÄ", "JBSWY3DPEHPK3P=P", "\u017f" * 16,
        "JBSWY3DPEHPK3PXP\n", "JBSWY3DPEHPK3PXP=======", "\x00" * 16,
    ],
)  # fmt: skip
def test_what_is_no_secret(written: str) -> None:
    assert normalised_secret(written) is None


@given(st.text(max_size=200))
def test_no_text_is_in_the_way(text: str) -> None:
    secret = normalised_secret(text)
    assert secret is None or normalised_secret(secret) == secret
    assert matching_step(RFC_SECRET, text, 59_000) in {None, 0, 1, 2}


@given(secrets)
def test_every_secret_of_a_fitting_length_is_one(secret: str) -> None:
    assert normalised_secret(secret) == secret
