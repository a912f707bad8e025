"""The engine `devices`: several processes, and models that die, raise, or work."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import torch

from harness import evaluate
from harness.embedder import MockEmbedder
from harness.encode import stored_embedder
from harness.errors import DiskError, ModelError, UnknownName, UsageError
from harness.folders import Url
from harness.plugins.engines.driver import Encoder, Job
from harness.registry.registry import Registry
from harness.store.store import Store


def encode(tmp_path, texts, *, devices=("cpu", "cpu"), name="troubled", dimensions=4):
    embedder, done = MockEmbedder(dimensions=dimensions), []
    store = Store(tmp_path / "store", embedder.info.fingerprint)
    engine = Registry().engine("devices", devices)
    report = engine.encode(embedder, texts, store, on_done=done.append, name=name)
    assert sum(done) == len(texts)
    assert report.n_texts == len(texts) - len(report.failed)
    assert set(store.missing(texts)) == set(report.failed)
    encoded = [text for text in texts if text not in report.failed]
    if encoded:
        np.testing.assert_array_equal(store.get(encoded), embedder.encode(encoded))
    return store, report


def texts_of(n):
    return [f"text {i} " + "long " * (i % 40) for i in range(n)]


def test_several_processes_share_the_work(tmp_path, plugin):
    log = tmp_path / "log"
    _, report = encode(tmp_path, texts_of(300), name=f"troubled?log={log}&meet=yes")
    workers = {line.split()[0] for line in log.read_text().splitlines()}
    assert len(workers) == 2
    assert str(os.getpid()) not in workers
    assert report.failed == {}


@pytest.mark.parametrize(("budget", "largest"), [(60, 1), (600, 10), (10**6, 300)])
def test_an_embedders_own_token_budget_is_used(tmp_path, plugin, budget, largest):
    name = f"troubled?log={tmp_path / 'log'}&budget={budget}"
    embedder = Registry().embedder(name, device="cpu")
    store = Store(tmp_path / "store", embedder.info.fingerprint)
    texts = [f"text {i:3} " + "x" * 222 for i in range(300)]  # an estimate of 59 tokens each
    engine = Registry().engine("devices", ["cpu", "cpu"])
    engine.encode(embedder, texts, store, on_done=lambda n: None, name=name)
    sizes = [int(line.split()[1]) for line in (tmp_path / "log").read_text().splitlines()]
    assert sum(sizes) == 300
    assert max(sizes) == largest


def test_notes_of_each_process_are_notices_with_its_device(tmp_path, plugin):
    store, _ = encode(tmp_path, texts_of(300), name=f"troubled?log={tmp_path / 'log'}&meet=yes")
    assert [line.split()[0] for line in store.notices] == ["cpu:", "cpu:"]
    assert sum(int(line.split()[1]) for line in store.notices) == 300


def test_texts_of_a_worker_that_died_are_encoded_by_another(tmp_path, plugin):
    texts = [*texts_of(500), "the end"]
    store, report = encode(tmp_path, texts, name=f"troubled?once={tmp_path / 'once'}")
    assert (tmp_path / "once").exists()
    assert report.failed == {}
    assert store.missing(texts) == []


@pytest.mark.parametrize("devices", [("cpu",), ("cpu", "cpu")])
def test_a_text_that_kills_its_process_fails_and_the_others_are_encoded(tmp_path, plugin, devices):
    texts = ["die " * 30, *texts_of(500)]
    _, report = encode(tmp_path, texts, devices=devices)
    assert list(report.failed) == [texts[0]]
    assert [x for x in ("cpu", "signal 9") if x not in report.failed[texts[0]]] == []


@pytest.mark.parametrize("text", ["raise", "raise " * 5000])
def test_a_text_on_which_the_model_raises_fails_and_the_others_are_encoded(tmp_path, plugin, text):
    _, report = encode(tmp_path, [*texts_of(500), text])
    assert list(report.failed) == [text]
    assert report.failed[text] == "ValueError: no such text"


@pytest.mark.parametrize("bad", [["raise 1"], ["raise 1", "raise 2", "raise 3"]])
def test_one_process_and_several_report_the_same_failed_texts(tmp_path, plugin, bad):
    texts = [*bad, *texts_of(20 if len(bad) == 1 else 0)]
    _, several = encode(tmp_path, texts)
    embedder = Registry().embedder("troubled", device="cpu")
    store = Store(tmp_path / "local", embedder.info.fingerprint)
    local = (
        Registry()
        .engine("local", [])
        .encode(embedder, texts, store, on_done=lambda n: None, name="troubled")
    )
    assert several.failed == local.failed == dict.fromkeys(bad, "ValueError: no such text")
    assert several.n_texts == local.n_texts == len(texts) - len(bad)


def test_a_model_that_returns_the_wrong_shape_is_a_model_error(tmp_path, plugin):
    with pytest.raises(ModelError, match=r"shape \(\d+, 2\)"):
        encode(tmp_path, ["wrong", *texts_of(5)])


def test_a_model_that_is_refused_is_checked_by_the_workers_and_nothing_is_stored(tmp_path, plugin):
    checked = tmp_path / "checked"
    checked.mkdir()
    for _ in range(2):
        with pytest.raises(ModelError, match="another order"):
            encode(tmp_path, texts_of(300), name=f"troubled?sorts={checked}")
    assert Store(tmp_path / "store", "mock-text-4").info().rows == 0
    workers = {path.name for path in checked.iterdir()}
    assert 2 <= len(workers) <= 4
    assert str(os.getpid()) not in workers


def test_processes_of_one_store_may_check_a_model_at_once_and_later_ones_need_not(tmp_path, plugin):
    encode(tmp_path, texts_of(300), name=f"troubled?log={tmp_path / 'log'}&meet=yes")
    facts = json.loads(next((tmp_path / "store").rglob("model.json")).read_text())
    assert len(facts["admitted"]) == 1
    (tmp_path / "none").mkdir()
    encode(tmp_path, [f"more {i}" for i in range(9)], name=f"troubled?sorts={tmp_path / 'none'}")
    assert list((tmp_path / "none").iterdir()) == []


def test_a_device_that_cannot_be_used_leaves_the_work_to_the_others(tmp_path, plugin):
    store, _ = encode(
        tmp_path, texts_of(500), devices=("cpu", "gpu:7"), name="troubled?fails_on=gpu:7"
    )
    (notice,) = store.notices
    facts = ("'troubled?fails_on=gpu:7'", " gpu:7: ", "ValueError: there is no gpu:7")
    assert [fact for fact in facts if fact not in notice] == []


def test_a_model_that_no_worker_can_make_is_a_model_error(tmp_path, plugin):
    with pytest.raises(ModelError, match="ValueError: there is no cpu") as caught:
        encode(tmp_path, ["a"], name="troubled?fails_on=cpu")
    assert str(caught.value).count("'troubled?fails_on=cpu'") == 1


def test_a_worker_whose_model_has_another_fingerprint_is_not_used(tmp_path, plugin):
    with pytest.raises(ModelError, match=r"mock-text-5.*mock-text-4"):
        encode(tmp_path, ["a"], name="troubled?dimensions=5")


def test_a_store_that_cannot_be_written_is_a_disk_error(tmp_path, plugin):
    (tmp_path / "store").write_text("a file where the folder should be")
    with pytest.raises(DiskError) as caught:
        encode(tmp_path, ["a", "b"])
    assert str(tmp_path / "store") in str(caught.value)


@pytest.mark.posix
def test_an_interrupt_ends_the_workers_and_keeps_what_was_encoded(tmp_path, plugin):
    script = """
        import sys
        from pathlib import Path
        from harness.embedder import MockEmbedder
        from harness.registry.registry import Registry
        from harness.store.store import Store
        if __name__ == "__main__":
            sys.path.insert(0, sys.argv[1])
            embedder = MockEmbedder(dimensions=4)
            Registry().engine("devices", ["cpu", "cpu"]).encode(
                embedder,
                [f"text {i} " + "long " * 400 for i in range(3000)],
                Store(Path(sys.argv[2]), embedder.info.fingerprint),
                on_done=lambda n: print(n, flush=True),
                name=f"troubled?sleep=0.05&log={sys.argv[2]}/log",
            )
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py"), str(plugin), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    done = sum(int(process.stdout.readline()) for _ in range(6))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes of the group
    rest, errors = process.communicate()
    done += sum(int(line) for line in rest.split())
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert errors.count("Traceback") == 1
    store = Store(tmp_path, "mock-text-4")
    assert store.info().rows >= done
    assert store.files.leftovers() == []
    for worker in {line.split()[0] for line in (tmp_path / "log").read_text().splitlines()}:
        with pytest.raises(ProcessLookupError):
            os.kill(int(worker), 0)


@pytest.mark.posix
def test_workers_whose_parent_was_killed_write_what_they_have_and_end(tmp_path, plugin):
    child = os.fork()
    if child == 0:
        encode(tmp_path, texts_of(9000), name=f"troubled?sleep=0.05&log={tmp_path / 'log'}")
        os._exit(0)
    log = tmp_path / "log"
    while not log.exists() or len(log.read_text().splitlines()) < 4:
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    store = Store(tmp_path / "store", "mock-text-4")
    while not store.info().rows:  # in case of a failure, the suite's time limit ends this loop
        time.sleep(0.01)
    assert len(store.missing(texts_of(9000))) < 9000


def test_an_unknown_engine_is_an_error_with_a_suggestion():
    with pytest.raises(UnknownName, match="'devices'"):
        Registry().engine("device", ["cpu"])


def test_two_devices_give_the_vectors_of_one_on_a_real_model(tmp_path):
    name = "all-MiniLM-L6-v2"
    texts = [f"A sentence about {i} things" + ", and more of them" * (i % 7) for i in range(60)]
    vectors = []
    for devices in (["cpu"], ["cpu", "cpu"]):
        engine = Registry().engine("local" if len(devices) == 1 else "devices", devices)
        embedder = Registry().embedder(name, device="cpu")
        store = Store(tmp_path / str(len(devices)), embedder.info.fingerprint)
        report = engine.encode(embedder, texts, store, on_done=lambda n: None, name=name)
        assert report.failed == {}
        vectors.append(store.get(texts))
    np.testing.assert_allclose(vectors[1], vectors[0], atol=1e-5, rtol=0)


FEW_WORDS = {
    "name": "few-words",
    "version": 1,
    "title": "Few words",
    "description": "Few words.",
    "source": "This test",
    "category": "gender",
    "concept": "gender",
    "kinds": ["text"],
    "inputs": {
        "targets_1": {"words": ["he", "him"]},
        "targets_2": {"words": ["she", "her"]},
        "attributes_1": {"words": ["engineer", "captain"]},
        "attributes_2": {"words": ["nurse", "librarian"]},
    },
    "metrics": {"weat": {}},
    "primary": {"metric": "weat", "score": "association"},
}


@pytest.fixture
def gpus(tmp_path, monkeypatch):
    """This process may use two GPUs."""
    monkeypatch.setattr(stored_embedder, "DRIVER", tmp_path)  # which exists
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


def test_all_visible_gpus_are_used_unless_devices_are_chosen(tmp_path, plugin, gpus, monkeypatch):
    records = evaluate("counted", [FEW_WORDS], cache=tmp_path / "all")
    assert records.notices[0].endswith(": encodes on cuda:0, cuda:1; set --devices for fewer")
    assert records[0].environment.device == "cuda:0,cuda:1"
    again = evaluate("counted", [FEW_WORDS], cache=tmp_path / "all")
    assert again.notices == ()  # nothing is left to encode
    chosen = evaluate("counted", [FEW_WORDS], cache=tmp_path / "one", devices="cuda:1")
    assert chosen.notices == ()
    assert chosen[0].environment.device == "cuda:1"


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ({"engine": "devices?workers=2", "devices": "cpu"}, ["'devices'", "'workers'"]),
    ],
)
def test_a_wrong_option_is_an_error_before_anything_runs(arguments, facts):
    with pytest.raises(UsageError) as caught:
        evaluate("random-texts", "weat-6", **arguments)
    assert [fact for fact in facts if fact not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("place", "fact"), [("http://127.0.0.1:1/x", "cannot read"), ("unknown://x/y", "protocol")]
)
def test_a_worker_that_cannot_open_the_store_says_why(place, fact):
    embedder = MockEmbedder(dimensions=4)
    job = Job(None, embedder.info.fingerprint, Url(place), device="cpu", threads=1)
    assert fact in Encoder(job, embedder).make().reason
