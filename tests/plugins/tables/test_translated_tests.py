"""Table maker `translated-tests`, and the task of X-WEAT on a file of the same form."""

from __future__ import annotations

from pathlib import Path

from harness import tasks
from harness.plugins.tables.translated_tests import translated_tests
from harness.registry.discovery import load_file
from harness.task import data_files
from harness.task.schema import Table

TASK = load_file(Path(tasks.__file__).parent / "x_weat" / "x-weat.yaml").data
ROWS = [{"english": english, "word": word} for english, word in (("a", "A"), ("b", ""), ("c", "C"))]


def test_words_are_translated_and_those_without_a_translation_left_out():
    made = translated_tests(ROWS, tests={"weat7": {"targets_1": ("c", "b", "a", "d")}})
    assert made == [{"test": "weat7", "input": "targets_1", "words": "C|A"}]


def test_a_file_of_the_form_of_the_repository_is_read(tmp_path):
    # Blank pairs, a column for another gender, two more of Russian, no line break at the end.
    file = tmp_path / "vocab_en_de.csv"
    file.write_text("math,Mathe,\n,,\nnurse,Pfleger,Pflegerin\nrose,,,\nart,Kunst,,", "utf-8")
    vocabulary = TASK["tables"]["vocabulary"]
    columns = {key: tuple(vocabulary[key]) for key in ("columns", "optional")}
    table = Table(**columns, file=file.name)
    rows = data_files.parse_table(table, file)
    made = translated_tests(rows, tests={"weat7": {"targets_1": ("math", "rose", "art")}})
    assert made[0]["words"] == "Mathe|Kunst"


def test_the_english_words_are_those_of_weat():
    sets = load_file(Path(tasks.__file__).parent / "weat" / "_weat_sets.yaml").data["sets"]
    known = {word for words in sets.values() for word in words} | {"blue-bell", "short-term"}
    tests = TASK["tables"]["lists"]["options"]["tests"]
    assert set(tests) == {"weat1", "weat2", "weat7", "weat8", "weat9"}
    for lists in tests.values():
        assert {word for words in lists.values() for word in words} <= known
    assert len(tests["weat1"]["targets_1"]) == 25
    assert len(tests["weat8"]["targets_1"]) == 6, "without Einstein and NASA"
