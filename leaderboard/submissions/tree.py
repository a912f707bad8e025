"""What lies in a submission: its runs, and what has no place in one.

`results/MODEL/FINGERPRINT` has files `RUN.jsonl` and one `submission.json`, and nothing else has a
place: no figure, since a page of somebody else may hold scripts; no table and no samples, since
nothing can check them; no study, since no registered task says what its records must hold. Links
are not followed, and nothing but plain files is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import folders
from harness.errors import unreadable
from harness.leaderboard.claims.reading import Aside
from harness.leaderboard.submissions import submission
from harness.results import samples
from harness.results.folder import STUDY

_DEPTH = 2
"""Folders below the root: the model and the fingerprint."""
_NO_PLACE = {
    "figures": "figures are pages, which may hold scripts, and are not taken",
    "tables": "tables are not taken",
    "samples": "samples are not taken",
    "runs": "files of runs are not taken",
}
_PACK = "; `harness results pack` writes what is"


@dataclass(frozen=True)
class Tree:
    """The files of a submission.

    Parameters
    ----------
    root
        Where it was looked: the folder `results` of a repository, or a part of one.
    whole
        Whether this is a whole repository: a folder with a folder `results` and anything beside it.
        What `harness results pack` writes has nothing beside it.
    runs
        Files of records, sorted.
    folders
        The folders `FINGERPRINT`, sorted.
    problems
        What has no place here.
    """

    root: Path
    whole: bool
    runs: tuple[Path, ...]
    folders: tuple[Path, ...]
    problems: tuple[Aside, ...]


def tree(path: Path) -> Tree:
    """Return what lies in a results repository, in a part of one, or in one file of one.

    Raises
    ------
    InvalidFile
        If the path does not exist.
    """
    if not os.path.lexists(path):
        raise unreadable(path)
    has_root = os.path.lexists(path / submission.ROOT)
    whole = has_root and any(entry.name != submission.ROOT for entry in os.scandir(path))
    root = path / submission.ROOT if has_root else path
    if root.is_symlink():
        return Tree(root, whole, (), (), (_problem(root, "a link; links are not followed"),))
    if root.is_dir():
        found = list(_visit(root, _depth(root)))
    else:
        found = [root] if _is_run(root) else [_problem(root, "not a RUN.jsonl or a folder")]
    runs = sorted(item for item in found if isinstance(item, Path))
    problems = tuple(item for item in found if isinstance(item, Aside))
    return Tree(root, whole, tuple(runs), tuple(sorted({run.parent for run in runs})), problems)


def _depth(root: Path) -> int:
    """Return how many folders `root` is below the folder `results`, by where files lie in it."""
    if root.name == submission.ROOT:
        return 0
    if any(entry.is_file(follow_symlinks=False) for entry in os.scandir(root)):
        return _DEPTH
    below = [entry.path for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    has_files = (
        any(entry.is_file(follow_symlinks=False) for entry in os.scandir(folder))
        for folder in below
    )
    return 1 if any(has_files) else 0


def _visit(folder: Path, depth: int) -> Iterator[Path | Aside]:
    """Yield the runs in a folder, and a problem for each thing that has no place in it."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = folder / entry.name
        if entry.is_symlink():
            yield _problem(path, "a link; links are not followed")
        elif entry.name.startswith("."):
            yield _problem(path, "hidden; remove it")
        elif folders.safe_name(entry.name) != entry.name:
            yield _problem(path, "not a safe name: letters, digits and ._- are allowed")
        elif entry.is_dir(follow_symlinks=False):
            if depth < _DEPTH:
                yield from _visit(path, depth + 1)
            else:
                reason = _NO_PLACE.get(entry.name, "a folder in the place of a file")
                yield _problem(path, reason + _PACK)
        elif not entry.is_file(follow_symlinks=False):
            yield _problem(path, "not a plain file")
        elif depth < _DEPTH:
            yield _problem(path, f"files lie in {submission.ROOT}/MODEL/FINGERPRINT" + _PACK)
        elif _is_run(path):
            yield path
        elif entry.name != submission.NAME:
            yield _problem(path, _reason(entry.name) + _PACK)


def _is_run(path: Path) -> bool:
    if not path.is_file() or path.suffix != ".jsonl" or path.is_symlink():
        return False
    is_other = path.name.endswith((STUDY, samples.SUFFIX))
    return not is_other and submission.RUN.fullmatch(path.stem) is not None


def _reason(name: str) -> str:
    if name.endswith(STUDY):
        return "studies are not taken: no registered task says what their records must hold"
    if name.endswith(samples.SUFFIX):
        return _NO_PLACE["samples"]
    return f"only RUN.jsonl and {submission.NAME} are taken"


def _problem(path: Path, reason: str) -> Aside:
    return Aside(str(path), 0, reason)
