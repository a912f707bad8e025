"""Runs and writers that are killed at random lose nothing, double nothing, and compute the same.

With a few kills here; `make soak` kills a hundred times, and prints the figures of
docs/reliability.md. HARNESS_SOAK is the number of kills.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from pathlib import Path

import killed_runs
import pytest
from killed_runs import Place

KILLS = int(os.environ.get("HARNESS_SOAK", "4"))
OPTIONS = (
    *("--tasks", "age-traits,wealth-ethnicities,seat-c6,name-triplets"),
    *(f"--mitigator={name}" for name in ("none", "normalize", "hard-debias", "context-injection")),
    *(f"--mitigator={name}" for name in ("hard-debias+normalize", "context-injection+normalize")),
)
SIGNALS = (signal.SIGKILL, signal.SIGTERM)
CODES = {signal.SIGKILL: {-9}, signal.SIGTERM: {143, -15}}  # -15 before the command has begun


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of packages with the plugin."""
    folder = tmp_path / "site"
    killed_runs.install(folder)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_killed_runs_end_with_the_records_of_an_undisturbed_run(tmp_path: Path, site: Path) -> None:
    undisturbed = Place(tmp_path / "undisturbed", site, OPTIONS)
    process = undisturbed.start()
    process.join()
    assert process.exitcode == 0, undisturbed.output(0)
    began = time.monotonic()
    again = Place(tmp_path / "timed", site, OPTIONS)
    again.start().join()
    span = time.monotonic() - began
    expected = undisturbed.contents()
    figures: Counter[str] = Counter()
    draw = random.Random(16)
    while figures["kills"] < KILLS:
        place = Place(tmp_path / "killed", site, OPTIONS)
        signals = _killed(place, draw, 0.6 * span, KILLS - figures["kills"])
        figures += _figures(place, signals)
        assert place.faults() == []
        assert place.contents() == expected, "a record is lost or wrong"
        assert list(place.contents()) == list(expected), "the order differs"
        assert place.file.read_bytes().count(b"\n") == len(expected), "a record is doubled"
        shutil.rmtree(place.folder)
    print("\n" + ", ".join(f"{name}: {n}" for name, n in figures.items()))
    assert figures["kills"] == KILLS
    assert figures["tracebacks"] == 0


def _killed(
    place: Place, draw: random.Random, span: float, most: int
) -> list[signal.Signals | None]:
    """Kill runs in one place, until one ends by itself; return the signal that ended each."""
    signals: list[signal.Signals | None] = []
    while True:
        process, number = place.start(), draw.choice(SIGNALS)
        process.join(draw.uniform(0, span) if len(signals) < most else None)
        if process.is_alive() and process.pid is not None:
            os.kill(process.pid, number)
        process.join()
        if process.exitcode == 0:
            return [*signals, None]
        assert process.exitcode in CODES[number], place.output(place.runs - 1)
        signals.append(number)


def _figures(place: Place, signals: list[signal.Signals | None]) -> Counter[str]:
    """Return what a sequence of runs shows; SIGTERM loses the call in flight, and no other."""
    figures: Counter[str] = Counter()
    last: dict[str, int] = {}  # the run that encoded a text last
    for run, number in enumerate(signals):
        figures["runs"] += 1
        figures["kills"] += number is not None
        figures["SIGTERM"] += number == signal.SIGTERM
        figures["tracebacks"] += "Traceback" in place.output(run)
        for text in [text for call in place.calls(run) for text in call]:
            figures["texts"] += 1
            before = last.get(text)
            if before is not None:
                figures["texts encoded again"] += 1
                if signals[before] == signal.SIGTERM:
                    figures["of these after SIGTERM"] += 1
                    assert text in place.calls(before)[-1], "a text that had a vector was lost"
            last[text] = run
    return figures
