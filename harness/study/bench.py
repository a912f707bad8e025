"""The bench: judges a mitigator, fitted on some pairs, by the measures on others.

Everything that does not change from fold to fold is done once: the texts are listed, looked up and
checked. Knows nothing of folds' order, choices or files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.arrays import Reals, has_direction
from harness.concept import Concept
from harness.embedder import Embedder, ModelInfo
from harness.errors import HarnessError, NotApplicable, UsageError, one_line
from harness.mitigator import Chain
from harness.run.plan import NotYetEncoding
from harness.run.scoring import random_generator
from harness.study.calls import Call, Codes, Way, laid_out
from harness.study.folds import Split, concept_without
from harness.study.study import Study


@dataclass(frozen=True)
class Outcome:
    """What a mitigator gave on held-out pairs.

    Parameters
    ----------
    values
        By measure, the mean distance from fair over its scenarios; None where undefined.
    reasons
        Why, by measure.
    """

    values: Mapping[str, float | None]
    reasons: Mapping[str, str]


@dataclass(frozen=True)
class Bench:
    """A study as it is judged on one model.

    Parameters
    ----------
    study
        The study.
    texts
        All texts by what they go through, each once.
    calls
        All metrics on all scenarios.
    items
        Which of the study's pairs the model has, by position.
    missing
        Words that it lacks.
    """

    study: Study
    texts: Mapping[Way, tuple[str, ...]]
    calls: tuple[Call, ...]
    items: tuple[int, ...]
    missing: tuple[str, ...]

    @cached_property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The pairs that are dealt out."""
        return tuple(self.study.items[i] for i in self.items)

    def concept(self, split: Split) -> Concept:
        """Return the concept that is left to fit on in a split."""
        concept, held_out = self.study.concept, self._held_out(split)
        return concept_without(
            concept,
            self.study.file.folded,
            [self.words[i] for i in split.train],
            held_out,
            held_out | self._attributes.intersection(concept.specific_words),
        )

    def overlap(self, chain: Chain, split: Split) -> tuple[str, ...]:
        """Return the words and texts that are judged in a split and fitted on too."""
        concept, held_out = self.concept(split), self._held_out(split)
        fitted = {text for stage in chain.mitigators for text in stage.fitting_texts(concept)}
        return tuple(sorted(fitted & held_out | fitted & self._attributes))

    def judge(self, base: Embedder, chain: Chain, split: Split) -> Outcome:
        """Fit an unfitted mitigator on a split's pairs and judge it on the others."""
        try:
            rows = self._rows(base, chain, self.concept(split))
        except UsageError:
            raise
        except Exception as error:  # a plugin may raise anything
            return self._undefined(one_line(error))
        held_out = np.array([self.items[i] for i in split.held_out], dtype=np.int64)
        values: dict[str, list[float]] = {measure.name: [] for measure in self.study.measures}
        reasons: dict[str, str] = {}
        for call in self.calls:
            measure = self.study.measures[call.measure]
            try:
                value, reason = self._value(call, rows, held_out)
            except Exception as error:  # so may a metric
                value, reason = float("nan"), one_line(error)
            if reason:
                reasons.setdefault(measure.name, f"{call.scenario}: {reason}")
            values[measure.name].append(measure.distance(value))
        means = {name: float(np.mean(found)) for name, found in values.items()}
        return Outcome(
            {name: mean if np.isfinite(mean) else None for name, mean in means.items()}, reasons
        )

    def needed(self, chain: Chain, split: Split, info: ModelInfo) -> list[str]:
        """Return the texts to encode before a mitigator can be judged in a split."""
        concept = self.concept(split)
        chain.fit_rewriters(NotYetEncoding(info), concept)
        texts = [*chain.rewrite(self.texts["mitigated"]), *chain.fitting_texts(concept)]
        texts += chain.reads(self.texts["mitigated"], concept)
        if chain.rewrites:  # what goes through as written is fitted on texts as written
            texts += [text for one in chain.mitigators for text in one.fitting_texts(concept)]
        return texts

    def _held_out(self, split: Split) -> set[str]:
        return {word for i in split.held_out for word in self.words[i]}

    @cached_property
    def _attributes(self) -> frozenset[str]:
        """All that is judged besides pairs: texts, and the words that they are made of."""
        found: set[str] = set()
        for measure in self.study.measures:
            for scenario in measure.task.scenarios:
                for given in scenario.inputs.values():
                    if given.name not in measure.held_out[scenario.name]:
                        found |= {*(given.texts or ()), *given.items}
        return frozenset(found)

    def _rows(self, base: Embedder, chain: Chain, concept: Concept) -> dict[Way, Reals]:
        """Return the vectors of all texts, by what they go through."""
        rows: dict[Way, Reals] = {}
        fitted = False
        for way, texts in self.texts.items():
            if not texts:
                continue
            if way == "original":
                rows[way] = base.encode(texts)
                continue
            through = Chain(chain.mitigators, rewriting=way == "mitigated")
            if not fitted or chain.rewrites:
                through.fit(base, concept)
                fitted = True
            rows[way] = through.transform(base.encode(through.rewrite(texts)), texts)
        return rows

    def _value(self, call: Call, rows: Mapping[Way, Reals], held_out: Codes) -> tuple[float, str]:
        """Return a score and, if it is undefined, why."""
        measure = self.study.measures[call.measure]
        arrays: dict[str, Reals] = {}
        clusters, texts = {}, {}
        for name, whole in call.parts.items():
            part = whole.of(held_out)
            clusters[name] = part.codes
            if part.numbers is not None:
                arrays[name] = part.numbers
                continue
            arrays[name] = rows[part.way][part.positions]
            if "texts" in measure.metric.supplied:
                texts[name] = tuple(self.texts[part.way][i] for i in part.positions)
            lost = len(arrays[name]) - int(has_direction(arrays[name]).sum())
            if lost:
                return float("nan"), f"{lost} of the texts of '{name}' are left without a vector"
        seed = self.study.file.seed
        rng = random_generator(seed, measure.task.digest, call.scenario, measure.metric.name)
        scores = measure.metric.measure(
            arrays, call.options, rng=rng, clusters=clusters, texts=texts
        )
        score = scores[measure.score]
        reason = "" if np.isfinite(score.value) else score.reason or "undefined"
        return score.value, reason

    def _undefined(self, reason: str) -> Outcome:
        names = [measure.name for measure in self.study.measures]
        return Outcome(dict.fromkeys(names, None), dict.fromkeys(names, reason))


def unfitted(chain: Chain) -> Chain:
    """Return a copy of a chain that knows nothing."""
    from sklearn.base import clone

    return Chain([clone(stage) for stage in chain.mitigators])


def refuse_overlap(bench: Bench, splits: Sequence[Split]) -> None:
    """Refuse a study that judges words which a mitigator was fitted on.

    Raises
    ------
    UsageError
        With the row and the words.
    """
    for candidate in bench.study.candidates:
        for chain in candidate.chains:
            for split in splits:
                try:
                    shared = bench.overlap(chain, split)
                except HarnessError:
                    continue  # the fit fails too, and says so
                if shared:
                    told = ", ".join(f"'{text}'" for text in shared[:5])
                    more = f" and {len(shared) - 5} more" if len(shared) > 5 else ""
                    raise UsageError(
                        f"study '{bench.study.file.name}': '{candidate.label}' would be judged on "
                        f"what it was fitted on: {told}{more}; take them out of the sets, or say "
                        "'allow_overlap: true' in the study"
                    )


def prepare(study: Study, embedder: Embedder) -> Bench:
    """Return the bench of a study for a model.

    Raises
    ------
    NotApplicable
        If a row does not work on its kind, or it lacks more than the study allows.
    """
    file, info = study.file, embedder.info
    for candidate in study.candidates:
        if info.kind not in candidate.chains[0].all_kinds:
            raise NotApplicable(
                f"'{candidate.label}' does not work on {info.kind} embedders, and '{info.name}' "
                "is one"
            )
    lacking = _lacking(study, embedder)
    items = tuple(i for i, words in enumerate(study.items) if lacking.isdisjoint(words))
    if len(items) < file.folds:
        raise NotApplicable(
            f"'{info.name}' has {len(items)} of the {len(study.items)} "
            f"{file.folded.replace('_', ' ')} of concept '{file.concept}', too few for "
            f"{file.folds} folds"
        )
    texts, calls = laid_out(study, info.name, items, lacking)
    return Bench(study, texts, calls, items, tuple(sorted(lacking)))


def _lacking(study: Study, embedder: Embedder) -> frozenset[str]:
    """Return the texts and words of a study that a word embedder has no vector of."""
    if embedder.info.kind != "word":
        return frozenset()
    given = [
        text for measure in study.measures for i in measure.task.texts() for text in i.texts or ()
    ]
    asked = list(dict.fromkeys([*given, *(word for one in study.items for word in one)]))
    there = has_direction(embedder.encode(asked))
    return frozenset(text for text, has in zip(asked, there.tolist(), strict=True) if not has)
