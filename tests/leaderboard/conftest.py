"""Records for the tests: single ones, and those of three models under four mitigators."""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from harness.digest import digest
from harness.leaderboard.claims.facts import ScoreFacts, TaskFacts
from harness.results.record import Record

NONE = digest(["none", {}, None])  # the fingerprint of no mitigator
MODELS = ("all-MiniLM-L6-v2", "all-mpnet-base-v2", "e5-small")
MITIGATORS = ("none", "normalize", "hard-debias", "context-injection")
TASKS = (  # name, measures, category, metric, score, ideal, bounds
    *((f"seat-c{i}", "bias", "gender", "weat", "effect_size", 0.0, (-2.0, 2.0)) for i in (6, 7, 8)),
    *((f"seat-c{i}", "bias", "race", "weat", "effect_size", 0.0, (-2.0, 2.0)) for i in (1, 2)),
    ("age-traits", "bias", "age", "association-test", "proportion", 0.5, (0.0, 1.0)),
    ("name-triplets", "bias", "names", "triplet-auc", "auc", 1.0, (0.0, 1.0)),
    *(
        (name, "usefulness", "similarity", "similarity-correlation", "spearman", "higher", (-1, 1))
        for name in ("sts-b", "simlex-999")
    ),
)


def record_of(**changes: Any) -> Record:
    """Return a record; keyword arguments replace its fields, `a__b` those of its parts."""
    content: dict[str, Any] = {
        "run": "r1",
        "created": "2026-01-01T00:00:00Z",
        "model": {"name": "m", "fingerprint": "f" * 32, "kind": "text", "dimensions": 8},
        "mitigator": {"name": "none", "fingerprint": NONE},
        "task": {"name": "t", "version": 1, "digest": "d", "measures": "bias"},
        "category": "gender",
        "language": "en",
        "scenario": "default",
        "metric": "weat",
        "score": "effect_size",
        "primary": True,
        "value": 0.0,
        "ideal": 0.0,
        "bounds": (-2.0, 2.0),
        "coverage": {"asked": 10, "found": 10},
        "seed": 0,
        "seconds": 0.1,
        "environment": {
            "harness": "0.1.0",
            "python": "3.11",
            "platform": "Linux x86_64",
            "device": "cpu",
        },
    }
    for key, value in changes.items():
        part, _, field = key.partition("__")
        if field:
            content[part] = {**content[part], field: value}
        else:
            content[key] = value
    if content["task"]["measures"] == "bias" and "unseen" not in content:
        content |= judged_of(content)
    content.setdefault("ratio", ratio_of(content))
    return Record.model_validate(content)


VOID = {"unseen": {"kind": "void", "value": None, "reason": "no unseen words"}, "ratio": None}
"""Fields of a record of bias that is not judged."""


def judged_of(content: dict[str, Any]) -> dict[str, Any]:
    """Return the judged score of a record of bias: that on all texts, none of which leaves."""
    details = content.get("details", {})
    numbers = {name: content.get(name) for name in ("value", "reason", "p_value", "n")}
    marks = {name: details.get(name) for name in ("reversed", "undone")}
    return {
        "unseen": {"kind": "unseen texts", **numbers, **marks},
        "unseen_interval": content.get("interval"),
        "unseen_floor": content.get("floor"),
    }


def ratio_of(content: dict[str, Any], **changes: Any) -> dict[str, Any] | None:
    """Return the ratio of a record of bias: its distance from the ideal, over a yardstick of 1.

    That of the reference encoder is 1.

    The distance is a share of the greatest one.
    """
    value, ideal = content["value"], content["ideal"]
    if value is None or content["task"].get("measures") != "bias" or isinstance(ideal, str):
        return None
    ends = [abs(end - ideal) for end in content["bounds"] if end is not None]
    gap = abs(value - ideal) / (max(ends, default=1.0) or 1.0)
    return {
        "value": gap,
        "low": gap - 0.02,
        "high": gap + 0.02,
        "gap": gap,
        "gap_error": 0.01,
        "yardstick": 1.0,
        "yardstick_error": 0.002,
        "t": 20.0,
        "df": 20.0,
        "of": "yardstick-sentences",
        "reference_gap": 1.0,
        "reference_error": 0.0,
        "reference_yardstick": 1.0,
        "reference_yardstick_error": 0.0,
        **changes,
    }


def records_of(values: dict[str, dict[str, float | None]], **changes: Any) -> list[Record]:
    """Return a record for each model and task; scores have the ideal 0 and the bounds [-2, 2]."""
    return [
        record_of(model__name=model, task__name=task, task__digest=f"d-{task}",
                    value=value, **changes)
        for model, tasks in values.items()
        for task, value in tasks.items()
    ]  # fmt: skip


def many_records(kind: str = "text", seed: int = 0) -> list[Record]:
    """Return records of three models under four mitigators on all tasks, with random values."""
    rng = np.random.default_rng(seed)
    effect = dict(zip(MITIGATORS, (1.0, 0.95, 0.5, 0.7), strict=True))
    cost = dict(zip(MITIGATORS, (0.0, 0.0, 0.04, 0.1), strict=True))
    records = []
    for (i, model), mitigator, task in itertools.product(enumerate(MODELS), MITIGATORS, TASKS):
        name, measures, category, metric, score, ideal, bounds = task
        middle = ideal if isinstance(ideal, float) else 0.75
        if measures == "bias":
            far = max(bounds[1] - middle, middle - bounds[0])
            sign = -1 if middle == bounds[1] else 1
            value = middle + sign * far * effect[mitigator] * rng.uniform(0.2, 0.5)
        else:
            value = middle + 0.02 * i - cost[mitigator] + rng.normal(scale=0.02)
        records.append(
            record_of(
                model__name=model, model__kind=kind, model__fingerprint=f"{i}" * 32,
                model__url=f"https://models.example/{model}",
                mitigator__name=mitigator,
                mitigator__fingerprint=NONE if mitigator == "none" else mitigator,
                mitigator__concept=category if mitigator == "hard-debias" else None,
                task__name=name, task__digest=f"{name}-{kind}", task__measures=measures,
                task__title=f"{name}, made up", category=category, metric=metric, score=score,
                ideal=ideal, bounds=bounds, value=float(np.clip(value, *bounds)),
                p_value=float(rng.uniform(0, 0.08)) if metric == "weat" else None, n=80,
                interval={"low": value - 0.1, "high": value + 0.1, "level": 0.95,
                          "method": "bootstrap"},
                coverage={"asked": 40, "found": 38 if i == 2 else 40,
                          "missing": ("Tamika", "Latoya") if i == 2 else ()},
                **VOID if (mitigator, name) == ("hard-debias", "seat-c7") else {},
            )
        )  # fmt: skip
    return records


def facts_of(records: Iterable[Record]) -> dict[str, TaskFacts]:
    """Return the facts of tasks that are registered as the first primary record of each says."""
    facts: dict[str, TaskFacts] = {}
    for record in records:
        task = record.task
        if not record.primary or task.name in facts:
            continue
        score = ScoreFacts(
            scenario=record.scenario, metric=record.metric, score=record.score,
            ideal=record.ideal, bounds=record.bounds,
        )  # fmt: skip
        facts[task.name] = TaskFacts(
            **task.model_dump(exclude={"family", "required"}), kinds=("word", "text"),
            yardstick=None, references={}, description="",
            source="", licence="", category=record.category, family=task.family or record.metric,
            language=record.language, concept=record.concept, superseded_by=None,
            primary=(record.scenario, record.metric, record.score), scores=(score,), examples={},
        )  # fmt: skip
    return facts


@pytest.fixture(scope="session")
def make_record() -> Callable[..., Record]:
    """Make a record; keyword arguments replace its fields, `a__b` those of its parts."""
    return record_of


@pytest.fixture(scope="session")
def void() -> dict[str, Any]:
    """Return fields of a record of bias that is not judged."""
    return VOID


@pytest.fixture(scope="session")
def make_facts() -> Callable[..., dict[str, TaskFacts]]:
    """Make the facts of the tasks of records, as if they were registered."""
    return facts_of


@pytest.fixture(scope="session")
def make_rows() -> Callable[..., list[Record]]:
    """Make records from the values of models by task."""
    return records_of


@pytest.fixture(scope="session")
def make_many() -> Callable[..., list[Record]]:
    """Make records of three models under four mitigators on all tasks."""
    return many_records
