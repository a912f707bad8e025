"""Calls in several processes: same results, errors in one line, and no process left behind."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from processes import is_running

from harness import parallel

BLOCKED = r"""
import os, sys, time
from harness import parallel

def block(_):
    os.write(1, f"{os.getpid()}\n".encode())
    time.sleep(60)

list(parallel.results(block, [0, 1], workers=2))
"""

DYING = r"""
import os, signal, time
from pathlib import Path
from harness import parallel

def parent(process):
    return int((process / "stat").read_text().rpartition(")")[2].split()[1])

def arguments():
    for i in range(4):
        if i > 1:  # the first call was sent, for which processes start
            processes = [path for path in Path("/proc").glob("[0-9]*") if path.exists()]
            print(*(path.name for path in processes if parent(path) == os.getpid()), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        yield i

list(parallel.results(time.sleep, arguments(), workers=2))
"""


def in_order(calls):
    return [result for _, result in sorted(calls, key=lambda call: call[0])]


def test_results_are_the_same_with_one_process_and_with_several():
    def squared(x):
        return x * x

    for workers in (1, 2):
        results = in_order(parallel.results(squared, range(9), workers=workers))
        assert results == [x * x for x in range(9)]


def test_sums_of_large_arrays_are_equal_to_the_last_bit():
    matrix = np.random.default_rng(0).normal(size=(600, 600))

    def product(k):
        return (matrix[:, :k] @ matrix[:k]).tobytes()

    here = in_order(parallel.results(product, [500, 600], workers=1))
    assert in_order(parallel.results(product, [500, 600], workers=2)) == here


def test_each_call_has_one_thread_here_and_elsewhere():
    def threads(_):
        from threadpoolctl import threadpool_info

        return {library["num_threads"] for library in threadpool_info()}

    for workers in (1, 2):
        assert in_order(parallel.results(threads, [0, 1], workers=workers)) == [{1}, {1}]


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_a_call_that_loads_torch_has_one_thread_of_it():
    script = """
        import os
        from harness.arrays import one_thread
        with one_thread(), one_thread():
            import torch
            inside = torch.get_num_threads()
        print(inside, torch.get_num_threads(), os.environ["OMP_NUM_THREADS"])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=os.environ | {"OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1", "2", "2"]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_no_more_processes_start_than_there_are_calls():
    def siblings(_):
        n = 0
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                command = (process / "cmdline").read_bytes()
                n += parent == os.getppid() and b"loky.backend.popen" in command
        return n

    assert max(in_order(parallel.results(siblings, [0, 1], workers=6))) == 2


def test_a_call_that_kills_its_process_is_lost_alone():
    def fatal(x):
        if x == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    results = in_order(parallel.results(fatal, range(8), workers=2))
    assert [x for x in results if not isinstance(x, parallel.NoResult)] == [0, 1, 2, 4, 5, 6, 7]
    assert results[3].killed
    assert "SIGKILL" in results[3].reason


def test_a_call_that_no_other_process_can_read_is_lost_alone_and_not_killed():
    class Unreadable:
        def __reduce__(self):
            return (int, ("no number",))

    lost, one = in_order(parallel.results(type, [Unreadable(), 1], workers=2))
    assert isinstance(lost, parallel.NoResult)
    assert not lost.killed
    assert one is int


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_process_is_left_behind(how):
    with subprocess.Popen(
        [sys.executable, "-P", "-c", BLOCKED],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        workers = [int(process.stdout.readline()) for _ in range(2)]
        process.send_signal(how)
    while any(map(is_running, workers)):  # if one is left, the suite's time limit ends this loop
        time.sleep(0.05)
