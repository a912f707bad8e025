"""The concepts that ship: they load, are complete, and agree with the tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import tasks
from harness.registry.registry import Registry

FOLDER = Path(tasks.__file__).parent / "concepts"
NAMES = [path.stem for path in sorted(FOLDER.glob("*.yaml"))]


LANGUAGES = ("de", "es", "fr", "tr")


@pytest.fixture(scope="module")
def registry():
    return Registry()


def test_a_concept_has_its_name_and_source_and_nothing_in_it_is_empty_or_repeated(registry):
    for name in NAMES:
        concept = registry.concept(name)
        assert (concept.name, bool(concept.title and concept.source)) == (name, True)
        lists = [*concept.names.values(), *concept.sets.values()]
        assert all(lists), name
        for field in (concept.definitional_pairs, concept.definitional_sets, concept.equalize_sets):
            lists += [field, *field]
            assert all(len(words) > 1 for words in field), name
        for words in (*lists, concept.specific_words):
            assert len(set(words)) == len(words), (name, words)


def test_gender_has_the_sizes_that_bolukbasi_and_others_print(registry):
    gender = registry.concept("gender")
    assert len(gender.definitional_pairs) == 10
    assert len(gender.equalize_sets) == 52
    assert len(gender.specific_words) == 218


def test_the_discriminated_side_stands_first(registry):
    first = {
        name: registry.concept(name).definitional_pairs[0] for name in NAMES if name != "names"
    }
    assert [first.pop(f"gender-{language}") for language in LANGUAGES] == [
        ("Frau", "Mann"), ("mujer", "hombre"), ("femme", "homme"), ("kadın", "adam")
    ]  # fmt: skip
    assert first == {
        "age": ("old", "young"),
        "ethnicity": ("black", "caucasian"),
        "gender": ("woman", "man"),
        "gender-45": ("she", "he"),
        "gender-names": ("Amy", "John"),
        "religion": ("islam", "christianity"),
        "wealth": ("poverty", "wealth"),
    }


def test_religion_has_the_sizes_that_manzini_and_others_print(registry):
    religion = registry.concept("religion")
    assert len(religion.definitional_sets) == 5
    assert religion.equalize_sets == religion.definitional_sets
    members = {word for words in religion.definitional_sets for word in words}
    assert members <= set(religion.specific_words)
    for pair, words in zip(religion.definitional_pairs, religion.definitional_sets, strict=True):
        assert pair == (words[2], words[1])


def test_the_pairs_of_ethnicity_are_the_first_two_words_of_its_sets(registry):
    ethnicity = registry.concept("ethnicity")
    pairs = dict.fromkeys(words[:2] for words in ethnicity.definitional_sets)
    assert ethnicity.definitional_pairs == tuple(pairs)
    assert set(ethnicity.equalize_sets) < set(ethnicity.definitional_sets)


def test_gender_45_has_45_pairs_which_are_also_its_equalize_sets(registry):
    concept = registry.concept("gender-45")
    assert len(concept.definitional_pairs) == 45
    assert concept.equalize_sets == concept.definitional_pairs
    assert len({word for pair in concept.definitional_pairs for word in pair}) == 90


def test_age_and_wealth_have_the_pairs_of_their_table(registry):
    assert len(registry.concept("age").definitional_pairs) == 22
    assert len(registry.concept("wealth").definitional_pairs) == 44


@pytest.mark.parametrize("name", ["gender", "age", "wealth", "religion", "ethnicity"])
def test_contexts_are_three_sentences_with_straight_apostrophes(name, registry):
    contexts = registry.concept(name).contexts
    assert list(contexts) == ["debiasing", "positive", "negative"]
    for text in contexts.values():
        assert text.startswith("This person")
        assert text.endswith(".")
        assert "’" not in text


@pytest.mark.parametrize(
    ("concept", "groups", "names"),
    [
        ("gender", ("male", "female"), ["weat-6"]),
        ("ethnicity", ("european_american", "african_american"), ["weat-3", "weat-4"]),
    ],
)
def test_names_of_a_concept_are_those_of_its_tests(concept, groups, names, registry):
    names_of = registry.concept(concept).names
    for group, key in zip(groups, ("targets_1", "targets_2"), strict=True):
        tested = [t for name in names for t in registry.task(name).scenarios[0].inputs[key].texts]
        assert list(names_of[group]) == list(dict.fromkeys(tested))


def test_every_concept_is_used_by_a_task(registry):
    used = {document.data.get("concept") for document in registry.task_files.values()}
    # These are for mitigators and studies; tasks about gender name the concept `gender`, and
    # Turkish has no forms of nouns to ask about.
    assert set(NAMES) - {"gender-45", "gender-names", "gender-tr"} <= used


@pytest.mark.parametrize("language", LANGUAGES)
def test_gender_in_other_languages_has_what_mitigators_need(language, registry):
    concept = registry.concept(f"gender-{language}")
    assert concept.language == language
    assert registry.concept_in(registry.concept("gender"), language) == concept
    assert list(concept.contexts) == ["debiasing", "positive", "negative"]
    assert len(concept.definitional_pairs) >= 8
    pairs = (*concept.definitional_pairs, *concept.equalize_sets)
    assert set(concept.specific_words) == {word for pair in pairs for word in pair}
    forms = [concept.sets.get(name, ()) for name in ("feminine", "masculine")]
    assert len(forms[0]) == len(forms[1])
    assert set(forms[0]).isdisjoint(forms[1])
    assert bool(forms[0]) == (language != "tr"), "Turkish has no grammatical gender"


def test_what_was_mended_in_the_pairs_of_other_languages_stays_mended(registry):
    words = {
        language: {w for p in registry.concept(f"gender-{language}").definitional_pairs for w in p}
        for language in LANGUAGES
    }
    assert words["de"].isdisjoint({"ihr", "jungen", "mary", "john"})
    assert words["es"].isdisjoint({"suya", "suyo"}), "they agree with what is owned"
    assert words["fr"].isdisjoint({"sa", "son", "gal", "pére"})
    assert words["tr"].isdisjoint({"insan", "guy", "john", "onun", "kendisi"})
