"""From vectors to scores: what is missing, what is void, what is drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.embedder import MockEmbedder
from harness.errors import HarnessError
from harness.mitigator import Chain, Mitigator
from harness.run import plan, scoring

MOCK = MockEmbedder("text", 8)


@pytest.fixture
def job(registry):
    def make(task="toy-places", mitigator="none"):
        chain = registry.mitigator(mitigator)
        place = registry.concept("toy-place")
        (made,) = plan.make(
            MOCK.info, [registry.task(task)], {mitigator: chain}, fallback=place
        ).jobs
        made.mitigator.fit(MOCK, made.concept)
        return made

    return make


def without(*lacking, row=np.nan):
    """Return an encoder that lacks some texts."""

    def encode(texts):
        vectors = MOCK.encode(texts)
        vectors[[i for i, text in enumerate(texts) if text in lacking]] = row
        return vectors

    return encode


def test_a_whole_vocabulary_is_covered(job):
    gap, draw = scoring.measure(job(), MOCK.encode, seed=0)
    assert (gap.coverage.asked, gap.coverage.found, gap.coverage.missing) == (6, 6, ())
    assert draw.coverage.asked == 3
    assert set(gap.scores) == {"gap", "items"}
    assert gap.options == {"centre": False, "power": 1.0}
    assert gap.overlap == ()


@pytest.mark.parametrize("row", [np.nan, 0.0, np.inf])
def test_a_word_without_a_direction_is_dropped_and_told_above_the_share_allowed(job, row):
    gap, _ = scoring.measure(job(), without("barn", row=row), seed=0)
    assert gap.coverage.missing == ("barn",)
    assert gap.coverage.found == 5
    assert math.isnan(gap.scores["gap"].value)  # 1 of 3 is more than the 20 % allowed
    assert gap.scores["items"].reason == (
        "33% of 'targets_1' has no vector, more than the 20% that the task allows"
    )


def test_a_share_that_is_allowed_is_left_out_of_the_arrays(job):
    made = job()
    object.__setattr__(made.task, "file", made.task.file.model_copy(update={"max_missing": 0.5}))
    gap, _ = scoring.measure(made, without("barn"), seed=0)
    assert gap.scores["items"].value == 5
    expected = MOCK.encode(["village", "farm"]).mean(0) - MOCK.encode(
        ["city", "street", "tower"]
    ).mean(0)
    assert gap.scores["gap"].value == pytest.approx(np.linalg.norm(expected))


def test_nothing_left_is_void_whatever_the_task_allows(job):
    made = job()
    object.__setattr__(made.task, "file", made.task.file.model_copy(update={"max_missing": 1.0}))
    gap, draw = scoring.measure(made, without("village", "farm", "barn"), seed=0)
    assert gap.scores["gap"].reason.startswith("100% of 'targets_1' has no vector")
    assert math.isnan(draw.scores["draw"].value)


def test_a_row_lost_to_one_column_is_lost_to_all(job):
    made = job("toy-ratings")
    object.__setattr__(made.task, "file", made.task.file.model_copy(update={"max_missing": 0.5}))
    (fit,) = scoring.measure(made, without("tower"), seed=0)  # the metric checks the lengths
    assert fit.scores["correlation"].value == pytest.approx(fit.scores["correlation"].value)
    assert fit.coverage.missing == ("tower",)


def test_texts_that_the_mitigator_was_fitted_on_are_told(job):
    gap, draw = scoring.measure(job(mitigator="toy-shift"), MOCK.encode, seed=0)
    assert gap.overlap == ("city", "farm", "street", "village")
    assert draw.overlap == ("farm", "village")


def test_draws_are_the_same_for_one_seed_and_differ_by_seed_and_purpose(job):
    def drawn(seed, task="toy-places"):
        return scoring.measure(job(task), MOCK.encode, seed=seed)[-1].scores["draw"].value

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    draws = {scoring.random_generator(0, *what).random() for what in [("a",), ("b",), ("a", "b")]}
    assert len(draws) == 3


def test_all_models_are_judged_by_the_same_draws(job):
    other = MockEmbedder("text", 4)
    one, two = (scoring.measure(job(), e.encode, seed=0)[-1] for e in (MOCK, other))
    assert one.scores["draw"] == two.scores["draw"]


@pytest.mark.parametrize(
    ("result", "shape"), [(lambda v: v[:2], "(2, 8)"), (lambda v: v[:, 0], "(3,)")]
)
def test_a_mitigator_that_loses_rows_is_told(job, result, shape):
    class Breaker(Mitigator):
        def transform(self, vectors, texts):
            return result(vectors)

    made = job()
    object.__setattr__(made, "mitigator", Chain([Breaker()]))
    with pytest.raises(HarnessError) as caught:
        scoring.measure(made, MOCK.encode, seed=0)
    assert str(caught.value) == f"'none' returned an array of shape {shape} for 3 texts"


def test_a_mitigator_that_rewrites_to_fewer_texts_is_told(job):
    class Swallower(Mitigator):
        def rewrite(self, texts):
            return list(texts)[1:]

    made = job()
    object.__setattr__(made, "mitigator", Chain([Swallower()]))
    with pytest.raises(HarnessError, match="rewrote 3 texts as 2"):
        scoring.measure(made, MOCK.encode, seed=0)
