"""A small study on vectors made up here: eight pairs and two attribute sets, of five dimensions."""

import numpy as np
import pytest
import yaml

from harness import yaml_files
from harness.registry import Registry
from harness.study import running, study

PAIRS = [[f"she{i}", f"he{i}"] for i in range(8)]
CAREER, FAMILY = [f"career{i}" for i in range(4)], [f"family{i}" for i in range(4)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def vectors():
    """Vectors by word: gender lies along the first axis, careers lean to one side of it."""
    rng = np.random.default_rng(0)
    made = {}
    for i, (she, he) in enumerate(PAIRS):
        meaning = rng.normal(size=5)
        gender = np.array([1.0 + 0.1 * i, 0, 0, 0, 0])
        made[she], made[he] = meaning + gender, meaning - gender
    for words, side in ((CAREER, -1.0), (FAMILY, 1.0)):
        for word in words:
            made[word] = rng.normal(size=5) + np.array([side, 0, 0, 0, 0])
    return made


@pytest.fixture
def folder(tmp_path, vectors):
    """A folder with the vectors, the concept and a study, as a person would have it."""
    lines = [f"{word} {' '.join(f'{x:.6f}' for x in row)}" for word, row in vectors.items()]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "concepts").mkdir()
    write(tmp_path / "concepts" / "sides.yaml", {"name": "sides", "definitional_pairs": PAIRS})
    return tmp_path


@pytest.fixture
def said(folder):
    """What the study file says; tests change it."""
    return {
        "name": "small",
        "version": 1,
        "title": "A small study",
        "models": [f"vectors:{folder / 'vectors.txt'}"],
        "concept": "sides",
        "folds": 4,
        "inner_folds": 3,
        "mitigators": {"hard-debias": {"grid": {"k": [1, 2]}}, "leace": {}},
        "sets": {"career": CAREER, "family": FAMILY},
        "inputs": {
            "targets_1": {"table": "concept.definitional_pairs", "column": "second"},
            "targets_2": {"table": "concept.definitional_pairs", "column": "first"},
            "attributes_1": {"set": "career"},
            "attributes_2": {"set": "family"},
            "attributes": {"set": "career"},
        },
        "measures": {"WEAT": {"metric": "weat-association"}, "ECT": {"metric": "ect"}},
    }


@pytest.fixture
def resolved(folder, said):
    """Resolve what the study file says."""

    def make():
        path = write(folder / "small.yaml", said)
        return study.resolve(yaml_files.load(path), Registry(include=[folder]))

    return make


@pytest.fixture
def run(folder, said):
    """Run what the study file says."""

    def make(**more):
        path = write(folder / "small.yaml", said)
        return running.run(path, results=folder / "results", include=[folder], **more)

    return make


def write(path, content):
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path
