"""Mitigators are judged on words that they never saw: the rule, and each kind by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import harness
from harness.arrays import unit_rows
from harness.concept import Concept
from harness.embedder import MockEmbedder
from harness.mitigator import Mitigator
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.results.record import NOT_STATED
from harness.run import unseen

SCIENCE = ["physics", "astronomy", "chemistry", "geology", "biology"]
ART = ["poetry", "dance", "literature", "sculpture", "opera"]
NEW = {"male": ["sir", "mister", "wizard", "hero", "waiter"],
       "female": ["madam", "missus", "witch", "heroine", "waitress"]}  # fmt: skip
"""Words that the concept does not list."""
MOCK = MockEmbedder()


class Uncased(MockEmbedder):
    """A mock that reads every text in lower case."""

    def __init__(self):
        super().__init__()
        self.info = dataclasses.replace(self.info, name="uncased", fingerprint="uncased")

    def encode(self, texts):
        return super().encode([text.lower() for text in texts])


def task(inputs, *, metric="weat", score="association", **more):
    return {
        "name": "mine",
        "version": 1,
        "title": "A test",
        "category": "gender",
        "concept": "gender",
        "inputs": inputs,
        "metrics": {metric: {}},
        "primary": {"metric": metric, "score": score},
        **more,
    }


def lists(male, female, **more):
    """A task of a user's own word lists."""
    sets = {"targets_1": SCIENCE, "targets_2": ART, "attributes_1": male, "attributes_2": female}
    inputs = {name: {"words": words} | more.get("source", {}) for name, words in sets.items()}
    return task(inputs, **{key: value for key, value in more.items() if key != "source"})


def primary(own_task, tmp_path, *, model=None, mitigator="hard-debias"):
    records = harness.evaluate(
        model or MOCK, [own_task], mitigators=["none", mitigator], cache=tmp_path
    )
    return tuple(
        next(r for r in records if r.primary and (r.mitigator.name == "none") is is_base)
        for is_base in (True, False)
    )


def association(words, change=lambda vectors, texts: vectors):
    """Return the difference of mean cosines of WEAT, from its definition."""
    x, y, a, b = (unit_rows(change(MOCK.encode(w), w)).mean(axis=0) for w in words)
    return float((x - y) @ (a - b))


def gender():
    from harness.registry.registry import Registry

    return Registry().concept("gender")


# Each kind, recomputed by hand.


def test_on_unseen_texts_the_words_of_the_concept_are_left_out_of_both_rows(tmp_path):
    male, female = [*NEW["male"], "he", "Boys"], [*NEW["female"], "she"]
    base, mitigated = primary(lists(male, female, yardstick="yardstick-words"), tmp_path)
    fitted = HardDebias().fit(MOCK, gender())
    of_all = [SCIENCE, ART, male, female]
    left = [SCIENCE, ART, *NEW.values()]
    assert base.value == pytest.approx(association(of_all), abs=1e-6)
    assert base.judged().value == pytest.approx(association(left), abs=1e-6)
    assert mitigated.value == pytest.approx(association(of_all, fitted.transform), abs=1e-6)
    assert mitigated.judged().value == pytest.approx(association(left, fitted.transform), abs=1e-6)
    for record in (base, mitigated):
        assert record.unseen.kind == "unseen texts"
        assert record.withheld == ("he", "Boys", "she")
        assert record.ratio.gap == pytest.approx(record.judged().value, abs=1e-6)


def test_where_too_few_texts_are_unseen_the_fit_leaves_out_the_words_of_the_task(tmp_path):
    male, female = ["he", "sir", "hero"], ["she", "madam", "witch"]
    base, mitigated = primary(lists(male, female), tmp_path)
    concept = gender()
    groups = ("definitional_pairs", "equalize_sets")
    seen = {"he", "she"}
    left = {
        name: [g for g in getattr(concept, name) if seen.isdisjoint(w.lower() for w in g)]
        for name in groups
    }
    assert 3 <= len(left["definitional_pairs"]) < len(concept.definitional_pairs)
    # The words of the pairs and sets that leave the fit are still about gender.
    specific = {*concept.specific_words, "he", "she", "He", "She"}
    reduced = concept.model_copy(update={**left, "specific_words": tuple(specific)})
    fitted = HardDebias().fit(MOCK, reduced)
    words = [SCIENCE, ART, male, female]
    assert base.judged().value == base.value == pytest.approx(association(words), abs=1e-6)
    assert base.withheld == ()
    assert mitigated.unseen.kind == "held-out fit"
    assert mitigated.withheld == ("he", "she")
    expected = association(words, fitted.transform)
    assert mitigated.judged().value == pytest.approx(expected, abs=1e-6)
    assert mitigated.value != pytest.approx(expected, abs=1e-4), "that of the deployed fit"


def test_where_no_three_pairs_remain_a_score_is_void_with_the_reason(tmp_path):
    pairs = gender().definitional_pairs
    base, mitigated = primary(lists([m for _, m in pairs], [f for f, _ in pairs]), tmp_path)
    assert base.judged().value == base.value
    assert mitigated.value is not None, "what papers have"
    assert mitigated.judged().value is None
    assert mitigated.left_out == "void"
    assert mitigated.ratio is None
    assert mitigated.deviations == {}
    assert {"he", "she"} <= set(mitigated.withheld)
    assert mitigated.judged().reason.startswith("no unseen words: without those of the task")


# What counts as the same word, and what is left out.


def test_case_form_and_a_plural_do_not_tell_words_apart():
    same = [("Boys", "boy"), ("LADIES", "lady"), ("churches", "church"), ("old_man", "old man"),
            ("caf\u00e9", "cafe\u0301")]  # fmt: skip
    assert all(unseen.folded(a) == unseen.folded(b) for a, b in same)
    assert unseen.folded("his") == "his"
    assert unseen.folded("boss") == "boss"
    assert unseen.folded("men") != unseen.folded("man"), "docs say so"


def test_a_word_in_a_template_leaves_with_its_sentences(tmp_path):
    own = lists([*NEW["male"], "HE"], NEW["female"], templates={"about": "It is {text}."},
                source={"template": "about"})  # fmt: skip
    for record in primary(own, tmp_path):
        assert record.withheld == ("HE",)
        assert record.judged().n == record.n


def test_half_of_an_input_and_five_of_it_must_remain():
    from harness.registry.registry import Registry

    def rows(name):
        task = Registry().task(name)
        (measurement, *_) = task.scenarios[0].measurements
        return unseen.unseen_rows(measurement.inputs.values(), unseen.defining(task.concept))

    assert rows("weat-6")[1] == ("John",)
    assert rows("weat-7") is None, "one of eight female attributes is not in the pairs"
    assert rows("weat-10") == ({}, ())


def test_sets_to_equalize_alone_are_memory_and_show_nothing(tmp_path):
    """A mitigator that remembers its words has no effect on others."""

    class Remembers(Mitigator):
        needs = ("equalize_sets",)

        def fitting_texts(self, concept):
            return [word for members in concept.equalize_sets for word in members]

        def fit(self, embedder, concept=None):
            self.known_ = set(self.fitting_texts(concept))
            return self

        def transform(self, vectors, texts):
            known = np.array([text in self.known_ for text in texts])
            return np.where(known[:, None], vectors.mean(axis=0), vectors).astype(np.float32)

    own = lists([*NEW["male"], "he", "man"], [*NEW["female"], "she", "woman"])
    base, mitigated = primary(own, tmp_path, mitigator=Remembers())
    assert mitigated.value != pytest.approx(base.value, abs=1e-3)
    assert mitigated.judged().value == base.judged().value


class Planted(MockEmbedder):
    """An encoder of texts, d = 8, whose words of men and of science lie on one side of a line."""

    def __init__(self):
        super().__init__("text", 8)
        pairs = gender().definitional_pairs
        self._sides = dict.fromkeys([*NEW["male"], *SCIENCE, *(m for _, m in pairs)], 1.0)
        self._sides |= dict.fromkeys([*NEW["female"], *ART, *(f for f, _ in pairs)], -1.0)
        self._line = unit_rows(np.random.default_rng(0).normal(size=(1, 8)))[0]

    def encode(self, texts):
        words = ([self._sides.get(word.strip("."), 0.0) for word in text.split()] for text in texts)
        sides = np.array([sum(of_text) for of_text in words])
        rows = unit_rows(super().encode(texts)) + 2 * sides[:, None] * self._line
        return rows.astype(np.float32)


@pytest.mark.parametrize("mitigator", ["hard-debias", "leace", "inlp", "sent-debias"])
def test_bias_that_is_planted_along_the_pairs_is_removed_from_words_never_seen(tmp_path, mitigator):
    base, mitigated = primary(lists(*NEW.values()), tmp_path, model=Planted(), mitigator=mitigator)
    assert mitigated.unseen.kind == "unseen texts"
    assert base.judged().value > 1
    assert abs(mitigated.judged().value) < 0.25 * base.judged().value


def test_a_fit_on_sentences_alone_is_found_by_the_words_of_the_concept(tmp_path):
    class OnSentences(Mitigator):
        needs = ("definitional_pairs",)

        def fitting_texts(self, concept):
            pairs = concept.definitional_pairs
            return [f"We have often talked about {word} here." for pair in pairs for word in pair]

    _, record = primary(lists(["he", "sir"], ["she", "witch"]), tmp_path, mitigator=OnSentences())
    assert record.unseen.kind == "held-out fit"
    assert record.withheld == ("he", "she")


def test_what_states_no_fit_is_shown_and_does_not_rank(tmp_path):
    class Silent(Mitigator):
        def fit(self, embedder, concept=None):
            return self

        def transform(self, vectors, texts):
            return np.asarray(-vectors, dtype=np.float32)

    _, record = primary(lists(*NEW.values()), tmp_path, mitigator=Silent())
    assert record.judged().value is not None
    assert record.left_out == NOT_STATED


def test_what_only_rewrites_or_learns_nothing_has_no_fit(tmp_path):
    for name in ("context-injection", "normalize"):
        _, record = primary(lists(*NEW.values()), tmp_path, mitigator=name)
        assert record.unseen.kind == "unseen texts"


def test_a_chain_fits_each_part_without_the_words_and_keeps_what_rewrites(tmp_path):
    own = lists(["he", "sir"], ["she", "witch"])
    _, alone = primary(own, tmp_path)
    _, chained = primary(own, tmp_path, mitigator="context-injection+hard-debias")
    for record in (alone, chained):
        assert record.unseen.kind == "held-out fit"
        assert record.withheld == ("he", "she")
    assert chained.judged().value != alone.judged().value


def test_fits_that_leave_out_the_same_words_are_made_once(tmp_path, monkeypatch):
    fits = []

    class Counted(Mitigator):
        needs = ("definitional_pairs",)

        def fitting_texts(self, concept):
            return [word for pair in concept.definitional_pairs for word in pair]

        def fit(self, embedder, concept=None):
            fits.append(len(concept.definitional_pairs))
            return self

    tasks = [lists(["he", "sir"], ["she", other]) | {"name": f"mine-{i}"}
             for i, other in enumerate(("witch", "madam", "heroine"))]  # fmt: skip
    harness.evaluate(MockEmbedder("text"), tasks, mitigators=[Counted()], cache=tmp_path)
    assert len(fits) == 2


def test_of_a_vocabulary_the_words_of_the_task_leave_a_held_out_fit(tmp_path):
    seen = []

    class OfVocabulary(Mitigator):
        needs = ("definitional_pairs",)

        def fitting_texts(self, concept):
            return [word for pair in concept.definitional_pairs for word in pair]

        def fit(self, embedder, concept=None):
            seen.append((list(embedder.vocabulary.words), embedder.vocabulary.head(99)[1]))
            return self

    words = {word: MOCK.encode([word])[0] for word in [
        *SCIENCE, *ART, "he", "she", "sir", "witch", "Poetry", "stone",
        *(word for pair in gender().definitional_pairs for word in pair)]}  # fmt: skip
    harness.evaluate(words, [lists(["he", "sir"], ["she", "witch"])],
                     mitigators=[OfVocabulary()], cache=tmp_path)  # fmt: skip
    (every, _), (left, vectors) = seen
    assert {"poetry", "Poetry", "he", "sir"} <= set(every)
    assert {"poetry", "Poetry", "he", "sir", "physics"}.isdisjoint(left)
    assert "stone" in left
    np.testing.assert_array_equal(vectors, np.stack([words[word] for word in left]))


# Words inside sentences are counted, and do not leave.


def held(record):
    return {part.input: (part.holding, part.texts) for part in record.word_overlap}


ROWS = [
    ["The nurse is here.", "He is here.", "She is here.", 1],
    ["The other hero sang.", "The man sang.", "The woman sang.", 0],
    ["A guard and her mother.", "The actor sang.", "The actress sang.", 1],
]


def versions(rows):
    columns = ["sentence", "male", "female", "share"]
    names = {"sentences": "sentence", "versions_1": "male", "versions_2": "female"}
    inputs = {name: {"table": "all", "column": column} for name, column in names.items()}
    inputs["statistics"] = {"table": "all", "column": "share", "number": True}
    tables = {"all": {"columns": columns, "rows": rows}}
    return task(inputs, metric="similarity-gap", score="slope", tables=tables, kinds=["text"])


def test_words_inside_sentences_are_counted_and_stay(tmp_path):
    records = harness.evaluate(Uncased(), [versions(ROWS)], mitigators="hard-debias",
                               cache=tmp_path)  # fmt: skip
    record = next(record for record in records if record.primary)
    assert record.unseen.kind == "unseen texts"
    assert record.withheld == ()
    assert held(record) == {"sentences": (1, 3), "versions_1": (2, 3), "versions_2": (2, 3)}
    assert [part.versions for part in record.word_overlap] == [0, 2, 2]
    assert record.word_share == pytest.approx(5 / 9)
    (line,) = [line for line in records.notices if "fitted on words inside" in line]
    assert "mine (5 of 9 texts)" in line


def test_words_are_counted_as_the_task_has_them_whatever_rewrites_its_texts(tmp_path):
    _, alone = primary(versions(ROWS), tmp_path)
    _, chained = primary(versions(ROWS), tmp_path, mitigator="context-injection+hard-debias")
    assert chained.word_overlap == alone.word_overlap


def test_of_sentences_of_a_fit_the_words_of_the_concept_count():
    concept = Concept(name="own", definitional_pairs=[("she", "he")], specific_words=["nun"])
    sentences = ["She is a doctor.", "He is a doctor.", "The old nun is a doctor."]
    words = unseen.fitting_words([*sentences, "twin brother"], concept)
    assert words == ["twin brother", "she", "he", "nun"]
    assert unseen.fitting_words(sentences, None) == []


def test_what_a_mitigator_undoes_has_a_value_on_all_texts_where_nothing_is_judged(tmp_path):
    class Levels(Mitigator):
        """Gives the words of all pairs one vector."""

        needs = ("definitional_pairs",)

        def fitting_texts(self, concept):
            return [word for pair in concept.definitional_pairs for word in pair]

        def fit(self, embedder, concept=None):
            self.known_ = set(self.fitting_texts(concept))
            return self

        def transform(self, vectors, texts):
            known = np.array([text in self.known_ for text in texts])
            return np.where(known[:, None], MOCK.encode(["level"]), vectors).astype(np.float32)

    female, male = map(list, zip(*gender().definitional_pairs, strict=True))
    own = task(
        {"targets_1": {"words": male}, "targets_2": {"words": female},
         "attributes_1": {"words": SCIENCE}, "attributes_2": {"words": ART}},
        metric="association-test",
    )  # fmt: skip
    _, record = primary(own, tmp_path, mitigator=Levels())
    assert record.unseen.kind == "void"
    assert record.undone
    assert record.value == 0
