"""The cache holds objects of the last few vocabularies, as long as these exist."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from harness.embedder import Vocabulary
from harness.plugins.mitigators.fitting.vocabulary import VocabularyCache


class Result:
    """An object with weak references."""


def words() -> Vocabulary:
    return Vocabulary(["a"], lambda start, stop: np.ones((stop - start, 2), np.float32))


def test_each_vocabulary_has_one_object():
    cache = VocabularyCache(Result)
    first, second = words(), words()
    assert cache.of(first) is cache.of(first)
    assert cache.of(first) is not cache.of(second)


def test_an_object_is_dropped_with_its_vocabulary():
    cache = VocabularyCache(Result)
    vocabulary = words()
    result = weakref.ref(cache.of(vocabulary))
    assert result() is not None
    del vocabulary
    gc.collect()
    assert result() is None
