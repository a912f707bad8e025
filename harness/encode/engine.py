"""What an engine is: where encoding runs. Engines are plugins (`harness.plugins.engines`).

The loop over batches that all engines share is in `harness.encode.batches`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.embedder import Embedder
    from harness.store.store import Store

OnDone = Callable[[int], None]
"""Called with the number of texts that were done since the last call."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What an engine did.

    Parameters
    ----------
    n_texts
        Number of texts that now have a vector.
    n_batches
        Number of encoded batches.
    n_halvings
        How often a batch did not fit into memory and was halved.
    seconds
        Wall-clock time.
    failed
        The reason for each text that could not be encoded.
    batch_tokens
        Token budget of a batch after all halvings.
    """

    n_texts: int = 0
    n_batches: int = 0
    n_halvings: int = 0
    seconds: float = 0.0
    batch_tokens: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)


class Engine(Protocol):
    """Runs the encoding on some devices.

    An engine is created with a list of devices. Its other options are written after its name. If it
    has a method `close`, that is called when the run ends.
    """

    devices: Sequence[str]

    def encode(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        store: Store,
        *,
        on_done: OnDone,
        name: str | None,
    ) -> Report:
        """Encode `texts` into the store.

        The process that has the model calls `harness.encode.admission.admit` before the first
        vector is stored.

        Parameters
        ----------
        embedder
            The embedder.
        texts
            Distinct texts that the store does not have.
        store
            Where the vectors are written.
        on_done
            Called with the number of texts that were done since the last call, failed ones too.
        name
            The name that the embedder was made from, so that another process can make its own
            copy; None if the embedder was given as an object.
        """
        ...
