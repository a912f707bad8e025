"""Normalisation to unit length."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.arrays import cosines
from harness.plugins.mitigators.normalize import Normalize


def test_rows_get_length_one_and_nan_and_zero_rows_are_unchanged():
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [np.nan, np.nan]], dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = Normalize().fit(None).transform(rows, ["a", "b", "c"])
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, [[0.6, 0.8], [0, 0], [np.nan, np.nan]], rtol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_cosines_are_unchanged(seed):
    rows = np.random.default_rng(seed).standard_normal((5, 4)).astype(np.float32)
    result = Normalize().transform(rows, list("abcde"))
    np.testing.assert_allclose(cosines(result, result), cosines(rows, rows), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(result, axis=1), 1, atol=1e-6)
