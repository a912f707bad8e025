"""The files of a leaderboard: contents, hostile names, downloads, and errors."""

import csv
import io
import json
import math
import subprocess
import sys

import click
import numpy as np
import polars as pl
import pytest
import site_data
from click.testing import CliRunner

import harness.leaderboard
from harness.errors import DiskError, InvalidFile, UsageError
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.frame import frame_of
from harness.leaderboard.claims.reading import Aside, Claims
from harness.leaderboard.site import asides, columns
from harness.leaderboard.site import writing as site

HOSTILE = '</script><img src=x onerror="window.hacked=1">{{123*457}}\'"&\\\u2028'
FILES = ["assets", "data", "index.html", "leaderboard.csv", "leaderboard.json", "records.parquet"]


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


def write(records, folder, **settings) -> site.Written:
    claims = Claims(frame_of(records))
    return site.write(
        compile_boards(frame_of(records)), folder, title="T", claims=claims, **settings
    )


def board_of(records, folder):
    """Return the data of the board of texts after building the site."""
    write(records, folder)
    return site_data.read(folder, "data/text.js")


def test_build_writes_a_page_data_and_downloads_and_prints_a_summary(results, tmp_path) -> None:
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
    data = site_data.read(tmp_path / "site", "data/text.js")
    assert notice in data["notices"]
    assert set(data["benchmarks"][0]["rank_low"]) == {None}, "one model has no rank"
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


def test_a_name_is_no_formula_in_a_spreadsheet(tmp_path, make_record) -> None:
    records = [make_record(model__name="=HYPERLINK(1)", value=-1.0)]
    written = write(records, tmp_path)
    (row,) = csv.DictReader(io.StringIO(written.csv.read_text("utf-8")))
    assert row["model"] == "'=HYPERLINK(1)"
    assert row["task:t"] == "-1.0"


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
    (notice,) = site_data.read(tmp_path / "site")["notices"]
    assert "torn" in notice


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
    assert "<title>second</title>" in (out / "index.html").read_text("utf-8")
    assert site_data.read(out)["title"] == "second"


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
        "print({'polars', 'numpy', 'plotly', 'jinja2', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_data_csv_and_parquet_have_the_same_numbers(tmp_path, make_many) -> None:
    written = write(make_many(), tmp_path)
    board = site_data.read(tmp_path, "data/text.js")
    details = site_data.read(tmp_path, "data/text-details.js")
    tasks = [task["name"] for task in board["tasks"]]
    value, measure = (
        site_data.grid(board, column) for column in (details["value"], board["measure"])
    )
    lines = {
        (line["model"], line["label"], line["task"]): line
        for line in pl.read_parquet(tmp_path / "records.parquet").to_dicts()
    }
    table = csv.DictReader(io.StringIO(written.csv.read_text("utf-8")))
    by_row = {(row["model"], row["mitigator"]): row for row in table}
    assert len(by_row) == len(site_data.rows(board)) == 12
    for i, row in enumerate(site_data.rows(board)):
        for j, task in enumerate(tasks):
            line = lines[(*row, task)]
            assert value[i, j] == pytest.approx(line["value"], rel=1e-4), "four digits are shown"
            assert float(by_row[row][f"task:{task}"]) == pytest.approx(line["value"], rel=1e-5)
            expected = math.nan if line["measure"] is None else line["measure"]
            assert measure[i, j] == pytest.approx(expected, rel=1e-4, nan_ok=True)


def test_rows_of_a_model_follow_each_other_and_begin_without_a_mitigator(
    tmp_path, make_many
) -> None:
    board = board_of(make_many(), tmp_path)
    models, mitigators = board["rows"]["model"], board["rows"]["mitigator"]
    assert models == sorted(models)
    assert [mitigators[i] for i in range(0, 12, 4)] == [0, 0, 0]
    assert board["mitigators"][0]["label"] == "none"
    assert board["rows"]["role"][:2] == ["model", "mitigated"]


def test_ranks_stand_at_the_rows_of_their_models(tmp_path, make_rows) -> None:
    values = {"b": 0.5, "a": 1.0, "random-texts": 0.01}
    records = make_rows(
        {name: {f"t{i}": value for i in range(6)} for name, value in values.items()}
    )
    records = [r.model_copy(update={"category": r.task.name}) for r in records]
    board = board_of(records, tmp_path)
    (all_tasks,) = [part for part in board["benchmarks"] if part["name"] == "all"]
    low = dict(zip(site_data.rows(board), all_tasks["rank_low"], strict=True))
    assert low == {("b", "none"): 1, ("a", "none"): 2, ("random-texts", "none"): None}
    assert board["rows"]["role"] == ["model", "model", "reference"]
    assert all_tasks["tasks"] == [0, 1, 2, 3, 4, 5]


def test_flags_say_what_is_special_about_a_value(tmp_path, make_record) -> None:
    plain = {"value": 1.0, "p_value": 0.5}
    special = {
        "leak": {"overlap": ("she",)},
        "reversed": {"details": {"reversed": True}},
        "missing": {"coverage": {"asked": 10, "found": 9}},
        "truncated": {"coverage": {"asked": 10, "found": 10, "truncated": 3}},
        "outside": {"value": 9.0},
        "significant": {"p_value": 0.01},
        "plain": {},
    }
    records = [
        make_record(task__name=name, task__digest=name, **(plain | changes))
        for name, changes in special.items()
    ]
    board = board_of(records, tmp_path)
    (flags,) = site_data.grid(board, board["flags"])
    bits = dict(zip([task["name"] for task in board["tasks"]], flags.tolist(), strict=True))
    assert bits == {"leak": 64 + 1, "reversed": 64 + 2, "missing": 64 + 4, "truncated": 64 + 8,
                    "outside": 64 + 16, "significant": 64 + 32, "plain": 64}  # fmt: skip


def test_the_details_say_why_there_is_no_value(tmp_path, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"y": 1.0}})
    records += make_rows({"b": {"x": None}}, reason="all texts have the same vector")
    board = board_of(records, tmp_path)
    details = site_data.read(tmp_path, "data/text-details.js")
    reasons = [
        [details["reasons"][i] for i in row] for row in site_data.grid(board, details["reason"])
    ]
    assert [task["name"] for task in board["tasks"]] == ["x", "y"]
    assert reasons == [["", "not run"], ["all texts have the same vector", ""]]


def test_a_hostile_text_is_data_and_no_part_of_the_page(tmp_path, make_record) -> None:
    records = [
        make_record(
            model__name=HOSTILE, model__url="javascript:alert(1)", mitigator__name=mitigator,
            mitigator__params={"<img src=x>": "'", "__proto__": 1},
            mitigator__fingerprint=mitigator, mitigator__concept=HOSTILE,
            task__name=HOSTILE + task, task__title=HOSTILE,
            task__digest=HOSTILE + task, task__measures=task, category=HOSTILE, language=HOSTILE,
            scenario=HOSTILE, metric=HOSTILE, score=HOSTILE, value=value, reason=HOSTILE,
            coverage={"asked": 2, "found": 1, "missing": (HOSTILE,)},
            environment={"harness": HOSTILE, "python": HOSTILE, "platform": HOSTILE,
                         "device": HOSTILE, "packages": {"<img>": "'"}},
        )
        for mitigator, value in (("none", 1.0), (HOSTILE, 0.5), (HOSTILE * 2, None))
        for task in ("bias", "usefulness")
    ]  # fmt: skip
    board = board_of(records, tmp_path / "hostile")
    write([make_record()], tmp_path / "plain")
    pages = [(tmp_path / name / "index.html").read_bytes() for name in ("hostile", "plain")]
    assert pages[0] == pages[1], "the page has no text of a record"
    assert board["models"][0]["name"] == HOSTILE
    assert {task["title"] for task in board["tasks"]} == {HOSTILE}
    assert "__proto__" in board["mitigators"][-1]["params"]


def test_the_page_loads_its_own_files_alone(tmp_path, make_record) -> None:
    page = write([make_record()], tmp_path).page.read_text("utf-8")
    assert len(page) < 100_000
    assert "http://" not in page
    assert "https://" not in page
    assert "default-src 'none'" in page
    scripts = [part.split('"')[0] for part in page.split('<script src="')[1:]]
    assert scripts[0] == "assets/app.js"
    assert all((tmp_path / script).is_file() for script in scripts)
    assert page.count("<script") == len(scripts), "no script in the page itself"


def test_an_empty_board_of_one_measure_has_data(tmp_path, make_record) -> None:
    board = board_of([make_record(task__measures="usefulness", bounds=(None, None))], tmp_path)
    assert "neither bounds nor a unit" in board["tasks"][0]["not_ranked"]
    (measure,) = site_data.grid(board, board["measure"])[0]
    assert math.isnan(measure)


def test_what_was_set_aside_is_grouped_by_reason(tmp_path, make_record) -> None:
    lines = [
        Aside("a.jsonl", i, f"the value {i}.5 of 'x{i}' is outside its bounds") for i in (3, 4)
    ]
    lines.append(Aside("b.jsonl", 0, "not \x1b[31mUTF-8"))
    first, second = asides.grouped(lines)
    assert first.line() == (
        "set aside: a.jsonl:3: the value 3.5 of 'x3' is outside its bounds "
        "(2 alike, the first is shown)"
    )
    assert second.line() == "set aside: b.jsonl: not \ufffd[31mUTF-8"
    records = [make_record()]
    claims = Claims(frame_of(records), tuple(lines))
    site.write(compile_boards(frame_of(records)), tmp_path, title="T", claims=claims)
    assert site_data.read(tmp_path)["aside"] == [
        {"reason": first.reason, "count": 2, "examples": ["a.jsonl:3", "a.jsonl:4"]},
        {"reason": second.reason, "count": 1, "examples": ["b.jsonl"]},
    ]


def test_a_million_different_reasons_fill_no_page() -> None:
    lines = [Aside("f", i, f"{chr(97 + i % 26)}{chr(97 + i // 26)}" * 400) for i in range(26 * 26)]
    groups = asides.grouped(lines)
    assert len(groups) == asides.GROUPS + 1
    assert sum(group.count for group in groups) == len(lines)
    assert max(len(group.reason) for group in groups) <= asides.LONGEST


def test_the_same_records_give_the_same_bytes(tmp_path, make_many, monkeypatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    for name, records in (("a", make_many()), ("b", make_many()[::-1]), ("a", make_many())):
        write(records, tmp_path / name)
    files = {name: sorted((tmp_path / name).rglob("*")) for name in "ab"}
    assert [f.name for f in files["a"]] == [f.name for f in files["b"]]
    for one, other in zip(files["a"], files["b"], strict=True):
        assert one.is_dir() or one.read_bytes() == other.read_bytes(), one.name
    assert site_data.read(tmp_path / "a")["built"] == "2026-01-01 00:00 UTC"


@pytest.mark.parametrize("bits", [8, 14, 20])
def test_rounding_keeps_the_leading_bits(bits) -> None:
    values = np.array([0.0, 1.0, -1.5, math.pi, 1e-30, -3e30, np.nan, np.inf, 16777215.0])
    short = columns.rounded(values, bits)
    assert short == pytest.approx(values, rel=2.0**-bits, nan_ok=True)
    words = short[np.isfinite(values)].view("<u4")
    assert not (words & ((1 << (23 - bits)) - 1)).any()


def test_facts_of_a_registered_model_come_from_its_card(tmp_path, make_record) -> None:
    from harness.leaderboard.claims import facts
    from harness.leaderboard.site.registered import registered
    from harness.registry.registry import Registry

    known = registered(Registry(), facts.known(["seat-c6"]))
    records = [
        make_record(model__name=name, model__fingerprint=name, model__licence="WTFPL",
                    model__dimensions=1, model__url="https://evil.example", task__name="seat-c6",
                    task__version=2)
        for name in ("all-MiniLM-L6-v2", "somebody")
    ]  # fmt: skip
    write(records, tmp_path, registered=known)
    board = site_data.read(tmp_path, "data/text.js")
    first, second = board["models"]
    assert (first["licence"], first["dimensions"]) == ("Apache-2.0", 384)
    assert "evil" not in first["url"]
    assert (second["licence"], second["dimensions"]) == ("WTFPL", 1)
    (task,) = board["tasks"]
    assert task["description"]
    assert task["licence"]
    assert len(task["examples"]["targets_1"]) == 3
    assert task["validity"]["result"] == "valid"
    assert board["benchmarks"][0]["licences"] == [task["licence"]]
