"""Results folders: lines are appended in one piece; torn and damaged lines are skipped."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

import harness
from harness.embedder import MockEmbedder
from harness.results.folder import Reading, ResultsFile, read


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
    again = records[0].model_copy(update={"value": 9.0, "created": "2999-01-01T00:00:00+00:00"})
    file.add([again])
    assert read([tmp_path]).records == (again, *records[1:])
    file.arrange([record.id for record in records])
    assert file.path.read_text() == "".join(record.line() for record in [again, *records[1:]])


def test_two_values_for_one_id_are_told_and_the_order_of_files_decides_nothing(tmp_path, records):
    other = records[0].model_copy(update={"value": 9.0})
    later = records[1].model_copy(update={"run": "copied", "seconds": 9.0})
    for name, some in (("a", records), ("b", [other, later])):
        ResultsFile(tmp_path / name, "m").add(some)
    (tmp_path / "c.jsonl").write_bytes(
        b"".join((tmp_path / f"{n}/m.jsonl").read_bytes() for n in "ab")
    )
    for paths in (("a", "b"), ("b", "a"), ("c.jsonl",), ("a", "b", "c.jsonl")):
        found = harness.read_results(*(tmp_path / path for path in paths))
        assert {r.id for r in found} == {r.id for r in records}
        values = {r.id: r.value for r in found}
        assert values.pop(other.id) is None
        assert values == {r.id: r.value for r in records[1:]}
        lost = next(r for r in found if r.id == other.id)
        assert lost.reason.startswith("conflict: records with this id differ in 'value'")
        assert (lost.interval, lost.floor, lost.ratio, lost.p_value) == (None,) * 4
        assert len(found.notices) == (4 if len(paths) == 3 else 2)
    again = ResultsFile(tmp_path, "c")
    assert again.records[other.id].value is None
    again.add(records[2:])
    again.arrange([record.id for record in reversed(records)])
    assert other.line() in (tmp_path / "c.jsonl").read_text()


def test_two_records_joined_on_a_line_are_read_and_kept(tmp_path, records):
    lines = [record.line().removesuffix("\n") for record in records]
    text = f"{lines[0]}\n{lines[1]}{lines[2]}"
    for tail, n_notices in (("", 0), ("\n", 0), ('{"schema":1,"id":"}{', 1)):
        (tmp_path / "m.jsonl").write_text(text + tail)
        reading = read([tmp_path])
        assert (reading.records, len(reading.notices)) == (tuple(records[:3]), n_notices)
        file = ResultsFile(tmp_path, "m")
        file.add(records[3:])
        file.arrange([record.id for record in reversed(records)])
        assert read([tmp_path]).records == tuple(reversed(records))


def test_two_models_with_one_file_name_keep_their_records(tmp_path, records):
    ResultsFile(tmp_path, "a/b").add(records[:1])
    ResultsFile(tmp_path, "a:b").add(records[1:])
    assert len(read([tmp_path]).records) == len(records)


TAILS = {
    "half": lambda line: line[: len(line) // 2],
    "half a character": lambda line: line[: line.index("ü".encode()) + 1],
    "NUL bytes": lambda line: b"\0" * 4096,
}


def test_a_torn_last_line_is_skipped_and_the_next_append_begins_on_a_new_line(tmp_path, records):
    line = records[2].model_copy(update={"reason": "ü"}).line().encode()
    for name, tail in TAILS.items():
        file = ResultsFile(tmp_path / name, "m")
        file.add(records[:2])
        with file.path.open("ab") as stream:
            stream.write(tail(line))
        again = ResultsFile(tmp_path / name, "m")
        for added in ([], records[2:]):
            again.add(added)
            reading = read([tmp_path / name])
            assert reading.records == (*records[:2], *added), name
            (notice,) = reading.notices
            assert notice.startswith(f"{file.path}:3: "), name


@pytest.mark.parametrize("added", [0, 1, 2])
def test_a_last_line_without_its_newline_is_read_and_completed(tmp_path, records, added):
    path = tmp_path / "m.jsonl"
    path.write_text("".join(record.line() for record in records[:2]).removesuffix("\n"))
    assert read([tmp_path]) == Reading(tuple(records[:2]), ())
    file = ResultsFile(tmp_path, "m")
    file.add(records[added : added + 1])
    file.arrange([record.id for record in records])
    n = max(2, added + 1)
    assert path.read_text() == "".join(record.line() for record in records[:n])


def test_a_line_that_is_no_record_is_left_out_with_its_number(tmp_path, records):
    path = tmp_path / "m.jsonl"
    path.write_text(records[0].line() + "{}\n" + records[1].line())
    reading = read([tmp_path])
    assert reading.records == tuple(records[:2])
    (notice,) = reading.notices
    assert notice.startswith(f"{path}:2: ")
    assert "run: Field required" in notice
    path.write_text("nonsense\n")
    assert "JSON" in read([path]).notices[0]
    path.write_bytes(b"\xff\n")
    assert "UTF-8" in read([path]).notices[0]


def test_a_record_of_another_schema_is_left_out_with_both_versions(tmp_path, records):
    (tmp_path / "m.jsonl").write_text(records[0].line().replace('"schema":1', '"schema":2'))
    (notice,) = read([tmp_path]).notices
    assert "schema: version 2 " in notice
    assert "version 1 " in notice


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
    assert reading.notices == ()
    ResultsFile(tmp_path / "results", "m").add(records[2:])
    assert read([tmp_path / "results"]).records == tuple(records)


def test_two_runs_on_one_file_add_to_each_others_records(tmp_path, records):
    one, other = ResultsFile(tmp_path, "m"), ResultsFile(tmp_path, "m")
    one.add(records[:1])
    other.add(records)
    one.add(records[1:])
    one.arrange([record.id for record in reversed(records)])
    assert read([one.path]).records == tuple(reversed(records))
    assert one.path.read_text() == "".join(record.line() for record in reversed(records))


# --- checks, damage and order ------------------------------------------------------------------


def test_each_changed_byte_of_a_line_is_found(tmp_path, records):
    path = tmp_path / "m.jsonl"
    lines = [record.line().encode() for record in records[:3]]
    draw = random.Random(3)
    for _ in range(400):
        place = draw.randrange(len(lines[1]) - 1)
        changed = bytearray(lines[1])
        changed[place] ^= 1 << draw.randrange(8)
        path.write_bytes(lines[0] + changed + lines[2])
        reading = read([path])
        assert (records[0], records[2]) == (reading.records[0], reading.records[-1]), place
        assert records[1] not in reading.records
        assert len(reading.records) == 2
        assert reading.notices


def test_another_number_in_valid_json_is_found(tmp_path, records):
    path = tmp_path / "m.jsonl"
    line = records[0].line()
    number = f'"value":{records[0].value}'
    assert number in line
    path.write_text(line.replace(number, '"value":0.5') + records[1].line())
    reading = read([path])
    assert reading.records == tuple(records[1:2])
    assert reading.notices[0].startswith(f"{path}:1: ")


def test_lines_without_a_check_and_lines_that_another_program_wrote_are_read(tmp_path, records):
    path = tmp_path / "m.jsonl"
    bare = records[0].model_dump_json(by_alias=True)
    assert "check" not in json.loads(bare)
    rewritten = json.dumps(json.loads(records[1].line()))
    path.write_text(f"{bare}\n{rewritten}\n")
    assert read([path]) == Reading(tuple(records[:2]), ())


def test_a_check_is_no_part_of_a_record(records):
    again = type(records[0]).model_validate_json(records[0].line())
    assert again == records[0]
    assert again.line() == records[0].line()


def test_records_are_brought_into_order_after_all_other_lines(tmp_path, records):
    file = ResultsFile(tmp_path, "m")
    file.path.write_text(records[2].line() + "damaged\n" + records[1].line() + records[0].line())
    file = ResultsFile(tmp_path, "m")
    ids = [records[1].id, records[2].id, "absent"]
    file.arrange(ids)
    expected = "damaged\n" + "".join(records[i].line() for i in (0, 1, 2))
    assert file.path.read_text() == expected
    before = file.path.stat()
    file.arrange(ids)
    after = file.path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
