"""`harness train` as users run it, on tens of pairs."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tiny_corpus as tiny
from safetensors import safe_open

from harness.commands.main import run
from harness.errors import InvalidOption, UsageError
from harness.plugins.train.settings import TrainSettings
from harness.plugins.train.training import train
from harness.plugins.train.training_folder import CHECKPOINTS, curves
from harness.registry.registry import Registry

OPTIONS = {"hidden": 8, "epochs": 6, "batch_size": 8, "lr": 1.0, "device": "cpu"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    tiny.corpus(folder / "corpus")
    (folder / "corpus" / "corpus.json").write_text(
        json.dumps({"made_from": {"method": "subtract", "percentile": 95.0, "splits": {"seed": 7}}})
    )
    return folder, tiny.vectors(folder)


def settings(place, out, **options):
    folder, base = place
    chosen = {**OPTIONS, **options}
    return TrainSettings(
        **{"base": base, "corpus": str(folder / "corpus"), "out": folder / out} | chosen
    )


@pytest.fixture(scope="module")
def trained(place):
    return train(settings(place, "bilstm"))


def test_a_bilstm_learns_a_corpus_that_can_be_learnt(trained):
    assert trained.is_new
    assert trained.kind == "bilstm"
    assert trained.pairs == {"train": 96, "dev": 24, "test": 24}
    assert trained.scores["test"]["accuracy"] > 0.9
    assert 1 <= trained.best_epoch <= trained.epochs <= 6


def test_the_epoch_with_the_best_dev_score_is_kept(place):
    # At this learning rate the first epoch is the best one.
    worse = train(settings(place, "worse", lr=20.0, epochs=3))
    state = json.loads((worse.folder / "training.json").read_text("utf-8"))
    scores = [epoch["dev_accuracy"] for epoch in state["epochs"]]
    assert scores[0] > max(scores[1:])
    assert worse.best_epoch == 1
    assert worse.scores["dev"]["accuracy"] == scores[0]


def test_the_folder_is_a_model_of_the_harness_with_token_states(trained):
    embedder = Registry().embedder(f"sentence-transformers:{trained.folder}")
    assert embedder.info.dimensions == 16
    vectors = embedder.encode([*tiny.SENTENCES, "qwerty"])
    assert np.isfinite(vectors[:-1]).all()
    assert np.isnan(vectors[-1]).all()
    (states,) = embedder.token_states(["A man's qwerty runs."])
    assert [states.words[i] for i in states.word_of] == ["a", "man", "'s", "runs", "."]
    np.testing.assert_allclose(
        states.states.max(axis=0), embedder.encode(["A man's qwerty runs."])[0], atol=1e-6
    )


def test_word_vectors_stay_frozen(trained, place):
    words = Registry().embedder(place[1])
    with safe_open(trained.folder / "model.safetensors", "numpy") as weights:
        table = weights.get_tensor("emb_layer.weight")
    np.testing.assert_array_equal(table[1:], words.vectors)


def test_curves_have_a_part_for_the_loss_and_for_each_score(trained):
    epochs = [{"epoch": 1, "loss": 0.9, "dev_spearman": 0.1}, {"epoch": 2, "loss": 0.5}]
    title, panels = curves({"epochs": epochs, "best_epoch": 1}, "a<b")
    assert title.startswith("a<b")
    assert len(panels) == 2
    assert (trained.folder / "curves.svg").read_bytes().startswith(b"<?xml")


def test_the_card_says_corpus_percentile_seed_base_scores_and_version(trained):
    card = (trained.folder / "README.md").read_text("utf-8")
    state = json.loads((trained.folder / "training.json").read_text("utf-8"))
    for row in (
        "| corpus: made_from.method | subtract |",
        "| corpus: made_from.percentile | 95.0 |",
        "| seed | 0 |",
        f"| base | {state['base']} |",
        f"| test accuracy | {trained.scores['test']['accuracy']:.4f} |",
        f"| harness | {state['harness']} |",
    ):
        assert row in card
    assert state["corpus"]["sha256"]["train"] in card
    assert "scores may be on words that the model was trained on" in card
    (note,) = Registry().embedder(f"sentence-transformers:{trained.folder}").notes
    assert "trained, on words that the harness does not know: scores may be on them" in note
    assert len(state["epochs"]) == trained.epochs
    assert state["complete"] is True


def test_the_classifier_is_saved_with_its_labels(trained):
    with safe_open(trained.folder / "head.safetensors", "numpy") as weights:
        assert json.loads(weights.metadata()["labels"]) == sorted(tiny.VERBS)
        assert weights.get_tensor("weight").shape == (3, 64)
    assert not (trained.folder / CHECKPOINTS).exists()


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(place, trained):
    def weights(of):
        return (of.folder / "1_LSTM" / "model.safetensors").read_bytes()

    assert weights(train(settings(place, "again"))) == weights(trained)
    assert weights(train(settings(place, "other", seed=1, epochs=1))) != weights(trained)


def test_a_second_run_does_nothing_and_another_setting_is_refused(place, trained):
    before = (trained.folder / "model.safetensors").stat().st_mtime_ns
    again = train(settings(place, "bilstm"))
    assert not again.is_new
    assert again.scores == trained.scores
    assert (trained.folder / "model.safetensors").stat().st_mtime_ns == before
    with pytest.raises(UsageError, match="hidden: 8 there, 9 here"):
        train(settings(place, "bilstm", hidden=9))
    with pytest.raises(UsageError, match=r"\(another corpus; limit: unlimited there, 9 here\)"):
        train(settings(place, "bilstm", limit=9))


def test_a_folder_with_other_files_is_refused_also_with_overwrite(place, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    for _ in range(2):
        with pytest.raises(UsageError, match="other files"):
            train(settings(place, tmp_path, overwrite=True))
        assert (tmp_path / "thesis.txt").exists()
        (tmp_path / "training.json").write_text('{"of": "another program"}')


def test_the_command_prints_scores_and_the_folder(place, capsys):
    folder, base = place
    options = ["--hidden", "4", "--epochs", "1", "--device", "cpu", "--out", str(folder / "cli")]
    command = ["train", "--base", base, "--corpus", str(folder / "corpus"), *options]
    assert run(command) == 0
    assert "accuracy" in capsys.readouterr().out
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_new"] is False
    assert run([*command, "--lr", ".5"]) == 2
    assert "lr: 0.1 there, 0.5 here" in capsys.readouterr().err
    assert run([*command, "--lr", ".5", "--overwrite"]) == 0


def test_what_cannot_be_trained_is_one_line(place):
    for options, problem in (
        ({"device": "tpu"}, "expected cpu, cuda or mps"),
        ({"precision": "float16"}, "needs a GPU"),
    ):
        with pytest.raises(InvalidOption, match=problem):
            train(settings(place, "never", **options))
    corpus = str(place[0] / "corpus" / "train.jsonl")
    with pytest.raises(UsageError, match="--dev"):
        train(settings(place, "never", corpus=corpus))


def test_training_stops_under_the_smallest_learning_rate(place):
    assert train(settings(place, "slow", lr=1.1e-5)).epochs < OPTIONS["epochs"]
