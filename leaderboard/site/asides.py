"""What was set aside, grouped by its reason, for the command and for the page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from harness.leaderboard.claims.reading import Aside
from harness.leaderboard.claims.strict_json import LONGEST_REASON, in_one_line

EXAMPLES = 5
"""Most places that a group lists."""
GROUPS = 200
"""Most groups: a file of rubbish must not fill the page."""
OTHERS = "other reasons"
PLACES = 4
"""Parts of `results/MODEL/FINGERPRINT/RUN.jsonl`, which the page shows of an absolute path."""
_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|[0-9a-f]{8,}|-?\d+(\.\d+)?(e-?\d+)?")
"""Parts of a reason in which alike reasons differ: names, ids and numbers."""


@dataclass(frozen=True)
class Group:
    """Lines that were set aside for alike reasons.

    Parameters
    ----------
    reason
        The first of the reasons.
    count
        Number of lines.
    examples
        Places of the first lines: file and line.
    """

    reason: str
    count: int
    examples: tuple[str, ...]

    def line(self) -> str:
        """Return one line for the user."""
        more = f" ({self.count:,} alike, the first is shown)" if self.count > 1 else ""
        place = f"{self.examples[0]}: " if self.examples else ""
        return f"set aside: {place}{self.reason}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Return what the page shows."""
        examples = [_public(place) for place in self.examples]
        return {"reason": self.reason, "count": self.count, "examples": examples}


def grouped(aside: Iterable[Aside]) -> list[Group]:
    """Return what was set aside by reason, the most frequent first."""
    groups: dict[str, list[Aside]] = {}
    counts: dict[str, int] = {}
    for line in aside:
        key = _VARYING.sub("…", line.reason)[:LONGEST_REASON]
        if key not in groups and len(groups) >= GROUPS:
            key = OTHERS
        counts[key] = counts.get(key, 0) + 1
        examples = groups.setdefault(key, [])
        if len(examples) < EXAMPLES:
            examples.append(line)
    return [
        Group(
            reason=in_one_line(groups[key][0].reason) if key != OTHERS else key,
            count=counts[key],
            examples=tuple(in_one_line(line.place) for line in groups[key] if line.file),
        )
        for key in sorted(groups, key=lambda key: -counts[key])
    ]


def _public(place: str) -> str:
    """Return a place without folders of this machine, for the page."""
    path = PurePath(place)
    return "/".join(path.parts[-PLACES:]) if path.is_absolute() else place
