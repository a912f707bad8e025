"""Requests a minute, and waits that an endpoint asks for; on a clock that only waiting moves."""

import email.utils
import threading
import time

import pytest

from harness.errors import InvalidOption, ModelError, Unavailable
from harness.plugins.embedders.hosted import retrying
from harness.plugins.embedders.hosted.retrying import Limiter, Problem, Retrying, asked_wait


class Clock:
    """A clock that waiting moves."""

    def __init__(self):
        self.now = 1000.0
        self.lock = threading.Lock()

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        with self.lock:
            self.now += seconds


def times(limiter, n, tokens=0):
    return [limiter.wait(tokens) - 1000.0 for _ in range(n)]


def rate(limiter, n=50):
    """Return how many requests a minute the limiter lets through."""
    start = limiter.clock.now
    for _ in range(n):
        limiter.wait(0)
    return 60 * n / max(1e-9, limiter.clock.now - start)


def test_without_limits_nothing_waits():
    assert times(Limiter(clock=Clock()), 100, tokens=10_000) == [0.0] * 100


def test_requests_a_minute_are_spread_evenly():
    assert times(Limiter(rpm=30, clock=Clock()), 4) == pytest.approx([0, 2, 4, 6])


def test_tokens_a_minute_count_too():
    limiter = Limiter(rpm=60, tpm=6000, clock=Clock())
    assert times(limiter, 3, tokens=1000) == pytest.approx([0, 10, 20])
    assert times(limiter, 3, tokens=1) == pytest.approx([30, 31, 32])


def test_processes_that_share_the_limits_get_a_part_each():
    limiter = Limiter(rpm=60, clock=Clock())
    limiter.share(4)
    assert times(limiter, 3) == pytest.approx([0, 4, 8])


def test_a_429_halves_the_rate_once_for_all_requests_in_flight_and_it_recovers_slowly():
    limiter = Limiter(rpm=600, clock=Clock())
    assert rate(limiter) == pytest.approx(600, rel=0.1)
    in_flight = [limiter.wait(0) for _ in range(4)]
    for sent in in_flight:
        limiter.slow_down(sent)
    assert rate(limiter) == pytest.approx(300, rel=0.1)
    for _ in range(10):
        limiter.speed_up()
    assert 350 < rate(limiter) < 450
    for _ in range(1000):
        limiter.speed_up()
    assert rate(limiter) == pytest.approx(600, rel=0.1), "never more than the limit"


def test_a_429_slows_down_without_limits_too():
    limiter = Limiter(clock=Clock())
    for _ in range(3):
        limiter.slow_down(limiter.wait(0))
        limiter.clock.sleep(0.01)
    slow = rate(limiter)
    assert slow < 1000
    for _ in range(1000):
        limiter.speed_up()
    assert rate(limiter) > 10 * slow


def test_all_threads_wait_while_the_endpoint_asks_to():
    limiter = Limiter(rpm=60, clock=Clock())
    limiter.wait(0)
    assert limiter.pause(120)
    assert not limiter.pause(119.5), "one line is enough for requests in flight"
    assert times(limiter, 2) == pytest.approx([120, 121])


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_a_limit_is_above_zero(limit, embedder):
    with pytest.raises(InvalidOption, match="rpm"):
        embedder(rpm=limit)


# Retrying


def asked(*answers, max_wait=600.0, retries=6):
    """Return what requests gave, the lines that were shown, and the seconds that they took."""
    clock, said, waiting = Clock(), [], list(answers)
    repeated = Retrying(Limiter(clock=clock), retries, max_wait, said.append)
    try:
        result = repeated.request(lambda: waiting.pop(0), 0, "host/v1")
    except ModelError as error:
        result = error
    return result, said, clock.now - 1000, len(answers) - len(waiting)


def busy(wait=None):
    return Problem(Unavailable("429"), again=True, wait=wait, too_many=True)


def test_a_wait_that_the_endpoint_asks_for_is_waited_for_and_shown():
    result, said, seconds, _ = asked(busy(150), {"ok": 1})
    assert result == {"ok": 1}
    assert seconds == pytest.approx(150, abs=1)
    assert said == [
        f"host/v1: waiting {left} s as the endpoint asks" for left in ("150", "90", "30")
    ]


def test_a_wait_beyond_the_limit_is_an_error_with_both_numbers():
    with pytest.raises(Unavailable, match=r"429; it asks to wait 7,200 s, and max_wait is 600 s"):
        asked(busy(7200))
    assert asked(busy(7200), {}, max_wait=8000)[0] == {}


def test_without_a_wait_the_pauses_grow():
    _, said, seconds, _ = asked(*[busy()] * 5, {})
    assert 0.75 * 15.5 <= seconds <= 15.5 + 5
    assert said == []


def test_an_endpoint_that_nobody_reached_is_not_tried_often():
    unreached = Problem(ModelError("refused"), again=True, unreached=True)
    assert asked(*[unreached] * 9)[3] == 1 + retrying.UNREACHED_RETRIES
    assert asked(busy(), *[unreached] * 9)[3] == 7


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "1e12"}, 1e12),
        ({"retry-after": "inf"}, float("inf")),
        *[({"retry-after": text}, None) for text in ("", "0", "-1", "nan", "soon", "9" * 5000)][
            :-1
        ],
        ({"retry-after": "Mon, 01 Jan 1990 00:00:00 GMT"}, None),
        ({"retry-after": "Mon, 99 Jan 99999 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_what_an_endpoint_asks_for_is_read(headers, seconds):
    assert asked_wait(headers) == seconds


def test_a_date_is_read():
    date = email.utils.formatdate(time.time() + 90, usegmt=True)
    assert asked_wait({"retry-after": date}) == pytest.approx(90, abs=5)
