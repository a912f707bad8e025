"""An embedder that reads from the store, and has encoded what the store lacks."""

from __future__ import annotations

from collections.abc import Sequence

from harness.arrays import Vectors
from harness.embedder import Embedder, ModelInfo
from harness.engine import Engine
from harness.errors import HarnessError
from harness.progress import Progress
from harness.store import Store


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

    @property
    def info(self) -> ModelInfo:
        """The embedder's own info."""
        return self.embedder.info

    def ensure(self, texts: Sequence[str]) -> None:
        """Encode those of `texts` that the store lacks."""
        missing = self.store.missing(texts)
        if not missing:
            return
        with self.progress.stage(f"{self.info.name}: encoding", len(missing), "texts") as advance:
            report = self.engine.encode(
                self.embedder, missing, self.store, on_done=advance, name=self.name
            )
        self.encoded += report.n_texts
        self.notices += [
            f"not encoded: {text[:60]!r}: {why}" for text, why in report.failed.items()
        ]

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
