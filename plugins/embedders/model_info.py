"""Joins what a card says of a model with what its files say; files win where both speak."""

from __future__ import annotations

import dataclasses
from typing import Any

from harness.embedder import Card, Kind, ModelInfo


def describe(
    card: Card | None, *, name: str, kind: Kind, fingerprint: str, **found: Any
) -> ModelInfo:
    """Return the `ModelInfo` of a model at hand.

    Parameters
    ----------
    card
        Published facts, if there are any.
    name, kind, fingerprint
        See `harness.embedder.ModelInfo`.
    **found
        Further fields that were read from the files; None where a file does not say.
    """
    facts = (
        {} if card is None else {f.name: getattr(card, f.name) for f in dataclasses.fields(card)}
    )
    facts.update({key: value for key, value in found.items() if value is not None})
    return ModelInfo(**{**facts, "name": name, "kind": kind, "fingerprint": fingerprint})
