"""The models of a board: facts, environments, and versions of the harness."""

import json

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of


def board_of(records):
    (board,) = compile_boards(frame_of(records))
    return board


def test_a_fact_is_that_of_the_latest_record_that_has_it(make_record) -> None:
    old = {"created": "2026-01-01T00:00:00Z", "model__licence": "mit", "model__released": "2024"}
    records = [
        make_record(task__name="x", model__open_weights=True, model__languages=("en",), **old),
        make_record(task__name="y", created="2026-02-01T00:00:00Z", model__licence="apache-2.0",
                    model__published={"MTEB": 60.0}),
    ]  # fmt: skip
    (model,) = board_of(records).models.to_dicts()
    assert (model["licence"], model["released"], model["languages"]) == (
        "apache-2.0",
        "2024",
        ["en"],
    )
    assert model["open_weights"] is True
    assert json.loads(model["published"]) == {"MTEB": 60.0}
    assert model["max_tokens"] is None


def test_a_superseded_model_is_ranked_and_marked(make_rows) -> None:
    records = make_rows({"old": {"x": 0.2}}, model__superseded_by="new", model__fingerprint="o")
    records += make_rows({"new": {"x": 0.6}}, model__fingerprint="n")
    rows = board_of(records).rows.select("model", "rank", "superseded_by").rows()
    assert rows == [("old", 1, "new"), ("new", 2, None)]


def test_models_of_one_name_are_told_apart(make_record) -> None:
    models = board_of([make_record(model__fingerprint=letter * 32) for letter in "ab"]).models
    assert models.select("model", "name").rows() == [("m [aaaaaaaa]", "m"), ("m [bbbbbbbb]", "m")]
