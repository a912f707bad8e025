"""Agreement of found mentions with the mentions that a person marked: precision and recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .mentions import Kind, Mention


@dataclass(frozen=True)
class Agreement:
    """Counts of mentions over texts. Two mentions match if start and end are equal.

    Parameters
    ----------
    marked
        Number of marked mentions.
    found
        Number of found mentions.
    matched
        Number of marked mentions that were found, with any kind.
    same_kind
        Number of marked mentions that were found with the same kind.
    missed
        Names of marked mentions that were not found, in order.
    spurious
        Names of found mentions that were not marked, in order.
    """

    marked: int
    found: int
    matched: int
    same_kind: int
    missed: tuple[str, ...]
    spurious: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Share of found mentions that are marked, in [0, 1]; NaN if none was found."""
        return 1 - len(self.spurious) / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        """Share of marked mentions that were found, in [0, 1]; NaN if none is marked."""
        return self.matched / self.marked if self.marked else float("nan")


def agreement(
    marked: Sequence[Sequence[Mention]],
    found: Sequence[Sequence[Mention]],
    kind: Kind | None = None,
) -> Agreement:
    """Return the agreement of found mentions with the marked mentions of the same texts.

    Parameters
    ----------
    marked, found
        The mentions of each text, without overlaps.
    kind
        Count only marked and found mentions of this kind. A marked mention that was found with
        another kind is still matched. By default all kinds are counted.
    """
    n_marked = n_found = matched = same_kind = 0
    missed: list[str] = []
    spurious: list[str] = []
    for marked_mentions, found_mentions in zip(marked, found, strict=True):
        marked_spans = {(mention.start, mention.end) for mention in marked_mentions}
        kinds = {(mention.start, mention.end): mention.kind for mention in found_mentions}
        for mention in marked_mentions:
            if kind in (None, mention.kind):
                n_marked += 1
                found_kind = kinds.get((mention.start, mention.end))
                matched += found_kind is not None
                same_kind += found_kind == mention.kind
                missed += [] if found_kind else [mention.text]
        for mention in found_mentions:
            if kind in (None, mention.kind):
                n_found += 1
                spurious += [] if (mention.start, mention.end) in marked_spans else [mention.text]
    return Agreement(n_marked, n_found, matched, same_kind, tuple(missed), tuple(spurious))
