"""A small study on random vectors of five dimensions: eight pairs and two attribute sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

PAIRS = [[f"she{i}", f"he{i}"] for i in range(8)]
CAREER, FAMILY = [f"career{i}" for i in range(4)], [f"family{i}" for i in range(4)]


def vectors() -> dict[str, np.ndarray]:
    """Return vectors by word: gender lies along the first axis, and careers lean to one side."""
    rng = np.random.default_rng(0)
    rows = {}
    for i, (she, he) in enumerate(PAIRS):
        meaning = rng.normal(size=5)
        gender = np.array([1.0 + 0.1 * i, 0, 0, 0, 0])
        rows[she], rows[he] = meaning + gender, meaning - gender
    for words, side in ((CAREER, -1.0), (FAMILY, 1.0)):
        for word in words:
            rows[word] = rng.normal(size=5) + np.array([side, 0, 0, 0, 0])
    return rows


def fill(folder: Path, vectors: dict[str, np.ndarray]) -> Path:
    """Write the vectors and the concept into a folder, and return it."""
    lines = [f"{word} {' '.join(f'{x:.6f}' for x in row)}" for word, row in vectors.items()]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n")
    (folder / "concepts").mkdir()
    write(folder / "concepts" / "sides.yaml", {"name": "sides", "definitional_pairs": PAIRS})
    return folder


def content(folder: Path) -> dict[str, Any]:
    """Return the contents of the study file."""
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


def write(path: Path, content: dict[str, Any]) -> Path:
    """Write a YAML file and return its path."""
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path
