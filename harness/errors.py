"""Every error that the harness raises on purpose, and the exit code of each.

A message says what is wrong, where, and what would be right; the command line prints it on
one line and leaves with `exit_code`.

HarnessError                 1  something failed
├── UsageError               2  what was asked for cannot be understood
│   ├── UnknownName          2  no model, task, metric, mitigator … of that name
│   ├── InvalidOption        2  an option that is not taken, or a value that does not fit
│   └── InvalidFile          2  a task, concept, vectors or results file with a mistake in it
├── NameClash                1  two plugins claim one name
├── Unavailable              1  a model, data set or package that cannot be had here
├── ModelError               1  a model that does not do what an embedder must
├── NotApplicable            1  a mitigator or metric that cannot work on what it was given
└── DiskError                1  a results or cache folder that cannot be written or read
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class HarnessError(Exception):
    """Something failed; the message is one line for the user."""

    exit_code = 1


class UsageError(HarnessError):
    """What was asked for cannot be understood."""

    exit_code = 2


class UnknownName(UsageError):
    """No thing of that kind has that name."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.kind, self.name = kind, name
        super().__init__(f"unknown {kind} '{name}'{suggestion(name, known)}{hint}")


class InvalidOption(UsageError):
    """An option that is not taken, or whose value does not fit."""


class InvalidFile(UsageError):
    """A file that a person wrote has a mistake in it.

    Parameters
    ----------
    problem
        What is wrong and what would be right.
    path, line, key
        Where; `line` counts from 1.
    """

    def __init__(
        self, problem: str, *, path: Path | str, line: int | None = None, key: str = ""
    ) -> None:
        self.problem, self.path, self.line, self.key = problem, Path(path), line, key
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {key + ': ' if key else ''}{problem}")


class NameClash(HarnessError):
    """Two plugins claim one name."""


class Unavailable(HarnessError):
    """A model, data set or package that cannot be had here; the message says what to do."""


class ModelError(HarnessError):
    """A model that does not do what an embedder must."""


class NotApplicable(HarnessError):
    """A mitigator or metric that cannot work on what it was given."""


class DiskError(HarnessError):
    """A results or cache folder that cannot be written or read."""


def one_line(error: BaseException) -> str:
    """Return what an error says in one line, with its type unless it is one of ours."""
    told = str(error) if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
    return (told.splitlines() or [""])[0]


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` with the nearest names, or the names there are if few."""
    choices = sorted(set(known))
    near = difflib.get_close_matches(name, choices, n=3, cutoff=0.6)
    if not near:
        near = [choice for choice in choices if name and name.lower() in choice.lower()][:3]
    if near:
        return "; did you mean " + " or ".join(f"'{choice}'" for choice in near) + "?"
    if 0 < len(choices) <= 12:
        return "; there are: " + ", ".join(choices)
    return ""
