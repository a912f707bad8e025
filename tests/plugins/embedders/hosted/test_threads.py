"""A function mapped over items in threads."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.embedders.hosted.retrying import map_in_threads


@given(st.lists(st.none() | st.integers(), max_size=20), st.integers(1, 5))
def test_results_come_in_the_order_of_the_items(items, threads):
    assert map_in_threads(lambda item: [item], items, threads) == [[item] for item in items]


def test_no_more_items_than_threads_are_in_progress():
    lock, now, most = threading.Lock(), [0], [0]

    def work(_):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1

    map_in_threads(work, range(20), 4)
    assert 1 < most[0] <= 4


def test_after_an_exception_no_item_is_started_and_none_is_waited_for():
    started, may_end = [], threading.Event()

    def work(item):
        started.append(item)
        if item == 0:
            raise ValueError("no")
        may_end.wait(30)

    with pytest.raises(ValueError, match="no"):
        map_in_threads(work, range(100), 3)
    may_end.set()
    time.sleep(0.05)
    assert len(started) <= 5
