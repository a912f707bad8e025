"""Averaging over groups (Zhao et al. 2019): the mean of a text and its gender-swapped version.

Generalised to any concept whose words are in sets. Texts that name no group are unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Self, TypeAlias

import numpy as np
import regex

from harness.arrays import Reals, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.letters import composed, lower, whole
from harness.mitigator import Mitigator

from ..texts.swapping import swap, with_case_of
from .fitting.sentences import defining_sets
from .fitting.words import find, require

Swap: TypeAlias = Callable[[str], str]

_ROMANCE = {
    "es": (("la", "el"), ("una", "un"), ("esta", "este"), ("las", "los"), ("unas", "unos")),
    "fr": (("la", "le"), ("une", "un"), ("cette", "ce")),
}
ARTICLES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "de": (
        {"die": "der", "der": "dem", "eine": "ein", "einer": "einem", "diese": "dieser"},
        {"der": "die", "dem": "der", "den": "die", "des": "der", "ein": "eine", "einem": "einer"}
        | {"einen": "eine", "eines": "einer", "dieser": "diese"},
    ),
    **{code: (dict(pairs), {b: a for a, b in pairs}) for code, pairs in _ROMANCE.items()},
}
"""Words that agree with the noun that follows, by language: what they become where a feminine word
becomes masculine, and where a masculine word becomes feminine."""


class SwapAverage(Mitigator):
    """Give each text the mean of its vector and those of the same text about the other groups.

    Removes the difference between a text and its swapped version: `She is a nurse` and `He is a
    nurse` get the same vector. Words with two counterparts, such as `Mr` with `Mrs` and `Ms`, only
    come closer. Keeps texts that name no group, with their stereotypes: `The nurse` stays as close
    to women as before.

    If the concept has the pair she and he, the gendered words of English are swapped: pronouns,
    kin, titles and occupations, but not names of people. For other concepts, each word of a
    definitional set (of a pair, if there are no sets) is replaced by the next word of the set, all
    words of a text at the same time, and so on through the set: with m words the mean is over m
    texts. Only listed words are matched, in any case. Plurals must be listed.

    In other languages than English, equalize sets of two words are pairs, too, and so are the
    words of the concept's sets `feminine` and `masculine`, in their order: the forms of
    occupations. In German, French and Spanish an article or demonstrative right before a swapped
    word gets its gender. Adjectives, participles and endings of cases stay, so the other text may
    have faults of grammar. A word with several counterparts gets the first.

    A single word, or a phrase of the concept's lists, is unchanged, as in hard debiasing. If `she`
    and `he` were equal, metrics would have no direction to measure along. The concept needs
    `definitional_pairs` or `definitional_sets`.

    Parameters
    ----------
    normalize
        Whether to set all vectors to length 1 first, and the mean again at the end.

    Raises
    ------
    NotApplicable
        See `fit`.

    References
    ----------
    Zhao, Wang, Yatskar, Cotterell, Ordonez and Chang (2019), Gender bias in contextualized word
    embeddings, where it is called neutralization.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs or definitional_sets",)
    monolingual: ClassVar[bool] = True

    def __init__(self, normalize: bool = True) -> None:
        self.normalize = normalize

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Keep the embedder and the concept's words; return self.

        Raises
        ------
        NotApplicable
            If the concept has neither pairs nor sets.
        """
        self.concept_ = require(concept, defining_sets, f"swap-average needs {self.needs[0]}")
        self.embedder_ = embedder
        return self

    def reads(self, texts: Sequence[str], concept: Concept | None) -> list[str]:
        """Return the texts about the other groups."""
        others = _others(texts, concept) if concept else {}
        return [other for row in others for other in others[row]]

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) means over the texts about all groups."""
        rows = unit_rows(vectors) if self.normalize else np.asarray(vectors, dtype=np.float64)
        others = _others(texts, self.concept_)
        if not others:
            return rows.astype(np.float32)
        new = list(dict.fromkeys(other for row in others for other in others[row]))
        new_rows = np.asarray(self.embedder_.encode(new), dtype=np.float64)
        new_rows = unit_rows(new_rows) if self.normalize else new_rows
        place = {text: i for i, text in enumerate(new)}
        out = rows.copy()
        for row, swapped in others.items():
            out[row] += new_rows[[place[other] for other in swapped]].sum(axis=0)
            out[row] /= len(swapped) + 1
        return (unit_rows(out) if self.normalize else out).astype(np.float32)


def _others(texts: Sequence[str], concept: Concept) -> dict[int, list[str]]:
    """Return the texts about the other groups by index, for texts that have any."""
    sets = (*concept.definitional_pairs, *concept.definitional_sets, *concept.equalize_sets)
    listed = {word for members in sets for word in members}.union(concept.specific_words)
    language = concept.language
    words = {lower(word, language) for word in listed}
    alone = find(texts, words, ignoring_case=True, language=language)
    group_swaps = swaps(concept)
    texts = list(map(composed, texts))
    swapped_texts = {
        i: list(dict.fromkeys(swap_group(text) for swap_group in group_swaps))
        for i, text in enumerate(texts)
        if i not in alone and len(text.split()) > 1
    }
    others = {i: [o for o in swapped if o != texts[i]] for i, swapped in swapped_texts.items()}
    return {i: swapped for i, swapped in others.items() if swapped}


def swaps(concept: Concept) -> list[Swap]:
    """Return, for each other group, a function that makes a text be about it."""
    if {"she", "he"} in [set(map(str.lower, pair)) for pair in concept.definitional_pairs]:
        return [swap]
    language = concept.language
    sets = [[lower(word, language) for word in members] for members in swapped_sets(concept)]
    return [_turned(sets, by, language) for by in range(1, max(map(len, sets)))]


def swapped_sets(concept: Concept) -> list[tuple[str, ...]]:
    """Return the words that are swapped with each other, a tuple for each set."""
    sets = defining_sets(concept)
    if concept.language == "en" or concept.definitional_sets:
        return sets
    forms = (concept.sets.get(name, ()) for name in ("feminine", "masculine"))
    pairs = (members for members in concept.equalize_sets if len(members) == 2)
    return [*sets, *pairs, *zip(*forms, strict=False)]


def _turned(sets: Sequence[Sequence[str]], by: int, language: str) -> Swap:
    """Return a function that replaces each word by the one `by` positions further in its set."""
    others: dict[str, str] = {}
    second: set[str] = set()  # words that stand for the second group
    for members in sets:
        for i, word in enumerate(members):
            if word not in others:
                others[word] = members[(i + by) % len(members)]
                second.update([word] if i else [])
    articles = ARTICLES.get(language, ({}, {}))
    agreeing = "|".join(article for of_side in articles for article in of_side)
    before = rf"(?:\b({agreeing})(\s+))?" if agreeing else "()()"
    words = whole(map(regex.escape, others), before, ignoring_case=True)

    def other(match: re.Match[str]) -> str:
        article, blank, word = match.groups("")
        form = lower(word, language)
        if form not in others:  # IŞ is matched by iş, but is no capital of it in Turkish
            return match[0]
        agreed = articles[form in second].get(article.lower(), article)
        return with_case_of(article, agreed) + blank + with_case_of(word, others[form], language)

    return lambda text: str(words.sub(other, text))
