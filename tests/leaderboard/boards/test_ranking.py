"""Ranks by means over families: hand-computed cases, properties, and coverage by simulation."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness.leaderboard.boards import ranking
from harness.leaderboard.boards.ranking import (
    ENOUGH_FAMILIES,
    means,
    rank,
    rank_sets,
    sampled_means,
)


def measures(table: dict[str, list[float]], tasks: int = 1) -> pl.DataFrame:
    """Return a line for each row and family; each family has as many tasks."""
    lines = [
        {"row": row, "family": f"f{i}", "measure": m, "tasks": tasks}
        for row, values in table.items()
        for i, m in enumerate(values)
    ]
    schema = {"row": pl.String, "family": pl.String, "measure": pl.Float64, "tasks": pl.Int64}
    return pl.DataFrame(lines, schema=schema)


def by_row(frame: pl.DataFrame, column: str) -> dict[str, float]:
    return dict(zip(frame["row"], frame[column], strict=True))


tables = st.integers(1, 8).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 4).map(float), min_size=n, max_size=n), min_size=1, max_size=6
    ).map(lambda rows: {f"r{i}": row for i, row in enumerate(rows)})
)


def test_a_family_has_one_vote_however_many_tasks_it_has() -> None:
    # b wins four of five tasks, but only one of two families
    frame = measures({"a": [0.0, 0.5], "b": [1.0, 0.4]}).with_columns(
        tasks=pl.when(pl.col("family") == "f0").then(1).otherwise(4)
    )
    line = means(frame, ["row"])
    assert by_row(line, "mean") == {"a": 0.25, "b": pytest.approx(0.7)}
    assert by_row(line, "tasks") == {"a": 5, "b": 5}
    assert by_row(rank(frame), "rank") == {"a": 1, "b": 2}


def test_the_interval_of_sampled_means_is_that_of_the_errors_of_their_families() -> None:
    frame = measures({"a": [1.0, 2.0], "b": [1.0, 2.0]}).with_columns(
        error=pl.Series([0.3, 0.4, 0.3, None])
    )
    spread = 1.959963984540054 * 0.5 / 2  # √(.3² + .4²) over two families
    line, without = sampled_means(frame, ["row"]).to_dicts()
    assert (line["mean"], line["families"], line["tasks"]) == (1.5, 2, 2)
    assert (line["low"], line["high"]) == pytest.approx((1.5 - spread, 1.5 + spread))
    assert (without["mean"], without["low"], without["high"]) == (1.5, None, None)


def test_rows_may_be_ordered_by_another_value_than_their_mean() -> None:
    frame = measures({"a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.0, 0.0]})
    order = pl.DataFrame({"row": ["a", "b"], "order": [0.9, 0.5]})
    assert by_row(rank(frame, order=order), "rank") == {"b": 1, "a": 2, "c": 3}


def test_rows_with_equal_means_share_the_best_rank() -> None:
    ranks = rank(measures({"a": [0.0, 1.0], "b": [1.0, 0.0], "c": [1.0, 1.0]}))
    assert by_row(ranks, "rank") == {"a": 1, "b": 1, "c": 3}


def test_the_highest_mean_may_be_the_best() -> None:
    assert by_row(rank(measures({"a": [0.1], "b": [0.9]}), best="highest"), "rank")["b"] == 1


def test_no_rows_give_no_ranks() -> None:
    assert rank(measures({})).is_empty()


def test_few_families_give_no_interval_and_no_set() -> None:
    table = {"a": [0.0] * (ENOUGH_FAMILIES - 1), "b": [1.0] * (ENOUGH_FAMILIES - 1)}
    assert rank(measures(table))["rank_low"].null_count() == 2
    assert means(measures(table), ["row"])["low"].null_count() == 2


def test_twenty_tasks_of_two_families_give_no_set() -> None:
    assert rank(measures({"a": [0.0] * 2, "b": [1.0] * 2}, tasks=10))["rank_low"][0] is None


def test_rows_that_differ_in_each_family_have_sets_apart() -> None:
    ranks = rank(measures({"a": [0.0] * 8, "b": [1.0] * 8}))
    assert ranks.select("rank", "rank_low", "rank_high").rows() == [(1, 1, 1), (2, 2, 2)]


def test_rows_that_win_alternate_families_share_their_ranks() -> None:
    ranks = rank(measures({"a": [0.0, 1.0] * 5, "b": [1.0, 0.0] * 5, "z": [2.0, 2.1] * 5}))
    ends = dict(zip(ranks["row"], ranks.select("rank_low", "rank_high").rows(), strict=True))
    assert ends == {"a": (1, 2), "b": (1, 2), "z": (3, 3)}


@settings(max_examples=40, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(table, random) -> None:
    frame = measures(table)
    order = list(range(frame.height))
    random.shuffle(order)
    assert rank(frame[order]).equals(rank(frame))


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(0, 5), st.integers(1, 4))
def test_clones_of_a_row_change_the_order_of_no_others(table, which, clones) -> None:
    original = rank(measures(table))
    cloned = table[f"r{which % len(table)}"]
    more = rank(measures({**table, **{f"z{i}": cloned for i in range(clones)}}))
    kept = more.filter(~pl.col("row").str.starts_with("z"))
    assert kept["row"].to_list() == original["row"].to_list()
    ties = (original["rank"].diff() == 0).to_list()
    assert (kept["rank"].diff() == 0).to_list() == ties


@settings(max_examples=40, deadline=None)
@given(tables)
def test_a_set_contains_its_rank(table: dict[str, list[float]]) -> None:
    ranks = rank(measures(table)).drop_nulls()
    assert (ranks["rank_low"] <= ranks["rank"]).all()
    assert (ranks["rank"] <= ranks["rank_high"]).all()


def test_a_row_whose_mean_is_not_known_may_have_any_rank_and_moves_no_other() -> None:
    table = {
        "a": [0.0] * 6,
        "b": [1.0, 2.0, 1.5, 1.2, 1.8, 1.1],
        "z": [0.0, 0.0, 0.0, 0.0, 0.0, 90.0],
    }
    order = pl.DataFrame({"row": ["a", "b", "z"], "order": [0.1, 2.0, None]})
    ranks = rank(measures(table), order=order)
    ends = dict(zip(ranks["row"], ranks.select("rank_low", "rank_high").rows(), strict=True))
    assert ranks["row"].to_list() == ["a", "b", "z"]
    assert ends["z"] == (1, 3)
    without = rank(measures({name: table[name] for name in "ab"}), order=order.head(2))
    assert [low for low, _ in (ends["a"], ends["b"])] == without["rank_low"].to_list()
    assert [high - 1 for _, high in (ends["a"], ends["b"])] == without["rank_high"].to_list()


EQUAL = np.zeros(8)
UNEQUAL = np.array([0.0, 0.0, 0.0, 0.8, 0.8, 1.6, 1.6, 3.0])
FEW = (14, 3, 2, 1, 1, 1)  # the number of tasks of each family
MANY = (8, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1)
BOARDS = 2000
"""The Monte Carlo error of a coverage of .96 is then .004."""


def boards(means_: np.ndarray, sizes: tuple[int, ...], correlation: float) -> np.ndarray:
    """Return (boards, rows, families) means of tasks that correlate within their families.

    The tasks have errors of their items, too, larger in some rows and families than in others.
    """
    rng = np.random.default_rng(1)
    shape = (BOARDS, len(means_), len(sizes))
    shared = rng.normal(size=shape) * np.sqrt(correlation)
    own = rng.normal(size=shape) * np.sqrt((1 - correlation) / np.array(sizes))
    spread = np.linspace(0.1, 0.5, len(means_))[:, None] * np.linspace(1, 2, len(sizes))
    items = rng.normal(size=shape) * spread / np.sqrt(sizes)
    return means_[:, None] + shared + own + items


def is_covered(truth: np.ndarray, losses: np.ndarray) -> bool:
    """Return whether all sets of ranks hold the ranks of `truth`; ties may have any of theirs."""
    low, high = rank_sets(losses)
    first = 1 + (truth[:, None] > truth).sum(axis=1)
    last = (truth[:, None] >= truth).sum(axis=1)
    return bool(((low <= first) & (high >= last)).all())


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("sizes", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("truth", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
def test_all_sets_hold_the_true_ranks_with_95_percent(truth, sizes, correlation) -> None:
    covered = np.mean([is_covered(truth, board) for board in boards(truth, sizes, correlation)])
    assert covered >= 0.95


def test_the_sets_tell_clearly_different_rows_apart() -> None:
    widths = []
    for board in boards(UNEQUAL, MANY, 0.3)[:200]:
        low, high = rank_sets(board)
        widths.append(high - low)
    assert np.mean(widths) < 4.5, "of at most 7"


def test_percentiles_over_tasks_call_equal_rows_different() -> None:
    """The rule before: a pair differs if its interval over resampled tasks excludes zero."""
    rng = np.random.default_rng(0)
    family = np.repeat(np.arange(len(FEW)), FEW)
    shared = rng.normal(size=(200, 8, len(FEW)))[:, :, family] * np.sqrt(0.3)
    tasks = shared + rng.normal(size=(200, 8, len(family))) * np.sqrt(0.7)
    drawn = rng.multinomial(len(family), np.full(len(family), 1 / len(family)), size=500)
    wrong = []
    for board in tasks:
        points = stats.rankdata(-board, axis=0)
        counts = drawn @ points.T
        ends = np.quantile(counts[:, :, None] - counts[:, None], [0.025, 0.975], axis=0)
        wrong.append(((ends[0] > 0) | (ends[1] < 0)).any())
    assert np.mean(wrong) > 0.9, "any false difference"


@pytest.mark.parametrize("correlation", [0.0, 0.6])
@pytest.mark.parametrize("sizes", [FEW, MANY], ids=["few", "many"])
def test_intervals_of_means_hold_the_true_mean_with_95_percent(sizes, correlation) -> None:
    lines = boards(np.zeros(1), sizes, correlation)[:, 0]
    frame = measures({f"b{i}": list(line) for i, line in enumerate(lines)})
    ends = means(frame, ["row"])
    assert ((ends["low"] <= 0) & (ends["high"] >= 0)).mean() >= 0.95 - 0.01


def stepwise(losses: np.ndarray) -> np.ndarray:
    """Return which row is better than which: all pairs and flips again in each step."""
    signs = ranking._signs(losses.shape[1], len(losses))
    sums = (signs @ losses.T).astype(np.float32)
    errors = ranking._Scales(losses).of(np.arange(len(losses))).astype(np.float32)
    observed = losses.sum(axis=1)
    differ = np.zeros_like(errors, dtype=bool)
    while True:
        statistics = np.abs(sums[:, :, None] - sums[:, None]) / np.where(differ, np.inf, errors)
        largest = np.sort(statistics.max(axis=(1, 2)))
        critical = largest[int(np.ceil(ranking.QUANTILE * len(largest))) - 1]
        size = np.abs(observed[:, None] - observed) / errors
        more = ~differ & (size > critical * (1 + 1e-4))
        if not more.any():
            return differ & (observed[:, None] < observed)
        differ |= more


def test_what_was_computed_before_gives_the_same_sets_in_each_step() -> None:
    rng = np.random.default_rng(3)
    for families, spread in ((6, 0.0), (8, 2.0), (9, 6.0), (7, 20.0)):
        losses = rng.normal(size=(15, families)) + np.linspace(0, spread, 15)[:, None]
        better = stepwise(losses)
        low, high = rank_sets(losses)
        assert (low == 1 + better.sum(axis=0)).all()
        assert (high == 15 - better.sum(axis=1)).all()


def test_large_boards_have_fewer_flips_and_always_the_observed_signs() -> None:
    numbers = {rows: ranking._signs(20, rows).shape[0] for rows in (2, 60, 312, 1000, 5000)}
    assert numbers == {2: 2048, 60: 2048, 312: 2048, 1000: 256, 5000: 256}
    assert (ranking._signs(20, 1000)[0] == 1).all()
    assert ranking._signs(8, 5000).shape[0] == 128, "all different ones"


def test_a_thousand_rows_are_ranked() -> None:
    losses = np.random.default_rng(0).normal(size=(1000, 12)) + np.linspace(0, 5, 1000)[:, None]
    low, high = rank_sets(losses)
    assert low[0] == 1
    assert high[0] < 600
    assert low[-1] > 400
