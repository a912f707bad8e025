"""What `harness corpus subtract` and `harness corpus augment` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import output

if TYPE_CHECKING:
    from harness.plugins.corpora.fair_corpora import FairCorpus, Method


def as_json(
    corpora: Sequence[FairCorpus], figure: Path, examples: Sequence[Mapping[str, Any]]
) -> None:
    """Print what each `corpus.json` holds, with the folder, and the examples of swaps."""
    rows = [{"path": fair.path, "new": fair.new, **fair.about} for fair in corpora]
    shown = [{"entry": row["entry"], "swapped": row["swapped"]} for row in examples]
    output.as_json({"corpora": rows, "figure": figure, "examples": shown})


def tables(
    method: Method,
    corpora: Sequence[FairCorpus],
    figure: Path,
    examples: Sequence[Mapping[str, Any]],
) -> None:
    """Print the counts of each corpus, and examples of swaps as in table 5 of the paper."""
    if method == "subtract":
        columns = ["corpus", "threshold", "removed", "highest before", "highest left"]
        rows = [_subtracted(fair.about) for fair in corpora]
    else:
        columns = ["corpus", "threshold", "above", "added", "share added"]
        rows = [_augmented(fair.about) for fair in corpora]
    parts = [[fair.about["counts"][part] for part in ("train", "dev", "test")] for fair in corpora]
    output.table(
        [*columns, "train", "dev", "test"],
        [[*row, *sizes] for row, sizes in zip(rows, parts, strict=True)],
        repeat=1,
    )
    if examples:
        output.table(
            ["entry", "swapped"],
            [[_text(row["entry"]), _text(row["swapped"])] for row in examples],
            title="Examples of swaps",
            shorten=["entry", "swapped"],
        )
    counts = corpora[0].about["counts"]
    if counts["without_score"]:
        click.echo(
            f"without a score, because the model knows none of the words: "
            f"{counts['without_score']:,} of {counts['entries']:,} entries"
        )
    for fair in corpora:
        click.echo(f"{'wrote' if fair.new else 'unchanged, there already:'} {fair.path}")
    click.echo(f"distribution of the scores: {figure}")


def _subtracted(about: Mapping[str, Any]) -> list[Any]:
    highest = about["highest"]
    removed = about["counts"]["removed"]
    return [about["name"], about["threshold"], removed, highest["before"], highest["below"]]


def _augmented(about: Mapping[str, Any]) -> list[Any]:
    counts = about["counts"]
    share = counts["added"] / counts["above"] if counts["above"] else None
    return [about["name"], about["threshold"], counts["above"], counts["added"], share]


def _text(entry: Mapping[str, Any]) -> str:
    from harness.plugins.corpora.entries import TEXT_KEYS

    keys = next(keys for keys in TEXT_KEYS if all(key in entry for key in keys))
    return " / ".join(entry[key] for key in keys)
