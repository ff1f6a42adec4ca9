"""Leaky buckets, against a model that counts in fractions."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.api.rate_limit import BUCKETS_LIMIT, PRUNE_AT, Bucket, RateLimiter, limit_headers
from chat.errors import RateLimited

LOGIN = Bucket("login", 5, 10_000)


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def limiter(hands: Hands) -> RateLimiter:
    return RateLimiter(now=hands)


def test_a_full_bucket_passes_at_once_and_then_one_per_step(limiter: RateLimiter, hands: Hands) -> None:
    assert [limiter.take(LOGIN, "a") for _ in range(5)] == [0.0] * 5
    assert limiter.take(LOGIN, "a") == pytest.approx(2.0)
    hands.seconds += 1.5
    assert limiter.take(LOGIN, "a") == pytest.approx(0.5)
    hands.seconds += 0.5
    assert limiter.take(LOGIN, "a") == 0.0
    assert limiter.take(LOGIN, "a") == pytest.approx(2.0)


def test_a_refused_request_costs_nothing(limiter: RateLimiter, hands: Hands) -> None:
    for _ in range(50):
        limiter.take(LOGIN, "a")
    hands.seconds += 2
    assert limiter.take(LOGIN, "a") == 0.0


def test_a_request_goes_into_all_its_buckets_or_into_none(limiter: RateLimiter, hands: Hands) -> None:
    small, large = Bucket("small", 1, 1_000), Bucket("large", 3, 9_000)
    assert limiter.take_all((small, "me"), (large, "everybody")) == 0
    for _ in range(5):
        assert limiter.take_all((small, "me"), (large, "everybody")) == 1
        assert limiter.take_all((large, "everybody"), (small, "me")) == 1
    assert limiter.standing(large, "everybody").remaining == 2
    assert limiter.take_all((small, "you"), (large, "everybody")) == 0
    assert limiter.take_all((small, "they"), (large, "everybody")) == 0
    assert limiter.take_all((small, "us"), (large, "everybody")) == 3
    assert limiter.standing(small, "us").remaining == 1


def test_keys_and_buckets_are_apart(limiter: RateLimiter) -> None:
    for _ in range(5):
        limiter.take(LOGIN, "a")
    assert limiter.take(LOGIN, "b") == 0.0
    assert limiter.take(Bucket("other", 5, 10_000), "a") == 0.0
    assert limiter.take(LOGIN, "a") > 0


def test_standing(limiter: RateLimiter, hands: Hands) -> None:
    assert limiter.standing(LOGIN, "a").remaining == 5
    limiter.take(LOGIN, "a")
    limiter.take(LOGIN, "a")
    standing = limiter.standing(LOGIN, "a")
    assert (standing.remaining, standing.reset_after) == (3, pytest.approx(4.0))
    hands.seconds += 1
    assert limiter.standing(LOGIN, "a").remaining == 3
    hands.seconds += 1
    assert limiter.standing(LOGIN, "a").remaining == 4


def test_switched_off_everything_passes(hands: Hands) -> None:
    limiter = RateLimiter(enabled=False, now=hands)
    assert not any(limiter.take(LOGIN, "a") for _ in range(100))
    assert len(limiter) == 0


def test_empty_buckets_are_forgotten(limiter: RateLimiter, hands: Hands) -> None:
    for key in range(PRUNE_AT):
        limiter.take(LOGIN, key)
    hands.seconds += 2.5
    limiter.take(LOGIN, "last")
    assert len(limiter) == 1


def test_no_number_of_keys_makes_the_table_grow_beyond_its_limit(limiter: RateLimiter) -> None:
    for key in range(BUCKETS_LIMIT + 10):
        limiter.take(LOGIN, key)
    assert len(limiter) <= BUCKETS_LIMIT
    assert limiter.take(LOGIN, BUCKETS_LIMIT + 9) == 0.0


def test_clear_forgets_all(limiter: RateLimiter) -> None:
    for _ in range(6):
        limiter.take(LOGIN, "a")
    limiter.clear()
    assert limiter.take(LOGIN, "a") == 0.0


def test_headers() -> None:
    limiter = RateLimiter(now=lambda: 1_000.0)
    limiter.take(LOGIN, "a")
    assert limit_headers(LOGIN, limiter.standing(LOGIN, "a"), 1_700_000_000_500) == {
        "X-RateLimit-Limit": "5",
        "X-RateLimit-Remaining": "4",
        "X-RateLimit-Reset": "1700000003",
        "X-RateLimit-Reset-After": "2.000",
        "X-RateLimit-Bucket": hashlib.sha256(b"login").hexdigest()[:16],
    }


@pytest.mark.parametrize(
    ("retry_after", "header", "body"), [(0.0001, "1", 0.001), (0.5, "1", 0.5), (1.0001, "2", 1.001), (3.0, "3", 3.0)]
)
def test_a_refusal_rounds_up(retry_after: float, header: str, body: float) -> None:
    refused = RateLimited(retry_after)
    assert refused.status == 429
    assert refused.headers == {"Retry-After": header, "X-RateLimit-Scope": "user"}
    assert refused.members == {"global": False, "retry_after": body}
    assert RateLimited(1, "global").headers["X-RateLimit-Global"] == "true"
    assert RateLimited(1, "global").members["global"] is True


buckets = st.builds(Bucket, st.just("b"), st.integers(1, 20), st.integers(100, 20_000))
pauses = st.lists(st.integers(0, 3_000_000), min_size=1, max_size=60)


@given(buckets, pauses)
def test_against_a_model_that_counts_in_fractions(bucket: Bucket, microseconds: list[int]) -> None:
    hands = Hands()
    limiter = RateLimiter(now=hands)
    step = Fraction(bucket.window_ms * 1000 // bucket.limit)
    level, last = Fraction(0), Fraction(0)
    for pause in microseconds:
        hands.seconds += pause / 1_000_000
        now = Fraction(int(hands.seconds * 1_000_000))
        level = max(Fraction(0), level - (now - last) / step) if last else Fraction(0)
        last = now
        fits = level + 1 <= bucket.limit
        assert (limiter.take(bucket, "a") == 0.0) is fits
        level += fits


@given(buckets, pauses)
def test_never_more_than_the_limit_at_once_and_its_share_of_any_span(bucket: Bucket, microseconds: list[int]) -> None:
    hands = Hands()
    limiter = RateLimiter(now=hands)
    passed: list[int] = []
    for pause in microseconds:
        hands.seconds += pause / 1_000_000
        if limiter.take(bucket, "a") == 0.0:
            passed.append(int(hands.seconds * 1_000_000))
    for first, begin in enumerate(passed):
        for count, end in enumerate(passed[first:], start=1):
            assert count <= bucket.limit + (end - begin) / bucket.step_us


@given(buckets, pauses)
def test_the_told_time_is_exactly_enough(bucket: Bucket, microseconds: list[int]) -> None:
    hands = Hands()
    limiter = RateLimiter(now=hands)
    for pause in microseconds:
        hands.seconds += pause / 1_000_000
        retry_after = limiter.take(bucket, "a")
        if retry_after > 0.01:
            hands.seconds += retry_after - 0.005
            assert limiter.take(bucket, "a") > 0
            hands.seconds += 0.006
            assert limiter.take(bucket, "a") == 0.0
