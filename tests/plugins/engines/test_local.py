"""The engine `local` encodes in this process."""

import pytest

from harness.embedder import MockEmbedder
from harness.errors import UsageError
from harness.registry.registry import Registry
from harness.store.store import Store


def test_it_encodes_into_the_store_and_reports(tmp_path):
    engine = Registry().engine("local", [])
    embedder, done = MockEmbedder(), []
    store = Store(tmp_path, embedder.info.fingerprint)
    report = engine.encode(embedder, ["a", "bb"], store, on_done=done.append, name=None)
    assert (report.n_texts, report.failed, sum(done)) == (2, {}, 2)
    assert (store.get(["bb", "a"]) == embedder.encode(["bb", "a"])).all()


def test_an_embedders_own_token_budget_is_used(tmp_path):
    class Hosted(MockEmbedder):
        batch_tokens = 100_000

    embedder, done = Hosted(), []
    texts = [f"text {i} " * 50 for i in range(100)]  # 10,000 tokens, more than the CPU's budget
    store = Store(tmp_path, embedder.info.fingerprint)
    Registry().engine("local", []).encode(embedder, texts, store, on_done=done.append, name=None)
    assert done == [100]


def test_it_refuses_several_devices_and_names_the_engine_for_them():
    with pytest.raises(UsageError, match="'devices'"):
        Registry().engine("local", ["cpu", "cpu"])
