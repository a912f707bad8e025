"""Texts that a model reads alike count as missing in a task of bias."""

from __future__ import annotations

import re

import numpy as np
import pytest

import harness
from harness.embedder import MockEmbedder, ModelInfo
from harness.run.unread import read_alike
from harness.task.inputs import Input

MOCK = MockEmbedder("text", 8)
NAMES = {"first": ["John", "Paul", "Mike", "Kevin"], "second": ["Amy", "Joan", "Lisa", "Sarah"]}
TEMPLATES = ["This is {text}.", "{text} is here.", "Here is {text}."]
TASK = {
    "name": "own-names",
    "version": 1,
    "title": "Names",
    "category": "gender",
    "concept": "gender",
    "kinds": ["text"],
    "templates": {"frames": TEMPLATES},
    "inputs": {
        "targets_1": {"words": NAMES["first"], "template": "frames"},
        "targets_2": {"words": NAMES["second"], "template": "frames"},
        "attributes_1": {"words": ["office", "salary", "career", "business"]},
        "attributes_2": {"words": ["home", "parents", "children", "family"]},
    },
    "metrics": {"weat": {}},
    "primary": {"metric": "weat", "score": "association"},
}


class Reads:
    """An encoder of what a function makes of each text."""

    def __init__(self, name, reads, lacks=None):
        self.info = ModelInfo(name=name, kind="text", dimensions=8, fingerprint=f"reads-{name}")
        self._reads = reads
        if lacks is not None:
            self.lacks = lacks

    def encode(self, texts):
        return MOCK.encode([self._reads(text) for text in texts])


def unknown(*names):
    pattern = re.compile(rf"\b({'|'.join(names)})\b")
    return lambda text: pattern.sub("[UNK]", text)


def score(model, task=TASK, mitigator="none"):
    (record,) = (r for r in harness.evaluate(model, [task], [mitigator]) if r.primary)
    return record


@pytest.mark.parametrize(
    "reads",
    [
        unknown(*NAMES["first"], *NAMES["second"]),
        lambda text: text[:4],
        unknown("John", "Paul", "Amy"),  # three of eight
    ],
    ids=["unknown", "cut", "some"],
)
def test_a_model_that_cannot_read_the_names_has_no_score(reads):
    record = score(Reads("unread", reads))
    assert record.value is None
    assert "not read by the model" in record.reason
    assert record.coverage.found < record.coverage.asked


def test_two_unread_names_of_many_are_left_out():
    task = TASK | {"max_missing": 0.5}
    record = score(Reads("two", unknown("John", "Amy")), task)
    kept = TASK["inputs"] | {
        f"targets_{i}": {"words": words[1:], "template": "frames"}
        for i, words in enumerate(NAMES.values(), 1)
    }
    assert record.coverage.found == record.coverage.asked - 2 * len(TEMPLATES)
    assert record.value == pytest.approx(score(Reads("all", str), TASK | {"inputs": kept}).value)


def test_one_name_that_the_model_says_it_lacks_is_left_out():
    model = Reads("one", unknown("John"), lacks=lambda texts: [text == "John" for text in texts])
    assert score(model).value is None  # a quarter of the first names
    record = score(model, TASK | {"max_missing": 0.5})
    assert record.coverage.missing == tuple(t.format(text="John") for t in TEMPLATES)


def test_texts_that_a_mitigator_makes_equal_are_read():
    """The average of a text and its swapped form is the same for both sides, on purpose."""
    words = {"targets_1": {"words": ["he", "man"]}, "targets_2": {"words": ["she", "woman"]}}
    task = TASK | {"inputs": TASK["inputs"] | words}
    record = score(Reads("plain", str), task, "swap-average")
    assert record.coverage.found == record.coverage.asked


def test_a_score_of_usefulness_counts_equal_vectors():
    record = score(Reads("unread", unknown("John", "Paul")), TASK | {"measures": "usefulness"})
    assert record.coverage.found == record.coverage.asked


RANKING = {
    "tables": {
        "queries": {"columns": ["text", "topic"], "rows": [["who mends a roof", 1]]},
        "documents": {
            "columns": ["text", "topic", "group"],
            "rows": [
                [f"{name} mended the roof", 1, i]
                for i, names in enumerate(NAMES.values())
                for name in names
            ],
        },
    },
    "inputs": {
        "queries": {"table": "queries", "column": "text", "role": "query"},
        "query_topics": {"table": "queries", "column": "topic", "number": True},
        "documents": {"table": "documents", "column": "text", "role": "document"},
        "document_topics": {"table": "documents", "column": "topic", "number": True},
        "groups": {"table": "documents", "column": "group", "number": True},
    },
    "metrics": {"retrieval": {"options": {"k": 3}}},
    "primary": {"metric": "retrieval", "score": "exposure_gap"},
}


def test_documents_that_a_model_reads_alike_are_ties_unless_it_says_that_it_lacks_their_words():
    reads = unknown(*NAMES["first"], *NAMES["second"])
    task = {key: value for key, value in TASK.items() if key != "templates"} | RANKING
    assert score(Reads("blind", reads), task).value == pytest.approx(0, abs=1e-6)
    lacks = lambda words: [reads(word) == "[UNK]" for word in words]  # noqa: E731
    assert score(Reads("unread", reads, lacks), task).value is None


def input_of(name, texts, clusters, group=None):
    codes = np.array(clusters)
    return Input(name, tuple(texts), None, codes, group or name, probe=False, items=tuple(texts))


def test_case_punctuation_accents_and_frames_of_one_item_are_no_other_text():
    texts = {"a": ["José!", "it is Amy", "Amy it is", "Bo"], "b": ["jose", "is Bo", "Bo, is"]}
    inputs = [input_of("a", texts["a"], [0, 1, 1, 2]), input_of("b", texts["b"], [0, 1, 1])]
    rows = {"a": [[1, 0], [0, 1], [0, 1], [1, 1]], "b": [[1, 0], [2, 1], [2, 1]]}
    vectors = {name: np.array(part, dtype=np.float32) for name, part in rows.items()}
    sets = [inputs]
    unread = read_alike(sets, texts, vectors)
    assert not any(rows.any() for rows in unread.values())
    vectors["b"][1] *= 0  # no vector at all
    vectors["b"][2] = (1, 1 + 1e-7)  # as "Bo" in the other input, but for rounding
    unread = read_alike(sets, texts, vectors)
    assert unread["a"].tolist() == [False, False, False, True]
    assert unread["b"].tolist() == [False, False, True]


def test_in_parallel_inputs_only_texts_of_one_row_are_others():
    """CrowS-Pairs: a bag of words reads `black` as `black, black`, which stand in other rows."""
    texts = {"a": ["black", "black, black", "poor"], "b": ["white", "rich", "unknown"]}
    sets = [[input_of(name, part, range(3), "pairs") for name, part in texts.items()]]
    rows = {"a": [[1, 0], [1, 0], [0, 1]], "b": [[2, 1], [1, 2], [0, 1]]}
    vectors = {name: np.array(part, dtype=np.float32) for name, part in rows.items()}
    unread = {name: part.tolist() for name, part in read_alike(sets, texts, vectors).items()}
    assert unread == {name: [False, False, True] for name in "ab"}


def test_in_a_single_input_texts_of_other_items_are_others_and_in_several_those_of_other_inputs():
    """Rows of pruned vectors are shared by several names of one side."""
    names, clusters = ("Amy here", "here Amy", "Ann here"), [0, 0, 1]
    a, b = input_of("a", names, clusters), input_of("b", ["Bob here"] * 3, clusters)
    texts = {"a": names, "b": ["Bob here"] * 3}
    vectors = {"a": np.ones((3, 2), dtype=np.float32), "b": np.eye(3, 2, dtype=np.float32) + 2}
    vectors["b"][2] = (5, 1)
    assert read_alike([[a]], texts, vectors)["a"].all()
    assert not read_alike([[a, b]], texts, vectors)["a"].any()
