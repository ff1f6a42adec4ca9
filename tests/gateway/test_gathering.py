"""What recent batches let expect of the next."""

from chat.gateway.fanout import PROBE_INTERVAL_MAXIMUM, Expectation


def test_at_first_one_more_event_than_one_is_tried() -> None:
    expectation = Expectation(32)
    assert expectation.events == 0
    expectation.delivered(1, queued=0)
    assert expectation.events == 1
    expectation.delivered(1, queued=3)
    assert expectation.events == 2


def test_events_that_came_together_are_expected_together_again() -> None:
    expectation = Expectation(32)
    expectation.came(8, in_time=True)
    expectation.delivered(8, queued=0)
    assert expectation.events == 8
    expectation.delivered(3, queued=2)
    assert expectation.events == 5


def test_no_more_than_the_maximum_is_expected() -> None:
    expectation = Expectation(32)
    expectation.came(100, in_time=True)
    expectation.delivered(100, queued=100)
    assert expectation.events == 32


def test_waiting_in_vain_halves_the_way_down() -> None:
    expectation = Expectation(32)
    expectation.came(8, in_time=True)
    expectation.delivered(8, queued=0)
    expectation.came(2, in_time=False)
    expectation.delivered(8, queued=0)
    assert expectation.events == 6  # five that can be relied on, and one to try


def test_trying_one_more_becomes_rare_while_it_fails_and_is_taken_up_when_it_succeeds() -> None:
    expectation = Expectation(32)
    expectation.came(4, in_time=True)

    def batches_until_one_more_is_tried() -> int:
        for batch in range(1, 10 * PROBE_INTERVAL_MAXIMUM):
            expectation.delivered(4, queued=4)
            if expectation.events == 5:
                return batch
        raise AssertionError("one more is never tried again")

    assert batches_until_one_more_is_tried() == 1
    intervals = []
    for _ in range(8):
        expectation.came(4, in_time=False)
        intervals.append(batches_until_one_more_is_tried())
    assert intervals == [2, 4, 8, 16, 32, 64, PROBE_INTERVAL_MAXIMUM, PROBE_INTERVAL_MAXIMUM]
    expectation.came(5, in_time=True)
    expectation.delivered(5, queued=0)
    assert expectation.events == 5
