"""The admission check: which text encoders are refused before a vector of theirs is stored."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import harness
from harness.embedder import MockEmbedder
from harness.encode import admission
from harness.encode.adapters import ObjectEmbedder
from harness.encode.stored_embedder import LocalEngine
from harness.errors import ModelError
from harness.store.folder import read_model_file
from harness.store.store import Store

WORDS = ["he is a doctor", "she is a nurse who works very long hours", "career", "home"]

TASK = {
    "name": "few-texts",
    "version": 1,
    "title": "Few texts",
    "category": "gender",
    "concept": "gender",
    "kinds": ["text"],
    "inputs": {
        "targets_1": {"words": ["he is a doctor", "his father"]},
        "targets_2": {"words": ["she is a nurse", "her mother"]},
        "attributes_1": {"words": ["career", "office"]},
        "attributes_2": {"words": ["home", "family"]},
    },
    "metrics": {"weat": {}},
    "primary": {"metric": "weat", "score": "association"},
}


def hashed(texts, d=16):
    return MockEmbedder(dimensions=d).encode(texts)


class Model(MockEmbedder):
    """Returns what `make` returns for a batch; counts the texts and remembers the batches."""

    def __init__(self, make=hashed, dimensions=16, **facts):
        super().__init__(dimensions=dimensions)
        self.info = dataclasses.replace(self.info, name="mine", fingerprint="mine", **facts)
        self.make, self.batches = make, []

    def encode(self, texts):
        self.batches.append(list(texts))
        return self.make(texts)

    @property
    def n_encoded(self):
        return sum(map(len, self.batches))


def encode(folder, model, texts=WORDS):
    """Encode texts with the engine `local`; return the store and the counts of `on_done`."""
    store, done = Store(folder, model.info.fingerprint), []
    LocalEngine().encode(model, texts, store, on_done=done.append, name=None)
    return store, done


def refused(folder, model, texts=WORDS):
    """Return why a model is refused, in one line, with nothing in its store."""
    store = Store(folder, model.info.fingerprint)
    with pytest.raises(ModelError) as caught:
        LocalEngine().encode(model, texts, store, on_done=lambda n: None, name=None)
    message = str(caught.value)
    assert "\n" not in message
    assert f"'{model.info.name}'" in message
    assert store.missing(texts) == list(dict.fromkeys(texts))
    assert store.files.names() == []
    return message


def by_length(texts):
    """As a model that sorts the texts of a batch and does not sort back."""
    return hashed(sorted(texts, key=len, reverse=True))


def over_the_batch(texts):
    vectors = hashed(texts)
    return vectors - vectors.mean(axis=0) if len(texts) > 1 else vectors


def scaled_over_the_batch(texts):
    """All directions are right, and the lengths are not."""
    vectors = hashed(texts) * np.array([[len(text)] for text in texts])
    return vectors / np.linalg.norm(vectors)


def with_padding(texts):
    """The mean over the longest text's number of words: cosines of .99 and less."""
    longest = max(len(text.split()) for text in texts)
    padding = 0.03 * (longest - np.array([[len(text.split())] for text in texts]))
    return hashed(texts) + padding * hashed(["[PAD]"])


def by_place(texts):
    return hashed([f"{i}" for i in range(len(texts))])


GENERATOR = np.random.default_rng(0)


def with_dropout(texts):
    kept = GENERATOR.random((len(texts), 16)) > 0.1
    return hashed(texts) * kept / 0.9


class Drifting:
    """Subtracts the mean of all vectors that it returned before."""

    def __init__(self):
        self.n, self.total = 0, np.zeros(16)

    def __call__(self, texts):
        vectors = hashed(texts) + 1
        self.n, self.total = self.n + len(texts), self.total + vectors.sum(axis=0)
        return vectors - self.total / self.n


@pytest.mark.parametrize(
    ("make", "facts"),
    [
        (by_length, ["another order", "row i"]),
        (lambda texts: hashed(texts[::-1]), ["another order"]),
        (lambda texts: hashed(sorted(texts)), ["another order"]),
        (over_the_batch, ["in a batch", "normalisation", "cosine"]),
        (scaled_over_the_batch, ["in a batch", "lengths of"]),
        (with_padding, ["in a batch", "padding is not masked", "the first token"]),
        (by_place, ["in a batch"]),
        (with_dropout, ["not deterministic", "dropout", "two calls"]),
        (lambda texts: GENERATOR.normal(size=(len(texts), 16)), ["not deterministic", "random"]),
        (lambda texts: np.random.default_rng(0).normal(size=(len(texts), 16)), ["in a batch"]),
        (Drifting(), ["not deterministic"]),
        (lambda texts: np.full((len(texts), 16), np.nan), ["NaN", "float32"]),
        (lambda texts: np.full((len(texts), 16), np.inf, dtype="f2"), ["NaN or infinity"]),
        (lambda texts: hashed(texts)[:, :8], ["(5, 8)", "declares 16 dimensions"]),
        (lambda texts: hashed(texts)[:, None].repeat(3, axis=1), ["(5, 3, 16)", "token"]),
        (lambda texts: hashed(texts).ravel(), ["(80,)", "(5, 16)"]),
        (lambda texts: hashed(texts).squeeze(), ["(16,)", "(1, 16)"]),
        (lambda texts: hashed(texts)[:-1], ["(4, 16) for 5 texts"]),
        (lambda texts: np.packbits(hashed(texts, 128) > 0, axis=1), ["uint8", "unpacked"]),
        (lambda texts: (hashed(texts) * 127).astype("i1"), ["int8", "scale"]),
        (lambda texts: hashed(texts) > 0, ["bool", "0.0 and 1.0"]),
        (lambda texts: hashed(texts) + 1j, ["complex", "real part"]),
        (lambda texts: hashed(texts).astype(object), ["object", "floats"]),
        (lambda texts: hashed(texts).astype(str), ["floats"]),
        (
            lambda texts: np.packbits(hashed(texts, 128) > 0, axis=1).astype("f4"),
            ["whole numbers", "packed bits"],
        ),
        (lambda texts: (hashed(texts) * 127).round(), ["whole numbers", "quantised"]),
    ],
)
def test_a_model_with_a_fault_is_refused_with_one_line_and_nothing_is_stored(tmp_path, make, facts):
    model = Model(make)
    message = refused(tmp_path, model)
    assert [fact for fact in facts if fact not in message] == []
    assert model.n_encoded <= admission.MOST_TEXTS


@pytest.mark.parametrize("noise", [1e-6, 9e-3, 2.4e-2])
def test_a_model_that_rounds_as_half_precision_does_passes(tmp_path, noise):
    def make(texts):
        vectors = hashed(texts)
        error = np.random.default_rng(len(texts)).normal(size=vectors.shape)
        return vectors + noise * error / np.linalg.norm(error, axis=1, keepdims=True)

    encode(tmp_path, Model(make))


def test_a_model_that_states_float32_is_compared_more_closely(tmp_path):
    def make(texts):
        return hashed(texts) + 0.03 * (len(texts) > 1) * hashed(["[PAD]"])

    encode(tmp_path, Model(make))
    exact = Model(make)
    exact.precision, exact.info = "float32", dataclasses.replace(exact.info, fingerprint="exact")
    assert "in a batch" in refused(tmp_path, exact)


def test_a_model_is_checked_once_for_each_version_of_the_check(tmp_path, monkeypatch):
    model = Model()
    store, done = encode(tmp_path, model)
    assert model.n_encoded == 11 + len(WORDS)
    assert done == [len(WORDS)]  # the texts of the check are none of the run
    assert store.missing(admission.TEXTS) == list(admission.TEXTS)
    later = Model()
    encode(tmp_path, later, ["more", "texts"])
    assert later.batches == [["more", "texts"]]
    monkeypatch.setattr(admission, "_version", lambda: "another version")
    again = Model()
    encode(tmp_path, again, ["even more"])
    assert again.n_encoded == 11 + 1
    passed = json.loads(store.files.read_model())["admitted"]
    assert (len(passed), passed[1]) == (2, "another version")


def test_a_run_counts_only_its_own_texts_and_a_warm_run_encodes_nothing(tmp_path):
    model = Model()
    records = harness.evaluate(model, TASK, cache=tmp_path)
    assert (records.texts, records.encoded, model.n_encoded) == (8, 8, 8 + 11)
    again = Model()
    records = harness.evaluate(again, TASK, cache=tmp_path)
    assert (records.texts, records.encoded, again.n_encoded) == (8, 0, 0)


def test_a_model_that_knows_only_the_texts_of_the_run_is_checked_with_these(tmp_path):
    table = dict(zip(WORDS, hashed(WORDS), strict=True))

    def look_up(texts):
        return np.stack([table[text] for text in texts])

    encode(tmp_path, Model(look_up))
    assert "another order" in refused(
        tmp_path / "2", Model(lambda texts: look_up(sorted(texts, key=len)))
    )


def test_a_model_that_reads_the_fixed_texts_alike_is_checked_with_those_of_the_run(tmp_path):
    def only_chinese(texts):
        return hashed([text if ord(text[0]) > 255 else "[UNK]" for text in texts])

    texts = ["医生", "护士在医院里工作了很久", "职业生涯"]
    _, done = encode(tmp_path, Model(only_chinese), texts)
    assert sum(done) == 3
    reverse = Model(lambda texts: only_chinese(texts)[::-1])
    assert "another order" in refused(tmp_path / "2", reverse, texts)


def test_a_model_without_a_vector_for_the_fixed_texts_passes(tmp_path):
    class Lacking(Model):
        def encode(self, texts):
            vectors = super().encode(texts)
            vectors[self.lacks(texts)] = np.nan
            return vectors

        def lacks(self, texts):
            return [text in admission.TEXTS for text in texts]

    _, done = encode(tmp_path, Lacking())
    assert sum(done) == 4


def test_a_model_that_cannot_be_checked_is_checked_by_the_next_run(tmp_path):
    def fails(texts):
        raise ValueError("not now")

    store, _ = encode(tmp_path, Model(fails))
    assert "admitted" not in read_model_file(store.files)
    assert "another order" in refused(tmp_path, Model(by_length))


@pytest.mark.parametrize("most", [1, 2])
def test_batches_have_at_most_the_texts_that_a_model_takes(tmp_path, most):
    model = Model()
    model.batch_texts = most
    encode(tmp_path, model)
    assert max(map(len, model.batches)) == most


def test_each_role_is_checked(tmp_path):
    prompts = {"text": "", "query": "query: ", "document": "passage: "}
    texts = ["\x1fquery\x1fwho is a nurse", "\x1fdocument\x1fshe is a nurse", "a plain text"]

    class Asymmetric(Model):
        def __init__(self, wrong=""):
            super().__init__(role_prompts=prompts)
            self.wrong = wrong

        def encode(self, texts, *, role="text"):
            self.batches.append([(role, text) for text in texts])
            vectors = hashed([prompts[role] + text for text in texts])
            return over_the_batch(texts) if role == self.wrong else vectors

    model = Asymmetric()
    encode(tmp_path, model, texts)
    assert model.n_encoded == 11 + len(texts)
    roles = {role for batch in model.batches[:9] for role, _ in batch}
    assert roles == {"query", "document", "text"}
    for i, role in enumerate(["query", "document"]):
        assert "in a batch" in refused(tmp_path / str(i), Asymmetric(role), texts)
    searching = Asymmetric()
    encode(tmp_path / "search", searching, texts[:2])
    assert {role for batch in searching.batches for role, _ in batch} == {"query", "document"}


@pytest.mark.parametrize("route", ["query", "document"])
def test_each_route_of_an_asymmetric_model_is_checked(tmp_path, route):
    class Router(Model):
        def __init__(self, wrong=""):
            super().__init__(routes={"query": "left", "document": "right"})
            self.wrong = wrong

        def encode(self, texts, *, role):  # there is no route for plain texts
            self.batches.append([(role, text) for text in texts])
            vectors = hashed([role + text for text in texts])
            return vectors[::-1] if role == self.wrong else vectors

    texts = ["\x1fquery\x1fwho is a nurse", "\x1fdocument\x1fshe is a nurse"]
    model = Router()
    encode(tmp_path, model, texts)
    assert model.n_encoded == 11 + len(texts)
    assert "order" in refused(tmp_path / "2", Router(route), texts)


def test_a_quantised_model_is_checked_as_it_is_before(tmp_path):
    from harness.encode.quantized import Quantized

    encode(tmp_path, Quantized(Model(), "binary"))
    assert "another order" in refused(tmp_path, Quantized(Model(by_length), "int8"))


def test_word_embedders_and_hosted_models_are_not_asked(tmp_path):
    for facts in ({"kind": "word"}, {"hosted": True}):
        model = Model(**facts)
        encode(tmp_path / str(facts), model)
        assert model.n_encoded == len(WORDS)


def test_an_object_in_training_mode_is_refused_with_what_to_do(tmp_path):
    import torch

    class Encoder(torch.nn.Module):
        name, fingerprint = "encoder", "1"

        def encode(self, texts):
            return torch.nn.functional.dropout(torch.tensor(hashed(texts)), 0.2, self.training)

    message = refused(tmp_path, ObjectEmbedder(Encoder()))
    assert [
        fact for fact in ("deterministic", "training mode", "eval()") if fact not in message
    ] == []
    encode(tmp_path, ObjectEmbedder(Encoder().eval()))


def test_a_refused_model_does_not_stop_the_others(tmp_path):
    other = MockEmbedder()
    records = harness.evaluate([Model(by_length), other], TASK, cache=tmp_path)
    assert {record.model.name for record in records} == {other.info.name}
    (failed,) = records.failed
    assert "another order" in failed.reason
