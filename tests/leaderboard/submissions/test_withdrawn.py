"""`withdrawn.yaml`: what it takes off a board, and how it points at its mistakes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from submission_records import good_records
from submission_records import write as write_submission

from harness.commands.main import run
from harness.errors import InvalidFile
from harness.leaderboard.claims.reading import Claims, frame_of
from harness.leaderboard.submissions import withdrawn


def claims(make_rows, file: str = "results/m/f/r.jsonl") -> Claims:
    rows = [
        *make_rows({"a": {"t": 0.1, "u": 0.2}}, model__fingerprint="a" * 32),
        *make_rows({"b": {"t": 0.3, "u": 0.4}}, model__fingerprint="b" * 32),
    ]
    place = pl.lit(file).cast(pl.Categorical())
    return Claims(frame_of(rows).with_columns(file=place, line=pl.int_range(1, 5)))


@pytest.fixture
def write(tmp_path):
    def write_file(text: str) -> Path:
        path = tmp_path / withdrawn.NAME
        path.write_text(text)
        return path

    return write_file


def test_a_withdrawn_model_is_set_aside_with_its_reason(make_rows, write) -> None:
    left = withdrawn.apply(claims(make_rows), [write("models: [{name: a, reason: wrong weights}]")])
    assert left.frame["model"].unique().to_list() == ["b"]
    assert [line.reason for line in left.aside] == ["withdrawn: wrong weights"] * 2
    assert {line.file for line in left.aside} == {"results/m/f/r.jsonl"}


def test_a_withdrawn_task_is_set_aside_for_all_models(make_rows, write) -> None:
    left = withdrawn.apply(claims(make_rows), [write("tasks: [{name: u, reason: licence}]")])
    assert left.frame["task"].unique().to_list() == ["t"]
    assert len(left.aside) == 2


def test_a_record_is_withdrawn_by_its_id_in_all_files(make_rows, write) -> None:
    read = claims(make_rows)
    file = write(f"records: [{{id: {read.frame['id'][0]}, reason: another revision}}]")
    left = withdrawn.apply(read, [file])
    assert len(left.frame) == 3
    assert left.aside[0].id == read.frame["id"][0]


def test_a_record_in_a_named_file_is_withdrawn_and_its_rival_counts(
    make_rows, write, tmp_path
) -> None:
    first, second = (claims(make_rows, str(tmp_path / "results" / name)) for name in ("x", "y"))
    both = Claims(pl.concat([first.frame, second.frame]))
    id_ = both.frame["id"][0]
    entry = f"records: [{{id: {id_}, file: results/y, reason: not repeatable}}]"
    left = withdrawn.apply(both, [write(entry)])
    assert left.frame.filter(id=id_)["file"].to_list() == [str(tmp_path / "results" / "x")]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("models: [{name: a}]", 1, "reason"),
        ("models:\n- {reason: x}", 2, "either 'name' or 'fingerprint'"),
        ("records:\n- reason: x", 2, "'id' or 'file'"),
        ("record: []", 1, "did you mean 'records'"),
        ("models: [a, b\ntasks: x", 1, "not YAML"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(write, text, line, words) -> None:
    with pytest.raises(InvalidFile, match=words) as error:
        withdrawn.read(write(text))
    assert error.value.line == line
    assert "\n" not in str(error.value)


def test_only_the_folder_and_the_one_above_it_have_a_say(tmp_path, monkeypatch) -> None:
    deep = tmp_path / "results" / "m" / "f"
    deep.mkdir(parents=True)
    for folder in (tmp_path, deep):
        (folder / withdrawn.NAME).write_text("models: []")
    monkeypatch.chdir(tmp_path)
    for path in (Path("results"), Path(), tmp_path / "results"):
        assert [file.resolve() for file in withdrawn.find([path])] == [tmp_path / withdrawn.NAME]
    assert len(withdrawn.find([Path("results"), Path()])) == 1
    assert withdrawn.find([Path("results")]) == [Path(withdrawn.NAME)], "no folder of this machine"
    monkeypatch.chdir(tmp_path / "results")
    (file,) = withdrawn.find([Path()])
    assert file.resolve() == tmp_path / withdrawn.NAME
    assert withdrawn.find([tmp_path / "results" / "m"]) == []


def test_a_build_shows_what_is_withdrawn_and_ranks_the_rest(tmp_path, capsys) -> None:
    for name in ("stays", "goes"):
        write_submission(tmp_path, good_records(name))
    (tmp_path / withdrawn.NAME).write_text("models: [{name: goes, reason: its authors said so}]")
    site = tmp_path / "site"
    command = ["leaderboard", "build", str(tmp_path / "results"), "--out", str(site)]
    assert run(command) == 0
    assert "its authors said so" in capsys.readouterr().err
    rows = (site / "leaderboard.csv").read_text("utf-8")
    assert "stays" in rows
    assert "goes" not in rows
    data = (site / "reading.html").read_text("utf-8")
    assert "its authors said so" in data
    assert "results/goes/" in data
    assert str(tmp_path) not in data, "no folder of this machine is published"
    (tmp_path / withdrawn.NAME).write_text("models: [{nmae: goes, reason: x}]")
    assert run(command) == 2
    assert "did you mean 'name'" in capsys.readouterr().err
