"""Tables on narrow terminals."""

from __future__ import annotations

import pytest

from harness.results import formats
from harness.results.formats import Report, Table

COLUMNS = ["name", "version", "tags", "title"]
ROWS = [
    ["town-and-country-traits", 1, "sentences, towns, a-long-tag, another", "A title of words " * 4]
]


NOTICE = "columns not shown on this narrow terminal: "


@pytest.fixture
def printed(capsys):
    """Print a table on a terminal of 80 columns, return its lines and the columns left out."""

    def run(columns, rows, **layout):
        formats.show(Report("", [Table("", columns, rows, **layout)]), 80)
        text, _, left_out = capsys.readouterr().out.partition(NOTICE)
        return text.splitlines(), left_out.partition(" (see")[0].split(", ") if left_out else []

    return run


def test_a_wide_table_drops_columns_in_order_and_shortens_free_text(printed):
    lines, left_out = printed(COLUMNS, ROWS, shorten=["title"], drop=("version", "tags"))
    assert left_out == ["version", "tags"]
    assert [line.split()[0] for line in lines if line.strip()][::2] == [
        "name", "town-and-country-traits",
    ]  # fmt: skip
    assert lines[3].rstrip().endswith("…")
    assert len(lines[3]) <= 80


WIDE = ["mitigator", "a", "b", "c"]


def parts(width, capsys, rows=(("x" * 10, "1" * 14, "2" * 14, "3" * 14),)):
    """Print a table with a repeated first column, and return the columns of each part."""
    formats.show(Report("", [Table("", WIDE, rows, repeat=1)]), width)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= max(width, 30)
    return [line.split()[1:] for line in lines if line.split()[:1] == ["mitigator"]]


def test_a_wide_table_is_printed_in_parts_that_all_name_the_rows(capsys):
    assert parts(50, capsys) == [["a", "b"], ["c"]]
