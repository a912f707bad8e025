"""Boards: the choice of records, what counts, completeness, changes and labels."""

import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.task.reference import Reference

RATIO = {
    "value": 1.0, "low": 0.9, "high": 1.1, "gap": 1.0, "gap_error": 0.01, "yardstick": 1.0,
    "yardstick_error": 0.002, "t": 50.0, "df": 20.0, "of": "yardstick-words",
    "reference_gap": 1.0, "reference_yardstick": 1.0, "reference_error": 0.0,
}  # fmt: skip


def near(value: float):
    """Return a bias as the ratio has it, but for what its variance takes from it."""
    return pytest.approx(value, abs=4e-3)


def only(records):
    (board,) = compile_boards(frame_of(records))
    return board


def rows_of(board, *columns: str) -> dict[str, tuple]:
    names = (board.rows["model"] + "/" + board.rows["mitigator"]).to_list()
    values = board.rows.select(columns).rows()
    return dict(zip(names, [v[0] if len(v) == 1 else v for v in values], strict=True))


def test_complete_models_are_ranked_by_their_bias(make_rows) -> None:
    # the gaps over a yardstick of 1: .2 and .5, .5 and .5, 0
    board = only(
        make_rows(
            {"a": {"x": -0.4, "y": 1.0}, "b": {"x": 1.0, "y": -1.0}, "c": {"x": 0.0, "y": 0.0}}
        )
    )
    assert rows_of(board, "rank", "bias", "methods", "bias_tasks") == {
        "c/none": (1, 0.0, 1, 2),
        "a/none": (2, near(0.35), 1, 2),
        "b/none": (3, near(0.5), 1, 2),
    }


def test_bias_is_the_gap_over_the_yardstick_relative_to_the_reference(make_record) -> None:
    ratio = {**RATIO, "gap": 0.3, "yardstick": 0.5}
    reference = Reference(task="t", version=1, kind="text", model="r", gap=0.2, error=0.0,
                          yardstick=0.4)  # fmt: skip
    (board,) = compile_boards(
        frame_of([make_record(ratio=ratio)]), references={"text": {"t": reference}}
    )
    (cell,) = board.cells.to_dicts()
    assert (cell["gap"], cell["yardstick"]) == (0.3, 0.5)
    assert cell["measure"] == pytest.approx(0.6)
    assert board.rows["bias"][0] == pytest.approx(0.6 / 0.5, abs=0.01)


def test_a_method_is_pooled_over_its_tasks_and_categories(make_rows) -> None:
    """A mean of single ratios would be ruled by the task with the small yardstick."""
    strong, weak = ({**RATIO, "gap": 0.4, "yardstick": d} for d in (1.6, 0.4))
    records = make_rows({"a": {"x": 0.8}}, ratio=strong)
    records += make_rows({"a": {"y": 0.8}}, ratio=weak, category="age")
    (row,) = only(records).rows.to_dicts()
    assert row["bias"] == near(0.8 / 2.0), "not (.25 + 1) / 2"
    assert (row["methods"], row["bias_tasks"]) == (1, 2)
    assert row["bias:age"] == pytest.approx(1.0, abs=0.01)
    assert row["bias:gender"] == near(0.25)


def test_a_task_without_a_value_of_the_reference_is_shown_and_enters_no_mean(make_rows) -> None:
    unknown = {**RATIO, "gap": 2.0, "reference_gap": None, "reference_yardstick": None}
    records = make_rows({"a": {"x": 0.6}, "b": {"x": 0.4}})
    records += make_rows({"a": {"own": 0.9}, "b": {"own": 0.9}}, ratio=unknown)
    board = only(records)
    assert rows_of(board, "rank", "bias") == {"b/none": (1, near(0.2)), "a/none": (2, near(0.3))}
    reason = "without a value of the reference encoder"
    assert board.tasks.filter(task="own")["not_ranked"].to_list() == [reason]
    assert rows_of(board, "task:own")["a/none"] == 0.9


def test_a_row_without_the_yardstick_of_a_method_has_a_mean_of_the_rest_and_no_rank(
    make_rows,
) -> None:
    """Blurring the worst method away would pay."""
    records = [
        record
        for i in range(3)
        for name in "abc"
        for record in make_rows(
            {name: {f"t{i}": 0.6}},
            task__family=f"f{i}",
            ratio={**RATIO, "gap": 0.3, "of": f"y{i}"}
            | ({"yardstick_error": 0.5, "t": 2.0} if (name, i) == ("a", 1) else {}),
        )
    ]
    rows = rows_of(only(records), "rank", "bias", "methods", "unranked")
    assert rows["a/none"] == (None, near(0.3), 2, "the yardstick of f1 is not clear")
    assert rows["b/none"] == (1, near(0.3), 3, None)


def test_a_bias_against_the_stereotype_counts_as_far_as_one_towards_it(make_rows) -> None:
    values = {"fair": 0.0, "against": -0.5, "towards": 0.3}
    records = [
        record
        for name, gap in values.items()
        for record in make_rows({name: {"x": gap}}, ratio={**RATIO, "gap": gap})
    ]
    board = only(records)
    assert board.rows["model"].to_list() == ["fair", "towards", "against"]
    assert rows_of(board, "bias")["against/none"] == near(0.5)


def test_a_method_has_one_vote(make_rows) -> None:
    # b wins four of five tasks, but loses the other family
    records = make_rows(
        {"a": dict.fromkeys("wxyz", 1.0), "b": dict.fromkeys("wxyz", 0.8)},
        task__family="association",
    )
    records += make_rows({"a": {"c": 0.0}, "b": {"c": 2.0}}, task__family="context")
    assert rows_of(only(records), "rank", "bias", "methods") == {
        "a/none": (1, near(0.125**0.5), 2),
        "b/none": (2, near(0.58**0.5), 2),
    }


@pytest.mark.parametrize(("measures", "ideal"), [("bias", 1.0), ("usefulness", "higher")])
def test_a_value_outside_its_bounds_never_enters(make_rows, measures, ideal) -> None:
    """A Spearman of 5 was ranked first."""
    records = make_rows(
        {"a": {"s": 0.5}, "b": {"s": 0.6}, "cheat": {"s": 5.0}},
        task__measures=measures, ideal=ideal, bounds=(-1.0, 1.0),
    )  # fmt: skip
    prefix = "" if measures == "bias" else "usefulness_"
    board = only(records)
    assert rows_of(board, f"{prefix}rank", f"{prefix}unranked") == {
        "b/none": (1, None),
        "a/none": (2, None),
        "cheat/none": (None, "0 of 1 tasks count"),
    }
    (reason,) = board.lacks["reason"]
    assert "5 is outside" in reason
    assert "-1.0 to 1.0" in reason


def test_bounds_of_one_record_do_not_let_its_value_in(make_rows) -> None:
    records = make_rows({"a": {"s": 0.5}, "b": {"s": 0.6}}, ideal="higher", bounds=(-1.0, 1.0))
    records += make_rows({"cheat": {"s": 5.0}}, ideal="higher", bounds=(-1.0, 10.0),
                         created="2025-01-01T00:00:00Z")  # fmt: skip
    assert rows_of(only(records), "rank")["cheat/none"] is None


def test_bounds_may_depend_on_the_number_of_items(make_record) -> None:
    records = [
        make_record(model__name="a", value=2.03, bounds=(-2.05, 2.05)),
        make_record(model__name="b", value=1.0, bounds=(-2.0, 2.0), created="2026-02-01T00:00:00Z"),
    ]
    assert only(records).lacks.is_empty()


def test_bias_without_a_yardstick_is_shown_and_not_ranked(make_rows) -> None:
    """|value| - floor shrinks with noise, so it says in part who is the most blurred."""
    records = make_rows({"a": {"x": 1.5}, "b": {"x": 0.1}}, ratio=None)
    records += make_rows({"a": {"y": 1.0}, "b": {"y": 0.5}})
    board = only(records)
    assert rows_of(board, "rank", "task:x") == {"b/none": (1, 0.1), "a/none": (2, 1.5)}
    assert "no gap over a yardstick" in board.tasks.filter(task="x")["not_ranked"][0]
    assert board.benchmarks[0].tasks == ("y",)
    assert any("'x' has no gap over a yardstick" in notice for notice in board.notices)


def test_usefulness_without_bounds_is_shown_and_not_ranked(make_rows) -> None:
    useful = {"task__measures": "usefulness", "ideal": "higher"}
    records = make_rows({"a": {"s": 3.0}, "b": {"s": 40.0}}, bounds=(None, None), **useful)
    records += make_rows({"a": {"u": 0.1}, "b": {"u": 0.5}}, bounds=(-1.0, 1.0), **useful)
    board = only(records)
    assert "cannot be added" in board.tasks.filter(task="s")["not_ranked"][0]
    assert board.benchmarks[0].tasks == ("u",)


def test_an_unranked_task_is_shown_with_its_reason(make_rows) -> None:
    records = make_rows({"a": {"y": 1.0}, "b": {"y": 0.5}})
    records += make_rows({"a": {"x": 0.0}}, task__unranked="it does not move with planted bias")
    board = only(records)
    assert rows_of(board, "rank", "bias") == {"b/none": (1, near(0.25)), "a/none": (2, near(0.5))}
    reasons = dict(board.tasks.select("task", "not_ranked").rows())
    assert reasons == {"x": "it does not move with planted bias", "y": None}


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
        (0.5, (0, 1), 1.2, None),
    ],
)
def test_distance_is_divided_by_the_largest_within_the_bounds(
    make_record, ideal, bounds, value, distance
) -> None:
    board = only([make_record(ideal=ideal, bounds=bounds, value=value)])
    assert board.cells["distance"][0] == (distance and pytest.approx(distance))


def test_values_on_both_sides_of_the_ideal_at_one_distance_tie(make_rows) -> None:
    board = only(make_rows({"a": {"x": 0.3}, "b": {"x": 0.7}}, ideal=0.5, bounds=(0, 1)))
    assert board.rows["rank"].to_list() == [1, 1]


def test_an_incomplete_row_is_not_ranked(make_rows) -> None:
    board = only(make_rows({"a": {"x": 1.0, "y": 1.0}, "best": {"x": 0.0}, "b": {"x": 2, "y": 2}}))
    assert board.rows["model"].to_list() == ["a", "b", "best"]
    assert rows_of(board, "rank", "unranked")["a/none"] == (1, None)
    assert rows_of(board, "rank", "unranked")["best/none"] == (None, "1 of 2 tasks count")
    assert board.lacks.select("task", "reason").rows() == [("y", "not run")]
    assert "1 not ranked" in board.summary()


def test_a_null_value_counts_as_missing_with_its_reason(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}}) + make_rows(
        {"b": {"x": None}}, reason="a set is out of vocabulary"
    )
    board = only(records)
    assert board.lacks["reason"].to_list() == ["a set is out of vocabulary"]


def test_the_highest_version_of_a_task_is_ranked_and_others_are_listed(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 1.0}, "c": {"x": 1.0}})
    new = make_rows({"a": {"x": 0.5}}, task__version=2)
    new = [r.model_copy(update={"task": r.task.model_copy(update={"digest": "n"})}) for r in new]
    board = only(records + [r.model_copy(update={"id": "new"}) for r in new])
    assert board.tasks["version"].to_list() == [2]
    assert rows_of(board, "bias") == {"a/none": near(0.25)}
    assert board.others["model"].sort().to_list() == ["a", "b", "c"]
    assert set(board.others["why"]) == {"another version or content of the task"}


def test_of_several_contents_of_a_version_the_one_with_most_rows_is_ranked(make_record) -> None:
    few = [make_record(model__name="z", task__digest="0", value=0.0)]
    most = [make_record(model__name=name, task__digest="1", value=1.0) for name in "ab"]
    board = only(few + most)
    assert board.tasks["digest"].to_list() == ["1"]
    assert board.rows["model"].to_list() == ["a", "b"]


def test_seeds_of_the_same_content_are_averaged(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}}, seed=1)
    records += make_rows({"a": {"x": -0.6}}, seed=2) + make_rows({"b": {"x": 1.0}})
    board = only(records)
    cells = board.cells.sort("model").select("value", "measure", "seeds", "seed")
    assert cells.row(0) == (pytest.approx(0.2), pytest.approx(0.4), 2, 1), "not |mean| / 2 = .1"
    assert cells.row(1) == (1.0, 0.5, 1, 0)
    assert board.cells.sort("model")["spread"].to_list() == [pytest.approx(0.8 * 2**0.5), None]
    assert rows_of(board, "rank", "bias") == {
        "a/none": (1, near(0.4)),
        "b/none": (2, near(0.5)),
    }
    assert board.others.is_empty()


def test_the_evidence_of_several_seeds_is_that_of_the_weakest(make_record) -> None:
    records = [
        make_record(
            seed=seed, value=value, p_value=p, details={"reversed": seed == 1},
            interval={"low": value - 1, "high": value + width, "level": 0.95, "method": "m"},
            floor={"mean": value / 10, "sd": 0.1, "centre": 0, "spread": 1, "draws": 9,
                   "shuffled": "s"},
        )
        for seed, value, p, width in ((1, 0.2, 0.01, 1), (2, 0.4, 0.20, 3))
    ]  # fmt: skip
    (cell,) = only(records).cells.to_dicts()
    names = ("p_value", "low", "high", "floor", "reversed")
    expected = (0.20, pytest.approx(-0.7), pytest.approx(2.3), pytest.approx(0.03), False)
    assert tuple(cell[name] for name in names) == expected


def test_a_seed_without_a_value_is_left_out_where_another_has_one(make_rows) -> None:
    records = make_rows({"a": {"x": None}}, seed=1, reason="undefined")
    records += make_rows({"a": {"x": 9.0}}, seed=2) + make_rows({"a": {"x": 1.0}}, seed=3)
    (cell,) = only(records).cells.to_dicts()
    assert (cell["value"], cell["measure"], cell["seeds"]) == (1.0, 0.5, 1)
    board = only(make_rows({"a": {"x": None}}, seed=1, reason="undefined")
                 + make_rows({"a": {"x": None}}, seed=2, reason="other"))  # fmt: skip
    assert board.lacks["reason"].to_list() == ["undefined"]
    assert board.cells["seeds"].to_list() == [0]


def test_records_that_are_not_primary_make_no_board(make_record) -> None:
    assert compile_boards(frame_of([make_record(primary=False)])) == []
    assert compile_boards(frame_of([])) == []


def test_word_and_text_embedders_have_separate_boards(make_many) -> None:
    boards = compile_boards(frame_of([*make_many("text"), *make_many("word")]))
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
    assert rows_of(only(records), "rank", "usefulness_unranked") == {
        "b/none": (1, "no task counts"),
        "a/none": (2, "a rank needs two models"),
    }


def test_usefulness_tasks_alone_make_a_board(make_rows) -> None:
    board = only(make_rows({"a": {"s": 0.5}, "b": {"s": 1.0}}, task__measures="usefulness"))
    assert rows_of(board, "rank", "usefulness_rank") == {"a/none": (None, 1), "b/none": (None, 2)}
    assert board.summary() == "2 models ranked on 0 bias tasks and 1 usefulness task"


def test_the_only_complete_row_has_no_rank(make_rows) -> None:
    board = only(make_rows({"a": {"x": 1.0, "y": 0.0}, "b": {"x": 0.0}}))
    assert rows_of(board, "rank", "bias", "unranked") == {
        "a/none": (None, near(0.25), "a rank needs two models"),
        "b/none": (None, 0.0, "1 of 2 tasks count"),
    }


def test_columns_by_category_are_of_its_tasks_alone(make_rows) -> None:
    records = make_rows({"m": {"x": 1.0, "y": 2.0}}) + make_rows({"m": {"z": 0.0}}, category="age")
    (row,) = only(records).rows.to_dicts()
    assert (row["bias:gender"], row["bias:age"]) == (near(0.75), 0.0)
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


def test_models_of_one_name_with_different_weights_get_their_fingerprints(make_record) -> None:
    records = [make_record(model__fingerprint=letter * 32) for letter in "ab"]
    assert only(records).rows["model"].sort().to_list() == ["m [aaaaaaaa]", "m [bbbbbbbb]"]


def test_models_are_ranked_without_mitigators(make_many) -> None:
    board = only(make_many())
    ranked = board.rows.drop_nulls("rank")
    assert ranked["mitigator"].to_list() == ["none"] * 3
    assert ranked["rank"].to_list() == [1, 2, 3]


def test_where_no_bias_task_is_ranked_usefulness_ranks(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}}, task__unranked="not monotone")
    records += make_rows({"a": {"s": 1.0}, "b": {"s": 0.5}}, task__measures="usefulness")
    assert rows_of(only(records), "rank", "usefulness_rank") == {
        "b/none": (None, 1),
        "a/none": (None, 2),
    }


def test_a_mitigator_that_leaves_no_difference_counts(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}})
    records += make_rows({"a": {"x": 0.0}}, mitigator__name="h", mitigator__fingerprint="h",
                         details={"undone": "all targets are equal", "before": 1.0})  # fmt: skip
    board = only(records)
    assert board.lacks.is_empty()
    assert board.effects["difference"].to_list() == [near(-0.5)]


def test_mitigators_of_one_label_have_rows_of_their_own(make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}})
    for name, value in (("first", 0.25), ("second", 0.75)):
        records += make_rows(
            {"a": {"x": value}}, mitigator__name=name, mitigator__label="same",
            mitigator__fingerprint=name,
        )  # fmt: skip
    (board,) = compile_boards(frame_of(records))
    mitigated = board.rows.filter(role="mitigated")
    assert sorted(mitigated["task:x"]) == [0.25, 0.75]
