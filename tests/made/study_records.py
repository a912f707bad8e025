"""Records of a study from plain numbers."""

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
"""A score that falls and a score that rises as it gets fairer."""


def study_part(**changed: Any) -> StudyPart:
    """Return a study of three folds; keyword arguments replace its fields."""
    fields: dict[str, Any] = {
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
        "unit": "normalize",
        "measures": MEASURES,
        "criteria": ("WEAT",),
    }
    return StudyPart(**(fields | changed))


def records_of(
    study: StudyPart,
    distances: Mapping[str, Mapping[str, Sequence[float | None]]],
    *,
    params: Mapping[str, Mapping[str, Sequence[dict[str, Any]]]] | None = None,
    found: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]] | None = None,
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
        Distances from fair of all folds by row and measure, the same under every criterion.
    params
        The hyper-parameters that each criterion chose in each fold, by row.
    found
        By row, further fields of `Judged`: for each measure, the number of each fold.
    held_out, train
        Numbers of pairs.
    changed
        Other fields of the records.
    """
    shared: dict[str, Any] = {
        "run": "r",
        "created": "2026-01-01T00:00:00+00:00",
        "study": study,
        "model": ModelPart(name="toy-model", fingerprint="f", kind="word"),
        "train": train,
        "held_out": tuple((f"he{i}", f"she{i}") for i in range(held_out)),
        "seconds": 0.0,
        "environment": Environment(
            harness="0", python="3", platform="p", device="cpu", packages={}
        ),
    }
    return [
        StudyRecord(
            **{
                **shared,
                "id": f"{study.digest}-{row}-{place}",
                "row": row,
                "mitigator": row,
                "fingerprint": row,
                "repeat": place // study.folds,
                "fold": place % study.folds,
                **_results(
                    study,
                    {measure: folds[place] for measure, folds in measures.items()},
                    (params or {}).get(row, {}),
                    place,
                    {
                        field: {measure: folds[place] for measure, folds in of_measures.items()}
                        for field, of_measures in (found or {}).get(row, {}).items()
                    },
                ),
                **changed,
            }
        )
        for row, measures in distances.items()
        for place in range(study.folds * study.repeats)
    ]


def _results(
    study: StudyPart,
    values: dict[str, float | None],
    params: Mapping[str, Sequence[dict[str, Any]]],
    place: int,
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the inner results and the judged values of a row in a fold."""
    settings = {repr(setting): setting for chosen in params.values() for setting in chosen}
    return {
        "inner": tuple(
            Inner(params=setting, fold=0, values=dict.fromkeys(values, 0.0))
            for setting in settings.values()
        ),
        "judged": {
            criterion: Judged(
                params=params[criterion][place] if params else {}, values=values, **more
            )
            for criterion in study.criteria
        },
    }
