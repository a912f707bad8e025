"""Tables on narrow terminals."""

from __future__ import annotations

import io

from rich.console import Console

from harness.commands import output

COLUMNS = ["name", "version", "tags", "title"]
ROWS = [
    ["town-and-country-traits", 1, "sentences, towns, a-long-tag, another", "A title of words " * 4]
]


def printed(columns, rows, **given):
    """Return the lines of a table on a terminal of 80 columns, and what was left out."""
    grid, left_out, _ = output.laid_out(columns, rows, width=80, **given)
    console = Console(width=80, file=io.StringIO())
    console.print(grid)
    return console.file.getvalue().splitlines(), left_out


def test_only_free_text_is_shortened_and_the_least_important_columns_go_first():
    lines, left_out = printed(COLUMNS, ROWS, shorten="title", drop=("version", "tags"))
    assert left_out == ["version", "tags"]
    assert [line.split()[0] for line in lines if line.strip()][::2] == [
        "name", "town-and-country-traits",
    ]  # fmt: skip
    assert lines[3].rstrip().endswith("…")
    assert len(lines[3]) <= 80


def test_what_fits_is_left_as_it_is():
    lines, left_out = printed(["name", "a+b?k=2"], [["x", "0.1**"]], drop=("name",))
    assert left_out == []
    assert "a+b?k=2" in lines[1]


def test_names_of_mitigators_break_at_their_signs_only():
    columns = ["task", "anonymize+hard-debias?k=2&centre=true", "context-injection+normalize?p=1"]
    lines, _ = printed(columns, [["gender-occupations", "0.123**", "–"]])
    words = {word for line in lines for word in line.split()}
    assert {"anonymize", "+hard-debias", "?k=2", "&centre=true", "context-injection"} <= words
    assert "gender-occupations" in words


def test_a_noun_stands_in_its_number():
    assert output.counted(1, "file") == "1 file"
    assert output.counted(0, "file") == "0 files"
