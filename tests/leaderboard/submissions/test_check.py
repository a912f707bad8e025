"""`harness results check`: a good submission passes, and the base stays as it is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from score_records import record, similarity
from submission_records import changed, good_records, write

from harness import limits
from harness.commands.main import run
from harness.leaderboard import building
from harness.leaderboard.submissions import check as comment
from harness.leaderboard.submissions import submission
from harness.leaderboard.submissions.additions import Addition, Row, additions
from harness.leaderboard.submissions.check import check, leaks_line, tasks_table
from harness.leaderboard.submissions.init import PROJECT
from harness.registry.registry import Registry
from harness.results.record import Record


def reasons(paths: Path | list[Path], base: Path | None = None) -> list[str]:
    paths = [paths] if isinstance(paths, Path) else paths
    return [str(problem) for problem in check(paths, base).problems]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A repository with two models."""
    folder = tmp_path / "base"
    for name in ("model-a", "model-b"):
        write(folder, good_records(name))
    (folder / "README.md").write_text("a board")
    return folder


@pytest.fixture
def fork(base: Path, tmp_path: Path) -> Path:
    """A changed copy of it, with one new model."""
    folder = tmp_path / "fork"
    shutil.copytree(base, folder)
    write(folder, good_records("model-c"))
    return folder


def test_a_good_submission_is_valid_and_shown_beside_two_references(capsys, tmp_path):
    records = good_records()
    write(tmp_path, records)
    assert run(["results", "check", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"valid; {len(records)} new records" in out
    assert "random-words" in out
    assert "good-words" in out


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
def test_each_level_of_a_repository_can_be_named(tmp_path, depth):
    file = write(tmp_path, good_records())
    path = tmp_path.joinpath(*file.relative_to(tmp_path).parts[:depth])
    checked = check([path])
    assert checked.problems == ()
    assert len(checked.records) == len(good_records())


def test_a_path_that_does_not_exist_is_a_mistake_of_usage(capsys, tmp_path):
    assert run(["results", "check", str(tmp_path / "absent")]) == 2
    assert "absent" in capsys.readouterr().err


def test_only_what_the_base_lacks_is_new(base, fork):
    checked = check([fork], base)
    assert checked.problems == ()
    assert {record.model.name for record in checked.records} == {"model-c"}


def test_the_references_are_the_two_models_of_the_base_with_most_tasks(capsys, base, fork):
    assert run(["results", "check", str(fork), "--base", str(base), "--json"]) == 0
    (new,) = json.loads(capsys.readouterr().out)["new"]
    assert new["model"] == "model-c"
    assert sorted(new["references"]) == ["model-a", "model-b"]
    assert {mean["measures"] for mean in new["means"]} == {"bias", "usefulness"}


def test_a_file_of_the_base_that_is_gone_is_a_problem(base, fork):
    shutil.rmtree(next((fork / "results").glob("model-a")))
    gone = reasons(fork, base)
    assert len(gone) == 2, "the records and submission.json"
    assert "model-a" in gone[0]
    assert "gone" in gone[0]


def test_a_line_of_the_base_that_is_gone_or_changed_is_a_problem(base, fork):
    file = next((fork / "results" / "model-a").rglob("r1.jsonl"))
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:1] + lines[2:]))
    (problem,) = reasons(fork, base)
    assert str(file) in problem
    assert "line 2 of the base" in problem


def test_an_entry_of_the_base_cannot_get_another_name(base, fork):
    file = next((fork / "results" / "model-a").rglob("submission.json"))
    file.write_text(file.read_text().replace("Ada Example", "Eve Example"))
    (problem,) = reasons(fork, base)
    assert str(file) in problem
    assert "runs.r1" in problem


@pytest.mark.parametrize("name", ["withdrawn.yaml", ".github/workflows/check.yml", "README.md"])
def test_a_maintainer_is_told_of_changed_files_beside_the_results(base, fork, name):
    assert check([fork], base).warnings == ()
    (fork / name).parent.mkdir(parents=True, exist_ok=True)
    (fork / name).write_text("models: [{name: model-a, reason: rude}]")
    (fork / ".git").write_text("gitdir: of a worktree")
    (warning,) = check([fork], base).warnings
    assert warning.file == str(fork / name)


def test_a_maintainer_is_told_if_the_list_of_withdrawals_is_gone(base, fork):
    (base / "withdrawn.yaml").write_text("records: []")
    (warning,) = check([fork], base).warnings
    assert "withdrawn.yaml" in warning.file


def test_what_was_packed_is_an_addition_not_a_copy(base, tmp_path):
    write(tmp_path / "packed", good_records("model-c"))
    assert reasons(tmp_path / "packed", base) == []


def test_a_second_run_of_a_model_of_the_base_is_valid(base, tmp_path):
    records = good_records("model-a", run="r2")
    seeded = [changed(r.model_dump(mode="json", by_alias=True), seed=1) for r in records]
    write(tmp_path / "packed", seeded, submitted_by="Eve Example")
    checked = check([tmp_path / "packed"], base)
    assert checked.problems == ()
    assert len(checked.records) == len(records)


def test_records_that_the_base_has_are_known_not_new(base, tmp_path):
    write(tmp_path / "packed", good_records("model-a", run="r2"))
    checked = check([tmp_path / "packed"], base)
    assert checked.problems == ()
    assert (len(checked.records), checked.known) == (0, len(good_records()))


def test_a_fingerprint_of_the_base_keeps_its_name(base, tmp_path):
    records = [
        changed(record.model_dump(mode="json", by_alias=True), model__name="mine")
        for record in good_records("model-a", run="r2")
    ]
    write(tmp_path / "packed", records)
    found = reasons(tmp_path / "packed", base)
    assert len(found) == len(records)
    assert "'model-a'" in found[0]


@pytest.mark.parametrize("name", ["model-a", "model-z"])
def test_a_renamed_model_is_submitted_under_its_old_or_its_new_name(base, tmp_path, name):
    (base / "withdrawn.yaml").write_text("models: [{name: model-a, renamed: model-z}]")
    records = [
        changed(json.loads(record.line()), model__name=name, seed=1)
        for record in good_records("model-a", run="r2")
    ]
    write(tmp_path / "packed", records)
    assert reasons(tmp_path / "packed", base) == []


def test_a_maintainer_is_warned_of_a_known_name_with_other_weights(base, tmp_path):
    records = [
        changed(json.loads(record.line()), model__fingerprint="vectors-" + "a" * 32)
        for record in good_records("model-a", run="r2")
    ]
    write(tmp_path / "packed", records)
    checked = check([tmp_path / "packed"], base)
    assert checked.problems == ()
    (warning,) = checked.warnings
    assert "'model-a'" in str(warning)


def again(**changes: object) -> list[Record]:
    """The records of a model of the base, changed."""
    records = good_records("model-a", run="r2")
    return [changed(json.loads(record.line()), **changes) for record in records]


def test_a_maintainer_is_warned_of_other_seeds_of_what_the_base_has(base, tmp_path):
    write(tmp_path / "packed", again(seed=1))
    checked = check([tmp_path / "packed"], base)
    assert checked.problems == ()
    (warning,) = checked.warnings
    assert f"{len(again())} scores" in str(warning)
    assert "'model-a'" in str(warning)


def test_a_maintainer_is_warned_of_a_task_that_nobody_else_has(base, tmp_path):
    new = good_records("model-c")
    write(tmp_path / "small", [r for r in new if r.task.name != "weat-6"])
    write(tmp_path / "packed", good_records("model-d"))
    (warning,) = check([tmp_path / "packed"], tmp_path / "small").warnings
    assert "'weat-6'" in str(warning)
    assert check([tmp_path / "packed"], base).warnings == ()


def test_a_fingerprint_of_the_base_keeps_its_kind(base, tmp_path):
    kind = {"word": "text", "text": "word"}[again()[0].model.kind]
    write(tmp_path / "packed", again(seed=1, model__kind=kind))
    assert "another kind" in reasons(tmp_path / "packed", base)[0]


HARD = {"mitigator__name": "hard-debias", "mitigator__label": "hard-debias",
        "mitigator__fingerprint": "h" * 32, "mitigator__method": "m"}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "is_problem"),
    [
        ({"mitigator__name": "best", "mitigator__label": "best"}, True),
        ({"mitigator__fingerprint": "x" * 32, "mitigator__method": "x"}, False),
    ],
)
def test_a_mitigator_of_the_base_keeps_its_label_and_its_method(
    base, tmp_path, changes, is_problem
):
    write(base, again(**HARD))
    mine = {"model__name": "model-c", "model__fingerprint": "vectors-" + "c" * 32}
    write(tmp_path / "packed", again(**HARD | mine | changes))
    checked = check([tmp_path / "packed"], base)
    told = checked.problems if is_problem else checked.warnings
    assert "hard-debias" in str(told[0])
    assert bool(checked.problems) == is_problem


def test_more_than_the_allowed_records_are_a_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "SUBMITTED_RECORDS", 5)
    write(tmp_path, good_records())
    (problem,) = reasons(tmp_path)
    assert "at most 5" in problem


def test_many_problems_are_cut_with_their_number(capsys, tmp_path):
    file = write(tmp_path, good_records())
    for i in range(100):
        (file.parent.parent / f"{i}").mkdir()
        (file.parent.parent / f"{i}" / "x.txt").write_text("")
    assert run(["results", "check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "and 60 more problems" in out
    assert "100 problems" in out


def test_problems_of_a_file_that_differ_in_their_lines_are_one_line(capsys, tmp_path):
    file = write(tmp_path, good_records())
    file.write_text("{}\n" * 84)
    assert run(["results", "check", str(tmp_path)]) == 1
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{file}:1, 2, 3 and 81 more: ")
    assert first.endswith("(84 alike)")
    assert last.startswith("84 problems; ")


def test_warnings_that_differ_in_the_name_of_a_task_are_one_line(tmp_path, capsys):
    new = good_records("model-c")
    kept = {"weat-6", "weat-7", "simlex-999"}
    write(tmp_path / "small", [r for r in new if r.task.name in kept])
    write(tmp_path / "packed", good_records("model-d"))
    warnings = check([tmp_path / "packed"], tmp_path / "small").warnings
    assert len(warnings) > 10
    (line,) = comment.folded(warnings)
    assert f"{len(warnings)} tasks (" in line
    assert f" and {len(warnings) - 3} more): the base has no record" in line


@pytest.mark.parametrize(
    ("fingerprint", "name", "is_refused"),
    [
        ("unnamed-" + "a" * 32, "mine", True),
        ("mock-text-16", "mock-text", True),
        ("mine", "mine", True),
        ("random-texts-300", "random-texts", False),
        ("vectors-" + "a" * 32, "mine", False),
    ],
)
def test_a_model_that_nobody_can_repeat_is_refused(fingerprint, name, is_refused):
    record = changed(
        good_records()[0].model_dump(mode="json", by_alias=True),
        model__name=name,
        model__fingerprint=fingerprint,
    )
    reason = submission.refusal(record.model, frozenset({"random-texts"}))
    assert bool(reason) == is_refused


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"model__url": None}, "page"),
        ({"model__fingerprint": "openai-" + "a" * 32}, "hosted"),
        ({"model__fingerprint": "object-" + "a" * 32}, "object"),
        ({"model__url": None, "model__revision": "v1"}, ""),
        ({}, ""),
    ],
)
def test_a_maintainer_is_warned_of_a_model_that_others_may_lack(changes, word):
    content = good_records()[0].model_dump(mode="json", by_alias=True)
    reason = submission.warning(changed(content, **changes).model, {})
    assert (word in reason) if word else not reason


def test_a_model_of_a_plugin_needs_a_hash_for_boards_that_lack_the_plugin():
    model = changed(json.loads(good_records()[0].line()), model__fingerprint="good-1").model
    plugin = {model.name: "'mine' (harness-mine 0.1.0)"}
    assert submission.refusal(model, plugin) == ""
    assert "lacks its plugin 'mine' (harness-mine 0.1.0)" in submission.warning(model, plugin)
    shipped = {model.name: f"'builtin-embedders' ({PROJECT} 0.1.0)"}
    assert submission.warning(model, shipped) == ""


def test_a_model_without_a_hash_is_one_problem_for_all_its_records(tmp_path):
    records = [
        changed(json.loads(r.line()), model__fingerprint="good-1") for r in good_records(tasks=4)
    ]
    write(tmp_path, records)
    checked = check([tmp_path])
    (problem,) = checked.problems
    assert (problem.line, checked.records) == (0, ())
    assert "no hash of the weights" in problem.reason


def test_a_new_row_has_its_one_mean_beside_every_reference_and_a_difference_on_shared_tasks():
    def row(model: str, values: dict[str, float], **more: Any) -> Row:
        records = {task: record(task, "none", v, model=model, **more) for task, v in values.items()}
        return Row(model, "none", records, len(records))

    new = row("new", {"a": 1.0, "b": 1.0, "c": 2.0, "d": 0.0})
    references = row("x", {"a": 0.5, "b": 0.5}), row("y", {"a": 1.0, "b": 1.0, "c": 1.0})
    first, second = Addition(new, references).means
    assert (first.value, first.tasks, first.of) == (second.value, second.tasks, second.of)
    assert (first.value, first.tasks) == (0.5, 4)
    assert (first.difference, first.shared) == (0.25, 2)
    assert (second.difference, second.shared) == (pytest.approx(0.5 / 3), 3)


def test_a_leak_is_marked_in_the_table_of_tasks_and_explained() -> None:
    leak = record("a", "x", 0.1, overlap=("she",))
    addition = Addition(Row("m", "x", {"a": leak}, 1), ())
    assert [str(cell) for cell in tasks_table(addition, str).rows[0]][2:] == ["0.050†"]
    assert leaks_line(addition).lines[0].startswith("† leak: ")


def test_the_table_of_tasks_is_in_the_units_of_a_board() -> None:
    records = {
        "b": record("b", "none", 0.5),
        "u": similarity("u", "none", 0.552),
        "c": record("c", "none", 0.3, measures="control"),
    }
    rows = tasks_table(Addition(Row("m", "none", records, 3), ()), str).rows
    assert [[str(cell) for cell in row] for row in rows] == [
        ["b", "bias", "0.250"],  # a gap of a quarter of the range, over a yardstick of 1
        ["u", "usefulness", "0.776"],  # 1 less the distance of .224 to the ideal
        ["c", "control", "0.300"],
    ]


def test_the_means_are_those_of_the_board(base, tmp_path) -> None:
    plain = good_records("model-c")
    mitigated = [
        changed(
            json.loads(r.line()),
            **HARD,
            value=r.value,
            ratio=r.ratio and json.loads(r.line())["ratio"] | {"gap": r.ratio.gap / 2},
        )
        for r in plain[::2]
    ]
    write(tmp_path / "packed", [*plain, *mitigated])
    checked = check([tmp_path / "packed"], base)
    assert checked.problems == ()
    paths = [base / "results", tmp_path / "packed" / "results"]
    (board,) = building.rank(paths, Registry()).boards
    added = additions(checked.records, checked.base)
    means = {(a.row.mitigator, m.measures): m.value for a in added for m in a.means}
    rows = board.rows.filter(pl.col("model") == "model-c")
    for row in rows.iter_rows(named=True):
        for measures in ("bias", "usefulness"):
            assert means[row["mitigator"], measures] == pytest.approx(row[measures], abs=1e-6)
    assert set(rows["mitigator"]) == {"none", "hard-debias"}
