"""Text encoders are fine-tuned: on labels by a classifier, on graded pairs by the cosine."""

from __future__ import annotations

import numpy as np
import pytest
import tiny_corpus as tiny

from harness.errors import InvalidOption, NotApplicable
from harness.plugins.train.settings import TrainSettings
from harness.plugins.train.training import train
from harness.registry.registry import Registry


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fine-tuning")
    return folder, tiny.encoder(folder)


def settings(place, corpus, out, **options):
    folder, base = place
    chosen = {"base": base, "batch_size": 8, "lr": 1e-3, "device": "cpu"} | options
    return TrainSettings(corpus=str(corpus), out=folder / out, **chosen)


def test_an_encoder_learns_labels_and_is_a_model_like_any_other(place):
    trained = train(settings(place, tiny.corpus(place[0] / "labels"), "softmax", epochs=4))
    assert trained.kind == "transformer"
    assert trained.scores["test"]["accuracy"] > 0.9
    after = Registry().embedder(f"sentence-transformers:{trained.folder}")
    before = Registry().embedder(place[1])
    assert after.info.fingerprint != before.info.fingerprint
    assert not np.allclose(after.encode(tiny.SENTENCES), before.encode(tiny.SENTENCES))


def test_graded_pairs_move_the_cosines_towards_the_scores(place):
    scores = {"entailment": 5, "neutral": 2.5, "contradiction": 0}
    folder = place[0] / "graded"
    folder.mkdir()
    for seed, (split, size) in enumerate({"train": 96, "dev": 24, "test": 24}.items()):
        rows = [
            {
                "sentence1": "the man moves",
                "sentence2": row["hypothesis"],
                "score": scores[row["label"]],
            }
            for row in tiny.pairs(size, seed)
        ]
        tiny.write(folder / f"{split}.jsonl", rows)
    trained = train(settings(place, folder, "cosine", epochs=4))
    assert trained.scores["test"]["spearman"] > max(0.8, trained.before["test"]["spearman"])
    assert not (trained.folder / "head.safetensors").exists()


def test_an_encoder_needs_no_dev_pairs(place):
    file = tiny.corpus(place[0] / "file") / "train.jsonl"
    trained = train(settings(place, file, "no-dev", limit=16))
    assert trained.scores == {}
    assert trained.pairs == {"train": 16}
    assert trained.best_epoch == trained.epochs == 1


def test_options_of_a_bilstm_are_refused(place):
    with pytest.raises(InvalidOption, match="hidden=8: is for a BiLSTM"):
        train(settings(place, place[0], "never", hidden=8))


def test_a_model_without_weights_of_its_own_cannot_be_fine_tuned(place):
    base = f"bag-of-words:{tiny.vectors(place[0])}"
    with pytest.raises(NotApplicable, match="cannot be trained"):
        train(settings(place, place[0], "never", base=base))
