"""`harness leaderboard build`: what it reads, sets aside, writes and says."""

import csv
import json

import click
import pytest
import site_data
import yaml
from board_records import TASKS, board_records
from click.testing import CliRunner
from submission_records import changed, write

import harness.leaderboard
from harness.errors import DiskError, UsageError

FILES = [
    *(
        "about.html",
        "assets",
        "badge",
        "benchmark",
        "cite.bib",
        "cite.html",
        "concept",
        "data",
    ),
    *("data.html", "index.html", "leaderboard.csv", "leaderboard.json", "mitigator", "model"),
    *("reading.html", "records.parquet", "submit.html", "task"),
]


def command(*arguments, name: str = "build") -> click.testing.Result:
    # the help options of `harness`
    group = click.Group(context_settings={"help_option_names": ["-h", "--help"]})
    harness.leaderboard.harness_commands(group)
    return CliRunner().invoke(group, ["leaderboard", name, *map(str, arguments)])


@pytest.fixture
def results(tmp_path):
    """A results folder of three models under three mitigators."""
    path = tmp_path / "results" / "m.jsonl"
    path.parent.mkdir()
    path.write_text("".join(record.line() for record in board_records()))
    return path.parent


def add(results, *lines: str) -> None:
    (results / "z.jsonl").write_text("".join(lines))


def names_in(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_build_writes_a_page_data_and_downloads_and_prints_a_summary(results, tmp_path) -> None:
    result = command(results, "--out", tmp_path / "site", "--title", "Our <models>")
    assert result.exit_code == 0, result.output
    assert "3 models ranked on 6 bias tasks and 2 usefulness tasks" in result.stdout
    assert "6 mitigated" in result.stdout
    assert names_in(tmp_path / "site") == FILES
    assert "<title>Our &lt;models&gt;</title>" in (tmp_path / "site/index.html").read_text("utf-8")
    assert "set aside" not in result.stderr
    table = list(csv.DictReader((tmp_path / "site/leaderboard.csv").open(encoding="utf-8")))
    assert [row["model"] for row in table][:3] == ["best", "better", "good"]
    board = site_data.read(tmp_path / "site", "data/text.js")
    assert {"random-texts", "constant-texts"} <= {model["name"] for model in board["models"]}
    task = next(task for task in board["tasks"] if task["name"] == "seat-c6")
    assert task["description"]
    assert task["examples"]


def test_a_bad_line_is_set_aside_with_its_place_and_the_rest_is_the_same(
    results, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    command(results, "--out", tmp_path / "plain")
    record = board_records()[1]
    content = record.model_dump(mode="json", by_alias=True)
    add(
        results,
        record.line().replace('"schema":1', '"schema":99'),
        changed(content, run="x", model__name="c" * 40, model__fingerprint="f", limit=5).line(),
        changed(content, model__name="d", model__fingerprint="d", value=999.0).line(),
        changed(content, model__name="e", model__fingerprint="e", value=998.0).line(),
        '{"schema":1,"id":"',
    )
    result = command(results, "--out", tmp_path / "site")
    assert result.exit_code == 0, result.output
    asides = [line for line in result.stderr.splitlines() if line.startswith("set aside: ")]
    assert len(asides) == 4
    assert all("z.jsonl:" in line for line in asides)
    (outside,) = [line for line in asides if "999" in line]
    assert "z.jsonl:3: " in outside
    assert "2 alike" in outside
    before, after = (
        json.loads((tmp_path / site / "leaderboard.json").read_text("utf-8"))
        for site in ("plain", "site")
    )
    assert before.pop("aside") == []
    assert sum(group["count"] for group in after.pop("aside")) == 5
    assert after == before
    for name in ("leaderboard.csv", "records.parquet"):
        assert (tmp_path / "site" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()
    for name in ("data/text.js", "data/text-details.js"):
        assert site_data.read(tmp_path / "site", name) == site_data.read(tmp_path / "plain", name)


def test_tasks_of_a_folder_are_included(tmp_path) -> None:
    from harness.registry.registry import Registry

    folder = tmp_path / "tasks"
    folder.mkdir()
    file = Registry().task_files["seat-c6"].data | {"name": "mine", "category": "own"}
    (folder / "mine.yaml").write_text(yaml.safe_dump(file))
    task = Registry(include=[folder]).task("mine")
    record = next(r for r in board_records() if r.task.name == "seat-c6")
    content = record.model_dump(mode="json", by_alias=True)
    mine = changed(content, task__name="mine", task__digest=task.digest)
    (tmp_path / "r.jsonl").write_text(mine.line())
    result = command(tmp_path / "r.jsonl", "--out", tmp_path / "site", "--include", folder)
    assert result.exit_code == 0, result.output
    (entry,) = site_data.read(tmp_path / "site", "data/text.js")["tasks"]
    assert (entry["name"], entry["category"]) == ("mine", "own")


def test_a_task_of_one_row_is_reported_everywhere_unless_the_tasks_are_chosen(
    tmp_path,
) -> None:
    (tmp_path / "r").mkdir()
    some = board_records(tasks=[task for task in TASKS if task != "seat-c6"])
    more = board_records(["good"], tasks=["seat-c6"])[:1]
    (tmp_path / "r/m.jsonl").write_text("".join(record.line() for record in [*some, *more]))
    result = command(tmp_path / "r", "--out", tmp_path / "site")
    (board,) = json.loads((tmp_path / "site/leaderboard.json").read_text())["boards"]
    (notice,) = [line for line in board["notices"] if "'seat-c6'" in line]
    assert "1 of 3 models" in notice
    assert f"text embeddings: {notice}" in result.stderr
    assert notice in site_data.read(tmp_path / "site", "data/text.js")["notices"]
    tasks = ("--tasks", "seat-c5,seat-c8b", "--tasks", "name-*,gender-occ*,s*-999,w*")
    result = command(tmp_path / "r", "--out", tmp_path / "site", *tasks)
    assert "3 models ranked on 4 bias tasks and 2 usefulness tasks" in result.stdout
    assert "'seat-c6'" not in result.stderr


def test_who_submitted_results_stands_beside_the_model(tmp_path) -> None:
    write(tmp_path / "repository", board_records(["good"]), submitted_by="Ada <b>")
    result = command(tmp_path / "repository", "--out", tmp_path / "site")
    assert result.exit_code == 0, result.output
    models = site_data.read(tmp_path / "site", "data/text.js")["models"]
    assert {model["name"]: model["submitters"] for model in models} == {
        "good": ["Ada <b>"], "random-texts": [], "constant-texts": [],
    }  # fmt: skip


def test_a_record_does_not_say_what_supersedes_a_registered_model(tmp_path) -> None:
    records = [
        changed(record.model_dump(mode="json", by_alias=True), model__superseded_by="advert")
        for record in board_records(["all-mpnet-base-v2", "stranger"])
    ]
    (tmp_path / "r.jsonl").write_text("".join(record.line() for record in records))
    command(tmp_path / "r.jsonl", "--out", tmp_path / "site")
    models = site_data.read(tmp_path / "site", "data/text.js")["models"]
    assert {m["name"] for m in models if m["superseded_by"] == "advert"} == {"stranger"}


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


def test_a_folder_with_other_files_is_not_replaced(results, tmp_path) -> None:
    (tmp_path / "index.html").write_text("<h1>my home page</h1>")
    error = command(results, "--out", tmp_path).exception
    assert isinstance(error, DiskError)
    assert (tmp_path / "index.html").read_text() == "<h1>my home page</h1>"
    assert not (tmp_path / "leaderboard.csv").exists()
    site = tmp_path / "site"
    command(results, "--out", site)
    (site / "results").mkdir()
    (site / "results" / "m.jsonl").write_bytes(next(results.glob("*.jsonl")).read_bytes())
    assert isinstance(command(site / "results", "--out", site).exception, DiskError)
    assert (site / "results" / "m.jsonl").exists()


def test_what_is_no_address_of_a_page_is_refused_before_anything_is_read(tmp_path) -> None:
    result = command(tmp_path / "no-results", "--url", "example.org")
    assert isinstance(result.exception, UsageError)
    assert "--url 'example.org' is not the address of a folder" in str(result.exception)
