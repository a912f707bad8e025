"""Text encoders are fine-tuned: on labels by a classifier, on graded pairs by the cosine."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tiny_corpus as tiny

from harness import evaluate
from harness.commands.main import run
from harness.errors import InvalidOption, NotApplicable, UnknownName, UsageError
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


def test_a_model_without_weights_of_its_own_cannot_be_fine_tuned(place):
    base = f"bag-of-words:{tiny.vectors(place[0])}"
    with pytest.raises(NotApplicable, match="cannot be trained"):
        train(settings(place, place[0], "never", base=base))


# Bias during `harness train`.

SCORE = "bias_alike_spearman"


@pytest.fixture(scope="module")
def alike(place):
    file = place[0] / "alike.yaml"
    file.write_text(json.dumps(tiny.ALIKE), "utf-8")
    return str(file)


@pytest.fixture(scope="module")
def pairs(place):
    return tiny.corpus(place[0] / "pairs")


def test_bias_is_measured_by_step_and_changes_no_weight(place, pairs, alike):
    trained = train(settings(place, pairs, "measured", bias=alike, bias_steps=5))
    assert [row["step"] for row in trained.bias] == [0, 5, 10, 12]
    assert trained.stopped == ""
    at_start, at_end = trained.bias[0][SCORE], trained.bias[-1][SCORE]
    assert at_start != at_end
    for model, value in ((place[1], at_start), (trained.folder, at_end)):
        name = model if model is place[1] else f"sentence-transformers:{model}"
        (record,) = (r for r in evaluate(name, alike, cache=place[0] / "cache") if r.primary)
        assert record.value == value
    plain = train(settings(place, pairs, "unmeasured"))
    weights = [(t.folder / "model.safetensors").read_bytes() for t in (trained, plain)]
    assert weights[0] == weights[1]
    assert f"| {1.0:g} | 12 |" in (trained.folder / "README.md").read_text("utf-8")


def test_a_training_stops_at_a_bound_for_good(place, pairs, alike):
    options = {"bias": alike, "bias_steps": 5, "stop_below": {SCORE: 1.5}}
    trained = train(settings(place, pairs, "stopped", **options))
    assert trained.stopped.startswith("stopped at step ")
    assert "alike_spearman is" in trained.stopped
    assert trained.bias[-1]["step"] < 12
    assert (trained.epochs, trained.best_epoch) == (1, 1)
    again = train(settings(place, pairs, "stopped", **options))
    assert not again.is_new
    assert (again.bias, again.stopped) == (trained.bias, trained.stopped)
    with pytest.raises(UsageError, match="another training"):
        train(settings(place, pairs, "stopped"))


def test_wrong_measurements_are_refused_before_anything_is_written(place, pairs, capsys):
    for options, error, message in (
        ({"bias": "alik"}, UnknownName, "alik"),
        ({"stop_above": {"bias_overall": 1.0}}, InvalidOption, "--bias"),
        ({"bias": "ws-353", "stop_above": {"bias_overal": 1.0}}, UnknownName, "bias_overal"),
    ):
        with pytest.raises(error, match=message):
            train(settings(place, pairs, "refused", **options))
    assert not (place[0] / "refused").exists()
    assert run(["train", "--bias", "ws-353", "--stop-above", "bias_overall"]) == 2
    assert "expected METRIC=VALUE" in capsys.readouterr().err
