"""Averaging over groups (Zhao et al. 2019): a text counts half as it is, half with gender swapped.

Generalised to any concept whose words are in sets. Changes nothing in a text that names no group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Self, TypeAlias

import numpy as np

from harness.arrays import Reals, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.mitigator import Mitigator
from harness.plugins.mitigators.fitting.listed_words import find
from harness.plugins.mitigators.fitting.needed import needed
from harness.plugins.mitigators.sentences.contextualised import defining_sets
from harness.plugins.texts.swapping import swap

Swap: TypeAlias = Callable[[str], str]


class SwapAverage(Mitigator):
    """Give each text the mean of its own vector and that of the text about the other group.

    `She is a nurse` and `He is a nurse` get one vector, so that nothing tells them apart. Words
    with two counterparts, as `Mr` has `Mrs` and `Ms`, only come nearer to each other. A text that
    names no group keeps its vector, and with it every stereotype: `The nurse` stays as near to
    women as it was.

    For a concept with the pair she and he, the gendered words of English are swapped: pronouns,
    kin, titles and trades, not the names of people. For any other concept, each word of a
    definitional set (pair, where there are no sets) gives way to the next one of its set, all words
    of a text at once, and so on through the set: among m words the mean is over m texts. Only
    listed words are found, in any case; plurals must be listed, and articles are not mended.

    A text that is a single word, or a phrase of the concept's lists, is left as it is, as in hard
    debiasing: if `she` and `he` were one, there would be no direction left to measure by.

    Parameters
    ----------
    normalize
        Whether to set all vectors to length 1 first and the mean again at the end.

    References
    ----------
    Zhao, Wang, Yatskar, Cotterell, Ordonez and Chang (2019), Gender bias in contextualized word
    embeddings.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs or definitional_sets",)

    def __init__(self, normalize: bool = True) -> None:
        self.normalize = normalize

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Keep the embedder and the concept's words; return self.

        Raises
        ------
        NotApplicable
            If the concept has neither pairs nor sets.
        """
        self.concept_ = needed(concept, defining_sets, f"swap-average needs {self.needs[0]}")
        self.embedder_ = embedder
        return self

    def reads(self, texts: Sequence[str], concept: Concept | None) -> list[str]:
        """Return the texts about other groups."""
        others = _others(texts, concept) if concept else {}
        return [other for row in others for other in others[row]]

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) means over the texts of all groups."""
        own = unit_rows(vectors) if self.normalize else np.asarray(vectors, dtype=np.float64)
        others = _others(texts, self.concept_)
        if not others:
            return own.astype(np.float32)
        new = list(dict.fromkeys(other for row in others for other in others[row]))
        found = np.asarray(self.embedder_.encode(new), dtype=np.float64)
        found = unit_rows(found) if self.normalize else found
        place = {text: i for i, text in enumerate(new)}
        out = own.copy()
        for row, swapped in others.items():
            out[row] += found[[place[other] for other in swapped]].sum(axis=0)
            out[row] /= len(swapped) + 1
        return (unit_rows(out) if self.normalize else out).astype(np.float32)


def _others(texts: Sequence[str], concept: Concept) -> dict[int, list[str]]:
    """Return the texts about other groups by position, for texts that have any."""
    sets = (*concept.definitional_pairs, *concept.definitional_sets, *concept.equalize_sets)
    listed = {word for members in sets for word in members}.union(concept.specific_words)
    alone = find(texts, {word.lower() for word in listed}, ignoring_case=True)
    to_swap = swaps(concept)
    found = {
        i: list(dict.fromkeys(swapped(text) for swapped in to_swap))
        for i, text in enumerate(texts)
        if i not in alone and len(text.split()) > 1
    }
    others = {i: [o for o in swapped if o != texts[i]] for i, swapped in found.items()}
    return {i: swapped for i, swapped in others.items() if swapped}


def swaps(concept: Concept) -> list[Swap]:
    """Return, for each group but one's own, what makes a text be about it."""
    if {"she", "he"} in [set(map(str.lower, pair)) for pair in concept.definitional_pairs]:
        return [swap]
    sets = [tuple(map(str.lower, members)) for members in defining_sets(concept)]
    return [_turned(sets, by) for by in range(1, max(map(len, sets)))]


def _turned(sets: Sequence[Sequence[str]], by: int) -> Swap:
    """Return what puts in place of each word the one `by` places on in its set."""
    others: dict[str, str] = {}
    for members in sets:
        for i, word in enumerate(members):
            others.setdefault(word, members[(i + by) % len(members)])
    return _replacing(others)


def _replacing(others: Mapping[str, str]) -> Swap:
    longest_first = sorted(others, key=len, reverse=True)
    words = re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)

    def other(match: re.Match[str]) -> str:
        old, new = match[0], others[match[0].lower()]
        if len(old) > 1 and old.isupper():
            return new.upper()
        return new[:1].upper() + new[1:] if old[:1].isupper() else new

    return lambda text: words.sub(other, text)
