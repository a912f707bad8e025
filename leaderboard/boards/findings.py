"""Findings of a benchmark: one to three plain sentences for the first screen of a page.

A sentence says no more than the sets of ranks and the intervals do. Computes no rank.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from harness.leaderboard.boards.effects import EVIDENCE
from harness.leaderboard.boards.ranking import LEVEL


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
        `measures` and `family` of the ranked tasks.
    """
    counts = [
        _count(n, f"{measures} task")
        for measures in ("bias", "usefulness")
        if (n := int((tasks["measures"] == measures).sum()))
    ]
    by_bias = ranks.drop_nulls("rank").sort("rank", "model")
    n = by_bias.height or ranks.drop_nulls("usefulness_rank").height
    models = "No model is" if n == 0 else f"{n} models are"
    sentences = [f"{models} ranked on {' and '.join(counts) or '0 tasks'}."]
    if not by_bias.is_empty():
        families = tasks.filter(measures="bias")["family"].n_unique()
        sentences.append(_least_bias(by_bias, families))
    judged = mitigators.filter(pl.col("unranked").is_null(), pl.col("bias").is_not_null())
    left_out = _left_out(mitigators.drop_nulls("unranked"))
    if not judged.is_empty():
        sentences.append(" ".join((_most_removed(judged), *left_out)))
    elif not by_bias.is_empty():
        sentences.extend(left_out)
    return tuple(sentences)


def _least_bias(ranks: pl.DataFrame, families: int) -> str:
    best = ranks.filter(rank=1)["model"].to_list()
    who = best[0] if len(best) == 1 else f"{best[0]} and {_count(len(best) - 1, 'other model')}"
    has = "has" if len(best) == 1 else "have"
    lowest = f"{who} {has} the lowest mean bias of the ranked models"
    if ranks["rank_low"].null_count():
        return f"{lowest}; {_too_few(families, 'bias tasks')}."
    also = ranks.filter(pl.col("rank") > 1, rank_low=1).height
    if len(best) == 1 and not also:
        return f"{who} has the least bias of the ranked models, with {_SURE} confidence."
    if not also:
        return f"{lowest}."
    holds = "its set of ranks holds" if also == 1 else "their sets of ranks hold"
    return f"{lowest}, but {_count(also, 'other model')} may have the least, too: {holds} rank 1."


def _most_removed(mitigators: pl.DataFrame) -> str:
    """Return which mitigator removes most bias, of those that are shown to remove any."""
    n = mitigators.height
    removing = mitigators.filter(pl.col("bias") < 0, pl.col("bias_holm") < EVIDENCE)
    best = (mitigators if removing.is_empty() else removing).row(0, named=True)
    name = best["mitigator"]
    change = f"{_change(best, 'bias', ' on average')}{_cost(best)}"
    if best["bias_low"] is None:
        tasks = "bias tasks without a leak"
        return f"{name} changes bias by {change}; {_too_few(best['bias_families'], tasks)}."
    if removing.is_empty():
        of_many = f", after correction for {n} mitigators" if n > 1 else ""
        return f"No mitigator is shown to remove bias{of_many}; {name} changes it by {change}."
    others = mitigators.filter(pl.col("mitigator") != name)
    also = others.filter(pl.col("rank_low") <= pl.lit(best["rank_low"], pl.Int64)).height
    if also:
        also_may = f"{_count(also, 'other mitigator')} may remove as much"
        return f"{name} removes bias: {change}; {also_may}."
    return f"{name} removes {'most ' if n > 1 else ''}bias: {change}."


def _cost(line: dict[str, Any]) -> str:
    """Return the change in usefulness, with its interval or why it has none."""
    if line["usefulness"] is None:
        return ""
    cost = f"; usefulness changes by {_change(line, 'usefulness')}"
    if line["usefulness_low"] is not None or line["bias_low"] is None:
        return cost
    families = _count(line["usefulness_families"], "family", "families")
    return f"{cost} ({families}, too few for an interval)"


def _left_out(mitigators: pl.DataFrame) -> list[str]:
    """Return a sentence on the mitigators that are not ranked."""
    if mitigators.is_empty():
        return []
    names, reasons = mitigators["mitigator"].to_list(), set(mitigators["unranked"])
    who = " and ".join(names) if len(names) < 3 else f"{len(names)} mitigators"
    why = f": {reasons.pop()}" if len(reasons) == 1 else ""
    return [f"{who} {'is' if len(names) == 1 else 'are'} not ranked{why}."]


_SURE = f"{100 * LEVEL:.0f} %"


def _too_few(families: int, tasks: str) -> str:
    """Return that there are too few families of these tasks for intervals and sets of ranks."""
    of_tasks = f"{_count(families, 'family', 'families')} of {tasks}"
    verb = "is" if families == 1 else "are"
    return f"{of_tasks} {verb} too few to tell how sure this is"


def _change(line: dict[str, Any], name: str, of_what: str = "") -> str:
    text = _number(line[name]) + of_what
    if line[f"{name}_low"] is None:
        return text
    ends = f"{_number(line[f'{name}_low'])} to {_number(line[f'{name}_high'])}"
    return f"{text} ({_SURE} interval {ends})"


def _number(value: float) -> str:
    text = f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")
    return text if text.strip("+\N{MINUS SIGN}0.") else "0.000"


def _count(n: int, noun: str, nouns: str = "") -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {nouns or noun + 's'}"
