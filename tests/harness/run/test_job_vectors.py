"""The vectors of a job: each text is transformed once, whatever other jobs ran before."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from harness.chain import Chain
from harness.embedder import MockEmbedder
from harness.mitigator import Mitigator
from harness.run.plan import make_plan
from harness.run.scoring import JobVectors

MOCK = MockEmbedder("text", 8)


class Seen(Mitigator):
    """Remembers which texts it transformed together."""

    def fit(self, embedder, concept=None):
        self.seen_ = []
        return self

    def transform(self, vectors, texts):
        self.seen_.append(list(texts))
        return vectors * 2


@pytest.fixture
def jobs(registry):
    """Return the jobs of two tasks with texts in common."""
    tasks = [registry.task("toy-places"), registry.task("toy-places-10")]
    made = make_plan(MOCK, tasks, {"Seen": Chain([Seen()])}).jobs
    made[0].mitigator.fit_once(MOCK, None)
    return made


def vectors_of(job):
    vectors = JobVectors(job, MOCK.encode, lambda _: contextlib.nullcontext())
    return [vectors.mitigated(input_) for input_ in job.task.texts()]


def test_each_text_of_a_job_is_transformed_once(jobs):
    rows = vectors_of(jobs[0])
    for input_, vectors in zip(jobs[0].task.texts(), rows, strict=True):
        np.testing.assert_array_equal(vectors, 2 * MOCK.encode(input_.texts))
    seen = [text for texts in jobs[0].mitigator.mitigators[0].seen_ for text in texts]
    assert len(seen) == len(set(seen)) == 6


def test_the_texts_that_are_transformed_together_do_not_depend_on_other_jobs(jobs):
    (stage,) = jobs[0].mitigator.mitigators
    vectors_of(jobs[1])
    alone = list(stage.seen_)
    stage.seen_.clear()
    vectors_of(jobs[0])
    stage.seen_.clear()
    vectors_of(jobs[1])
    assert stage.seen_ == alone


def test_without_a_mitigator_vectors_are_as_the_model_gives_them(registry):
    (job,) = make_plan(MOCK, [registry.task("toy-places")], {"none": Chain([])}).jobs
    for input_, vectors in zip(job.task.texts(), vectors_of(job), strict=True):
        np.testing.assert_array_equal(vectors, MOCK.encode(input_.texts))
