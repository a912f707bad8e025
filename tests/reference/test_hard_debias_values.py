"""The gender direction and hard debiasing of GloVe 6B 50d, with the word lists of debiaswe."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from harness.arrays import paired_cosines, unit_rows
from harness.concept import Concept
from harness.embedder import vocabulary_of
from harness.plugins.metrics.indirect_bias import gender_share
from harness.plugins.metrics.word_analogies import word_analogies
from harness.plugins.mitigators.hard_debias import HardDebias

MEASURED = 2e-3  # the expected values' own tolerance
FILES = {"RG": "EN-RG-65", "WS": "EN-WS-353-ALL", "SL": "EN-SIMLEX-999"}
KEYS = {"unit-differences": "pc_unitdiff", "centred-pairs": "pc_paircentered"}
LISTS = (
    "definitional_pairs",
    "equalize_pairs",
    "gender_specific_seed",
    "gender_specific_full",
    "professions",
)


@pytest.fixture(scope="module")
def lists(debiaswe):
    return {name: debiaswe(name) for name in LISTS}


@pytest.fixture(scope="module")
def reference(expected):
    return expected("bolukbasi_words.json")


@pytest.fixture(scope="module")
def debiased(glove_50d, lists):
    """Return hard debiasing of GloVe by list of specific words."""
    return {
        which: HardDebias(subspace="unit-differences").fit(glove_50d, gender(lists, which))
        for which in ("seed", "full")
    }


def gender(lists, which):
    return Concept(
        name="gender",
        definitional_pairs=tuple(map(tuple, lists["definitional_pairs"])),
        equalize_sets=tuple(map(tuple, lists["equalize_pairs"])),
        specific_words=tuple(lists[f"gender_specific_{which}"]),
    )


def professions(model, lists):
    words = [row[0] for row in lists["professions"]]
    rows = model.encode(words)
    known = np.isfinite(rows).all(axis=1)
    return [word for word, is_known in zip(words, known, strict=True) if is_known], unit_rows(
        rows[known]
    )


@pytest.mark.parametrize("subspace", KEYS)
def test_explained_variance_and_direct_bias_are_as_measured(subspace, glove_50d, lists, reference):
    figures = reference["glove50"][KEYS[subspace]]
    mitigator = HardDebias(k=10, subspace=subspace).fit(glove_50d, gender(lists, "seed"))
    assert mitigator.explained_ == pytest.approx(np.array(figures["explained"]), abs=MEASURED)
    words, rows = professions(glove_50d, lists)
    assert len(words) == figures["n_prof"]
    direct_bias = np.abs(rows @ mitigator.subspace_[0]).mean()
    assert direct_bias == pytest.approx(figures["direct_bias_all"], abs=MEASURED)


@pytest.mark.parametrize("which", ["seed", "full"])
def test_direct_bias_after_hard_debiasing_is_as_measured(
    which, debiased, glove_50d, lists, reference
):
    figures = reference["glove50"][f"hard_{which}"]
    mitigator = debiased[which]
    words, vectors = professions(glove_50d, lists)
    left = np.abs(mitigator.transform(vectors, words) @ mitigator.subspace_[0])
    assert left.mean() == pytest.approx(figures["direct_all_prof"], abs=MEASURED)
    neutral = [i for i, word in enumerate(words) if word not in lists[f"gender_specific_{which}"]]
    assert len(neutral) == figures["n_neutral_prof"]
    assert left[neutral].max() < 1e-6  # in float32; in float64 the mean was 5e-17
    assert len(mitigator.equalized_) == 2 * figures["equalized"]


def test_neutral_professions_are_equally_close_to_both_words_of_every_equalised_pair(
    debiased, glove_50d, lists
):
    mitigator = debiased["seed"]
    words, rows = professions(glove_50d, lists)
    listed = {*lists["gender_specific_seed"], *mitigator.equalized_}
    neutral = [i for i, word in enumerate(words) if word not in listed]
    after = mitigator.transform(rows[neutral], [words[i] for i in neutral])
    pairs = [p for p in lists["equalize_pairs"] if all(w in mitigator.equalized_ for w in p)]
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]
    first, second = (mitigator.transform(glove_50d.encode(side), side) for side in sides)
    assert np.linalg.norm(np.vstack([first, second]), axis=1) == pytest.approx(1.0, abs=1e-6)
    assert np.abs(after @ (first - second).T).max() < 1e-6


@pytest.mark.parametrize("which", ["seed", "full"])
def test_indirect_bias_after_hard_debiasing_is_as_measured(which, debiased, glove_50d, reference):
    named = reference["glove50"][f"indirect_after_{which}"]["beta_named"]
    sides = [list(side) for side in zip(*(key.rsplit("-", 1) for key in named), strict=True)]
    rows = [debiased[which].transform(glove_50d.encode(side), side) for side in sides]
    betas = gender_share(*rows, debiased[which].subspace_[0])
    assert betas == pytest.approx(list(named.values()), abs=MEASURED)


@pytest.mark.parametrize("which", ["seed", "full"])
def test_similarity_and_analogies_are_as_measured(
    which, debiased, glove_50d, reference, data_folder
):
    figures, model = reference["glove50"]["bench"], glove_50d
    for key, file in FILES.items():
        text = (data_folder / f"{file}.txt").read_text("utf-8")
        rows = [line.split() for line in text.splitlines()]
        words_of_sides = [[row[side] for row in rows] for side in (0, 1)]
        ratings = [float(row[2]) for row in rows]
        before = [unit_rows(model.encode(words)) for words in words_of_sides]
        after = [unit_rows(debiased[which].transform(model.encode(w), w)) for w in words_of_sides]
        for sides, name in ((before, "before"), (after, f"hard {which}")):
            value, n, missing = figures[f"{key} {name}"]
            assert len(rows) == n - missing
            result = spearmanr(paired_cosines(*sides), ratings).statistic
            assert result == pytest.approx(value, abs=MEASURED)
    text = (data_folder / "google_questions-words.txt").read_text("utf-8")
    questions = [line.split() for line in text.splitlines() if not line.startswith(":")]
    words, vectors = vocabulary_of(model).head(30_000)
    texts = dict(zip("abcd", zip(*questions, strict=True), strict=True)) | {"vocabulary": words}
    changed = debiased[which].transform(vectors, words)
    none = [np.empty((len(questions), 0))] * 4
    rng = np.random.default_rng(0)
    scores = word_analogies(*none, changed, texts=texts, rng=rng, resamples=0)
    result = scores["accuracy_3cosadd"]
    assert result.n == figures[f"analogy hard {which}"]["n"]
    assert result.value == pytest.approx(figures[f"analogy hard {which}"]["all"], abs=1e-4)
