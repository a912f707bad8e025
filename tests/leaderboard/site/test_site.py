"""The files of a leaderboard: contents, escaping of names, and errors."""

import csv
import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import click
import pytest
from click.testing import CliRunner

import harness.leaderboard
from harness.errors import DiskError, InvalidFile, UsageError
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.site import writing as site

HOSTILE = '</script><img src=x onerror="window.hacked=1">{{123*457}}\'"&'
FILES = ["assets", "data", "index.html", "leaderboard.csv", "leaderboard.json", "new.html"]


class Page(HTMLParser):
    """Collects tags, and the cells of tables by the tables' names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._table: list[list[str]] = []
        self._skip = self._cell = False
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.attributes += found
        self.links += [found[name] for name in ("href", "src") if found.get(name)]
        self._skip = tag in ("script", "style")
        if tag == "table":
            self._table = self.tables.setdefault(found.get("data-name", ""), [])
        elif tag == "tr":
            self._table.append([])
        elif tag in ("td", "th"):
            self._cell = True
            self._table[-1].append(found.get("data-order") or "")
            self._ordered = "data-order" in found

    def handle_endtag(self, tag) -> None:
        self._skip = False
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data) -> None:
        if self._skip:
            return
        self.text.append(data)
        if self._cell and not self._ordered:
            self._table[-1][-1] += data


def command(*arguments) -> click.testing.Result:
    group = click.Group(context_settings={"help_option_names": ["-h", "--help"]})
    harness.leaderboard.harness_commands(group)
    return CliRunner().invoke(group, ["leaderboard", "build", *map(str, arguments)])


@pytest.fixture
def results(tmp_path, make_many):
    path = tmp_path / "results" / "m.jsonl"
    path.parent.mkdir()
    path.write_text("".join(record.line() for record in make_many()))
    return path.parent


def names_in(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def page_of(records, folder) -> Page:
    return Page(site.write(compile_boards(records), folder, title="T").page.read_text("utf-8"))


def test_build_writes_three_files_and_prints_a_summary(results, tmp_path) -> None:
    result = command(results, "--out", tmp_path / "site", "--title", "Our <models>")
    assert result.exit_code == 0, result.output
    assert "3 models ranked on 7 bias tasks" in result.stdout
    assert "9 mitigated" in result.stdout
    assert names_in(tmp_path / "site") == FILES
    assert "<title>Our &lt;models&gt;</title>" in (tmp_path / "site/index.html").read_text("utf-8")


def test_records_of_smoke_runs_are_set_aside_in_one_line(results, tmp_path, make_many) -> None:
    whole = command(results, "--out", tmp_path / "whole", "--json")
    smoke = [
        record.model_copy(update={"limit": 5, "id": f"smoke-{i}", "created": "2027-01-01"})
        for i, record in enumerate(make_many())
    ]
    (results / "z.jsonl").write_text("".join(record.line() for record in smoke))
    result = command(results, "--out", tmp_path / "site", "--json")
    assert result.exit_code == 0, result.output
    line = result.stderr.splitlines()[0]
    assert f"{len(smoke)} records of smoke runs" in line
    before, after = json.loads(whole.stdout), json.loads(result.stdout)
    assert after["notices"] == [line]
    assert after["boards"] == before["boards"]


def test_a_board_of_smoke_runs_alone_is_an_error(results, tmp_path, make_many) -> None:
    (path,) = results.iterdir()
    path.write_text("".join(r.model_copy(update={"limit": 5}).line() for r in make_many()))
    result = command(results, "--out", tmp_path / "site")
    assert isinstance(result.exception, UsageError)
    assert not (tmp_path / "site").exists()


def test_the_printed_json_is_that_of_the_file(results, tmp_path) -> None:
    result = command(results, "--out", tmp_path / "site", "--json")
    assert json.loads(result.stdout) == json.loads((tmp_path / "site/leaderboard.json").read_text())


def test_a_task_of_one_row_is_reported_everywhere_unless_the_tasks_are_chosen(
    results, tmp_path, make_many
) -> None:
    first = make_many()[0]
    stray = first.model_copy(
        update={"task": first.task.model_copy(update={"name": "mine", "digest": "m"})}
    )
    (results / "z.jsonl").write_text(stray.model_copy(update={"id": "z"}).line())
    result = command(results, "--out", tmp_path / "site")
    (board,) = json.loads((tmp_path / "site/leaderboard.json").read_text())["boards"]
    (notice,) = [line for line in board["notices"] if "'mine'" in line]
    assert "1 of 3 models" in notice
    assert f"text embeddings: {notice}" in result.stderr
    page = Page((tmp_path / "site/index.html").read_text("utf-8"))
    assert notice in page.text
    assert page.tables["text models"][2][0] == "1e+99", "one model has no rank"
    tasks = ("--tasks", "seat-*,age-traits", "--tasks", "name-triplets,s*")
    result = command(results, "--out", tmp_path / "site", *tasks)
    assert "3 models ranked on 7 bias tasks and 2 usefulness tasks" in result.stdout
    assert "'mine'" not in result.stderr


def test_the_tasks_of_a_benchmark_are_chosen_by_its_name(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"direct-bias": 1.0, "mine": 1.0}})
    records += make_rows({"b": {"direct-bias": 0.5}}, model__fingerprint="b")
    (tmp_path / "r.jsonl").write_text("".join(record.line() for record in records))
    result = command(tmp_path / "r.jsonl", "--out", tmp_path / "site", "-t", "bolukbasi-2016")
    assert result.exit_code == 0, result.output
    assert "2 models ranked on 1 bias task " in result.stdout
    assert "8 of 9 tasks of 'bolukbasi-2016'" in result.stderr
    assert "rg-65" in result.stderr


def test_required_controls_stay_whatever_tasks_are_chosen(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}})
    records += make_rows({"b": {"x": 0.5}}, model__fingerprint="b")
    control = {"task__measures": "control", "task__required": True}
    records += make_rows({"b": {"c": 0.1}}, p_value=0.6, model__fingerprint="b", **control)
    (tmp_path / "r.jsonl").write_text("".join(record.line() for record in records))
    result = command(tmp_path / "r.jsonl", "--out", tmp_path / "site", "-t", "x")
    assert "2 not usable" in result.stdout


def test_control_tasks_are_marked_as_not_ranked(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}})
    records += make_rows({"a": {"c": 1.0}, "b": {"c": 1.0}}, task__measures="control")
    page = page_of(records, tmp_path)
    assert "control, not ranked: gender" in page.tables["text by task"][0]


def test_page_csv_and_json_have_the_same_numbers(tmp_path, make_many) -> None:
    records = make_many()
    model = next(i for i, r in enumerate(records) if r.model.name == "e5-small")
    del records[model]  # a bias task of a row without a mitigator
    written = site.write(compile_boards(records), tmp_path, title="T")
    tables = Page(written.page.read_text("utf-8")).tables
    rows = list(csv.DictReader(io.StringIO(written.csv.read_text("utf-8"))))
    (board,) = json.loads(written.json.read_text("utf-8"))["boards"]
    tasks = [task["task"] for task in board["tasks"]]
    assert [r["model"] for r in rows] == [r["model"] for r in board["rows"]]
    shown = tables["text by task"][2:]
    assert len(shown) == len(rows) == len(board["rows"]) == 12
    for cells, row, entry in zip(shown, rows, board["rows"], strict=True):
        assert cells[1:3] == [row["model"], row["mitigator"]]
        for cell, task in zip(cells[3:], tasks, strict=True):
            number = entry[f"task:{task}"]
            if number is None:
                assert (cell, row[f"task:{task}"]) == ("1e+99", "")
            else:
                assert float(cell) == float(row[f"task:{task}"]) == number
    assert len(tables["text models"]) == 2 + 2
    for cells, row, entry in zip(tables["text models"][2:], rows, board["rows"], strict=False):
        assert int(cells[0]) == int(row["rank"]) == entry["rank"]
        assert float(cells[3]) == float(row["bias"]) == entry["bias"]
    (lacking,) = tables["text not ranked"][2:]
    assert lacking[0] == "e5-small"
    assert "no value on 1 ranked task" in lacking[1]
    changes = {(e["model"], e["mitigator"]): e for e in board["effects"] if e["baseline"] == "none"}
    for cells in tables["text effects"][2:]:
        assert float(cells[2]) == changes[cells[0], cells[1]]["bias"]
    for cells, entry in zip(tables["text mitigators"][2:], board["mitigators"], strict=True):
        assert (int(cells[0]), cells[2]) == (entry["rank"], entry["mitigator"])
        assert float(cells[4]) == entry["bias"]


def test_a_hostile_name_is_escaped_everywhere(tmp_path, make_record) -> None:
    records = [
        make_record(
            model__name=HOSTILE, model__url="javascript:alert(1)", mitigator__name=mitigator,
            mitigator__params={HOSTILE: mitigator}, mitigator__fingerprint=mitigator,
            mitigator__concept=HOSTILE, task__name=HOSTILE + task, task__title=HOSTILE,
            task__digest=HOSTILE + task, task__measures=task, category=HOSTILE, language=HOSTILE,
            scenario=HOSTILE, metric=HOSTILE, score=HOSTILE, value=value, reason=HOSTILE,
            coverage={"asked": 2, "found": 1, "missing": (HOSTILE,)},
            overlap=(HOSTILE,) if task == "usefulness" else (),  # a leak has no point in the plot
            environment={"harness": HOSTILE, "python": HOSTILE, "platform": HOSTILE,
                         "device": HOSTILE, "packages": {HOSTILE: HOSTILE}},
        )
        for mitigator, value in (("none", 1.0), (HOSTILE, 0.5), (HOSTILE * 2, None))
        for task in ("bias", "usefulness")
    ]  # fmt: skip
    plain = page_of([make_record(), make_record(task__measures="usefulness", task__name="u",
                                                task__digest="u")], tmp_path / "plain")  # fmt: skip
    page = page_of(records, tmp_path / "hostile")
    assert "img" not in page.tags
    assert page.tags.count("script") == plain.tags.count("script")
    assert not [name for name in page.attributes if name.startswith("on")]
    assert not [link for link in page.links if "javascript" in link]
    assert HOSTILE in "".join(page.text), "the name is shown unchanged"
    assert "56211" not in "".join(page.text)


def test_nothing_is_fetched_from_the_network(tmp_path, make_many) -> None:
    page = page_of(make_many(), tmp_path)
    outside = [link for link in page.links if "//" in link and "models.example" not in link]
    assert outside == []
    assert {"iframe", "object", "embed"}.isdisjoint(page.tags)


def test_a_name_is_no_formula_in_a_spreadsheet(tmp_path, make_record) -> None:
    records = [make_record(model__name="=HYPERLINK(1)", value=-1.0)]
    written = site.write(compile_boards(records), tmp_path, title="T")
    (row,) = csv.DictReader(io.StringIO(written.csv.read_text("utf-8")))
    assert row["model"] == "'=HYPERLINK(1)"
    assert row["task:t"] == "-1.0"


def test_the_tip_of_a_value_has_its_statistics_and_coverage(tmp_path, make_record) -> None:
    record = make_record(
        value=1.0, p_value=0.004, n=8, overlap=("she",),
        interval={"low": 0.5, "high": 1.5, "level": 0.95, "method": "bootstrap"},
        coverage={"asked": 10, "found": 9, "missing": ("Latoya",), "truncated": 3},
    )  # fmt: skip
    text = site.write(compile_boards([record]), tmp_path, title="T").page.read_text("utf-8")
    tip = re.search(r'data-tip="(weat[^"]*)"[^>]*>1.000<span class="marks">([^<]*)<', text)
    assert tip, "the value has a tip"
    assert tip[2] == "**◐†"
    assert "* p &lt; .05, ** p &lt; .01, *** p &lt; .001" in text
    for part in ("ideal 0, from -2 to 2", "p = 0.004", "95% interval 0.500 to 1.500", "n = 8",
                 "1 of 10 texts have no vector", "3 of 10 texts are truncated",
                 "fitted on 1 of the task"):  # fmt: skip
        assert part in tip[1]
    assert "Latoya" in text


@pytest.mark.parametrize("measures", ["bias", "usefulness"])
def test_one_row_of_one_measure_makes_a_page_without_plot(measures, tmp_path, make_record) -> None:
    page = page_of([make_record(task__measures=measures)], tmp_path)
    assert len(page.tables["text models"]) == 3
    assert "plot-text" not in " ".join(page.attributes)


def test_incomplete_rows_alone_make_a_page(tmp_path, make_rows) -> None:
    page = page_of(make_rows({"a": {"x": 1.0}, "b": {"y": 1.0}}), tmp_path)
    assert "text models" not in page.tables
    assert len(page.tables["text not ranked"]) == 4
    assert "no model is ranked" in "".join(page.text)


def test_the_reason_counts_the_tasks_that_keep_a_model_from_its_rank(tmp_path, make_rows) -> None:
    useful = {"task__measures": "usefulness", "ideal": "higher"}
    records = make_rows({"a": {"x": 1.0, "y": 1.0}, "b": {"y": 1.0}})
    records += make_rows({"a": {"s": 1.0}}, **useful)
    page = page_of(records, tmp_path)
    (row,) = page.tables["text not ranked"][2:]
    assert row[:1] == ["b"]
    assert row[1].startswith("no value on 1 ranked task")


def test_a_board_without_bias_tasks_says_why_no_model_has_a_rank(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"s": 1.0}, "b": {"s": 0.5}}, task__measures="usefulness")
    page_of(records, tmp_path)
    html = (tmp_path / "index.html").read_text("utf-8")
    assert "not ranked: no bias task of this board is ranked" in html
    assert "no other model" not in html


def test_tables_without_a_ranked_task_have_one_row_of_headers(tmp_path, make_rows) -> None:
    records = make_rows(
        {"a": {"x": 1.0}, "random-texts": {"x": 1.0}}, task__unranked="not monotone"
    )
    page = page_of(records, tmp_path)
    assert [cells[0] for cells in page.tables["text not ranked"]] == ["Model", "a"]
    assert [cells[2] for cells in page.tables["text models"]] == ["Model", "random-texts"]


def test_ranks_over_few_families_say_why_they_have_no_set(tmp_path, make_rows) -> None:
    mitigated = {"mitigator__name": "h", "mitigator__fingerprint": "h"}
    more = {"mitigator__name": "k", "mitigator__fingerprint": "k"}
    records = make_rows({"a": {"x": 1.0}})
    records += make_rows({"a": {"x": 0.5}}, **mitigated) + make_rows({"a": {"x": 0.6}}, **more)
    page_of(records, tmp_path)
    html = (tmp_path / "index.html").read_text("utf-8")
    assert html.count('title="no set of ranks: fewer than 6 families"') == 2, "both mitigators"


def test_scores_without_bounds_make_a_page(tmp_path, make_record) -> None:
    page = page_of([make_record(bounds=(None, None), ideal="lower")], tmp_path)
    assert "neither bounds nor a unit" in "".join(page.text)


def test_an_empty_results_folder_is_an_error(tmp_path) -> None:
    (tmp_path / "results").mkdir()
    error = command(tmp_path / "results", "--out", tmp_path / "site").exception
    assert isinstance(error, UsageError)
    assert f"'{tmp_path / 'results'}'" in str(error)
    assert len(str(error).splitlines()) == 1
    assert not (tmp_path / "site").exists()


def test_a_missing_results_folder_is_an_error(tmp_path) -> None:
    assert isinstance(command(tmp_path / "no", "--out", tmp_path).exception, InvalidFile)


def test_a_torn_last_line_is_reported_and_skipped(results, tmp_path) -> None:
    with (results / "m.jsonl").open("a") as file:
        file.write('{"schema":1,"id":"')
    result = command(results, "--out", tmp_path / "site")
    assert result.exit_code == 0
    assert "torn" in result.stderr
    assert "torn" in (tmp_path / "site/index.html").read_text("utf-8")


def test_a_record_of_another_schema_is_an_error(results, tmp_path, make_record) -> None:
    line = make_record().line().replace('"schema":1', '"schema":99')
    (results / "z.jsonl").write_text(line)
    error = command(results, "--out", tmp_path / "site").exception
    assert isinstance(error, InvalidFile)
    assert "z.jsonl:1" in str(error)
    assert "schema" in str(error)


def test_a_second_build_replaces_only_its_own_files(results, tmp_path) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (out / "CNAME").write_text("bias.example")
    assert command(results, "--out", out, "--title", "first").exit_code == 0
    assert command(results, "--out", out, "--title", "second").exit_code == 0
    assert names_in(out) == sorted(["CNAME", *FILES])
    assert (out / "CNAME").read_text() == "bias.example"
    assert "<h1>second</h1>" in (out / "index.html").read_text("utf-8")


def test_a_page_of_another_origin_is_not_replaced(results, tmp_path) -> None:
    (tmp_path / "index.html").write_text("<h1>my home page</h1>")
    error = command(results, "--out", tmp_path).exception
    assert isinstance(error, DiskError)
    assert (tmp_path / "index.html").read_text() == "<h1>my home page</h1>"
    assert not (tmp_path / "leaderboard.csv").exists()


def test_an_unwritable_folder_is_an_error_in_one_line(results, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    error = command(results, "--out", tmp_path / "file" / "site").exception
    assert isinstance(error, DiskError)
    assert len(str(error).splitlines()) == 1


def test_the_files_are_readable_by_everyone(results, tmp_path) -> None:
    command(results, "--out", tmp_path / "site")
    for name in ["index.html", "leaderboard.csv", "data/site.js"]:
        assert (tmp_path / "site" / name).stat().st_mode & 0o044 == 0o044


def test_adding_the_command_loads_nothing_heavy() -> None:
    code = (
        "import click, sys, harness.leaderboard as l; l.harness_commands(click.Group()); "
        "print({'polars', 'numpy', 'plotly', 'itables', 'jinja2', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_reference_rows_stand_below_the_models_and_are_never_ranked(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}, "random-texts": {"x": 0.01}})
    records += make_rows({"constant-texts": {"x": None}}, reason="all texts have the same vector")
    records += make_rows({"random-texts": {"x": 0.0}}, mitigator__name="hard-debias",
                         mitigator__fingerprint="h")  # fmt: skip
    page = page_of(records, tmp_path)
    table = page.tables["text models"][2:]
    assert [cells[2] for cells in table] == ["b", "a", "random-texts", "constant-texts"]
    assert [cells[0] for cells in table] == ["1", "2", "1e+99", "1e+99"]
    assert "text not ranked" not in page.tables
    assert "text effects" not in page.tables


def test_a_model_that_is_not_usable_stands_below_with_its_reason(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}, "noise": {"x": 0.0}})
    control = {"task__measures": "control", "task__required": True}
    records += make_rows({"a": {"c": 1.0}, "b": {"c": 1.0}}, p_value=0.001, **control)
    records += make_rows({"noise": {"c": 0.1}}, p_value=0.4, **control)
    page = page_of(records, tmp_path)
    assert [cells[2] for cells in page.tables["text models"][2:]] == ["b", "a"]
    (row,) = page.tables["text not ranked"][2:]
    assert row[0] == "noise"
    assert "not usable, fails the control 'c': p = 0.4" in row[1]


def test_a_leak_is_marked_and_does_not_count(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0, "y": 1.0}, "b": {"x": 1.0, "y": 1.0}})
    mitigated = {"mitigator__name": "hard-debias", "mitigator__fingerprint": "h"}
    records += make_rows({"a": {"x": 0.5}}, **mitigated)
    records += make_rows({"a": {"y": 0.1}}, overlap=("she",), **mitigated)
    page = page_of(records, tmp_path)
    (effect,) = page.tables["text effects"][2:]
    assert float(effect[2]) == -0.25, "the leaky task does not count"
    assert effect[5] == "1", "one leak"
    text = (tmp_path / "index.html").read_text("utf-8")
    assert re.search(r'does not count: leak[^"]*"[^>]*>0.100<span class="marks">†<', text)


def test_a_task_that_is_not_ranked_is_shown_with_its_reason(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 0.5}})
    records += make_rows({"a": {"y": 1.0}}, task__unranked="not monotone in planted bias")
    text = "".join(page_of(records, tmp_path).text)
    assert "y: not monotone in planted bias" in text
    html = (tmp_path / "index.html").read_text("utf-8")
    (tag,) = re.findall(r"<td[^>]*does not count: not monotone in planted bias[^>]*>", html)
    assert "gauge" not in tag, "the tint shows what counts"


def test_a_reversal_and_the_sides_of_a_p_value_are_said(tmp_path, make_record) -> None:
    two = make_record(value=-1.0, p_value=0.02, details={"alternative": "two-sided",
                                                         "reversed": True})  # fmt: skip
    one = make_record(value=1.0, p_value=0.02, task__name="one", task__digest="one",
                      details={"alternative": "greater"})  # fmt: skip
    text = site.write(compile_boards([one, two]), tmp_path, title="T").page.read_text("utf-8")
    tips = re.findall(r'data-tip="(weat[^"]*)"[^>]*>([^<]*)<span class="marks">([^<]*)<', text)
    shown = {value: (tip, marks) for tip, value, marks in tips}
    assert "p = 0.02, two-sided; reversed" in shown["−1.000"][0]
    assert shown["−1.000"][1] == "*↔"
    assert "p = 0.02, one-sided" in shown["1.000"][0]
    assert shown["1.000"][1] == "*"


def test_a_change_without_evidence_has_no_arrow(tmp_path, make_rows) -> None:
    rows = {"a": {f"t{i}": 1.0 + 0.01 * i for i in range(8)}}
    records = [r.model_copy(update={"category": r.task.name}) for r in make_rows(rows)]
    for name, change in (("better", -0.5), ("unsure", 0.0)):
        values = {
            "a": {t: v + change + 0.1 * (-1) ** i for i, (t, v) in enumerate(rows["a"].items())}
        }
        more = make_rows(values, mitigator__name=name, mitigator__fingerprint=name)
        records += [r.model_copy(update={"category": r.task.name}) for r in more]
    page = page_of(records, tmp_path)
    better, unsure = page.tables["text effects"][2:]
    text = (tmp_path / "index.html").read_text("utf-8")
    assert (better[1], unsure[1]) == ("better", "unsure")
    assert float(better[4]) < 0.05 < float(unsure[4])
    assert text.count('<span class="marks">▲') == 1
    assert "no evidence of a change against none" in text
