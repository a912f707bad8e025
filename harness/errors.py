"""Every error that the harness raises on purpose, with its exit code.

A message has one line: what is wrong, where, and what would be right. The command line prints it
and exits with `exit_code`::

    HarnessError                 1  something failed
    ├── UsageError               2  invalid arguments
    │   ├── UnknownName          2  unknown model, task, metric, mitigator …
    │   ├── InvalidOption        2  an unknown option, or an invalid value of one
    │   └── InvalidFile          2  a mistake in a task, concept, vectors or results file
    ├── NameClash                1  two plugins or files claim the same name
    ├── Unavailable              1  a model, data set or package is not available on this machine
    ├── ModelError               1  a model does not fulfil the contract of an embedder
    ├── NotApplicable            1  a mitigator or metric does not apply to its input
    └── DiskError                1  a results or cache folder cannot be written or read

An embedder raises `PartlyEncoded`, which is none of these, if it has vectors of some texts only.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.printing import printable, printable_lines

if TYPE_CHECKING:
    from harness.arrays import Vectors


class HarnessError(Exception):
    """Root of all errors of the harness; the message is one line for the user."""

    exit_code = 1

    def __init__(self, message: object = "", *further: object) -> None:
        text = printable_lines(message) if isinstance(message, str) else message
        super().__init__(text, *further)

    def _render_traceback_(self) -> list[str]:
        """Return what IPython and notebooks print: one line, as on the command line.

        The traceback is still there for `%debug`, `logging` and `traceback`.
        """
        return [f"{type(self).__name__}: {self}"]


class UsageError(HarnessError):
    """Arguments that are invalid or do not fit together."""

    exit_code = 2


class UnknownName(UsageError):
    """A name that is not registered.

    Parameters
    ----------
    kind
        What the name should stand for: `model`, `task`, `metric` …
    name
        The unknown name.
    known
        Registered names, for the suggestion.
    hint
        Text at the end of the message.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.kind, self.name = kind, name
        super().__init__(f"unknown {kind} '{name}'{suggestion(name, known)}{hint}")


class InvalidOption(UsageError):
    """An unknown option, or an invalid value of an option."""


class InvalidFile(UsageError):
    """A mistake in a file that a person wrote.

    Parameters
    ----------
    problem
        What is wrong and what would be right.
    path
        The file.
    line
        Line of the mistake, counted from 1.
    key
        Key of the mistake, such as `inputs.targets_1`.

    Attributes
    ----------
    further
        Errors for the other mistakes that were found in the same file.
    """

    def __init__(
        self, problem: str, *, path: Path | str, line: int | None = None, key: str = ""
    ) -> None:
        problem, key = printable(problem), printable(key)
        self.problem, self.path, self.line, self.key = problem, Path(path), line, key
        self.further: tuple[InvalidFile, ...] = ()
        location = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{location}: {key + ': ' if key else ''}{problem}")

    def __str__(self) -> str:
        """Return the message, and how many further mistakes there are."""
        n = len(self.further)
        hint = ": see harness validate" if self.path.suffix in (".yaml", ".yml") else ""
        more = f" (and {n} more mistake{'s'[: n > 1]}{hint})" if n else ""
        return super().__str__() + more

    @property
    def mistakes(self) -> list[InvalidFile]:
        """Each mistake as an error of its own, the first one included."""
        alone = InvalidFile(self.problem, path=self.path, line=self.line, key=self.key)
        return [alone, *self.further]


class NameClash(HarnessError):
    """Two plugins or files claim the same name."""


class Unavailable(HarnessError):
    """A model, data set or package is not available here; the message says how to get it."""


class ModelError(HarnessError):
    """A model that does not fulfil the contract of an embedder."""


class NotApplicable(HarnessError):
    """A mitigator or metric that does not apply to its input."""


class DiskError(HarnessError):
    """A results or cache folder that cannot be written or read."""


PLUGIN_ERRORS = (Exception, SystemExit)
"""What to catch around a plugin's code: any error, also SystemExit, but not Ctrl-C."""


class PartlyEncoded(Exception):
    """Raised by an embedder if some texts of a batch have no vector; the other vectors are kept.

    Parameters
    ----------
    vectors
        (n, d) vectors of the batch; those of the texts without one are NaN.
    reasons
        Why a text has no vector, by position.
    """

    def __init__(self, vectors: Vectors, reasons: Mapping[int, str]) -> None:
        super().__init__(next(iter(reasons.values())))
        self.vectors, self.reasons = vectors, reasons


def unreadable(path: Path | str, error: OSError | None = None) -> InvalidFile:
    """Return the error for a user's file that cannot be read; without `error` it does not exist."""
    if error is None or isinstance(error, FileNotFoundError):
        return InvalidFile("no such file or folder", path=path)
    return InvalidFile(f"cannot be read ({error.strerror or error})", path=path)


def listed(texts: Iterable[str], most: int) -> str:
    """Return texts with commas between; of long lists the first ones, and how many more there are.

    Parameters
    ----------
    texts
        What is listed.
    most
        Most texts that are named.
    """
    every = list(texts)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def one_line(error: BaseException) -> str:
    """Return an error's whole message in one line, after its type unless it is a HarnessError.

    Its notes, which say where it was raised, follow in brackets.
    """
    message = str(error) if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return printable_lines("; ".join(lines) + notes)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` with the closest known names.

    Without a close name: `; available: …` with all known names if they are at most 12, else an
    empty text.
    """
    choices = sorted(set(known))
    near = difflib.get_close_matches(name, choices, n=3, cutoff=0.6)
    if not near:
        near = [choice for choice in choices if name and name.lower() in choice.lower()][:3]
    if near:
        looks = {text: unicodedata.normalize("NFKC", text).strip() for text in (name, *near)}
        shown = (
            f"'{choice}'" + (f", written {choice!a}" if looks[choice] == looks[name] else "")
            for choice in near
        )
        return "; did you mean " + " or ".join(shown) + "?"
    if 0 < len(choices) <= 12:
        return "; available: " + ", ".join(choices)
    return ""
