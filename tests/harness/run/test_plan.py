"""The plan: the jobs, and the texts that they need, each once."""

from __future__ import annotations

from typing import ClassVar

import pytest

from harness.chain import Chain
from harness.embedder import MockEmbedder
from harness.mitigator import Mitigator
from harness.run import plan
from harness.run.plan import mitigator_part

MOCK = MockEmbedder("text")


@pytest.fixture
def make(registry):
    """Make a plan of tasks and mitigators by their names."""

    def run(tasks, mitigators=("none",), model=MOCK, fallback="toy-place", **more):
        return plan.make_plan(
            model,
            [registry.task(name) for name in tasks],
            {name: registry.mitigator(name) for name in mitigators},
            fallback=registry.concept(fallback) if fallback else None,
            **more,
        )

    return run


def test_each_text_of_all_tasks_and_scenarios_is_in_the_plan_once(make):
    texts = make(["toy-places", "toy-places-10", "toy-sentences"]).texts
    assert len(texts) == len(set(texts)) == 6 + 4 + 4 * 2 + 2
    assert set(make(["toy-places-10"]).texts) < set(make(["toy-places"]).texts)


def test_a_mitigator_of_vectors_adds_only_its_fitting_texts(make):
    plain = set(make(["toy-sentences"]).texts)
    shifted = set(make(["toy-sentences"], ["toy-shift", "none", "toy-shift?k=2"]).texts)
    assert shifted - plain == {"village", "city", "farm", "street"}


def test_a_mitigator_of_texts_rewrites_texts_but_not_probes(make):
    texts = set(make(["toy-sentences"], ["toy-polite"]).texts)
    assert "This is a village. please" in texts
    assert "This is a village." not in texts
    assert {"calm", "loud"} < texts
    assert "calm please" not in texts


def test_the_fitting_texts_of_a_chain_are_rewritten_by_all_its_stages(make):
    before = set(make(["toy-places"], ["toy-polite+toy-shift"]).texts)
    after = set(make(["toy-places"], ["toy-shift+toy-polite"]).texts)
    words = ["village", "farm", "barn", "city", "street", "tower"]
    assert before == after == {f"{word} please" for word in words}


def test_one_mitigator_in_two_spellings_is_one_job(make):
    planned = make(["toy-places"], ["toy-shift", "toy-shift?k=1", "none+toy-shift"])
    assert [job.part.name for job in planned.jobs] == ["toy-shift"]


def test_a_task_without_the_concept_uses_the_fallback_or_is_not_run(make):
    planned = make(["toy-places", "toy-ratings", "toy-sentences"], ["none", "toy-shift"])
    assert len(planned.jobs) == 6
    planned = make(
        ["toy-places", "toy-ratings", "toy-sentences"], ["none", "toy-shift"], fallback=None
    )
    assert [(job.task.name, job.part.name) for job in planned.jobs] == [
        ("toy-places", "none"),
        ("toy-places", "toy-shift"),
        ("toy-ratings", "none"),
        ("toy-sentences", "none"),
    ]
    assert [(entry.task, entry.mitigator, entry.failed) for entry in planned.not_run] == [
        ("toy-ratings", "toy-shift", False),
        ("toy-sentences", "toy-shift", False),
    ]
    ratings, sentences = (entry.reason for entry in planned.not_run)
    assert "'toy-shift' needs definitional_pairs" in ratings
    assert "no concept" in ratings
    assert "'toy-shift' needs definitional_pairs" in sentences
    assert "'toy-bare'" in sentences


def test_a_task_or_mitigator_for_another_kind_of_embedder_is_not_run(make):
    planned = make(["toy-places", "toy-sentences"], ["none", "toy-polite"], MockEmbedder("word"))
    assert [(job.task.name, job.part.name) for job in planned.jobs] == [("toy-places", "none")]
    reasons = {(entry.task, entry.mitigator): entry.reason for entry in planned.not_run}
    assert reasons.keys() == {
        ("toy-places", "toy-polite"),
        ("toy-sentences", "none"),
        ("toy-sentences", "toy-polite"),
    }
    assert "word embedders" in reasons["toy-places", "toy-polite"]
    assert "text embedders" in reasons["toy-sentences", "none"]


def test_a_job_is_done_if_it_has_all_its_records(make):
    job = make(["toy-places"]).jobs[0]
    ids = set(job.ids(MOCK.info, 0).values())
    assert len(ids) == 3  # gap, items, draw

    def recorded(ids):
        return make(["toy-places"], is_done=lambda job: job.is_recorded(ids, MOCK.info, 0))

    complete = recorded(ids)
    assert (complete.jobs, len(complete.done)) == ((), 1)
    assert complete.texts == ()
    incomplete = recorded(ids - {ids.pop()})
    assert (len(incomplete.jobs), incomplete.done) == (1, ())


def test_ids_change_with_model_seed_task_mitigator_and_its_parameters(make, registry):
    def ids(tasks=("toy-places",), mitigator="none", model=MOCK, seed=0):
        return set(make(tasks, [mitigator]).jobs[0].ids(model.info, seed).values())

    variants = [
        ids(),
        ids(seed=1),
        ids(model=MockEmbedder("text", 8)),
        ids(mitigator="toy-shift"),
        ids(mitigator="toy-shift?k=2"),
        ids(mitigator="toy-shift+toy-shift"),
        ids(mitigator="toy-polite"),
        ids(["toy-places-10"]),
    ]
    assert len(set().union(*variants)) == sum(map(len, variants))
    assert ids(mitigator="toy-shift?k=1") == ids(mitigator="toy-shift")


def test_the_fingerprint_changes_with_the_content_of_the_concept_but_not_with_its_prose(registry):
    concept = registry.concept("toy-place")
    chain = registry.mitigator("toy-shift")

    def fingerprint(**changes):
        changed = concept.model_copy(update=changes)
        return mitigator_part("toy-shift", chain, changed).fingerprint

    assert fingerprint(title="Another", source="x") == fingerprint()
    assert fingerprint(definitional_pairs=(("farm", "city"),)) != fingerprint()


def test_a_record_has_the_parameters_of_each_stage_of_a_chain(registry):
    name = "toy-shift?k=2+toy-polite+toy-shift"
    part = mitigator_part(name, registry.mitigator(name), None)
    assert part.name == "toy-shift+toy-polite+toy-shift"
    assert part.label == name
    assert part.params == {
        "toy-shift": {"k": 2},
        "toy-polite": {"word": "please"},
        "toy-shift'": {"k": 1},
    }


class Versioned(Mitigator):
    version: str | None = None

    @property
    def depends_on(self):
        return self.version


def test_what_a_mitigator_depends_on_is_part_of_its_fingerprint():
    def fingerprint(version):
        mitigator = Versioned()
        mitigator.version = version
        return mitigator_part("versioned", Chain([mitigator]), None).fingerprint

    assert len({fingerprint(version) for version in ("1", "1", "2", None)}) == 3
    assert fingerprint(None) == mitigator_part("versioned", Chain([Mitigator()]), None).fingerprint


class Recording(Mitigator):
    """Writes in capitals; remembers the texts of each call."""

    rewrites = True
    calls: ClassVar[list[list[str]]] = []

    def fit(self, embedder, concept=None):
        return self

    def rewrite(self, texts):
        self.calls.append(list(texts))
        if "barn" in texts:
            raise ValueError("no barn")
        return [text.upper() for text in texts]


def test_the_texts_of_many_tasks_are_rewritten_in_one_call(registry):
    Recording.calls = []
    tasks = [registry.task(name) for name in ("toy-places-10", "toy-sentences")]
    planned = plan.make_plan(MOCK, tasks, {"loud": Chain([Recording()])})
    assert not planned.not_run
    first, *others = Recording.calls
    assert len(first) == len(set(first)) == 4 + 4 * 3
    assert not [text for call in others for text in call if text in first]


def test_a_text_that_cannot_be_rewritten_fails_only_the_tasks_that_have_it(registry):
    tasks = [registry.task(name) for name in ("toy-places", "toy-places-10")]
    ticks = []
    planned = plan.make_plan(MOCK, tasks, {"loud": Chain([Recording()])}, advance=ticks.append)
    assert [job.task.name for job in planned.jobs] == ["toy-places-10"]
    (failed,) = planned.not_run
    assert (failed.task, failed.mitigator, failed.reason) == (
        "toy-places",
        "loud",
        "ValueError: no barn",
    )
    assert sum(ticks) == 2
