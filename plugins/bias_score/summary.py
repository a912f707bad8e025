"""Means of the scores of a corpus, and its most biased sentences, in bounded memory."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

SIDES: Mapping[str, int] = {"bias_f": 1, "bias_m": -1}
"""The scores whose most biased sentences are kept, with the sign of the score."""


class Summary:
    """Counts rows and keeps the most biased of each side, each text once.

    Parameters
    ----------
    top
        Number of sentences to keep for each side.
    """

    def __init__(self, top: int = 10) -> None:
        self._top = top
        self._sums = dict.fromkeys(("bias_f", "bias_m", "abs"), 0.0)
        self._scored = 0
        self._largest: dict[str, list[tuple[float, str]]] = {side: [] for side in SIDES}
        self.sentences = 0
        self.without_words = 0
        self.cut = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row."""
        self.sentences += 1
        self.cut += bool(row.get("cut"))
        if row["abs"] is None:
            self.without_words += 1
            return
        self._scored += 1
        for name in self._sums:
            self._sums[name] += row[name]
        for side, sign in SIDES.items():
            self._keep(self._largest[side], (sign * row[side], row["text"]))

    def means(self) -> dict[str, float | None]:
        """Return the mean of each score over the sentences that have one; None if none has."""
        return {
            name: total / self._scored if self._scored else None
            for name, total in self._sums.items()
        }

    def most_biased(self) -> dict[str, list[tuple[float, str]]]:
        """Return scores and texts by side, the most biased first; scores of 0 are left out."""
        return {side: self._sorted(side) for side in SIDES}

    def _sorted(self, side: str) -> list[tuple[float, str]]:
        items = sorted(self._largest[side], key=lambda item: (-item[0], item[1]))
        return [(SIDES[side] * score, text) for score, text in items if score > 0]

    def _keep(self, heap: list[tuple[float, str]], item: tuple[float, str]) -> None:
        if self._top < 1 or (len(heap) >= self._top and item <= heap[0]):
            return
        if any(text == item[1] for _, text in heap):  # premises of SNLI are repeated
            return
        if len(heap) < self._top:
            heapq.heappush(heap, item)
        else:
            heapq.heapreplace(heap, item)
