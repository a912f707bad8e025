"""Findings of a benchmark: one to three plain sentences for the first screen of a page.

A sentence says no more than the sets of ranks and the intervals do. Computes no rank.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from harness.leaderboard.boards.ranking import ENOUGH_FAMILIES, LEVEL


def findings(ranks: pl.DataFrame, mitigators: pl.DataFrame, tasks: pl.DataFrame) -> tuple[str, ...]:
    """Return how many models are ranked, which has least bias, and what mitigators do.

    Parameters
    ----------
    ranks
        `model`, `rank`, `rank_low`, `rank_high` by bias, and `usefulness_rank`, of the models that
        are ranked.
    mitigators
        As of `Board.mitigators`.
    tasks
        `measures` of the ranked tasks.
    """
    counts = [
        _count(int((tasks["measures"] == measures).sum()), f"{measures} task")
        for measures in ("bias", "usefulness")
    ]
    by_bias = ranks.drop_nulls("rank").sort("rank", "model")
    n = by_bias.height or ranks.drop_nulls("usefulness_rank").height
    models = "No model is" if n == 0 else f"{n} models are"
    sentences = [f"{models} ranked on {counts[0]} and {counts[1]}."]
    if not by_bias.is_empty():
        sentences.append(_least_bias(by_bias))
    judged = mitigators.filter(pl.col("unranked").is_null(), pl.col("bias").is_not_null())
    if not judged.is_empty():
        sentences.append(_most_removed(judged))
    return tuple(sentences)


def _least_bias(ranks: pl.DataFrame) -> str:
    best = ranks.filter(rank=1)["model"].to_list()
    who = best[0] if len(best) == 1 else f"{best[0]} and {_count(len(best) - 1, 'other model')}"
    has = "has" if len(best) == 1 else "have"
    lowest = f"{who} {has} the lowest mean bias of the usable models"
    if ranks["rank_low"].null_count():
        return f"{lowest}; {_TOO_FEW}."
    also = ranks.filter(pl.col("rank") > 1, rank_low=1).height
    if len(best) == 1 and not also:
        return f"{who} has the least bias of the usable models, with {_SURE} confidence."
    if not also:
        return f"{lowest}."
    holds = "set of ranks holds" if also == 1 else "sets of ranks hold"
    return (
        f"{lowest}, but {_count(also, 'other model')} may have the least, too: "
        f"their {holds} the first rank."
    )


def _most_removed(mitigators: pl.DataFrame) -> str:
    best = mitigators.row(0, named=True)
    cost = (
        ""
        if best["usefulness"] is None
        else f"; usefulness changes by {_change(best, 'usefulness')}"
    )
    change = f"{_change(best, 'bias')} on average{cost}"
    if best["bias_low"] is None:
        return f"{best['mitigator']} changes bias by {change}; {_TOO_FEW}."
    if best["bias_high"] >= 0:
        return f"No mitigator is shown to remove bias; {best['mitigator']} changes it by {change}."
    also = mitigators.filter(pl.col("rank") > 1, rank_low=1).height
    if also:
        also_may = f"{_count(also, 'other mitigator')} may remove as much"
        return f"{best['mitigator']} changes bias by {change}; {also_may}."
    most = "most bias" if mitigators.height > 1 else "bias"
    return f"{best['mitigator']} removes {most}: {change}."


_SURE = f"{100 * LEVEL:.0f} %"
_TOO_FEW = f"fewer than {ENOUGH_FAMILIES} families of tasks are too few to tell how sure this is"


def _change(line: dict[str, Any], name: str) -> str:
    text = _number(line[name])
    if line[f"{name}_low"] is None:
        return text
    ends = f"{_number(line[f'{name}_low'])} to {_number(line[f'{name}_high'])}"
    return f"{text} ({_SURE} interval {ends})"


def _number(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")
