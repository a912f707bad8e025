"""The bench judges held-out pairs, through the mitigator or not, as the study file says."""

import dataclasses

import numpy as np
import pytest
import small_study
import yaml
from sklearn.base import clone

from harness.encode import admission
from harness.encode.stored_embedder import LocalEngine, StoredEmbedder
from harness.errors import NotApplicable, UsageError
from harness.plugins.metrics.weat import weat_association
from harness.progress import Silent
from harness.registry.registry import Registry
from harness.store.store import Store
from harness.study.bench import Base, prepare, refuse_overlap
from harness.study.folds import Split

SPLIT = Split(train=(0, 1, 2, 3, 4, 5), held_out=(6, 7))


@pytest.fixture
def model(content, folder):
    return Registry(include=[folder]).embedder(content["models"][0])


def outcome(study, model, label, *, unit=True):
    bench = prepare(study, model)
    candidate = next(row for row in study.candidates if row.label == label)
    return bench.judge(Base(model, unit=unit), clone(candidate.chains[0]), SPLIT)


def association(vectors, pairs):
    unit = {word: row / np.linalg.norm(row) for word, row in vectors.items()}
    arrays = [[unit[f"{side}{i}"] for i in pairs] for side in ("he", "she")]
    arrays += [[unit[word] for word in unit if word.startswith(s)] for s in ("career", "family")]
    return weat_association(*map(np.array, arrays)).value


def test_the_held_out_pairs_are_the_targets(resolved, model, vectors):
    values = outcome(resolved(), model, "none").values
    assert values["WEAT"] == pytest.approx(abs(association(vectors, [6, 7])), abs=1e-5)


def test_a_mitigator_fitted_on_other_pairs_lowers_weat_of_held_out_pairs(resolved, model):
    study = resolved()
    before, after = (outcome(study, model, label).values for label in ("none", "hard-debias"))
    assert after["WEAT"] < 0.2 * before["WEAT"]


def test_original_inputs_are_not_mitigated(resolved, content, model):
    for input_ in content["inputs"].values():
        input_["original"] = True
    study = resolved()
    before, after = (outcome(study, model, label).values for label in ("none", "hard-debias"))
    assert after == before


def test_a_measure_is_the_mean_distance_over_its_scenarios(resolved, content, model):
    content["scenarios"] = {
        "both": {"inputs": {}},
        "turned": {
            "inputs": {"attributes_1": {"set": "family"}, "attributes_2": {"set": "career"}}
        },
    }
    content["measures"] = {
        "both": {"metric": "weat-association", "scenarios": ["both"]},
        "mean": {"metric": "weat-association", "scenarios": ["both", "turned"]},
    }
    values = outcome(resolved(), model, "none").values
    assert values["mean"] == pytest.approx(values["both"])  # signs differ, distances do not


def test_a_row_that_cannot_be_fitted_is_undefined_with_the_reason(resolved, content, model):
    content["mitigators"] = {"half-sibling-regression": {"grid": {"alpha": [0]}}}
    found = outcome(resolved(), model, "half-sibling-regression")
    assert set(found.values.values()) == {None}
    assert "removes every word" in found.reasons["WEAT"]


def test_a_pair_that_the_model_lacks_is_in_no_fold(resolved, folder, model):
    lines = (folder / "vectors.txt").read_text().splitlines(keepends=True)
    (folder / "vectors.txt").write_text("".join(line for line in lines if "she3" not in line))
    study = resolved()
    bench = prepare(study, Registry().embedder(f"vectors:{folder / 'vectors.txt'}"))
    assert [pair[0] for pair in bench.words] == [f"she{i}" for i in (0, 1, 2, 4, 5, 6, 7)]
    assert bench.missing == ("she3",)


def test_a_model_that_lacks_too_much_is_refused(resolved, content, folder):
    content["sets"]["career"] = ["career0", "vocation", "calling"]
    path = folder / "vectors.txt"
    with pytest.raises(NotApplicable, match=r"67% of 'attributes_1' .*'default'"):
        prepare(resolved(), Registry().embedder(f"vectors:{path}"))
    content["folds"] = 8
    path.write_text("".join(path.read_text().splitlines(keepends=True)[2:]))
    with pytest.raises(NotApplicable, match=r"7 of the 8 definitional pairs .*'sides'"):
        prepare(resolved(), Registry().embedder(f"vectors:{path}"))


def test_a_study_that_judges_texts_that_it_fits_on_is_refused(resolved, content, model):
    content["sets"]["career"] = ["career0", "career1", "he1"]
    bench = prepare(resolved(), model)
    with pytest.raises(UsageError, match=r"'hard-debias' .*'he1'"):
        refuse_overlap(bench, [SPLIT])
    assert bench.overlap(bench.study.candidates[2].chains[0], SPLIT) == ("he1",)
    assert bench.overlap(bench.study.candidates[0].chains[0], SPLIT) == ()


def test_a_word_in_a_held_out_pair_and_in_a_fitted_pair_is_refused(
    resolved, content, folder, model
):
    concept = folder / "concepts" / "sides.yaml"
    concept.write_text(concept.read_text().replace("- he7\n", "- he0\n"))
    with pytest.raises(UsageError, match="'he0'"):
        refuse_overlap(prepare(resolved(), model), [SPLIT])


def test_the_vocabulary_of_a_base_is_one_object_of_unit_length(model):
    base = Base(model, unit=True)
    assert base.vocabulary is base.vocabulary
    _, rows = base.vocabulary.head(5)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)
    assert base.info.fingerprint != model.info.fingerprint
    assert Base(model, unit=False).info == model.info


def test_texts_are_encoded_in_the_roles_of_the_inputs(resolved, content, model, tmp_path):
    content["inputs"]["attributes_1"]["role"] = "document"
    study = resolved()
    prompts = {"text": "", "query": "", "document": "passage: "}
    info = dataclasses.replace(model.info, kind="text", fingerprint="x", role_prompts=prompts)
    encoded = []

    class Asymmetric:
        def __init__(self):
            self.info = info

        def encode(self, texts, *, role="text"):
            encoded.extend((role, text) for text in texts)
            return model.encode(texts) * (-1 if role == "document" else 1)

    store = Store(tmp_path / "store", info.fingerprint)
    stored = StoredEmbedder(Asymmetric(), None, LocalEngine(), store, Silent())
    bench = prepare(study, stored)
    chain = clone(study.candidates[0].chains[0])
    stored.ensure(bench.needed(chain, SPLIT, info))
    n = len(encoded)
    documents = {text for role, text in encoded if role == "document"} - set(admission.TEXTS)
    assert documents == {f"career{i}" for i in range(4)}
    values = bench.judge(Base(stored, unit=True), chain, SPLIT).values
    assert len(encoded) == n
    assert values["WEAT"] != outcome(study, model, study.candidates[0].label).values["WEAT"]


@pytest.mark.parametrize("spelling", [str.lower, str.upper, str.title])
def test_a_held_out_pair_that_is_equalized_in_another_case_is_not_fitted_on(
    resolved, content, folder, model, spelling
):
    path = folder / "concepts" / "sides.yaml"
    concept = yaml.safe_load(path.read_text())
    pairs = concept["definitional_pairs"]
    clean = outcome(resolved(), model, "hard-debias").values
    concept["equalize_sets"] = pairs
    concept["definitional_pairs"] = [[spelling(word) for word in pair] for pair in pairs]
    small_study.write(path, concept)
    study = resolved()
    bench = prepare(study, model)
    assert not {"he6", "she6"} & {w for words in bench.concept(SPLIT).equalize_sets for w in words}
    assert len(bench.concept(SPLIT).equalize_sets) == 6
    assert outcome(study, model, "hard-debias").values == pytest.approx(clean)


def test_a_judged_word_that_is_fitted_on_in_another_case_is_refused(resolved, content, model):
    content["sets"]["career"] = ["career0", "career1", "HE1"]
    bench = prepare(resolved(), model)
    with pytest.raises(UsageError, match=r"'hard-debias' .*'he1'"):
        refuse_overlap(bench, [SPLIT])
