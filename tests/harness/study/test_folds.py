"""Each pair is held out once in a repeat, by mitigators that were not fitted on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from harness.concept import Concept
from harness.study.folds import concept_without, deal

NESTED = {"inner_folds": 3, "repeats": 2, "seed": 42, "protocol": "nested"}


@given(n=st.integers(8, 50), folds=st.integers(2, 8), repeats=st.integers(1, 3))
def test_each_pair_is_held_out_once_in_a_repeat_and_never_fitted_on(n, folds, repeats):
    all_folds = deal(n, folds=folds, **NESTED | {"repeats": repeats})
    assert len(all_folds) == folds * repeats
    for repeat in range(repeats):
        held_out = [i for f in all_folds if f.repeat == repeat for i in f.outer.held_out]
        assert sorted(held_out) == list(range(n))
    for fold in all_folds:
        assert sorted(fold.outer.train + fold.outer.held_out) == list(range(n))
        inner = [i for split in fold.inner for i in split.held_out]
        assert sorted(inner) == sorted(fold.outer.train)
        for split in fold.inner:
            assert sorted(split.train + split.held_out) == sorted(fold.outer.train)


def test_the_first_repeat_of_seed_42_has_the_published_folds():
    all_folds = deal(45, folds=10, **NESTED)
    published = KFold(10, shuffle=True, random_state=42).split(np.arange(45))
    for fold, (train, held_out) in zip(all_folds[:10], published, strict=True):
        assert fold.outer.train == tuple(train)
        assert fold.outer.held_out == tuple(held_out)


def test_in_the_published_protocol_the_outer_fold_also_chooses():
    for fold in deal(45, folds=10, **NESTED | {"protocol": "published"}):
        (only,) = fold.inner
        assert only.held_out == fold.outer.held_out
        assert set(only.train) < set(fold.outer.train)
        assert len(only.train) == pytest.approx(len(fold.outer.train) / 2, abs=1)


def test_repeats_differ_and_a_seed_gives_the_same_folds():
    all_folds = deal(20, folds=4, **NESTED)
    assert [f.outer for f in all_folds[:4]] != [f.outer for f in all_folds[4:]]
    assert deal(20, folds=4, **NESTED) == all_folds


def test_held_out_words_are_removed_from_all_fields_of_the_concept():
    concept = Concept(
        name="x",
        definitional_pairs=[("she", "he"), ("woman", "man"), ("girl", "boy")],
        definitional_sets=[("she", "he", "they"), ("girl", "boy", "child")],
        equalize_sets=[("woman", "man"), ("girl", "boy"), ("queen", "king")],
        specific_words=["queen", "man", "nurse", "beard"],
    )
    left = concept_without(
        concept, "definitional_pairs", [("she", "he"), ("girl", "boy")],
        frozenset({"woman", "man"}), frozenset({"woman", "man", "nurse"}),
    )  # fmt: skip
    assert left.definitional_pairs == (("she", "he"), ("girl", "boy"))
    assert left.definitional_sets == concept.definitional_sets
    assert left.equalize_sets == (("girl", "boy"), ("queen", "king"))
    assert left.specific_words == ("queen", "beard")
