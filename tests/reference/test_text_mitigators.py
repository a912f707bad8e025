"""Mitigators of text encoders on all-MiniLM-L6-v2: how much they remove, and what they cost.

They are judged by Winogender: 240 pairs of sentences that say the same about a woman and about a
man. The mitigators are not fitted on these sentences.
"""

from __future__ import annotations

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from harness.embedder import ModelInfo
from harness.plugins.metrics.linear_probe import linear_probe
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.plugins.mitigators.inlp import Inlp
from harness.plugins.mitigators.leace import Leace
from harness.plugins.mitigators.sent_debias import SentDebias
from harness.plugins.mitigators.swap_average import SwapAverage
from harness.plugins.mitigators.whitening import Whitening

LINEAR = (SentDebias, Inlp, Leace, HardDebias)


@pytest.fixture(scope="module")
def encoder(minilm):
    info = ModelInfo(name="minilm", kind="text", dimensions=384, fingerprint="minilm")
    return SimpleNamespace(info=info, encode=minilm)


@pytest.fixture(scope="module")
def fitted(encoder, registry):
    """Return a function that fits a mitigator on gender, each once."""
    known = {}

    def fit(kind):
        if kind not in known:
            known[kind] = kind().fit(encoder, registry.concept("gender"))
        return known[kind]

    return fit


@pytest.fixture(scope="module")
def sentences(data_folder):
    """Return 240 sentences about women, then the same sentences about men."""
    path = data_folder / "all_sentences.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    result = {
        side: [row["sentence"] for row in rows if f".{side}." in row["sentid"]]
        for side in ("female", "male")
    }
    assert len(result["female"]) == len(result["male"]) == 240
    return result["female"] + result["male"]


@pytest.fixture(scope="module")
def after(fitted, encoder, sentences):
    """Return a function that gives the sentences' vectors after a mitigator."""

    def vectors(kind):
        return fitted(kind).transform(encoder.encode(sentences), sentences).astype(np.float64)

    return vectors


def differences(rows):
    return rows[:240] - rows[240:]


def test_the_direction_learnt_from_sentences_fits_better_than_that_of_words(
    fitted, encoder, sentences
):
    between = differences(encoder.encode(sentences).astype(np.float64))
    theirs = np.linalg.svd(between, full_matrices=False)[2][0]
    cosine = {kind: abs(fitted(kind).subspace_[0] @ theirs) for kind in (SentDebias, HardDebias)}
    assert cosine[SentDebias] == pytest.approx(0.925, abs=0.01)
    assert cosine[HardDebias] == pytest.approx(0.772, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "left"),
    [(SentDebias, 0.218), (Inlp, 0.232), (Leace, 0.335), (HardDebias, 0.460), (SwapAverage, 0.0)],
)
def test_the_remaining_difference_between_women_and_men_is_as_measured(
    kind, left, after, encoder, sentences
):
    before = (differences(encoder.encode(sentences).astype(np.float64)) ** 2).sum()
    assert (differences(after(kind)) ** 2).sum() / before == pytest.approx(left, abs=0.02)


@pytest.mark.parametrize("kind", LINEAR)
def test_a_linear_classifier_still_recovers_gender(kind, after, sentences):
    sides, pairs = np.repeat([0.0, 1.0], 240), [str(i) for i in range(240)] * 2
    score = linear_probe(
        after(kind),
        sides,
        folds=3,
        grid=(10.0, 100.0),
        resamples=0,
        rng=np.random.default_rng(0),
        texts={"texts_1": pairs},  # keeps a pair in one fold
    )
    assert score.value > 0.97


# as measured; without a mitigator it is 0.8203
STS_B = {SentDebias: 0.8158, Inlp: 0.816, Leace: 0.8172, Whitening: 0.7911}


@pytest.mark.usefixtures("fetched_data")
def test_the_score_on_sts_b_falls_little_except_for_whitening(fitted, scores, minilm):
    def mitigated(kind):
        return lambda texts: fitted(kind).transform(minilm(texts), texts)

    for kind, spearman in STS_B.items():
        result = scores("sts-b", mitigated(kind))["default"]["similarity-correlation"]["spearman"]
        assert result.value == pytest.approx(spearman, abs=0.002)


def test_swap_average_leaves_no_association(fitted, scores, minilm):
    def encode(texts):
        return fitted(SwapAverage).transform(minilm(texts), texts)

    result = scores("seat-c6b", encode)["sentence"]["weat"]["effect_size"]
    assert result.value == pytest.approx(0, abs=1e-3)
