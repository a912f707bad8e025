"""Queries in three variants from a JSON object."""

from __future__ import annotations

import json

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.query_variants import query_variants

TOPICS = {
    "0_F": {"0": ["nurses", "female nurses", "male nurses"]},
    "4_M": {"0": ["ceos", "male ceos", "female ceos"], "7": ["bosses", "male bosses", "her boss"]},
}


def lines(content: str) -> list[dict[str, str]]:
    return [{"line": line} for line in content.splitlines()]


@pytest.mark.parametrize("indent", [None, 4])
def test_each_query_becomes_a_row_with_the_gender_of_its_topic(indent):
    rows = query_variants(lines(json.dumps(TOPICS, indent=indent)))
    assert [row["neutral"] for row in rows] == ["nurses", "ceos", "bosses"]
    assert rows[1] == {"topic": 4, "stereotype": "male", "neutral": "ceos", "own": "male ceos",
                       "other": "female ceos"}  # fmt: skip


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "[1]", '{"0_F": {"0": ["a", "b"]}}', '{"0_X": {"0": ["a", "b", "c"]}}',
     '{"F": {"0": ["a", "b", "c"]}}', '{"0_F": []}', '{"0_F": {"0": 3}}'],
)  # fmt: skip
def test_invalid_json_is_rejected_in_one_line(content):
    with pytest.raises(InvalidOption, match="query-variants") as caught:
        query_variants(lines(content))
    assert "\n" not in str(caught.value)


def test_a_missing_column_is_rejected():
    with pytest.raises(InvalidOption, match="line"):
        query_variants([{"text": "{}"}])
