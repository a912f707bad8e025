"""An embedder that reads vectors from the store, and encodes texts that the store does not have.

There is one object a run. It does not retry a text that could not be encoded.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from harness.arrays import Floats, Vectors, all_threads
from harness.embedder import (
    PACKED,
    PAIRS,
    PLAIN,
    Compare,
    Embedder,
    ModelInfo,
    Role,
    Vocabulary,
    by_role,
    packed,
    pair_keys,
    ranks_by,
    role_keys,
    similarity_of,
    text_of_key,
    unpacked,
    vocabulary_of,
)
from harness.encode import admission
from harness.encode.batches import (
    batch_size,
    encode_batches,
    without_vector,
)
from harness.encode.engine import Engine, OnDone, Report
from harness.encode.identity import UNNAMED
from harness.errors import PLUGIN_ERRORS, HarnessError, ModelError, UsageError
from harness.folders import Place
from harness.progress import Advance, Progress
from harness.store import pruning
from harness.store.store import Store


class LocalEngine:
    """The engine `local`: encodes in this process, on one device.

    Parameters
    ----------
    devices
        At most one device, the one that the embedder was made for. If empty, the embedder chooses.
    measure
        Whether to find the token budget of a batch by measuring; by default on GPUs.

    Raises
    ------
    UsageError
        If there are several devices.
    """

    def __init__(self, devices: Sequence[str] = (), *, measure: bool | None = None) -> None:
        if len(devices) > 1:
            raise UsageError(
                f"engine 'local' uses one device, not {len(devices)}; "
                "use engine 'devices' for several"
            )
        self.devices: Sequence[str] = tuple(devices)
        self.measure = measure
        self._checked: set[str] = set()  # folders of stores

    def encode(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        store: Store,
        *,
        on_done: OnDone,
        name: str | None,
    ) -> Report:
        """Encode `texts` into the store; see `harness.encode.engine.Engine`."""
        if str(store.folder) not in self._checked:
            admission.admit(embedder, store, texts)
            self._checked.add(str(store.folder))
        device = self.devices[0] if self.devices else default_device()
        size = batch_size(embedder, device, measure=self.measure)
        with store.writer() as writer:
            return encode_batches(embedder, texts, writer, size=size, on_done=on_done)


DRIVER = Path("/dev/nvidiactl")
"""Exists where there is a driver of GPUs; without it torch is not imported to look for them."""


def default_device() -> str:
    """Return the kind of device that a model uses by default."""
    return "cuda" if visible_gpus() else "cpu"


def visible_gpus() -> tuple[str, ...]:
    """Return the GPUs that this process may use: those of CUDA_VISIBLE_DEVICES, else all."""
    if not DRIVER.exists():
        return ()
    import torch

    return tuple(f"cuda:{i}" for i in range(torch.cuda.device_count()))


def _row_of(text: str) -> Vectors:
    """Return the bytes of a text as numbers, behind a 1, so that no row is zero."""
    content = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    return np.concatenate([[1], content]).astype(np.float32)


def _text_of(row: Vectors) -> str:
    return row[1:].astype(np.uint8).tobytes().decode("utf-8", "surrogatepass")


MANY_SEGMENTS = 32
"""Segments of a hosted model above which they are merged."""


@contextlib.contextmanager
def store_folder(info: ModelInfo, folder: Place) -> Iterator[Place]:
    """Yield the folder of stores: `folder`, or a temporary one for an unnamed object."""
    if not info.fingerprint.startswith(UNNAMED):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="harness-") as temporary:
        yield Path(temporary)


def store_of(embedder: Embedder, folder: Place) -> Store:
    """Return the store of an embedder in the folder of all stores."""
    info = embedder.info
    return Store(folder, info.fingerprint, packed=info.kind in PACKED)


class StoredEmbedder:
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
    failed
        Keys of texts that could not be encoded.
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
        self.embedder, self.name = embedder, name
        self.engine, self.store, self.progress = engine, store, progress
        self.failed: set[str] = set()
        self.encoded, self.seconds = 0, 0.0
        self.notices: list[str] = []
        self._role: Role = PLAIN
        self._truncated: dict[str, bool] = {}
        self._lacks: dict[str, bool] = {}

    @property
    def info(self) -> ModelInfo:
        """The embedder's own info."""
        return self.embedder.info

    @property
    def vocabulary(self) -> Vocabulary:
        """The embedder's own vocabulary: its vectors are available without the store."""
        return vocabulary_of(self.embedder)

    @contextlib.contextmanager
    def reading(self, role: Role) -> Iterator[None]:
        """Encode all texts in this context as texts of a role.

        This includes texts that a mitigator encodes to change them.
        """
        before, self._role = self._role, role
        try:
            yield
        finally:
            self._role = before

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`.

        Of a cross-encoder these are packed rows of the bytes of the texts: only `compare` uses it.

        Raises
        ------
        HarnessError
            If some of them cannot be encoded.
        """
        if self.info.kind == PAIRS:
            return packed([_row_of(text) for text in texts])
        return self._stored(role_keys(texts, self._role, self.info.readings))

    def _stored(self, keys: Sequence[str]) -> Vectors:
        """Return the vectors of keys; those that the store lacks are encoded."""
        with contextlib.suppress(KeyError):
            return self.store.get(keys)
        self.ensure(keys)
        with contextlib.suppress(KeyError):
            return self.store.get(keys)
        failed = [text_of_key(key) for key in self.store.missing(keys)]
        raise HarnessError(
            f"{len(failed)} of its texts could not be encoded; the first is {failed[0][:60]!r}"
        )

    @property
    def compare(self) -> Compare | None:
        """The embedder's own similarity of encoded texts; None if they are compared by cosine."""
        if self.info.kind == PAIRS:
            return self._compare_pairs
        has_own = self.info.kind in PACKED or ranks_by(self.embedder)
        return similarity_of(self.embedder) if has_own else None

    def _compare_pairs(
        self, queries: Vectors, documents: Vectors, *, paired: bool = False
    ) -> Floats:
        """Return the stored scores of pairs of texts; those that the store lacks are computed."""
        first, second = ([_text_of(row) for row in unpacked(rows)] for rows in (queries, documents))
        shape: tuple[int, ...] = (len(first),)
        if not paired:
            shape = len(first), len(second)
            first, second = [q for q in first for _ in second], second * len(first)
        return self._stored(pair_keys(first, second))[:, 0].astype(np.float64).reshape(shape)

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
        with all_threads(), self.stage(len(missing)) as advance:
            report = self.engine.encode(
                self.embedder, missing, self.store, on_done=advance, name=self.name
            )
        if self.info.hosted and len(self.store.files.names()) > MANY_SEGMENTS:
            pruning.merge(self.store)  # every answer was written as a segment
        self.seconds += time.monotonic() - started
        self.encoded += report.n_texts
        self.failed |= report.failed.keys()
        if report.failed and len(self.store.missing(keys)) == len(set(keys)):
            key, reason = next(iter(report.failed.items()))
            raise ModelError(
                f"model '{self.info.name}' failed on {len(report.failed)} texts; "
                f"the first is '{text_of_key(key)[:60]}': {reason}"
            )
        by_reason: dict[str, list[str]] = {}
        for key, reason in report.failed.items():
            by_reason.setdefault(reason, []).append(text_of_key(key))
        for reason, failed in by_reason.items():
            more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
            self.notices.append(f"not encoded: {failed[0][:60]!r}{more}: {reason}")

    def stage(self, total: int) -> contextlib.AbstractContextManager[Advance]:
        """Begin to show the encoding of some texts."""
        units = "pairs" if self.info.kind == PAIRS else "texts"
        return self.progress.stage(f"{self.info.name}: encoding", total, units)

    def ranks(self, words: Sequence[str]) -> Sequence[int] | None:
        """Return the rank of each word by frequency; None if the embedder does not state it."""
        ranks = getattr(self.embedder, "ranks", None)
        if not callable(ranks):
            return None
        try:
            by_word: Sequence[int] | None = ranks(words)
        except PLUGIN_ERRORS:  # scores do not depend on this
            return None
        return by_word

    def unlike(self, words: Sequence[str]) -> str | None:
        """Return why the embedder lacks most of `words`; None if it does not state it."""
        unlike = getattr(self.embedder, "unlike", None)
        if not callable(unlike):
            return None
        try:
            reason: str | None = unlike(words)
        except PLUGIN_ERRORS:  # scores do not depend on this
            return None
        return reason

    def lacks(self, words: Sequence[str]) -> list[bool]:
        """Return whether the embedder does not know each word, as far as it says."""
        new = [word for word in dict.fromkeys(words) if word not in self._lacks]
        keys = role_keys(new, PLAIN, self.info.readings)
        self._lacks.update(zip(new, without_vector(self.embedder, keys), strict=True))
        return [self._lacks[word] for word in words]

    def truncated(self, texts: Sequence[str]) -> list[bool] | None:
        """Return whether the embedder truncates each text; None if it does not state it."""
        truncated = getattr(self.embedder, "truncated", None)
        if not callable(truncated):
            return None
        keys = role_keys(texts, self._role, self.info.readings)
        new = [key for key in dict.fromkeys(keys) if key not in self._truncated]
        try:
            for group in by_role(new, self.info.readings):
                answers = map(bool, truncated(group.texts, **group.arguments))
                self._truncated.update(zip(group.keys(new), answers, strict=True))
        except PLUGIN_ERRORS:  # scores do not depend on this
            return None
        return [self._truncated[key] for key in keys]
