"""What an account pays for by the period: whose it is, and that it ends when the account's deletion is scheduled
(document 002).

Area: administration. Rules: 002.deletion, 002.list-users.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.jobs import JOB_KINDS, JobStatus, JobType
from chat.store.administration import jobs
from chat.store.administration.jobs import Job
from tests.administration.asking import Asking
from tests.administration.billing.store_service import StoreService, says
from tests.canaries import Watch
from tests.loopback_http import Answer, Asked

HOUR = 3_600
SUBSCRIPTION = {"id": "sub/1 ä", "latest_invoice": {"charge_id": "ch_1"}}


def cancellations(ask: Asking) -> list[Job]:
    """The jobs, the newest first."""
    return jobs.newest(
        ask.server.database.reader,
        status=None,
        task_type=JobType.SUBSCRIPTION_CANCELLATION,
        before=None,
        limit=10,
    )


async def until(ask: Asking, holds: Callable[[Job], bool]) -> Job:
    """The newest job, once it is so; time goes on by itself here."""
    with trio.fail_after(20):
        while True:
            found = cancellations(ask)
            if found and holds(found[0]):
                return found[0]
            await trio.sleep(0.01)


async def over(ask: Asking) -> Job:
    return await until(ask, lambda job: job.is_over)


async def schedule(ask: Asking, **body: Any) -> str:
    user = await ask.user("PUT", "/deletion", {"reason_code": 2, "notify_user": False, **body}, reason="why")
    pending = user["pending_deletion_at"]
    assert pending is not None
    return str(pending)


async def stands(ask: Asking, pending: str) -> None:
    assert (await ask.shown())["pending_deletion_at"] == pending


@pytest.mark.rule("002.deletion.27", "002.deletion.28")
async def test_a_subscription_ends_and_its_latest_charge_is_paid_back(ask: Asking, service: StoreService) -> None:
    service.subscriptions[ask.user_id] = SUBSCRIPTION
    service.subscriptions[ask.world.carol.id] = {"id": "sub_carol", "latest_invoice": {"charge_id": "ch_carol"}}
    pending = await schedule(ask)
    job = await over(ask)
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"cancelled": True, "refunded": True})
    assert (job.subject_id, job.requested_by_user_id, job.audit_log_reason) == (
        int(ask.user_id),
        int(ask.world.admin.id),
        "why",
    )
    looked, cancelled, refunded = service.requests
    assert (looked.method, looked.path) == ("GET", f"/billing/accounts/{ask.user_id}/subscription")
    assert (cancelled.path, cancelled.json()) == (
        "/billing/subscriptions/sub%2F1%20%C3%A4/cancel",
        {"prorate": False},
    )
    assert (refunded.path, refunded.json()) == ("/billing/charges/ch_1/refund", {"reason": "fraudulent"})
    assert len({cancelled.headers["idempotency-key"], refunded.headers["idempotency-key"]}) == 2

    # Another schedule finds nothing more to end.
    await schedule(ask, reason_code=4, replace_pending_deletion_at=pending)
    job = await over(ask)
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"cancelled": False, "refunded": False})
    assert (len(service.cancelled), service.refunded) == (1, ["ch_1"])

    # Without a charge there is nothing to pay back, whatever the reason of the deletion.
    dora = Asking(ask.server, ask.world, ask.world.alice.id)
    service.subscriptions[dora.user_id] = {"id": "sub_2", "latest_invoice": None}
    await schedule(dora, reason_code=1)
    job = await until(ask, lambda job: job.is_over and job.subject_id == int(dora.user_id))
    assert job.result == {"cancelled": True, "refunded": False}
    assert (len(service.cancelled), service.refunded) == (2, ["ch_1"])


@pytest.mark.rule("002.deletion.29")
async def test_what_fails_is_logged_and_tried_again(
    mock_clock: MockClock, ask: Asking, service: StoreService, secrets_stay_secret: Watch
) -> None:
    mock_clock.rate = 1  # the service is on the network, so that time cannot jump by itself
    service.subscriptions[ask.user_id] = SUBSCRIPTION
    service.faults = {"/cancel": says(500, {})}
    pending = await schedule(ask)
    job = await until(ask, lambda job: job.attempts == 1)
    assert (job.status, service.cancelled, service.refunded) == (JobStatus.PENDING, [], ["ch_1"])
    assert [
        line for line in secrets_stay_secret.lines if "a payment could not be ended" in line and "cancelled" in line
    ]
    await stands(ask, pending)

    # The next time only what is left is done.
    service.faults = {}
    mock_clock.jump(60)
    job = await over(ask)
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"cancelled": True, "refunded": True})
    assert (len(service.cancelled), service.refunded) == (1, ["ch_1"])
    await stands(ask, pending)

    # A processor that never gets well is asked for some hours, and then no more.
    carol = Asking(ask.server, ask.world, ask.world.carol.id)
    service.faults = {"/billing": says(404, b"no such page")}
    pending = await schedule(carol)
    most = JOB_KINDS[JobType.SUBSCRIPTION_CANCELLATION].max_attempts
    for attempt in range(1, most):
        await until(ask, lambda job, attempt=attempt: job.attempts == attempt)  # type: ignore[misc]
        mock_clock.jump(7 * HOUR)
    job = await over(ask)
    assert (job.status, job.attempts, job.error_message) == (JobStatus.FAILED, most, "BillingUnavailable")
    await stands(carol, pending)
    assert service.refunded == ["ch_1"]


@pytest.mark.rule("002.deletion.29")
async def test_whoever_stays_keeps_what_they_pay_for(mock_clock: MockClock, ask: Asking, service: StoreService) -> None:
    mock_clock.rate = 1
    service.subscriptions[ask.user_id] = SUBSCRIPTION
    service.faults = {"/billing": says(503, {})}
    pending = await schedule(ask)
    await until(ask, lambda job: job.attempts == 1)
    await ask.user("DELETE", "/deletion", {"expected_pending_deletion_at": pending})
    service.faults = {}
    mock_clock.jump(60)
    job = await over(ask)
    assert (job.status, job.progress_message) == (JobStatus.COMPLETED, "The deletion was taken back")
    assert (service.cancelled, service.refunded) == ([], [])


@pytest.mark.rule("002.deletion.27", "002.deletion.28")
async def test_a_server_that_dies_just_after_the_commit_goes_on_with_it(ask: Asking, service: StoreService) -> None:
    service.subscriptions[ask.user_id] = SUBSCRIPTION
    reached = trio.Event()

    async def sleeps(_: Asked) -> Answer:
        reached.set()
        await trio.sleep_forever()
        raise AssertionError

    # First before anything is known, then between the deed and the word of it.
    for fault in ("/subscription", "/cancel"):
        reached = trio.Event()
        service.faults = {fault: sleeps}
        if fault == "/subscription":
            await schedule(ask)
        else:
            await ask.server.start()
        await reached.wait()
        await ask.server.stop()
    service.faults = {}
    await ask.server.start()
    job = await over(ask)
    assert (job.status, job.result, job.attempts) == (JobStatus.COMPLETED, {"cancelled": True, "refunded": True}, 0)
    assert (service.cancelled, service.refunded) == (["sub/1 ä"], ["ch_1"])


@pytest.mark.rule("002.deletion.27")
@pytest.mark.chat_settings(**{"self_hosted": True, "billing.store_url": None})
async def test_on_a_self_hosted_instance_nobody_pays(ask: Asking) -> None:
    await schedule(ask)
    assert cancellations(ask) == []


@pytest.mark.rule("002.list-users.23")
async def test_an_account_is_found_by_its_subscription(ask: Asking, service: StoreService) -> None:
    world = ask.world
    service.owners = {"sub_1": world.carol.id, "../x?y=1": world.bob.id, "sub_gone": "1234567890"}

    async def resolved(text: str) -> list[str]:
        answer = (await world.admin.rest.get("/v1/admin/users", {"resolve": text})).expect(200)
        assert answer["total"] == len(answer["users"])
        return [user["id"] for user in answer["users"]]

    assert await resolved(" sub_1 ") == [world.carol.id]
    assert await resolved("../x?y=1") == [world.bob.id]
    for nobody in ("sub_2", "sub_gone", "..", "."):
        assert await resolved(nobody) == [], nobody
    asked = len(service.requests)
    assert await resolved(world.bob.id) == [world.bob.id]
    assert await resolved("carol@example.com") == [world.carol.id]
    assert await resolved("nobody#0001") == []
    assert len(service.requests) == asked

    entries = len(ask.entries("search_users"))
    for fault in (says(500, {}), says(404, b"no such page"), says(200, {"account_id": "carol"}), says(200, [])):
        service.faults = {"/billing/subscriptions": fault}
        refused = await world.admin.rest.get("/v1/admin/users", {"resolve": "sub_1"})
        assert (refused.status, refused.code) == (503, "STORE_BILLING_UNAVAILABLE")
    assert len(ask.entries("search_users")) == entries
