"""SeeGULL on GloVe: the share, and more agreement of raters, more bias."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from harness import tasks


def test_the_share_is_that_of_a_loop_over_the_choices(registry, scores, glove):
    score = scores("seegull-en", glove)["default"]["stereotype-choice"]["stereotype_score"]
    x, s, a = (
        glove(registry.task("seegull-en").scenarios[0].inputs[name].texts).astype(np.float64)
        for name in ("contexts", "stereotyped", "anti_stereotyped")
    )
    known = np.isfinite(np.hstack([x, s, a])).all(axis=1)
    x, s, a = (v[known] / np.linalg.norm(v[known], axis=1, keepdims=True) for v in (x, s, a))
    choices = [
        x[i] @ (s[i] - a[i]) > np.mean([c @ (s[i] - a[i]) for c in x]) for i in range(len(x))
    ]
    assert score.value == pytest.approx(np.mean(choices))
    assert score.p_value < 0.05


def test_what_all_raters_call_a_stereotype_is_chosen_more_often(registry, glove):
    """Agreement is the label of the benchmark: it should show in the vectors."""
    table_of = registry.task("seegull-en").scenarios[0].inputs
    texts = [table_of[name].texts for name in ("contexts", "stereotyped", "anti_stereotyped")]
    rows = {(r["attribute"], r["identity"]): r for r in _pairs()}
    assert len(rows) == 6_781
    agreed = np.array(
        [rows[a, s]["region_nonstereo"] == "0" for a, s, _ in zip(*texts, strict=True)]
    )
    x, s, a = (glove(of).astype(np.float64) for of in texts)
    known = np.isfinite(np.hstack([x, s, a])).all(axis=1)
    x, s, a = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, s, a))
    d = (x - x[known].mean(axis=0)) * (s - a)
    d = d.sum(axis=1)
    assert d[known & agreed].mean() > 1.5 * d[known & ~agreed].mean()


def _pairs() -> list[dict[str, str]]:
    file = Path(tasks.__file__).parent / "seegull" / "data" / "stereotypes_global_v2.csv.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
