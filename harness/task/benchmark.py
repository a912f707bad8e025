"""Benchmarks: named, versioned lists of tasks. A board ranks what ran all tasks of one benchmark.

A benchmark lists its tasks with their versions, so that a number that it gives means the same
tomorrow. It knows no model and runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, StrictInt

from harness import limits
from harness.concept import Name
from harness.errors import suggestion
from harness.task.mistakes import Collector
from harness.task.table_schema import Strict
from harness.task.yaml_files import Document


class BenchmarkFile(Strict):
    """A benchmark: which tasks belong together, in which versions."""

    name: Name
    """Name that users type after `--tasks`. No task or tag may have the same, and a category only
    if all tasks of bias are of it: the benchmark is what that name selects."""
    version: int = Field(ge=1, le=limits.INTEGER)
    """Raised with every change of the tasks or of their versions."""
    title: str
    """One line for listings."""
    description: str = ""
    """What the tasks ask together, and why these."""
    citation: str = ""
    """Paper to cite with its scores."""
    aggregation: Literal["families"] = "families"
    """How a board makes one rank of the scores: by the mean over families of the mean over the
    tasks of each, for bias and usefulness apart."""
    tasks: dict[Name, StrictInt] = Field(min_length=1)
    """Version by task. Globs are not allowed."""


def check(document: Document, versions: Mapping[str, int]) -> BenchmarkFile:
    """Return the benchmark that a parsed file describes.

    Parameters
    ----------
    document
        The parsed file.
    versions
        Version of each known task.

    Raises
    ------
    InvalidFile
        If it has a mistake in it, or lists a task that is unknown or of another version.
    """
    file = document.validate(BenchmarkFile)
    mistakes = Collector()
    for name, version in file.tasks.items():
        with mistakes.collecting():
            if name not in versions:
                problem = f"unknown task '{name}'{suggestion(name, versions)}"
                raise document.error(problem, ("tasks", name))
            if version != versions[name]:
                raise document.error(
                    f"version {version} of the task is listed, version {versions[name]} is "
                    "installed: install the version that the benchmark was made for, or update "
                    "this line and raise the version of the benchmark",
                    ("tasks", name),
                )
    mistakes.check()
    return file
