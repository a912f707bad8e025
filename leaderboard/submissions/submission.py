"""`submission.json`: who ran what, when and under which licence; it lies beside the records.

A folder `results/MODEL/FINGERPRINT` has the records of one model, a file `RUN.jsonl` a run, and one
`submission.json` with an entry for each run. So a second person can add runs of the same model, and
the entries of the first stay as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from harness import folders, limits, user_files
from harness.errors import InvalidFile
from harness.leaderboard.claims import strict_json

ROOT = "results"
"""Folder of the records in a results repository."""
NAME = "submission.json"
RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}", re.ASCII)
"""Names of runs, and of their files without `.jsonl`."""
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
"""Unicode categories of characters that change a line or its direction, or cannot be seen."""


def _visible(text: str) -> str:
    """Return a text that has no control, zero-width or direction characters."""
    for character in text:
        if unicodedata.category(character) in _INVISIBLE:
            raise ValueError(f"the character U+{ord(character):04X} is not allowed")
    if text != text.strip():
        raise ValueError("it begins or ends with a space")
    return text


def _time(text: str) -> str:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("not a time; expected such as 2026-01-31T12:00:00+00:00") from None
    if time.tzinfo is None:
        raise ValueError("a time without its zone; expected such as 2026-01-31T12:00:00+00:00")
    return text


def _licence(text: str) -> str:
    try:
        return canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        raise ValueError(
            "not an SPDX identifier; expected such as CC-BY-4.0, CC0-1.0 or LicenseRef-NAME"
        ) from None


class Submission(BaseModel):
    """What a person says about a run that they submit."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )

    submitted_by: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_visible)]
    """Person or organisation, as the board may name them."""
    created: Annotated[str, Field(max_length=40), AfterValidator(_time)]
    """Time of the run's last record, ISO 8601 with its zone."""
    command: Annotated[str, Field(min_length=1, max_length=4_000), AfterValidator(_visible)]
    """Command that repeats the run."""
    harness: Annotated[str, Field(max_length=50, pattern=r"^[0-9]+(\.[0-9A-Za-z+!-]+)*$")]
    """Version of the harness."""
    licence: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_licence)]
    """Licence of the results: an SPDX expression."""
    contact: Annotated[str, Field(max_length=200), AfterValidator(_visible)] | None = None
    """Address or page for questions; optional, and public."""


class SubmissionFile(BaseModel):
    """The content of a `submission.json`."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True,
        serialize_by_alias=True,
    )  # fmt: skip

    schema_version: Literal[1] = Field(alias="schema")
    """Version of this schema."""
    runs: Annotated[dict[str, Submission], Field(min_length=1, max_length=1_000)]
    """An entry for each `RUN.jsonl` beside the file, by RUN."""


def place(*, model: str, fingerprint: str, run: str) -> PurePosixPath:
    """Return the place of a record in a results repository, by its model, fingerprint and run.

    The parts of the path are those of `folders.safe_name`: no name leaves its folder.
    """
    parts = (folders.safe_name(name) for name in (model, fingerprint))
    return PurePosixPath(ROOT, *parts, f"{folders.safe_name(run)}.jsonl")


def read(folder: Path) -> dict[str, Submission]:
    """Return the entries of the `submission.json` in a folder, by run.

    Raises
    ------
    InvalidFile
        If it is no plain file, or is not valid; `mistakes` has all.
    """
    path = folder / NAME
    if path.is_symlink():
        raise InvalidFile("a link; links are not followed", path=path)
    content = user_files.read(path, limits.SUBMISSION_BYTES)
    file, mistakes = strict_json.mistakes(content, SubmissionFile)
    if file is None:
        first, *further = (InvalidFile(text, path=path, key=key) for key, text in mistakes)
        first.further = tuple(further)
        raise first
    for run in file.runs:
        if not RUN.fullmatch(run):
            problem = f"{run[:50]!r} is no name of a run; letters, digits and ._- are allowed"
            raise InvalidFile(problem, path=path, key="runs")
    return file.runs


def write(folder: Path, runs: Mapping[str, Submission]) -> Path:
    """Write the `submission.json` of a folder, entries sorted by run, and return its path.

    Raises
    ------
    DiskError
        If it cannot be written.
    """
    file = SubmissionFile.model_validate({"schema": 1, "runs": dict(sorted(runs.items()))})
    path = folder / NAME
    folders.write_json(path, file.model_dump(mode="json", exclude_none=True))
    return path
