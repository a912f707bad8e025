"""What is no record is set aside with its place and reason; the other records count."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from harness import limits
from harness.errors import InvalidFile
from harness.leaderboard.claims.reading import SCHEMA, Claims, frame_of, read
from harness.results import columns
from harness.results.reading import PartsReader, Trust, judged
from harness.results.record import Record

Make = Callable[..., Record]
INTERVAL = {"low": -0.1, "high": 0.1, "level": 0.95, "method": "bootstrap"}


@pytest.fixture
def line(make_record: Make) -> Callable[..., bytes]:
    """Make a line of a record; keyword arguments replace its fields, `a__b` those of its parts."""

    def make(**changes: Any) -> bytes:
        content = json.loads(make_record().line())
        for key, value in changes.items():
            part, _, field = key.partition("__")
            (content[part] if field else content)[field or part] = value
        return json.dumps(content).encode() + b"\n"

    return make


def bare(record: Record) -> str:
    """Return the line of a record without a check, as another program writes it."""
    return record.model_dump_json(by_alias=True) + "\n"


def both(tmp_path: Path, bad: bytes, make_record: Make) -> Claims:
    """Read a file with a bad line between two good ones, and a second file."""
    good = [make_record(seed=seed).line().encode() for seed in range(3)]
    (tmp_path / "a.jsonl").write_bytes(good[0] + bad + good[1])
    (tmp_path / "b.jsonl").write_bytes(good[2])
    claims = read([tmp_path])
    assert claims.frame["seed"].sort().to_list() == [0, 1, 2], "the other records count"
    return claims


def test_records_of_files_and_folders_are_read_with_their_places(
    tmp_path: Path, make_record: Make
) -> None:
    (tmp_path / "x").mkdir()
    first, second = make_record(), make_record(seed=1)
    (tmp_path / "x" / "a.jsonl").write_text(f"\n{first.line()}  \n{second.line()}")
    (tmp_path / "x" / "a.study.jsonl").write_text("not for us\n")
    (tmp_path / "x" / "a.samples.jsonl").write_text("nor this\n")
    claims = read([tmp_path])
    assert dict(claims.frame.schema) == SCHEMA
    places = claims.frame.sort("seed").select("file", "line", "id").rows()
    file = str(tmp_path / "x" / "a.jsonl")
    assert places == [(file, 2, first.id), (file, 4, second.id)]
    assert claims.aside == ()


def test_a_file_is_read_as_its_records_in_memory(tmp_path: Path, make_many) -> None:
    records = make_many()
    (tmp_path / "a.jsonl").write_text("".join(record.line() for record in records))
    frame = read([tmp_path]).frame
    columns = [name for name in SCHEMA if name not in ("file", "line")]
    assert frame.select(columns).equals(frame_of(records).select(columns))


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile):
        read([tmp_path / "absent"])


BROKEN = {  # a line, and words of the reason
    "torn": (b'{"schema":1,"id":"ab', "JSON"),
    "a list": (b"[1]\n", "record"),
    "an empty object": (b"{}\n", "run"),
    "two objects": (b"{} {}\n", "JSON"),
    "not UTF-8": (b'{"id":"\xff"}\n', "UTF-8"),
    "deep": (b'{"details":' + b"[" * 30_000 + b"]" * 30_000 + b"}\n", "deep"),
    "twice": (b'{"id":"a","id":"b"}\n', "'id' stands twice"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_line_that_is_no_record_is_set_aside(tmp_path, make_record: Make, name) -> None:
    bad, words = BROKEN[name]
    claims = both(tmp_path, bad if bad.endswith(b"\n") else bad + b"\n", make_record)
    (aside,) = claims.aside
    assert (aside.file, aside.line) == (str(tmp_path / "a.jsonl"), 2)
    assert words in aside.reason
    assert len(str(aside).splitlines()) == 1


WRONG = {  # changes of a record, and words of the reason
    "text for a number": ({"value": "0.5x"}, "value"),
    "a later schema": ({"schema": 2}, "version 2"),
    "beyond int64": ({"n": 2**63}, "n:"),
    "half a thing": ({"n": 1.5}, "n:"),
    "an unknown kind": ({"model__kind": "image"}, "model.kind"),
    "an unknown measure": ({"task__measures": "luck"}, "task.measures"),
    "an object of aliases": ({"model__aliases": {"a": 1}}, "model.aliases"),
    "a number beyond floats": ({"value": 10**400}, "value"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_record_with_a_wrong_field_is_set_aside(tmp_path, make_record, line, name) -> None:
    changes, words = WRONG[name]
    (aside,) = both(tmp_path, line(**changes), make_record).aside
    assert aside.line == 2
    assert words in aside.reason


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_set_aside(tmp_path, make_record, token) -> None:
    text = bare(make_record(value=0.125)).replace("0.125", token)
    (aside,) = both(tmp_path, text.encode(), make_record).aside
    assert "value" in aside.reason or "JSON" in aside.reason


def test_a_line_that_was_changed_after_it_was_written_is_set_aside(tmp_path, make_record) -> None:
    changed = make_record(value=0.125).line().replace("0.125", "0.375")
    (aside,) = both(tmp_path, changed.encode(), make_record).aside
    assert "check" in aside.reason


def test_a_record_without_an_id_gets_its_own(tmp_path, make_record: Make, line) -> None:
    (tmp_path / "a.jsonl").write_bytes(line(id=""))
    assert read([tmp_path]).frame["id"].to_list() == [make_record().id]


def test_many_bad_lines_are_told_one_by_one(tmp_path, make_record: Make) -> None:
    lines = [
        "no record\n" if seed % 7 == 0 else make_record(seed=seed).line() for seed in range(200)
    ]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    claims = read([tmp_path])
    assert [aside.line for aside in claims.aside] == list(range(1, 201, 7))
    frame = claims.frame.sort("seed")
    assert frame["line"].to_list() == [seed + 1 for seed in range(200) if seed % 7]
    assert frame["seed"].to_list() == [seed for seed in range(200) if seed % 7]


def test_a_line_beyond_the_limit_is_set_aside(tmp_path, make_record: Make) -> None:
    record = make_record(seed=9, details={"x": "x" * limits.LINE_BYTES})
    (aside,) = both(tmp_path, record.line().encode(), make_record).aside
    assert f"{limits.LINE_BYTES:,}" in aside.reason


def test_a_file_beyond_the_limit_is_set_aside_whole(tmp_path, make_record, monkeypatch) -> None:
    monkeypatch.setattr(limits, "RECORDS_BYTES", 20_000)
    large = "".join(make_record(seed=seed).line() for seed in range(100, 150))
    (tmp_path / "large.jsonl").write_text(large)
    (tmp_path / "small.jsonl").write_text(make_record().line())
    claims = read([tmp_path])
    assert claims.frame["seed"].to_list() == [0]
    (aside,) = claims.aside
    assert (aside.file, aside.line) == (str(tmp_path / "large.jsonl"), 0)


def test_chunks_of_columns_change_nothing(tmp_path, make_record, monkeypatch) -> None:
    for name in "abc":
        lines = [make_record(model__name=name, seed=seed).line() for seed in range(9)]
        (tmp_path / f"{name}.jsonl").write_text("".join([*lines[:4], "broken\n", *lines[4:]]))
    at_once = read([tmp_path])
    monkeypatch.setattr(columns, "_CHUNK", 4)
    piecewise = read([tmp_path])
    assert piecewise.aside == at_once.aside
    assert piecewise.frame.equals(at_once.frame)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_no_change_of_some_bytes_stops_a_build(tmp_path, make_record: Make, data) -> None:
    line = bytearray(make_record(interval=INTERVAL, details={"reversed": True}).line().encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(line) - 2))
        line[place : place + data.draw(st.integers(0, 9))] = data.draw(
            st.one_of(
                st.binary(max_size=3), st.sampled_from([b"{", b"[", b'"', b"null", b"1e9", b","])
            )
        )
    changed = bytes(line).replace(b"\n", b" ") + b"\n"
    good = make_record(seed=1).line().encode()
    (tmp_path / "a.jsonl").write_bytes(changed + good)
    claims = read([tmp_path])
    assert claims.frame.filter(line=2)["seed"].to_list() == [1]
    n = claims.frame.height + len(claims.aside)
    assert n == (1 if changed.isspace() else 2) or (n > 2 and b"}{" in changed)


def test_records_that_are_joined_on_a_line_are_claims_each(tmp_path, make_record: Make) -> None:
    lines = [make_record(seed=seed).line() for seed in range(3)]
    (tmp_path / "a.jsonl").write_text(lines[0] + lines[1].removesuffix("\n") + lines[2])
    claims = read([tmp_path])
    assert claims.frame.select("seed", "line").rows() == [(0, 1), (1, 2), (2, 2)]
    assert claims.aside == ()


def frame_by_parts(reader: PartsReader, *lines: bytes) -> pl.DataFrame | None:
    """Return lines that are read by their parts; None if one is left to `judged`."""
    collector = columns.Collector()
    for line in lines:
        parts = reader.read(line)
        if parts is None:
            return None
        collector.add_parts(parts)
    return frame_of(collector.columns())


def test_lines_are_read_by_their_parts_as_they_are_judged(make_many) -> None:
    records = make_many()
    lines = [text.encode() for record in records for text in (record.line(), bare(record))]
    frame = frame_by_parts(PartsReader(), *lines)
    assert frame is not None
    assert frame.equals(frame_of([judged(line, Record, Trust.ANYBODY) for line in lines]))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_changed_line_is_read_by_its_parts_as_it_is_judged_or_not_at_all(
    make_record: Make, data: st.DataObject
) -> None:
    line = bare(make_record(interval=INTERVAL, p_value=0.5)).encode()
    reader = PartsReader()
    assert reader.read(line) is not None, "its parts are known"
    tokens = (
        *(b",", b":", b"{", b"}", b"[", b"]", b'"', b"0", b"null", b"NaN", b'"x":{', b'"value":0'),
        *(b',"model":{}', b',"value":1', b',"seconds":0', b',"environment":', b',"id":""', b"\xff"),
    )
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(line)))
        end = min(len(line), start + data.draw(st.integers(0, 30)))
        line = line[:start] + data.draw(st.sampled_from(tokens)) + line[end:]
    frame = frame_by_parts(reader, line)
    if frame is not None:
        record = judged(line, Record, Trust.ANYBODY)
        assert isinstance(record, BaseModel)
        assert frame.equals(frame_of([record]))
