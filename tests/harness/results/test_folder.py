"""Results folders: lines are appended in one piece; torn lines are skipped and removed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import harness
from harness.embedder import MockEmbedder
from harness.errors import DiskError, InvalidFile
from harness.results.folder import ResultsFile, read


@pytest.fixture
def records(registry):
    return list(harness.evaluate(MockEmbedder(), "toy-places", registry=registry, concept=None))


def test_records_are_read_in_the_order_in_which_they_were_added(tmp_path, records):
    file = ResultsFile(tmp_path / "results", "a/model:b?c=d")
    file.add(records[:1])
    file.add(records[1:])
    assert file.path == tmp_path / "results" / "a_model_b_c_d.jsonl"
    assert read([file.path]).records == read([tmp_path]).records == tuple(records)
    assert list(ResultsFile(tmp_path / "results", "a/model:b?c=d").records.values()) == records


@pytest.mark.parametrize(
    "name", ["../../x", "/etc/passwd", "..", "a\\b", "~/x", ".hidden", "x" * 999]
)
def test_a_models_name_never_becomes_a_path(tmp_path, records, name):
    file = ResultsFile(tmp_path / "results", name)
    file.add(records)
    assert file.path.parent == tmp_path / "results"
    assert {path.parent for path in tmp_path.rglob("*.jsonl")} == {tmp_path / "results"}


def test_a_record_replaces_the_one_with_its_id(tmp_path, records):
    file = ResultsFile(tmp_path, "m")
    file.add(records)
    again = records[0].model_copy(update={"value": 9.0})
    file.add([again])
    found = read([tmp_path]).records
    assert sorted(record.id for record in found) == sorted(record.id for record in records)
    assert again in found
    assert len(file.path.read_bytes().splitlines()) == len(records)


def test_the_last_of_two_lines_with_one_id_is_read(tmp_path, records):
    again = records[0].model_copy(update={"value": 9.0})
    (tmp_path / "a.jsonl").write_text(records[0].line() + again.line())
    assert read([tmp_path]).records == (again,)


def test_two_models_with_one_file_name_keep_their_records(tmp_path, records):
    ResultsFile(tmp_path, "a/b").add(records[:1])
    ResultsFile(tmp_path, "a:b").add(records[1:])
    assert len(read([tmp_path]).records) == len(records)


@pytest.mark.parametrize("kept", [1, 40, -2, "within ü"])
def test_a_torn_last_line_is_skipped_and_removed_by_the_next_writer(tmp_path, records, kept):
    file = ResultsFile(tmp_path, "m")
    file.add(records[:2])
    line = records[2].model_copy(update={"reason": "ü"}).line().encode()
    if kept == "within ü":  # UTF-8 of two bytes
        kept = line.index("ü".encode()) + 1
    with file.path.open("ab") as stream:
        stream.write(line[:kept])
    reading = read([tmp_path])
    assert reading.records == tuple(records[:2])
    (notice,) = reading.notices
    assert notice.startswith(f"{file.path}:3: ")
    assert "torn" in notice
    again = ResultsFile(tmp_path, "m")
    assert again.notices == reading.notices
    again.add(records[2:])
    assert read([tmp_path]).records == tuple(records)
    assert read([tmp_path]).notices == ()


@pytest.mark.parametrize("added", [0, 1, 2])
def test_a_last_line_without_its_newline_is_read_and_completed(tmp_path, records, added):
    path = tmp_path / "m.jsonl"
    path.write_text("".join(record.line() for record in records[:2]).removesuffix("\n"))
    reading = read([tmp_path])
    assert reading.records == tuple(records[:2])
    assert reading.notices == ()
    ResultsFile(tmp_path, "m").add(records[added : added + 1])
    found = {record.id for record in read([tmp_path]).records}
    assert found == {record.id for record in [*records[:2], records[added]]}
    assert path.read_bytes().endswith(b"\n")
    assert len(path.read_bytes().splitlines()) == max(2, added + 1)


def test_a_complete_line_of_another_schema_is_an_error_and_is_not_removed(tmp_path, records):
    path = tmp_path / "m.jsonl"
    path.write_text(records[0].line().replace('"schema":1', '"schema":2').removesuffix("\n"))
    before = path.read_bytes()
    with pytest.raises(InvalidFile, match="schema: version 2"):
        ResultsFile(tmp_path, "m")
    assert path.read_bytes() == before


def test_a_torn_line_is_removed_if_it_is_the_only_one(tmp_path, records):
    (tmp_path / "m.jsonl").write_text('{"schema": 1, "id"')
    ResultsFile(tmp_path, "m").add(records)
    assert read([tmp_path]).records == tuple(records)


def test_a_torn_line_is_removed_when_a_record_is_replaced(tmp_path, records):
    file = ResultsFile(tmp_path, "m")
    file.add(records)
    with file.path.open("a") as stream:
        stream.write("{")
    ResultsFile(tmp_path, "m").add(records[:1])
    assert len(read([tmp_path]).records) == len(records)
    assert read([tmp_path]).notices == ()


def test_a_line_that_is_no_record_is_an_error_with_its_number(tmp_path, records):
    path = tmp_path / "m.jsonl"
    path.write_text(records[0].line() + "{}\n" + records[1].line())
    with pytest.raises(InvalidFile) as caught:
        read([tmp_path])
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "run: Field required" in str(caught.value)
    path.write_text("nonsense\n")
    with pytest.raises(InvalidFile, match=r"m.jsonl:1: .*JSON"):
        read([path])
    path.write_bytes(b"\xff\n")
    with pytest.raises(InvalidFile, match=r"m.jsonl:1: .*UTF-8"):
        read([path])


def test_a_record_of_another_schema_is_an_error_with_both_versions(tmp_path, records):
    (tmp_path / "m.jsonl").write_text(records[0].line().replace('"schema":1', '"schema":2'))
    with pytest.raises(InvalidFile, match=r"schema: version 2 .*version 1 "):
        read([tmp_path])


def test_empty_lines_are_skipped(tmp_path, records):
    (tmp_path / "m.jsonl").write_text("\n" + records[0].line() + "\n\n")
    assert read([tmp_path]).records == (records[0],)


def test_a_missing_path_is_an_error(tmp_path):
    with pytest.raises(InvalidFile, match="absent"):
        read([tmp_path / "absent"])


def test_a_folder_that_cannot_be_made_is_a_disk_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError, match="file/results'"):
        ResultsFile(tmp_path / "file" / "results", "m")


def test_a_file_that_cannot_be_read_is_a_disk_error(tmp_path, records):
    file = ResultsFile(tmp_path, "m")
    file.path.mkdir()
    with pytest.raises(DiskError, match=r"m.jsonl' \(Is a directory\)"):
        file.add(records)


def test_a_lock_that_cannot_be_made_is_a_disk_error(tmp_path, records):
    file = ResultsFile(tmp_path, "m")
    file.add(records)
    (tmp_path / ".m.lock").unlink()
    (tmp_path / ".m.lock").mkdir()
    for some in (records, [records[0].model_copy(update={"id": "new"})]):
        with pytest.raises(DiskError, match=r"m.jsonl' \(Is a directory\)"):
            file.add(some)


@pytest.mark.posix
def test_a_full_disk_keeps_the_earlier_records(tmp_path, records):
    file = ResultsFile(tmp_path / "results", "m")
    file.add(records[:2])
    (tmp_path / "more.jsonl").write_text(records[2].line())
    script = """
import resource, signal, sys
from pathlib import Path
from harness import errors
from harness.results import folder as results_folder
folder = Path(sys.argv[1])
more = list(results_folder.read([folder / "more.jsonl"]).records)
file = results_folder.ResultsFile(folder / "results", "m")
size = file.path.stat().st_size + 100
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    file.add(more)
except errors.DiskError as error:
    print(error)
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"'{file.path}' (File too large)" in said.stdout
    reading = read([tmp_path / "results"])
    assert reading.records == tuple(records[:2])
    assert len(reading.notices) == 1
    ResultsFile(tmp_path / "results", "m").add(records[2:])
    assert read([tmp_path / "results"]).records == tuple(records)


def test_two_writers_at_once_lose_nothing(tmp_path, records):
    one, two = ResultsFile(tmp_path, "m"), ResultsFile(tmp_path, "m")
    one.add(records[:1])
    two.add(records[1:])
    one.add([records[0].model_copy(update={"value": 9.0})])
    assert {record.id for record in read([tmp_path]).records} == {r.id for r in records}


def test_two_runs_on_one_file_leave_each_record_once(tmp_path, records):
    one, other = ResultsFile(tmp_path, "m"), ResultsFile(tmp_path, "m")
    one.add(records[:1])
    other.add(records)
    one.add(records)
    lines = one.path.read_text().splitlines()
    assert len(lines) == len(records)
    assert {record.id for record in read([one.path]).records} == {record.id for record in records}
