"""A claim counts if the registered task, its own content and the other claims agree with it."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from harness.leaderboard.boards import references
from harness.leaderboard.claims.facts import TaskFacts
from harness.leaderboard.claims.reading import SCHEMA, Claims, frame_of
from harness.leaderboard.claims.trust import trusted
from harness.results.reading import Trust, judged
from harness.results.record import Record

Make = Callable[..., Record]
_IDENTIFYING = ("task__digest", "seed", "scenario", "mitigator__fingerprint")
NOW = datetime(2026, 11, 22, tzinfo=UTC)
FLOOR = {"mean": 0.1, "sd": 0.1, "centre": 0.0, "spread": 0.1, "draws": 9, "shuffled": "sides"}
VOID = {"unseen": {"kind": "void", "value": None, "reason": "no unseen words"}, "ratio": None}
HARD = {"mitigator__name": "hard-debias", "mitigator__fingerprint": "h", "mitigator__method": "m"}


@pytest.fixture
def judge(make_record: Make, make_facts) -> Callable[..., Claims]:
    """Judge records as claims; the tasks are registered as that of the first record."""
    registered = make_facts([make_record()])

    def run(*records: Record, facts: Mapping[str, TaskFacts] = registered) -> Claims:
        return trusted(Claims(frame_of(records)), facts, now=NOW)

    return run


@pytest.fixture
def forge(make_record: Make) -> Callable[..., pl.DataFrame]:
    """Make the frame of a record that no harness writes; its id is its own if nothing else."""

    def make(*, id_: str | None = None, **changes: Any) -> pl.DataFrame:
        content = json.loads(make_record().line())
        for key, value in changes.items():
            part, _, field = key.partition("__")
            if content[part] is None:
                content[part] = {}
            (content[part] if field else content)[field or part] = value
            if part in ("value", "p_value", "n"):
                content["unseen"][part] = value
            if part in ("interval", "floor"):
                content[f"unseen_{part}"] = content[part]
        named = {k: v for k, v in changes.items() if k in _IDENTIFYING}
        content["id"] = make_record(**named).id if id_ is None else id_
        return frame_of([judged(json.dumps(content).encode(), Record, Trust.ANYBODY)])

    return make


def test_a_claim_that_breaks_no_rule_counts(judge, make_record: Make) -> None:
    claims = judge(make_record(), make_record(seed=1))
    assert dict(claims.frame.schema) == SCHEMA
    assert sorted(claims.frame["seed"]) == [0, 1]
    assert claims.aside == ()


INTERVAL = {"low": -0.1, "high": 0.1, "level": 0.95, "method": "m"}
BROKEN = {  # changes of a record, and words of the reason
    "another id": ({"id_": "a" * 32}, "id"),
    "an unknown task": ({"task__name": "tt"}, "'tt' is not registered"),
    "a later version": ({"task__version": 999}, "version 999"),
    "another scenario": ({"scenario": "s"}, "scenario 's'"),
    "a value beyond its bounds": ({"value": 2.1}, "2.1 is outside"),
    "a value within its own bounds": ({"value": 50, "bounds": [-99, 99]}, "outside"),
    "bias that is not judged": ({"unseen": None}, "judged"),
    "a p-value": ({"p_value": -3.0}, "-3"),
    "a reversed interval": ({"interval": INTERVAL | {"low": 0.2}}, "interval"),
    "a level": ({"interval": INTERVAL | {"level": 1.0}}, "level"),
    "a floor below 0": ({"floor": FLOOR | {"mean": -1.0}}, "floor"),
    "a negative unit": ({"unit": -1.0}, "unit"),
    "a unit that makes a value enormous": ({"value": 1.0, "unit": 1e-9}, "unit"),
    "a gap that cosines cannot have": ({"ratio__gap": 9.0}, "gap of 9.0"),
    "a negative error": ({"ratio__yardstick_error": -0.1}, "gap"),
    "a negative count": ({"n": -1}, "n: -1"),
    "negative dimensions": ({"model__dimensions": -5}, "dimensions"),
    "a future date": ({"created": "2027-01-01T00:00:00+00:00"}, "created"),
    "1970 of a model": ({"created": "1970-01-01T00:00:00+00:00"}, "created"),
    "a long name": ({"model__name": "x" * 100_000}, "model"),
    "a right-to-left override": ({"mitigator__label": "\u202enone"}, "label"),
    "a script for a page": ({"model__url": "javascript:alert(1)"}, "url"),
    "texts of packages": ({"environment__packages": {"numpy": [1]}}, "packages"),
    "no published scores": ({"model__published": None}, "published"),
    "a number as contrasts": ({"contrasts": 0.5}, "contrasts"),
    "an object as a contrast": ({"contrasts": {"flowers": {}}}, "contrasts"),
    "a name that looks like another": ({"model__name": "m "}, "space"),
    "a smoke run": ({"limit": 5}, "smoke"),
    "another prompt": ({"model__base": "m"}, "--prompts"),
    "none with settings": ({"mitigator__params": {"k": 2}}, "none"),
    "a mitigator labelled none": ({"mitigator__name": "hard-debias"}, "none"),
    "the name of a reference": ({"model__name": "random-words"}, "reference"),
}


def test_a_claim_that_breaks_a_rule_is_set_aside(forge, make_record: Make, make_facts) -> None:
    facts, failures = make_facts([make_record()]), []
    for name, (changes, words) in BROKEN.items():
        wrong, good = forge(**changes), frame_of([make_record(seed=9)])
        claims = trusted(Claims(pl.concat([wrong, good])), facts, now=NOW)
        reasons = [line.reason for line in claims.aside]
        if (
            claims.frame["seed"].to_list() != [9]
            or len(reasons) != 1
            or words not in reasons[0]
            or claims.aside[0].id != wrong["id"][0]
        ):
            failures.append((name, reasons))
    assert failures == []


def test_the_registered_task_says_how_a_value_is_read(judge, make_record: Make) -> None:
    forged = make_record(
        ideal=2.0, bounds=(-2.0, 3.0), category="mine", language="xx", concept="mine",
        task__title="Mine", task__measures="control", task__unranked="mine", task__family="mine",
        primary=False, ratio=make_record().ratio, unseen=make_record().unseen,
    )  # fmt: skip
    honest = judge(make_record()).frame.drop("id", "created")
    assert judge(forged).frame.drop("id", "created").equals(honest)


def test_a_task_whose_data_were_missing_takes_any_digest(judge, make_record, make_facts) -> None:
    facts = make_facts([make_record()])
    facts = {name: task.model_copy(update={"digest": None}) for name, task in facts.items()}
    claims = judge(make_record(task__digest="any"), facts=facts)
    assert (claims.frame.height, claims.aside) == (1, ())


def test_a_task_for_words_takes_no_text_embedder(judge, make_record, make_facts) -> None:
    facts = make_facts([make_record()])
    facts = {name: task.model_copy(update={"kinds": ("word",)}) for name, task in facts.items()}
    (aside,) = judge(make_record(), facts=facts).aside
    assert "text embedders" in aside.reason


def widening(task: TaskFacts) -> TaskFacts:
    scores = tuple(score.model_copy(update={"may_widen": True}) for score in task.scores)
    return task.model_copy(update={"scores": scores})


def test_bounds_that_depend_on_items_are_those_of_most_records(
    judge, make_record: Make, make_facts
) -> None:
    facts = {name: widening(task) for name, task in make_facts([make_record()]).items()}
    bounds = [(-2.5, 2.5), (-2.5, 2.5), (-9.0, 9.0)]
    records = [
        make_record(model__name=f"m{i}", model__fingerprint=f"f{i}", bounds=own, value=2.4)
        for i, own in enumerate(bounds)
    ]
    frame = judge(*records, facts=facts).frame
    assert frame.select("low_bound", "high_bound").unique().rows() == [(-2.5, 2.5)]
    assert frame.height == 3
    too_wide = make_record(bounds=(-50.0, 50.0), value=40.0)
    narrow = make_record(seed=1, bounds=(-1.0, 1.0))
    assert [a.reason[:6] for a in judge(too_wide, narrow, facts=facts).aside] == ["the bo"] * 2


def test_equal_repeats_are_one_record(judge, make_record: Make) -> None:
    later = make_record(created="2026-02-01T00:00:00Z", value=1e-5, run="r2")
    claims = judge(later, make_record())
    assert claims.frame["run"].to_list() == ["r1"]
    assert claims.aside == ()


CONFLICTS = {
    "value": ({"value": 0.5}, {"value": 0.6}),
    "no value": ({"value": 0.5}, {"value": None, "reason": "too few"}),
    "floor": ({"floor": FLOOR | {"mean": 0.2}}, {"floor": FLOOR}),
    "unit": ({"unit": 1.0}, {"unit": 2.0}),
    "no unit": ({"unit": 1.0, "floor": FLOOR}, {"floor": FLOOR}),
    "p-value": ({"p_value": 0.01}, {"p_value": 0.9}),
    "void": ({}, VOID),
    "reversed": ({}, {"details": {"reversed": True}}),
    "coverage": ({}, {"coverage__found": 1}),
}


def test_of_records_that_contradict_each_other_none_counts(judge, make_record) -> None:
    for name, (first, second) in CONFLICTS.items():
        claims = judge(make_record(**first), make_record(**second), make_record(seed=1))
        assert claims.frame["seed"].to_list() == [1], name
        assert len(claims.aside) == 2, name
        assert all("withdrawn.yaml" in aside.reason for aside in claims.aside), name


def test_the_value_on_all_texts_of_a_void_score_decides_no_conflict(judge, make_record) -> None:
    assert judge(*(make_record(value=v, **VOID) for v in (-0.3, 0.2))).frame.height == 1


def test_the_order_of_claims_changes_nothing(judge, make_record: Make) -> None:
    records = [
        make_record(seed=s, run=run, value=value)
        for s, run, value in ((0, "a", 0.1), (0, "b", 0.1), (1, "a", 0.2), (1, "b", 0.9))
    ]
    forwards, backwards = judge(*records), judge(*reversed(records))
    assert forwards.frame.drop("run").equals(backwards.frame.drop("run"))


def test_the_shipped_records_of_references_count_and_others_of_their_names_do_not() -> None:
    from harness.leaderboard.claims import facts

    frame = references.shipped_claims()
    known = facts.known(set(frame["task"].unique()))
    claims = trusted(Claims(frame), known)
    assert claims.aside == ()
    assert claims.frame.height == frame.height
    noise = frame.filter(pl.col("model") == "random-words").head(1)
    changed = noise.with_columns(value=pl.lit(0.123))
    (aside,) = trusted(Claims(changed), known).aside
    assert "shipped value" in aside.reason
    renamed = noise.with_columns(
        model=pl.lit("mine").cast(noise.schema["model"]),
        created=pl.lit("2026-06-01").cast(noise.schema["created"]),
    )
    claims = trusted(Claims(renamed), known)
    assert claims.frame.height == 0, "else the board would lack this reference"
    assert "reference model 'random-words'" in claims.aside[0].reason


def test_another_seed_of_a_reference_changes_it_for_nobody() -> None:
    from harness.leaderboard.claims import facts

    shipped = next(r for r in references.shipped() if r.model.name == "random-words")
    forged = shipped.model_copy(
        update={"seed": 7, "id": "", "created": "2026-06-01T00:00:00+00:00"}
    )
    forged = forged.model_copy(update={"id": forged.identity()})
    claims = trusted(Claims(frame_of([forged])), facts.known([shipped.task.name]))
    assert claims.frame.height == 0
    assert "seed" in claims.aside[0].reason


def test_a_record_cannot_rename_the_model_of_others(judge, make_record: Make) -> None:
    mine = [make_record(seed=seed) for seed in range(3)]
    other = make_record(seed=9, model__name="rude", created="2026-01-02T00:00:00Z")
    frame = judge(*mine, other).frame
    assert set(frame["model"]) == {"m"}
    assert set(frame["aliases"]) == {'["rude"]'}


def test_the_oldest_name_of_as_many_records_is_kept(judge, make_record: Make) -> None:
    late = make_record(model__name="a", created="2026-01-02T00:00:00Z")
    assert set(judge(late, make_record(seed=1)).frame["model"]) == {"m"}


def test_a_registered_name_of_the_same_weights_is_preferred(judge, make_record: Make) -> None:
    path = [make_record(seed=seed, model__name="./minilm") for seed in range(3)]
    registered = make_record(seed=9, model__name="all-MiniLM-L6-v2")
    assert set(judge(*path, registered).frame["model"]) == {"all-MiniLM-L6-v2"}
    real = [
        make_record(seed=s, model__name="all-MiniLM-L6-v2", model__fingerprint="real")
        for s in range(2)
    ]
    names = judge(*path, registered, *real).frame.select("fingerprint", "model").unique().rows()
    assert set(names) == {("f" * 32, "./minilm"), ("real", "all-MiniLM-L6-v2")}


def test_a_record_cannot_change_the_facts_of_the_model_of_others(judge, make_record) -> None:
    mine = [make_record(seed=seed, model__licence="MIT") for seed in range(3)]
    rude = make_record(
        seed=9, created="2026-01-02T00:00:00Z", model__url="https://rude.example",
        model__superseded_by="rude", model__dimensions=9,
    )  # fmt: skip
    frame = judge(*mine, rude).frame
    facts = frame.select("url", "superseded_by", "dimensions", "licence").unique()
    assert facts.rows() == [(None, None, 8, "MIT")]


def test_encoders_with_their_own_similarity_have_no_bounds_and_share_the_board(
    judge, make_record: Make
) -> None:
    own = {"bounds": (None, None), "value": 40.0}
    sparse = make_record(model__kind="sparse", model__fingerprint="s", model__name="s", **own)
    claims = judge(make_record(), sparse)
    assert claims.aside == ()
    row = claims.frame.filter(model="s").row(0, named=True)
    assert (row["kind"], row["encoder"]) == ("text", "sparse")
    assert (row["low_bound"], row["high_bound"], row["value"]) == (None, None, 40)
    assert claims.frame.filter(pl.col("model") != "s")["high_bound"].to_list() != [None]
    forged = make_record(model__fingerprint="f", model__name="f", **own)
    assert "outside" in judge(make_record(), forged).aside[0].reason


def test_records_of_another_kind_move_no_model_to_another_board(judge, make_record) -> None:
    mine = make_record()
    rude = [make_record(seed=seed, model__kind="word") for seed in range(1, 9)]
    frame = judge(mine, *rude).frame
    assert frame.filter(seed=0)["kind"].to_list() == ["text"]


def test_a_record_cannot_rename_the_mitigator_of_others(judge, make_record: Make) -> None:
    mine = [make_record(**HARD, seed=seed) for seed in range(3)]
    rude = make_record(
        **HARD | {"mitigator__label": "hard-debias?rude=1", "mitigator__params": {"rude": 1}},
        seed=9, created="2026-01-02T00:00:00Z",
    )  # fmt: skip
    frame = judge(*mine, rude).frame
    assert frame.select("label", "params").unique().rows() == [("hard-debias", "{}")]


def test_a_record_cannot_make_a_control_of_the_mitigator_of_others(
    judge, make_record: Make
) -> None:
    mine = [make_record(**HARD, seed=seed) for seed in range(3)]
    rude = make_record(**HARD, mitigator__control=True, seed=9, created="2026-01-02T00:00:00Z")
    assert not judge(*mine, rude).frame["control"].any()


def test_another_method_does_not_rename_the_rows_of_others(judge, make_record: Make) -> None:
    mine = [make_record(**HARD, seed=seed) for seed in range(3)]
    forged = HARD | {"mitigator__fingerprint": "x", "mitigator__method": "method-of-x"}
    frame = judge(*mine, make_record(**forged)).frame
    labels = set(frame.select("mitigator_fingerprint", "label").rows())
    assert labels == {("h", "hard-debias"), ("x", "hard-debias [hod-of-x]")}
