"""The loop that encodes: order, batches, exhausted memory, and texts that fail."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.embedder import MockEmbedder, ModelInfo
from harness.encode.batches import (
    BatchSize,
    encode_batches,
    is_out_of_memory,
    split,
    token_lengths,
)
from harness.errors import ModelError, Unavailable
from harness.limits import FAILURES_IN_A_ROW
from harness.store.store import Store


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    """Exclude older objects from the garbage collection that follows exhausted memory.

    In a run of the whole suite they are millions, and each collection takes a tenth of a second.
    """
    gc.freeze()
    yield
    gc.unfreeze()


class Recorder(MockEmbedder):
    """Counts words as tokens, remembers its batches, and may run out of memory."""

    def __init__(self, fits=10**9):
        super().__init__(dimensions=4)
        self.fits, self.batches = fits, []

    def lengths(self, texts):
        return [len(text.split()) for text in texts]

    def encode(self, texts):
        self.batches.append(list(texts))
        if max(self.lengths(texts)) * len(texts) > self.fits:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB\nmore lines")
        return super().encode(texts)


class Returning(MockEmbedder):
    """Returns what `make` returns for the texts."""

    def __init__(self, make, dimensions=3):
        super().__init__(dimensions=dimensions)
        self.make = make

    def encode(self, texts):
        return self.make(texts)


class InMemory(dict):
    """A writer that keeps each vector by its text."""

    def add(self, texts, vectors):
        self.update(zip(texts, vectors, strict=True))


def words(*counts):
    return [" ".join([f"w{i}"] * n) for i, n in enumerate(counts)]


def run(folder, embedder, texts, tokens=10):
    store, done = Store(folder, embedder.info.fingerprint), []
    with store.writer() as writer:
        report = encode_batches(
            embedder, texts, writer, size=BatchSize(tokens), on_done=done.append
        )
    assert sum(done) == len(texts)
    return store, report


def test_the_longest_texts_come_first_in_batches_within_the_budget(tmp_path):
    embedder = Recorder()
    _, report = run(tmp_path, embedder, words(1, 5, 2, 3, 3, 12, 2, 2))
    counts = [embedder.lengths(batch) for batch in embedder.batches]
    assert counts == [[12], [5, 3], [3, 2, 2], [2, 1]]
    assert (report.n_texts, report.n_batches, report.n_halvings) == (8, 4, 0)


@settings(deadline=None, max_examples=30)
@given(
    counts=st.lists(st.integers(1, 20), min_size=1, max_size=8),
    tokens=st.integers(1, 100),
    fits=st.integers(1, 50),
)
def test_every_text_that_fits_alone_is_encoded_with_any_budget(counts, tokens, fits):
    texts, written, done = words(*counts), InMemory(), []
    report = encode_batches(
        Recorder(fits), texts, written, size=BatchSize(tokens), on_done=done.append
    )
    too_long = {text for text, n in zip(texts, counts, strict=True) if n > fits}
    fitting = [text for text in texts if text not in too_long]
    assert set(report.failed) == too_long
    assert set(written) == set(fitting)
    assert report.n_texts == len(fitting)
    assert sum(done) == len(texts)
    for text, vector in zip(fitting, MockEmbedder(dimensions=4).encode(fitting), strict=True):
        np.testing.assert_array_equal(written[text], vector)


def test_a_batch_that_does_not_fit_is_halved_until_it_fits(tmp_path):
    embedder = Recorder(fits=5)
    store, report = run(tmp_path, embedder, words(*[2] * 16), tokens=32)
    assert [len(batch) for batch in embedder.batches] == [16, 8, 4, *[2] * 8]
    assert (report.n_halvings, report.n_batches, report.batch_tokens) == (3, 8, 4)
    assert store.missing(words(*[2] * 16)) == []


def test_a_text_that_does_not_fit_alone_fails_and_the_others_are_encoded(tmp_path):
    texts = words(50, 2, 2, 2, 2)
    embedder = Recorder(fits=8)
    store, report = run(tmp_path, embedder, texts, tokens=100)
    assert list(report.failed) == [texts[0]]
    assert "CUDA out of memory. Tried to allocate 2 GiB" in report.failed[texts[0]]
    assert "more lines" not in report.failed[texts[0]]
    assert store.missing(texts) == [texts[0]]
    assert embedder.batches[-2:] == [texts[1:2], texts[2:]]  # one of them alone shows the way


def test_torchs_own_error_of_exhausted_memory_is_recognised():
    import torch

    assert is_out_of_memory(torch.OutOfMemoryError("any words"))
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60)
    assert is_out_of_memory(caught.value)


@pytest.mark.parametrize("error", [ValueError("out of memory"), RuntimeError("shape mismatch")])
def test_other_errors_are_not_taken_for_exhausted_memory(error):
    assert not is_out_of_memory(error)


def test_texts_on_which_the_embedder_raises_fail_and_the_others_are_encoded(tmp_path):
    class Raises(Recorder):
        def encode(self, texts):
            self.batches.append(list(texts))
            if any("w1" in text or "w4" in text for text in texts):
                raise ValueError("index out of range\nsecond line")
            return MockEmbedder.encode(self, texts)

    texts = words(*[2] * 10)
    embedder = Raises()
    store, report = run(tmp_path, embedder, texts, tokens=12)
    reason = "ValueError: index out of range; second line"
    assert report.failed == dict.fromkeys([texts[1], texts[4]], reason)
    assert store.missing(texts) == [texts[1], texts[4]]
    assert [len(batch) for batch in embedder.batches] == [6, *[1] * 6, 4]
    assert (report.n_texts, report.n_halvings, report.batch_tokens) == (8, 0, 12)


def test_a_harness_error_of_the_embedder_is_raised_unchanged(tmp_path):
    def fail(texts):
        raise Unavailable("needs a key")

    with pytest.raises(Unavailable, match="needs a key"):
        run(tmp_path, Returning(fail), ["a"])


def test_vectors_encoded_before_an_error_are_in_the_store(tmp_path):
    class Fails(Recorder):
        def encode(self, texts):
            if self.batches:
                raise ModelError("now")
            return super().encode(texts)

    with pytest.raises(ModelError):
        run(tmp_path, Fails(), words(9, 8, 7))
    assert len(Store(tmp_path, Fails().info.fingerprint).missing(words(9, 8, 7))) == 2


@pytest.mark.parametrize(
    ("make", "facts"),
    [
        (lambda t: np.zeros((len(t), 4), np.float32), ["(2, 4)", "(2, 3)"]),
        (lambda t: np.zeros((1, 3), np.float32), ["(1, 3)", "(2, 3)"]),
        (lambda t: np.zeros(3, np.float32), ["(3,)", "(2, 3)"]),
        (lambda t: np.zeros((len(t), 3), np.int64), ["int64", "floats"]),
        (lambda t: [["a"] * 3] * len(t), ["floats"]),
        (lambda t: None, ["object", "floats"]),
    ],
)
def test_a_result_that_is_no_array_of_vectors_is_a_model_error(tmp_path, make, facts):
    embedder = Returning(make)
    with pytest.raises(ModelError) as caught:
        run(tmp_path, embedder, ["a", "b"])
    assert [x for x in [embedder.info.name, *facts] if x not in str(caught.value)] == []


@pytest.mark.parametrize("kind", [np.float16, np.float64, list])
def test_floats_of_any_precision_are_accepted(tmp_path, kind):
    def make(texts):
        vectors = np.ones((len(texts), 3))
        return vectors.tolist() if kind is list else vectors.astype(kind)

    store, _ = run(tmp_path, Returning(make), ["a", "b"])
    assert store.get(["b"]).tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_a_vector_with_a_value_that_is_not_finite_fails_its_text_only(tmp_path, value):
    def make(texts):
        return [[1.0, value if text == "bad" else 2.0, 3.0] for text in texts]

    store, report = run(tmp_path, Returning(make), ["good", "bad", "fine"])
    assert list(report.failed) == ["bad"]
    assert store.missing(["good", "bad", "fine"]) == ["bad"]


def nan_for(*unknown):
    return lambda texts: [[np.nan if text in unknown else 1.0] * 3 for text in texts]


def test_a_row_of_nan_of_a_word_embedder_means_no_vector_and_is_stored(tmp_path):
    embedder = Returning(nan_for("unknown"))
    embedder.info = ModelInfo(name="words", kind="word", dimensions=3, fingerprint="words")
    store, report = run(tmp_path, embedder, ["known", "unknown"])
    assert report.failed == {}
    assert np.isnan(store.get(["unknown"])).all()


def test_a_row_of_nan_of_a_text_that_the_encoder_lacks_is_stored(tmp_path):
    embedder = Returning(nan_for("bad", "unknown"))
    embedder.lacks = lambda texts: [text == "unknown" for text in texts]
    store, report = run(tmp_path, embedder, ["good", "bad", "unknown"])
    assert list(report.failed) == ["bad"]
    assert np.isnan(store.get(["unknown"])).all()


@pytest.mark.parametrize(
    "error", [ValueError("no"), MemoryError("no"), SystemExit(7)], ids=lambda e: type(e).__name__
)
def test_a_model_that_fails_at_every_text_is_given_up(tmp_path, error):
    class Fails(Recorder):
        def encode(self, texts):
            self.batches.append(list(texts))
            raise error

    texts, embedder = words(*range(1, 300)), Fails()
    _, report = run(tmp_path, embedder, texts, tokens=4096)
    assert set(report.failed) == set(texts)
    assert len(embedder.batches) < 3 * FAILURES_IN_A_ROW
    assert str(error) in next(iter(report.failed.values()))
    # Texts of all lengths were tried: some models fail at long ones only.
    tried = {len(text.split()) for batch in embedder.batches for text in batch if len(batch) == 1}
    assert {1, 299} <= tried


@pytest.mark.parametrize("error", [IndexError("too long"), MemoryError("too long")])
def test_a_model_that_fails_at_all_long_texts_encodes_the_others(tmp_path, error):
    class Short(Recorder):
        def encode(self, texts):
            if any(len(text.split()) > 50 for text in texts):
                raise error
            return super().encode(texts)

    texts = words(*range(1, 151))
    store, report = run(tmp_path, Short(), texts, tokens=500)
    assert set(report.failed) == set(texts[50:])
    assert all("too long" in reason for reason in report.failed.values())
    assert store.missing(texts) == texts[50:]


def test_token_counts_are_estimated_up_to_the_embedders_limit():
    embedder = MockEmbedder()
    embedder.info = ModelInfo(name="m", kind="text", max_tokens=8, fingerprint="m")
    assert token_lengths(embedder, ["", "a" * 8, "a" * 1000]).tolist() == [2, 4, 8]


@given(
    lengths=st.lists(st.integers(0, 50), max_size=30).map(lambda x: np.array(x, dtype=np.int64)),
    tokens=st.integers(1, 100),
)
def test_a_split_has_every_text_once_and_stays_within_the_budget(lengths, tokens):
    batches = list(split(lengths, tokens))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or lengths[batch].max() * len(batch) <= tokens
    longest = [lengths[batch].max() for batch in batches]
    assert longest == sorted(longest, reverse=True)
