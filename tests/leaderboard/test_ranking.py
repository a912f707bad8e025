"""Ranks by Borda count: hand-computed cases and properties."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.leaderboard.ranking import ENOUGH_TASKS, rank


def losses(table: dict[str, list[float]]) -> pl.DataFrame:
    lines = [
        {"row": row, "task": f"t{i}", "loss": loss}
        for row, values in table.items()
        for i, loss in enumerate(values)
    ]
    return pl.DataFrame(lines, schema={"row": pl.String, "task": pl.String, "loss": pl.Float64})


def by_row(frame: pl.DataFrame, column: str) -> dict[str, float]:
    return dict(zip(frame["row"], frame[column], strict=True))


tables = st.integers(1, 8).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 4).map(float), min_size=n, max_size=n), min_size=1, max_size=6
    ).map(lambda rows: {f"r{i}": row for i, row in enumerate(rows)})
)


def test_a_row_gets_a_point_for_each_row_it_beats_and_half_a_point_for_a_tie() -> None:
    # t0: a beats b and c (2), b = c (½ each); t1: c beats a and b (2), a = b (½ each)
    ranks = rank(losses({"a": [0.1, 0.5], "b": [0.3, 0.5], "c": [0.3, 0.2]}))
    assert by_row(ranks, "borda") == {"a": 2.5, "c": 2.5, "b": 1.0}
    assert by_row(ranks, "rank") == {"a": 1, "c": 1, "b": 3}


def test_a_single_row_has_rank_one_and_no_points() -> None:
    ranks = rank(losses({"a": [0.4]}))
    assert ranks.select("borda", "rank", "rank_low", "group").row(0) == (0.0, 1, None, None)


def test_no_rows_give_no_ranks() -> None:
    assert rank(losses({})).is_empty()


def test_few_tasks_give_no_interval_and_no_group() -> None:
    table = {"a": [0.0] * (ENOUGH_TASKS - 1), "b": [1.0] * (ENOUGH_TASKS - 1)}
    assert rank(losses(table))["group"].null_count() == 2


def test_rows_that_differ_on_every_task_have_different_groups() -> None:
    ranks = rank(losses({"a": [0.0] * 8, "b": [1.0] * 8}))
    assert ranks.select("rank", "rank_low", "rank_high", "group").rows() == [
        (1, 1, 1, "a"),
        (2, 2, 2, "b"),
    ]


def test_rows_that_win_alternate_tasks_share_a_group() -> None:
    ranks = rank(losses({"a": [0.0, 1.0] * 5, "b": [1.0, 0.0] * 5, "z": [2.0] * 10}))
    groups = by_row(ranks, "group")
    assert groups["a"] == groups["b"] == "a"
    assert groups["z"] == "b"
    assert by_row(ranks, "rank_low")["a"] == 1
    assert by_row(ranks, "rank_high")["a"] == 2


@settings(max_examples=40, deadline=None)
@given(tables)
def test_the_points_of_all_rows_add_up(table: dict[str, list[float]]) -> None:
    n, tasks = len(table), len(table["r0"])
    assert rank(losses(table))["borda"].sum() == tasks * n * (n - 1) / 2


@settings(max_examples=40, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(table, random) -> None:
    frame = losses(table)
    order = list(range(frame.height))
    random.shuffle(order)
    assert rank(frame[order]).equals(rank(frame))


@settings(max_examples=40, deadline=None)
@given(tables)
def test_adding_a_worst_row_changes_no_other_rank(table: dict[str, list[float]]) -> None:
    worse = rank(losses({**table, "zz": [9.0] * len(table["r0"])}))
    assert by_row(worse, "rank").pop("zz") == len(table) + 1
    kept = worse.filter(pl.col("row") != "zz")
    assert kept.select("row", "rank").equals(rank(losses(table)).select("row", "rank"))


@settings(max_examples=40, deadline=None)
@given(tables)
def test_an_interval_contains_its_rank(table: dict[str, list[float]]) -> None:
    ranks = rank(losses(table)).drop_nulls()
    assert (ranks["rank_low"] <= ranks["rank"]).all()
    assert (ranks["rank"] <= ranks["rank_high"]).all()


@settings(max_examples=40, deadline=None)
@given(tables)
def test_rows_with_equal_counts_share_a_group(table: dict[str, list[float]]) -> None:
    ranks = rank(losses({**table, "twin": table["r0"]})).drop_nulls()
    groups = by_row(ranks, "group")
    if groups:
        assert set(groups["twin"].split()) & set(groups["r0"].split())
