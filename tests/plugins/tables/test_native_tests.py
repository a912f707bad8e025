"""Table maker `native-tests`, and the task of CA-WEAT on a file of the same form."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import tasks
from harness.plugins.tables.mended_tests import mended_tests
from harness.plugins.tables.native_tests import native_tests
from harness.registry.discovery import load_file
from harness.task import data_files
from harness.task.schema import Table

HEADER = (
    "LANG\tTYPE\tWHO\tVERSION\tBIRTH PLACE\tWEAPONS\tFLOWERS\tINSTRUMENTS\tINSECTS\t"
    "PLEASANT\tUNPLEASANT\n"
)


def line(code, kind="original", **words):
    sets = {
        "WEAPONS": "w1,w2,w3,w4", "FLOWERS": "f1,f2,f3,f4", "INSTRUMENTS": "m1,m2,m3,m4",
        "INSECTS": "i1,i2,i3,i4", "PLEASANT": "p1,p2,p3,p4", "UNPLEASANT": "u1,u2,u3,u4",
    } | words  # fmt: skip
    return "\t".join([code, kind, "anonymous", "3.0", "A town, a country", *sets.values()]) + "\n"


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "CA-WEATv3.tsv"
    file.write_text(
        HEADER
        + line("de_AT1", FLOWERS="Rose, Tulpe,Nelke ,, Mohn")
        + line("es1")
        + line("de2", "translated")
        + line("de3", WEAPONS="سهم،مسدس، صاروخ,قذيفة"),
        "utf-8",
    )
    return data_files.parse_table(Table(file=file.name), file)


def test_each_speaker_of_a_language_has_both_tests(rows):
    made = native_tests(rows, language="de")
    lists = {(row["test"], row["input"]): row["words"] for row in made}
    assert {test for test, _ in lists} == {"weat101", "weat102", "weat201", "weat202"}
    assert lists["weat101", "targets_1"] == "Rose|Tulpe|Nelke||Mohn"
    assert lists["weat101", "targets_2"] == "i1|i2|i3|i4"
    assert lists["weat102", "targets_1"] == "m1|m2|m3|m4"
    assert lists["weat202", "targets_2"].split("|")[1:3] == ["مسدس", "صاروخ"]
    assert lists["weat202", "attributes_1"] == lists["weat201", "attributes_1"] == "p1|p2|p3|p4"


def test_the_first_speakers_are_read(rows):
    assert {row["test"] for row in native_tests(rows, language="de", most=1)} == {
        "weat101", "weat102",
    }  # fmt: skip


def test_what_is_made_can_be_mended(rows):
    words = mended_tests(native_tests(rows, language="de"))
    assert {row["number"] for row in words} == {101, 102, 201, 202}
    flowers = [row["text"] for row in words if (row["number"], row["input"]) == (101, "targets_1")]
    assert flowers == ["Rose", "Tulpe", "Nelke", "Mohn"]


def test_the_task_names_each_language_once():
    each = load_file(Path(tasks.__file__).parent / "ca_weat" / "ca-weat.yaml").data["each"]
    assert len({mapping["language"] for mapping in each}) == len(each) == 26
    assert {type(mapping["language"]) for mapping in each} == {str}
