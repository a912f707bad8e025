"""From vectors to scores: what is missing, what is void, and the random draws."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from harness.chain import Chain
from harness.embedder import MockEmbedder
from harness.errors import HarnessError
from harness.mitigator import Mitigator
from harness.run import plan, scoring

MOCK = MockEmbedder("text", 8)
RATINGS = Path(__file__).parents[1] / "toy" / "tasks" / "ratings.tsv"


@pytest.fixture
def job(registry):
    def make(task="toy-places", mitigator="none", max_missing=None):
        task = registry.task(task)
        if max_missing is not None:
            file = task.file.model_copy(update={"max_missing": max_missing})
            task = dataclasses.replace(task, file=file)
        chains = {mitigator: registry.mitigator(mitigator)}
        (job,) = plan.make_plan(MOCK, [task], chains, fallback=registry.concept("toy-place")).jobs
        job.mitigator.fit_once(MOCK, job.concept)
        return job

    return make


def without(*missing, row=np.nan):
    """Return an encoder that has no vector for some texts."""

    def encode(texts):
        vectors = MOCK.encode(texts)
        vectors[[i for i, text in enumerate(texts) if text in missing]] = row
        return vectors

    return encode


def test_a_vocabulary_with_every_word_is_covered(job):
    gap, draw = scoring.measure(job(), MOCK.encode, seed=0)
    assert (gap.coverage.asked, gap.coverage.found, gap.coverage.missing) == (6, 6, ())
    assert draw.coverage.asked == 3
    assert set(gap.scores) == {"gap", "items"}
    assert gap.options == {"centre": False, "power": 1.0}


@pytest.mark.parametrize("row", [np.nan, 0.0, np.inf])
def test_more_missing_words_than_the_task_allows_make_its_scores_void(job, row):
    gap, _ = scoring.measure(job(), without("barn", row=row), seed=0)
    assert gap.coverage.missing == ("barn",)
    assert gap.coverage.found == 5
    assert math.isnan(gap.scores["gap"].value)  # 1 of 3 is more than the 20 % allowed
    reason = gap.scores["items"].reason
    assert "'targets_1'" in reason
    assert "33%" in reason
    assert "20%" in reason


def test_missing_words_within_the_allowed_share_are_left_out_of_the_arrays(job):
    gap, _ = scoring.measure(job(max_missing=0.5), without("barn"), seed=0)
    assert gap.scores["items"].value == 5
    expected = MOCK.encode(["village", "farm"]).mean(0) - MOCK.encode(
        ["city", "street", "tower"]
    ).mean(0)
    assert gap.scores["gap"].value == pytest.approx(np.linalg.norm(expected))


def test_an_empty_input_is_void_even_if_all_words_may_be_missing(job):
    encode = without("village", "farm", "barn")
    gap, draw = scoring.measure(job(max_missing=1.0), encode, seed=0)
    assert "100% of 'targets_1'" in gap.scores["gap"].reason
    assert math.isnan(draw.scores["draw"].value)


def test_a_row_without_a_vector_in_one_column_is_left_out_of_all_columns(job):
    (fit,) = scoring.measure(job("toy-ratings", max_missing=0.5), without("tower"), seed=0)
    rows = [row.split("\t") for row in RATINGS.read_text().splitlines()[1:] if "tower" not in row]
    firsts, seconds, labels = zip(*rows, strict=True)
    distances = np.linalg.norm(MOCK.encode(firsts) - MOCK.encode(seconds), axis=1)
    expected = -np.corrcoef(distances, np.array(labels, dtype=float))[0, 1]
    assert fit.scores["correlation"].value == pytest.approx(expected)
    assert fit.coverage.missing == ("tower",)


def test_draws_are_the_same_for_one_seed_and_differ_by_seed_and_purpose(job):
    def drawn(seed, task="toy-places"):
        return scoring.measure(job(task), MOCK.encode, seed=seed)[-1].scores["draw"].value

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    draws = {scoring.random_generator(0, *what).random() for what in [("a",), ("b",), ("a", "b")]}
    assert len(draws) == 3


@pytest.mark.parametrize("noise", [0, 1e-7])
def test_vectors_that_are_all_equal_make_a_score_void(job, noise):
    def encode(texts):
        return np.ones((len(texts), 8), np.float32) + noise * MOCK.encode(texts)

    for scores in scoring.measure(job(), encode, seed=0):
        for score in scores.scores.values():
            assert math.isnan(score.value)
            assert score.reason == "all texts have the same vector"


def test_one_text_that_all_texts_are_rewritten_to_is_no_fault_of_the_vectors(job):
    class Same(Mitigator):
        def rewrite(self, texts):
            return ["barn" for _ in texts]

    gap, _ = scoring.measure(dataclasses.replace(job(), mitigator=Chain([Same()])),
                             MOCK.encode, seed=0)  # fmt: skip
    assert gap.scores["gap"].value == 0


def test_all_models_are_judged_by_the_same_draws(job):
    other = MockEmbedder("text", 4)
    first, second = (scoring.measure(job(), e.encode, seed=0)[-1] for e in (MOCK, other))
    assert first.scores["draw"] == second.scores["draw"]


@pytest.mark.parametrize(
    ("result", "shape"), [(lambda v: v[:2], "(2, 8)"), (lambda v: v[:, 0], "(3,)")]
)
def test_a_mitigator_must_return_a_vector_for_each_text(job, result, shape):
    class Breaker(Mitigator):
        def transform(self, vectors, texts):
            return result(vectors)

    broken = dataclasses.replace(job(), mitigator=Chain([Breaker()]))
    with pytest.raises(HarnessError) as caught:
        scoring.measure(broken, MOCK.encode, seed=0)
    for fact in ("Breaker", shape, "3 texts"):
        assert fact in str(caught.value)


def test_a_mitigator_must_rewrite_each_text_as_one_text(job):
    class Swallower(Mitigator):
        def rewrite(self, texts):
            return list(texts)[1:]

    broken = dataclasses.replace(job(), mitigator=Chain([Swallower()]))
    with pytest.raises(HarnessError, match=r"Swallower.* rewrote 3 texts as 2"):
        scoring.measure(broken, MOCK.encode, seed=0)
