"""Cache of results that belong to a vocabulary, because a study fits mitigators hundreds of times.

Entries belong to the vocabulary object and are dropped with it. Only the last few vocabularies are
kept. The cache does not know what the results are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from harness.vocabulary import Vocabulary

T = TypeVar("T")
KEPT = 2
"""Number of vocabularies in the cache: that of a model, and the same under a mitigator."""


class VocabularyCache(Generic[T]):
    """One object for each of the last vocabularies, by identity of the vocabulary.

    Parameters
    ----------
    make
        Makes the object of a vocabulary that is not in the cache. The object must not refer to the
        vocabulary, which would then never be freed.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._objects: WeakKeyDictionary[Vocabulary, T] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, words: Vocabulary) -> T:
        """Return the object of a vocabulary; make it if it is not in the cache."""
        with self._lock:
            value = self._objects.pop(words) if words in self._objects else self._make()
            self._objects[words] = value  # the most recent one comes last
            for old in list(self._objects)[:-KEPT]:
                del self._objects[old]
            return value
