"""`harness analogies`: the analogies of two words, and the answers for a third."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from given_vectors import Vocabulary
from hypothesis import given
from hypothesis import strategies as st

from harness.commands.main import run
from harness.concept import Concept
from harness.embedder import Vocabulary as WordList
from harness.errors import InvalidOption, NotApplicable, UnknownName
from harness.plugins.metrics.analogies import specific_words, vectors_of, words_of
from harness.plugins.metrics.statistics.analogy_search import find_pairs

GOLDEN = Path(__file__).parent / "golden" / "analogies.txt"
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


def words(rows=SIDE, seeds=("she", "he"), **options):
    return words_of(Words(rows), seeds, **{"size": 100} | options)


def pairs_of(analogies):
    return [(analogy.first, analogy.second) for analogy in analogies]


def test_pairs_parallel_to_the_seeds_come_first_within_delta():
    found = words().pairs(1, delta=1.0, top=2)
    assert pairs_of(found) == [("mother", "father"), ("nurse", "doctor")]
    assert found[0].score == pytest.approx(1.0)
    wide = words().pairs(1, delta=1.5, top=9)
    assert ("she", "he") in pairs_of(wide), "their distance is √2"
    assert ("she", "he") not in pairs_of(words().pairs(1, delta=1.4, top=9))


def test_equation_2_prefers_differences_as_long_as_that_of_the_seeds():
    found = words().pairs(2, delta=1.0, top=9)
    listed = words()
    units = dict(zip(listed.words, listed.units, strict=True))
    sought = listed.a - listed.b
    for analogy in found:
        distance = np.linalg.norm(sought - (units[analogy.first] - units[analogy.second]))
        assert analogy.score == pytest.approx(distance)
    assert [a.score for a in found] == sorted(a.score for a in found)
    assert ("she", "he") not in pairs_of(found), "x is not a, and y is not b"


def test_answers_leave_out_the_words_that_were_asked():
    searched = words(seeds=("he", "she"))
    vector = vectors_of(Words(SIDE), ["doctor"])[0]
    answers = searched.answers("doctor", vector, delta=1.4, top=2)
    assert [method[0].second for method in answers.values()] == ["nurse"] * 3
    for listed in answers.values():
        assert not {a.second for a in listed} & {"doctor", "he", "she"}
        assert listed[0].score >= listed[-1].score
    assert searched.answers("doctor", vector, delta=0.1, top=2)["equation 1"] == []


@given(st.integers(0, 2**32 - 1))
def test_the_best_answer_by_equation_1_is_the_best_pair_with_that_word(seed):
    rng = np.random.default_rng(seed)
    rows = {f"w{chr(97 + i)}": rng.standard_normal(4) for i in range(20)}
    searched = words(rows, seeds=("wa", "wb"))
    units = dict(zip(searched.words, searched.units, strict=True))
    answers = searched.answers("wc", rows["wc"].astype(np.float32), delta=1.2, top=1)["equation 1"]
    allowed = [word for word in units if word not in ("wa", "wb", "wc")]
    two = np.stack([units["wc"], *(units[word] for word in allowed)])
    u = (searched.a - searched.b) / np.linalg.norm(searched.a - searched.b)
    scores = [find_pairs(two[[0, i]], u, delta=1.2, top=1, repeats="first")
              for i in range(1, len(two))]  # fmt: skip
    best = max((float(f.scores[0]) for f in scores if len(f.scores) and f.first[0] == 0), default=0)
    assert (answers[0].score if answers else 0) == pytest.approx(best, abs=1e-6)


def test_each_equation_lists_what_the_other_lacks():
    own = words().of_one_only(delta=1.5, top=5)
    assert list(own) == [2, 1]
    assert not set(pairs_of(own[1])) & set(pairs_of(own[2]))
    assert not {("mother", "father"), ("nurse", "doctor")} & set(pairs_of(own[1]))


def test_frequent_lower_case_words_are_searched_and_some_are_left_out():
    rows = SIDE | {"Nurse": (1, 1, 1), "x1": (1, 1, 2), "interior_designer": (1, 2, 2)}
    assert words(rows, size=3).words == ["she", "he", "nurse"]
    assert words(rows).words == [*SIDE, "interior_designer"]
    assert "mother" not in words(leave_out={"mother"}).words
    listed = Concept(
        name="gender", specific_words=("Queen",), definitional_pairs=(("she", "he"),),
        equalize_sets=(("Mother", "Father"),),
    )  # fmt: skip
    assert specific_words(listed) == {"queen", "she", "he", "mother", "father"}


def test_mistakes_are_errors_of_one_line():
    with pytest.raises(UnknownName, match=r"unknown word 'nurze'; did you mean 'nurse'"):
        words(seeds=("nurze", "he"))
    with pytest.raises(NotApplicable, match="equal vectors"):
        words(seeds=("she", "She"))
    with pytest.raises(NotApplicable, match="zero"):
        words(SIDE | {"nothing": (0, 0, 0)}, seeds=("nothing", "he"))
    with pytest.raises(InvalidOption, match="delta=3"):
        words().pairs(1, delta=3, top=1)


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in SIDE.items())
    Path("vectors.txt").write_text(lines, encoding="utf-8")
    return "vectors:vectors.txt"


def test_the_command_prints_pairs_and_answers(model, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = (
        "she he --delta 1.5 --top 4",
        "he she doctor --delta 1.5 --top 3 --mitigator none --mitigator normalize+hard-debias",
        "she he --equation 2 --top 3",
        "she he --equation both --delta 1.5 --top 3 --neutral",
        "she he --delta 0.01",
        "she hee",
        "she he --mitigator anonymize",
        "she he --delta 3",
        "she he --neutral --concept none",
        "--help",
    )
    text = ""
    for line in lines:
        code = run(["analogies", *line.split(), "--model", model])
        said = capsys.readouterr()
        text += f"$ harness analogies {line}\n{said.out}{said.err}"
        text += f"[exit code {code}]\n" if code else ""
    printed = "\n".join(re.sub(" +$", "", line) for line in text.splitlines()) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(printed, encoding="utf-8")
    assert printed == GOLDEN.read_text(encoding="utf-8"), "UPDATE_GOLDEN=1 rewrites the file"


def test_json_has_the_same_as_the_table(model, capsys):
    line = ["analogies", "she", "he", "--model", model, "--delta", "1.5", "--top", "2", "--json"]
    assert run(line) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["first"], content["second"], content["word"]) == ("she", "he", None)
    (result,) = content["results"]
    assert result["mitigator"] == "none"
    assert [a["score"] for a in result["equation 1"]] == pytest.approx([1.0, 1.0])
    assert run([*line, "doctor"]) == 0
    answers = json.loads(capsys.readouterr().out)["results"][0]
    assert set(answers) == {"mitigator", "3CosAdd", "3CosMul", "equation 1"}


def test_an_option_of_the_list_is_refused_with_a_word(capsys):
    assert run(["analogies", "she", "he", "nurse", "--model", "x", "--equation", "2"]) == 2
    assert "--equation" in capsys.readouterr().err


def test_text_encoders_have_no_analogies(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["analogies", "she", "he", "--model", "all-MiniLM-L6-v2"]) == 1
    assert "no vocabulary" in capsys.readouterr().err
