"""Which model answers behind a hosted name: its vectors of a few fixed texts, the canaries.

A hosted model is known by its address and name only, and its provider may put another model behind
them. So a run first encodes the canaries, in one request, and compares them with those of earlier
runs, which `model.json` of the model's store holds. If they are the same, nothing changes. If not,
the model that answers is a variant with a fingerprint of its own, and so a store and records of its
own. A later run finds the variant again by its canaries.

The main process decides; other processes get the fingerprint. If the model cannot be reached, the
last variant counts, so that a run whose texts are all stored needs no network.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.digest import digest
from harness.embedder import Embedder, with_info
from harness.errors import DiskError, HarnessError, one_line
from harness.folders import Place
from harness.store import model_file
from harness.store.store import Store

if TYPE_CHECKING:
    import numpy as np

    Canaries: TypeAlias = "Mapping[str, np.ndarray[Any, np.dtype[np.float32]]]"
    """Vectors by text."""

TEXTS = (
    "the nurse asked the engineer for a key",
    "Врач читает письмо у окна.",
    "医生在厨房里唱歌。",
    "3.14 kg of ‘naïve’ e-mails, 1999",
)
"""The fixed texts. Who changes one makes that text unknown: it is compared in the next run."""
SAME = 0.999
"""Least cosine of two vectors of one text by one model. Answers of a hosted model differ by 1e-4
from call to call."""
VARIANT = "-variant-"
"""Stands in the fingerprint of a variant, between the model's own and a digest."""
_KNOWN = "canaries"
_LAST = "last_variant"


def settle(
    embedder: Embedder, folder: Place, say: Callable[[str], None] | None = None
) -> list[str]:
    """Find out which variant of a hosted model answers, and give the embedder its fingerprint.

    Does nothing for other models.

    Parameters
    ----------
    embedder
        The model, which is changed.
    folder
        Folder of all stores.
    say
        Shows a line while the model makes the run wait.

    Returns
    -------
    list of str
        Lines for the user: that another model answers, or that none could be asked.

    Raises
    ------
    ModelError
        If the canaries have vectors of bytes; see `harness.encode.admission`.
    """
    info = embedder.info
    if not info.hosted:
        return []
    if say is not None:
        getattr(embedder, "tell", lambda _: None)(say)
    known = _Known.of(folder, _own(info.fingerprint))
    getattr(embedder, "watch", lambda *_: None)(None, None)  # an object of an earlier run
    seen = _encoded(embedder)
    if isinstance(seen, str):
        _become(embedder, known.last)
        return [f"{info.name}: not compared with earlier runs ({seen}); those vectors are used"]
    _check_numbers(info.name, seen)
    fingerprint = known.find(seen)
    notices = []
    if fingerprint is None:
        fingerprint = known.own + VARIANT + digest(_written(seen))
        notices.append(
            f"{info.name}: another model answers than in earlier runs ({known.difference(seen)}); "
            f"it gets vectors and records of its own, with the fingerprint {fingerprint}"
        )
    elif fingerprint != known.last:
        notices.append(
            f"{info.name}: another model answers than in the last run, one of an earlier run; the "
            f"vectors and records of that run are used, with the fingerprint {fingerprint}"
        )
    with contextlib.suppress(DiskError):  # a read-only store can still be read
        known.keep(fingerprint, seen, {"name": info.name, "kind": info.kind})
    _become(embedder, fingerprint)
    _watch(embedder, seen)
    return notices


def remember(embedder: Embedder, folder: Place) -> None:
    """Give a hosted model the fingerprint of the variant of the last run, without a request."""
    if embedder.info.hosted:
        _become(embedder, _Known.of(folder, _own(embedder.info.fingerprint)).last)


def follow(embedder: Embedder, folder: Place, fingerprint: str) -> None:
    """Give a hosted model the fingerprint that the main process found, if it is one of its own."""
    own = _own(embedder.info.fingerprint)
    if embedder.info.hosted and (fingerprint == own or fingerprint.startswith(own + VARIANT)):
        canaries = _Known.of(folder, own).variants.get(fingerprint)
        _become(embedder, fingerprint)
        if canaries:
            _watch(embedder, canaries)


def cosine(a: Any, b: Any) -> float:
    """Return the cosine of two vectors; 0 if their lengths differ, or one has no direction."""
    import numpy as np

    if np.shape(a) != np.shape(b):
        return 0.0
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norms if norms > 0 else 0.0


def is_same(a: Any, b: Any) -> bool:
    """Return whether two vectors of one text come from one model."""
    return cosine(a, b) >= SAME


@dataclass(frozen=True)
class _Known:
    """What is known of the variants of a model.

    Parameters
    ----------
    store
        The store of the model's own fingerprint.
    variants
        Canaries by fingerprint, the first variant first.
    last
        Fingerprint of the variant of the last run.
    """

    store: Store
    variants: Mapping[str, Canaries]
    last: str

    @classmethod
    def of(cls, folder: Place, fingerprint: str) -> _Known:
        store = Store(folder, fingerprint)
        facts = model_file.read(store.files)
        stated = facts.get(_KNOWN)
        variants = {
            str(variant): canaries
            for variant, written in (stated.items() if isinstance(stated, dict) else ())
            if variant == fingerprint or str(variant).startswith(fingerprint + VARIANT)
            if (canaries := _read(written))
        }
        last = facts.get(_LAST)
        return cls(store, variants, last if last in variants else fingerprint)

    @property
    def own(self) -> str:
        """The model's own fingerprint."""
        return self.store.fingerprint

    def find(self, seen: Canaries) -> str | None:
        """Return the fingerprint of the variant with these canaries; None if it is a new one."""
        same = [
            fingerprint
            for fingerprint, canaries in self.variants.items()
            if (shared := canaries.keys() & seen.keys())
            and all(is_same(canaries[text], seen[text]) for text in shared)
        ]
        if same:
            return self.last if self.last in same else same[0]
        if self.own not in self.variants and self.store.dimensions in (None, _width(seen)):
            return self.own  # its vectors may be from before there were canaries
        if not any(canaries.keys() & seen.keys() for canaries in self.variants.values()):
            return self.last if self.variants else None
        return None

    def difference(self, seen: Canaries) -> str:
        """Return how canaries differ from those of the last run, or else of the first variant."""
        canaries = self.variants.get(self.last) or next(iter(self.variants.values()), {})
        old = _width(canaries) if canaries else self.store.dimensions
        if old != _width(seen):
            return f"{_width(seen)} dimensions instead of {old}"
        shared = canaries.keys() & seen.keys()
        least = min((cosine(canaries[text], seen[text]) for text in shared), default=0.0)
        return f"cosine {least:.3f} to their vectors of fixed texts"

    def keep(self, fingerprint: str, seen: Canaries, facts: Mapping[str, Any]) -> None:
        """Write the canaries of a variant; what is known of it already stays as it is."""
        content = {
            variant: _written({**seen, **canaries} if variant == fingerprint else canaries)
            for variant, canaries in ({fingerprint: seen} | dict(self.variants)).items()
        }
        own = {"fingerprint": self.store.fingerprint, **facts}
        model_file.update(self.store.files, {**own, _KNOWN: content, _LAST: fingerprint})


def _encoded(embedder: Embedder) -> Canaries | str:
    """Return the canaries of a model, without those that it refuses; or why it has none."""
    from harness.encode.one_batch import Failure, attempt

    plain: Embedder = getattr(embedder, "unquantized", embedder)
    try:
        result = attempt(plain, TEXTS)
    except HarnessError as error:
        return one_line(error)
    if isinstance(result, Failure):
        return result.reason
    canaries = {
        text: vector
        for i, (text, vector) in enumerate(zip(TEXTS, result.vectors, strict=True))
        if i not in result.reasons
    }
    return canaries or result.reasons[0]


def _check_numbers(name: str, canaries: Canaries) -> None:
    import numpy as np

    from harness.encode.admission import check_numbers

    rows = [row for row in canaries.values() if np.isfinite(row).all()]
    if rows:
        check_numbers(name, np.stack(rows))


def _width(canaries: Canaries) -> int:
    return len(next(iter(canaries.values())))


def _own(fingerprint: str) -> str:
    """Return the fingerprint of a model without that of its variant."""
    return fingerprint.partition(VARIANT)[0]


def _become(embedder: Embedder, fingerprint: str) -> None:
    if embedder.info.fingerprint != fingerprint:
        with_info(embedder, lambda info: dataclasses.replace(info, fingerprint=fingerprint))


def _watch(embedder: Embedder, canaries: Canaries) -> None:
    text = next(iter(canaries))
    getattr(embedder, "watch", lambda *_: None)(text, canaries[text])


def _written(canaries: Canaries) -> dict[str, str]:
    return {
        text: base64.b64encode(vector.astype("<f4").tobytes()).decode()
        for text, vector in canaries.items()
    }


def _read(written: object) -> Canaries:
    """Return canaries from a file; those that are damaged are left out."""
    import numpy as np

    canaries = {}
    for text, vector in written.items() if isinstance(written, dict) else ():
        with contextlib.suppress(TypeError, ValueError):
            row = np.frombuffer(base64.b64decode(vector, validate=True), dtype="<f4")
            if row.size and np.isfinite(row).all():
                canaries[str(text)] = row
    return canaries
