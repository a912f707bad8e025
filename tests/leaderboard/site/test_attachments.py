"""Figures and tables of records: which files are linked and copied, and which are not."""

import json

import click
import pytest
from click.testing import CliRunner

import harness.leaderboard
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.site import attachments
from harness.leaderboard.site import writing as site

FIGURE, TABLE = "figures/abc-null.html", "tables/abc-pairs.tsv"


@pytest.fixture
def results(tmp_path, make_record):
    """A results folder with one record, a figure and a table."""
    folder = tmp_path / "results"
    for name, content in ((FIGURE, "<!doctype html>drawn"), (TABLE, "a\tb\n1\t2\n")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    record = make_record(figures={"null": FIGURE}, tables={"pairs": TABLE})
    (folder / "m.jsonl").write_text(record.line())
    return folder


def page_of(record, folder, *sources):
    return site.write(compile_boards([record]), folder, title="T", sources=sources).page.read_text()


def test_build_copies_and_links_figures_and_tables(results, tmp_path):
    settings = {"help_option_names": ["-h", "--help"]}
    group, out = click.Group(context_settings=settings), tmp_path / "site"
    harness.leaderboard.harness_commands(group)
    result = CliRunner().invoke(group, ["leaderboard", "build", str(results), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert (out / FIGURE).read_text() == "<!doctype html>drawn"
    assert (out / TABLE).read_text() == "a\tb\n1\t2\n"
    assert (out / "figures/plotly.min.js").stat().st_size > 1_000_000
    page = (out / "index.html").read_text()
    assert f'<a href="{FIGURE}" title="weat effect_size">null</a>' in page
    assert f'<a href="{TABLE}" title="weat effect_size">pairs</a>' in page
    (board,) = json.loads((out / "leaderboard.json").read_text())["boards"]
    assert {line["path"] for line in board["attachments"]} == {FIGURE, TABLE}


def test_a_missing_file_is_not_linked(tmp_path, make_record, results):
    record = make_record(figures={"null": FIGURE, "lost": "figures/lost.html"})
    page = page_of(record, tmp_path / "site", results)
    assert FIGURE in page
    assert "lost.html" not in page
    assert FIGURE not in page_of(record, tmp_path / "other"), "no source folder"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.html", "figures/../../secret.html", "/etc/passwd", "figures/.hidden.html",
        "figures/..", "figures/a/b.html", "figures/x.js", "tables/x.html", "figures\\x.html",
        "javascript:alert(1)//figures/x.html", "figures/x.html\n", "figures/<b>.html", "",
    ],
)  # fmt: skip
def test_a_path_out_of_the_folder_is_neither_copied_nor_linked(path, tmp_path, make_record):
    (tmp_path / "results").mkdir()
    (tmp_path / "secret.html").write_text("secret")
    record = make_record(figures={"x": path})
    (tmp_path / "results" / "m.jsonl").write_text(record.line())
    page = page_of(record, tmp_path / "site", tmp_path / "results")
    assert "Figures and tables of single values" not in page
    assert attachments.copy([path], [tmp_path / "results"], tmp_path / "site") == set()


@pytest.mark.posix
def test_a_link_out_of_the_folder_is_not_followed(results, tmp_path, make_record):
    (tmp_path / "secret.html").write_text("secret")
    (results / FIGURE).unlink()
    (results / FIGURE).symlink_to(tmp_path / "secret.html")
    record = make_record(figures={"null": FIGURE})
    assert FIGURE not in page_of(record, tmp_path / "site", results)
    (results / "figures").rename(tmp_path / "elsewhere")
    (results / "figures").symlink_to(tmp_path / "elsewhere")
    assert FIGURE not in page_of(record, tmp_path / "site", results)


def test_figures_of_an_older_version_are_not_listed(results, make_record):
    old = make_record(figures={"null": FIGURE})
    new = make_record(task__version=2, task__digest="e", figures={"null": "figures/new.html"})
    (board,) = compile_boards([old, new])
    assert board.attachments["path"].to_list() == ["figures/new.html"]


def test_figures_of_scores_that_are_not_primary_are_listed(make_record):
    first = make_record()
    second = make_record(primary=False, score="auc", scenario="other", figures={"null": FIGURE})
    (board,) = compile_boards([first, second])
    assert board.attachments.select("scenario", "score", "path").row(0) == ("other", "auc", FIGURE)
    assert board.attachments["model"].to_list() == ["m"]


def test_names_of_figures_are_escaped(results, tmp_path, make_record):
    record = make_record(figures={"<img src=x>": FIGURE})
    page = page_of(record, tmp_path / "site", results)
    assert "&lt;img src=x&gt;</a>" in page
    assert "<img" not in page
