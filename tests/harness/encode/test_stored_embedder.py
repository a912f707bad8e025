"""An embedder that reads from the store: failed texts are reported and not tried again."""

import pytest

import harness
from harness.embedder import MockEmbedder
from harness.encode.stored_embedder import LocalEngine, StoredEmbedder
from harness.errors import HarnessError, ModelError
from harness.progress import Silent
from harness.store.store import Store


class Picky(MockEmbedder):
    """Raises on texts that begin with an x; remembers its batches."""

    def __init__(self):
        super().__init__(dimensions=4)
        self.batches = []

    def encode(self, texts):
        self.batches.append(list(texts))
        if any(text.startswith("x") for text in texts):
            raise ValueError("no x")
        return super().encode(texts)


def stored(folder):
    embedder = Picky()
    store = Store(folder, embedder.info.fingerprint)
    return StoredEmbedder(embedder, None, LocalEngine(), store, Silent())


def has(text, *facts):
    """Return whether all facts are in a text of one line."""
    return "\n" not in text and all(fact in text for fact in facts)


def test_a_failed_text_is_in_the_notices_and_not_tried_again(tmp_path):
    embedder = stored(tmp_path)
    embedder.ensure(["a", "x1", "b", "x2", "x3"])
    assert embedder.encoded == 2
    (notice,) = embedder.notices
    assert has(notice, "'x1'", "2 more", "ValueError: no x")
    embedder.embedder.batches.clear()
    for _ in range(2):
        with pytest.raises(HarnessError) as caught:
            embedder.encode(["x2", "a", "x3", "x2"])
        assert has(str(caught.value), "2 ", "'x2'")
    assert embedder.encode(["b", "a"]).shape == (2, 4)
    assert embedder.embedder.batches == []
    assert len(embedder.notices) == 1


def test_a_model_that_fails_on_every_text_is_a_model_error(tmp_path):
    embedder = stored(tmp_path)
    with pytest.raises(ModelError) as caught:
        embedder.ensure(["x1", "x2"])
    assert has(str(caught.value), "'mock-text'", "2 texts", "'x1'", "ValueError: no x")
    assert str(caught.value).count("ValueError") == 1
    assert embedder.notices == []


def test_a_text_that_fails_again_in_a_later_run_is_only_a_notice(tmp_path):
    for _ in range(2):
        embedder = stored(tmp_path)
        embedder.ensure(["a", "x1"])
        (notice,) = embedder.notices
        assert has(notice, "'x1'", "ValueError: no x")


def test_a_text_on_which_the_embedder_raises_fails_only_the_tasks_that_have_it(registry, tmp_path):
    class OnBarn(MockEmbedder):
        def encode(self, texts):
            if "barn" in texts:
                raise ValueError("no barn")
            return super().encode(texts)

    for _ in range(2):  # a later run finds all but that text in the store
        records = harness.evaluate(
            OnBarn(),
            ["toy-places", "toy-places-10"],
            registry=registry,
            concept="toy-place",
            cache=tmp_path / "cache",
        )
        assert {record.task.name for record in records} == {"toy-places-10"}
        (failed,) = records.failed
        assert has(failed.reason, "1 ", "'barn'")
        (notice,) = records.notices
        assert has(notice, "'barn'", "ValueError: no barn")
