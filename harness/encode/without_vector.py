"""Which texts a model has no vector for, so that a row of NaN is right and is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.encode import roles
from harness.errors import PLUGIN_ERRORS

if TYPE_CHECKING:
    from harness.embedder import Embedder


def without_vector(embedder: Embedder, keys: Sequence[str]) -> list[bool]:
    """Return whether an embedder has no vector for the text of each key.

    A word embedder has none for a word that it gives a row of NaN. A text encoder says it with its
    method `lacks`. Without that, each text has a vector, and a row of NaN is a fault that may pass.
    """
    if embedder.info.kind == "word":
        return [True] * len(keys)
    lacks = getattr(embedder, "lacks", None)
    if not callable(lacks) or not keys:
        return [False] * len(keys)
    answers = [False] * len(keys)
    try:
        for group in roles.grouped(keys, embedder.info.readings):
            for i, lacking in zip(
                group.positions, lacks(group.texts, **group.arguments), strict=True
            ):
                answers[i] = bool(lacking)
    except PLUGIN_ERRORS:
        return [False] * len(keys)
    return answers
