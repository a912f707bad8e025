"""What each value counts, and what does not count."""

import itertools

import numpy as np
import polars as pl
import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.boards.cells import measured
from harness.leaderboard.claims.reading import frame_of
from harness.results import estimator
from harness.results.record import NOT_STATED

IDEALS = (0.0, 0.5, 1.0, -0.3, "higher", "lower")
BOUNDS = ((-2.0, 2.0), (0.0, 1.0), (-1.0, 4.0), (None, None), (0.0, None), (None, 1.0))


def test_usefulness_is_that_of_single_records(make_record) -> None:
    rng = np.random.default_rng(0)
    records = []
    for ideal, bounds, unit, with_floor in itertools.product(
        IDEALS, BOUNDS, (None, 0.3), (False, True)
    ):
        floor = {"mean": 0.07, "sd": 0.1, "centre": 0, "spread": 1, "draws": 9, "shuffled": "s"}
        name = f"t{len(records)}"
        records.append(
            make_record(
                task__name=name, task__digest=name, task__measures="usefulness", ideal=ideal,
                bounds=bounds, unit=unit, value=float(rng.uniform(-1.5, 2.5)),
                floor=floor if with_floor else None,
            )
        )  # fmt: skip
    own = estimator.cells_of({record.task.name: [record] for record in records})
    expected = (
        own.select(pl.when(pl.col("left_out").is_null()).then("gap").alias("gap"))
        .to_series()
        .to_list()
    )
    frame = measured(frame_of(records))
    assert frame["measure"].to_list() == expected, "to the last digit"
    assert sum(value is not None for value in expected) > 40
    assert frame.filter(frame["measure"].is_null())["aside"].null_count() == 0


@pytest.mark.parametrize(("power", "expected"), [(1, -0.25), (2, -0.5)])
def test_bias_is_the_gap_over_the_yardstick_and_of_squares_its_root(
    make_record, power, expected
) -> None:
    ratio = {
        "value": None, "low": None, "high": None, "gap": -0.1, "gap_error": 0.01,
        "yardstick": 0.4, "yardstick_error": 0.02, "t": 20.0, "df": 9.0, "power": power,
        "of": "items",
    }  # fmt: skip
    (line,) = measured(frame_of([make_record(ratio=ratio)])).to_dicts()
    assert line["measure"] == pytest.approx(expected)
    below = measured(frame_of([make_record(ratio=ratio | {"yardstick": -0.4})]))
    assert below["measure"].to_list() == [None]
    assert below["gap"].to_list() == [-0.1], "the row is told that its yardstick is below 0"


def test_a_row_is_measured_where_it_is_judged_and_its_fit_is_stated(make_record, void) -> None:
    changes = {"mitigator__name": "h", "mitigator__fingerprint": "h"}
    records = [make_record(task__name=name, task__digest=name, value=1.0) for name in "xyz"]
    records += [
        make_record(task__name="x", task__digest="x", value=0.2, **changes, **void),
        make_record(task__name="y", task__digest="y", value=0.8, **changes),
        make_record(task__name="z", task__digest="z", value=0.2, **changes,
                    unseen={"kind": "fit not stated", "value": 0.2}),
    ]  # fmt: skip
    (board,) = compile_boards(frame_of(records))
    own = board.cells.filter(pl.col("mitigator") == "h").sort("task")
    assert own.select("task", "value", "aside").rows() == [
        ("x", None, None), ("y", 0.8, None), ("z", 0.2, NOT_STATED)
    ]  # fmt: skip
    ways = {"h": {"unseen texts": 1, "void": 1, "fit not stated": 1}}
    assert board.judged == ways
    (row,) = board.rows.filter(mitigator="h").to_dicts()
    assert (row["bias"], row["bias_tasks"]) == (pytest.approx(0.4, abs=1e-3), 1)
    assert board.effects["difference"].to_list() == pytest.approx([-0.1], abs=1e-3)
    assert board.lacks.sort("task")["reason"].to_list() == ["no unseen words", NOT_STATED]
