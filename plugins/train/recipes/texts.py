"""The cells of a recipe's tables as texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from .summary import CellPart

HOLM = "*"
"""Marks a change whose p-value over the seeds is at most .05 after Holm's correction."""
ITEMS = "°"
"""Marks a change whose interval over the items of the task excludes 0."""
ALPHA = 0.05
NONE = "–"


@dataclass(frozen=True)
class Unit:
    """How numbers are written.

    Parameters
    ----------
    factor
        What they are multiplied with.
    digits
        Digits after the decimal point.
    """

    factor: float = 1
    digits: int = 3

    def number(self, number: float | None) -> str:
        """Return a number, or `–`."""
        if number is None:
            return NONE
        return f"{number * self.factor:z.{self.digits}f}".replace("-", "−")

    def signed(self, number: float | None) -> str:
        """Return a number with its sign, or `–`."""
        if number is None:
            return NONE
        return f"{number * self.factor:+z.{self.digits}f}".replace("-", "−")

    def interval(self, low: float | None, high: float | None) -> str:
        """Return an interval, or `–`."""
        if low is None or high is None:
            return NONE
        return f"[{self.number(low)}, {self.number(high)}]"

    def spread(self, values: Sequence[float | None]) -> str:
        """Return mean and standard deviation of the values that there are."""
        known = [value for value in values if value is not None]
        if not known:
            return NONE
        mean = self.number(fmean(known))
        return f"{mean} ± {self.number(stdev(known))}" if len(known) > 1 else mean

    def change(self, cell: CellPart) -> str:
        """Return the change of a cell with its interval over the seeds, and its marks."""
        change = cell.difference
        if change is None:
            return NONE
        text, interval = self.signed(change.mean), self.interval(change.low, change.high)
        marks = HOLM if change.p_holm is not None and change.p_holm <= ALPHA else ""
        if change.items is not None and (change.items.low > 0 or change.items.high < 0):
            marks += ITEMS
        return text + marks if interval == NONE else f"{text} {interval}{marks}"


PLAIN, HUNDRED = Unit(), Unit(100, 1)
"""Effect sizes as they are; scores of usefulness × 100, as the paper prints them."""
PERCENT = Unit(1, 1)


def p_value(p: float | None) -> str:
    """Return a p-value, or `–`."""
    return NONE if p is None else f"{p:.3f}"
