"""Random words on either side of a bias, on real models: tests find nothing where nothing is.

The words of one side of a task are replaced by random ones, those of the other side stay. Real
words differ along some direction, and random words are not orthogonal to it: a test that shuffles
one side alone finds that. Bias is planted in random words, so that power is known, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from harness.metrics import Metric
from harness.plugins.validity.checks import planted
from harness.run.scoring import MetricInputs, usable_rows

MOST = 0.07
"""Largest share of draws below 5 %."""
LEAST_POWER, LARGEST_LOSS = 0.8, 0.1
DRAWS, FOR_POWER = 100, 40
ONE_SIDE = {
    "weat": "targets",
    "weat-mean": "targets",
    "rnd": "attributes",
    "ripa": "attributes",
    "occupation-projection": "labels",
    "similarity-gap": "labels",
    "group-dispersion": "groups",
}
"""The side that the published or former test shuffles."""
WORDS = ("weat-3", "weat-7", "rnd-gender", "ripa-gender", "ripa-religion", "profession-stereotypes")
SENTENCES = ("seat-c7", "gender-occupations", "holistic-bias-ability")
TEMPLATES = ("This is {}.", "That is {}.", "There is {}.", "Here is {}.")
CHEAP = {"resamples": 0, "permutations": 199, "exact_limit": 0, "null_draws": 199, "repeats": 3}
Encode = Callable[[Sequence[str]], np.ndarray]


@dataclasses.dataclass
class Model:
    """A model, and random words: (w, t, d) vectors of w words in t templates."""

    encode: Encode
    words: np.ndarray


@pytest.fixture(scope="module")
def vocabulary(glove_50d) -> list[str]:
    """Return random words of middling frequency, such as a task could be made of."""
    words = [w for w in list(glove_50d.words)[1_500:15_000] if w.isalpha() and len(w) > 3]
    return [words[i] for i in np.random.default_rng(1).permutation(len(words))[:2_000]]


@pytest.fixture(scope="module")
def model_of(request, vocabulary) -> Callable[[str], Model]:
    """Return a function that gives a model by the name of its fixture."""

    def look_up(name: str, in_sentences: int = 300) -> Model:
        found = request.getfixturevalue(name)
        encode = found.encode if hasattr(found, "encode") else found
        if hasattr(found, "words"):
            vectors = encode(vocabulary)[:, None]
        else:
            words = vocabulary[:in_sentences]
            texts = [template.format(w) for w in words for template in TEMPLATES]
            vectors = encode(texts).reshape(len(words), len(TEMPLATES), -1)
        known = np.isfinite(vectors).all(axis=(1, 2))
        return Model(encode, vectors[known].astype(np.float64))

    return look_up


@dataclasses.dataclass
class Measure:
    """A primary score of a task, its options, and its inputs in a model."""

    metric: Metric
    score: str
    options: Mapping[str, Any]
    inputs: MetricInputs

    def p_value(self, inputs: MetricInputs, rng: np.random.Generator, **options: Any) -> float:
        """Return the p-value on inputs."""
        metric = self.metric
        cheap = {name: value for name, value in CHEAP.items() if name in metric.options}
        scores = metric.measure(
            inputs.arrays,
            {**self.options, **cheap, **options},
            rng=rng,
            clusters=inputs.clusters,
            texts=inputs.texts,
        )
        value = scores[self.score].p_value
        assert value is not None
        return value

    def replaced(self, side: str, words: np.ndarray, rng: np.random.Generator) -> MetricInputs:
        """Return the inputs with a random word for each word of `sides` or of `towards`."""
        names = [name for name in getattr(self.metric.contrast, side) if name in self.inputs.arrays]
        order, arrays, chosen = iter(rng.permutation(len(words))), {}, {}
        for name in names:
            rows = self._words(name)
            for word in dict.fromkeys(rows):
                if word not in chosen:
                    chosen[word] = next(order)
            place = np.arange(len(rows)) % words.shape[1]
            arrays[name] = words[[chosen[word] for word in rows], place]
        return dataclasses.replace(self.inputs, arrays={**self.inputs.arrays, **arrays})

    def _words(self, name: str) -> list[Any]:
        """Return the word of each row of an input: sentences of one word share a cluster."""
        texts, codes = self.inputs.texts[name], self.inputs.clusters[name]
        if name.startswith("versions"):
            return [name] * len(texts)  # one word in all sentences
        if len(np.unique(codes)) < len(codes):
            return [(name, int(code)) for code in codes]
        return list(texts)

    def rejected(self, inputs: Callable[..., MetricInputs], draws: int, **options: Any) -> float:
        """Return the share of draws with a p-value of at most 5 %."""
        generators = [np.random.default_rng([28, draw]) for draw in range(draws)]
        return float(np.mean([self.p_value(inputs(r), r, **options) <= 0.05 for r in generators]))


@pytest.fixture(scope="module")
def test_of(registry) -> Callable[[str, Model], Measure]:
    """Return a function that gives the test of a task in a model."""

    def look_up(name: str, model: Model) -> Measure:
        task = registry.task(name)
        primary = task.file.primary
        scenario = next(s for s in task.scenarios if s.name == primary.scenario)
        use = next(m for m in scenario.measurements if m.metric.name == primary.metric)
        vectors = {i.name: model.encode(list(i.texts)) for i in use.inputs.values() if i.texts}
        inputs = MetricInputs.of(use.inputs, vectors, usable_rows(use.inputs, vectors))
        return Measure(use.metric, primary.score, use.options, inputs)

    return look_up


def check(test: Measure, words: np.ndarray) -> None:
    """Check that random words on either side are found as seldom as they may, and a bias is."""
    room = 3 * np.sqrt(MOST * (1 - MOST) / DRAWS)
    for side in ("sides", "towards"):
        share = test.rejected(lambda rng, side=side: test.replaced(side, words, rng), DRAWS)
        assert share <= MOST + room, f"random words as {getattr(test.metric.contrast, side)}"

    def with_bias(rng: np.random.Generator) -> MetricInputs:
        inputs = test.replaced("sides", words, rng)
        arrays = planted(inputs.arrays, test.metric.contrast, 1.0)
        return dataclasses.replace(inputs, arrays=arrays)

    power = test.rejected(with_bias, FOR_POWER)
    assert power >= LEAST_POWER
    if one_side := ONE_SIDE.get(test.metric.name):
        assert power >= test.rejected(with_bias, FOR_POWER, sides=one_side) - LARGEST_LOSS


@pytest.mark.parametrize("task", WORDS)
def test_random_words_are_not_found_and_planted_bias_is(task, model_of, test_of):
    model = model_of("glove_50d")
    check(test_of(task, model), model.words)


@pytest.mark.parametrize("task", SENTENCES)
def test_random_words_in_sentences_are_not_found_and_planted_bias_is(task, model_of, test_of):
    model = model_of("minilm")
    check(test_of(task, model), model.words)


@pytest.mark.parametrize("task", [task for task in WORDS if task != "ripa-religion"])
def test_one_shuffled_side_finds_random_words_of_the_other(task, model_of, test_of):
    """Why both sides are shuffled: at a level of .05 the share is .25 to .6."""
    model = model_of("glove_50d")
    test = test_of(task, model)
    share = test.rejected(
        lambda rng: test.replaced("towards", model.words, rng),
        DRAWS,
        sides=ONE_SIDE[test.metric.name],
    )
    assert share > 0.2
