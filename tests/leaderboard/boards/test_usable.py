"""Which rows are usable: required controls, noise, and what a mitigator keeps."""

import numpy as np
import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of

CONTROL = {"task__measures": "control", "task__required": True, "category": "universal"}
USEFUL = {
    "task__measures": "usefulness", "category": "similarity", "ideal": "higher",
    "bounds": (-1.0, 1.0),
}  # fmt: skip


def only(records):
    (board,) = compile_boards(frame_of(records))
    return board


def state(board) -> dict[str, tuple]:
    names = (board.rows["model"] + "/" + board.rows["mitigator"]).to_list()
    return dict(zip(names, board.rows.select("rank", "unusable").rows(), strict=True))


def test_random_vectors_do_not_rank_although_they_have_no_bias(make_rows) -> None:
    """Gaussian noise of 300 dimensions tied for rank 1 of 7 on 21 word tasks."""
    rng = np.random.default_rng(0)
    tasks = [f"t{i}" for i in range(21)]
    values = {
        "a": dict.fromkeys(tasks, 1.2),
        "b": dict.fromkeys(tasks, 0.9),
        "noise": dict(zip(tasks, rng.normal(scale=0.3, size=21).tolist(), strict=True)),
    }
    records = make_rows(values)
    without = only(records)
    assert without.rows["model"][0] == "noise"
    assert any("noise could pass for a model" in notice for notice in without.notices)
    records += make_rows({"a": {"c": 1.5}, "b": {"c": 1.4}}, p_value=0.0001, **CONTROL)
    records += make_rows({"noise": {"c": 0.2}}, p_value=0.3, **CONTROL)
    rows = state(only(records))
    assert list(rows) == ["b/none", "a/none", "noise/none"]
    assert [rank for rank, _ in rows.values()] == [1, 2, None]
    assert "'c': p = 0.3" in rows["noise/none"][1]


@pytest.mark.parametrize(
    ("value", "p_value", "reason"),
    [
        (1.5, 0.001, None),
        (1.5, 0.2, "p = 0.2"),
        (-1.5, 0.001, "wrong side"),
        (1.5, None, "no p-value"),
        (None, None, "too few words"),
    ],
)
def test_a_required_control_is_passed_on_the_expected_side(
    make_rows, value, p_value, reason
) -> None:
    records = make_rows({"m": {"x": 1.0}, "n": {"x": 1.0}})
    records += make_rows({"n": {"c": 1.5}}, p_value=0.001, **CONTROL)
    records += make_rows({"m": {"c": value}}, p_value=p_value, reason="too few words", **CONTROL)
    unusable = state(only(records))["m/none"][1]
    assert unusable is None if reason is None else reason in unusable


def test_a_row_without_the_control_is_not_ranked(make_rows) -> None:
    records = make_rows({"m": {"x": 0.0}, "n": {"x": 1.0}, "o": {"x": 1.5}})
    records += make_rows({"n": {"c": 1.5}, "o": {"c": 1.5}}, p_value=0.001, **CONTROL)
    rows = state(only(records))
    assert rows["m/none"][0] is None
    assert "'c': not run" in rows["m/none"][1]
    assert rows["n/none"] == (1, None)


def test_a_control_that_is_not_required_keeps_no_row_out(make_rows) -> None:
    records = make_rows({"m": {"x": 0.0}, "n": {"x": 1.0}})
    records += make_rows({"n": {"c": 0.0}}, **CONTROL | {"task__required": False})
    assert [unusable for _, unusable in state(only(records)).values()] == [None, None]


def test_reference_rows_are_never_ranked(make_rows) -> None:
    values = {"a": 1.0, "b": 0.5, "random-texts": 0.0, "constant-texts": 0.0}
    values["random-texts?dimensions=50"] = 0.1
    board = only(make_rows({name: {"x": value} for name, value in values.items()}))
    roles = dict(board.rows.select("model", "role").rows())
    assert {name for name, role in roles.items() if role == "reference"} == set(values) - {*"ab"}
    assert board.rows.drop_nulls("rank")["model"].to_list() == ["b", "a"]
    assert board.rows["unusable"].null_count() == 5


def test_a_model_is_more_useful_than_random_vectors(make_rows) -> None:
    names = ("a", "b", "noisy", "random-texts")
    records = make_rows({name: {"x": 1.0} for name in names})
    useful = {"a": 0.6, "b": 0.5, "noisy": 0.06, "random-texts": 0.02}
    records += make_rows({name: {"s": value} for name, value in useful.items()}, **USEFUL)
    rows = state(only(records))
    assert rows["a/none"] == (1, None)
    assert rows["noisy/none"][0] is None
    assert "0.02 above that of random vectors" in rows["noisy/none"][1]


def test_a_mitigator_keeps_most_of_the_usefulness(make_record) -> None:
    def record(model: str, mitigator: str, value: float, **changes):
        return make_record(
            model__name=model, model__fingerprint=model, mitigator__name=mitigator,
            mitigator__fingerprint=mitigator, value=value, **changes,
        )  # fmt: skip

    records = []
    for model, mitigator, bias, useful in (
        ("m", "none", 1.0, 0.6), ("m", "mild", 0.8, 0.5), ("m", "rough", 0.1, 0.3),
        ("random-texts", "none", 0.0, 0.0),
    ):  # fmt: skip
        records.append(record(model, mitigator, bias))
        records.append(record(model, mitigator, useful, task__name="s", task__digest="s", **USEFUL))
    board = only(records)
    rows = state(board)
    assert rows["m/mild"][1] is None
    assert "keeps 50 %" in rows["m/rough"][1]
    unranked = dict(board.mitigators.select("mitigator", "unranked").rows())
    assert unranked["rough"] == "not usable on 1 model"
    assert board.effects.filter(mitigator="rough")["unusable"].null_count() == 0


def test_a_mitigator_that_leaves_noise_fails_the_control(make_rows) -> None:
    eraser = {"mitigator__name": "eraser", "mitigator__fingerprint": "e"}
    records = make_rows({"m": {"x": 1.0}}) + make_rows({"m": {"x": 0.0}}, **eraser)
    records += make_rows({"m": {"c": 1.5}}, p_value=0.001, **CONTROL)
    records += make_rows({"m": {"c": 0.1}}, p_value=0.4, **CONTROL, **eraser)
    assert "fails the control" in state(only(records))["m/eraser"][1]


def test_noise_is_random_vectors_without_options_and_without_a_mitigator(make_rows) -> None:
    noise = "random-texts"
    records = make_rows({name: {"x": 1.0} for name in ("a", "noisy", noise)})
    useful = {"a": {"s": 0.6}, "noisy": {"s": 0.06}, noise: {"s": 0.02}}
    records += make_rows(useful, **USEFUL)
    records += make_rows({noise: {"s": -0.5}}, **USEFUL, mitigator__name="hard-debias",
                         mitigator__fingerprint="h")  # fmt: skip
    records += make_rows({f"{noise}?dimensions=7": {"s": 0.9}}, **USEFUL)
    rows = state(only(records))
    assert rows["a/none"][1] is None
    assert "0.02 above that of random vectors" in rows["noisy/none"][1]


def test_a_copy_of_random_vectors_and_its_mitigated_row_make_a_board(make_rows) -> None:
    mitigated = {"mitigator__name": "hard-debias", "mitigator__fingerprint": "h"}
    records = make_rows({name: {"x": 1.0} for name in ("copy", "random-texts")})
    records += make_rows({name: {"s": 0.02} for name in ("copy", "random-texts")}, **USEFUL)
    records += make_rows({"copy": {"s": -0.02}}, **USEFUL, **mitigated)
    assert "above that of random vectors" in state(only(records))["copy/none"][1]


def test_a_model_that_is_not_usable_judges_no_mitigator(make_rows) -> None:
    eraser = {"mitigator__name": "eraser", "mitigator__fingerprint": "e"}
    models = ("m", "noise")
    records = make_rows({model: {"x": 1.0} for model in models})
    records += make_rows({model: {"x": 0.5} for model in models}, **eraser)
    for changes in ({}, eraser):
        records += make_rows({"m": {"c": 1.5}}, p_value=0.001, **CONTROL, **changes)
        records += make_rows({"noise": {"c": 0.1}}, p_value=0.4, **CONTROL, **changes)
    records = [  # of different weights
        record.model_copy(
            update={"model": record.model.model_copy(update={"fingerprint": record.model.name})}
        )
        for record in records
    ]
    (line,) = only(records).mitigators.to_dicts()
    assert (line["unranked"], line["bias"]) == (None, pytest.approx(-0.25))
    (line,) = only([r for r in records if r.model.name == "noise"]).mitigators.to_dicts()
    assert line["unranked"] == "run on no usable model"
