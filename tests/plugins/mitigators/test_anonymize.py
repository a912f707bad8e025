"""Names are taken out of texts, or placeholders put in their place."""

from __future__ import annotations

import pytest
from sklearn.base import clone

from harness.embedder import MockEmbedder
from harness.errors import InvalidOption, ModelError
from harness.mitigator import Chain
from harness.plugins.mitigators.anonymize import Anonymize
from harness.registry.registry import Registry

TEXTS = ["Mike met Kate in Leeds. Mike's dog slept.", "no one slept", "Leeds"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """The name of a spaCy pipeline that is installed and finds three names."""
    spacy = pytest.importorskip("spacy")
    made = spacy.blank("en")
    patterns = [("PERSON", "Mike"), ("PERSON", "Kate"), ("GPE", "Leeds")]
    made.add_pipe("entity_ruler", name="ner").add_patterns(
        [{"label": label, "pattern": name} for label, name in patterns]
    )
    place = tmp_path_factory.mktemp("pipelines")
    (place / "three_names").mkdir()
    (place / "three_names" / "__init__.py").touch()
    made.to_disk(place / "three_names" / "three_names-1.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
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


def test_only_the_entities_asked_for_are_changed(fitted):
    assert fitted(entities="place").rewrite(TEXTS) == [
        "Mike met Kate in . Mike's dog slept.",
        "no one slept",
        "",
    ]
    assert fitted(entities="person, place").rewrite(TEXTS) == fitted().rewrite(TEXTS)


def test_what_becomes_of_a_text_depends_on_it_alone(fitted):
    one = fitted()
    assert one.rewrite(TEXTS[:1]) + one.rewrite(TEXTS[1:]) == fitted().rewrite(TEXTS)


def test_notes_tell_where_no_name_was_found_and_where_nothing_is_left(fitted):
    one = fitted()
    assert one.notes == ()
    one.rewrite(TEXTS)
    assert one.notes == (
        "no name was found in 1 of 3 texts",
        "nothing is left of 1 text that was names alone",
    )


def test_fitted_again_its_notes_count_on_unless_its_options_changed(fitted):
    one = fitted()
    one.rewrite(TEXTS)
    told = one.notes
    assert one.fit(MockEmbedder()).notes == told
    assert one.set_params(mode="replace").fit(MockEmbedder()).notes == ()


def test_a_language_model_finds_the_names(loopback):
    loopback.reply = lambda system, text: text.replace("Zuri", "<person>Zuri</person>")
    one = Anonymize(engine="llm", model="toy", base_url=loopback.url).fit(MockEmbedder())
    assert one.rewrite(["Zuri's dog slept."]) == ["dog slept."]
    assert any("toy" in note for note in one.notes)


def test_a_language_model_that_answers_otherwise_is_caught(loopback):
    loopback.reply = lambda system, text: "" if "Zuri" in text else text
    one = Anonymize(engine="llm", model="toy", base_url=loopback.url).fit(MockEmbedder())
    assert one.rewrite(["Zuri slept.", "no one"]) == ["Zuri slept.", "no one"]
    assert any(note.startswith("1 text keeps its names") for note in one.notes)
    with pytest.raises(ModelError, match="marked names in none of 1 texts"):
        one.rewrite(["Zuri ran."])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entities": "people"}, "no kind of names called 'people'"),
        ({"entities": ","}, "name a kind of names"),
        ({"engine": "llm"}, "needs the language model's name"),
        ({"base_url": "http://127.0.0.1"}, "options of engine=llm"),
        ({"model": "../x"}, "a spaCy pipeline has a name"),
    ],
)
def test_options_that_do_not_fit_are_told(options, message):
    pytest.importorskip("spacy")
    with pytest.raises(InvalidOption, match=message):
        Anonymize(**options).fit(MockEmbedder())


def test_it_is_an_estimator_whose_options_stay_as_given():
    one = Anonymize(mode="replace", entities="person,place")
    assert clone(one).get_params() == one.get_params()
    assert one.get_params()["entities"] == "person,place"


def test_it_is_registered_and_rewrites_texts_without_a_concept():
    chain = Registry().mitigator("anonymize?mode=replace&entities=person")
    assert isinstance(chain, Chain)
    assert chain.rewrites
    assert chain.all_needs == ()
    assert chain.all_kinds == ("text",)


def test_an_unknown_mode_is_told():
    with pytest.raises(InvalidOption, match="mode=erase"):
        Registry().mitigator("anonymize?mode=erase")
