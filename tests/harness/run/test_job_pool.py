"""Scoring in several processes gives what scoring in one gives, and survives the death of one."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

import harness
from harness.embedder import MockEmbedder
from harness.mitigator import Mitigator
from harness.results.records import NotRunWarning

OF_THE_RUN = {"run", "created", "seconds", "environment", "check"}
WORDS = ("she", "he", "woman", "man", "her", "his", "nurse", "doctor", "art", "science")


def facts(records, folder):
    """Return everything that must not depend on the number of processes."""
    return (
        [record.model_dump(exclude=OF_THE_RUN) for record in records],
        [record.read_samples(folder) for record in records],
        records.not_run,
        records.notices,
        (records.texts, records.encoded),
    )


def numbered(folder):
    """Return the ids in the only results file of a folder."""
    (path,) = folder.glob("*.jsonl")
    return [record.id for record in harness.read_results(path)]


@pytest.fixture
def twice(tmp_path):
    """Evaluate with one process and with two, each with a cache of its own."""

    def run(*arguments, **options):
        both = []
        for workers in (1, 2):
            folders = {name: tmp_path / f"{name}-{workers}" for name in ("cache", "results")}
            records = harness.evaluate(*arguments, workers=workers, **folders, **options)
            both.append((facts(records, folders["results"]), numbered(folders["results"])))
        return both

    return run


def where(main, kills=()):
    """Return a metric that says in which process it runs, and that kills another one's."""

    @harness.metric("where", scores={"x": harness.Scale(ideal=0)})
    def process(targets_1, *, texts):
        if os.getpid() != main and set(kills) & set(texts["targets_1"]):
            os.kill(os.getpid(), signal.SIGKILL)
        return harness.Score(float(len(targets_1)), details={"process": os.getpid()})

    return process


def processes(records):
    return {r.task.name: r.details["process"] for r in records if r.metric == "where"}


def test_records_of_words_are_equal_to_the_last_digit(twice):
    model = MockEmbedder("word", 24, WORDS)
    mitigators = ["none", "hard-debias", "double-hard-debias", "whitening", "leace+ran", "ran"]
    one, two = twice(model, "weat-6,weat-7,weat-8", mitigators)
    assert one == two


def test_records_of_texts_are_equal_to_the_last_digit(twice):
    class Reversed(Mitigator):  # reads texts that no plan lists
        fingerprint = "reversed"  # of an object without one, records last for one run

        def fit(self, embedder, concept=None):
            self.embedder_ = embedder
            return self

        def transform(self, vectors, texts):
            return vectors + self.embedder_.encode([text[::-1] for text in texts])

    class Refuses(Mitigator):
        def fit(self, embedder, concept=None):
            raise harness.NotApplicable("too few words")

    def spread(targets_1, *, rng):
        if len(targets_1) > 20:
            raise ValueError("too many")
        return float(targets_1.std() + rng.random())

    spread.fingerprint = "spread"

    mitigators = ["none", "hard-debias", "context-injection+hard-debias", "swap-average"]
    one, two = twice(
        MockEmbedder("text", 16),
        "seat-c6,seat-c6b,gender-occupations",
        [*mitigators, Reversed(), Refuses()],
        metrics=harness.metric("spread", scores={"x": harness.Scale(ideal=0)})(spread),
        samples=True,
    )
    assert one == two
    records, _, not_run, _, (_, encoded) = one[0]
    assert {record["mitigator"]["label"] for record in records} >= {*mitigators, "Reversed"}
    assert {entry.kind for entry in not_run} == {"mitigator", "failed"}
    assert encoded


def test_a_few_small_tasks_start_no_process():
    records = harness.evaluate(MockEmbedder("text"), "seat-c6,seat-c7", metrics=where(os.getpid()))
    assert set(processes(records).values()) == {os.getpid()}


def test_workers_score_in_other_processes():
    main = os.getpid()
    records = harness.evaluate(
        MockEmbedder("text"), "seat-c6,seat-c7,seat-c8", metrics=where(main), workers=2
    )
    assert len(processes(records)) == 3
    assert main not in processes(records).values()


def test_a_task_that_kills_its_process_fails_alone():
    main = os.getpid()
    text = harness.evaluate(MockEmbedder("text"), "seat-c8", samples=True)
    texts = [row["text"] for record in text for row in record.read_samples() if "text" in row]
    with pytest.warns(NotRunWarning, match="SIGKILL"):
        records = harness.evaluate(
            MockEmbedder("text"),
            "seat-c6,seat-c7,seat-c8",
            metrics=where(main, kills=texts),
            workers=2,
        )
    (lost,) = records.failed
    assert lost.task == "seat-c8"
    assert "\n" not in lost.reason
    assert processes(records).keys() == {"seat-c6", "seat-c7"}


def test_what_cannot_be_pickled_runs_in_this_process():
    lock = threading.Lock()

    @harness.metric("locked", scores={"x": harness.Scale(ideal=0)})
    def locked(targets_1):
        with lock:
            return float(np.abs(targets_1).sum())

    records = harness.evaluate(MockEmbedder("text"), "seat-c6,seat-c7", metrics=locked, workers=2)
    assert {r.task.name for r in records if r.metric == "locked"} == {"seat-c6", "seat-c7"}
    assert not records.failed
