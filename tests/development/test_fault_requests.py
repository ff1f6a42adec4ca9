"""What POST /v1/_dev/faults takes, and what it refuses and where."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from chat.api.http_faults import HttpFault
from chat.api.structuring import body_structure
from chat.development.faults import TAKEN, FaultAction, FaultName, FaultRequest, FaultTarget, SocketFault, read_fault
from chat.errors import InvalidFormBody
from chat.gateway.delay import Delay
from chat.registries.close_codes import Close

read = body_structure(FaultRequest)


def parsed(**body: Any) -> HttpFault | SocketFault:
    request: FaultRequest = read(body)
    return request.as_http_fault() if request.is_http else request.as_socket_fault()


def refusal(**body: Any) -> tuple[str, str]:
    """Path and code of the first field that is refused."""
    with pytest.raises(InvalidFormBody) as caught:
        parsed(**body)
    return caught.value.errors[0].path, caught.value.errors[0].code


@pytest.mark.parametrize("action", [action for action in FaultAction if action not in ("close", "stall", "delay")])
def test_actions_without_members_of_their_own(action: FaultAction) -> None:
    assert parsed(action=action.value, target="all") == SocketFault(action, FaultTarget())


def test_targets() -> None:
    assert parsed(action="drop", target={"session_id": "abc"}) == SocketFault(
        FaultAction.DROP, FaultTarget(session_id="abc")
    )
    assert parsed(action="drop", target={"user_id": "5"}) == SocketFault(FaultAction.DROP, FaultTarget(user_id=5))
    assert refusal(action="drop") == ("target", "INVALID_FORMAT")
    wrong: list[object] = ["some", 5, {}, [], {"session_id": 5}, {"session_id": "a", "user_id": "5"}, {"user_id": None}]
    for target in wrong:
        assert refusal(action="drop", target=target) == ("target", "INVALID_FORMAT")
    assert refusal(action="drop", target={"user_id": "05"}) == ("target", "INVALID_SNOWFLAKE_FORMAT")


def test_close() -> None:
    fault = parsed(action="close", target="all", code=4000, reason="later")
    assert fault == SocketFault(FaultAction.CLOSE, FaultTarget(), Close(4000, "later"))
    assert parsed(action="close", target="all", code=1000) == SocketFault(
        FaultAction.CLOSE, FaultTarget(), Close(1000, "")
    )
    for code in (None, "4000", 999, 1005, 1006, 1015, 5000):
        assert refusal(action="close", target="all", code=code) == ("code", "INVALID_FORMAT")
    assert refusal(action="close", target="all", code=4000, reason="é" * 62) == (
        "reason",
        "CONTENT_EXCEEDS_MAX_LENGTH",
    )


def test_stall() -> None:
    assert parsed(action="stall", target="all", ms=1_500) == SocketFault(
        FaultAction.STALL, FaultTarget(), stall_ms=1_500
    )
    for milliseconds in (None, -1, "5", 1.5):
        assert refusal(action="stall", target="all", ms=milliseconds) == ("ms", "INVALID_FORMAT")


def test_http() -> None:
    assert parsed(action="http", status=500) == HttpFault(status=500, times=1)
    assert parsed(
        action="http", method="get", path="/v1/users/@me", status=429, code="RATE_LIMITED", times=3, retry_after=2
    ) == HttpFault(status=429, times=3, method="GET", path="/v1/users/@me", code="RATE_LIMITED", retry_after=2.0)
    assert refusal(action="http") == ("status", "INVALID_FORMAT")
    assert refusal(action="http", status=200) == ("status", "INVALID_FORMAT")
    assert refusal(action="http", status=500, times=0) == ("times", "INVALID_FORMAT")
    assert refusal(action="http", status=500, code=4000) == ("code", "INVALID_FORMAT")
    assert refusal(action="http", status=429, retry_after=-1) == ("retry_after", "INVALID_FORMAT")


def test_an_unknown_action_is_refused() -> None:
    assert refusal(action="explode", target="all") == ("action", "INVALID_FORMAT")
    assert refusal(target="all") == ("action", "INVALID_FORMAT")


def test_delay() -> None:
    fault = parsed(action="delay", target="all", ms=100, jitter_ms=20)
    assert fault == SocketFault(FaultAction.DELAY, FaultTarget(), delay=Delay(100, 20))
    assert parsed(action="delay", target="all", ms=0) == SocketFault(FaultAction.DELAY, FaultTarget(), delay=Delay(0))
    for milliseconds in (None, -1, 60_001):
        assert refusal(action="delay", target="all", ms=milliseconds) == ("ms", "INVALID_FORMAT")
    assert refusal(action="delay", target="all", ms=1, jitter_ms=60_001) == ("jitter_ms", "INVALID_FORMAT")


def told(**body: Any) -> tuple[str, str]:
    """Path and words of the only error."""

    def judge() -> None:
        read = read_fault(body)
        _ = read.as_http_fault() if read.is_http else read.as_socket_fault()

    with pytest.raises(InvalidFormBody) as caught:
        judge()
    [error] = caught.value.members["errors"]
    return error["path"], error["message"]


def test_a_wrong_name_is_answered_with_what_there_is() -> None:
    path, message = told(action="explode", target="all")
    assert path == "action"
    assert all(action.value in message for action in FaultName)
    path, message = told(action="stall", target="all", milliseconds=5)
    assert (path, message) == ("milliseconds", "`stall` takes target, ms.")
    path, message = told(action="stall", target="all")
    assert (path, "target, ms" in message) == ("ms", True)
    path, message = told(action="drop", target={"session": "x"})
    assert (path, "session_id" in message, "user_id" in message) == ("target", True, True)
    path, message = told(action="http")
    assert (path, "retry_after" in message) == ("status", True)


@pytest.mark.parametrize("action", list(FaultName))
def test_what_an_action_takes_is_what_the_body_has(action: FaultName) -> None:
    assert {*TAKEN[action]} <= {field.name for field in attrs.fields(FaultRequest)}
