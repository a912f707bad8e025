"""CPU and wall-clock seconds of a function call, and what the benchmarks print and keep.

What a benchmark keeps is `perf/NAME.json`, and `docs/speed.md` is made of these files. A row
names the code that it measures, so that the page can mark what is older than its code.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "sentence-transformers")
"""Packages whose version may change a figure."""


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


def keep(
    path: Path,
    *,
    title: str,
    command: str,
    rows: Iterable[Mapping[str, Any]],
    code: Mapping[str, Sequence[str]],
    versions: Mapping[str, str] | None = None,
) -> None:
    """Write the figures of a benchmark.

    Parameters
    ----------
    path
        The file.
    title, command
        What is measured, and the command that measures it again.
    rows
        The figures by column. The first column names what is measured.
    code
        The files and folders that a row measures, relative to the root of the repository, by the
        value of its first column.
    versions
        Versions of what was measured; by default those of this environment.
    """
    if versions is None:
        versions = {"python": platform.python_version()}
        versions |= {name: metadata.version(name) for name in PACKAGES}
    content = {
        "title": title,
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "load": round(os.getloadavg()[0], 1),
        "versions": dict(versions),
        "rows": [dict(row) for row in rows],
        "code": {name: {"paths": list(of), "digest": code_digest(of)} for name, of in code.items()},
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def machine() -> str:
    """Return the processor and the number of cores."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            name = line.partition(":")[2].strip()
            break
    return f"{name}, {os.cpu_count()} cores"


def code_digest(paths: Iterable[str]) -> str:
    """Return a digest of the Python files at these paths, relative to the root."""
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        place = ROOT / path
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
