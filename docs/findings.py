"""What mitigations do to words that they never saw: the answers, the table and the picture.

Every number is of `tables.sections`, as `harness eval` and `harness results show` print it: of each
model one comparison, whose intervals hold at once for all its mitigators.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.leaderboard.boards.board import RETAINED
from harness.names import NONE
from harness.plugins.validity.command import number
from harness.results import comparison, figures, formats, tables
from harness.results.ratios import LESS, MEANING, MORE
from harness.results.record import Record
from harness.results.verdict import Difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE = Path(__file__).parent / "figures" / "findings.svg"
KINDS = ("Word vectors", "Encoders", "Bags of words")
RESIDUAL = "residual"
"""Family of the tasks that ask what a classifier recovers."""
_GREY = "#767676"


@dataclass(frozen=True)
class Finding:
    """What a mitigator does to a model.

    Parameters
    ----------
    kind
        The kind of model, of `KINDS`.
    model, mitigator
        Their labels.
    bias, usefulness
        The changes from the model as it is, on words that the mitigator never saw.
    recovered
        Share of the words whose group a classifier finds, as the model is and mitigated; the mean
        over the tasks that both have, on all their words.
    meaning
        How far the model tells words apart that are female and male by definition, as it is and
        mitigated; 1 for the reference encoder.
    """

    kind: str
    model: str
    mitigator: str
    bias: Difference
    usefulness: Difference | None
    recovered: tuple[float, float] | None
    meaning: tuple[float, float] | None

    @property
    def holds(self) -> bool:
        """Whether the model is shown to be less biased."""
        return self.bias.verdict == LESS

    @property
    def loses_meaning(self) -> bool:
        """Whether what tells mother from father is lost, so that no board ranks the model."""
        return self.meaning is not None and self.meaning[1] < RETAINED


def findings(records: Iterable[Record]) -> list[Finding]:
    """Return what each mitigator does to each model, the strongest first within a model."""
    of_model: dict[str, list[Record]] = {}
    for record in records:
        if record.primary and not record.model.base:  # no other prompt
            of_model.setdefault(record.model.name, []).append(record)
    found: list[Finding] = []
    for model, of in of_model.items():
        if all(record.mitigator.name == NONE for record in of):
            continue
        by_measure = {section.measures: section for section in tables.sections(of)}
        if "bias" not in by_measure:
            continue
        bias, useful = by_measure["bias"], by_measure.get("usefulness")
        found += [
            Finding(
                kind=_kind(of[0]),
                model=model,
                mitigator=mitigator,
                bias=change,
                usefulness=useful.changes.get(mitigator) if useful else None,
                recovered=_recovered(of, mitigator),
                meaning=_meaning(of, mitigator),
            )
            for mitigator, change in bias.changes.items()
            if change is not None and mitigator not in bias.controls
        ]
    return sorted(found, key=lambda f: (KINDS.index(f.kind), f.model, f.bias.difference))


def _kind(record: Record) -> str:
    if record.model.name.startswith("bag-of-words:"):
        return KINDS[2]
    return KINDS[0] if record.model.kind == "word" else KINDS[1]


def _recovered(records: Iterable[Record], mitigator: str) -> tuple[float, float] | None:
    """Return what a classifier recovers without and with a mitigator."""
    values: dict[str, dict[str, float]] = {NONE: {}, mitigator: {}}
    for record in records:
        label = record.mitigator.label
        if record.task.family == RESIDUAL and label in values and record.value is not None:
            values[label][record.task.name] = record.value
    both = values[NONE].keys() & values[mitigator].keys()
    if not both:
        return None
    base, model = (statistics.fmean(values[of][task] for task in both) for of in values)
    return base, model


def _meaning(records: Iterable[Record], mitigator: str) -> tuple[float, float] | None:
    """Return how far a model tells mother from father without and with a mitigator."""
    of_meaning = [record for record in records if record.task.family == MEANING]
    base, model = (
        [record for record in of_meaning if record.mitigator.label == label]
        for label in (NONE, mitigator)
    )
    return comparison.judge(base, [model]).meaning if base and model else None


def table(found: Sequence[Finding]) -> str:
    """Return a line for each model and mitigator, in Markdown."""
    columns = ["model", "mitigator", "bias", "change", "verdict", "tests"]
    columns += ["usefulness, change", "a classifier finds", "mother from father"]
    lines = [
        [
            f.model,
            f.mitigator,
            f"{number(f.bias.base)} → {number(f.bias.model)}",
            _change(f.bias),
            _verdict(f.bias),
            str(f.bias.tasks),
            f"{_change(f.usefulness)} {_verdict(f.usefulness)}" if f.usefulness else "–",
            _both(f.recovered),
            _both(f.meaning),
        ]
        for f in found
    ]
    return formats.markdown_grid(columns, lines)


def _change(change: Difference) -> str:
    return f"{change.shown} {change.ends}" if change.ends else change.shown


def _verdict(change: Difference) -> str:
    lacks = change.lacks or change.reason
    return f"{change.words} ({lacks})" if lacks else change.words


def _both(values: tuple[float, float] | None) -> str:
    return "–" if values is None else " → ".join(map(number, values))


def answers(found: Sequence[Finding]) -> str:
    """Return a line for each kind of model: what holds, how sure it is, its price, what remains."""
    lines = [_answer(kind, of) for kind in KINDS if (of := [f for f in found if f.kind == kind])]
    return "\n".join(f"- {line}" for line in lines) + "\n"


def _answer(kind: str, found: Sequence[Finding]) -> str:
    n_models = len({f.model for f in found})
    by_mitigator: dict[str, list[Finding]] = {}
    for f in found:
        by_mitigator.setdefault(f.mitigator, []).append(f)
    holding = {
        name: [f for f in of if f.holds]
        for name, of in by_mitigator.items()
        if any(f.holds for f in of) and not any(f.bias.verdict == MORE for f in of)
    }
    if not holding:
        least = min(
            (f.bias.detectable for f in found if f.bias.detectable is not None), default=None
        )
        would = (
            "" if least is None else f"; {number(least)} is the least that would have been found"
        )
        return f"**{kind}**: no mitigation was shown to make a model less biased{would}."
    most = max(f.bias.tasks for f in found)
    few = {name for name, of in holding.items() if max(f.bias.tasks for f in of) < most / 2}
    order = sorted(
        holding,
        key=lambda name: (
            name in few,  # on other tests, so that its change compares with no other
            any(f.loses_meaning for f in holding[name]),
            -len(holding[name]),
            statistics.fmean(f.bias.difference for f in holding[name]),
        ),
    )
    strongest = holding[order[0]]
    of_models = f" on {len(strongest)} of {n_models} models" if n_models > 1 else ""
    text = f"**{kind}**: {order[0]} holds{of_models}. {' '.join(map(_sentence, strongest))}"
    if others := [_other(name, holding[name], n_models, few=name in few) for name in order[1:]]:
        text += f" {_listed(others)} {'hold' if len(others) > 1 else 'holds'}, too."
    return text


def _other(name: str, found: Sequence[Finding], n_models: int, *, few: bool) -> str:
    """Return a mitigator that holds, too: on how many models, and what it loses."""
    notes = [f"{len(found)} of {n_models}"] if n_models > 1 else []
    if few:
        n = found[0].bias.tasks
        notes.append(f"on {n} test{'s' if n > 1 else ''}: {found[0].bias.shown}")
    if any(f.loses_meaning for f in found):
        notes.append("which no longer tells mother from father")
    return f"{name} ({', '.join(notes)})" if notes else name


def _listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _sentence(f: Finding) -> str:
    """Return what a mitigator removes from a model, its price, and what is left."""
    text = (
        f"On {f.model} bias falls from {number(f.bias.base)} to {number(f.bias.model)} "
        f"({_change(f.bias)}, {f.bias.tasks} tests)."
    )
    if f.usefulness is not None:
        text += f" Usefulness changes by {_change(f.usefulness)}."
    left = []
    if f.recovered is not None:
        left.append(f"a classifier finds the side of {100 * f.recovered[1]:.0f} % of texts")
    if f.meaning is not None:
        before, after = map(number, f.meaning)
        left.append(f"mother is told from father at {after} ({before} before)")
    return f"{text} Left: {'; '.join(left)}." if left else text


def draw(found: Sequence[Finding], file: Path = FIGURE) -> None:
    """Write the picture: the change of bias of each model and mitigator, with its interval."""
    title = "Change of bias on words that the mitigator never saw (95 % intervals)"
    height = 0.21 * (len(found) + len({f.model for f in found})) + 0.7
    figures.write_figure(file, title, [partial(_panel, found=found)], width=7.2, height=height)


def _panel(ax: Axes, found: Sequence[Finding]) -> None:
    y, model = 0.0, ""
    ends = [end for f in found for end in (f.bias.low, f.bias.high, 0.0) if end is not None]
    right, left = max(ends), min(ends)
    width = right - left or 1.0
    ticks: list[float] = []
    for f in found:
        if f.model != model:
            ax.text(left - 0.01 * width, y, f.model, weight="bold", va="center")
            y, model = y + 1, f.model
        colour = figures.COLOURS[0] if f.holds else _GREY
        if f.bias.low is not None and f.bias.high is not None:
            ax.plot([f.bias.low, f.bias.high], [y, y], color=colour, linewidth=1.6)
        ax.plot([f.bias.difference], [y], "o", color=colour)
        ax.text(right + 0.03 * width, y, _label(f), color=colour, va="center")
        ticks.append(y)
        y += 1
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(ticks, [f.mitigator for f in found])
    ax.set_ylim(y - 0.4, -0.6)
    ax.set_xlim(left - 0.02 * width, right + 0.75 * width)
    ax.set_xticks([tick for tick in ax.get_xticks() if left - 0.1 * width <= tick <= right])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("less biased  ←  change of bias  →  more biased", loc="left")


def _label(f: Finding) -> str:
    use = "" if f.usefulness is None else f"; usefulness {f.usefulness.shown}"
    return f"{f.bias.words} {f.bias.shown}{use}"
