"""Figures by Matplotlib: the kinds of files, of panels, and of what they are made from."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest

from harness.errors import UsageError
from harness.results import figures

BEGINS = {".svg": b"<?xml", ".pdf": b"%PDF-", ".png": b"\x89PNG"}
SAMPLES = {
    "none": [
        {"input": "targets_1", "set": "male_names", "text": "John", "association": 0.2},
        {"input": "targets_1", "set": "male_names", "text": "Paul", "association": 0.1},
        {"input": "targets_2", "text": "Amy", "association": -0.2, "contribution": 0.1},
        {"input": "attributes_1", "text": "career", "association": 0.9, "contribution": 0.1},
    ],
    "<hard>": [
        {"input": "targets_1", "text": "John", "association": 0.0, "contribution": 0.3},
        {"input": "targets_2", "text": "Amy", "association": None, "contribution": None},
    ],
}


def test_a_picture_is_of_the_kind_of_its_suffix_and_the_same_each_time(tmp_path):
    title, panels = "Mine & <b>yours</b>, $5", [partial(figures.points, x=[1, 2], y=[3, 4])]
    for suffix, begin in BEGINS.items():
        for name in ("a", "b"):
            figures.write_figure(tmp_path / (name + suffix), title, panels)
        first, second = ((tmp_path / (name + suffix)).read_bytes() for name in ("a", "b"))
        assert first.startswith(begin)
        assert first == second
    for name in ("fig.html", "fig", "fig.json"):
        with pytest.raises(UsageError, match=r"\.svg, \.pdf, \.png"):
            figures.write_figure(tmp_path / name, title, panels)
        assert not (tmp_path / name).exists()


def test_without_matplotlib_the_extra_is_named(tmp_path):
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from pathlib import Path\n"
        "from harness.errors import Unavailable\n"
        "from harness.results import figures\n"
        "path = Path(sys.argv[1]) / 'a.svg'\n"
        "assert not figures.write_if_installed(path, '', [])\n"
        "try: figures.write_figure(path, '', [])\n"
        "except Unavailable as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
    )
    assert "embedding-bias-harness[figures]" in done.stdout
    assert not list(tmp_path.iterdir())


def test_items_are_those_of_the_sides_in_the_order_of_the_first_label(tmp_path):
    path = tmp_path / "a.svg"
    figures.write_items(path, SAMPLES, "WEAT")
    text = path.read_text("utf-8")
    assert text.index("Paul") < text.index("John") < text.index("Amy")
    assert "career" not in text
    assert "male names, none" in text
    assert "association" in text
    many = [{"text": f"t{i}", "contribution": i / 9} for i in range(figures.LABELLED + 1)]
    figures.write_items(path, {"a": many, "b": many}, "Many")
    assert "t5" not in path.read_text("utf-8")
    with pytest.raises(UsageError, match="no item of WEAT"):
        figures.write_items(path, {"": []}, "WEAT")


def test_tables_are_drawn_by_their_columns(tmp_path):
    path = tmp_path / "a.svg"
    tables = {
        "bars": [{"first": "she", "second": "he", "accuracy": 0.5}],
        "points": [{"text": "nurse", "label": 0.1, "projection": 0.2}],
        "sides": [{"first": "cook", "projection_1": -0.5, "second": "", "projection_2": ""},
                  {"first": "maid", "projection_1": -0.4, "second": "boss", "projection_2": 0.5}],
        "matrix": [{"query": "who?", "document": d, "similarity": 0.1} for d in ("one", "two")],
    }  # fmt: skip
    expected = {"bars": "she : he", "points": "nurse", "sides": "cook", "matrix": "two"}
    for name, rows in tables.items():
        figures.write_tables(path, {"": rows, "label": rows}, "Title")
        assert expected[name] in path.read_text("utf-8"), name
    with pytest.raises(UsageError, match="no column of numbers"):
        figures.write_tables(path, {"": [{"word": "a"}]}, "Title")
