"""Judges a mitigator on words that it never saw: no word is in the fit and in the task.

Each score of bias is judged in one of three ways:

1. *On unseen texts.* The texts that are, or are made from, a word that defines the task's concept
   (gender, if it has none) are left out. This is the same for every row of a table, also without a
   mitigator. It needs at least half of the units of each input, and five. The fit is the one that
   would be deployed.
2. *By a held-out fit.* Where too few texts are unseen, or the fit has other words of the task, the
   mitigator is fitted without the words of the task. At least three pairs must remain.
3. *Not at all*, with the reason. A model that was written under a mitigator is fitted already.

Case, Unicode form and a plural s do not tell words apart. Synonyms and irregular plurals do.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from harness.arrays import Mask, Vectors
from harness.chain import Chain
from harness.concept import Concept
from harness.digest import digest
from harness.embedder import Embedder, ModelInfo, Vocabulary, vocabulary_of
from harness.encode.spellings import Finder, Held
from harness.errors import HarnessError
from harness.letters import plain
from harness.letters import words as words_in
from harness.mitigator import Mitigator
from harness.results.record import Judging, WordOverlap
from harness.run.plan import Job
from harness.task.inputs import Input
from harness.task.task import Measurement

LEAST_SHARE = 0.5
"""Least share of the units of an input that must be unseen."""
LEAST_UNITS = 5
"""Least number of these units."""
LEAST_PAIRS = 3
"""Least number of pairs or sets of words of a fit."""
_GROUPS = ("definitional_pairs", "definitional_sets", "equalize_sets")
"""The fields of a concept with the words that define it."""


@functools.lru_cache(100_000)
def folded(text: str) -> str:
    """Return a text in the form in which words are compared: `Boys` and `boy` are `boy`."""
    word = plain(text).strip()
    if len(word) <= 3 or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    has_e = word.endswith(("ches", "shes", "sses", "xes", "zes"))
    return word[:-2] if has_e else word[:-1]


def defining(concept: Concept | None) -> frozenset[str]:
    """Return the words that define a concept, folded: of its pairs, and of all sets."""
    if concept is None:
        return frozenset()
    groups = itertools.chain.from_iterable(getattr(concept, name) for name in _GROUPS)
    return frozenset(folded(word) for group in groups for word in group)


def without(concept: Concept, words: frozenset[str], *, exempt: bool) -> Concept:
    """Return a concept without the pairs and sets that hold one of some folded words.

    Parameters
    ----------
    concept
        The concept.
    words
        The folded words.
    exempt
        Whether these words are about the concept by definition, so that a mitigator which leaves
        such words alone does so. If not, they leave the specific words, too.
    """

    def is_kept(group: Sequence[str]) -> bool:
        return words.isdisjoint(map(folded, group))

    update = {name: tuple(filter(is_kept, getattr(concept, name))) for name in _GROUPS}
    groups = itertools.chain.from_iterable(getattr(concept, name) for name in _GROUPS)
    removed = [word for group in groups if not is_kept(group) for word in group]
    specific = (*concept.specific_words, *removed)
    if not exempt:
        specific = tuple(word for word in concept.specific_words if folded(word) not in words)
    return concept.model_copy(update={**update, "specific_words": tuple(dict.fromkeys(specific))})


def units(inputs: Iterable[Input]) -> dict[str, None]:
    """Return the texts of inputs, and the words that they are made from, each once, in order."""
    return dict.fromkeys(text for i in inputs for text in (*(i.texts or ()), *i.items))


@dataclass(frozen=True, eq=False)
class Judged:
    """How a metric of a job is judged.

    Parameters
    ----------
    kind
        In which way.
    job
        The job: with the deployed fit, or with one that does not know the words of the task.
    rows
        (n,) mask of the rows that are judged, by group of inputs; empty for all.
    withheld
        What was left out: units of the task, or words of the concept from the fit. Where nothing
        is judged, the words of the task that the fit has.
    reason
        Why nothing is judged.
    """

    kind: Judging
    job: Job
    rows: Mapping[str, Mask] = field(default_factory=dict)
    withheld: tuple[str, ...] = ()
    reason: str = ""

    def is_whole(self, job: Job) -> bool:
        """Whether its scores are those of a job on all texts."""
        return self.job is job and not self.rows and not self.reason


def unseen_rows(
    inputs: Iterable[Input], words: frozenset[str]
) -> tuple[dict[str, Mask], tuple[str, ...]] | None:
    """Return the rows that are not made from some words, by group, and the units left out.

    Returns
    -------
    tuple or None
        No rows where all are; None where too few are.
    """
    of_texts = [input_ for input_ in inputs if input_.texts is not None]
    rows: dict[str, Mask] = {}
    withheld: dict[str, None] = {}
    for input_ in of_texts:
        texts = input_.texts or ()
        items = [folded(item) in words for item in input_.items] or [False] * len(texts)
        seen = [
            folded(text) in words or items[code]
            for text, code in zip(texts, input_.clusters.tolist(), strict=True)
        ]
        withheld |= dict.fromkeys(itertools.compress(input_.items, items))
        withheld |= dict.fromkeys(itertools.compress(texts, seen)) if not any(items) else {}
        kept = rows.setdefault(input_.group, np.ones(len(input_), dtype=bool))
        kept &= ~np.array(seen, dtype=bool)
    if not withheld:
        return {}, ()
    for input_ in of_texts:
        n = len(np.unique(input_.clusters))
        left = len(np.unique(input_.clusters[rows[input_.group]]))
        if left < n and not (left >= LEAST_UNITS and left >= LEAST_SHARE * n):
            return None
    return rows, tuple(withheld)


_Texts: TypeAlias = tuple[dict[str, Mask], tuple[str, ...], frozenset[str]]


class HeldOutFits:
    """Says how each metric of the jobs of one model is judged; each held-out fit is made once.

    Parameters
    ----------
    embedder
        The model, with the vectors that fits get.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._jobs: dict[tuple[str, str, frozenset[str]], tuple[Chain, Chain]] = {}
        self._embedders: dict[frozenset[str], Embedder] = {}
        self._of_deployed: dict[str, frozenset[str]] = {}  # by fingerprint
        # By the id of the measurement, which is kept with its texts.
        self._known: dict[tuple[int, str], tuple[Measurement, _Texts]] = {}

    def of(self, job: Job, measurement: Measurement) -> Judged:
        """Return how a metric of a job is judged; a held-out mitigator is fitted here."""
        rows, withheld, judged = self._texts(job, measurement)
        known = self._embedder.info.fitted_on
        if known is None or any(map(_states_no_fit, job.mitigator.mitigators)):
            return Judged("fit not stated", job, rows, withheld)
        if own := tuple(text for text in known if folded(text) in judged):
            reason = "the model was fitted on words of the task"
            return Judged("void", job, withheld=own, reason=reason)
        if judged.isdisjoint(self._deployed(job)):
            return Judged("unseen texts", job, rows, withheld)
        return self._held_out(job, judged, rows, withheld)

    def _texts(self, job: Job, measurement: Measurement) -> _Texts:
        """Return the rows that are judged, the units left out, and the units judged, folded."""
        key = id(measurement), job.task.name
        if key not in self._known:
            inputs = list(measurement.inputs.values())
            rows, withheld = unseen_rows(inputs, defining(job.about)) or ({}, ())
            left = {i.group: rows.get(i.group, np.ones(len(i), dtype=bool)) for i in inputs}
            judged = frozenset(map(folded, units(_cut(i, left[i.group]) for i in inputs)))
            self._known[key] = measurement, (rows, withheld, judged)
        return self._known[key][1]

    def _held_out(
        self,
        job: Job,
        judged: frozenset[str],
        rows: Mapping[str, Mask],
        withheld: tuple[str, ...],
    ) -> Judged:
        """Return how a metric is judged whose words, folded, the fit of a job has."""
        concept, seen = job.concept, tuple(sorted(judged & self._deployed(job)))
        if concept is None:
            return Judged("void", job, {}, seen, "its fit has words of the task and no concept")
        reduced = without(concept, judged, exempt=True)
        if not judged.isdisjoint(_fitted_on(job, reduced)):
            reduced = without(concept, judged, exempt=False)
        if not judged.isdisjoint(_fitted_on(job, reduced)):
            return Judged("void", job, {}, seen, "its fit cannot do without words of the task")
        n = max(len(reduced.definitional_pairs), len(reduced.definitional_sets))
        if n < LEAST_PAIRS:
            reason = (
                "no unseen words: without those of the task, its concept has fewer than "
                f"{LEAST_PAIRS} pairs or sets for a fit"
            )
            return Judged("void", job, {}, seen, reason)
        try:
            held_out = self._fitted(job, reduced, judged)
        except HarnessError as error:
            reason = f"the fit without the words of the task failed: {error}"
            return Judged("void", job, {}, seen, reason)
        removed = sorted(defining(concept) & judged)
        return Judged("held-out fit", held_out, rows, (*withheld, *removed))

    def _deployed(self, job: Job) -> frozenset[str]:
        """Return what the deployed fit of a job was made on."""
        if job.part.fingerprint not in self._of_deployed:
            self._of_deployed[job.part.fingerprint] = _fitted_on(job, job.concept)
        return self._of_deployed[job.part.fingerprint]

    def _fitted(self, job: Job, concept: Concept, judged: frozenset[str]) -> Job:
        embedder = self._without(judged)
        words = judged if embedder is not self._embedder else frozenset()
        key = job.part.fingerprint, digest(concept.content()), words
        if key not in self._jobs:
            chain = job.mitigator.refitting()
            self._jobs[key] = chain, chain.without_rewriting()
        mitigator, probing = self._jobs[key]
        held_out = dataclasses.replace(job, mitigator=mitigator, probing=probing, concept=concept)
        for chain in held_out.chains:
            chain.fit_once(embedder, concept)
        return held_out

    def _without(self, words: frozenset[str]) -> Embedder:
        """Return the embedder whose vocabulary lacks some words; a text encoder has none."""
        if self._embedder.info.kind != "word":
            return self._embedder
        if words not in self._embedders:
            kept = np.array([word not in words for word in self._vocabulary], dtype=bool)
            self._embedders[words] = _WithoutWords(self._embedder, kept)
        return self._embedders[words]

    @cached_property
    def _vocabulary(self) -> list[str]:
        """The words of the model's vocabulary, folded."""
        return list(map(folded, vocabulary_of(self._embedder).words))


class _WithoutWords:
    """A word embedder whose vocabulary has some of its words; it gives the vectors of all.

    `kept` is the (n,) mask of these words.
    """

    def __init__(self, embedder: Embedder, kept: Mask) -> None:
        self._embedder, self.info = embedder, embedder.info
        inner = vocabulary_of(embedder)
        places = np.flatnonzero(kept)

        def rows(start: int, stop: int) -> Vectors:
            chosen = places[start:stop]
            if not len(chosen):
                return inner.rows(0, 0)
            first = int(chosen[0])
            return inner.rows(first, int(chosen[-1]) + 1)[chosen - first]

        self.vocabulary = Vocabulary(list(itertools.compress(inner.words, kept)), rows)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of texts."""
        return self._embedder.encode(texts)


def _cut(input_: Input, rows: Mask) -> Input:
    """Return an input with some of its rows, and the items that these are made from."""
    codes = set(input_.clusters[rows].tolist())
    return dataclasses.replace(
        input_,
        texts=tuple(itertools.compress(input_.texts or (), rows)),
        items=tuple(item for code, item in enumerate(input_.items) if code in codes),
        clusters=input_.clusters[rows],
    )


def _fitted_on(job: Job, concept: Concept | None) -> frozenset[str]:
    """Return the texts of a fit on a concept, and the concept's words in them, folded."""
    texts = [
        text
        for stage in job.mitigator.mitigators
        for text in stage.fitting_texts(job.concept if stage.rewrites else concept)
    ]
    return frozenset(map(folded, [*texts, *fitting_words(texts, job.concept)]))


def _states_no_fit(stage: Mitigator) -> bool:
    """Return whether a mitigator of vectors depends on a concept, and does not say how."""
    states = type(stage).fitting_texts is not Mitigator.fitting_texts
    learns = type(stage).fit is not Mitigator.fit or bool(stage.needs)
    return stage.transforms and learns and not states


# Words of the fit inside longer texts, such as the sentences of CrowS-Pairs: they are counted.
#
# Texts of a fit, and of a task, count as they are written, before any rewriting: a text that was
# made of a fitting word is about that word.


LONGEST_PHRASE = 3
"""Words in the longest fitting text that counts as a phrase, such as `Catholic priest`."""
LISTED_WORDS = 10
"""Number of words that a record lists for an input."""


class Fitted:
    """How many texts of a task hold words that the mitigator of a job was fitted on.

    Parameters
    ----------
    job
        A task under a mitigator, whose stages that rewrite are fitted.
    """

    def __init__(self, job: Job) -> None:
        texts = fitting_texts(job.mitigator, job.concept)
        self._finder = Finder(fitting_words(texts, job.concept)) if texts else None
        # By ids of inputs: several metrics read the same ones.
        self._found: dict[int, _Found] = {}
        self._counted: dict[tuple[int, ...], tuple[WordOverlap, ...]] = {}

    def word_overlap(self, inputs: Iterable[Input]) -> tuple[WordOverlap, ...]:
        """Return how many texts of each input hold words of the fit."""
        if self._finder is None:
            return ()
        of_texts = [input_ for input_ in inputs if input_.texts is not None]
        key = tuple(map(id, of_texts))
        if key not in self._counted:
            self._counted[key] = self._count({i.name: self._in(i, self._finder) for i in of_texts})
        return self._counted[key]

    def _count(self, found: Mapping[str, _Found]) -> tuple[WordOverlap, ...]:
        frames: dict[int, set[tuple[str, ...]]] = {}
        for held in itertools.chain.from_iterable(part.held for part in found.values()):
            frames.setdefault(held.frame, set()).add(held.words)
        return tuple(
            WordOverlap(
                input=name,
                texts=part.texts,
                holding=len(part.held),
                versions=sum(len(frames[held.frame]) > 1 for held in part.held),
                words=part.words,
            )
            for name, part in found.items()
        )

    def _in(self, input_: Input, finder: Finder) -> _Found:
        """Return what an input holds."""
        if id(input_) not in self._found:
            texts = dict.fromkeys(input_.texts or ())
            held = [held for text in texts if (held := finder.held(text))]
            counts = Counter(word for part in held for word in dict.fromkeys(part.words))
            words = tuple(word for word, _ in counts.most_common(LISTED_WORDS))
            self._found[id(input_)] = _Found(len(texts), held, words)
        return self._found[id(input_)]


@dataclass(frozen=True)
class _Found:
    """How many texts an input has, what they hold, and the most frequent words of that."""

    texts: int
    held: Sequence[Held]
    words: tuple[str, ...]


def fitting_texts(chain: Chain, concept: Concept | None) -> list[str]:
    """Return the texts that the stages of a mitigator are fitted on, as written."""
    return [text for stage in chain.mitigators for text in stage.fitting_texts(concept)]


def stated_fit(info: ModelInfo, chain: Chain, concept: Concept | None) -> tuple[str, ...] | None:
    """Return what a model is fitted on with a mitigator in it; None if one of its fits is not told.

    These are the texts, and the concept's words in them.
    """
    if info.fitted_on is None or any(map(_states_no_fit, chain.mitigators)):
        return None
    texts = fitting_texts(chain, concept)
    return tuple(dict.fromkeys([*info.fitted_on, *texts, *fitting_words(texts, concept)]))


def fitting_words(texts: Iterable[str], concept: Concept | None) -> list[str]:
    """Return the words and phrases among the texts of a fit, and the concept's words in the others.

    A fit on sentences learns the words that carry the concept: what else is in them is the same for
    all its sides.
    """
    words: list[str] = []
    sentences: list[str] = []
    for text in dict.fromkeys(texts):
        is_phrase = len(words_in(text, "_")) <= LONGEST_PHRASE
        (words if is_phrase else sentences).append(text)
    if concept is None or not sentences:
        return words
    sets = (*concept.definitional_pairs, *concept.definitional_sets, *concept.equalize_sets)
    listed = [word for members in (*sets, concept.specific_words) for word in members]
    finder = Finder(listed)
    held = filter(None, map(finder.held, sentences))
    return list(dict.fromkeys([*words, *(word for part in held for word in part.words)]))
