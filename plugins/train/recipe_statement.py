"""What the tables of a recipe show, in sentences: how to read them, and what stands out."""

from __future__ import annotations

from harness.plugins.train.recipe_summary import (
    MEAN_ABS,
    MEAN_D,
    OVERALL,
    NoisePart,
    Summary,
)
from harness.plugins.train.recipe_texts import ALPHA, HOLM, ITEMS, PLAIN


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
        lines.append(f"{OVERALL}: mean over {len(names[OVERALL].tasks)} tasks; higher is better")
    if len(summary.seeds) > 1:
        df = len(summary.seeds) - 1
        degrees = f"{df} degree{'s'[: df > 1]} of freedom"
        lines.append(
            f"95 % interval: of the mean change over {len(summary.seeds)} seeds, by Student's t "
            f"with {degrees}. p Holm: corrected over the rows of its column"
        )
        lines.append(f"{HOLM} p Holm ≤ {ALPHA}".replace("0.", "."))
    lines.append(
        f"{ITEMS} the 95 % interval over the items of the task (words or texts, bootstrap) "
        "excludes 0: true of these very models, whatever other seeds give"
    )
    return tuple(lines)


def conclusions(summary: Summary) -> tuple[str, ...]:
    """Return what the seeds alone give, and which changes stand out, a line each."""
    lines = [line for part in summary.noise for line in _noise(part, len(summary.seeds))]
    for row in summary.rows:
        told = []
        for measure in summary.measures:
            change = summary.cell(row.row, measure.measure).difference
            if change and change.p_holm is not None and change.p_holm <= ALPHA:
                told.append(f"{measure.measure} {PLAIN.signed(change.mean)}")
        if row.compared_with and len(summary.seeds) > 1:
            what = f"differs in {', '.join(told)}" if told else "no score is told apart"
            lines.append(f"{row.row} against {row.compared_with}: {what}")
    return tuple(lines)


def _noise(part: NoisePart, seeds: int) -> list[str]:
    def share(value: float) -> str:
        return f" ({abs(value / part.mean):.0%} of {part.mean:.3f})" if part.mean else ""

    lines = [
        f"{part.measure}: the seeds alone have a standard deviation of {part.sd:.3f}"
        f"{share(part.sd)}, {part.df} degrees of freedom. Two models with one run each on one "
        f"corpus differ by {part.sd_of_difference:.3f}{share(part.sd_of_difference)} in standard "
        "deviation"
    ]
    if part.claimed is not None and part.chance is not None:
        lines.append(
            f"{part.measure}: a change of {part.claimed:g} % or more between two single runs, as "
            f"the source claims, comes from the seeds alone in {part.chance:.0%} of all cases"
        )
    if part.smallest_change is not None:
        lines.append(
            f"{part.measure}: with {seeds} seeds, changes under {part.smallest_change:.3f}"
            f"{share(part.smallest_change)} are not told apart from 0"
        )
    return lines
