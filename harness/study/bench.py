"""The bench: judges a mitigator, fitted on some pairs, by the measures on other pairs.

What is the same in all folds is done once: texts are listed, looked up and checked. Knows nothing
of the order of folds, the choice of hyper-parameters, or files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.arrays import Reals, has_direction
from harness.chain import Chain
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo, read_as, role_keys
from harness.encode.spellings import Spellings
from harness.errors import PLUGIN_ERRORS, NotApplicable, UsageError, one_line
from harness.metrics import Score
from harness.run.plan import fitting_texts, judged_texts
from harness.run.scoring import random_generator
from harness.study.calls import Call, Codes, Layout, Route, Way, lay_out
from harness.study.folds import Split, concept_without
from harness.study.leaks import spellings
from harness.study.outcome import Outcome, Reading, outcome, undefined
from harness.study.sides import scores_of_swapped
from harness.study.study import Study


@dataclass(frozen=True)
class Bench:
    """A study on one model.

    Parameters
    ----------
    study
        The study.
    layout
        All texts and metric calls.
    items
        Positions of the study's pairs that the model has.
    missing
        Words that the model lacks.
    spellings
        Which of the texts that are judged, or fitted on, the model reads alike.
    """

    study: Study
    layout: Layout
    items: tuple[int, ...]
    missing: tuple[str, ...]
    spellings: Spellings

    @property
    def texts(self) -> Mapping[Route, tuple[str, ...]]:
        """All texts by route, each once."""
        return self.layout.texts

    @cached_property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The pairs (or sets) that are divided into folds."""
        return tuple(self.study.items[i] for i in self.items)

    def concept(self, split: Split) -> Concept:
        """Return what is left of the concept to fit on in a split."""
        concept, held_out = self.study.concept, self.spellings.like(self._held_out(split))
        specific = self.spellings.like(concept.specific_words)
        return concept_without(
            concept,
            self.study.file.folded,
            [self.words[i] for i in split.train],
            held_out,
            held_out | self.spellings.like(self._attributes.intersection(specific)),
        )

    def overlap(self, chain: Chain, split: Split) -> tuple[str, ...]:
        """Return the words and texts of a split that are both fitted on and judged."""
        concept, held_out = self.concept(split), self._held_out(split)
        fitted = self.spellings.like(fitting_texts(chain, concept))
        return tuple(sorted(fitted & held_out | fitted & self._attributes))

    def judge(self, base: Embedder, chain: Chain, split: Split, *, floors: bool = False) -> Outcome:
        """Fit an unfitted mitigator on a split's pairs and judge it on the held-out pairs.

        Parameters
        ----------
        base
            The embedder.
        chain
            The mitigator.
        split
            The pairs to fit on, and the held-out pairs.
        floors
            Whether to judge with the sides of the held-out pairs swapped, too.
        """
        try:
            vectors = self._vectors(base, chain, self.concept(split))
        except UsageError:
            raise
        except PLUGIN_ERRORS as error:
            return undefined(self.study.measures, one_line(error))
        held_out = np.array([self.items[i] for i in split.held_out], dtype=np.int64)
        readings: dict[str, list[tuple[str, Reading]]] = {}
        for call in self.layout.calls:
            try:
                reading = self._reading(call, vectors, held_out, floors=floors)
            except PLUGIN_ERRORS as error:
                reading = Reading(np.array([np.nan]), one_line(error))
            name = self.study.measures[call.measure].name
            readings.setdefault(name, []).append((call.scenario, reading))
        return outcome(self.study.measures, readings)

    def needed(self, chain: Chain, split: Split, info: ModelInfo) -> list[str]:
        """Return the keys of texts to encode before a mitigator can be judged in a split."""
        concept = self.concept(split)
        chain.fit_rewriters(info, concept)
        keys = self.keys("mitigated", info, chain.rewrite)
        keys += chain.fitting_texts(concept)
        keys += self.keys("mitigated", info, lambda texts: chain.reads(texts, concept))
        if chain.rewrites:  # for probes, the stages are fitted on texts that are not rewritten
            keys += fitting_texts(chain, concept)
        return keys

    def keys(
        self, way: Way, info: ModelInfo, change: Callable[[Sequence[str]], Sequence[str]] = list
    ) -> list[str]:
        """Return the keys of the texts of a way for a model, after `change`."""
        return [
            key
            for route, texts in self.texts.items()
            if route.way == way
            for key in role_keys(change(texts), route.role, info.readings)
        ]

    def _held_out(self, split: Split) -> set[str]:
        return {word for i in split.held_out for word in self.words[i]}

    @cached_property
    def _attributes(self) -> frozenset[str]:
        """The texts that are judged besides the pairs, and the words that they are made from."""
        return frozenset(
            judged_texts(
                input_
                for measure in self.study.measures
                for scenario in measure.task.scenarios
                for input_ in scenario.inputs.values()
                if input_.name not in measure.held_out[scenario.name]
            )
        )

    def _vectors(self, base: Embedder, chain: Chain, concept: Concept) -> dict[Route, Reals]:
        """Return the vectors of all texts by route."""
        vectors: dict[Route, Reals] = {}
        chain.fit_rewriters(base.info, concept)
        chains = {"mitigated": chain, "probe": chain.without_rewriting()}
        for route, texts in self.texts.items():
            mitigator = chains.get(route.way)
            if not texts:
                continue
            if mitigator is not None:
                mitigator.fit_once(base, concept)
            with read_as(base, route.role):
                if mitigator is None:
                    vectors[route] = base.encode(texts)
                else:
                    written = mitigator.rewrite(texts)
                    vectors[route] = mitigator.transform(base.encode(written), texts)
        return vectors

    def _reading(
        self, call: Call, vectors: Mapping[Route, Reals], held_out: Codes, *, floors: bool
    ) -> Reading:
        """Return the scores of held-out pairs, and with `floors` those with swapped sides."""
        measure, seed = self.study.measures[call.measure], self.study.file.seed
        parts = {name: part.of(held_out) for name, part in call.parts.items()}
        arrays: dict[str, Reals] = {}
        texts: dict[str, tuple[str, ...]] = {}
        for name, part in parts.items():
            if part.numbers is not None:
                arrays[name] = part.numbers
                continue
            arrays[name] = vectors[part.route][part.positions]
            if "texts" in measure.metric.supplied:
                texts[name] = tuple(self.texts[part.route][i] for i in part.positions)
            lost = len(arrays[name]) - int(has_direction(arrays[name]).sum())
            if lost:
                reason = f"{lost} of the texts of '{name}' are left without a vector"
                return Reading(np.array([np.nan]), reason)

        def score(arrays: Mapping[str, Reals], texts: Mapping[str, tuple[str, ...]]) -> Score:
            scores = measure.metric.measure(
                arrays,
                call.options,
                rng=random_generator(seed, measure.task.digest, call.scenario, measure.metric.name),
                clusters={name: part.codes for name, part in parts.items()},
                texts=texts,
            )
            return scores[measure.score]

        first = score(arrays, texts)
        reason = "" if np.isfinite(first.value) else first.reason or "undefined"
        if not floors:
            return Reading(np.array([first.value]), reason)
        swapped = scores_of_swapped(
            lambda *inputs: score(*inputs).value, parts, arrays, texts, held_out
        )
        return Reading(np.array([first.value, *swapped]), reason)


def prepare(study: Study, embedder: Embedder) -> Bench:
    """Return the bench of a study for a model.

    Raises
    ------
    NotApplicable
        If a row does not work on the model's kind, or more words are missing than allowed.
    """
    file, info = study.file, embedder.info
    for candidate in study.candidates:
        if info.kind not in candidate.chains[0].all_kinds:
            raise NotApplicable(
                f"'{candidate.label}' does not work on {info.kind} embedders such as '{info.name}'"
            )
    missing = _missing(study, embedder)
    items = tuple(i for i, words in enumerate(study.items) if missing.isdisjoint(words))
    if len(items) < file.folds:
        raise NotApplicable(
            f"'{info.name}' has {len(items)} of the {len(study.items)} "
            f"{file.folded.replace('_', ' ')} of concept '{file.concept}', too few for "
            f"{file.folds} folds"
        )
    layout = lay_out(study, info.name, items, missing)
    return Bench(study, layout, items, tuple(sorted(missing)), spellings(study, embedder))


def _missing(study: Study, embedder: Embedder) -> frozenset[str]:
    """Return the texts and words of a study that a word embedder has no vector for."""
    if embedder.info.kind != "word":
        return frozenset()
    judged = [
        text
        for measure in study.measures
        for input_ in measure.task.texts()
        for text in input_.texts or ()
    ]
    texts = list(dict.fromkeys([*judged, *(word for words in study.items for word in words)]))
    has_vector = has_direction(embedder.encode(texts))
    return frozenset(text for text, has in zip(texts, has_vector.tolist(), strict=True) if not has)
