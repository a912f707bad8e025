"""The check that a concept has the fields that a mitigator needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from harness.arrays import Floats, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import NotApplicable
from harness.letters import lower


def require(
    concept: Concept | None, field: Callable[[Concept], object], requirement: str
) -> Concept:
    """Return the concept if it has a field that a mitigator needs.

    Parameters
    ----------
    concept
        The concept that a mitigator is fitted on.
    field
        Returns the field of a concept; an empty one is missing.
    requirement
        Mitigator and field, for the error: `leace needs definitional_pairs`.

    Raises
    ------
    NotApplicable
        If there is no concept, or the field is empty.
    """
    if concept is None:
        raise NotApplicable(f"{requirement}; no concept is given")
    if not field(concept):
        raise NotApplicable(f"{requirement}; concept '{concept.name}' has none")
    return concept


# Vectors of a concept's words, and which texts are such words.


_AT_ONCE = 2048  # texts
SAME_CASE = 1e-5  # the vectors that an encoder gives for the same text differ by about 1e-7


def with_lower_case(words: Iterable[str]) -> list[str]:
    """Return `words` as written, then in lower case, without duplicates."""
    words = list(words)
    return list(dict.fromkeys(words + [word.lower() for word in words]))


def look_up(embedder: Embedder, words: Sequence[str], *, unit: bool) -> dict[str, Floats]:
    """Return the vectors of the `words` that the embedder knows, at length 1 if `unit`."""
    if not words:
        return {}
    rows = np.asarray(embedder.encode(words), dtype=np.float64)
    if unit:
        rows = unit_rows(rows)
    return {
        word: row
        for word, row in zip(words, rows, strict=True)
        if np.isfinite(row).all() and row.any()
    }


def ignores_case(vectors: Mapping[str, Floats], words: Iterable[str]) -> bool:
    """Say whether all known `words` have the same vector in lower case."""
    return all(
        np.allclose(vectors[word], vectors.get(word.lower(), np.inf), rtol=0, atol=SAME_CASE)
        for word in words
        if word != word.lower() and word in vectors
    )


def find(
    texts: Sequence[str], keys: Collection[str], *, ignoring_case: bool, language: str = ""
) -> dict[int, str]:
    """Return the `texts` that are in `keys`, by index: as written, else in lower case.

    Parameters
    ----------
    texts
        Texts to look up; hundreds of thousands take a few hundredths of a second.
    keys
        Words of the concept, in lower case if `ignoring_case`.
    ignoring_case
        Whether to look up texts in lower case only.
    language
        The language whose lower case it is.
    """
    matches: dict[int, str] = {}
    known = frozenset(keys)
    for start in range(0, len(texts), _AT_ONCE):
        part = texts[start : start + _AT_ONCE]
        joined = "".join(part)
        if lower(joined, language) == joined:  # one call says so of all: most are in lower case
            if not known.isdisjoint(part):
                matches |= {i: text for i, text in enumerate(part, start) if text in known}
            continue
        lowered = [lower(text, language) for text in part]
        if not known.isdisjoint(lowered):
            matches |= {i: text for i, text in enumerate(lowered, start) if text in known}
        if not ignoring_case and not known.isdisjoint(part):
            matches |= {i: text for i, text in enumerate(part, start) if text in known}
    return matches
