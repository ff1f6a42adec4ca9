"""Errors on demand over HTTP: which requests they meet, how often, and what they say."""

from __future__ import annotations

import pytest

from chat.api.http_faults import HttpFault, HttpFaults
from chat.errors import ApiError


def outcome(faults: HttpFaults, method: str, path: str) -> str:
    """The code that the request is refused with, or `served`."""
    try:
        faults.raise_due(method, path)
    except ApiError as error:
        return error.code
    return "served"


def test_a_fault_meets_so_many_requests_and_then_no_more() -> None:
    faults = HttpFaults()
    faults.add(HttpFault(status=500, times=2))
    answers = [outcome(faults, "GET", "/v1/users/@me") for _ in range(3)]
    assert answers == ["INTERNAL_SERVER_ERROR", "INTERNAL_SERVER_ERROR", "served"]


def test_only_the_method_and_whole_path_that_were_named_count() -> None:
    faults = HttpFaults()
    faults.add(HttpFault(status=503, times=1, method="GET", path="/v1/users/@me"))
    assert outcome(faults, "POST", "/v1/users/@me") == "served"
    assert outcome(faults, "GET", "/v1/users") == "served"
    assert outcome(faults, "GET", "/v1/users/@me/guilds") == "served"
    assert outcome(faults, "GET", "/v1/users/@me") == "SERVICE_UNAVAILABLE"


def test_faults_for_the_same_request_take_turns_in_their_order() -> None:
    faults = HttpFaults()
    faults.add(HttpFault(status=404, times=1, code="UNKNOWN_GUILD"))
    faults.add(HttpFault(status=403, times=1, code="MISSING_ACCESS"))
    assert outcome(faults, "GET", "/v1/guilds/1") == "UNKNOWN_GUILD"
    assert outcome(faults, "GET", "/v1/guilds/1") == "MISSING_ACCESS"


def test_development_routes_are_out_of_reach() -> None:
    faults = HttpFaults()
    faults.add(HttpFault(status=500, times=1))
    assert outcome(faults, "POST", "/v1/_dev/reset") == "served"
    assert outcome(faults, "GET", "/_health") == "INTERNAL_SERVER_ERROR"


def test_cleared_faults_are_forgotten() -> None:
    faults = HttpFaults()
    faults.add(HttpFault(status=500, times=100))
    faults.clear()
    assert outcome(faults, "GET", "/v1/users/@me") == "served"


def test_a_429_is_a_whole_rate_limit_answer() -> None:
    error = HttpFault(status=429, times=1, retry_after=1.5).error()
    assert (error.status, error.code) == (429, "RATE_LIMITED")
    assert error.members == {"global": False, "retry_after": 1.5}
    assert error.headers == {"Retry-After": "2", "X-RateLimit-Scope": "user"}


@pytest.mark.parametrize(
    ("fault", "headers"),
    [
        (HttpFault(status=503, times=1), {"Retry-After": "1"}),
        (HttpFault(status=503, times=1, retry_after=7), {"Retry-After": "7"}),
        (HttpFault(status=500, times=1), {}),
        (HttpFault(status=500, times=1, retry_after=2), {"Retry-After": "2"}),
    ],
)
def test_when_an_answer_says_how_long_to_wait(fault: HttpFault, headers: dict[str, str]) -> None:
    assert fault.error().headers == headers


def test_a_code_need_not_be_registered() -> None:
    error = HttpFault(status=418, times=1, code="OUT_OF_TEA").error()
    assert (error.status, error.code, error.message) == (418, "OUT_OF_TEA", "OUT_OF_TEA")
    assert HttpFault(status=418, times=1).error().code == "GENERAL_ERROR"
