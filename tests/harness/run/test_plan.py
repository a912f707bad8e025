"""The plan: which jobs there are and which texts they need, each once."""

from __future__ import annotations

import pytest

from harness.embedder import MockEmbedder
from harness.errors import HarnessError
from harness.mitigator import Chain, Mitigator
from harness.run import plan

INFO = MockEmbedder("text").info


@pytest.fixture
def make(registry):
    """Make a plan: task names, mitigator names."""

    def made(tasks, mitigators=("none",), info=INFO, fallback="toy-place", **more):
        return plan.make(
            info,
            [registry.task(name) for name in tasks],
            {name: registry.mitigator(name) for name in mitigators},
            fallback=registry.concept(fallback) if fallback else None,
            **more,
        )

    return made


def test_each_text_of_all_tasks_and_scenarios_stands_once(make):
    texts = make(["toy-places", "toy-places-10", "toy-sentences"]).texts
    assert len(texts) == len(set(texts)) == 6 + 4 + 4 * 2 + 2
    assert set(make(["toy-places-10"]).texts) < set(make(["toy-places"]).texts)


def test_a_mitigator_of_vectors_adds_only_what_it_is_fitted_on(make):
    plain = set(make(["toy-sentences"]).texts)
    shifted = set(make(["toy-sentences"], ["toy-shift", "none", "toy-shift?k=2"]).texts)
    assert shifted - plain == {"village", "city", "farm", "street"}


def test_a_mitigator_of_texts_adds_texts_but_leaves_probes(make):
    texts = set(make(["toy-sentences"], ["toy-polite"]).texts)
    assert "This is a village. please" in texts
    assert "This is a village." not in texts
    assert {"calm", "loud"} < texts
    assert "calm please" not in texts


def test_a_chain_is_fitted_on_texts_as_all_its_stages_rewrite_them(make):
    before = set(make(["toy-places"], ["toy-polite+toy-shift"]).texts)
    after = set(make(["toy-places"], ["toy-shift+toy-polite"]).texts)
    words = ["village", "farm", "barn", "city", "street", "tower"]
    assert before == after == {f"{word} please" for word in words}


def test_one_mitigator_under_two_spellings_is_one_job(make):
    made = make(["toy-places"], ["toy-shift", "toy-shift?k=1", "none+toy-shift"])
    assert [job.part.name for job in made.jobs] == ["toy-shift"]


def test_a_concept_that_the_task_lacks_is_taken_from_the_fallback_or_the_reason_is_told(make):
    made = make(["toy-places", "toy-ratings", "toy-sentences"], ["none", "toy-shift"])
    assert len(made.jobs) == 6
    made = make(
        ["toy-places", "toy-ratings", "toy-sentences"], ["none", "toy-shift"], fallback=None
    )
    assert [(job.task.name, job.part.name) for job in made.jobs] == [
        ("toy-places", "none"),
        ("toy-places", "toy-shift"),
        ("toy-ratings", "none"),
        ("toy-sentences", "none"),
    ]
    assert [(one.task, one.mitigator, one.reason, one.failed) for one in made.skipped] == [
        ("toy-ratings", "toy-shift", "'toy-shift' needs definitional_pairs of a concept; it has no "
         "concept", False),
        ("toy-sentences", "toy-shift", "'toy-shift' needs definitional_pairs of a concept; its "
         "concept 'toy-bare' lacks them", False),
    ]  # fmt: skip


def test_a_fallback_that_lacks_it_too_is_told(make):
    made = make(["toy-ratings"], ["toy-shift"], fallback="toy-bare")
    assert made.skipped[0].reason == (
        "'toy-shift' needs definitional_pairs of a concept; "
        "it has no concept, and 'toy-bare' lacks them"
    )


def test_a_kind_of_embedder_that_does_not_fit_is_told(make):
    made = make(["toy-places", "toy-sentences"], ["none", "toy-polite"], MockEmbedder("word").info)
    assert [(job.task.name, job.part.name) for job in made.jobs] == [("toy-places", "none")]
    assert {(one.task, one.mitigator, one.reason) for one in made.skipped} == {
        ("toy-places", "toy-polite", "'toy-polite' does not work on word embedders"),
        ("toy-sentences", "none", "made for text embedders"),
        ("toy-sentences", "toy-polite", "made for text embedders"),
    }


def test_jobs_whose_records_are_all_there_are_done(make):
    job = make(["toy-places"]).jobs[0]
    ids = set(job.ids(INFO, 0).values())
    assert len(ids) == 3  # gap, items, draw
    whole = make(["toy-places"], recorded=ids.__contains__)
    assert (whole.jobs, len(whole.done)) == ((), 1)
    assert whole.texts == ()
    torn = make(["toy-places"], recorded=(ids - {ids.pop()}).__contains__)
    assert (len(torn.jobs), torn.done) == (1, ())


def test_ids_change_with_model_seed_task_mitigator_and_its_parameters(make, registry):
    def ids(tasks=("toy-places",), mitigator="none", info=INFO, seed=0):
        return set(make(tasks, [mitigator]).jobs[0].ids(info, seed).values())

    variants = [
        ids(),
        ids(seed=1),
        ids(info=MockEmbedder("text", 8).info),
        ids(mitigator="toy-shift"),
        ids(mitigator="toy-shift?k=2"),
        ids(mitigator="toy-shift+toy-shift"),
        ids(mitigator="toy-polite"),
        ids(["toy-places-10"]),
    ]
    assert len(set().union(*variants)) == sum(map(len, variants))
    assert ids(mitigator="toy-shift?k=1") == ids(mitigator="toy-shift")


def test_a_mitigators_id_changes_with_the_content_of_its_concept_but_not_with_prose(registry):
    concept = registry.concept("toy-place")
    chain = registry.mitigator("toy-shift")

    def fingerprint(**changes):
        changed = concept.model_copy(update=changes)
        return plan.mitigator_part("toy-shift", chain, changed).fingerprint

    assert fingerprint(title="Another", source="x") == fingerprint()
    assert fingerprint(definitional_pairs=(("farm", "city"),)) != fingerprint()


def test_the_part_of_a_chain_has_the_parameters_of_each_stage(registry):
    name = "toy-shift?k=2+toy-polite+toy-shift"
    part = plan.mitigator_part(name, registry.mitigator(name), None)
    assert part.name == "toy-shift+toy-polite+toy-shift"
    assert part.params == {
        "toy-shift": {"k": 2},
        "toy-polite": {"word": "please"},
        "toy-shift'": {"k": 1},
    }


def test_a_mitigator_of_texts_cannot_ask_for_vectors_when_it_is_fitted():
    with pytest.raises(HarnessError, match="fitted before anything is encoded"):
        plan.NotYetEncoding(INFO).encode(["a"])


class Versioned(Mitigator):
    version: str | None = None

    @property
    def depends_on(self):
        return self.version


def test_what_a_mitigator_depends_on_is_part_of_its_fingerprint():
    def fingerprint(version):
        mitigator = Versioned()
        mitigator.version = version
        return plan.mitigator_part("versioned", Chain([mitigator]), None).fingerprint

    assert len({fingerprint(version) for version in ("1", "1", "2", None)}) == 3
    assert (
        fingerprint(None)
        == plan.mitigator_part("versioned", Chain([Mitigator()]), None).fingerprint
    )


def test_what_a_mitigator_depends_on_is_asked_once_for_all_tasks(registry):
    asked = []

    class Asked(Mitigator):
        @property
        def depends_on(self):
            asked.append(self)
            return "1"

    chains = {"asked": Chain([Asked()])}
    tasks = [registry.task(name) for name in ("toy-places", "toy-places-10")]
    made = [plan.make(INFO, tasks, chains) for _ in range(2)]
    assert [len(one.jobs) for one in made] == [2, 2]
    assert len(asked) == 1
