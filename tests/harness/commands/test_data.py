"""`harness data`, and what other commands say about data files."""

from __future__ import annotations

import hashlib
import json

import pytest
from score_records import record

from harness.results.folder import ResultsFile

ROWS = b"word\tside\na\t1\nb\t2\n"
SHA256 = hashlib.sha256(ROWS).hexdigest()
TASK = """\
name: {name}
version: 1
title: Mine
category: places
licence: CC0
metrics: {{toy-gap: {{}}}}
primary: {{metric: toy-gap, score: gap}}
inputs:
  targets_1: {{words: [village, farm]}}
  targets_2: {{words: [city, street]}}
tables:
"""
STUDY = """\
name: my-study
version: 1
title: Mine
models: [toy-words]
concept: toy-place
mitigators: {none: {}}
measures: {gap: {metric: toy-gap}}
inputs: {targets_1: {words: [a]}}
tables:
  s: {url: 'https://data.example/s.tsv', local: s.tsv, sha256: SHA, terms: study terms}
"""


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)


@pytest.fixture
def folder(write, tmp_path):
    """A folder of two tasks and a study, whose files are at two hosts, or shipped."""

    def url(host, name, more=""):
        return f"{{url: 'https://{host}/{name}', local: {name}, sha256: {SHA256}{more}}}"

    write("mine/shipped.tsv", ROWS.decode())
    write(
        "mine/first.yaml",
        TASK.format(name="first")
        + f"  a: {url('data.example', 'a.tsv', ', size: 18, terms: CC BY')}\n"
        + f"  b: {url('down.example', 'b.tsv')}\n"
        + f"  c: {url('down.example', 'c.tsv')}\n",
    )
    second = TASK.format(name="second") + "  t: {file: shipped.tsv, terms: MIT}\n"
    write("mine/second.yaml", second + f"  a: {url('data.example', 'a.tsv')}\n")
    write("mine/studies/my-study.yaml", STUDY.replace("SHA", SHA256))
    return tmp_path / "mine"


@pytest.fixture
def data(harness, toy, folder, web):
    """Run `harness data` with that folder; the web has two of the files."""
    web.pages["https://data.example/a.tsv"] = ROWS
    web.pages["https://data.example/s.tsv"] = ROWS
    web.down.add("down.example")

    def run(command, *words):
        trust = ["--trust"] if command == "fetch" else []
        return harness("data", command, *words, "--include", folder, *trust)

    return run


def states(data, *names):
    rows = json.loads(data("status", *names, "--json").out)
    return {(row["task"], row["file"]): row["state"] for row in rows}


def test_status_says_where_each_file_is(data, web):
    assert states(data, "first", "second", "my-study") == {
        ("first", "a.tsv"): "to fetch",
        ("first", "b.tsv"): "to fetch",
        ("first", "c.tsv"): "to fetch",
        ("second", "shipped.tsv"): "shipped",
        ("second", "a.tsv"): "to fetch",
        ("my-study", "s.tsv"): "to fetch",
    }
    assert not web.tunnels


def test_fetch_goes_on_after_a_failure_and_lists_what_failed(data, web, cache):
    said = data("fetch", "first", "second", "my-study")
    assert said.code == 1
    (line,) = [line for line in said.err.splitlines() if "missing" in line]
    assert "'b.tsv', 'c.tsv'" in line
    assert line.count("down.example") == 1
    assert web.tunnels.count("down.example") == 2, "one retry, and not for the second file"
    assert sorted(path.name for path in (cache / "data").iterdir()) == ["a.tsv", "s.tsv"]
    assert "CC BY" in said.err
    assert states(data, "second")["second", "a.tsv"] == "fetched"


def test_what_is_fetched_is_not_fetched_again(data, web):
    assert data("fetch", "second", "my-study").code == 0
    requests = list(web.requests)
    assert data("fetch", "second", "my-study").code == 0
    assert web.requests == requests == ["https://data.example/a.tsv", "https://data.example/s.tsv"]


def test_a_fetched_folder_is_enough_for_a_machine_without_a_network(
    data, web, tmp_path, monkeypatch
):
    out = tmp_path / "copied"
    assert data("fetch", "second").code == 0  # one file is in the cache: it is copied
    assert data("fetch", "second", "my-study", "--out", out).code == 0
    assert data("fetch", "second", "my-study", "--out", out).code == 0
    assert web.requests == ["https://data.example/a.tsv", "https://data.example/s.tsv"]
    monkeypatch.setenv("HARNESS_DATA", str(out))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "elsewhere"))
    assert states(data, "second")["second", "a.tsv"] == "local copy"
    assert states(data, "my-study")["my-study", "s.tsv"] == "local copy"


def test_a_run_tells_missing_files_once_and_evaluates_the_other_tasks(
    harness, data, folder, tmp_path
):
    said = harness("eval", "-m", "toy-words", "-t", "first,second", "--include", folder,
                   "--trust", "-r", tmp_path / "results", "--concept", "none")  # fmt: skip
    assert "second" in said.out
    (line,) = [line for line in said.err.splitlines() if "harness data fetch" in line]
    assert "'b.tsv', 'c.tsv'" in line


def test_show_has_a_line_on_data_and_fetches_nothing(harness, data, folder, web):
    said = harness("show", "task", "second", "--include", folder)
    assert said.code == 0
    assert "shipped.tsv: shipped" in said.out
    assert "a.tsv: to fetch from https://data.example/a.tsv" in said.out
    assert "texts: not fetched; see them after: harness data fetch second" in said.out
    assert not web.tunnels
    assert data("fetch", "second").code == 0
    said = harness("show", "task", "second", "--include", folder)
    assert said.code == 0
    assert "a.tsv: fetched" in said.out
    assert "digest" in said.out


def test_references_are_what_the_reference_encoder_shows_on_the_tasks_of_a_folder(
    harness, write, tmp_path
):
    for name in ("first", "second"):
        write(f"mine/{name}.yaml", TASK.format(name=name).removesuffix("tables:\n"))
    folder, results = tmp_path / "mine", tmp_path / "results"
    assert harness("data", "references", folder, write("results/none.jsonl", "").parent).code == 1
    of = {"value": 0.5, "model": "glove-6b-50d", "kind": "word"}
    made = [record("first", **of), record("elsewhere", **of), record("second", value=0.1)]
    ResultsFile(results, "all").add(made)
    assert harness("data", "references", folder, results).code == 0
    (row,) = json.loads((folder / "reference.json").read_text())
    part = made[0].ratio
    assert (row["task"], row["kind"], row["model"]) == ("first", "word", "glove-6b-50d")
    assert (row["gap"], row["error"]) == (part.gap, part.gap_error)
    assert (row["yardstick"], row["yardstick_error"]) == (part.yardstick, part.yardstick_error)
