"""`harness analogies`: the analogies of two words, and the answers for a third."""

from __future__ import annotations

import numpy as np
import pytest
from given_vectors import Vocabulary

from harness.arrays import unit_rows
from harness.commands.main import run
from harness.concept import Concept
from harness.embedder import Vocabulary as WordList
from harness.errors import NotApplicable, UnknownName
from harness.plugins.metrics import analogies

SIDE = {  # by hand: x is gender, y medicine, z family
    "she": (1, 0, 1),
    "he": (-1, 0, 1),
    "nurse": (0.9, 2, 0.1),
    "doctor": (-1, 2, 0),
    "physician": (0, 2, -0.3),
    "mother": (1, 0, 3),
    "father": (-1, 0, 3),
    "stone": (0, -1, -1),
}


class Words(Vocabulary):
    """A word embedder with a vocabulary."""

    @property
    def vocabulary(self) -> WordList:
        words = list(self.rows)
        return WordList(words, lambda start, stop: self.encode(words[start:stop]))


def found(*word, rows=SIDE, seeds=("she", "he"), **options):
    return analogies.found(Words(rows), seeds, *word, **options)


def pairs_of(listed):
    return [pair[:2] for pair in listed]


def test_pairs_parallel_to_the_seeds_come_first_within_delta():
    first = found(top=2)["equation 1"]
    assert pairs_of(first) == [("mother", "father"), ("nurse", "doctor")]
    assert first[0][2] == pytest.approx(1.0)
    assert ("she", "he") in pairs_of(found(delta=1.5)["equation 1"]), "their distance is √2"
    assert ("she", "he") not in pairs_of(found(delta=1.4)["equation 1"])


def test_equation_2_prefers_differences_as_long_as_that_of_the_seeds():
    (listed,) = found(equation="2").values()
    units = dict(zip(SIDE, unit_rows(np.array(list(SIDE.values()))), strict=True))
    sought = units["she"] - units["he"]
    assert pairs_of(listed)[:2] == [("nurse", "doctor"), ("mother", "father")]
    for x, y, score in listed:
        assert score == pytest.approx(np.linalg.norm(sought - (units[x] - units[y])))
    assert ("she", "he") not in pairs_of(listed), "x is not a, and y is not b"
    own = found(equation="both", delta=1.4)
    assert own["equation 2"] == []
    assert pairs_of(own["equation 1"]) == [("she", "mother"), ("father", "he")]


def test_answers_leave_out_the_words_that_were_asked():
    answers = found("doctor", seeds=("he", "she"), top=3)
    assert list(answers) == ["3CosAdd", "3CosMul"]
    for listed in answers.values():
        assert [y for _, y, _ in listed] == ["nurse", "physician", "mother"]
        assert listed[0][2] > listed[-1][2]


def test_frequent_lower_case_words_are_searched_and_some_are_left_out():
    rows = SIDE | {"Sister": (1, 0, 4), "x1": (-1, 0, 4)}
    assert pairs_of(found(rows=rows)["equation 1"]) == pairs_of(found()["equation 1"])
    assert pairs_of(found(left_out={"mother"}, top=1)["equation 1"]) == [("nurse", "doctor")]
    assert found(size=2)["equation 1"] == []
    listed = Concept(
        name="gender", specific_words=("Queen",), definitional_pairs=(("she", "he"),),
        equalize_sets=(("Mother", "Father"),),
    )  # fmt: skip
    assert analogies.words_of(listed) == {"queen", "she", "he", "mother", "father"}


def test_a_seed_without_a_direction_is_an_error():
    with pytest.raises(UnknownName, match=r"unknown word 'nurze'; did you mean 'nurse'"):
        found(seeds=("nurze", "he"))
    with pytest.raises(UnknownName, match="nothing"):
        found(rows=SIDE | {"nothing": (0, 0, 0)}, seeds=("nothing", "he"))
    with pytest.raises(NotApplicable, match="equal vectors"):
        found(seeds=("she", "She"))


def test_the_command_prints_pairs_and_answers(tmp_path, monkeypatch, capsys):
    lines = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in SIDE.items())
    (tmp_path / "vectors.txt").write_text(lines, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    model = ["--model", "vectors:vectors.txt"]
    assert run(["analogies", "she", "he", "--delta", "1.5", "--top", "4", *model]) == 0
    assert capsys.readouterr().out.split()[-4:] == ["3", "nurse", "doctor", "0.998"]
    mitigators = ["-M", "none", "-M", "normalize+hard-debias"]
    assert run(["analogies", "he", "she", "doctor", *mitigators, *model]) == 0
    assert capsys.readouterr().out.count("3CosMul") == 2
    assert run(["analogies", "she", "he", "--neutral", "--equation", "both", *model]) == 0
    assert "none was found" in capsys.readouterr().out
    assert run(["analogies", "she", "he", "-M", "anonymize", *model]) == 1
    assert run(["analogies", "she", "he", "--model", "all-MiniLM-L6-v2"]) == 1
