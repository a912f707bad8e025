"""The engine `local` encodes in this process, on one device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.embedder import Embedder
from harness.encode import admission
from harness.encode.batches import batch_size, encode_batches
from harness.encode.engine import OnDone, Report
from harness.errors import UsageError
from harness.store.store import Store


class LocalEngine:
    """Encodes in this process.

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
        self.devices, self.measure = tuple(devices), measure
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


def default_device() -> str:
    """Return the kind of device that a model uses by default."""
    if not Path("/dev/nvidiactl").exists():
        return "cpu"  # without importing torch
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
