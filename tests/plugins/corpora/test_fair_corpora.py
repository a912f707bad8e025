"""`harness corpus subtract` and `harness corpus augment` as users run them."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from harness.commands.main import run
from harness.plugins.corpora.entries import entries
from harness.plugins.corpora.scoring import ScoredCorpus
from harness.progress import Silent

LABELS = ("entailment", "neutral", "contradiction")


def scored(path, scores, texts=None):
    """Write a file of scores with a pair for each score."""
    rows = []
    for i, score in enumerate(scores):
        premise, hypothesis = texts[i] if texts else (f"Premise {i}.", f"Hypothesis {i}.")
        rows.append(
            {
                "line": i + 1,
                "abs": score,
                "sentences": [
                    {"key": "premise", "text": premise, "abs": score},
                    {"key": "hypothesis", "text": hypothesis, "abs": score},
                ],
                "more": {"label": LABELS[i % 3], "id": i},
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def whole(folder):
    """Return the entries of a corpus, from all parts."""
    return [row for part in ("train", "dev", "test") for row in rows(folder / f"{part}.jsonl")]


def subtract(source, out, *options):
    return run(["corpus", "subtract", "-i", str(source), "-o", str(out), *options])


def augment(source, out, *options):
    return run(["corpus", "augment", "-i", str(source), "-o", str(out), *options])


TEN = ("--holdout", "2")


def test_subtraction_removes_the_most_biased_entries(tmp_path, capsys):
    source = scored(tmp_path / "s.jsonl", [0.1, 0.9, None, 0.3, 0.8, 0.2, 0.2, 0.0, 0.4, 0.5])
    assert subtract(source, tmp_path / "out", "-p", "80,90,100", *TEN, "--json") == 0
    made = json.loads(capsys.readouterr().out)["corpora"]
    assert [corpus["name"] for corpus in made] == ["sub80", "sub90", "sub100"]
    removed = [
        set(range(10)) - {row["id"] for row in whole(tmp_path / "out" / corpus["name"])}
        for corpus in made
    ]
    assert removed == [{1, 4}, {1}, set()]
    assert [corpus["threshold"] for corpus in made] == [0.8, 0.9, None]
    assert made[0]["highest"] == {"before": 0.9, "below": 0.5}
    assert made[0]["counts"] == {
        "entries": 10,
        "without_score": 1,
        "above": 2,
        "removed": 2,
        "added": 0,
        "train": 4,
        "dev": 2,
        "test": 2,
    }
    (first, *_) = entries(str(tmp_path / "out" / "sub80" / "train.jsonl"))
    assert first.keys == ("premise", "hypothesis")
    assert first.label in LABELS
    assert "90 %: 0.9000" in (tmp_path / "out" / "scores.svg").read_text()
    assert (tmp_path / "out" / "scores.svg").read_text().startswith("<?xml")
    assert not list((tmp_path / "out").glob(".*"))


def test_the_removed_share_is_exact_although_scores_are_equal(tmp_path):
    source = scored(tmp_path / "s.jsonl", [round(i / 400, 1) for i in range(400)])
    options = ("-p", "90,93", "-p", "97.5", "--holdout", ".1")
    assert subtract(source, tmp_path / "out", *options) == 0
    for percentile, share in (("90", 0.1), ("93", 0.07), ("97.5", 0.025)):
        kept = whole(tmp_path / "out" / f"sub{percentile}")
        assert len(kept) == round(400 * (1 - share))
        assert len({row["id"] for row in kept}) == len(kept)


def test_the_seed_chooses_among_equal_scores_and_percentiles_are_nested(tmp_path):
    corpus = ScoredCorpus(scored(tmp_path / "s.jsonl", [0.5] * 200), Silent())
    high, low = (corpus.above(Fraction(p), 0) for p in (95, 80))
    assert set(high) < set(low)
    assert set(corpus.above(Fraction(80), 1)) != set(low)
    assert np.mean(low) == pytest.approx(100, abs=25)  # not the first ones of the file


def test_noise_scores_remove_a_random_share_and_planted_ones_what_was_planted(tmp_path):
    rng = np.random.default_rng(0)
    planted = rng.random(1000) < 0.05
    noise = ScoredCorpus(scored(tmp_path / "n.jsonl", rng.random(1000).tolist()), Silent())
    share = planted[noise.above(Fraction(90), 0)].mean()
    assert share == pytest.approx(0.05, abs=0.07)
    signal_scores = (rng.random(1000) + 1.0 * planted).tolist()
    found = ScoredCorpus(scored(tmp_path / "p.jsonl", signal_scores), Silent())
    assert set(np.flatnonzero(planted)) <= set(found.above(Fraction(90), 0))


def test_the_parts_are_drawn_by_the_seed(tmp_path):
    source = scored(tmp_path / "s.jsonl", np.linspace(0, 1, 40).tolist())
    for out, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        assert subtract(source, tmp_path / out, "-p", "90", "--holdout", ".25", "--seed", seed) == 0
    a, b, c = (whole(tmp_path / out / "sub90") for out in "abc")
    assert a == b
    assert a != c
    assert {row["id"] for row in a} == {row["id"] for row in c}
    sizes = [len(rows(tmp_path / "a" / "sub90" / f"{part}.jsonl")) for part in ("dev", "test")]
    assert sizes == [9, 9]


def test_the_parts_of_the_user_stay_as_they_are(tmp_path):
    source = scored(tmp_path / "s.jsonl", np.linspace(0, 1, 10).tolist())
    dev, test = tmp_path / "dev.jsonl", tmp_path / "test.jsonl"
    for path in (dev, test):
        path.write_text(
            '{"gold_label": "neutral", "sentence1": "He sleeps.", "sentence2": "A."}\n'
            '{"gold_label": "-", "sentence1": "A.", "sentence2": "A."}\n'
        )
    assert subtract(source, tmp_path / "out", "-p", "80", "--dev", str(dev)) == 2
    assert (
        subtract(source, tmp_path / "out", "-p", "80", "--dev", str(dev), "--test", str(test)) == 0
    )
    folder = tmp_path / "out" / "sub80"
    assert len(rows(folder / "train.jsonl")) == 8
    assert rows(folder / "dev.jsonl") == [
        {"label": "neutral", "premise": "He sleeps.", "hypothesis": "A."}
    ]
    splits = json.loads((folder / "corpus.json").read_text())["made_from"]["splits"]
    assert splits["dev"]["name"] == "dev.jsonl"
    assert str(tmp_path) not in (folder / "corpus.json").read_text()


SENTENCES = [
    ("He is a young boy.", "My father is a singer."),  # the examples of section 4.2.2
    ("Patrick is going to the supermarket.", "A person shops."),
    ("The nurse sleeps.", "Somebody rests."),
    ("Two dogs play.", "She lost her hat."),
    ("Nobody.", "Nothing."),
]


def test_augmentation_adds_the_swapped_entries_once(tmp_path, capsys):
    source = scored(tmp_path / "s.jsonl", [0.9, 0.8, 0.7, 0.6, 0.1], SENTENCES)
    options = ("-p", "20", "--holdout", "1", "--tagger", "rule")
    assert augment(source, tmp_path / "out", *options, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    (made,) = printed["corpora"]
    assert made["counts"]["above"] == 4
    assert made["counts"]["added"] == 3  # the nurse has no gender
    corpus = whole(tmp_path / "out" / "aug20")
    assert len(corpus) == 8
    added = {row["id"]: row for row in corpus if "swapped_from" in row}
    assert set(added) == {0, 1, 3}
    assert added[0]["premise"] == "She is a young girl."
    assert added[0]["hypothesis"] == "My mother is a singer."
    assert added[1]["premise"] == "Chloe is going to the supermarket."
    assert added[1]["hypothesis"] == "A person shops."
    assert added[3]["hypothesis"] == "He lost his hat."
    assert [added[i]["label"] for i in (0, 1)] == ["entailment", "neutral"]
    assert added[3]["swapped_from"] == 4
    assert len(printed["examples"]) == 3


def test_a_second_run_says_that_the_corpora_are_there(tmp_path, capsys):
    source = scored(tmp_path / "s.jsonl", np.linspace(0, 1, 10).tolist())
    out = tmp_path / "out"
    assert subtract(source, out, "-p", "80", *TEN) == 0
    before = (out / "sub80" / "train.jsonl").stat().st_mtime_ns
    capsys.readouterr()
    assert subtract(source, out, "-p", "80,90", *TEN, "--json") == 0
    assert [c["new"] for c in json.loads(capsys.readouterr().out)["corpora"]] == [False, True]
    assert (out / "sub80" / "train.jsonl").stat().st_mtime_ns == before
    assert subtract(source, out, "-p", "80", *TEN, "--seed", "1") == 2
    assert "--overwrite" in capsys.readouterr().err
    assert subtract(source, out, "-p", "80", *TEN, "--seed", "1", "--overwrite") == 0
    assert (out / "sub80" / "train.jsonl").stat().st_mtime_ns != before


def test_a_folder_that_is_no_corpus_is_never_replaced(tmp_path, capsys):
    source = scored(tmp_path / "s.jsonl", np.linspace(0, 1, 10).tolist())
    thesis = tmp_path / "out" / "sub80" / "thesis.txt"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("years of work")
    assert subtract(source, tmp_path / "out", "-p", "80", *TEN, "--overwrite") == 2
    assert "sub80' has other files" in capsys.readouterr().err
    assert thesis.exists()


def test_wrong_options_are_one_clear_line(tmp_path, capsys):
    source = scored(tmp_path / "s.jsonl", [*np.linspace(0, 1, 8).tolist(), None, None])
    for options, message in (
        (("-p", "101"), "--percentile 101"),
        (("-p", "ninety"), "--percentile ninety"),
        (("-p", "90", "--holdout", "10000"), "--holdout 10000: sub90 has 9 entries"),
        (("-p", "90", "--holdout", ".7"), "--holdout 0.7"),
        (("-p", "90", "--holdout", "2.5"), "--holdout 2.5"),
        (("-p", "90", "--concept", "gender", *TEN), "--concept is about scoring"),
        (("-p", "10", *TEN), "--percentile 10: 9 of 10 entries"),
        (("-p", "90", "--dev", "nowhere.jsonl", "--test", "nowhere.jsonl"), "nowhere.jsonl"),
    ):
        assert subtract(source, tmp_path / "out", *options) == 2
        assert message in capsys.readouterr().err
        assert not list((tmp_path / "out").glob("*"))


def test_a_wrong_file_is_one_clear_line(tmp_path, capsys):
    source = tmp_path / "s.jsonl"
    for content, message in (
        ("", "no entries"),
        ('{"premise": "A.", "hypothesis": "B.", "label": "neutral"}\n', "s.jsonl:1: "),
        ('{"line": 1, "text": "A.", "abs": "x"}\n', "s.jsonl:1: "),
        ('{"line": 1, "text": "A.", "abs": 1}\nnonsense\n', "s.jsonl:2: "),
    ):
        source.write_text(content)
        assert subtract(source, tmp_path / "out", "-p", "90", *TEN) == 2
        assert message in capsys.readouterr().err


VECTORS = {
    "she": (1, 1),
    "he": (-1, 1),
    "woman": (1, 2),
    "man": (-1, 2),
    "nurse": (3, 4),
    "football": (-4, 3),
    "is": (0, 1),
}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{w} {x} {y}\n" for w, (x, y) in VECTORS.items()))
    return f"vectors:{path}"


def test_with_a_model_the_corpus_is_scored_first_and_once(model, tmp_path, capsys):
    source = tmp_path / "pairs.jsonl"
    texts = [("he is nurse", "he is"), ("she is", "is"), ("is", "she is football"), ("is", "is")]
    pairs = [
        {"premise": first, "hypothesis": second, "label": "neutral", "id": i}
        for i, (first, second) in enumerate(texts * 5)
    ]
    source.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    out = tmp_path / "out"
    line = (source, out, "-m", model, "-p", "75", "--holdout", ".1")
    assert subtract(*line) == 0
    assert {row["id"] % 4 for row in whole(out / "sub75")} == {0, 1, 3}  # football is −.8
    before = (out / "scored.jsonl").stat().st_mtime_ns
    assert augment(*line, "--tagger", "rule") == 0
    assert (out / "scored.jsonl").stat().st_mtime_ns == before
    added = [row for row in whole(out / "aug75") if "swapped_from" in row]
    assert {row["hypothesis"] for row in added} == {"he is football"}
    assert len(added) == 5
    about = json.loads((out / "aug75" / "corpus.json").read_text())
    assert about["corpus"]["name"] == "pairs.jsonl"
    capsys.readouterr()
    assert subtract(*line, "--importance", "max") == 2
    assert "--overwrite" in capsys.readouterr().err
    source.write_text(json.dumps(pairs[0]) + "\n" + source.read_text())
    assert subtract(*line) == 2, "the scores of a file that has changed are not its scores"
    assert "--overwrite" in capsys.readouterr().err
    source.write_text('{"premise": "A.", "hypothesis": "B.", "label": "neutrl"}\n')
    assert subtract(source, tmp_path / "o", "-m", model, "--format", "snli") == 2
    assert "did you mean 'neutral'" in capsys.readouterr().err
    source.write_text("")
    assert subtract(source, tmp_path / "o", "-m", model) == 2
    assert "no sentences" in capsys.readouterr().err
