"""Facts about encoding in this process."""

import pytest

from harness.embedder import MockEmbedder
from harness.errors import UsageError
from harness.registry import Registry
from harness.store import Store


def test_it_encodes_into_the_store_and_reports(tmp_path):
    engine = Registry().engine("local", [])
    embedder, done = MockEmbedder(), []
    store = Store(tmp_path, embedder.info.fingerprint)
    report = engine.encode(embedder, ["a", "bb"], store, on_done=done.append, name=None)
    assert (report.n_texts, report.failed, sum(done)) == (2, {}, 2)
    assert (store.get(["bb", "a"]) == embedder.encode(["bb", "a"])).all()


def test_it_refuses_several_devices_and_says_which_engine_takes_them():
    with pytest.raises(UsageError, match="the engine 'devices' uses several"):
        Registry().engine("local", ["cpu", "cpu"])
