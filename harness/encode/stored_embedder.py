"""An embedder that reads vectors from the store, and encodes texts that the store does not have.

One object serves one run. It does not try a text again that could not be encoded.
"""

from __future__ import annotations

import contextlib
import functools
import json
import mmap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeGuard

import numpy as np

from harness import folders
from harness.arrays import Vectors
from harness.embedder import Embedder, ModelInfo, Role, Vocabulary, vocabulary_of
from harness.encode import roles
from harness.encode.batches import without_vector
from harness.encode.engine import Engine
from harness.errors import PLUGIN_ERRORS, HarnessError, ModelError
from harness.folders import Place
from harness.parallel import OnlyInMain, all_threads
from harness.progress import Progress
from harness.store import pruning
from harness.store.store import Store

# The vocabulary of a word embedder for other processes, which map one file of its vectors.
#
# Vectors that are mapped from a file already stay there. Others are written to a file once.


@dataclass(frozen=True)
class MappedVocabulary:
    """Words, and where their vectors are.

    Parameters
    ----------
    words
        The file of the n words.
    path, offset
        The file of the vectors, and the byte at which they begin.
    dtype, shape, order
        How they are stored: type, (n, d), and C for row by row or F for column by column.
    """

    words: Path
    path: Path
    offset: int
    dtype: str
    shape: tuple[int, ...]
    order: Literal["C", "F"]

    def open(self) -> Vocabulary:
        """Return the vocabulary; its vectors are read from their file when they are needed.

        Raises
        ------
        OSError
            If the file cannot be opened here.
        """
        vectors: Vectors = np.memmap(
            self.path, self.dtype, "r", self.offset, self.shape, order=self.order
        )

        def rows(start: int, stop: int) -> Vectors:
            return np.array(vectors[start:stop], dtype=np.float32, order="C")

        return Vocabulary(json.loads(self.words.read_text(encoding="ascii")), rows)


def mapped(embedder: Embedder, folder: Path) -> MappedVocabulary | None:
    """Return the vocabulary of a word embedder for other processes; None if it cannot be sent.

    Parameters
    ----------
    embedder
        The embedder.
    folder
        Where the words are written to, and vectors that are not mapped from a file already.

    Raises
    ------
    NotApplicable
        If it has no vocabulary.
    OSError
        If they cannot be written.
    """
    vocabulary = vocabulary_of(embedder)
    if type(vocabulary) is not Vocabulary:
        return None  # it may have more than words and vectors
    words = folder / "words.json"
    words.write_text(json.dumps(list(vocabulary.words)), encoding="ascii")
    vectors = getattr(embedder, "vectors", None)
    if _is_whole_map(vectors) and len(vectors) == len(vocabulary):
        order: Literal["C", "F"] = "C" if vectors.flags.c_contiguous else "F"
        path = Path(vectors.filename or "")
        return MappedVocabulary(
            words, path, vectors.offset, vectors.dtype.str, vectors.shape, order
        )
    path, d = folder / "vectors", 0
    with path.open("wb") as file:
        for _, block in vocabulary.blocks():
            d = block.shape[1]
            file.write(np.ascontiguousarray(block, dtype="<f4").data)
    return MappedVocabulary(words, path, 0, "<f4", (len(vocabulary), d), "C")


def _is_whole_map(vectors: object) -> TypeGuard[np.memmap[Any, Any]]:
    """Return whether vectors are all that is mapped of a file that other processes can open."""
    return (
        isinstance(vectors, np.memmap)
        and isinstance(vectors.base, mmap.mmap)  # a part of a map has the map as its base
        and vectors.filename is not None  # a temporary file has no name
        and Path(vectors.filename).is_file()
    )


# The vectors of a model as the store has them, without the model; itself an embedder.
#
# It is what other processes get of a model. What needs the model itself is for the main process.


class StoredVectors:
    """The vectors of a model in its store.

    Parameters
    ----------
    info
        Facts about the model.
    store
        Where its vectors are.
    failed
        Keys of texts that could not be encoded.
    words
        Its vocabulary; None if it has none, or if that cannot be sent.

    Attributes
    ----------
    asked_for_model
        Whether something was asked for that needs the model, and OnlyInMain was raised.
    """

    def __init__(
        self,
        info: ModelInfo,
        store: Store,
        *,
        failed: Iterable[str] = (),
        words: MappedVocabulary | None = None,
    ) -> None:
        self._info, self.store = info, store
        self.failed = set(failed)
        self.words = words
        self.asked_for_model = False
        self._role: Role = roles.PLAIN

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent: where the store is, and not what is open of it."""
        knows = None if self.info.kind == "word" else dict(self.store.nan_is_right)
        folder = folders.absolute(self.store.folder.parent)
        return self.__dict__ | {"store": (folder, self.store.fingerprint, knows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the store anew."""
        folder, fingerprint, knows = state["store"]
        without_vector = None if knows is None else functools.partial(_known, knows)
        store = Store(folder, fingerprint, without_vector=without_vector)
        self.__dict__.update(state, store=store)

    @property
    def info(self) -> ModelInfo:
        """Facts about the model."""
        return self._info

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The model's vocabulary, always the same object.

        Raises
        ------
        OnlyInMain
            If it was not sent.
        """
        if self.words is None:
            raise self._only_in_main("the vocabulary was not sent")
        try:
            return self.words.open()
        except OSError as error:  # on another machine
            raise self._only_in_main(str(error)) from None

    @contextlib.contextmanager
    def reading(self, role: Role) -> Iterator[None]:
        """Take all texts that are asked for in this context as texts of a role.

        That holds for what a mitigator encodes to change these texts, too.
        """
        before, self._role = self._role, role
        try:
            yield
        finally:
            self._role = before

    def ensure(self, keys: Sequence[str]) -> None:
        """Check that the store has the texts of those `keys` that have not failed.

        Raises
        ------
        OnlyInMain
            If it has not.
        """
        missing = self.store.missing(keys)
        if not self.failed.issuperset(missing):
            self.store.refresh()  # another process may have encoded them meanwhile
            missing = self.store.missing(keys)
        if not self.failed.issuperset(missing):
            raise self._only_in_main(f"{len(missing)} texts are not in the store")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`.

        Raises
        ------
        HarnessError
            If some of them cannot be encoded.
        """
        keys = roles.keys(texts, self._role, self.info.readings)
        for _ in range(2):  # reading may find damaged vectors, which are then encoded again
            self.ensure(keys)
            with contextlib.suppress(KeyError):
                return self.store.get(keys)
        failed = [roles.text_of(key) for key in self.store.missing(keys)]
        raise HarnessError(
            f"{len(failed)} of its texts could not be encoded; the first is {failed[0][:60]!r}"
        )

    def _only_in_main(self, reason: str) -> OnlyInMain:
        self.asked_for_model = True
        return OnlyInMain(reason)


def _known(answers: Mapping[str, bool], texts: Sequence[str]) -> list[bool]:
    """Return whether the model has no vector for each text, as the main process knows it."""
    if not answers.keys() >= set(texts):
        raise OnlyInMain("only the model knows whether it has no vector for a text")
    return [answers[text] for text in texts]


MANY_SEGMENTS = 32


def store_of(embedder: Embedder, folder: Place) -> Store:
    """Return the store of an embedder in the folder of all stores."""
    is_text = embedder.info.kind == "text"
    return Store(
        folder,
        embedder.info.fingerprint,
        without_vector=functools.partial(without_vector, embedder) if is_text else None,
    )


class StoredEmbedder(StoredVectors):
    """An embedder that reads from the store; itself an embedder.

    Parameters
    ----------
    embedder
        The embedder.
    name
        The name that the embedder was made from; None if it was given as an object.
    engine
        Where encoding runs.
    store
        Where vectors are read and written.
    progress
        Where progress is reported.

    Attributes
    ----------
    encoded
        Number of texts that were encoded so far.
    seconds
        Time that encoding took so far.
    notices
        One line for each reason why texts could not be encoded.
    """

    def __init__(
        self,
        embedder: Embedder,
        name: str | None,
        engine: Engine,
        store: Store,
        progress: Progress,
    ) -> None:
        super().__init__(embedder.info, store)
        self.embedder, self.name = embedder, name
        self.engine, self.progress = engine, progress
        self.encoded, self.seconds = 0, 0.0
        self.notices: list[str] = []
        self._truncated: dict[str, bool] = {}

    @property
    def info(self) -> ModelInfo:
        """The embedder's own info."""
        return self.embedder.info

    @property
    def vocabulary(self) -> Vocabulary:
        """The embedder's own vocabulary: its vectors are available without the store."""
        return vocabulary_of(self.embedder)

    def ensure(self, keys: Sequence[str]) -> None:
        """Encode the texts of those `keys` that are not in the store and have not failed yet.

        Raises
        ------
        ModelError
            If the model fails and none of the texts has a vector.
        """
        missing = [key for key in self.store.missing(keys) if key not in self.failed]
        if not missing:
            return
        started = time.monotonic()
        label = f"{self.info.name}: encoding"
        with all_threads(), self.progress.stage(label, len(missing), "texts") as advance:
            report = self.engine.encode(
                self.embedder, missing, self.store, on_done=advance, name=self.name
            )
        if self.info.hosted and len(self.store.files.names()) > MANY_SEGMENTS:
            pruning.merge(self.store)  # each hand-over was written as a segment
        self.seconds += time.monotonic() - started
        self.encoded += report.n_texts
        self.failed |= report.failed.keys()
        if report.failed and len(self.store.missing(keys)) == len(set(keys)):
            key, reason = next(iter(report.failed.items()))
            raise ModelError(
                f"model '{self.info.name}' failed on {len(report.failed)} texts; "
                f"the first is '{roles.text_of(key)[:60]}': {reason}"
            )
        by_reason: dict[str, list[str]] = {}
        for key, reason in report.failed.items():
            by_reason.setdefault(reason, []).append(roles.text_of(key))
        for reason, failed in by_reason.items():
            more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
            self.notices.append(f"not encoded: {failed[0][:60]!r}{more}: {reason}")

    def ranks(self, words: Sequence[str]) -> Sequence[int] | None:
        """Return the rank of each word by frequency; None if the embedder does not say."""
        ranks = getattr(self.embedder, "ranks", None)
        if not callable(ranks):
            return None
        try:
            by_word: Sequence[int] | None = ranks(words)
        except PLUGIN_ERRORS:  # scores do not depend on this
            return None
        return by_word

    def unlike(self, words: Sequence[str]) -> str | None:
        """Return why the embedder lacks most of `words`; None if it does not say."""
        unlike = getattr(self.embedder, "unlike", None)
        if not callable(unlike):
            return None
        try:
            reason: str | None = unlike(words)
        except PLUGIN_ERRORS:  # scores do not depend on this
            return None
        return reason

    def truncated(self, texts: Sequence[str]) -> list[bool] | None:
        """Return whether the embedder truncates each text; None if it does not say."""
        truncated = getattr(self.embedder, "truncated", None)
        if not callable(truncated):
            return None
        keys = roles.keys(texts, self._role, self.info.readings)
        new = [key for key in dict.fromkeys(keys) if key not in self._truncated]
        try:
            for group in roles.grouped(new, self.info.readings):
                answers = map(bool, truncated(group.texts, **group.arguments))
                self._truncated.update(zip(group.keys(new), answers, strict=True))
        except PLUGIN_ERRORS:  # scores do not depend on this
            return None
        return [self._truncated[key] for key in keys]
