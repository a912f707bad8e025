"""What is found out about a vocabulary is kept while that lives, of the last few alone."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from harness.plugins.mitigators.fitting.per_vocabulary import KEPT, PerVocabulary
from harness.vocabulary import Vocabulary


class Found:
    """An object that can be referred to weakly."""


def words() -> Vocabulary:
    return Vocabulary(["a"], lambda start, stop: np.ones((stop - start, 2), np.float32))


def test_one_object_is_kept_of_each_vocabulary():
    kept = PerVocabulary(Found)
    one, other = words(), words()
    assert kept.of(one) is kept.of(one)
    assert kept.of(one) is not kept.of(other)


def test_it_goes_with_its_vocabulary():
    kept = PerVocabulary(Found)
    one = words()
    found = weakref.ref(kept.of(one))
    assert found() is not None
    del one
    gc.collect()
    assert found() is None


def test_only_the_last_vocabularies_asked_about_are_kept():
    kept = PerVocabulary(Found)
    first, *others = [words() for _ in range(KEPT + 1)]
    found = kept.of(first)
    for other in others[:-1]:
        kept.of(other)
    assert kept.of(first) is found  # and is now the last that was asked about
    second = weakref.ref(kept.of(others[0]))
    kept.of(first)
    kept.of(others[-1])
    gc.collect()
    assert second() is None
    assert kept.of(first) is found
