"""StereoSet and CrowS-Pairs: which text is the stereotype, and which texts belong together."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from harness import tasks
from harness.registry.registry import Registry

FOLDER = Path(tasks.__file__).parent
DOMAINS = {"gender": (242, 255), "profession": (827, 810), "race": (976, 962), "religion": (78, 79)}
TYPES = {  # pairs that have words of their own
    "age": 87, "disability": 59, "gender": 262, "nationality": 159, "physical-appearance": 63,
    "race-color": 515, "religion": 105, "sexual-orientation": 84, "socioeconomic": 172,
}  # fmt: skip
TRANSLATED = {"fr": 600, "nl": 600, "ja": 262, "ru": 260}
KINDS = ("intersentence", "intrasentence")
RELATED = ("stereotyped", "anti_stereotyped")
TEXTS = (*RELATED, "unrelated")
COLUMNS = ("Stereotype Sentence", "Anti-stereotype Sentence", "Unrelated Sentence")


@pytest.fixture(scope="module")
def scenarios():
    """Return a function from a task's name to the inputs of its scenarios."""
    registry = Registry()
    return lambda name: {part.name: part.inputs for part in registry.task(name).scenarios}


def rows(path: str, encoding: str = "utf-8") -> list[dict[str, str]]:
    with gzip.open(FOLDER / path, "rt", encoding=encoding, newline="") as file:
        return list(csv.DictReader(file))


def stereoset(kind: str, domain: str) -> list[dict[str, str]]:
    return rows(f"stereoset/data/{kind}_{domain}_data.csv.gz")


def test_the_data_has_the_published_numbers_of_items():
    """1,508 pairs; and StereoSet's development set, 2,123 contexts and 2,106 blanks."""
    between, within = (sum(len(stereoset(kind, domain)) for domain in DOMAINS) for kind in KINDS)
    assert (between, within) == (2123, 2106)
    assert len(rows("bias_score/data/crows_pairs_anonymized.csv.gz")) == 1508


@pytest.mark.parametrize("domain", DOMAINS)
def test_each_context_has_the_texts_of_its_row_and_the_number_of_its_term(domain, scenarios):
    parts = scenarios(f"stereoset-{domain}")
    terms = {}
    for kind, of_data in zip(KINDS, DOMAINS[domain], strict=True):
        found, data = parts[kind], stereoset(kind, domain)
        assert len(data) == of_data
        assert len(found["contexts"]) == min(of_data, 140)
        row_of = {tuple(row[column] for column in COLUMNS): row for row in data}
        for i, texts in enumerate(zip(*(found[name].texts for name in TEXTS), strict=True)):
            row = row_of[texts]
            rest = "".join(row["Context"].replace("BLANK", "").split())
            assert "".join(found["contexts"].texts[i].split()) == rest
            assert terms.setdefault(found["terms"].numbers[i], row["Target"]) == row["Target"]
    assert len(terms) == len({*terms.values()}) >= 3
    for name in ("contexts", *TEXTS):
        joined = [*parts[KINDS[0]][name].texts, *parts[KINDS[1]][name].texts]
        assert [*parts["both"][name].texts] == joined


@pytest.mark.parametrize("of_type", TYPES)
def test_the_parts_of_a_pair_are_those_of_its_sentences(of_type, scenarios):
    (found,) = scenarios(f"crows-pairs-{of_type}").values()
    data = rows("bias_score/data/crows_pairs_anonymized.csv.gz")
    words = [
        tuple(sorted(row[name].split()) for name in ("sent_more", "sent_less"))
        for row in data
        if row["bias_type"] == of_type
    ]
    parts = zip(*(found[name].texts for name in ("contexts", *RELATED)), strict=True)
    together = [
        tuple(sorted(f"{shared} {part}".split()) for part in only) for shared, *only in parts
    ]
    assert len(together) == TYPES[of_type]
    assert [pair for pair in words if pair in together] == together
    assert len(found["background"]) == sum(TYPES.values()) == 1506


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_rank_where_a_review_was_published(language, scenarios):
    file = Registry().task(f"crows-pairs-{language}").file
    assert file.language == language
    assert not file.reviewed
    assert all(review.source and review.how for review in file.own_reviews)
    assert (not file.not_ranked) == bool(file.own_reviews) == (language != "nl")
    found = next(iter(scenarios(file.name).values()))
    assert len(found["contexts"]) == TRANSLATED[language]


def test_a_japanese_pair_differs_in_the_word_for_a_person(scenarios):
    (found,) = scenarios("crows-pairs-ja").values()
    assert (found["stereotyped"].texts[0], found["anti_stereotyped"].texts[0]) == ("彼", "彼女")
    with gzip.open(
        FOLDER / "crows_pairs/data/crows_japanese.json.gz", "rt", encoding="utf-8"
    ) as file:
        assert len(json.load(file)) == len(found["contexts"])
