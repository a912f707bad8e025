"""Joins the facts of a model's card with those of its files; the files take precedence."""

from __future__ import annotations

import dataclasses
from typing import Any

from harness.embedder import Card, Kind, ModelInfo


def describe(
    card: Card | None, *, name: str, kind: Kind, fingerprint: str, **file_facts: Any
) -> ModelInfo:
    """Return the `ModelInfo` of a loaded model.

    Parameters
    ----------
    card
        Published facts; None for none.
    name, kind, fingerprint
        See `harness.embedder.ModelInfo`.
    **file_facts
        Further fields, read from the files; None where the files do not say.
    """
    facts = (
        {} if card is None else {f.name: getattr(card, f.name) for f in dataclasses.fields(card)}
    )
    facts.update({key: value for key, value in file_facts.items() if value is not None})
    return ModelInfo(**{**facts, "name": name, "kind": kind, "fingerprint": fingerprint})
