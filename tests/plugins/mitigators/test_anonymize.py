"""Names are removed from texts, or replaced by placeholders."""

from __future__ import annotations

import pytest

from harness.chain import Chain
from harness.embedder import COMPARING, MockEmbedder
from harness.errors import InvalidOption, ModelError, NotApplicable
from harness.plugins.mitigators.anonymize import Anonymize
from harness.plugins.texts import spacy_mentions
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


def test_names_in_another_language_are_found_by_its_pipeline(pipeline, monkeypatch):
    monkeypatch.setattr(spacy_mentions, "PIPELINES", {"fr": pipeline})
    typed = Anonymize(proper_nouns=False)
    french = typed.in_language("fr")
    assert french.fit(MockEmbedder()).rewrite(["Kate dort à Leeds."]) == ["dort à ."]
    assert typed.model is None
    assert typed.in_language("en") is typed
    named = Anonymize(model="some_pipeline")
    assert named.in_language("fr") is named
    with pytest.raises(NotApplicable, match=r"names in 'sw' is known.*model=NAME"):
        typed.in_language("sw")


def test_only_the_selected_entities_are_changed(fitted):
    assert fitted(entities="place").rewrite(TEXTS) == [
        "Mike met Kate in . Mike's dog slept.",
        "no one slept",
        "",
    ]
    assert fitted(entities="person, place").rewrite(TEXTS) == fitted().rewrite(TEXTS)


def test_notes_count_texts_without_names_and_texts_that_became_empty(fitted):
    mitigator = fitted()
    assert mitigator.notes == ()
    mitigator.rewrite(TEXTS)
    without_names, empty = mitigator.notes
    assert "1 of 3 texts" in without_names
    assert "1 text " in empty


def test_a_language_model_finds_the_names(loopback):
    loopback.reply = lambda system, text: text.replace("Zuri", "<person>Zuri</person>")
    mitigator = Anonymize(engine="llm", model="toy", base_url=loopback.url).fit(MockEmbedder())
    assert mitigator.rewrite(["Zuri's dog slept."]) == ["dog slept."]


def test_an_invalid_answer_of_the_language_model_is_reported_or_an_error(loopback):
    loopback.reply = lambda system, text: "" if "Zuri" in text else text
    mitigator = Anonymize(engine="llm", model="toy", base_url=loopback.url).fit(MockEmbedder())
    assert mitigator.rewrite(["Zuri slept.", "no one"]) == ["Zuri slept.", "no one"]
    assert any("1 text " in note and "Zuri slept." in note for note in mitigator.notes)
    with pytest.raises(ModelError, match=r"1 texts.*'Zuri ran\.'"):
        mitigator.rewrite(["Zuri ran."])


PAPER = {"engine": "llm", "model": "toy", "prompt": "paper"}


def removing(system: str, message: str) -> str:
    """Answer the prompts of the paper as a perfect model would for Zuri and Leeds."""
    prompt, text = message.split("::::\n")
    if "UNIQUE ID" in prompt:
        return text.replace("Zuri", "CHAR_A").replace("Leeds", "LOC_A")
    text = text.replace("Zuri ", "")
    return text.replace(" in Leeds", "") if "Country" in prompt else text


@pytest.mark.parametrize(
    ("options", "edited"),
    [
        ({}, "slept."),
        ({"entities": "person"}, "slept in Leeds."),
        ({"mode": "replace"}, "CHAR_A slept in LOC_A."),
    ],
)
def test_the_prompts_of_the_paper_ask_for_the_edited_text(loopback, options, edited):
    loopback.reply = removing
    mitigator = Anonymize(base_url=loopback.url, **PAPER | options).fit(MockEmbedder())
    assert mitigator.rewrite(["Zuri slept in Leeds."]) == [edited]
    (message,) = loopback.requests[0]["messages"]
    assert message["role"] == "user"
    assert mitigator.rewrite(["Zuri slept in Leeds."]) == [edited]
    assert len(loopback.requests) == 1


def test_a_note_counts_texts_in_which_the_model_changed_other_words(loopback):
    edits = {"Zuri slept long.": "dozed, slept long.", "Zuri ran off.": "ran off.", "Ada": ""}
    loopback.reply = lambda system, message: edits[message.split("::::\n")[1]]
    mitigator = Anonymize(base_url=loopback.url, **PAPER).fit(MockEmbedder())
    assert mitigator.rewrite(list(edits)) == list(edits.values())
    assert any("other words too in 1 of 3 texts" in note for note in mitigator.notes)
    assert any("1 text became empty" in note for note in mitigator.notes)


@pytest.mark.parametrize("answer", ["", "I cannot help with that request, sorry."])
def test_a_text_keeps_its_names_if_the_answer_is_no_edit_of_it(loopback, answer):
    loopback.reply = lambda system, message: (
        answer if "Zuri slept" in message else removing(system, message)
    )
    mitigator = Anonymize(base_url=loopback.url, **PAPER).fit(MockEmbedder())
    assert mitigator.rewrite(["Zuri slept.", "Zuri ran."]) == ["Zuri slept.", "ran."]
    assert any("1 text keeps its names" in note for note in mitigator.notes)


def test_each_seed_is_a_run_of_its_own(loopback):
    loopback.reply = removing
    for seed, temperature in ((1, 1.0), (2, 1.0), (2, 1.0), (None, None)):
        sampling = {"seed": seed, "temperature": temperature}
        Anonymize(base_url=loopback.url, **PAPER | sampling).fit(MockEmbedder()).rewrite(
            ["Zuri s."]
        )
    sent = [(body.get("seed"), body.get("temperature")) for body in loopback.requests]
    assert sent == [(1, 1.0), (2, 1.0), (None, None)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (PAPER | {"entities": "person,place"}, "entities must be all or person"),
        (PAPER | {"entities": "person", "mode": "replace"}, "entities must be all$"),
        (PAPER | {"identifiers": "numbers", "mode": "replace"}, "identifiers=letters"),
        ({"seed": 1}, "engine=llm"),
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


def test_the_registered_mitigator_rewrites_texts_without_a_concept():
    chain = Registry().mitigator("anonymize?mode=replace&entities=person")
    assert isinstance(chain, Chain)
    assert chain.rewrites
    assert chain.all_needs == ()
    assert chain.all_kinds == ("text", *COMPARING)
