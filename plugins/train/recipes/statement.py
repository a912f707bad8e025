"""What the tables of a recipe show, in sentences: how to read them, and what stands out."""

from __future__ import annotations

from .summary import (
    MEAN_ABS,
    MEAN_D,
    OVERALL,
    NoisePart,
    RunsPart,
    Summary,
)
from .texts import ALPHA, HOLM, HUNDRED, ITEMS, PLAIN


def legend(summary: Summary) -> tuple[str, ...]:
    """Return how to read the tables, a line each."""
    names = {measure.measure: measure for measure in summary.measures}
    lines = []
    if MEAN_D in names:
        tests = ", ".join(names[MEAN_D].tasks)
        lines.append(
            f"{MEAN_D}: mean of the effect sizes of {tests}, with their signs; {MEAN_ABS}: mean of "
            "their sizes. Fair is 0. Tests of opposite signs cancel out in the first"
        )
    if OVERALL in names:
        n = len(names[OVERALL].tasks)
        lines.append(f"{OVERALL}: mean over {n} task{'s'[: n > 1]}; higher is better")
    if len(summary.seeds) > 1:
        df = len(summary.seeds) - 1
        degrees = f"{df} degree{'s'[: df > 1]} of freedom"
        lines.append(
            f"95 % interval: of the mean change over {len(summary.seeds)} seeds, by Student's t "
            f"with {degrees}. p Holm: corrected over the rows of a mean, or over all cells of a "
            "table of tasks"
        )
        lines.append(f"{HOLM} p Holm ≤ {ALPHA}".replace("0.", "."))
    lines.append(
        f"{ITEMS} the 95 % interval over the items of the task (words or texts) "
        "excludes 0: true of these very models, whatever other seeds give"
    )
    return tuple(lines)


def conclusions(summary: Summary) -> tuple[str, ...]:
    """Return what the seeds alone give, and which changes stand out, a line each."""
    lines = [line for part in summary.noise for line in _noise(part, len(summary.seeds))]
    for row in summary.rows:
        changed = []
        for measure in summary.measures:
            change = summary.cell(row.row, measure.measure).difference
            if change and change.p_holm is not None and change.p_holm <= ALPHA:
                changed.append(f"{measure.measure} {PLAIN.signed(change.mean)}")
        if row.compared_with and len(summary.seeds) > 1:
            result = f"differs in {', '.join(changed)}" if changed else "no score is told apart"
            lines.append(f"{row.row} against {row.compared_with}: {result}")
    return tuple(lines)


def _noise(part: NoisePart, seeds: int) -> list[str]:
    unit, name = PLAIN, part.measure
    if name == OVERALL:
        unit, name = HUNDRED, f"{name} × 100"

    def size(value: float) -> str:
        share = f" ({100 * abs(value / part.mean):.1f} % of {unit.number(part.mean)})"
        return unit.number(value) + (share if part.is_clear else "")

    def often(runs: RunsPart) -> str:
        if runs.chance is None:
            return ""
        return (
            f"; a difference of {part.claimed:g} % or more, the change that the source claims, "
            f"comes by chance in {100 * runs.chance:.0f} % of all cases"
        )

    lines = [
        f"{name}: two single runs on one corpus with different seeds differ by "
        f"{size(part.other_seeds.sd)} in standard deviation{often(part.other_seeds)}"
    ]
    if not part.is_clear:
        lines.append(f"{name}: the first row's mean is within this noise: percents say nothing")
    if part.one_seed is not None:
        lines.append(
            f"{name}: changes between rows that share a seed vary by {size(part.one_seed.sd)} from "
            f"seed to seed{often(part.one_seed)}"
        )
    if part.smallest_change is not None:
        lines.append(
            f"{name}: with {seeds} seeds, an interval excludes 0 from a mean change of about "
            f"{size(part.smallest_change)} on"
        )
    return lines
