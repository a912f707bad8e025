"""Corpora for training: splits, labels and their mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny_corpus as tiny

from harness.errors import InvalidFile, InvalidOption, UsageError
from harness.plugins.train import pairs
from harness.plugins.train.settings import TrainSettings

PAIR = {"premise": "a man runs", "hypothesis": "a man moves", "label": "entailment"}
GRADED = {"sentence1": "a man", "sentence2": "a dog", "score": 2.5}


def settings(corpus, **options):
    return TrainSettings(base="x", corpus=str(corpus), out=Path("out"), **options)


def read(tmp_path, rows, **options):
    return pairs.read(settings(tiny.write(tmp_path / "train.jsonl", rows), **options))


def test_a_folder_has_its_splits_and_labels(tmp_path):
    corpus = pairs.read(settings(tiny.corpus(tmp_path / "c")))
    assert {name: len(split) for name, split in corpus.splits.items()} == {
        "train": 96,
        "dev": 24,
        "test": 24,
    }
    assert corpus.names == ("contradiction", "entailment", "neutral")


def test_dev_and_test_may_be_files_of_their_own(tmp_path):
    folder = tiny.corpus(tmp_path / "c")
    corpus = pairs.read(settings(folder / "train.jsonl", dev=str(folder / "test.jsonl"), limit=10))
    assert len(corpus.train) == 10
    assert corpus.dev is not None
    assert len(corpus.dev) == 24
    assert corpus.test is None


def test_a_data_set_of_the_hub_may_lack_a_split(tmp_path, monkeypatch):
    # The library looks for a local folder first, so nothing is asked of the hub.
    pytest.importorskip("datasets")
    folder = tiny.corpus(tmp_path / "owner" / "name")
    (folder / "dev.jsonl").rename(folder / "validation.jsonl")
    (folder / "test.jsonl").unlink()
    monkeypatch.chdir(tmp_path)
    corpus = pairs.read(settings("hf://owner/name"))
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 96, "dev": 24}
    with pytest.raises(InvalidOption, match="no such split"):
        pairs.read(settings("hf://owner/name", test="hf://owner/name"))


def test_a_wrong_label_names_file_and_line(tmp_path):
    for label, problem in (
        ("entailmnt", "unknown label 'entailmnt'; did you mean 'entailment'"),
        (None, "missing label"),
    ):
        with pytest.raises(InvalidFile, match=problem) as error:
            read(tmp_path, [PAIR, PAIR | {"label": label}])
        assert error.value.line == 2


def test_what_cannot_be_learnt_is_refused(tmp_path):
    for rows, error, message in (
        ([], InvalidFile, "no pairs"),
        ([PAIR | {"label": "-"}], InvalidFile, "no pairs"),
        ([{"text": "a man", "label": "x"}], InvalidFile, "1 sentence; expected a pair"),
        ([PAIR | {"label": "x"}] * 3, UsageError, "every label is 'x'; expected 2 to"),
        ([GRADED, GRADED | {"score": 7}], InvalidFile, "not a score from 0 to 5"),
        ([GRADED, GRADED | {"score": "high"}], InvalidFile, "expected a number, as in line 1"),
    ):
        with pytest.raises(error, match=message):
            read(tmp_path, rows)


def test_scores_up_to_five_become_scores_up_to_one(tmp_path):
    corpus = read(tmp_path, [GRADED, GRADED | {"score": 5}])
    assert corpus.names == ()
    assert corpus.train.labels == (0.5, 1.0)
    assert read(tmp_path, [GRADED | {"score": 0.25}]).train.labels == (0.25,)


def test_the_digest_changes_with_a_label(tmp_path):
    first = read(tmp_path, [PAIR, PAIR | {"label": "neutral"}]).train.digest
    second = read(tmp_path, [PAIR, PAIR | {"label": "contradiction"}]).train.digest
    assert first != second
