"""Boards: the choice of records, distances, completeness, changes and labels."""

import random

import polars as pl
import pytest

from harness.leaderboard.board import compile_boards


def only(records):
    (board,) = compile_boards(records)
    return board


def rows_of(board, *columns: str) -> dict[str, tuple]:
    names = (board.rows["model"] + "/" + board.rows["mitigator"]).to_list()
    values = board.rows.select(columns).rows()
    return dict(zip(names, [v[0] if len(v) == 1 else v for v in values], strict=True))


def test_complete_rows_are_ranked_by_distance_to_the_ideal(make_rows) -> None:
    # WEAT in [-2, 2]: |−0.4|/2 = .2, |1|/2 = .5, 0; Borda over two tasks
    board = only(
        make_rows(
            {"a": {"x": -0.4, "y": 1.0}, "b": {"x": 1.0, "y": -1.0}, "c": {"x": 0.0, "y": 0.0}}
        )
    )
    assert rows_of(board, "rank", "borda", "bias") == {
        "c/none": (1, 4.0, 0.0),
        "a/none": (2, 1.5, pytest.approx(0.35)),
        "b/none": (3, 0.5, 0.5),
    }


@pytest.mark.parametrize(
    ("ideal", "bounds", "value", "distance"),
    [
        (0.5, (0, 1), 0.8, 0.6),
        (1.0, (0, 1), 0.8, 0.2),
        (0.0, (-1, 4), 2.0, 0.5),
        ("higher", (-1, 1), 0.5, 0.25),
        ("lower", (0, 10), 2.5, 0.25),
        ("higher", (None, None), 3.0, None),
        (0.0, (0, None), 3.0, None),
        (0.5, (0, 1), 1.2, 1.0),
    ],
)
def test_distance_is_divided_by_the_largest_within_the_bounds(
    make_record, ideal, bounds, value, distance
) -> None:
    board = only([make_record(ideal=ideal, bounds=bounds, value=value)])
    assert board.cells["distance"][0] == (distance and pytest.approx(distance))


@pytest.mark.parametrize(("ideal", "best"), [("higher", "b"), ("lower", "a"), (0.0, "a")])
def test_a_score_without_bounds_is_ranked(make_rows, ideal, best) -> None:
    records = make_rows({"a": {"x": 3.0}, "b": {"x": 40.0}}, ideal=ideal, bounds=(None, None))
    board = only(records)
    assert board.rows["model"][0] == best
    assert board.rows["bias"].null_count() == 2


def test_values_on_both_sides_of_the_ideal_at_one_distance_tie(make_rows) -> None:
    board = only(make_rows({"a": {"x": 0.3}, "b": {"x": 0.7}}, ideal=0.5, bounds=(0, 1)))
    assert board.rows["rank"].to_list() == [1, 1]


def test_an_incomplete_row_is_not_ranked_and_gives_no_points(make_rows) -> None:
    board = only(make_rows({"a": {"x": 1.0, "y": 1.0}, "best": {"x": 0.0}, "b": {"x": 2, "y": 2}}))
    assert board.rows["model"].to_list() == ["a", "b", "best"]
    assert rows_of(board, "rank", "borda", "complete")["a/none"] == (1, 2.0, True)
    assert rows_of(board, "rank", "complete")["best/none"] == (None, False)
    assert board.lacks.select("task", "reason").rows() == [("y", "not run")]
    assert "1 incomplete" in board.summary()


def test_a_null_value_counts_as_missing_with_its_reason(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}}) + make_rows(
        {"b": {"x": None}}, reason="a set is out of vocabulary"
    )
    board = only(records)
    assert rows_of(board, "complete") == {"a/none": True, "b/none": False}
    assert board.lacks["reason"].to_list() == ["a set is out of vocabulary"]


def test_the_highest_version_of_a_task_is_ranked_and_others_are_listed(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 1.0}, "c": {"x": 1.0}})
    new = make_rows({"a": {"x": 0.5}}, task__version=2)
    new = [r.model_copy(update={"task": r.task.model_copy(update={"digest": "n"})}) for r in new]
    board = only(records + [r.model_copy(update={"id": "new"}) for r in new])
    assert board.tasks["version"].to_list() == [2]
    assert rows_of(board, "complete", "bias") == {"a/none": (True, 0.25)}
    assert board.others["model"].sort().to_list() == ["a", "b", "c"]
    assert set(board.others["why"]) == {"another version or content of the task"}


def test_of_several_contents_of_a_version_the_one_with_most_rows_is_ranked(make_record) -> None:
    few = [make_record(model__name="z", task__digest="0", value=0.0)]
    most = [make_record(model__name=name, task__digest="1", value=1.0) for name in "ab"]
    board = only(few + most)
    assert board.tasks["digest"].to_list() == ["1"]
    assert board.rows["model"].to_list() == ["a", "b"]


def test_a_record_of_another_seed_is_not_ranked(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0, "y": 1.0}, "b": {"x": 1.0, "y": 1.0}})
    records = [r for r in records if (r.model.name, r.task.name) != ("b", "y")]
    records += make_rows({"b": {"y": 0.0}}, seed=7)
    board = only(records)
    assert rows_of(board, "complete") == {"a/none": True, "b/none": False}
    assert board.lacks["reason"].to_list() == ["only a record of another seed"]


def test_of_two_fits_of_a_mitigator_the_later_counts(make_record) -> None:
    early = make_record(mitigator__fingerprint="1", value=1.0, created="2026-01-01T00:00:00Z")
    late = make_record(mitigator__fingerprint="2", value=0.0, created="2026-02-01T00:00:00Z")
    board = only([late, early])
    assert board.rows["bias"].to_list() == [0.0]
    assert board.others["value"].to_list() == [1.0]


def test_records_that_are_not_primary_make_no_board(make_record) -> None:
    assert compile_boards([make_record(primary=False)]) == []
    assert compile_boards([]) == []


def test_word_and_text_embedders_have_separate_boards(make_many) -> None:
    boards = compile_boards([*make_many("text"), *make_many("word")])
    assert [board.kind for board in boards] == ["word", "text"]
    assert [board.rows.height for board in boards] == [12, 12]


def test_bias_and_usefulness_have_separate_ranks(make_rows) -> None:
    records = make_rows({"zero": {"x": 0.0}, "good": {"x": 1.0}}) + make_rows(
        {"zero": {"s": 0.0}, "good": {"s": 0.8}},
        task__measures="usefulness", category="similarity", ideal="higher", bounds=(-1, 1),
    )  # fmt: skip
    board = only(records)
    assert rows_of(board, "rank", "usefulness_rank", "usefulness") == {
        "zero/none": (1, 2, 0.5),
        "good/none": (2, 1, pytest.approx(0.9)),
    }


def test_a_row_without_usefulness_is_ranked_on_bias(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 0.0}}) + make_rows(
        {"a": {"s": 0.5}}, task__measures="usefulness"
    )
    assert rows_of(only(records), "rank", "usefulness_complete") == {
        "b/none": (1, False),
        "a/none": (2, True),
    }


def test_usefulness_tasks_alone_make_a_board(make_rows) -> None:
    board = only(make_rows({"a": {"s": 0.5}, "b": {"s": 1.0}}, task__measures="usefulness"))
    assert rows_of(board, "complete", "rank", "usefulness_rank") == {
        "a/none": (True, None, 1),
        "b/none": (True, None, 2),
    }


def test_the_only_complete_row_has_no_rank(make_rows) -> None:
    board = only(make_rows({"a": {"x": 1.0, "y": 0.0}, "b": {"x": 0.0}}))
    assert rows_of(board, "complete", "rank", "borda", "bias") == {
        "a/none": (True, None, None, 0.25),
        "b/none": (False, None, None, 0.0),
    }
    assert board.summary().startswith("1 complete row on 2 bias tasks")


def test_a_mitigated_row_shows_its_change_against_none_and_normalize(make_record) -> None:
    records = [
        make_record(mitigator__name=name, mitigator__fingerprint=name, value=value)
        for name, value in (("none", 1.0), ("normalize", -0.8), ("hard-debias", 0.2))
    ]
    assert rows_of(only(records), "bias_vs_none", "bias_vs_normalize") == {
        "m/hard-debias": (pytest.approx(-0.4), pytest.approx(-0.3)),
        "m/normalize": (pytest.approx(-0.1), None),
        "m/none": (None, None),
    }


def test_a_change_is_over_the_tasks_that_both_rows_have(make_rows) -> None:
    records = make_rows({"m": {"x": 1.0, "y": 2.0}}) + make_rows(
        {"m": {"x": 0.5}}, mitigator__name="hard-debias", mitigator__fingerprint="h"
    )
    change = rows_of(only(records), "bias_vs_none", "tasks_vs_none")["m/hard-debias"]
    assert change == (pytest.approx(-0.25), 1)


def test_columns_by_category_are_mean_distances(make_rows) -> None:
    records = make_rows({"m": {"x": 1.0, "y": 2.0}}) + make_rows({"m": {"z": 0.0}}, category="age")
    (row,) = only(records).rows.to_dicts()
    assert (row["bias:gender"], row["bias:age"]) == (0.75, 0.0)
    assert (row["task:x"], row["task:y"], row["task:z"]) == (1.0, 2.0, 0.0)


def test_a_row_has_the_label_of_its_mitigator(make_record) -> None:
    labels = ["hard-debias", "hard-debias?k=2", "hard-debias?k=2+normalize"]
    records = [
        make_record(
            mitigator__name=label.replace("?k=2", ""), mitigator__label=label,
            mitigator__fingerprint=label, mitigator__params={"k": 1 + ("?" in label)},
        )
        for label in labels
    ]  # fmt: skip
    assert only(records).rows["mitigator"].sort().to_list() == labels


def test_records_without_a_label_get_the_settings_that_differ(make_record) -> None:
    records = [
        make_record(
            mitigator__name="hard-debias", mitigator__label="", mitigator__fingerprint=str(k),
            mitigator__params={"k": k, "equalize": True},
        )
        for k in (1, 2)
    ] + [make_record(mitigator__params={"k": 3})]  # fmt: skip
    shown = only(records).rows["mitigator"].sort().to_list()
    assert shown == ["hard-debias?k=1", "hard-debias?k=2", "none"]


def test_models_of_one_name_with_different_weights_get_their_fingerprints(make_record) -> None:
    records = [make_record(model__fingerprint=letter * 32) for letter in "ab"]
    assert only(records).rows["model"].sort().to_list() == ["m [aaaaaaaa]", "m [bbbbbbbb]"]


def test_a_fact_in_only_one_record_of_a_row_is_kept(make_record) -> None:
    known = make_record(model__url="https://models.example/m", seed=1)
    assert only([known, make_record()]).rows["url"].to_list() == ["https://models.example/m"]


def test_the_order_of_the_records_does_not_matter(make_rows, make_many) -> None:
    records = [*make_many(), *make_rows({"x": {"seat-c6": 1.0}})]
    expected = only(records)
    random.Random(1).shuffle(records)
    shuffled = only(records)
    for name in ("tasks", "rows", "cells", "lacks", "others"):
        assert getattr(shuffled, name).equals(getattr(expected, name)), name


def test_every_row_of_a_complete_run_is_ranked(make_many) -> None:
    board = only(make_many())
    assert board.rows.filter(pl.col("complete")).height == 12
    assert board.rows["mitigator"][0] == "hard-debias"
