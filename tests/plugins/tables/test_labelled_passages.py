"""Passages of labelled queries: what is refused. The task on MS MARCO tests what is read."""

from __future__ import annotations

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.labelled_passages import labelled_passages

SOURCE = f"hf://owner/name@{'0' * 40}"


def test_a_data_set_without_a_commit_and_a_line_without_a_number_are_refused():
    with pytest.raises(InvalidOption, match="hf://owner/name@COMMIT"):
        labelled_passages([], source="hf://owner/name", split="validation")
    with pytest.raises(InvalidOption, match="row 2: expected a column 'line'"):
        labelled_passages([{"line": "1,a,n"}, {"line": "a,n"}], source=SOURCE, split="validation")


def test_a_data_set_of_another_form_is_one_line(tmp_path, monkeypatch):
    pytest.importorskip("datasets")
    (tmp_path / "owner" / "name").mkdir(parents=True)
    (tmp_path / "owner" / "name" / "validation.jsonl").write_text('{"query_id": 1}\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidOption, match="expected 'query_id', 'query' and 'passages'"):
        labelled_passages([{"line": "1,a,n"}], source=SOURCE, split="validation")
