"""Records of a study made of plain numbers, for tests of what is read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.results.record import Environment, ModelPart
from harness.study.study_record import Inner, Judged, MeasurePart, StudyPart, StudyRecord

MEASURES = {
    "WEAT": MeasurePart(
        metric="weat", score="effect_size", ideal=0.0, rises=False, scenarios=("a",)
    ),
    "ECT": MeasurePart(metric="ect", score="coherence", ideal=1.0, rises=True, scenarios=("a",)),
}
"""One that falls and one that rises as it gets fairer."""


def study_part(**changed: Any) -> StudyPart:
    """Return a study of three folds, with what is named changed."""
    given: dict[str, Any] = {
        "name": "toy",
        "version": 1,
        "digest": "d1",
        "title": "A toy",
        "concept": "gender",
        "items": 9,
        "folds": 3,
        "inner_folds": 2,
        "repeats": 1,
        "seed": 42,
        "normalize": True,
        "protocol": "nested",
        "alpha": 0.05,
        "baseline": "old",
        "rows": ("none", "normalize", "old", "new"),
        "measures": MEASURES,
        "criteria": ("WEAT",),
    }
    return StudyPart(**(given | changed))


def records_of(
    study: StudyPart,
    distances: Mapping[str, Mapping[str, Sequence[float | None]]],
    *,
    params: Mapping[str, Mapping[str, Sequence[dict[str, Any]]]] | None = None,
    held_out: int = 3,
    train: int = 6,
    **changed: Any,
) -> list[StudyRecord]:
    """Return a record for each row and fold.

    Parameters
    ----------
    study
        The study.
    distances
        Values of all folds by row and measure, under every criterion.
    params
        What each criterion chose in each fold, by row.
    held_out, train
        How many pairs.
    changed
        Other fields of the records.
    """
    made = []
    for row, measures in distances.items():
        given = (params or {}).get(row, {})
        settings = {repr(one): one for chosen in given.values() for one in chosen}
        for place in range(study.folds * study.repeats):
            values = {measure: folds[place] for measure, folds in measures.items()}
            made.append(
                StudyRecord(
                    **{
                        "id": f"{study.digest}-{row}-{place}",
                        "run": "r",
                        "created": "2026-01-01T00:00:00+00:00",
                        "study": study,
                        "model": ModelPart(name="toy-model", fingerprint="f", kind="word"),
                        "row": row,
                        "mitigator": row,
                        "repeat": place // study.folds,
                        "fold": place % study.folds,
                        "train": train,
                        "held_out": tuple((f"he{i}", f"she{i}") for i in range(held_out)),
                        "inner": tuple(
                            Inner(params=one, fold=0, values=dict.fromkeys(values, 0.0))
                            for one in settings.values()
                        ),
                        "judged": {
                            criterion: Judged(
                                params=given[criterion][place] if given else {}, values=values
                            )
                            for criterion in study.criteria
                        },
                        "seconds": 0.0,
                        "environment": Environment(
                            harness="0", python="3", platform="p", device="cpu", packages={}
                        ),
                        **changed,
                    }
                )
            )
    return made
