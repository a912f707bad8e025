"""Rows of a data set of the hub, from a folder that the library reads alike."""

from __future__ import annotations

import json
import sys

import pytest

from harness import limits
from harness.errors import InvalidOption, Unavailable
from harness.plugins.tables.hub_rows import hub_rows

SOURCE = f"hf://owner/name@{'0123456789' * 4}"


@pytest.fixture
def data_set(tmp_path, monkeypatch):
    """A data set of two splits, `owner/name`, in the working folder."""
    pytest.importorskip("datasets")
    folder = tmp_path / "owner" / "name"
    folder.mkdir(parents=True)
    for split, n in {"train": 3, "test": 2}.items():
        rows = [{"text": f"{split} {i}", "label": i} for i in range(n)]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_parts_follow_each_other_as_the_table_names_them(data_set):
    parts = [{"source": SOURCE, "split": split} for split in ("test", "train")]
    assert [dict(row) for row in hub_rows(parts)] == [
        *({"text": f"test {i}", "label": i} for i in range(2)),
        *({"text": f"train {i}", "label": i} for i in range(3)),
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"source": "hf://owner/name", "split": "test"},
        {"source": "hf://owner/name@main", "split": "test"},
        {"source": SOURCE[:-1], "split": "test"},
        {"source": SOURCE},
        {"split": "test"},
    ],
)
def test_content_that_is_not_pinned_is_refused(row):
    with pytest.raises(InvalidOption, match=r"hub-rows.*40 digits"):
        hub_rows([row])


def test_a_data_set_has_no_more_rows_than_a_table_may(data_set, monkeypatch):
    monkeypatch.setattr(limits, "TABLE_ROWS", 2)
    assert len(hub_rows([{"source": SOURCE, "split": "test"}])) == 2
    with pytest.raises(InvalidOption, match="more than 2 rows"):
        hub_rows([{"source": SOURCE, "split": "train"}])


def test_what_cannot_be_had_is_one_line(data_set, monkeypatch):
    with pytest.raises(InvalidOption, match="no such split"):
        hub_rows([{"source": SOURCE, "split": "dev"}])
    with pytest.raises(Unavailable, match="owner/other"):
        hub_rows([{"source": SOURCE.replace("name", "other"), "split": "test"}])
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(Unavailable, match=r"embedding-bias-harness\[train\]"):
        hub_rows([{"source": SOURCE, "split": "test"}])


def test_without_a_network_a_folder_is_read_and_the_hub_is_one_line(data_set, caplog):
    assert len(hub_rows([{"source": SOURCE, "split": "test"}])) == 2, "a local folder"
    with pytest.raises(Unavailable, match=r"owner/other.* cannot be loaded: .*Couldn't reach"):
        hub_rows([{"source": SOURCE.replace("name", "other"), "split": "test"}])
    assert not caplog.records
