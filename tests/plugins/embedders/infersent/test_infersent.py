"""InferSent: a BiLSTM over words with max pooling, and its folder."""

import json

import numpy as np
import pytest

from harness.embedder import Embedder, TokenStatesEmbedder
from harness.errors import InvalidOption, ModelError
from harness.plugins.embedders.infersent import files
from harness.plugins.embedders.infersent.infersent import InferSentEmbedder
from harness.plugins.embedders.vectors.word_vectors import WordVectors

D, H = 5, 7
WORDS = ["<s>", "</s>", "the", "nurse", "The", "woman", "'s", "do", "n't", "in", "law", ".", "good"]
TEXTS = ["The nurse 's good .", "good", "unheard the nurse don't unknown", "woman in-law"]


@pytest.fixture(scope="module")
def lstm():
    import torch

    torch.manual_seed(3)
    return torch.nn.LSTM(D, H, bidirectional=True).eval()


@pytest.fixture
def vector_of():
    vectors = np.random.default_rng(4).standard_normal((len(WORDS), D)).astype(np.float32)
    return dict(zip(WORDS, np.round(vectors, 4), strict=True))


@pytest.fixture
def folder(lstm, vector_of, tmp_path):
    from safetensors.torch import save_file

    path = tmp_path / "infersent"
    path.mkdir()
    weights = {f"enc_lstm.{name}": value for name, value in lstm.state_dict().items()}
    save_file(weights, path / "model.safetensors")
    config = {
        "model_type": "infersent",
        "word_dimensions": D,
        "hidden_size": H,
        "vectors": "words.txt",
    }
    (path / "config.json").write_text(json.dumps(config))
    lines = [f"{word} {' '.join(map(str, row.tolist()))}" for word, row in vector_of.items()]
    (path / "words.txt").write_text("\n".join(lines) + "\n")
    return path


def states_by_hand(lstm, vector_of, tokens):
    import torch

    with torch.no_grad():
        rows = torch.tensor(np.stack([vector_of[token] for token in tokens]))
        return lstm(rows)[0].numpy()


READ = [
    ["<s>", "The", "nurse", "'s", "good", ".", "</s>"],
    ["<s>", "good", "</s>"],
    ["<s>", "the", "nurse", "do", "n't", "</s>"],
    ["<s>", "woman", "in", "law", "</s>"],
]


def test_a_batch_equals_the_maximum_over_states_text_by_text(folder, lstm, vector_of):
    embedder = InferSentEmbedder(str(folder))
    assert isinstance(embedder, Embedder)
    assert isinstance(embedder, TokenStatesEmbedder)
    expected = [states_by_hand(lstm, vector_of, read).max(axis=0) for read in READ]
    found = embedder.encode(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_token_states_have_their_words_and_markers_have_none(folder, lstm, vector_of):
    first, _, third, last = InferSentEmbedder(str(folder)).token_states(TEXTS)
    np.testing.assert_allclose(first.states, states_by_hand(lstm, vector_of, READ[0]), atol=1e-6)
    assert third.words == ("unheard", "the", "nurse", "don't", "unknown")
    np.testing.assert_array_equal(third.word_of, [-1, 1, 2, 3, 3, -1])
    np.testing.assert_array_equal(last.word_of, [-1, 0, 1, 1, -1])


def test_an_empty_text_has_the_vector_of_the_markers(folder, lstm, vector_of):
    expected = states_by_hand(lstm, vector_of, ["<s>", "</s>"]).max(axis=0)
    found = InferSentEmbedder(str(folder)).encode(["", " \n"])
    np.testing.assert_allclose(found, [expected, expected], atol=1e-6)


def test_a_text_without_known_words_gives_a_row_of_nan(folder, vector_of):
    words = [word for word in WORDS if not word.startswith("<")]
    table = WordVectors.of(words, np.stack([vector_of[word] for word in words]))
    embedder = InferSentEmbedder(str(folder), vectors=table)
    found = embedder.encode(["unknown", "good", ""])
    np.testing.assert_array_equal(np.isnan(found).all(axis=1), [True, False, True])
    assert embedder.token_states(["unknown"])[0].states.shape == (0, 2 * H)
    assert embedder.encode([]).shape == (0, 2 * H)


def test_changed_settings_vectors_and_weights_change_the_fingerprint(folder):
    before = InferSentEmbedder(str(folder)).info.fingerprint
    assert InferSentEmbedder(str(folder)).info.fingerprint == before
    stated = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(stated | {"lowercase": True}))
    lower = InferSentEmbedder(str(folder)).info.fingerprint
    (folder / "words.txt").write_text((folder / "words.txt").read_text().replace("nurse", "nurs"))
    words = InferSentEmbedder(str(folder)).info.fingerprint
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-2] + bytes([content[-2] ^ 1, content[-1]]))
    assert len({before, lower, words, InferSentEmbedder(str(folder)).info.fingerprint}) == 4


def test_word_vectors_of_another_length_are_refused(folder):
    table = WordVectors.of(["a"], np.ones((1, D + 1), dtype=np.float32), name="longer")
    with pytest.raises(InvalidOption, match="5 dimensions"):
        InferSentEmbedder(str(folder), vectors=table)


def test_a_folder_that_is_read_wrongly_is_refused(folder):
    stated = json.loads((folder / "config.json").read_text())
    for change, fact in (
        ({"model_type": "bert"}, "model_type"),
        ({"hidden_size": 8}, "enc_lstm"),
        ({"hidden_size": "7"}, "hidden_size='7'"),
        ({"layers": 2}, "'layers'"),
        ({"vectors": "../words.txt"}, "../words.txt"),
    ):
        (folder / "config.json").write_text(json.dumps(stated | change))
        with pytest.raises(ModelError, match=fact):
            InferSentEmbedder(str(folder))
    (folder / "config.json").write_text(json.dumps(stated))
    for file in ("model.safetensors", "config.json"):
        (folder / file).unlink()
        with pytest.raises(ModelError, match=file):
            InferSentEmbedder(str(folder))


def test_published_weights_are_converted_without_running_code(folder, lstm, vector_of, tmp_path):
    import torch

    published = tmp_path / "infersent1.pkl"
    weights = {f"enc_lstm.{name}": value for name, value in lstm.state_dict().items()}
    torch.save(weights, published)
    converted = tmp_path / "converted"
    assert files._main([str(published), str(converted), "words.txt"]) == 0
    (folder / "words.txt").rename(converted / "words.txt")
    expected = [states_by_hand(lstm, vector_of, read).max(axis=0) for read in READ]
    np.testing.assert_allclose(InferSentEmbedder(str(converted)).encode(TEXTS), expected, atol=1e-6)


def test_a_pickle_that_would_run_code_is_refused_and_runs_none(tmp_path):
    import pickle

    class Code:
        def __reduce__(self):
            return (tmp_path.joinpath("ran").touch, ())

    (tmp_path / "bad.pkl").write_bytes(pickle.dumps({"enc_lstm.weight_ih_l0": Code()}, protocol=2))
    with pytest.raises(ModelError, match="the weights of"):
        files.convert(tmp_path / "bad.pkl", tmp_path / "out")
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "out").exists()


def test_weights_of_something_else_are_refused(tmp_path):
    import torch

    torch.save({"linear.weight": torch.ones(2, 2)}, tmp_path / "other.pkl")
    with pytest.raises(ModelError, match="the weights of"):
        files.convert(tmp_path / "other.pkl", tmp_path / "out")
    with pytest.raises(ModelError, match=r"none\.pkl"):
        files.convert(tmp_path / "none.pkl", tmp_path / "out")
