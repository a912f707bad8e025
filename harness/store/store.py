"""The vectors of one embedder on disk, so that no text is encoded twice.

A store is a folder of immutable segments (`segment.py`), on a file system or in a bucket. There is
no lock: several processes and machines may write at once, each its own segments. If two segments
have the same text, their vectors are equal up to rounding, and the first one is used that is not a
row of NaN. A kill loses only the rows that were not flushed. `harness.store.pruning` works on all
stores of a folder.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import folders
from harness.arrays import Vectors
from harness.digest import digest
from harness.errors import DiskError, ModelError
from harness.folders import Place
from harness.store import model_file, segment
from harness.store.contents import Checked, Info, info_of
from harness.store.folder import DAMAGED, MODEL_FILE
from harness.store.key_index import DamagedSegments, KeyIndex, keys_of
from harness.store.places import folder_of
from harness.store.segment import Segment
from harness.store.writer import Writer

WithoutVector: TypeAlias = Callable[[Sequence[str]], Sequence[bool]]

CHECK = "HARNESS_CHECK_VECTORS"
"""Environment variable: with `0`, vectors are not compared with their checks when they are read."""
_ATTEMPTS = 5


class Store:
    """Vectors of one embedder by text.

    Parameters
    ----------
    folder
        Folder of all stores, on a file system or in a bucket.
    fingerprint
        The embedder's fingerprint; each fingerprint has its own store.
    without_vector
        Returns whether the embedder has no vector for each text. A row of NaN of another text is a
        fault: the text counts as missing. By default all rows of NaN are right.

    Attributes
    ----------
    folder
        Folder of this store.
    files
        Its segments and the file that describes the model.
    notices
        One line for each segment that is not used; the caller prints them.
    """

    def __init__(
        self, folder: Place, fingerprint: str, *, without_vector: WithoutVector | None = None
    ) -> None:
        self.fingerprint = fingerprint
        self._without_vector = without_vector
        self.nan_is_right: dict[str, bool] = {}  # by text whose row is of NaN
        # The digest distinguishes names that are equal after safe_name, or without regard to case.
        name = f"{folders.safe_name(fingerprint)[:80]}-{digest(fingerprint)[:12]}"
        self.folder = folder / name
        self.files = folder_of(folder, name)
        self.notices: list[str] = []
        self._segments: dict[str, Segment] = {}
        self._ignored: set[str] = set()
        self._index = KeyIndex.of(())
        self._stale = True
        self._touched = False
        self._width: int | None = None  # as the model file states
        self._check = os.environ.get(CHECK, "1") != "0"

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return the distinct texts without a vector, in the order first seen."""
        distinct = list(dict.fromkeys(texts))
        return [distinct[i] for i in np.flatnonzero(self._find(distinct) < 0)]

    def get(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`, in their order; a text may occur twice.

        Each vector is compared with its check. A segment with a vector that differs is set aside:
        its texts are then missing.

        Raises
        ------
        KeyError
            If some texts have no vector; the message has their number.
        """
        vanished = 0
        repaired: set[str] = set()
        while True:  # ends: each repetition has repaired a segment, set one aside, or misses one
            positions = self._find(texts)
            n_missing = int((positions < 0).sum())
            if n_missing:
                raise KeyError(
                    f"{n_missing} of {len(texts)} texts have no vector in '{self.folder}'"
                )
            try:
                self._load(positions)
                return self._index.gather(positions, check=self._check)
            except FileNotFoundError:  # another machine merged it
                vanished += 1
                if vanished == _ATTEMPTS:
                    raise DiskError(f"embeddings in '{self.folder}' vanish") from None
                self._stale = True
            except DamagedSegments as error:
                for damaged, reason in error.damaged:
                    name = damaged.path.name
                    if name not in repaired and self.files.repair(name, self.fingerprint):
                        repaired.add(name)
                        self._segments.pop(name, None)
                    else:
                        self._set_aside(name, reason)
                self._stale = True

    def refresh(self) -> None:
        """Look for segments of other processes at the next look-up."""
        self._stale = True

    def writer(self, rows: int = 8192, seconds: float = 30) -> Writer:
        """Return a writer that writes a segment every `rows` texts or `seconds`."""
        return Writer(
            self.files,
            self.fingerprint,
            dimensions=self.dimensions,
            rows=rows,
            seconds=seconds,
            on_flush=self.refresh,
        )

    @property
    def dimensions(self) -> int | None:
        """Number of dimensions of the vectors: as the model file states, else as most rows have."""
        return model_file.dimensions(self.files) or self._current().width or None

    def describe(self, info: Mapping[str, Any]) -> None:
        """Write facts about the model, at least its name, to the file beside the segments.

        Raises
        ------
        ModelError
            If it has another number of `dimensions` than the vectors of this store.
        """
        facts = {"fingerprint": self.fingerprint, **info}
        known, stated = self.dimensions, info.get(model_file.DIMENSIONS)
        if known and stated and known != stated:
            raise ModelError(
                f"model '{info.get('name')}' has {stated} dimensions, but its embeddings in "
                f"'{self.folder}' have {known}; if the model was changed, give it another "
                "fingerprint, or remove them with 'harness cache prune --model NAME'; if its "
                f"{MODEL_FILE} is wrong, delete that file"
            )
        facts[model_file.DIMENSIONS] = stated or known
        model_file.update(self.files, {k: v for k, v in facts.items() if v or k != "dimensions"})

    def verify(self) -> list[Checked]:
        """Compare every segment with its checksum, and set damaged segments aside."""
        report = []
        for name in self.files.names():
            rows = 0
            try:
                opened = self.files.open(name, self.fingerprint)
                rows = len(opened.keys)
                (opened,) = self.files.load([opened], self.fingerprint)
                segment.check(opened)
                report.append(Checked(name, rows))
            except FileNotFoundError:
                continue  # another process merged it meanwhile
            except segment.Damaged as error:
                if self.files.repair(name, self.fingerprint):
                    report.append(Checked(name, rows))
                else:
                    self._set_aside(name, error)
                    report.append(Checked(name, rows, str(error)))
            except (segment.Foreign, OSError) as error:
                report.append(Checked(name, rows, str(error)))
        self._stale = True
        return report

    def info(self) -> Info:
        """Return what the store contains, without reading vectors."""
        return info_of(self.files, self.folder, self.fingerprint)

    def _find(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the (n,) position of the vector of each text in the index, -1 for none."""
        index = self._current()
        positions = index.find(keys_of(texts))
        if self._without_vector is not None:
            nan = np.flatnonzero(index.is_nan(positions)).tolist()
            known = self.nan_is_right
            new = [text for text in dict.fromkeys(texts[i] for i in nan) if text not in known]
            known.update(zip(new, self._without_vector(new), strict=True))
            positions[[i for i in nan if not known[texts[i]]]] = -1
        return positions

    def _current(self) -> KeyIndex:
        if not self._stale:
            return self._index
        for _ in range(_ATTEMPTS):  # a segment may vanish while `harness cache prune` merges
            names = set(self.files.names()) - self._ignored
            self.files.prepare(names - self._segments.keys())
            self._notice_others(self._segments.keys() - names - self._ignored)
            opened = {n: s for n, s in self._segments.items() if n in names}
            try:
                for name in names - opened.keys():
                    new = self._open(name)
                    if new is not None:
                        opened[name] = new
            except FileNotFoundError:
                continue
            break
        opened = self._of_one_width(opened)
        self._segments = opened
        segments = [opened[name] for name in sorted(opened)]
        if [*map(id, segments)] != [*map(id, self._index.segments)]:
            self._index = KeyIndex.of(segments)
        if not self._touched:
            self._touched = True
            self.files.touch()
            try:
                self.files.send()
            except DiskError as error:
                self.notices.append(str(error))
        self._stale = False
        return self._index

    def _load(self, positions: npt.NDArray[np.int64]) -> None:
        """Make the vectors at `positions` available."""
        segments = list(self._index.segments)
        lacking = {i for i, item in enumerate(segments) if not len(item.vectors)}
        needed = sorted(lacking.intersection(self._index.segments_of(positions))) if lacking else []
        loaded = self.files.load([segments[i] for i in needed], self.fingerprint)
        for i, item in zip(needed, loaded, strict=True):
            segments[i] = self._segments[item.path.name] = item
        if needed:
            self._index = dataclasses.replace(self._index, segments=tuple(segments))

    def _open(self, name: str) -> Segment | None:
        try:
            return self.files.open(name, self.fingerprint)
        except FileNotFoundError:
            raise
        except segment.Damaged as error:
            self._set_aside(name, error)
        except segment.Foreign as error:
            self._ignore(name, error)
        except OSError as error:  # the segment may be valid: out of memory, no permission, network
            self._ignore(name, f"cannot be read now ({error.strerror})")
        return None

    def _of_one_width(self, opened: dict[str, Segment]) -> dict[str, Segment]:
        rows: Counter[int] = Counter()
        for name in sorted(opened):  # of widths with equally many rows the first counts
            rows[opened[name].vectors.shape[1]] += len(opened[name].keys)
        if self._width is None and rows:
            self._width = model_file.dimensions(self.files)
        width = self._width or max(rows, key=rows.__getitem__, default=None)
        reason = segment.Damaged(f"its vectors do not have {width} dimensions like the others")
        for name in [name for name, item in opened.items() if item.vectors.shape[1] != width]:
            if width in rows:
                self._set_aside(name, reason)
            else:  # either may be wrong: nothing is lost
                self._ignore(name, f"they do not have {width} dimensions as {MODEL_FILE} states")
            del opened[name]
        return opened

    def _notice_others(self, gone: Set[str]) -> None:
        """Say which segments another process set aside; it may have no way to say so itself."""
        damaged = {name + DAMAGED for name in gone}.intersection(
            self.files.leftovers() if gone else ()
        )
        self._ignored |= gone
        for name in sorted(damaged):
            self.notices.append(
                f"another process set aside damaged embeddings: '{self.folder / name}'; "
                "their texts will be encoded again"
            )

    def _ignore(self, name: str, reason: object) -> None:
        self._ignored.add(name)
        self.notices.append(f"embeddings in '{self.folder / name}' are not used: {reason}")

    def _set_aside(self, name: str, reason: Exception) -> None:
        self._ignored.add(name)
        self.files.set_aside(name)
        self.notices.append(
            f"set aside a damaged segment of embeddings: '{self.folder / name}': {reason}; "
            "its texts will be encoded again"
        )
