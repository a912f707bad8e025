"""The repository that a submission joins: nothing of it may be changed, and it decides names."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from harness.leaderboard.boards import references
from harness.leaderboard.claims import reading
from harness.leaderboard.claims.identities import SCORE
from harness.leaderboard.claims.reading import Aside, Claims
from harness.leaderboard.submissions import submission, withdrawn
from harness.leaderboard.submissions.submission import Submission
from harness.leaderboard.submissions.tree import Tree, tree

_GIT = ".git"
_DEPTH = 3
"""Parts of `MODEL/FINGERPRINT/RUN.jsonl`."""


@dataclass(frozen=True)
class Base:
    """A results repository, or none: then only the shipped reference models are known.

    Parameters
    ----------
    tree
        What lies in it; None for none.
    """

    tree: Tree | None = None

    @classmethod
    def of(cls, folder: Path | None) -> Base:
        """Return the repository in a folder."""
        return cls() if folder is None else cls(tree(folder))

    @cached_property
    def claims(self) -> Claims:
        """Its records as they are."""
        return reading.read([] if self.tree is None else self.tree.runs)

    @cached_property
    def withdrawn(self) -> list[Path]:
        """Its `withdrawn.yaml`."""
        return [] if self.tree is None else withdrawn.find([self.tree.root])

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The name of the model of each fingerprint, the shipped reference models included."""
        pairs = self.claims.frame.select("fingerprint", "model").cast(pl.String).unique()
        shipped = {r.model.fingerprint: r.model.name for r in references.shipped()}
        return dict(pairs.iter_rows()) | shipped

    @cached_property
    def kinds(self) -> Mapping[str, frozenset[str]]:
        """The kinds of embedder that its records have with each fingerprint."""
        return self._texts("fingerprint", "kind")

    @cached_property
    def labels(self) -> Mapping[str, frozenset[str]]:
        """The labels of mitigators that its records have with each fingerprint of one."""
        return self._texts("mitigator_fingerprint", "label")

    @cached_property
    def methods(self) -> Mapping[str, frozenset[str]]:
        """The methods that its records have with each label of a mitigator."""
        return self._texts("label", "method")

    @cached_property
    def tasks(self) -> Mapping[str, frozenset[str]]:
        """The tasks that its records have with each kind of embedder."""
        return self._texts("kind", "task")

    @cached_property
    def scores(self) -> Mapping[tuple[str, ...], frozenset[int]]:
        """The seeds of each score, by what identifies it but for the seed."""
        columns = [pl.col(name).cast(pl.String) for name in SCORE]
        groups = self.claims.frame.group_by(*columns).agg(pl.col("seed").unique())
        return {tuple(key): frozenset(seeds) for *key, seeds in groups.iter_rows()}

    def _texts(self, key: str, column: str) -> dict[str, frozenset[str]]:
        frame = self.claims.frame.select(key, column).cast(pl.String).group_by(key)
        return {text: frozenset(texts) for text, texts in frame.agg(column).iter_rows()}

    @cached_property
    def fingerprints(self) -> Mapping[str, str]:
        """A fingerprint of each name of a model."""
        return {name: fingerprint for fingerprint, name in self.names.items()}

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of its records."""
        return frozenset(self.claims.frame["id"])

    def counterpart(self, path: Path) -> Path | None:
        """Return the file of the base that has the place of a file; None if there is none."""
        if self.tree is None:
            return None
        own = self.tree.root.joinpath(*path.absolute().parts[-_DEPTH:])
        return own if own.is_file() else None

    def has(self, path: Path) -> bool:
        """Return whether the base has the same file in the same place."""
        own = self.counterpart(path)
        return own is not None and filecmp.cmp(own, path, shallow=False)

    def has_problem(self, problem: Aside, copy: Tree) -> bool:
        """Return whether a file that has no place is in the base, too: then it is not new."""
        if self.tree is None:
            return False
        path = Path(problem.file)
        own = self.tree.root / path.relative_to(copy.root)
        are_plain = all(p.is_file() and not p.is_symlink() for p in (own, path))
        return are_plain and filecmp.cmp(own, path, shallow=False)

    def removed(self, trees: Iterable[Tree]) -> Iterator[Aside]:
        """Yield a problem for each file that changed copies of the repository lack."""
        for copy in trees:
            if self.tree is None or not copy.whole:
                continue
            for file in (*self.tree.runs, *(f / submission.NAME for f in self.tree.folders)):
                path = copy.root / file.relative_to(self.tree.root)
                if file.is_file() and not path.is_file():
                    reason = (
                        "the base has it, and it is gone; only maintainers withdraw results (name "
                        f"{copy.root} if this is no copy of the base)"
                    )
                    yield Aside(str(path), 0, reason)

    def outside(self, trees: Iterable[Tree]) -> Iterator[Aside]:
        """Yield a warning for each file beside `results` that a changed copy changes or adds."""
        for copy in trees:
            if self.tree is None or not copy.whole:
                continue
            own, root = self.tree.root.parent, copy.root.parent
            for name in sorted({*_beside(root), Path(withdrawn.NAME)}):
                if not _are_same(own / name, root / name):
                    reason = "not a file of results; only maintainers change it"
                    yield Aside(str(root / name), 0, reason)

    def changed(self, path: Path) -> Iterator[Aside]:
        """Yield a problem if lines of a file of the base are changed or gone."""
        own = self.counterpart(path)
        if own is None:
            return
        lines = set(path.read_bytes().splitlines())
        gone = [
            number
            for number, line in enumerate(own.read_bytes().splitlines(), start=1)
            if line not in lines
        ]
        if gone:
            more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
            reason = f"line {gone[0]}{more} of the base is changed or gone; add a new run instead"
            yield Aside(str(path), 0, reason)

    def changed_entries(
        self, path: Path, entries: Mapping[str, Submission], *, whole: bool
    ) -> Iterator[Aside]:
        """Yield a problem for each entry of the base's `submission.json` that differs in this.

        A copy of the whole base must have all its entries.
        """
        own = self.counterpart(path)
        for run, entry in ({} if own is None else submission.read(own.parent)).items():
            if entries.get(run, None if whole else entry) != entry:
                reason = f"runs.{run}: the entry of the base is changed or gone; restore it"
                yield Aside(str(path), 0, reason)


def _beside(root: Path) -> Iterator[Path]:
    """Yield the files of a repository beside its results, without those of git."""
    for folder, folders, files in os.walk(root):
        if Path(folder) == root:
            folders[:] = [name for name in folders if name not in (submission.ROOT, _GIT)]
            files = [name for name in files if name != _GIT]  # of a worktree
        links = (name for name in folders if Path(folder, name).is_symlink())
        yield from (Path(folder, name).relative_to(root) for name in (*files, *links))


def _are_same(a: Path, b: Path) -> bool:
    """Return whether both are files or links with the same content, or neither exists."""
    if a.is_symlink() or b.is_symlink():
        return a.is_symlink() and b.is_symlink() and a.readlink() == b.readlink()
    if a.is_file() and b.is_file():
        return filecmp.cmp(a, b, shallow=False)
    return not a.exists() and not b.exists()
