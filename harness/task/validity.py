"""The recorded validity of a task's score: the file `validity.json` of a folder of tasks.

`harness validate-metric --json` prints it; `harness show task` reads it. Nothing here measures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from harness.task.reference import rows_of
from harness.task.schema import Strict, TaskFile

NAME = "validity.json"
"""Name of the file: beside a task file, or in the folder above it."""


class Validity(Strict):
    """The behaviour of a score on vectors with known bias, for one task and model.

    A part that cannot be measured is None; `missing` says why.
    """

    task: str
    version: int
    """Version of the task file that was measured."""
    metric: str
    score: str
    model: str
    fingerprint: str
    """Identifies the exact weights and settings of the model."""
    seed: int
    value: float | None = None
    """The score on the vectors as they are."""
    own: float | None = None
    """Amplitude of the vectors' own bias, in gaps between the groups."""
    noise: dict[str, float | None] = Field(default_factory=dict)
    """Mean distance above the floor on random vectors, in standard deviations of the floor, by
    their number of dimensions."""
    floor: float | None = None
    """Mean distance from the ideal with shuffled sides."""
    spread: float | None = None
    """Standard deviation of these distances."""
    rejected: float | None = None
    """Share of shuffled sides that are found to be biased at the level of 5 %; None
    for a score without p-values."""
    planted: dict[str, float | None] = Field(default_factory=dict)
    """Score by the amplitude of planted bias."""
    detectable: float | None = None
    """Smallest planted amplitude that is found in 80 % of draws."""
    reliability: float | None = None
    """Split-half correlation over models of different bias, corrected to all words."""
    without_one: tuple[float, float] | None = None
    """Lowest and highest score without one of the words."""
    missing: tuple[str, ...] = ()
    """What could not be measured, and why."""
    failures: tuple[str, ...] = ()
    """Why the score should not rank; empty if it may."""


def of_task(task_file: Path, name: str) -> list[Validity]:
    """Return the validity of a task, for each model; `task_file` is the path of its file."""
    return [row for row in rows_of(task_file, NAME, Validity) if row.task == name]


def facts(task_file: Path, file: TaskFile) -> dict[str, Any]:
    """Return what `harness show` prints about a task's primary score, by model."""
    shown: dict[str, dict[str, Any]] = {}
    for row in of_task(task_file, file.name):
        if (row.metric, row.score) == (file.primary.metric, file.primary.score):
            figures = {
                "floor": row.floor,
                "found from amplitude": row.detectable,
                "shuffled sides found biased": row.rejected,
                "reliability": row.reliability,
                "result": "; ".join(row.failures or row.missing) or "valid",
                "measured on": None if row.version == file.version else f"version {row.version}",
            }
            shown[row.model] = {key: value for key, value in figures.items() if value is not None}
    return {"validity": shown} if shown else {}
