"""CPU and wall-clock seconds of a function call, and the tables that the benchmarks print."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Seconds:
    """CPU seconds of this process and its children, and wall-clock seconds."""

    cpu: float
    wall: float


def timed(work: Callable[[], Any]) -> Seconds:
    """Call `work` and return its CPU and wall-clock seconds."""
    wall, cpu = time.perf_counter(), _cpu()
    work()
    return Seconds(_cpu() - cpu, time.perf_counter() - wall)


def ratios(ours: Sequence[Seconds], theirs: Sequence[Seconds]) -> str:
    """Return the median and the range of the ratios of CPU seconds, pair by pair."""
    values = [a.cpu / b.cpu for a, b in zip(ours, theirs, strict=True)]
    return f"{median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def row(name: str, measured: Sequence[Seconds], digits: int = 2) -> str:
    """Return a line of a table: medians of CPU and wall-clock seconds."""
    cpu, wall = median(s.cpu for s in measured), median(s.wall for s in measured)
    return f"{name:44} {cpu:9.{digits}f} {wall:9.{digits}f}"


HEAD = f"{'':44} {'CPU s':>9} {'wall s':>9}"


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
