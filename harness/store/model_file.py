"""`model.json`, the file beside the segments of a store: what is known about its model.

It is one JSON object. `Store.describe` writes the fingerprint, the name, the kind, the revision and
the number of dimensions; others may keep facts of their own under other keys. A file that is
missing, damaged or too large holds no facts: the store then knows its vectors from the segments,
and the next update writes the file again. Two processes that update it at once may lose the facts
of one of them, so nothing may stand here alone that cannot be found again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from harness import limits

DIMENSIONS = "dimensions"
"""Key of the number of dimensions of the store's vectors."""
RULE = "rule"
"""Key of the rule by which the fingerprint was made; older files state none."""
CURRENT_RULE = 2
"""2: every file below a model's folder counts, and all state of an object."""


class Place(Protocol):
    """Where a model file lies, such as the folder of a store."""

    def read_model(self) -> bytes | None:
        """Return the content of the file; None if there is none."""
        ...

    def write_model(self, content: bytes) -> None:
        """Write the file atomically; DiskError if it cannot be written."""
        ...


def read(place: Place) -> dict[str, Any]:
    """Return the facts; none if the file is missing or damaged."""
    content = place.read_model()
    if content is None or len(content) > limits.MODEL_FILE_BYTES:
        return {}
    try:
        facts = json.loads(content)
    except (ValueError, RecursionError, MemoryError):
        return {}
    return facts if isinstance(facts, dict) else {}


def update(place: Place, facts: Mapping[str, Any]) -> None:
    """Set facts and keep the others; nothing is written if all are equal.

    Values are JSON values; others are written as their text.

    Raises
    ------
    DiskError
        If the file cannot be written.
    """
    before = read(place)
    # As they will be read again, so that equal facts compare equal.
    after = before | json.loads(json.dumps(dict(facts), default=str))
    if after != before:
        # Escapes keep any text, also halves of a character that UTF-8 cannot hold.
        place.write_model((json.dumps(after, indent=2) + "\n").encode("ascii"))


def dimensions(place: Place) -> int | None:
    """Return the number of dimensions that the file states; None if it states none."""
    stated = read(place).get(DIMENSIONS)
    is_number = isinstance(stated, int) and not isinstance(stated, bool) and stated > 0
    return stated if is_number else None
