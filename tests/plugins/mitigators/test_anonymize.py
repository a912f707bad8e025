"""Names are removed from texts, or replaced by placeholders."""

from __future__ import annotations

import pytest
from sklearn.base import clone

from harness.chain import Chain
from harness.embedder import MockEmbedder
from harness.errors import InvalidOption, ModelError
from harness.plugins.mitigators.anonymize import Anonymize
from harness.registry.registry import Registry

TEXTS = ["Mike met Kate in Leeds. Mike's dog slept.", "no one slept", "Leeds"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """Return the name of an installed spaCy pipeline that finds three names."""
    spacy = pytest.importorskip("spacy")
    model = spacy.blank("en")
    patterns = [("PERSON", "Mike"), ("PERSON", "Kate"), ("GPE", "Leeds")]
    model.add_pipe("entity_ruler", name="ner").add_patterns(
        [{"label": label, "pattern": name} for label, name in patterns]
    )
    folder = tmp_path_factory.mktemp("pipelines")
    (folder / "three_names").mkdir()
    (folder / "three_names" / "__init__.py").touch()
    model.to_disk(folder / "three_names" / "three_names-1.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield "three_names"


@pytest.fixture
def fitted(pipeline):
    def fit(**options) -> Anonymize:
        options = {"model": pipeline, "proper_nouns": False} | options
        return Anonymize(**options).fit(MockEmbedder())

    return fit


def test_names_are_removed(fitted):
    assert fitted().rewrite(TEXTS) == ["met in . dog slept.", "no one slept", ""]


def test_names_are_replaced(fitted):
    assert fitted(mode="replace").rewrite(TEXTS) == [
        "CHAR_A met CHAR_B in LOC_A. CHAR_A's dog slept.",
        "no one slept",
        "LOC_A",
    ]
    numbered = fitted(mode="replace", identifiers="numbers")
    assert numbered.rewrite(["Kate slept."]) == ["CHAR_1 slept."]


def test_only_the_selected_entities_are_changed(fitted):
    assert fitted(entities="place").rewrite(TEXTS) == [
        "Mike met Kate in . Mike's dog slept.",
        "no one slept",
        "",
    ]
    assert fitted(entities="person, place").rewrite(TEXTS) == fitted().rewrite(TEXTS)


def test_the_rewritten_text_does_not_depend_on_other_texts(fitted):
    mitigator = fitted()
    assert mitigator.rewrite(TEXTS[:1]) + mitigator.rewrite(TEXTS[1:]) == fitted().rewrite(TEXTS)


def test_notes_count_texts_without_names_and_texts_that_became_empty(fitted):
    mitigator = fitted()
    assert mitigator.notes == ()
    mitigator.rewrite(TEXTS)
    without_names, empty = mitigator.notes
    assert "1 of 3 texts" in without_names
    assert "1 text " in empty


def test_a_new_fit_counts_the_notes_from_zero(fitted):
    mitigator = fitted()
    mitigator.rewrite(TEXTS)
    assert mitigator.notes != ()
    assert mitigator.fit(MockEmbedder()).notes == ()


def test_a_language_model_finds_the_names(loopback):
    loopback.reply = lambda system, text: text.replace("Zuri", "<person>Zuri</person>")
    mitigator = Anonymize(engine="llm", model="toy", base_url=loopback.url).fit(MockEmbedder())
    assert mitigator.rewrite(["Zuri's dog slept."]) == ["dog slept."]
    assert any("toy" in note for note in mitigator.notes)


def test_an_invalid_answer_of_the_language_model_is_reported_or_an_error(loopback):
    loopback.reply = lambda system, text: "" if "Zuri" in text else text
    mitigator = Anonymize(engine="llm", model="toy", base_url=loopback.url).fit(MockEmbedder())
    assert mitigator.rewrite(["Zuri slept.", "no one"]) == ["Zuri slept.", "no one"]
    assert any("1 text " in note and "Zuri slept." in note for note in mitigator.notes)
    with pytest.raises(ModelError, match=r"1 texts.*'Zuri ran\.'"):
        mitigator.rewrite(["Zuri ran."])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entities": "people"}, "'people'"),
        ({"entities": ","}, "entities=,"),
        ({"engine": "llm"}, "&model="),
        ({"base_url": "http://127.0.0.1"}, "base_url.*key.*engine=llm"),
        ({"model": "../x"}, "model="),
    ],
)
def test_invalid_options_are_errors(options, message):
    pytest.importorskip("spacy")
    with pytest.raises(InvalidOption, match=message):
        Anonymize(**options).fit(MockEmbedder())


def test_a_clone_has_the_same_options():
    mitigator = Anonymize(mode="replace", entities="person,place")
    assert clone(mitigator).get_params() == mitigator.get_params()
    assert mitigator.get_params()["entities"] == "person,place"


def test_the_registered_mitigator_rewrites_texts_without_a_concept():
    chain = Registry().mitigator("anonymize?mode=replace&entities=person")
    assert isinstance(chain, Chain)
    assert chain.rewrites
    assert chain.all_needs == ()
    assert chain.all_kinds == ("text",)


def test_an_unknown_mode_is_an_error():
    with pytest.raises(InvalidOption, match="mode=erase"):
        Registry().mitigator("anonymize?mode=erase")
