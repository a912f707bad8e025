"""Models of other kinds than embedding encoders are refused from their files, and as objects."""

import json
import shutil

import numpy as np
import pytest

from harness.errors import ModelError
from harness.plugins.embedders.transformers.last_token import LastTokenEmbedder
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder
from harness.registry.registry import Registry
from harness.run import evaluation

SPARSE, MULTI_VECTOR, CROSS_ENCODER = "is a sparse encoder", "is a multi-vector", "a cross-encoder"


def refused(folder, **options):
    with pytest.raises(ModelError) as caught:
        SentenceTransformersEmbedder(str(folder), device="cpu", **options)
    message = str(caught.value)
    assert "\n" not in message
    assert "expected" in message
    return message


def plain(model, **changes):
    """Make a transformers model of a folder, with another config.json."""
    for file in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        (model / file).unlink(missing_ok=True)
    shutil.rmtree(model / "1_Pooling")
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, **changes}))
    return model


def change(file, **changes):
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


@pytest.fixture(scope="module")
def objects(masked_model):
    """A model of each other kind of sentence-transformers, by its class."""
    from sentence_transformers import CrossEncoder, MultiVectorEncoder, SparseEncoder

    classes = {SparseEncoder: SPARSE, CrossEncoder: CROSS_ENCODER, MultiVectorEncoder: MULTI_VECTOR}
    return [(class_(str(masked_model), device="cpu"), kind) for class_, kind in classes.items()]


def test_a_model_of_another_kind_of_the_library_is_refused(objects, tmp_path):
    for i, (model, kind) in enumerate(objects):
        folder = tmp_path / str(i)
        model.save_pretrained(str(folder))
        assert kind in refused(folder)
        assert kind in refused(folder, pooling="mean")
        with pytest.raises(ModelError, match=kind):
            LastTokenEmbedder(str(folder))
        change(folder / "config_sentence_transformers.json", model_type="SentenceTransformer")
        # Its steps or the use of its transformer say the same.
        assert kind in refused(folder)


def test_an_object_of_another_kind_is_a_model_of_that_kind(objects):
    kinds = ["sparse", "cross-encoder", "multi-vector"]
    for (model, _), kind in zip(objects, kinds, strict=True):
        embedder = evaluation.embedder_of(evaluation.as_list(model, Registry())[0], Registry())
        assert embedder.info.kind == kind


def test_a_step_of_another_kind_is_refused(model):
    steps = json.loads((model / "modules.json").read_text())
    for type_, kind in (
        ("pylate.models.Dense.Dense", MULTI_VECTOR),
        ("sentence_transformers.sparse_encoder.models.SpladePooling", SPARSE),
        ("sentence_transformers.models.NoSuchStep", "no part of an embedding encoder"),
    ):
        steps[1]["type"] = type_
        (model / "modules.json").write_text(json.dumps(steps))
        with pytest.raises(ModelError, match=kind):
            SentenceTransformersEmbedder(str(model), trust_remote_code=True)


def test_a_model_without_a_pooling_step_is_refused(model):
    steps = json.loads((model / "modules.json").read_text())
    (model / "modules.json").write_text(json.dumps(steps[:1]))
    with pytest.raises(ModelError, match="no pooling step"):
        SentenceTransformersEmbedder(str(model))


def test_a_multi_vector_model_is_known_by_its_architecture_or_its_metadata(model):
    folder = plain(model, architectures=["ColPaliForRetrieval"])
    assert MULTI_VECTOR in refused(folder)
    change(folder / "config.json", architectures=["BertModel"])
    (folder / "artifact.metadata").write_text("{}")
    assert MULTI_VECTOR in refused(folder)


def test_a_classifier_is_an_encoder_only_if_its_pooling_is_stated(model):
    before = SentenceTransformersEmbedder(str(model), device="cpu").encode(["hello world"])
    folder = plain(model, architectures=["BertForSequenceClassification"])
    assert "classifier with 2 labels" in refused(folder)
    change(folder / "config.json", id2label={"0": "no", "1": "yes"})
    assert "classifier with 2 labels" in refused(folder)
    pooled = SentenceTransformersEmbedder(str(folder), pooling="mean", device="cpu")
    np.testing.assert_allclose(pooled.encode(["hello world"]), before, atol=1e-6)


def test_a_language_model_is_an_encoder(model):
    folder = plain(model)
    for architectures in (["BertForMaskedLM"], ["BertForPreTraining"], None):
        change(folder / "config.json", architectures=architectures)
        vectors = SentenceTransformersEmbedder(str(folder), device="cpu").encode(["hello"])
        assert vectors.shape == (1, 16)


@pytest.fixture
def static(tmp_path):
    """A model2vec folder: rows, a word-level tokenizer, and the rows that it should average."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel

    folder = tmp_path / "static"
    folder.mkdir()
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "the": 1, "nurse": 2, "is": 3}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)
    save_file({"embeddings": rows}, folder / "model.safetensors")
    stated = {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": False}
    (folder / "config.json").write_text(json.dumps(stated))
    return folder, rows


def test_a_model2vec_folder_averages_the_rows_of_known_tokens(static):
    folder, rows = static
    encoder = Registry().embedder(str(folder), device="cpu")
    assert (encoder.info.dimensions, encoder.info.max_tokens) == (8, 512)
    vectors = encoder.encode(["the nurse", "the unheard nurse is", "unheard", ""])
    right = [rows[[1, 2]].mean(axis=0), rows[[1, 2, 3]].mean(axis=0), np.zeros(8), np.zeros(8)]
    np.testing.assert_allclose(vectors, right, atol=1e-6)


def test_a_model2vec_folder_in_bfloat16_has_its_values_in_float32(static):
    import torch
    from safetensors.torch import save_file

    folder, rows = static
    half = torch.tensor(rows).to(torch.bfloat16)
    save_file({"embeddings": half}, folder / "model.safetensors")
    vectors = Registry().embedder(str(folder), device="cpu").encode(["the nurse"])
    np.testing.assert_allclose(vectors[0], half.float()[[1, 2]].mean(0), atol=1e-6)


def test_a_model2vec_folder_normalizes_and_cuts_as_its_configuration_says(static):
    folder, rows = static
    change(folder / "config.json", normalize=True, max_length=2)
    encoder = Registry().embedder(str(folder), device="cpu")
    # Of a text 2 x 4 characters are read, since half of the tokens have 4 or fewer.
    mean = rows[[1, 3]].mean(axis=0)
    vectors = encoder.encode(["the is nurse"])
    np.testing.assert_allclose(vectors[0], mean / np.linalg.norm(mean), atol=1e-6)
    change(folder / "config.json", max_length=None)
    assert Registry().embedder(str(folder)).info.max_tokens is None


def test_a_model2vec_folder_may_share_and_weigh_its_rows(static):
    from safetensors.numpy import save_file

    folder, rows = static
    weights, mapping = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 1, 0])
    parts = {"embeddings": rows[:2].copy(), "weights": weights, "mapping": mapping}
    save_file(parts, folder / "model.safetensors")
    encoder = Registry().embedder(str(folder), device="cpu")
    assert encoder.info.dimensions == 8
    right = (2 * rows[1] + 3 * rows[1] + 4 * rows[0]) / 3
    np.testing.assert_allclose(encoder.encode(["the nurse is"])[0], right, atol=1e-6)


def test_a_model2vec_folder_that_is_not_whole_is_refused(static):
    folder, _ = static
    before = Registry().embedder(str(folder)).info.fingerprint
    tokens = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(tokens.replace('"is": 3', '"is": 3, "a": 4'))
    encoder = Registry().embedder(str(folder), device="cpu")
    assert encoder.info.fingerprint != before
    with pytest.raises(ModelError, match=r"5 tokens, but .* rows for 4"):
        encoder.encode(["a"])
    change(folder / "config.json", max_length="many")
    with pytest.raises(ModelError, match=r'max_length is "many"; expected a whole number'):
        Registry().embedder(str(folder))
    change(folder / "config.json", max_length=5)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"without its tokenizer\.json"):
        Registry().embedder(str(folder))
