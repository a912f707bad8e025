"""An embedder that reads vectors from the store, and encodes texts that the store does not have.

One object serves one run. It does not try a text again that could not be encoded.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.arrays import Vectors
from harness.embedder import Embedder, ModelInfo
from harness.encode.engine import Engine
from harness.errors import HarnessError, ModelError
from harness.progress import Progress
from harness.store.store import Store
from harness.vocabulary import Vocabulary, vocabulary_of


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
    encoded
        Number of texts that were encoded so far.
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
        self.encoded = 0
        self.notices: list[str] = []
        self._failed: set[str] = set()
        self._truncated: dict[str, bool] = {}

    @property
    def info(self) -> ModelInfo:
        """The embedder's own info."""
        return self.embedder.info

    @property
    def vocabulary(self) -> Vocabulary:
        """The embedder's own vocabulary: its vectors are available without the store."""
        return vocabulary_of(self.embedder)

    def ensure(self, texts: Sequence[str]) -> None:
        """Encode those of `texts` that are not in the store and have not failed yet.

        Raises
        ------
        ModelError
            If the model fails and none of `texts` has a vector.
        """
        missing = [text for text in self.store.missing(texts) if text not in self._failed]
        if not missing:
            return
        with self.progress.stage(f"{self.info.name}: encoding", len(missing), "texts") as advance:
            report = self.engine.encode(
                self.embedder, missing, self.store, on_done=advance, name=self.name
            )
        self.encoded += report.n_texts
        self._failed |= report.failed.keys()
        if report.failed and len(self.store.missing(texts)) == len(set(texts)):
            text, reason = next(iter(report.failed.items()))
            raise ModelError(
                f"model '{self.info.name}' failed on {len(report.failed)} texts; "
                f"the first is '{text[:60]}': {reason}"
            )
        by_reason: dict[str, list[str]] = {}
        for text, reason in report.failed.items():
            by_reason.setdefault(reason, []).append(text)
        for reason, failed in by_reason.items():
            more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
            self.notices.append(f"not encoded: {failed[0][:60]!r}{more}: {reason}")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`.

        Raises
        ------
        HarnessError
            If some of them cannot be encoded.
        """
        self.ensure(texts)
        try:
            return self.store.get(texts)
        except KeyError:
            failed = self.store.missing(texts)
            raise HarnessError(
                f"{len(failed)} of its texts could not be encoded; the first is {failed[0][:60]!r}"
            ) from None

    def truncated(self, texts: Sequence[str]) -> list[bool] | None:
        """Return whether the embedder truncates each text; None if it does not say."""
        truncated = getattr(self.embedder, "truncated", None)
        if not callable(truncated):
            return None
        new = [text for text in dict.fromkeys(texts) if text not in self._truncated]
        if new:
            try:
                self._truncated.update(zip(new, map(bool, truncated(new)), strict=True))
            except Exception:  # a model may raise anything, and scores do not depend on this
                return None
        return [self._truncated[text] for text in texts]
