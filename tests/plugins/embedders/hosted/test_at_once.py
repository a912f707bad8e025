"""Facts about running a function on several items at once."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.embedders.hosted.at_once import at_once


@given(st.lists(st.none() | st.integers(), max_size=20), st.integers(1, 5))
def test_answers_come_in_the_order_of_the_items(items, parallel):
    assert at_once(lambda item: [item], items, parallel) == [[item] for item in items]


def test_so_many_are_under_way_and_no_more():
    lock, now, most = threading.Lock(), [0], [0]

    def work(_):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1

    at_once(work, range(20), 4)
    assert 1 < most[0] <= 4


def test_after_an_exception_nothing_further_is_begun_and_nothing_waited_for():
    begun, may_end = [], threading.Event()

    def work(item):
        begun.append(item)
        if item == 0:
            raise ValueError("no")
        may_end.wait(30)

    with pytest.raises(ValueError, match="no"):
        at_once(work, range(100), 3)
    may_end.set()
    time.sleep(0.05)
    assert len(begun) <= 5
