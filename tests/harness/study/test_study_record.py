"""A record that contradicts its study is an error with its file and line."""

import json
import re

import pytest

from harness.results.jsonl import read
from harness.study.study_record import StudyRecord


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda r: r.update(row="x"), "row.*'x'"),
        (lambda r: r["study"].update(baseline="x"), "row.*'x'"),
        (lambda r: r["study"].update(criteria=["X"]), "measure.*'X'"),
        (lambda r: r["judged"].pop("ECT"), "judged.*'ECT'"),
        (lambda r: r["judged"]["ECT"]["values"].update(X=1.0), "values.*'X'"),
        (lambda r: r.update(fold=4), "repeat 0, fold 4"),
        (lambda r: r.update(fold=-1), "fold: "),
    ],
)
def test_an_error_in_a_record_names_its_line(run, change, problem):
    path = run().path
    lines = path.read_text().splitlines()
    record = json.loads(lines[2])
    change(record)
    path.write_text("\n".join([*lines[:2], json.dumps(record), *lines[3:]]) + "\n")
    notices: list[str] = []
    assert len(list(read(path, StudyRecord, notices))) == len(lines) - 1
    (notice,) = notices
    assert re.search(rf"small\.study\.jsonl:3: .*{problem}", notice)


def test_a_record_is_equal_after_writing_and_reading(run):
    for record in run().records:
        assert StudyRecord.model_validate_json(record.line()) == record
