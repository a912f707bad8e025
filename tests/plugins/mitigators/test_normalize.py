"""Unit length and nothing else."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from harness.arrays import cosines
from harness.plugins.mitigators.normalize import Normalize
from harness.registry.registry import Registry


def test_rows_come_out_at_length_one_and_nan_and_zero_rows_stay():
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [np.nan, np.nan]], dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Normalize().fit(None).transform(rows, ["a", "b", "c"])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [[0.6, 0.8], [0, 0], [np.nan, np.nan]], rtol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_no_cosine_changes(seed):
    rows = np.random.default_rng(seed).standard_normal((5, 4)).astype(np.float32)
    found = Normalize().transform(rows, list("abcde"))
    np.testing.assert_allclose(cosines(found, found), cosines(rows, rows), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_it_is_registered_and_can_be_cloned():
    found = Registry().mitigator("normalize")
    assert "Normalize" in repr(found)
    assert isinstance(clone(Normalize()), Normalize)
    assert not Normalize().rewrites
