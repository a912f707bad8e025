"""What the driver and its workers say to each other: units out; reports and troubles in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from harness.encode.engine import Report


@dataclass(frozen=True)
class Unit:
    """Texts to encode in one step.

    Parameters
    ----------
    texts
        The texts.
    suspect
        Whether the texts may kill the process; earlier vectors are then written first.
    """

    texts: Sequence[str]
    suspect: bool = False


@dataclass(frozen=True)
class Ready:
    """The embedder has been made."""


@dataclass(frozen=True)
class Unusable:
    """The embedder cannot be made, or the store not be opened, for this reason."""

    reason: str


@dataclass(frozen=True)
class Raised:
    """The embedder raised a HarnessError: it cannot encode at all."""

    reason: str


@dataclass(frozen=True)
class Notes:
    """All vectors are written; the embedder's notes, which are printed when the run ends."""

    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Unwritable:
    """The store cannot be written, for this reason."""

    reason: str


@dataclass(frozen=True)
class Died:
    """The worker ended without a word, for this reason; the driver is told by its engine."""

    reason: str


Message: TypeAlias = Ready | Unusable | Report | Raised | Notes | Unwritable | Died
