"""Runs and writers that are killed at random lose nothing, double nothing, and compute the same.

With a few kills here; `HARNESS_SOAK=100` kills a hundred times, and prints what they
lost. HARNESS_SOAK is the number of kills.
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
from score_records import record

from harness.results.folder import read
from harness.results.jsonl import verify
from harness.results.record import Record

KILLS = int(os.environ.get("HARNESS_SOAK", "2"))
OPTIONS = (
    *("--workers", "2"),
    *("--tasks", "name-triplets,seat-c6,gender-in-sentences"),
    *(f"--mitigator={name}" for name in ("none", "hard-debias", "context-injection")),
    "--mitigator=context-injection+normalize",
)
WRITERS = 3
RECORDS = 90
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
    killed_runs.warm()
    undisturbed, began = Place(tmp_path / "undisturbed", site, OPTIONS), time.monotonic()
    process = undisturbed.start()
    process.join()
    span = time.monotonic() - began
    assert process.exitcode == 0, undisturbed.output(0)
    expected = undisturbed.contents()
    figures: Counter[str] = Counter()
    draw = random.Random(16)
    while figures["kills"] < KILLS:
        place = Place(tmp_path / "killed", site, OPTIONS)
        signals = _killed(place, draw, span, KILLS - figures["kills"])
        figures += _figures(place, signals)
        assert place.faults() == []
        assert place.contents() == expected, "a record is lost or wrong"
        assert list(place.contents()) == list(expected), "the order differs"
        assert place.file.read_bytes().count(b"\n") == len(expected), "a record is doubled"
        shutil.rmtree(place.folder)
    print(f"\nan undisturbed run: {span:.1f} s, {len(expected)} records")
    print(", ".join(f"{name}: {n}" for name, n in figures.items()))
    assert figures["kills"] == KILLS


def _killed(
    place: Place, draw: random.Random, span: float, most: int
) -> list[signal.Signals | None]:
    """Kill runs in one place, until one ends by itself; return the signal that ended each."""
    signals: list[signal.Signals | None] = []
    while True:
        process, number = place.start(), SIGNALS[len(signals) % len(SIGNALS)]
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
        output = place.output(run)
        for stage in ("encoding", "scoring"):
            figures[f"kills after it began {stage}"] += number is not None and stage in output
        assert "Traceback" not in output, output
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


@pytest.mark.long
def test_killed_writers_of_one_file_lose_and_double_nothing(tmp_path: Path) -> None:
    killed_runs.warm()
    file, draw = tmp_path / "results" / "m.jsonl", random.Random(7)
    every = [record("t", value=float(i), seed=i) for i in range(RECORDS)]
    shares = [[r for r in every if r.seed % WRITERS != i] for i in range(WRITERS)]
    running = [killed_runs.writer(file, share) for share in shares]
    values = {r.id: r.value for r in every}
    kills = reads = 0
    while kills < KILLS:
        time.sleep(draw.uniform(0, 0.05))
        i = draw.randrange(WRITERS)
        if not running[i].is_alive() or file.exists():
            running[i].kill()
            running[i].join()
            kills += running[i].exitcode == -signal.SIGKILL
            running[i] = killed_runs.writer(file, shares[i])
        if file.exists():
            reads += 1
            assert all(values[r.id] == r.value for r in read([file]).records)
    for process in running:
        process.join()
        assert process.exitcode == 0
    print(f"\nkills of writers: {kills}, reads meanwhile: {reads}")
    assert kills == KILLS
    assert {r.id: r.value for r in read([file]).records} == values
    assert {fault.status for fault in verify(file, Record).faults} <= {"torn"}
    assert [path.name for path in file.parent.iterdir() if not path.name.startswith(".")] == [
        file.name
    ]
