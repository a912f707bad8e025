"""What a board says on each benchmark, concept and language: the estimator's numbers."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from harness.leaderboard import building
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.registry.registry import Registry
from harness.results import estimator
from harness.results.folder import read_results

KEPT = Path(__file__).parents[3] / "docs" / "figures" / "board.jsonl.gz"
SOME = re.compile(
    rb'"name":"(glove-6b-50d|en-core-web-md|all-MiniLM-L6-v2|gemma-3-270m)",.*'
    rb'"name":"(none|hard-debias)"'
)
"""Records of two models of each kind; gemma and MiniLM were run in other languages, too."""
FAMILIES = "abcdefgh"


def board_of(records, *files):
    (board,) = compile_boards(frame_of(records), files)
    return board


@pytest.fixture
def rows(make_record):
    """Make the records of a row; a task is a method of its own."""

    def make(model: str, values, mitigator: str = "none", **changes):
        return [
            make_record(
                model__name=model, model__fingerprint=model, mitigator__name=mitigator,
                mitigator__fingerprint=mitigator, task__name=task, task__digest=task,
                task__family=task, value=2 * float(value), **changes,
            )
            for task, value in values.items()
        ]  # fmt: skip

    return make


def around(mean: float, seed: int = 0) -> dict[str, float]:
    noise = np.random.default_rng(seed).normal(scale=0.02, size=len(FAMILIES))
    return dict(zip(FAMILIES, mean + noise, strict=True))


def test_boards_have_the_numbers_of_the_same_records(tmp_path) -> None:
    """Means, intervals and differences, to the last printed digit."""
    file = tmp_path / "board.jsonl"
    every = gzip.decompress(KEPT.read_bytes()).splitlines(keepends=True)
    file.write_bytes(b"".join(line for line in every if SOME.search(line)))
    by_row: dict[tuple[str, str, str], list] = {}
    for record in read_results(file):
        row = record.model.kind, record.model.name, record.mitigator.label
        by_row.setdefault(row, []).append(record)
    compared = 0
    for board in building.rank([file], Registry()).boards:
        view = board.view("all")
        names = {row["row"]: row for row in board.rows.to_dicts() if row["role"] != "reference"}
        own = {
            key: by_row[board.kind, row["model"], row["mitigator"]] for key, row in names.items()
        }
        cells = estimator.cells_of(own)
        votes = board.tasks.filter(board.tasks["task"].is_in(view.tasks))  # of the task files
        cells = cells.drop("method").join(votes.select("task", method="family"), on="task")
        means = estimator.means(cells)
        for row in view.rows.to_dicts():
            if row["row"] not in own:  # the shipped references, which a build adds
                continue
            for measures in ("bias", "usefulness"):
                line = means.of(row["row"], measures)
                ends = [row[measures], row[f"{measures}_low"], row[f"{measures}_high"]]
                expected = [line.get(name) for name in ("value", "low", "high")]
                assert ends == (expected if None in expected else pytest.approx(expected, rel=1e-6))
                compared += ends[0] is not None
        bases = {row["model"]: key for key, row in names.items() if row["mitigator"] == "none"}
        for effect in view.effects.to_dicts():
            base = bases[names[effect["row"]]["model"]]
            line = estimator.differences(cells, [(base, [effect["row"]])]).of()
            of_effect = [effect[name] for name in ("difference", "difference_low")]
            assert of_effect == pytest.approx([line["difference"], line["low"]], abs=2e-6)
            change = round(effect["model"] - effect["base"], 6)
            assert effect["difference"] == change, "to the last digit"
            assert effect["verdict"] == line["verdict"]
            compared += 1
    assert compared > 15


def test_the_effect_of_a_mitigator_is_over_the_tasks_of_both(rows) -> None:
    records = rows("m", around(0.5)) + rows("m", {"a": 0.1, "b": 0.1}, "remover")
    view = board_of(records).first
    (effect,) = view.effects.to_dicts()
    assert (effect["tasks"], effect["compared"]) == (2, 2)
    assert effect["difference"] == pytest.approx(effect["model"] - effect["base"])
    own = dict(view.rows.select("row", "bias_tasks").iter_rows())
    assert sorted(own.values()) == [2, 8], "each row shows its mean over its own tasks"


def test_a_clear_change_has_a_verdict_and_noise_has_none(rows) -> None:
    records = rows("m", around(0.5)) + rows("m", around(0.1, 1), "remover")
    records += rows("m", around(0.5, 2), "shuffler") + rows("m", around(0.5), "nothing")
    board = board_of(records)
    verdicts = dict(board.effects.select("mitigator", "verdict").iter_rows())
    assert verdicts == {"remover": "less", "shuffler": "not clear", "nothing": "equal"}
    lines = {line["mitigator"]: line for line in board.first.mitigators.to_dicts()}
    assert (lines["remover"]["less"], lines["remover"]["more"]) == (1, 0)
    assert lines["remover"]["change"] == pytest.approx(-0.4, abs=0.02)
    assert lines["shuffler"]["less"] == 0
    assert board.first.mitigators["mitigator"][0] == "remover", "what lowers bias most is first"


def test_void_scores_enter_neither_means_nor_effects(rows, void) -> None:
    full = dict.fromkeys(FAMILIES, 0.5)
    records = rows("m", full) + rows("m", dict.fromkeys("abcd", 0.5), "fitted")
    records += rows("m", dict.fromkeys("efgh", 0.0), "fitted", **void)
    board = board_of(records)
    (effect,) = board.effects.to_dicts()
    assert (effect["verdict"], effect["tasks"]) == ("equal", 4)
    (row,) = board.rows.filter(mitigator="fitted").to_dicts()
    assert (row["bias"], row["bias_tasks"]) == (pytest.approx(0.5, abs=4e-3), 4)
    assert row["task:e"] is None


def test_a_mitigator_is_counted_on_the_models_where_it_and_the_model_are_usable(rows) -> None:
    blurred = {
        "value": None, "low": None, "high": None, "gap": 0.0, "gap_error": 0.1, "t": 1.0,
        "df": 9.0, "yardstick": 0.1, "yardstick_error": 0.1, "of": "y", "reference_gap": 1.0,
        "reference_error": 0.0, "reference_yardstick": 1.0,
    }  # fmt: skip
    records = rows("m", around(0.5)) + rows("m", around(0.1, 1), "x")
    records += rows("n", around(0.5)) + rows("n", around(0.0), "x", ratio=blurred)
    records += rows("noise", around(0.0), ratio=blurred) + rows("noise", around(0.1), "x")
    (line,) = board_of(records).first.mitigators.to_dicts()
    assert (line["models"], line["usable"], line["less"], line["over"]) == (3, 1, 1, "m")


def test_each_concept_has_a_view_of_its_own_with_ranks(rows) -> None:
    records = rows("m", dict.fromkeys("abcd", 0.2)) + rows("n", dict.fromkeys("abcd", 0.5))
    for model, value in (("m", 0.6), ("n", 0.3)):
        records += rows(model, dict.fromkeys("efgh", value), category="age")
    board = board_of(records)
    assert [view.concept for view in board.views] == ["", "age", "gender"]
    names = dict(board.rows.select("row", "model").iter_rows())
    first = {view.concept: names[view.rows.filter(rank=1)["row"][0]] for view in board.views}
    assert first == {"": "n", "gender": "m", "age": "n"}
    assert board.view("all", "age").tasks == tuple("efgh")


def test_rows_that_these_tests_cannot_tell_apart_share_a_range(rows) -> None:
    records = [r for i, m in enumerate("ab") for r in rows(m, around(0.3, i))]
    records += rows("c", around(0.9, 2))
    view = board_of(records).first
    ends = view.rows.sort("rank").select("rank", "rank_low", "rank_high").rows()
    assert ends == [(1, 1, 2), (2, 1, 2), (3, 3, 3)]
    assert view.rows["direction"].to_list() == ["stereotype"] * 3
