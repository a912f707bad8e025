"""What is found out about a vocabulary, kept for the next fit: a study fits hundreds of times.

Kept in the process, by the vocabulary object and only while that lives, of the last few
vocabularies asked about alone. Knows nothing of what is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from harness.vocabulary import Vocabulary

T = TypeVar("T")
KEPT = 2
"""Vocabularies of which something is kept: that of a model, and of the same under a mitigator."""


class PerVocabulary(Generic[T]):
    """One object for each of the last vocabularies asked about, by identity.

    Parameters
    ----------
    make
        Makes the object of a vocabulary that is not known. It must not refer to the vocabulary,
        which would then live for ever.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._kept: WeakKeyDictionary[Vocabulary, T] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, words: Vocabulary) -> T:
        """Return what is kept of `words`: the same object as before, or a new one."""
        with self._lock:
            value = self._kept.pop(words) if words in self._kept else self._make()
            self._kept[words] = value  # the last asked about comes last
            for old in list(self._kept)[:-KEPT]:
                del self._kept[old]
            return value
