"""The engine `ray`: actors of one small cluster, which die, hang, or have another model."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import small_study

import harness
from harness import evaluate, parallel
from harness.embedder import MockEmbedder, ModelInfo
from harness.errors import Unavailable, UsageError
from harness.registry.registry import Registry
from harness.store.store import Store

pytestmark = pytest.mark.posix


@pytest.fixture(scope="module")
def ray(site):
    """Ray on two CPUs, started once; its processes find the embedder `troubled`."""
    ray = pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(site))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.delenv("RAY_ADDRESS", raising=False)
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
        )
        yield ray
        ray.shutdown()


@pytest.fixture
def encode(ray, plugin, tmp_path):
    """Encode texts with actors, and check the vectors that are not reported as failed."""

    def run(texts, *, name="troubled", engine="ray?actors=2", embedder=None):
        embedder, done = embedder or MockEmbedder(dimensions=4), []
        store = Store(tmp_path / "store", embedder.info.fingerprint)
        report = (
            Registry().engine(engine).encode(embedder, texts, store, on_done=done.append, name=name)
        )
        assert sum(done) == len(texts)
        assert set(store.missing(texts)) == set(report.failed)
        encoded = [text for text in texts if text not in report.failed]
        np.testing.assert_allclose(store.get(encoded), embedder.encode(encoded), atol=1e-5, rtol=0)
        return store, report

    return run


def texts_of(n):
    return [f"text {i} " + "long " * (i % 40) for i in range(n)]


def encoded_by(log):
    """Return how many texts each process encoded."""
    lines = [line.split() for line in log.read_text().splitlines()]
    return {pid: sum(int(n) for other, n in lines if other == pid) for pid, _ in lines}


def test_actors_share_the_work_and_give_the_vectors_of_one_process(encode, tmp_path):
    log = tmp_path / "log"
    store, report = encode(texts_of(300), name=f"troubled?log={log}&meet=yes")
    assert report.failed == {}
    by_process = encoded_by(log)
    assert len(by_process) == 2
    assert sum(by_process.values()) == 300
    assert sorted(line.rsplit(": ", 1)[1] for line in store.notices) == sorted(
        f"{n} texts" for n in by_process.values()
    )


def test_texts_of_an_actor_that_was_killed_are_encoded_by_another(encode, tmp_path):
    texts = [*texts_of(300), "end " * 40, "die " * 10]
    _, report = encode(texts, name=f"troubled?once={tmp_path / 'once'}&budget=200")
    assert list(report.failed) == [texts[-1]]
    assert "died" in report.failed[texts[-1]]
    assert (tmp_path / "once").exists()


def test_a_node_with_another_model_is_not_used(encode, tmp_path):
    store, report = encode(texts_of(300), name=f"troubled?differs={tmp_path / 'differs'}")
    assert report.failed == {}
    (notice,) = store.notices
    assert [fact for fact in ("mock-text-5", "mock-text-4") if fact not in notice] == []


def test_a_model_object_is_sent_to_the_actors(encode):
    class Lengths:
        info = ModelInfo(name="lengths", kind="text", dimensions=2, fingerprint="lengths 1")

        def encode(self, texts):
            return np.asarray([[len(text), 1] for text in texts], dtype=np.float32)

    _, report = encode(texts_of(20), embedder=Lengths(), name=None)
    assert report.failed == {}


@pytest.mark.long
def test_two_commands_share_a_cluster_and_a_store(encode, ray, plugin, tmp_path):
    log = tmp_path / "log"
    script = f"""
from pathlib import Path
from harness.embedder import MockEmbedder
from harness.registry.registry import Registry
from harness.store.store import Store
engine = Registry().engine("ray?actors=1")
texts = [f"text {{i}} " + "long " * (i % 40) for i in range(300)]
report = engine.encode(
    MockEmbedder(dimensions=4), texts, Store(Path({str(tmp_path / "store")!r}), "mock-text-4"),
    on_done=lambda n: None, name="troubled?log={log}&meet=yes&budget=200",
)
engine.close()
print(report.n_texts)
"""
    address = ray.get_runtime_context().gcs_address
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "RAY_ADDRESS": address, "PYTHONPATH": str(plugin)},
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        # Each waits until the other has begun.
        encode(texts_of(300), name=f"troubled?log={log}&meet=yes&budget=200", engine="ray?actors=1")
        assert other.communicate()[0] == "300\n"
    assert len(encoded_by(log)) == 2
    assert ray.is_initialized()


def test_calls_run_on_the_cluster_and_a_dead_process_loses_its_own(ray):
    def act(n):
        if n == 3:
            os._exit(1)
        if n == 4:
            return threading.Lock()
        return n, os.getpid()

    calls = parallel.results(act, range(8), workers=1, cluster=Registry().engine("ray"))
    answers = dict(calls)
    lost = {n: answers.pop(n) for n in (3, 4)}
    assert {n: answer[0] for n, answer in answers.items()} == {n: n for n in (0, 1, 2, 5, 6, 7)}
    assert os.getpid() not in {pid for _, pid in answers.values()}
    assert (lost[3].killed, lost[4].killed) == (True, False)


def test_scores_on_a_cluster_are_those_of_one_process(ray, tmp_path):
    tasks = ["seat-c6", "seat-c1"]
    records = [
        evaluate(
            "random-texts", tasks, ["none", "hard-debias"], engine=engine, workers=workers,
            cache=tmp_path / str(workers),
        )
        for engine, workers in (("local", 1), ("ray", 2))
    ]  # fmt: skip
    assert len(records[0]) > 2
    assert [record.value for record in records[1]] == [record.value for record in records[0]]
    assert records[1].not_run == records[0].not_run
    assert ray.is_initialized()


@pytest.mark.long
def test_a_study_on_a_cluster_has_the_numbers_of_one_process(ray, tmp_path):
    folder = small_study.fill(tmp_path, small_study.vectors())
    path = small_study.write(folder / "small.yaml", small_study.content(folder))
    values = []
    for engine in ("local", "ray"):
        results = harness.run_study(
            path, results=tmp_path / engine, include=[folder], engine=engine
        )
        values.append([{c: j.values for c, j in record.judged.items()} for record in results])
    assert values[0]
    assert values[1] == values[0]


@pytest.mark.parametrize(
    ("engine", "devices", "fact"),
    [
        ("ray", ["cpu"], "no devices"),
        ("ray?actors=0", [], "actors=0"),
        ("ray?cpus=0&gpus=0", [], "needs CPUs or GPUs"),
        ("ray?cpus=nan", [], "needs CPUs or GPUs"),
        ("ray?actor=2", [], "did you mean 'actors'"),
        ("ray?memory=much", [], "memory=much"),
        ("ray?timeout=2", [], "no option 'timeout'"),
    ],
)
def test_wrong_options_are_refused(engine, devices, fact):
    with pytest.raises(UsageError, match=fact):
        Registry().engine(engine, devices)


@pytest.mark.parametrize("option", ["gpus=1", "cpus=3", "memory=4000TB"])
def test_more_than_the_cluster_has_is_an_error(encode, option):
    with pytest.raises(Unavailable, match="has room for an actor"):
        encode(["a"], engine=f"ray?{option}")
