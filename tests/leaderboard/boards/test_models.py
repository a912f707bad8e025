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


def test_environments_are_counted_by_model_and_in_all(make_record) -> None:
    packages = {"numpy": "2.0", "a": "1"}
    records = [
        make_record(task__name="x"),
        make_record(task__name="y"),
        make_record(model__name="n", task__name="x", environment__packages=packages),
    ]
    board = board_of(records)
    plain = "harness 0.1.0, Python 3.11, Linux x86_64, cpu"
    assert board.environments == ((plain, 2), (f"{plain}; a 1, numpy 2.0", 1))
    by_model = {model["model"]: model["environments"] for model in board.models.to_dicts()}
    assert by_model["m"] == [{"environment": plain, "records": 2}]


def test_several_versions_of_the_harness_give_a_notice(make_record) -> None:
    def notices(*names: str, versions=("0.1.0", "0.2.0", "0.2.0")) -> list[str]:
        models = zip(names, versions, strict=True)
        records = [
            make_record(model__name=name, environment__harness=version) for name, version in models
        ]
        return [notice for notice in board_of(records).notices if "of the harness" in notice]

    (notice,) = notices("a", "b", "c")
    assert "2 versions" in notice
    assert "0.2.0 (2 records), 0.1.0 (1 record)" in notice
    (long,) = notices(*"abcdefgh", versions=[f"{i}" + "0" * 900 for i in range(8)])
    assert "and 3 more" in long
    assert len(long) < 400
    assert notices("random-texts", "b", "c") == [], "references were computed before"
