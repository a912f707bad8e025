"""The next model is encoded while the last one is scored, where there are GPUs for it.

What overlaps is read from the order of events: each batch of the device `metered` is a line in a
log, and the metric of the first model counts those of the second.
"""

import contextlib
import multiprocessing
import time

import pytest
import torch

from harness import Scale, evaluate, metric
from harness.encode import stored_embedder
from harness.progress import Silent
from harness.results.records import NotRunWarning
from harness.store import pruning

N_WORDS = 400
TASK = {
    "name": "many-words",
    "version": 1,
    "title": "Many words",
    "description": "Many words.",
    "source": "This test",
    "category": "gender",
    "concept": "gender",
    "kinds": ["text"],
    "inputs": {
        "targets_1": {"words": [f"one {i} " + "word " * (30 + i % 9) for i in range(N_WORDS)]},
        "targets_2": {"words": [f"two {i} " + "word " * (30 + i % 9) for i in range(N_WORDS)]},
    },
    "metrics": {"watched": {}},
    "primary": {"metric": "watched", "score": "gap"},
}
BATCHES = 5  # of at most 8,192 tokens, by an estimate of 41 to 51 for each of 800 texts


class Watch:
    """The metric of the task: for the first model it waits until the second one is encoded."""

    def __init__(self, log, *, until=0, error=None):
        self.log, self.until, self.error = log, until, error
        self.seen = []  # batches of the second model that had begun when each model was scored

    def count(self):
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def metric(self):
        @metric(name="watched", scores={"gap": Scale(ideal=0)})
        def watched(targets_1, targets_2):
            if not self.seen:
                for _ in range(1_000):  # the end if nothing overlaps
                    if self.count() >= self.until:
                        break
                    time.sleep(0.05)
            self.seen.append(self.count())
            if self.error:
                raise self.error
            return {"gap": float(targets_1.mean() - targets_2.mean())}

        return watched


@pytest.fixture
def gpu(tmp_path, monkeypatch):
    """This process may use a GPU, and ten seconds of its work are little."""
    monkeypatch.setattr(stored_embedder, "DRIVER", tmp_path)  # which exists
    monkeypatch.setattr(stored_embedder, "WORTH", 1.0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)


def models(tmp_path, **options):
    more = "".join(f"&{key}={value}" for key, value in options.items())
    return [
        f"metered?log={tmp_path / 'first'}&name=first",
        f"metered?log={tmp_path / 'second'}&dimensions=32&name=second{more}",
    ]


def run(tmp_path, watch, place, *, names=None, **options):
    return evaluate(
        names or models(tmp_path),
        [TASK],
        metrics=[watch.metric()],
        cache=tmp_path / f"{place}-cache",
        results=tmp_path / place,
        workers=1,
        **options,
    )


def facts(records):
    return [(record.model.name, record.value) for record in records]


class Shown(Silent):
    def __init__(self):
        self.lines = []

    @contextlib.contextmanager
    def stage(self, label, total, unit):
        done = []
        yield done.append
        self.lines.append(f"{label}: {sum(done)}/{total} {unit}")


@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_second_model_is_encoded_while_the_first_is_scored(
    tmp_path, plugin, gpu, monkeypatch, n
):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n)
    watch, shown = Watch(tmp_path / "second", until=BATCHES), Shown()
    records = run(tmp_path, watch, "ahead", progress=shown)
    during, after = watch.seen
    assert after == BATCHES
    assert during >= 0.9 * BATCHES
    assert records.encoded == records.texts == 2 * 2 * N_WORDS
    # Records and what is shown are those of one model after another.
    (tmp_path / "second").unlink()
    watch, alone = Watch(tmp_path / "second"), Shown()
    expected = run(tmp_path, watch, "alone", progress=alone, engine="local")
    assert watch.seen[0] == 0
    assert facts(records) == facts(expected)
    assert (records.texts, records.encoded) == (expected.texts, expected.encoded)
    assert shown.lines == alone.lines
    assert len(shown.lines) == 4


def test_on_a_cpu_the_second_model_waits_for_its_turn(tmp_path, plugin):
    watch = Watch(tmp_path / "second")
    records = run(tmp_path, watch, "results", devices="cpu")
    assert watch.seen[0] == 0 < watch.seen[1]
    assert records.encoded == 2 * 2 * N_WORDS


@pytest.mark.parametrize("fault", [{"fails": "no weights"}, {"bad": 33}])
def test_what_fails_ahead_fails_at_its_turn_and_as_ever(tmp_path, plugin, gpu, fault):
    names, both = models(tmp_path, **fault), []
    for place, options in (("ahead", {}), ("alone", {"engine": "local"})):
        with pytest.warns(NotRunWarning):
            records = run(tmp_path, Watch(tmp_path / "second"), place, names=names, **options)
        both.append((facts(records), records.not_run, records.encoded))
    assert both[0] == both[1]
    assert [name for name, _ in both[0][0]][:1] == ["first"]


def test_an_interrupt_ends_both_and_keeps_what_was_encoded(tmp_path, plugin, gpu):
    watch = Watch(tmp_path / "second", until=2, error=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, watch, "results")
    assert multiprocessing.active_children() == []
    (store,) = [
        info for info in pruning.stores(tmp_path / "results-cache") if "32" in info.fingerprint
    ]
    assert 0 < store.rows <= 2 * N_WORDS
    again = run(tmp_path, Watch(tmp_path / "second"), "results")
    assert again.encoded == 2 * N_WORDS - store.rows
    assert [record.model.name for record in again] == ["first", "second"]


def test_little_work_and_mitigators_that_rewrite_wait_for_the_turn(
    tmp_path, plugin, gpu, monkeypatch
):
    watch = Watch(tmp_path / "second")
    run(tmp_path, watch, "rewritten", mitigators="context-injection")
    assert watch.seen[0] == 0
    monkeypatch.setattr(stored_embedder, "WORTH", 1e15)
    watch = Watch(tmp_path / "second")
    (tmp_path / "second").unlink()
    run(tmp_path, watch, "few")
    assert watch.seen[0] == 0
