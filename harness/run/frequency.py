"""How frequent the words of a score are, from their places in the vocabulary of a word embedder.

Vectors depend on frequency, so that scores of bias do, even where there is no bias: Valentini,
Rosati, Fernandez Slezak and Altszyler (2022), The undesirable dependence on frequency of gender
bias metrics based on word embeddings. They show the effect and give no threshold; the two below are
the harness's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from harness.results.record import Record
from harness.results.record_parts import Frequency
from harness.task.task import Measurement

Ranks = Callable[[Sequence[str]], Sequence[int] | None]
"""Returns the rank of each word, 1 for the most frequent one and 0 if it is unknown, or None."""
FREQUENT = 50_000
"""Words of greater rank are rare. Bolukbasi et al. (2016) study the 50,000 most frequent words."""
UNLIKE = 3.0
"""Contrasted sets whose typical ranks differ by this factor, about half an order of magnitude, are
unlike."""
SHOWN = 4
"""Most tasks that a notice names."""


def frequency_of(measurement: Measurement, ranks: Ranks) -> Frequency | None:
    """Return the typical rank of each input; None if the order of the vocabulary is unknown."""
    typical: dict[str, float] = {}
    rare: dict[str, int] = {}
    for parameter, input_ in measurement.inputs.items():
        if input_.texts is None or input_.vocabulary:
            continue
        words = list(dict.fromkeys(input_.texts))
        of_words = ranks(words)
        if of_words is None:
            return None
        known = {word: rank for word, rank in zip(words, of_words, strict=True) if rank}
        if known:
            typical[parameter] = math.exp(fmean(map(math.log, known.values())))
        rare |= {word: rank for word, rank in known.items() if rank > FREQUENT}
    contrast = measurement.metric.contrast
    pairs = [] if contrast is None else [contrast.sides, contrast.towards]
    return Frequency(
        ranks={parameter: round(rank) for parameter, rank in typical.items()},
        unlike={
            " and ".join(pair): round(ratio, 1)
            for pair in pairs
            if len(pair) == 2 and set(pair) <= set(typical)
            if (ratio := _ratio(*(typical[name] for name in pair))) >= UNLIKE
        },
        rare=tuple(rare),
    )


def notices(records: Iterable[Record], model: str) -> list[str]:
    """Return what the user should know of the frequency of the words of bias tasks."""
    unlike: dict[str, str] = {}
    rare: dict[str, str] = {}
    for record in records:
        frequency = record.coverage.frequency
        if frequency is None or record.task.measures != "bias":
            continue
        if frequency.unlike:
            unlike[record.task.name] = f"{max(frequency.unlike.values()):g} ×"
        if frequency.rare:
            rare[record.task.name] = f"{len(frequency.rare)}"
    lines = []
    if unlike:
        lines.append(
            f"{model}: contrasted words differ in frequency in {_listed(unlike)}: "
            "part of the association may be frequency (coverage.frequency)"
        )
    if rare:
        lines.append(
            f"{model}: words that are not among the {FREQUENT:,} most frequent ones in "
            f"{_listed(rare)}: their vectors are less certain (coverage.frequency)"
        )
    return lines


def _ratio(first: float, second: float) -> float:
    return max(first, second) / min(first, second)


def _listed(by_task: dict[str, str]) -> str:
    named = [f"{task} ({value})" for task, value in list(by_task.items())[:SHOWN]]
    more = len(by_task) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
