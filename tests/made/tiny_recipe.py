"""A recipe with its corpus, word vectors and tasks, which runs in seconds."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from harness.registry.registry import Registry

PEOPLE = ("man", "woman", "boy", "girl", "he", "she", "father", "mother", "doctor", "nurse")
VERBS = ("plays", "cooks", "sleeps", "sings", "works", "reads")
PLACES = ("home", "school", "office", "park")
LABELS = ("entailment", "neutral", "contradiction")
ROWS = {
    "original": {},
    "sub80": {"subtract": 80},
    "aug80": {"augment": 80},
    "random80": {"subtract": 80, "at_random": True},
    "hd": {"mitigator": "hard-debias"},
}


def write(folder: Path, *, pairs: int = 120, **changes: Any) -> Path:
    """Write a recipe with all that it needs into a folder, and return its file.

    Its tasks are in `tasks`. `changes` replace keys of the recipe.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    _words(folder / "words.txt", rng)
    lines = []
    for i in range(pairs):
        person, verb, place, other = (
            str(rng.choice(words)) for words in (PEOPLE, VERBS, PLACES, VERBS)
        )
        pair = {
            "premise": f"a {person} {verb} at the {place}",
            "hypothesis": f"the {person} {other}",
        }
        lines.append(json.dumps(pair | {"label": LABELS[i % 3]}) + "\n")
    (folder / "pairs.jsonl").write_text("".join(lines))
    (folder / "tasks" / "tiny").mkdir(parents=True, exist_ok=True)
    for task in (_bias(), _useful()):
        (folder / "tasks" / "tiny" / f"{task['name']}.yaml").write_text(yaml.safe_dump(task))
    recipe = {
        "name": "tiny",
        "version": 1,
        "title": "A tiny recipe",
        "corpus": ["pairs.jsonl"],
        "base": f"vectors:{folder / 'words.txt'}",
        "training": {"hidden": 4, "epochs": 3, "batch_size": 8, "device": "cpu"},
        "seeds": [1, 2],
        "rows": ROWS,
        "bias": ["tiny-bias"],
        "usefulness": ["tiny-useful"],
        "claimed_change": 19,
    }
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(recipe | changes, sort_keys=False))
    return path


def _words(path: Path, rng: np.random.Generator) -> None:
    gender = Registry().concept("gender")
    words = {"a", "at", "the", *PEOPLE, *VERBS, *PLACES}
    words |= {word for pair in gender.definitional_pairs for word in pair}
    words |= {word for set_ in gender.equalize_sets for word in set_}
    vectors = {word: rng.normal(size=6).round(4) for word in sorted(words) if " " not in word}
    path.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in vectors.items()))


def _bias() -> dict[str, Any]:
    sets = {
        "targets_1": ["the man", "the boy", "the father"],
        "targets_2": ["the woman", "the girl", "the mother"],
        "attributes_1": ["works", "the office"],
        "attributes_2": ["cooks", "the home"],
    }
    return {
        "name": "tiny-bias",
        "version": 1,
        "title": "Work and home",
        "category": "gender",
        "concept": "gender",
        "kinds": ["text"],
        "inputs": {name: {"words": texts} for name, texts in sets.items()},
        "metrics": {"weat": {}},
        "primary": {"metric": "weat", "score": "association"},
    }


def _useful() -> dict[str, Any]:
    triples = itertools.islice(itertools.product(PEOPLE, VERBS, PLACES), 40)
    rows = [[f"a {p} {v}", f"the {p} at the {q}", i % 5] for i, (p, v, q) in enumerate(triples)]
    return {
        "name": "tiny-useful",
        "version": 1,
        "title": "How similar",
        "measures": "usefulness",
        "category": "similarity",
        "concept": "gender",
        "kinds": ["text"],
        "tables": {"pairs": {"columns": ["first", "second", "rating"], "rows": rows}},
        "inputs": {
            "texts_1": {"table": "pairs", "column": "first"},
            "texts_2": {"table": "pairs", "column": "second"},
            "ratings": {"table": "pairs", "column": "rating", "number": True},
        },
        "metrics": {"similarity-correlation": {}},
        "primary": {"metric": "similarity-correlation", "score": "spearman"},
    }
