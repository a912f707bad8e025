"""`harness corpus score` as users run it, on word vectors."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.commands.main import run
from harness.embedder import MockEmbedder
from harness.errors import InvalidFile, InvalidOption, NotApplicable
from harness.plugins.bias_score.method import Method
from harness.plugins.corpora import scoring
from harness.plugins.corpora.scoring import Summary
from harness.registry.registry import Registry

GOLDEN = Path(__file__).parent / "golden" / "corpus-score.txt"
SCORE = ("corpus", "score")
VECTORS = {
    "she": (1, 1),
    "he": (-1, 1),
    "woman": (1, 2),
    "man": (-1, 2),
    "nurse": (3, 4),
    "football": (-4, 3),
    "is": (0, 1),
}
CORPUS = "She is nurse\nHe is football\n\nnurse football\nqwerty\n"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{w} {x} {y}\n" for w, (x, y) in VECTORS.items()))
    return f"vectors:{path}"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(CORPUS)
    return path


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_score_corpus_writes_the_scores_computed_by_hand(model, source, tmp_path, capsys):
    out = tmp_path / "deep" / "scored.jsonl"
    options = ["--importance", "uniform", "--words", "--json"]
    assert run([*SCORE, "-m", model, "-i", str(source), "-o", str(out), *options]) == 0
    scored = rows(out)
    assert [(row["line"], row["text"]) for row in scored] == [
        (1, "She is nurse"),
        (2, "He is football"),
        (4, "nurse football"),
        (5, "qwerty"),
    ]
    # g = (1, 0): cosines of nurse and football are .6 and −.8
    values = [[row[name] for name in ("bias_f", "bias_m", "abs")] for row in scored]
    assert values[0] == pytest.approx([0.2, 0, 0.2])
    assert values[1] == pytest.approx([0, -0.266667, 0.266667])
    assert values[2] == pytest.approx([0.3, -0.4, 0.7])
    assert values[3] == [None, None, None]
    assert [word["gendered"] for word in scored[0]["words"]] == [True, False, False]
    assert scored[0]["words"][2] == pytest.approx(
        {"word": "nurse", "importance": 0.333333, "cosine": 0.6, "bias": 0.2, "gendered": False}
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed["sentences"] == 4
    assert printed["without_words"] == 1
    assert printed["direction"] == "pairs"
    assert printed["direction_pairs"] == 2
    assert printed["direction_explained"] == pytest.approx(1)
    assert [sentence["text"] for sentence in printed["top"]["bias_m"]] == [
        "nurse football",
        "He is football",
    ]
    assert sorted(path.name for path in out.parent.iterdir()) == [
        "scored.jsonl",
        "scored.jsonl.about.json",
    ]


def test_the_long_list_leaves_out_names_and_further_words(model, tmp_path, capsys):
    source, scored = tmp_path / "names.txt", {}
    source.write_text("Kenji is nurse\nThe seamstress is nurse\nNurse is nurse\n")
    for flag in ((), ("--long-list",)):
        out = tmp_path / f"scored{len(flag)}.jsonl"
        options = ["--importance", "uniform", "--words", "--json", *flag]
        assert run([*SCORE, "-m", model, "-i", str(source), "-o", str(out), *options]) == 0
        printed = json.loads(capsys.readouterr().out)
        marked = [[word["word"] for word in row["words"] if word["gendered"]] for row in rows(out)]
        scored[flag] = (printed["gendered_words"], printed["names"] >= 5_765, marked)
    assert scored[()] == (368, False, [[], [], []])
    assert scored[("--long-list",)] == (480, True, [["kenji"], ["seamstress"], []])


def test_the_terminal_output_equals_the_golden_file(model, source, tmp_path, capsys):
    out = tmp_path / "scored.jsonl"
    assert run([*SCORE, "-m", model, "-i", str(source), "-o", str(out), "--top", "1"]) == 0
    text = capsys.readouterr().out.replace(str(tmp_path), "TMP")
    text = re.sub(r"(?m)^( +4 .*?) +\d+ *$", r"\1 RATE", text)  # sentences per second
    printed = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(printed, encoding="utf-8")
    assert printed == GOLDEN.read_text(encoding="utf-8"), "UPDATE_GOLDEN=1 rewrites the file"


PAIRS = [
    {"premise": "She is nurse", "hypothesis": "nurse football", "label": "neutral", "pairID": "1"},
    {"premise": "She is nurse", "hypothesis": "qwerty", "label": "contradiction"},
    {"premise": "qwerty", "hypothesis": "asdf", "label": "entailment"},
    {"premise": "She is nurse", "hypothesis": "nurse", "label": "-"},
]


def test_a_pair_has_the_larger_absolute_score_of_its_sentences(model, tmp_path, capsys):
    source, out = tmp_path / "pairs.jsonl", tmp_path / "scored.jsonl"
    source.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
    line = [*SCORE, "-m", model, "-i", str(source), "-o", str(out), "--importance", "uniform"]
    assert run([*line, "--json"]) == 0
    scored = rows(out)
    assert [row["abs"] for row in scored] == [pytest.approx(0.7), pytest.approx(0.2), None]
    first = scored[0]
    assert [sentence["key"] for sentence in first["sentences"]] == ["premise", "hypothesis"]
    assert [sentence["abs"] for sentence in first["sentences"]] == pytest.approx([0.2, 0.7])
    assert first["more"] == {"label": "neutral", "pairID": "1"}
    printed = json.loads(capsys.readouterr().out)
    assert (printed["entries"], printed["sentences"], printed["without_words"]) == (3, 6, 3)
    assert printed["dropped"] == {"no label": 1}
    assert [pair["texts"] for pair in printed["top_pairs"]] == [
        ["She is nurse", "nurse football"],
        ["She is nurse", "qwerty"],
    ]
    about = json.loads((tmp_path / "scored.jsonl.about.json").read_text())
    assert about["corpus"]["name"] == "pairs.jsonl"
    assert (about["entries"], about["dropped"]) == (3, {"no label": 1})
    assert str(tmp_path) not in json.dumps(about)
    assert run([*line, "--overwrite"]) == 0
    assert "She is nurse / nurse football" in capsys.readouterr().out


def test_standard_input_is_read(model, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"s": "nurse"}\n')))
    out = tmp_path / "scored.jsonl"
    line = [
        *SCORE,
        "-m",
        model,
        "-i",
        "-",
        "--format",
        "jsonl",
        "-k",
        "s",
        "-o",
        str(out),
    ]
    assert run(line) == 0
    assert rows(out)[0]["bias_f"] == pytest.approx(0.6)
    assert "Towards women" in capsys.readouterr().out


def test_an_existing_file_is_replaced_only_with_overwrite(model, source, tmp_path, capsys):
    out = tmp_path / "scored.jsonl"
    line = [*SCORE, "-m", model, "-i", str(source), "-o", str(out)]
    out.write_text("mine")
    assert run(line) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert run([*line, "--overwrite"]) == 0
    assert len(rows(out)) == 4


def score(model, source, out, method=None, **options):
    registry = Registry()
    embedder = registry.embedder(model) if isinstance(model, str) else model
    return scoring.score_corpus(
        embedder,
        registry.concept(options.pop("concept", "gender")),
        scoring.Corpus(name=str(source), kind="text"),
        scoring.Output(path=out),
        method or Method(),
        **options,
    )


def test_an_interrupted_run_continues_to_the_same_rows(model, source, tmp_path, monkeypatch):
    monkeypatch.setattr(scoring, "BUFFER", 2)
    whole, out = tmp_path / "whole.jsonl", tmp_path / "scored.jsonl"
    score(model, source, whole)
    source.write_bytes(CORPUS.encode().replace(b"qwerty", b"\xff"))
    with pytest.raises(InvalidFile, match=r"corpus\.txt:5: .*UTF-8"):
        score(model, source, out)
    part = tmp_path / "scored.jsonl.part"
    assert not out.exists()
    assert len(rows(part)) == 2
    with part.open("a") as file:
        file.write('{"line": 9, "te')  # a row that a kill interrupted
    source.write_text(CORPUS)
    scores = score(model, source, out)
    assert scores.continued == 2
    assert scores.summary.sentences == 4
    assert out.read_bytes() == whole.read_bytes()
    assert not part.exists()


def test_an_interrupted_run_is_not_continued_on_another_corpus(
    model, source, tmp_path, monkeypatch
):
    monkeypatch.setattr(scoring, "BUFFER", 2)
    out = tmp_path / "scored.jsonl"
    source.write_bytes(CORPUS.encode().replace(b"qwerty", b"\xff"))
    with pytest.raises(InvalidFile):
        score(model, source, out)
    source.write_text("nurse\n" + CORPUS)
    with pytest.raises(InvalidOption, match=r"scored\.jsonl\.part.*line 1.*delete"):
        score(model, source, out)


def test_an_empty_corpus_leaves_no_file(model, source, tmp_path):
    source.write_text("\n\n")
    with pytest.raises(InvalidFile, match=r"corpus\.txt: .*no sentences"):
        score(model, source, tmp_path / "out" / "scored.jsonl")
    assert not list((tmp_path / "out").iterdir())


def test_sentences_of_the_user_give_the_direction(model, source, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text("she is nurse\nman is football\nfootball\n")
    scores = score(model, source, tmp_path / "o.jsonl", Method(direction=str(own)))
    assert scores.direction.pairs == 2
    assert scores.direction.vector[0] > 0.9


def test_inputs_that_cannot_be_scored_are_refused(model, source, tmp_path):
    out = tmp_path / "scored.jsonl"
    with pytest.raises(NotApplicable, match="token states"):
        score(MockEmbedder(), source, out)
    with pytest.raises(InvalidOption, match="'sentences'"):
        score(model, source, out, Method(direction="sentence"))
    with pytest.raises(InvalidOption, match=r"corpus\.txt"):
        score(model, source, source)
    with pytest.raises(NotApplicable, match="--direction pairs"):
        score(model, source, out, Method(direction="sentences"), concept="religion")
    with pytest.raises(InvalidOption, match="--word-vectors"):
        score(model, source, out, Method(vectors=MockEmbedder()))
    assert not out.exists()


def test_the_summary_keeps_the_most_biased_and_each_text_once():
    summary = Summary(top=2)
    for text, female in [("a", 0.1), ("b", 0.3), ("b", 0.3), ("c", 0.2), ("d", 0.0)]:
        summary.add({"text": text, "bias_f": female, "bias_m": 0.0, "abs": female})
    assert summary.most_biased()["bias_f"] == [(0.3, "b"), (0.2, "c")]
    assert summary.most_biased()["bias_m"] == []
    assert summary.means()["abs"] == pytest.approx(0.18)
    assert Summary().means()["abs"] is None


def test_the_direction_of_word_pairs_has_length_one(model):
    from harness.plugins.bias_score import scorer

    pairs = [("she", "he"), ("woman", "man")]
    found = scorer.of_words(Registry().embedder(model), pairs, "mean")
    assert np.linalg.norm(found.vector) == pytest.approx(1)
    assert found.vector == pytest.approx([1, 0], abs=1e-6)
