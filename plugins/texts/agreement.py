"""How well mentions that were found agree with those that a person marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.plugins.texts.mentions import Kind, Mention


@dataclass(frozen=True)
class Agreement:
    """Counts of mentions, over texts; a mention agrees where it begins and ends at the same place.

    Parameters
    ----------
    marked
        Mentions that were marked.
    found
        Mentions that were found, of any kind.
    both
        Marked mentions that were found, as whatever kind.
    kind
        Those of them that were found as what they are.
    missed
        Names of marked mentions that were not found, in order.
    wrong
        Names of mentions that were found and not marked, in order.
    """

    marked: int
    found: int
    both: int
    kind: int
    missed: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Share of what was found that is marked, in [0, 1]; NaN if nothing was found."""
        return 1 - len(self.wrong) / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        """Share of what is marked that was found, in [0, 1]; NaN if nothing is marked."""
        return self.both / self.marked if self.marked else float("nan")


def agreement(
    marked: Sequence[Sequence[Mention]],
    found: Sequence[Sequence[Mention]],
    kind: Kind | None = None,
) -> Agreement:
    """Return how mentions found in texts agree with those marked in the same texts.

    Parameters
    ----------
    marked, found
        For each text its mentions, none overlapping another.
    kind
        Count marked mentions of this kind and found mentions of this kind only; a marked one that
        was found as another kind is still found. All kinds by default.
    """
    right = correct = there = 0
    n_marked = 0
    missed: list[str] = []
    wrong: list[str] = []
    for own, others in zip(marked, found, strict=True):
        kinds = {(mention.start, mention.end): mention.kind for mention in others}
        spans = {(mention.start, mention.end) for mention in own}
        wanted = [mention for mention in own if kind in (None, mention.kind)]
        n_marked += len(wanted)
        for mention in wanted:
            as_what = kinds.get((mention.start, mention.end))
            right += as_what is not None
            correct += as_what == mention.kind
            missed += [] if as_what else [mention.text]
        for mention in others:
            if kind in (None, mention.kind):
                there += 1
                wrong += [] if (mention.start, mention.end) in spans else [mention.text]
    return Agreement(n_marked, there, right, correct, tuple(missed), tuple(wrong))
