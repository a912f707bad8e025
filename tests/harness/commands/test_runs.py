"""Which tasks a run has, its smoke runs, the file that repeats it, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.results.folder import read

BENCHMARK = """\
name: toys
version: 2
title: All that a toy needs
tasks:
  toy-places: 1
  toy-ratings: 1
"""


@pytest.fixture
def run(harness, toy, tmp_path, monkeypatch):
    """Run `harness eval` on the toy model, in a folder of the test."""
    monkeypatch.chdir(tmp_path)

    def evaluate(*arguments, command="eval", model="toy-letters"):
        models = ("-m", model) if model else ()
        return harness(command, *models, *arguments)

    return evaluate


@pytest.fixture
def tasks_of(run):
    """Return the tasks that have records after a run with these arguments."""

    def names(*arguments, **options):
        said = run("--json", "--concept", "toy-place", *arguments, **options)
        return sorted({record["task"]["name"] for record in json.loads(said.out)["records"]})

    return names


def records(folder="results"):
    from pathlib import Path

    return read([Path(folder)]).records


class TestExclude:
    def test_names_globs_tags_and_categories_are_left_out(self, tasks_of):
        assert tasks_of("-t", "toy", "--exclude", "toy-places") == ["toy-places-10", "toy-ratings"]
        assert tasks_of("-t", "toy", "-x", "toy-pl*") == ["toy-ratings"]
        assert tasks_of("-t", "toy-*", "-x", "sentences,similarity") == [
            "toy-places", "toy-places-10",
        ]  # fmt: skip
        assert tasks_of("-t", "toy", "-x", "toy-places", "-x", "usefulness") == ["toy-places-10"]


class TestExitCode:
    @pytest.mark.parametrize("tasks", ["toy-*", "toy-places,sentences", "toy-places,bias"])
    def test_a_task_of_a_glob_tag_or_category_that_is_not_run_is_no_failure(self, run, tasks):
        assert run("-t", tasks, model="toy-words").code == 0

    def test_a_task_that_was_named_and_is_not_for_this_embedder_is_a_failure(self, run):
        said = run("-t", "toy-places,toy-sentences", model="toy-words")
        assert said.code == 1
        last = said.err.splitlines()[-1]
        for fact in ("by name", "toy-words", "toy-sentences", "made for text embedders"):
            assert fact in last

    def test_no_task_at_all_is_a_failure(self, run):
        said = run("-t", "sentences", model="toy-words")
        assert said.code == 1
        assert said.err.splitlines()[-1] == "no task was run"

    def test_so_is_one_whose_data_is_missing(self, run, write, toy_task):
        text = toy_task.replace("targets_1: {words: [village, farm]}", "targets_1: {table: away}")
        path = write("mine.yaml", text + "tables: {away: {local: nowhere.tsv}}\n")
        said = run("-t", "toy-places", "-t", path)
        assert said.code == 1
        last = said.err.splitlines()[-1]
        for fact in ("by name", "mine", "nowhere.tsv"):
            assert fact in last


class TestLimit:
    def test_records_say_so_and_have_a_digest_of_their_own(self, run):
        run("-t", "toy-places", "-r", "whole")
        said = run("-t", "toy-places", "-r", "smoke", "--limit", "2")
        assert said.code == 0
        assert "smoke run" in said.out
        assert "bias (--limit 2)" in said.out
        whole, smoke = records("whole"), records("smoke")
        assert {record.limit for record in whole} == {None}
        assert {record.limit for record in smoke} == {2}
        assert {r.task.digest for r in whole}.isdisjoint(r.task.digest for r in smoke)
        assert {r.id for r in whole}.isdisjoint(r.id for r in smoke)
        assert {r.n for r in smoke if r.score == "gap"} == {4}

    def test_the_plan_has_fewer_texts(self, run):
        (whole,) = json.loads(run("--json", "-t", "toy", command="plan").out)
        (smoke,) = json.loads(run("--json", "-t", "toy", "--limit", "1", command="plan").out)
        assert smoke["texts"] < whole["texts"]


class TestRunFile:
    def test_it_says_what_the_command_line_says(self, run, write, toy):
        path = write(
            "run.yaml",
            """
            models: [toy-letters]
            mitigators: [none, toy-shift]
            tasks: [toy]
            exclude: [toy-places-10]
            concept: toy-place
            seed: 3
            """,
        )
        said = run("-c", path, model="")
        assert said.code == 0, said.err
        assert {(r.task.name, r.mitigator.name, r.seed) for r in records()} == {
            (task, mitigator, 3)
            for task in ("toy-places", "toy-ratings")
            for mitigator in ("none", "toy-shift")
        }

    def test_options_of_the_command_line_override_it(self, run, write):
        path = write("run.yaml", "models: [toy-letters]\ntasks: [toy-places]\nseed: 3\nlimit: 2\n")
        assert run("-c", path, "--seed", "4", "-t", "toy-ratings", model="").code == 0
        assert {(r.task.name, r.seed, r.limit) for r in records()} == {("toy-ratings", 4, 2)}

    def test_a_metric_of_the_command_line_is_repeated_by_the_file_of_the_run(self, run):
        said = run("-t", "toy-places", "--metric", "toy-draw")
        assert said.code == 0, said.err
        assert {record.metric for record in records()} == {"toy-gap", "toy-draw"}
        (path,) = Path("results/runs").glob("*.yaml")
        assert yaml.safe_load(path.read_text())["metrics"] == ["toy-draw"]
        again = run("-c", path, "-r", "again", model="")
        assert again.code == 0, again.err
        assert {record.id for record in records("again")} == {record.id for record in records()}

    @pytest.mark.parametrize(
        ("line", "place", "facts"),
        [
            ("taks: [toy]", "run.yaml:2: taks", ["'tasks'"]),
            ("seed: many", "run.yaml:2: seed", ["'many'"]),
            ("limit: null", "run.yaml:2: limit", ["omit"]),
            ("tasks: toy", "run.yaml:2: tasks", ["[toy]"]),
        ],
    )
    def test_a_mistake_is_shown_with_its_place(self, run, write, line, place, facts):
        path = write("run.yaml", f"models: [toy-letters]\n{line}\n")
        said = run("-c", path, model="")
        assert said.code == 2
        for fact in [place, *facts]:
            assert fact in said.err
        assert not said.out

    def test_a_run_writes_the_file_that_repeats_it(self, run, toy, tmp_path):
        first = run(
            "-M", "none", "-M", "toy-shift?k=2", "-t", "toy,toy-sentences", "-x", "toy-places-10",
            "--concept", "toy-place", "--seed", "5", "--limit", "2", "-r", "other/records",
        )  # fmt: skip
        assert first.code == 0
        (path,) = (tmp_path / "other/records/runs").iterdir()
        before = {record.id: record.value for record in records("other")}
        assert {record.run for record in records("other")} == {path.stem}
        toy.clear()
        again = run("-c", path, model="")
        assert (again.code, toy) == (0, [])
        assert f"{len(before)} records in" in again.out
        assert list(path.parent.iterdir()) == [path]  # nothing was computed
        assert run("-c", path, "--overwrite", model="").code == 0
        after = {record.id: record.value for record in records("other")}
        assert after == before
        assert not (tmp_path / "results").exists()

    def test_a_file_that_a_run_wrote_gives_its_results_folder(self, write, monkeypatch):
        from harness.run.settings import read_run_file

        text = "models: [toy-letters]"
        written = write("other/runs/0123456789ab.yaml", text)
        results = written.parents[1]
        assert read_run_file(written)["results"] == results
        monkeypatch.chdir(results)
        assert (
            read_run_file(Path("runs/0123456789ab.yaml"))["results"].resolve() == results.resolve()
        )
        monkeypatch.chdir(written.parent)
        assert read_run_file(Path("0123456789ab.yaml"))["results"].resolve() == results.resolve()
        own = write("configs/runs/nightly.yaml", text)
        assert "results" not in read_run_file(own)

    def test_the_file_holds_what_the_user_typed_and_no_folder_of_this_machine(self, run, tmp_path):
        run("-t", "toy-places", "-r", tmp_path / "results", "--devices", "cpu")
        (path,) = (tmp_path / "results/runs").iterdir()
        assert str(tmp_path) not in path.read_text()
        assert yaml.safe_load(path.read_text()) == {
            "models": ["toy-letters"],
            "mitigators": ["none"],
            "tasks": ["toy-places"],
            "concept": "gender",
            "seed": 0,
            "devices": ["cpu"],
        }

    def test_a_password_is_masked(self, tmp_path):
        from harness.run.settings import RunFile, Settings

        names = ["toy:x?url=https://me:secret@example.org/v1"]
        path = RunFile.of(names, ["none"], ["all"], Settings()).write(tmp_path, "id")
        assert "secret" not in path.read_text()
        assert "***@example.org" in path.read_text()

    def test_a_key_is_masked_but_not_the_name_of_its_variable(self, tmp_path):
        from harness.run.settings import RunFile, Settings

        names = ["toy:x?api_key=sk-secret&k=2", "toy:y?key=MY_API_KEY"]
        mitigators = ["none", "rewriter?token=secret+normalize"]
        path = RunFile.of(names, mitigators, ["all"], Settings()).write(tmp_path, "id")
        file = yaml.safe_load(path.read_text())
        assert file["models"] == ["toy:x?api_key=***&k=2", "toy:y?key=MY_API_KEY"]
        assert file["mitigators"] == ["none", "rewriter?token=***+normalize"]


class TestBenchmarks:
    @pytest.fixture
    def more(self, write):
        """A folder with the benchmark `toys`."""
        return write("more/benchmarks/toys.yaml", BENCHMARK).parents[1]

    def test_its_tasks_are_selected(self, tasks_of, more):
        assert tasks_of("-t", "toys", "--include", more) == ["toy-places", "toy-ratings"]
        assert tasks_of("-t", "toys,toy-sentences", "--include", more, "-x", "toy-places") == [
            "toy-ratings", "toy-sentences",
        ]  # fmt: skip
        assert tasks_of("-t", "toy", "--include", more, "-x", "toys") == ["toy-places-10"]

    def test_an_unknown_task_and_another_version_are_errors_with_their_line(self, run, write):
        path = write("some.yaml", BENCHMARK + "  toy-plces: 1\n  toy-places-10: 1\n")
        said = run("-t", path)
        assert said.code == 2
        for fact in (f"{path}:7: tasks.toy-plces", "did you mean 'toy-places'"):
            assert fact in said.err
        path = write("some.yaml", BENCHMARK + "  toy-places-10: 1\n")
        said = run("-t", path)
        assert said.code == 2
        for fact in (f"{path}:7: tasks.toy-places-10", "version 1", "version 2"):
            assert fact in said.err

    @pytest.mark.parametrize("name", ["toy-places", "sentences", "similarity"])
    def test_a_name_that_a_task_tag_or_category_has_is_an_error(self, run, write, name):
        path = write("more/benchmarks/x.yaml", BENCHMARK.replace("name: toys", f"name: {name}"))
        said = run("-t", name, "--include", path.parents[1])
        assert said.code == 1
        assert str(path) in said.err
        assert run("-t", "toy-ratings", "--include", path.parents[1]).code == 0


CONCEPT = """\
name: mine-alone
title: Mine alone
definitional_pairs: [[village, city]]
"""


def test_a_task_by_its_path_finds_the_concepts_beside_it(run, write, toy_task, harness):
    write("folder/concepts/mine.yaml", CONCEPT)
    for name in ("folder/x.yaml", "folder/family/y.yaml"):
        text = toy_task.replace("concept: toy-place", "concept: mine-alone")
        path = write(name, text)
        assert run("-t", path, "-M", "toy-shift").code == 0
        assert harness("show", "task", path).code == 0
        assert harness("validate", path).code == 0
    assert {record.mitigator.concept for record in records()} == {"mine-alone"}


def test_the_concepts_beside_a_file_are_for_that_file_alone(run, write, toy_task):
    own = CONCEPT.replace("mine-alone", "toy-place").replace("[[village, city]]", "[[calm, loud]]")
    write("folder/concepts/mine.yaml", own)
    path = write("folder/x.yaml", toy_task)
    run("-t", path, "-t", "toy-places", "-M", "toy-shift", "--concept", "none")
    fits = {record.task.name: record.mitigator.fingerprint for record in records()}
    assert fits["mine"] != fits["toy-places"]


class TestValidate:
    def test_a_benchmark_is_checked_with_the_tasks_beside_it(self, harness, toy, write, toy_task):
        folder = write("more/family/mine.yaml", toy_task).parents[1]
        path = write("more/benchmarks/x.yaml", BENCHMARK + "  mine: 1\n")
        for place in (path, folder, path.parent):
            said = harness("validate", place)
            assert said.code == 0, said.out
            assert f"{path}: benchmark 'toys', 3 tasks" in said.out
