"""An embedder that reads from the store, and has encoded what the store lacks.

A text that could not be encoded is not tried again by the same object, which lives for one run.
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
    embedder, name
        The embedder, and the name that it was made from, if any.
    engine
        Where encoding runs.
    store
        Where vectors lie.
    progress
        Where to show progress.
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
        """The embedder's own: its vectors are at hand as they are, so none goes to the store."""
        return vocabulary_of(self.embedder)

    def ensure(self, texts: Sequence[str]) -> None:
        """Encode those of `texts` that the store lacks and that have not failed yet.

        Raises
        ------
        ModelError
            If none of `texts` has a vector, now or from before, since the model fails on all.
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
            text, why = next(iter(report.failed.items()))
            raise ModelError(
                f"model '{self.info.name}' failed on {len(report.failed)} texts, "
                f"the first of them '{text[:60]}': {why}"
            )
        by_reason: dict[str, list[str]] = {}
        for text, why in report.failed.items():
            by_reason.setdefault(why, []).append(text)
        for why, lost in by_reason.items():
            more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
            self.notices.append(f"not encoded: {lost[0][:60]!r}{more}: {why}")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`.

        Raises
        ------
        HarnessError
            If some cannot be encoded.
        """
        self.ensure(texts)
        try:
            return self.store.get(texts)
        except KeyError:
            lost = self.store.missing(texts)
            raise HarnessError(
                f"{len(lost)} of its texts could not be encoded, the first is {lost[0][:60]!r}"
            ) from None

    def truncated(self, texts: Sequence[str]) -> list[bool] | None:
        """Return whether the embedder cuts each text for its length; None if it does not say."""
        tell = getattr(self.embedder, "truncated", None)
        if not callable(tell):
            return None
        new = [text for text in dict.fromkeys(texts) if text not in self._truncated]
        if new:
            try:
                self._truncated.update(zip(new, map(bool, tell(new)), strict=True))
            except Exception:  # a model may raise anything, and a score does not hang on this
                return None
        return [self._truncated[text] for text in texts]
