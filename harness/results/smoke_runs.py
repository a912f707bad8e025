"""Sets the records of smoke runs (`--limit`) aside: their scores are never ranked or compared."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results.record import Record


def set_aside(records: Sequence[Record]) -> tuple[list[Record], str]:
    """Return the records of whole tasks, and a line on the others, empty if there are none."""
    whole = [record for record in records if record.limit is None]
    n = len(records) - len(whole)
    if not n:
        return whole, ""
    noun = "1 record of a smoke run is" if n == 1 else f"{n} records of smoke runs are"
    return whole, f"{noun} set aside: --limit cut the tasks, so the scores mean nothing"
