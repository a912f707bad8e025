"""What changed since an earlier build: changes.json and the news."""

import json

import polars as pl
import site_data

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import Claims, frame_of
from harness.leaderboard.site import writing as site


def write(records, folder, **settings):
    boards = compile_boards(frame_of(records))
    claims = Claims(frame_of(records))
    site.write(boards, folder, title="T", claims=claims, built="today", **settings)
    return site_data.read(folder)["news"]


def test_the_first_build_has_no_news(tmp_path, make_rows) -> None:
    assert write(make_rows({"a": {"x": 1.0}}), tmp_path) is None
    assert not (tmp_path / "changes.json").exists()
    assert "changes.json" not in site_data.read(tmp_path)["files"]


def test_news_are_new_names_changed_values_and_ranks(tmp_path, make_rows) -> None:
    before = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}})
    write(before, tmp_path)
    now = make_rows({"a": {"x": 0.25, "y": 0.5}, "b": {"x": 0.5, "y": 0.75}, "c": {"x": 1, "y": 1}})
    now = [r.model_copy(update={"model": r.model.model_copy(
        update={"fingerprint": r.model.name * 8})}) for r in now]  # fmt: skip
    before = [r.model_copy(update={"model": r.model.model_copy(
        update={"fingerprint": r.model.name * 8})}) for r in before]  # fmt: skip
    now += make_rows({"random-texts": {"x": 0.1}}, model__fingerprint="noise")
    write(before, tmp_path / "first")
    news = write(now, tmp_path / "second", since=tmp_path / "first")
    assert news["since"] == "today"
    assert (news["models"], news["mitigators"], news["tasks"]) == (["c"], [], ["y"])
    assert news["values"] == 1
    assert sorted(news["ranks"]) == [
        ["text", "all", "a", 2, 1],
        ["text", "all", "b", 1, 2],
        ["text", "all", "c", None, 3],
    ]
    content = json.loads((tmp_path / "second/changes.json").read_text())
    assert [(c["model"], c["task"], c["before"], c["now"]) for c in content["changed"]] == [
        ("a", "x", 1.0, 0.25)
    ]


def test_a_build_without_changes_keeps_the_news(tmp_path, make_rows) -> None:
    first, second = make_rows({"a": {"x": 1.0}}), make_rows({"a": {"x": 1.0, "y": 0.5}})
    assert write(first, tmp_path) is None
    assert write(first, tmp_path) is None, "nothing changed"
    news = write(second, tmp_path)
    assert news["tasks"] == ["y"]
    content = (tmp_path / "changes.json").read_bytes()
    assert write(second, tmp_path) == news
    assert (tmp_path / "changes.json").read_bytes() == content


def test_an_earlier_build_that_cannot_be_read_gives_a_notice(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}})
    broken = ("not JSON", "[]", '{"schema": 4}', '{"schema": 4, "built": 1, "boards": [{}]}')
    for content in broken:
        (tmp_path / "leaderboard.json").write_text(content)
        assert write(records, tmp_path) is None
        (notice,) = site_data.read(tmp_path)["notices"]
        assert "no news" in notice
    (tmp_path / "leaderboard.json").write_text('{"schema": 2}')
    assert write(records, tmp_path) is None
    assert "schema 2" in site_data.read(tmp_path)["notices"][0]
    (tmp_path / "records.parquet").write_bytes(b"broken")
    assert write(records, tmp_path) is None
    assert "no news" in site_data.read(tmp_path)["notices"][0]


def test_records_have_what_a_board_made_of_them(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}}) + make_rows({"a": {"x": 0.5}}, overlap=("she",),
                        mitigator__name="h", mitigator__fingerprint="h")  # fmt: skip
    other = [r.model_copy(update={"primary": False, "score": "auc"}) for r in records[:1]]
    other = [r.model_copy(update={"id": r.identity()}) for r in other]
    write([*records, *other], tmp_path)
    lines = pl.read_parquet(tmp_path / "records.parquet")
    shown = lines.select("label", "score", "value", "ranked", "measure", "leak").rows()
    assert shown == [
        ("h", "effect_size", 0.5, True, 0.25, True),
        ("none", "auc", 1.0, False, None, False),
        ("none", "effect_size", 1.0, True, 0.5, False),
    ]
