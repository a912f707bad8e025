"""Which rows are usable: clear yardsticks, noise, and what a mitigator keeps."""

from typing import Any

import numpy as np
import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.task.reference import Reference

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


def over(
    yardstick: float, error: float = 0.02, *, gap: float = 0.1, of: str = "y", **more: Any
) -> dict[str, Any]:
    """Return a gap over a yardstick."""
    return {
        "value": None, "low": None, "high": None, "t": yardstick / error, "df": 9.0, "gap": gap,
        "gap_error": 0.01, "yardstick": yardstick, "yardstick_error": error, "of": of,
        "reference_gap": 1.0, "reference_yardstick": 1.0, "reference_error": 0.0, **more,
    }  # fmt: skip


def test_random_vectors_do_not_rank_although_they_have_no_bias(make_rows) -> None:
    """Gaussian noise of 300 dimensions tied for rank 1 of 7 on 21 word tasks."""
    rng = np.random.default_rng(0)
    records = []
    for i in range(7):
        method = {"task__family": f"f{i}"}
        clear = over(0.4, of=f"y{i}", gap=0.2)
        records += make_rows({"a": {f"t{i}": 1.2}}, ratio=clear, **method)
        records += make_rows({"b": {f"t{i}": 0.9}}, ratio=clear | {"gap": 0.15}, **method)
        noise = over(abs(rng.normal(scale=0.02)), of=f"y{i}", gap=rng.normal(scale=0.01))
        records += make_rows({"noise": {f"t{i}": 0.0}}, ratio=noise, **method)
    rows = state(only(records))
    assert [rank for rank, _ in rows.values()] == [1, 2, None]
    assert list(rows) == ["b/none", "a/none", "noise/none"]
    assert "of 7 methods are clear" in rows["noise/none"][1]


@pytest.mark.parametrize(("clear", "is_usable"), [(4, True), (2, True), (1, False), (0, False)])
def test_at_least_half_of_the_yardsticks_are_clear(make_rows, clear, is_usable) -> None:
    records = []
    for i in range(4):
        ratio = over(0.06 if i < clear else 0.0599, of=f"y{i}")  # t of 3, and just below
        method = {"task__family": f"f{i}"}
        records += make_rows({"m": {f"t{i}": 1.0}}, ratio=ratio, **method)
        records += make_rows({"n": {f"t{i}": 1.0}}, ratio=over(0.4, of=f"y{i}"), **method)
    rows = state(only(records))
    assert rows["n/none"][1] is None
    reason = f"the yardsticks of {clear} of 4 methods are clear; half of them are needed"
    assert rows["m/none"][1] == (None if is_usable else reason)


def test_a_control_keeps_no_row_out(make_rows) -> None:
    records = make_rows({"m": {"x": 0.0}, "n": {"x": 1.0}})
    records += make_rows({"n": {"c": 0.0}}, task__measures="control", category="universal",
                         p_value=0.9)  # fmt: skip
    assert [unusable for _, unusable in state(only(records)).values()] == [None, None]


@pytest.mark.parametrize(("gap", "is_usable"), [(0.03, True), (0.019, False)])
def test_a_row_tells_mother_from_father(make_rows, gap, is_usable) -> None:
    """Words of one gender that are collapsed to a point had a bias of .006, and were ranked."""
    control = {"task__measures": "control", "category": "gender", "task__family": "meaning"}
    records = make_rows({"m": {"x": 0.0}, "n": {"x": 1.0}})
    records += make_rows({"m": {"c": 0.0}}, ratio=over(0.4, gap=gap), **control)
    board = only(records)
    unusable = state(board)["m/none"][1]
    assert (unusable is None) == is_usable
    assert is_usable or "tells mother from father by 5 %" in unusable
    meanings = dict(board.rows.select("model", "meaning").rows())
    assert meanings == {"m": pytest.approx(gap / 0.4), "n": None}


def uneven(board) -> dict[str, str | None]:
    return dict(board.rows.select("model", "uneven").rows())


def test_a_yardstick_of_which_one_contrast_gives_most_is_uneven(make_record) -> None:
    even = {f"c{i}": 0.4 + 0.01 * i for i in range(8)}
    records = [
        make_record(model__name=name, model__fingerprint=name, contrasts=contrasts)
        for name, contrasts in (("even", even), ("boosted", even | {"c3": 2.0}), ("none", {}))
    ]
    reasons = uneven(only(records))
    assert reasons["even"] is None
    assert reasons["none"] is None
    assert reasons["boosted"] == "'c3' gives 40 % of yardstick-sentences"
    few = make_record(contrasts={"c0": 2.0, "c1": 0.1})
    assert uneven(only([few])) == {"m": None}, "too few to judge by shares"


def test_a_yardstick_that_spreads_more_than_that_of_the_reference_is_uneven(make_record) -> None:
    usual = {f"c{i}": 0.4 + 0.02 * i for i in range(8)}
    wide = {f"c{i}": 0.4 + 0.15 * i for i in range(8)}
    held = Reference(task="t", version=1, kind="text", model="r", gap=1.0, error=0.01,
                     yardstick=1.0, contrasts=usual)  # fmt: skip
    records = [
        make_record(model__name=name, model__fingerprint=name, contrasts=contrasts)
        for name, contrasts in (("usual", usual), ("wide", wide))
    ]
    (board,) = compile_boards(frame_of(records), references={"text": {"yardstick-sentences": held}})
    reasons = uneven(board)
    assert reasons["usual"] is None
    assert "spread" in reasons["wide"]
    assert "times as much as is usual" in reasons["wide"]
    assert board.rows.filter(model="wide")["unusable"].to_list() == [None], "it is only marked"


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
    usable = dict(board.first.mitigators.select("mitigator", "usable").rows())
    assert usable == {"mild": 1, "rough": 0}
    assert board.effects.filter(mitigator="rough")["unusable"].null_count() == 0


def test_a_mitigator_that_leaves_noise_is_not_usable(make_rows) -> None:
    eraser = {"mitigator__name": "eraser", "mitigator__fingerprint": "e"}
    records = make_rows({"m": {"x": 1.0}}, ratio=over(0.4))
    records += make_rows({"m": {"x": 0.0}}, ratio=over(0.01, gap=0.0), **eraser)
    assert "of 0 of 1 methods are clear" in state(only(records))["m/eraser"][1]


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
