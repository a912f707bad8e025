"""The plot of bias against usefulness: the front, mitigated rows, references and intervals."""

import json
import re

import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.site.pareto import front, pareto_plot, shifted

USEFUL = {"task__measures": "usefulness", "category": "similarity", "ideal": "higher",
          "bounds": (-1.0, 1.0)}  # fmt: skip
FAMILIES = [f"family{i}" for i in range(6)]


@pytest.fixture
def board_of(make_rows):
    """Make a board of models by their bias (in [0, 2]) and usefulness, on six families."""

    def make(models, mitigator="none", **changes):
        records = []
        for i, family in enumerate(FAMILIES):
            jitter = 0.01 * (-1) ** i
            for name, (bias, use) in models.items():
                common = {"model__fingerprint": name, "mitigator__name": mitigator,
                          "mitigator__fingerprint": mitigator, **changes}  # fmt: skip
                values = {name: {f"b{i}": bias + jitter}}
                records += make_rows(values, category=family, **common)
                records += make_rows(
                    {name: {f"u{i}": use}}, **common, **USEFUL | {"category": family}
                )
        return records

    return make


def only(records):
    (board,) = compile_boards(records)
    return board


def traces(board) -> list[dict]:
    text = re.search(
        r"Plotly\.newPlot\(\s*\"plot-text\",\s*(\[.*?\]),\s*\{", pareto_plot(board), re.S
    )
    return json.loads(text[1])


MODELS = {"fair": (0.2, 0.2), "good": (0.4, 0.6), "beaten": (0.5, 0.5), "useful": (0.8, 0.9)}


def test_the_front_has_the_models_that_no_other_beats_on_both(board_of) -> None:
    board = only(board_of(MODELS))
    models = board.rows.filter(role="model")
    assert front(models)["model"].to_list() == ["fair", "good", "useful"]
    (line,) = [trace for trace in traces(board) if trace["name"] == "Pareto front"]
    assert line["x"] == sorted(line["x"])
    assert line["y"] == sorted(line["y"])


def test_a_model_that_is_not_usable_is_open_and_not_on_the_front(board_of, make_rows) -> None:
    records = board_of(MODELS)
    for name in MODELS:
        records += make_rows(
            {name: {"c": 1.0}}, model__fingerprint=name, task__measures="control",
            task__required=True, p_value=0.5 if name == "fair" else 0.001,
        )  # fmt: skip
    board = only(records)
    assert front(board.rows.filter(role="model"))["model"].to_list() == ["good", "useful"]
    points = {t["name"]: t for t in traces(board) if t.get("mode") == "markers"}
    assert points["fair"]["marker"]["symbol"] == "circle-open"
    assert "not usable" in points["fair"]["text"][0]
    assert points["good"]["marker"]["symbol"] == "circle"


def test_a_mitigated_row_stands_at_its_model_plus_its_effects(board_of) -> None:
    records = board_of(MODELS) + board_of({"useful": (0.6, 0.7)}, "hard-debias")
    board = only(records)
    (row,) = shifted(board, board.rows.filter(role="model")).to_dicts()
    assert row["mitigator"] == "hard-debias"
    assert row["bias"] == pytest.approx(0.3)
    assert row["usefulness"] == pytest.approx(0.85)
    (line,) = [t for t in traces(board) if t.get("mode") == "lines" and len(t["x"]) == 3 and
               t.get("name") != "Pareto front"]  # fmt: skip
    assert line["x"] == [pytest.approx(0.4), pytest.approx(0.3), None]


def test_points_have_their_intervals(board_of) -> None:
    board = only(board_of(MODELS))
    (point,) = [t for t in traces(board) if t["name"] == "good"]
    row = board.rows.filter(model="good").to_dicts()[0]
    assert point["error_x"]["array"] == [pytest.approx(row["bias_high"] - row["bias"])]
    assert point["error_x"]["arrayminus"] == [pytest.approx(row["bias"] - row["bias_low"])]


def test_random_vectors_are_lines_and_constant_ones_are_not_drawn(board_of) -> None:
    records = board_of(MODELS) + board_of({"random-texts": (0.1, 0.0)})
    empty = board_of({"constant-texts": (0.0, 0.0)}, reason="all texts have the same vector")
    records += [record.model_copy(update={"value": None}) for record in empty]
    text = pareto_plot(only(records))
    assert "random-texts" in text
    assert '"dash":"dash"' in text
    assert "constant-texts" not in text
    assert "random-texts" not in {trace.get("name") for trace in traces(only(records))}


def test_a_board_of_one_model_without_mitigators_is_drawn(board_of) -> None:
    assert len([t for t in traces(only(board_of({"m": (0.5, 0.5)}))) if t["name"] == "m"]) == 1


def test_a_board_of_mitigated_rows_alone_has_no_plot(board_of) -> None:
    assert pareto_plot(only(board_of(MODELS, "hard-debias"))) is None
