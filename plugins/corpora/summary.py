"""Means of the scores of a corpus, and its most biased sentences and pairs, in bounded memory."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

from harness.plugins.corpora import scored_rows

SIDES: Mapping[str, int] = {"bias_f": 1, "bias_m": -1}
"""The scores whose most biased sentences are kept, with the sign of the score."""


class Summary:
    """Counts entries and sentences, and keeps the most biased, each text once.

    Parameters
    ----------
    top
        Number of sentences to keep for each side, and of pairs.
    """

    def __init__(self, top: int = 10) -> None:
        self._top = top
        self._sums = dict.fromkeys(("bias_f", "bias_m", "abs"), 0.0)
        self._scored = 0
        self._largest: dict[str, _Largest] = {side: _Largest(top) for side in SIDES}
        self._pairs = _Largest(top)
        self.entries = 0
        self.sentences = 0
        self.without_words = 0
        self.cut = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Count an entry."""
        self.entries += 1
        sentences = scored_rows.sentences(row)
        for sentence in sentences:
            self._add_sentence(sentence)
        if len(sentences) > 1 and row["abs"] is not None:
            texts = tuple(str(sentence["text"]) for sentence in sentences)
            self._pairs.add(row["abs"], (*texts, _label(row)))

    def means(self) -> dict[str, float | None]:
        """Return the mean of each score over the sentences that have one; None if none has."""
        return {
            name: total / self._scored if self._scored else None
            for name, total in self._sums.items()
        }

    def most_biased(self) -> dict[str, list[tuple[float, str]]]:
        """Return scores and texts by side, the most biased first; scores of 0 are left out."""
        return {
            side: [(SIDES[side] * score, text) for score, (text,) in largest.items()]
            for side, largest in self._largest.items()
        }

    def most_biased_pairs(self) -> list[tuple[float, tuple[str, ...]]]:
        """Return the absolute score, the sentences and the label of pairs, most biased first."""
        return self._pairs.items()

    def _add_sentence(self, sentence: Mapping[str, Any]) -> None:
        self.sentences += 1
        self.cut += bool(sentence.get("cut"))
        if sentence["abs"] is None:
            self.without_words += 1
            return
        self._scored += 1
        for name in self._sums:
            self._sums[name] += sentence[name]
        for side, sign in SIDES.items():
            self._largest[side].add(sign * sentence[side], (sentence["text"],))


def _label(row: Mapping[str, Any]) -> str:
    more = row.get("more", {})
    return str(more.get("label", more.get("score", "")))


class _Largest:
    """Keeps the texts with the largest scores, each once."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._heap: list[tuple[float, tuple[str, ...]]] = []

    def items(self) -> list[tuple[float, tuple[str, ...]]]:
        """Return scores above 0 and texts, the largest score first."""
        items = sorted(self._heap, key=lambda item: (-item[0], item[1]))
        return [(score, texts) for score, texts in items if score > 0]

    def add(self, score: float, texts: tuple[str, ...]) -> None:
        item = (score, texts)
        if self._top < 1 or (len(self._heap) >= self._top and item <= self._heap[0]):
            return
        if any(kept == texts for _, kept in self._heap):  # premises of SNLI are repeated
            return
        if len(self._heap) < self._top:
            heapq.heappush(self._heap, item)
        else:
            heapq.heapreplace(self._heap, item)
