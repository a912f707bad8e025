"""The check that a mitigator's concept has what its fit reads."""

from __future__ import annotations

from collections.abc import Callable

from harness.concept import Concept
from harness.errors import NotApplicable


def needed(concept: Concept | None, part: Callable[[Concept], object], told: str) -> Concept:
    """Return the concept, which has what `part` gives of it.

    Parameters
    ----------
    concept
        What a mitigator is to be fitted on.
    part
        Gives what is needed of it.
    told
        Who needs what, for the error: `leace needs definitional_pairs`.

    Raises
    ------
    NotApplicable
        If there is no concept, or it has nothing of that part.
    """
    if concept is None:
        raise NotApplicable(f"{told}; no concept is given")
    if not part(concept):
        raise NotApplicable(f"{told}; '{concept.name}' has none")
    return concept
