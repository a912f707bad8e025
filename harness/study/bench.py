"""The bench: judges a mitigator, fitted on some pairs, by the measures on other pairs.

Work that is equal in all folds is done once for a model: texts are listed, looked up and checked,
and metric calls are laid out with the positions of their texts (`lay_out`). Each fold then selects
its held-out pairs. Knows no order of folds, no choice of hyper-parameters, and no files.

A metric is also called with the sides of some held-out pairs swapped. The assignments of sides are
the rows of a Hadamard matrix: each pair is swapped in half of them, and any two pairs in every
combination equally often. For a mean over pairs, few assignments have the exact variance of all 2ⁿ.
The first assignment swaps nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.chain import Chain
from harness.concept import Concept
from harness.embedder import (
    PLAIN,
    Embedder,
    ModelInfo,
    Role,
    Vocabulary,
    read_as,
    role_keys,
    vocabulary_of,
)
from harness.errors import PLUGIN_ERRORS, HarnessError, NotApplicable, UsageError, listed, one_line
from harness.letters import plain
from harness.metrics import Metric, Score
from harness.run.scoring import random_generator
from harness.run.unseen import fitting_texts, units
from harness.study.folds import Split, concept_without
from harness.study.study import EQUAL, Measure, Study
from harness.task.inputs import Input


@dataclass(frozen=True)
class Bench:
    """A study on one model.

    Parameters
    ----------
    study
        The study.
    texts
        All texts by route, each once.
    calls
        The metric calls, by measure and scenario.
    items
        Positions of the study's pairs that the model has.
    missing
        Words that the model lacks.
    """

    study: Study
    texts: Mapping[Route, tuple[str, ...]]
    calls: tuple[Call, ...]
    items: tuple[int, ...]
    missing: tuple[str, ...]

    @cached_property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The pairs (or sets) that are divided into folds."""
        return tuple(self.study.items[i] for i in self.items)

    def concept(self, split: Split) -> Concept:
        """Return the part of the concept to fit on in a split."""
        held_out = self._held_out(split)
        return concept_without(
            self.study.concept,
            self.study.file.folded,
            [self.words[i] for i in split.train],
            held_out,
            held_out | self._attributes,
        )

    def overlap(self, chain: Chain, split: Split) -> tuple[str, ...]:
        """Return the words and texts of a split that are both fitted on and judged."""
        judged = self._held_out(split) | self._attributes
        fitted = set(fitting_texts(chain, self.concept(split)))
        return tuple(sorted(text for text in fitted if plain(text) in judged))

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
            Whether to judge also with swapped sides of the held-out pairs.
        """
        try:
            vectors = self._vectors(base, chain, self.concept(split))
        except UsageError:
            raise
        except PLUGIN_ERRORS as error:
            return undefined(self.study.measures, one_line(error))
        held_out = np.array([self.items[i] for i in split.held_out], dtype=np.int64)
        readings: dict[str, list[tuple[str, Reading]]] = {}
        for call in self.calls:
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
        if chain.rewrites:  # probes need stages that are fitted on original texts
            keys += fitting_texts(chain, concept)
        return keys

    def keys(
        self, way: Way, info: ModelInfo, change: Callable[[Sequence[str]], Sequence[str]] = list
    ) -> list[str]:
        """Return the keys of a model for the texts of a route, after `change`."""
        return [
            key
            for route, texts in self.texts.items()
            if route.way == way
            for key in role_keys(change(texts), route.role, info.readings)
        ]

    def _held_out(self, split: Split) -> frozenset[str]:
        return frozenset(plain(word) for i in split.held_out for word in self.words[i])

    @cached_property
    def _attributes(self) -> frozenset[str]:
        """The judged texts other than the pairs, and the words in them."""
        attributes = units(
            input_
            for measure in self.study.measures
            for scenario in measure.task.scenarios
            for input_ in scenario.inputs.values()
            if input_.name not in measure.held_out[scenario.name]
        )
        return frozenset(map(plain, attributes))

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
            missing = len(arrays[name]) - int(has_direction(arrays[name]).sum())
            if missing:
                reason = f"{missing} of the texts of '{name}' are left without a vector"
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
    texts, calls = lay_out(study, info.name, items, missing)
    return Bench(study, texts, calls, items, tuple(sorted(missing)))


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


Scenarios = tuple[float | None, ...]
"""A number for each scenario of a measure; None where undefined."""


@dataclass(frozen=True)
class Outcome:
    """The values of a mitigator on held-out pairs.

    Parameters
    ----------
    values
        By measure, the mean distance from fair over its scenarios; None where undefined.
    reasons
        By measure, why a value is undefined.
    signed
        By measure with a sign, the score less its fair value in each scenario.
    floors
        By measure, the mean distance from fair with the sides of the pairs swapped. None if the
        measure does not depend on sides, or if no score was computed with swapped sides.
    spreads
        By measure with a sign, the standard deviation of its score with swapped sides of the pairs,
        in each scenario; empty if no score was computed with swapped sides.
    """

    values: Mapping[str, float | None]
    reasons: Mapping[str, str] = field(default_factory=dict)
    signed: Mapping[str, Scenarios] = field(default_factory=dict)
    floors: Mapping[str, float | None] = field(default_factory=dict)
    spreads: Mapping[str, Scenarios] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """The scores of a measure in a scenario.

    Parameters
    ----------
    scores
        (m,) first without swapped pairs, then with the sides of some held-out pairs swapped; only
        the first if pairs have no two sides.
    reason
        Why the first score is undefined; else empty.
    """

    scores: Floats
    reason: str = ""


def outcome(
    measures: Sequence[Measure], readings: Mapping[str, Sequence[tuple[str, Reading]]]
) -> Outcome:
    """Return the values of all measures.

    Parameters
    ----------
    measures
        The measures.
    readings
        By measure, the name and the reading of each scenario.
    """
    values: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    signed: dict[str, Scenarios] = {}
    floors: dict[str, float | None] = {}
    spreads: dict[str, Scenarios] = {}
    for measure in measures:
        name, named = measure.name, readings[measure.name]
        scores = [reading.scores for _, reading in named]
        values[name] = _finite(np.mean([measure.distance(of[0]) for of in scores]))
        for scenario, reading in named:
            if reading.reason:
                reasons.setdefault(name, f"{scenario}: {reading.reason}")
        if measure.signed:
            signed[name] = tuple(_finite(of[0] - float(measure.ideal)) for of in scores)
        if all(len(of) > 1 for of in scores):
            has_sides = any(np.ptp(of) > EQUAL for of in scores)
            distances = [np.mean([measure.distance(score) for score in of]) for of in scores]
            floors[name] = _finite(np.mean(distances)) if has_sides else None
            if measure.signed:
                spreads[name] = tuple(_finite(of.std()) for of in scores)
    return Outcome(values, reasons, signed, floors, spreads)


def undefined(measures: Sequence[Measure], reason: str) -> Outcome:
    """Return the outcome of a mitigator that could not be fitted."""
    names = [measure.name for measure in measures]
    signed = {m.name: (None,) * len(m.task.scenarios) for m in measures if m.signed}
    return Outcome(dict.fromkeys(names), dict.fromkeys(names, reason), signed)


def _finite(number: float | np.floating[Any]) -> float | None:
    return float(number) if np.isfinite(number) else None


Way: TypeAlias = Literal["mitigated", "probe", "original"]
"""How texts become vectors: through the mitigator; through it without rewriting; or unmitigated."""
NULL_DRAWS = "null_draws"
"""Option of metrics: the number of draws of the floor of a score."""
Codes = npt.NDArray[np.int64]


class Route(NamedTuple):
    """How texts become vectors, and their role in a search."""

    way: Way
    role: Role


@dataclass(frozen=True)
class Part:
    """One input of a metric.

    Parameters
    ----------
    route
        How its texts become vectors.
    positions
        (n,) positions of the texts among all texts of that route; empty for numbers.
    codes
        (n,) code of the item of each text.
    held_out
        Whether the items are the pairs that are divided into folds.
    numbers
        (n,) numbers instead of texts.
    """

    route: Route
    positions: npt.NDArray[np.intp]
    codes: Codes
    held_out: bool
    numbers: Floats | None

    def of(self, items: Codes) -> Part:
        """Return the part with the rows of `items` only, if its items are divided into folds."""
        if not self.held_out:
            return self
        kept = np.isin(self.codes, items)
        numbers = None if self.numbers is None else self.numbers[kept]
        return dataclasses.replace(
            self,
            positions=self.positions[kept] if self.numbers is None else self.positions,
            codes=self.codes[kept],
            numbers=numbers,
        )


@dataclass(frozen=True)
class Call:
    """A metric on the inputs of one scenario.

    Parameters
    ----------
    measure
        Position of the measure in the study.
    scenario
        Name of the scenario.
    options
        Options of the metric.
    parts
        Its inputs by name.
    """

    measure: int
    scenario: str
    options: Mapping[str, Any]
    parts: Mapping[str, Part]


def lay_out(
    study: Study, model: str, items: tuple[int, ...], missing: frozenset[str]
) -> tuple[dict[Route, tuple[str, ...]], tuple[Call, ...]]:
    """Return all texts and calls of a study on a model.

    Parameters
    ----------
    study
        The study.
    model
        Name of the model, for errors.
    items
        Positions of the study's pairs that the model has.
    missing
        Texts that have no vector.

    Raises
    ------
    NotApplicable
        If more of an input is missing than the study allows.
    """
    positions: dict[Route, dict[str, int]] = {}
    calls = []
    for number, measure in enumerate(study.measures):
        for scenario in measure.task.scenarios:
            held_out = measure.held_out[scenario.name]
            for measurement in scenario.measurements:
                inputs = measurement.inputs
                kept = _kept(inputs, held_out, missing, items)
                for input_ in inputs.values():
                    share = 1 - float(kept[input_.group].mean())
                    too_much = share > study.file.max_missing or share == 1
                    if too_much and input_.name not in held_out:
                        raise NotApplicable(
                            f"'{model}' lacks {share:.0%} of '{input_.name}' of scenario "
                            f"'{scenario.name}'; the study allows {study.file.max_missing:.0%} "
                            "(max_missing)"
                        )
                parts = {
                    name: _part(input_, kept[input_.group], input_.name in held_out, positions)
                    for name, input_ in inputs.items()
                }
                options = _without_nulls(measurement.metric) | dict(measurement.options)
                calls.append(Call(number, scenario.name, options, parts))
    return {route: tuple(of_route) for route, of_route in positions.items()}, tuple(calls)


def _without_nulls(metric: Metric) -> dict[str, Any]:
    """Return the default options of a metric, without draws for its floor: a study has its own."""
    options = dict(metric.options)
    return options | {NULL_DRAWS: 0} if NULL_DRAWS in options else options


def _kept(
    inputs: Mapping[str, Input],
    held_out: frozenset[str],
    missing: frozenset[str],
    items: tuple[int, ...],
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return by group the mask of kept rows; aligned inputs drop the same rows."""
    kept = {input_.group: np.ones(len(input_), dtype=bool) for input_ in inputs.values()}
    for input_ in inputs.values():
        if input_.name in held_out:
            kept[input_.group] &= np.isin(input_.clusters, items)
        elif input_.texts is not None and missing:
            kept[input_.group] &= np.array([text not in missing for text in input_.texts])
    return kept


def _part(
    input_: Input,
    kept: npt.NDArray[np.bool_],
    held_out: bool,
    positions: dict[Route, dict[str, int]],
) -> Part:
    """Return an input's part; new texts are added to `positions`."""
    way: Way = "original" if input_.original else "probe" if input_.probe else "mitigated"
    route = Route(way, input_.role)
    known = positions.setdefault(route, {})
    texts = [text for text, keep in zip(input_.texts or (), kept.tolist(), strict=False) if keep]
    numbers = None if input_.numbers is None else input_.numbers[kept]
    return Part(
        route=route,
        positions=np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.intp),
        codes=input_.clusters[kept],
        held_out=held_out,
        numbers=numbers,
    )


Swaps = npt.NDArray[np.bool_]
Texts = tuple[str, ...]
ScoreOf = Callable[[Mapping[str, Reals], Mapping[str, Texts]], float]
"""Returns the score of the vectors (or numbers) and the texts of a metric's inputs."""


def assignments(pairs: int) -> Swaps:
    """Return which pairs each assignment swaps, (m, pairs); the first swaps none."""
    from scipy.linalg import hadamard

    order = 1 << pairs.bit_length()  # the power of two above the number of pairs
    return np.asarray(hadamard(order)[:, 1 : pairs + 1] < 0)


def scores_of_swapped(
    score: ScoreOf,
    parts: Mapping[str, Part],
    arrays: Mapping[str, Reals],
    texts: Mapping[str, Texts],
    items: Codes,
) -> Floats:
    """Return the scores with the sides of some pairs swapped; none if the pairs have no two sides.

    Parameters
    ----------
    score
        Returns a score.
    parts, arrays, texts
        The inputs of the metric, with the rows of the held-out pairs.
    items
        (pairs,) codes of the held-out pairs.
    """
    sides = [name for name, part in parts.items() if part.held_out]
    if len(sides) != 2:
        return np.array([])
    first, second = sides
    if not np.array_equal(parts[first].codes, parts[second].codes):
        return np.array([])
    pair_of_row = np.searchsorted(np.sort(items), parts[first].codes)
    n = len(pair_of_row)
    both = np.concatenate([arrays[first], arrays[second]])
    words = (*texts.get(first, ()), *texts.get(second, ()))
    scores = []
    for swaps in assignments(len(items))[1:]:
        swapped = swaps[pair_of_row]
        rows = dict(zip(sides, np.arange(n) + n * np.stack([swapped, ~swapped]), strict=True))
        vectors = {name: both[of] for name, of in rows.items()}
        written = {name: tuple(words[i] for i in of) for name, of in rows.items()} if words else {}
        scores.append(score({**arrays, **vectors}, {**texts, **written}))
    return np.array(scores)


class Base:
    """The embedder that a study gives to every mitigator; itself an embedder.

    Parameters
    ----------
    embedder
        The embedder.
    unit
        Whether its vectors are set to length 1.
    """

    def __init__(self, embedder: Embedder, *, unit: bool) -> None:
        self.embedder, self.unit = embedder, unit
        self._role: Role = PLAIN
        self._last: tuple[Role, list[str], Vectors] | None = None

    @property
    def info(self) -> ModelInfo:
        """The embedder's info; its fingerprint differs if the vectors do."""
        info = self.embedder.info
        changed = dataclasses.replace(info, fingerprint=f"{info.fingerprint} at length 1")
        return changed if self.unit else info

    @contextlib.contextmanager
    def reading(self, role: Role) -> Iterator[None]:
        """Encode all texts in this context as texts of a role."""
        before, self._role = self._role, role
        try:
            with read_as(self.embedder, role):
                yield
        finally:
            self._role = before

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`. The result of the last call is cached."""
        asked = (self._role, list(texts))
        if self._last is None or self._last[:2] != asked:
            self._last = (*asked, self._scaled(self.embedder.encode(texts)))
        return self._last[2].copy()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The embedder's words; always the same object, so that results can be cached with it."""
        inner = vocabulary_of(self.embedder)
        if not self.unit:
            return inner
        return Vocabulary(inner.words, lambda start, stop: self._scaled(inner.rows(start, stop)))

    def _scaled(self, vectors: Vectors) -> Vectors:
        return unit_rows(vectors).astype(np.float32) if self.unit else vectors


LISTED = 5
"""Number of overlapping texts that an error lists."""


def refuse_overlap(bench: Bench, splits: Sequence[Split]) -> None:
    """Refuse a study that judges words on which a mitigator was fitted.

    Raises
    ------
    UsageError
        With the row and the words.
    """
    for candidate in bench.study.candidates:
        for chain in candidate.chains:
            for split in splits:
                try:
                    overlap = bench.overlap(chain, split)
                except HarnessError:
                    continue  # the fit will fail too, and report the error
                if overlap:
                    texts = listed((f"'{text}'" for text in overlap), LISTED)
                    raise UsageError(
                        f"study '{bench.study.file.name}': '{candidate.label}' would be judged on "
                        f"texts that it is fitted on: {texts}; remove them from the sets"
                    )
