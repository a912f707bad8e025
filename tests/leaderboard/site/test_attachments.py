"""Tables of records: which files are copied and linked, and which are not."""

import click
import polars as pl
import pytest
import site_data
from board_records import board_records
from click.testing import CliRunner
from submission_records import changed

import harness.leaderboard
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import Claims, frame_of
from harness.leaderboard.site import writing
from harness.leaderboard.site.writing import write

TABLE = "tables/abc-pairs.tsv"


@pytest.fixture
def results(tmp_path, make_record):
    """A results folder with one record and a table."""
    folder = tmp_path / "results"
    (folder / TABLE).parent.mkdir(parents=True)
    (folder / TABLE).write_text("a\tb\n1\t2\n")
    record = make_record(tables={"pairs": TABLE})
    (folder / "m.jsonl").write_text(record.line())
    return folder


def tables_in(records, folder, *sources):
    """Return the tables that the site of records links."""
    claims = Claims(frame_of(records))
    write(compile_boards(frame_of(records)), folder, title="T", claims=claims, sources=sources)
    return site_data.read(folder, "data/text-details.js")["tables"]


def test_build_copies_and_links_tables(results, tmp_path):
    content = board_records(["good"], ["seat-c6"])[0].model_dump(mode="json", by_alias=True)
    record = changed(content, tables={"pairs": TABLE})
    (results / "m.jsonl").write_text(record.line())
    settings = {"help_option_names": ["-h", "--help"]}
    group, out = click.Group(context_settings=settings), tmp_path / "site"
    harness.leaderboard.harness_commands(group)
    result = CliRunner().invoke(group, ["leaderboard", "build", str(results), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert (out / TABLE).read_text() == "a\tb\n1\t2\n"
    (table,) = site_data.read(out, "data/text-details.js")["tables"]
    assert (table["name"], table["path"]) == ("pairs", TABLE)


def test_a_missing_file_is_not_linked(tmp_path, make_record, results):
    record = make_record(tables={"pairs": TABLE, "lost": "tables/lost.tsv"})
    assert [t["path"] for t in tables_in([record], tmp_path / "site", results)] == [TABLE]
    assert tables_in([record], tmp_path / "other") == [], "no source folder"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.tsv", "tables/../../secret.tsv", "/etc/passwd", "tables/.hidden.tsv",
        "tables/..", "tables/a/b.tsv", "tables/x.js", "figures/x.html", "tables\\x.tsv",
        "javascript:alert(1)//tables/x.tsv", "tables/x.tsv\n", "tables/<b>.tsv", "",
    ],
)  # fmt: skip
def test_a_path_out_of_the_folder_is_neither_copied_nor_linked(path, tmp_path, make_record):
    (tmp_path / "results").mkdir()
    (tmp_path / "secret.tsv").write_text("secret")
    record = make_record(tables={"x": path})
    (tmp_path / "results" / "m.jsonl").write_text(record.line())
    assert tables_in([record], tmp_path / "site", tmp_path / "results") == []
    assert writing.copy([path], [tmp_path / "results"], tmp_path / "site") == (set(), "")


@pytest.mark.posix
def test_a_link_out_of_the_folder_is_not_followed(results, tmp_path, make_record):
    (tmp_path / "secret.tsv").write_text("secret")
    (results / TABLE).unlink()
    (results / TABLE).symlink_to(tmp_path / "secret.tsv")
    record = make_record(tables={"pairs": TABLE})
    assert tables_in([record], tmp_path / "site", results) == []
    (results / "tables").rename(tmp_path / "elsewhere")
    (results / "tables").symlink_to(tmp_path / "elsewhere")
    assert tables_in([record], tmp_path / "site", results) == []


@pytest.mark.parametrize(
    "content",
    [
        b"", b"a\tb\n1\n", b"\xff\xfe\t1\n", b"\t".join([b"x"] * 31) + b"\n",
        b"a\n" + b"x" * 200_000, b"a\n" + b'"' + b"x" * 150_000 + b'"\n',
    ],
)  # fmt: skip
def test_a_file_that_is_no_plain_table_is_not_copied(content, results, tmp_path, make_record):
    (results / TABLE).write_bytes(content)
    record = make_record(tables={"pairs": TABLE})
    assert tables_in([record], tmp_path / "site", results) == []
    (notice,) = site_data.read(tmp_path / "site")["notices"]
    assert TABLE in notice
    assert not (tmp_path / "site" / TABLE).exists()


def test_a_cell_is_no_formula_and_no_control_character(results, tmp_path, make_record):
    (results / TABLE).write_text("word\tscore\n=HYPERLINK(1)\t-0.5\n-ish\t+1e3\na\x1bb\t@x\n")
    tables_in([make_record(tables={"pairs": TABLE})], tmp_path / "site", results)
    assert (tmp_path / "site" / TABLE).read_text() == (
        "word\tscore\n'=HYPERLINK(1)\t-0.5\n'-ish\t+1e3\na b\t'@x\n"
    )


def test_tables_have_a_size_together(results, tmp_path, make_record, monkeypatch):
    monkeypatch.setattr(writing, "MAX_TOTAL", 10)
    (results / "tables/b.tsv").write_text("c\td\n3\t4\n")
    paths = {"a": TABLE, "b": "tables/b.tsv"}
    copied = tables_in([make_record(tables=paths)], tmp_path / "site", results)
    assert [table["path"] for table in copied] == [TABLE]


def test_tables_in_the_site_itself_are_left_as_they_are(results, make_record):
    (results / TABLE).write_text("a\n=1\n")
    assert tables_in([make_record(tables={"pairs": TABLE})], results, results)
    assert (results / TABLE).read_text() == "a\n=1\n"


def test_tables_of_an_older_version_are_not_listed(make_record):
    old = make_record(tables={"pairs": TABLE})
    new = make_record(task__version=2, task__digest="e", tables={"pairs": "tables/new.tsv"})
    (board,) = compile_boards(frame_of([old, new]))
    tables = writing.tables_of(board, frame_of([old, new]))
    assert tables["path"].to_list() == ["tables/new.tsv"]


def test_tables_of_scores_that_are_not_primary_are_listed(make_record):
    first = make_record()
    second = make_record(primary=False, score="auc", scenario="other", tables={"pairs": TABLE})
    (board,) = compile_boards(frame_of([first, second]))
    tables = writing.tables_of(board, frame_of([first, second]))
    assert tables.select("task", "scenario", "path").rows() == [("t", "other", TABLE)]


@pytest.mark.parametrize("tables", ['["a"]', '"a"', "{", '{"a": 5}'])
def test_what_is_no_object_of_paths_lists_no_tables(make_record, tables):
    frame = frame_of([make_record()]).with_columns(tables=pl.lit(tables))
    (board,) = compile_boards(frame)
    assert writing.tables_of(board, frame).is_empty()
