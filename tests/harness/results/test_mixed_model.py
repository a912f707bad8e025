"""A mixed model with random intercepts, against published fits and planted slopes."""

from __future__ import annotations

import numpy as np
import pytest

from harness.results.mixed_model import fit_mixed_model

AGES = (8, 10, 12, 14)
GIRLS = """
21 20 21.5 23; 21 21.5 24 25.5; 20.5 24 24.5 26; 23.5 24.5 25 26.5; 21.5 23 22.5 23.5; 20 21 21 22.5
21.5 22.5 23 25; 23 23 23.5 24; 20 21 22 21.5; 16.5 19 19 19.5; 24.5 25 28 28
"""
BOYS = """
26 25 29 31; 21.5 22.5 23 26.5; 23 22.5 24 27.5; 25.5 27.5 26.5 27; 20 23.5 22.5 26
24.5 25.5 27 28.5; 22 22 24.5 26.5; 24 21.5 24.5 25.5; 23 20.5 31 26; 27.5 28 31 31.5
23 23 23.5 25; 21.5 23.5 24 28; 17 24.5 26 29.5; 22.5 25.5 25.5 26; 23 24.5 26 30; 22 21.5 23.5 25
"""
"""Distances in the jaw of children by age: Potthoff and Roy (1964), Biometrika 51, table 1."""


def test_a_random_intercept_equals_the_published_fit_of_the_growth_of_children():
    # Pinheiro and Bates (2000), Mixed-effects models in S and S-PLUS; nlme's
    # lme(distance ~ age + Sex, data = Orthodont, random = ~ 1).
    y, x, children = [], [], []
    for is_girl, text in ((1, GIRLS), (0, BOYS)):
        for child in text.replace("\n", ";").split(";"):
            if child.strip():
                for age, distance in zip(AGES, child.split(), strict=True):
                    y.append(float(distance))
                    x.append([1, age, is_girl])
                    children.append((is_girl, child))
    fit = fit_mixed_model(np.array(y), np.array(x, dtype=float), [children])
    assert fit.coefficients == pytest.approx([17.706713, 0.660185, -2.321023], abs=1e-5)
    assert fit.errors == pytest.approx([0.8339225, 0.0616059, 0.7614168], abs=1e-4)
    assert np.sqrt(fit.variances) == pytest.approx([1.807425, 1.431592], abs=1e-4)
    assert fit.log_likelihood == pytest.approx(-218.7563, abs=1e-3)
    assert fit.df == 26


def simulated(rng, *, slope, models=6, variants=6, of_model=1.0, of_variant=0.5):
    """Return rows whose models and variants share an offset, with x that differs by both."""
    model = np.repeat(np.arange(models), variants)
    variant = np.tile(np.arange(variants), models)
    x = rng.normal(size=models)[model] + rng.normal(size=variants)[variant]
    x = x + 0.5 * rng.normal(size=len(x))
    y = slope * x + of_model * rng.normal(size=models)[model]
    y = y + of_variant * rng.normal(size=variants)[variant] + 0.3 * rng.normal(size=len(x))
    return y, np.stack([np.ones_like(x), x], axis=1), [model.tolist(), variant.tolist()]


def test_crossed_random_intercepts_recover_their_variances():
    rng = np.random.default_rng(1)
    fit = fit_mixed_model(*simulated(rng, slope=2.0, models=15, variants=15))
    assert fit.coefficients[1] == pytest.approx(2.0, abs=0.15)
    assert np.sqrt(fit.variances) == pytest.approx([1.0, 0.5, 0.3], rel=0.4)


@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_the_interval_of_a_slope_covers_it_with_six_models_and_six_variants(slope):
    rng = np.random.default_rng(2)
    fits = [fit_mixed_model(*simulated(rng, slope=slope)) for _ in range(15)]
    covered = [low <= slope <= high for low, high in (fit.interval(1) for fit in fits)]
    assert np.mean(covered) >= 0.8
    if slope == 0:
        assert np.mean([fit.p_value(1) < 0.05 for fit in fits]) <= 0.2


def test_rows_that_are_taken_for_independent_find_slopes_that_are_not_there():
    # Why the base is a random effect: x and y differ by model alone, independently.
    rng = np.random.default_rng(3)
    found = []
    for _ in range(15):
        model = np.repeat(np.arange(6), 6)
        x, y = (rng.normal(size=6)[model] + 0.1 * rng.normal(size=36) for _ in range(2))
        design = np.stack([np.ones(36), x], axis=1)
        plain = fit_mixed_model(y, design, [list(range(36))])
        mixed = fit_mixed_model(y, design, [model.tolist()])
        found.append((plain.p_value(1) < 0.05, mixed.p_value(1) < 0.05))
    plain_share, mixed_share = np.mean(found, axis=0)
    assert plain_share > 0.3
    assert mixed_share <= 0.1
