"""The gender direction and hard debiasing of GloVe 6B 50d, with the word lists of debiaswe."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.concept import Concept
from harness.plugins.mitigators.hard_debias import HardDebias

KEYS = {"unit-differences": "pc_unitdiff", "centred-pairs": "pc_paircentered"}


@pytest.fixture(scope="module")
def lists(debiaswe):
    names = ("definitional_pairs", "equalize_pairs", "gender_specific_seed", "professions")
    return {name: debiaswe(name) for name in names}


@pytest.fixture(scope="module")
def gender(lists) -> Concept:
    return Concept(
        name="gender",
        definitional_pairs=tuple(map(tuple, lists["definitional_pairs"])),
        equalize_sets=tuple(map(tuple, lists["equalize_pairs"])),
        specific_words=tuple(lists["gender_specific_seed"]),
    )


@pytest.fixture(scope="module")
def professions(lists, glove):
    """Return the professions that GloVe has, and their vectors."""
    words = [row[0] for row in lists["professions"]]
    rows = glove(words)
    known = np.isfinite(rows).all(axis=1)
    return [word for word, is_known in zip(words, known, strict=True) if is_known], rows[known]


@pytest.mark.parametrize("subspace", KEYS)
def test_explained_variance_and_direct_bias_are_as_measured(
    subspace, gender, glove_as_written, professions, expected
):
    reference = expected("bolukbasi_words.json")["glove50"][KEYS[subspace]]
    mitigator = HardDebias(k=10, subspace=subspace).fit(glove_as_written, gender)
    assert mitigator.explained_ == pytest.approx(np.array(reference["explained"]), abs=2e-3)
    words, rows = professions
    assert len(words) == reference["n_prof"]
    direct_bias = np.abs(unit_rows(rows) @ mitigator.subspace_[0]).mean()
    assert direct_bias == pytest.approx(reference["direct_bias_all"], abs=2e-3)


@pytest.mark.parametrize("subspace", KEYS)
def test_neutral_professions_are_equally_close_to_both_words_of_every_equalised_pair(
    subspace, gender, glove, glove_as_written, professions
):
    mitigator = HardDebias(subspace=subspace).fit(glove_as_written, gender)
    words, rows = professions
    listed = {word.lower() for pair in gender.definitional_pairs for word in pair}
    listed.update(word.lower() for pair in gender.equalize_sets for word in pair)
    neutral = [i for i, word in enumerate(words) if word not in listed | set(gender.specific_words)]
    debiased = mitigator.transform(rows[neutral], [words[i] for i in neutral])
    assert np.abs(debiased @ mitigator.subspace_.T).max() < 1e-6
    pairs = [pair for pair in gender.equalize_sets if np.isfinite(glove(pair)).all()]
    equal = mitigator.transform(glove(list(itertools.chain(*pairs))), list(itertools.chain(*pairs)))
    assert np.linalg.norm(equal, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert np.abs(debiased @ (equal[::2] - equal[1::2]).T).max() < 1e-6
