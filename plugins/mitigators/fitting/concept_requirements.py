"""The check that a concept has the fields that a mitigator needs."""

from __future__ import annotations

from collections.abc import Callable

from harness.concept import Concept
from harness.errors import NotApplicable


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
