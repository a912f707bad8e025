"""The verdict on a model beside its base, on records with known deviations."""

from __future__ import annotations

import numpy as np
import pytest
from score_records import record, similarity, void

from harness.results.comparison import compare, judge, moved_items
from harness.results.estimator import BLURRED
from harness.results.ratios import OVERALL

UNITS = 40


def biased(model, task, gaps, *, yardsticks=None, family="", category="gender", **more):
    """Return a record whose gap and yardstick are means of what each unit contributes."""
    gaps = np.asarray(gaps)
    yardsticks = np.ones_like(gaps) * (1 if yardsticks is None else yardsticks)

    def deviations(values):
        n = len(values)
        return (values - values.mean()) / np.sqrt(n * (n - 1))

    n, d = deviations(gaps), deviations(yardsticks)
    error = float(np.sqrt((d**2).sum()))
    ratio = {
        "value": float(gaps.mean() / yardsticks.mean()),
        "low": None,
        "high": None,
        "gap": float(gaps.mean()),
        "gap_error": float(np.sqrt((n**2).sum())),
        "yardstick": float(yardsticks.mean()),
        "yardstick_error": error,
        "t": float(yardsticks.mean()) / error if error else 100.0,
        "df": 30.0,
        "of": "items",
        "reference_gap": 0.5,
        "reference_yardstick": 1.0,
        "reference_error": 0.01,
        "reference_yardstick_error": 0.0,
    }
    units = {
        f"{task}{i:07d}": (float(a), float(b)) for i, (a, b) in enumerate(zip(n, d, strict=True))
    }
    more |= {"ratio": ratio, "deviations": units, "category": category}
    return record(task, model=model, family=family or task, **more)


def contributions(seed, mean, spread=0.3):
    return np.random.default_rng(seed).normal(mean, spread, UNITS)


def test_a_model_with_a_clearly_larger_gap_is_more_biased():
    base = [biased("base", "t", contributions(1, 0.5))]
    found = compare(base, [biased("mine", "t", contributions(1, 0.7))]).verdict
    overall = found.overall("bias")
    assert overall.words == "more biased"
    # Both share what their items contribute: the shift of .2 over the reference's .5 is sure.
    assert overall.difference == pytest.approx(0.4, abs=0.01)
    assert overall.high - overall.low == pytest.approx(0, abs=0.01)
    back = compare([biased("mine", "t", contributions(1, 0.7))], base).verdict.overall("bias")
    assert back.words == "less biased"
    assert back.difference == -overall.difference


def test_the_interval_of_one_method_is_that_of_the_paired_difference():
    a, b = contributions(1, 0.5), contributions(2, 0.5)
    found = compare([biased("base", "t", a)], [biased("mine", "t", b)]).verdict
    overall = found.overall("bias")
    assert [d.name for d in found.differences] == [OVERALL, "gender"]
    error = (b - a).std(ddof=1) / np.sqrt(UNITS) / 0.5
    half = (overall.high - overall.low) / 2
    assert half == pytest.approx(2.24 * error, rel=0.1)  # Šidák's quantile for two differences
    assert overall.detectable > half
    assert overall.words == "not clear"


def test_models_whose_gaps_differ_by_rounding_are_equal():
    a = contributions(1, 0.5)
    found = compare([biased("base", "t", a)], [biased("mine", "t", a + 1e-6)]).verdict
    assert found.overall("bias").words == "equal"


def test_more_usefulness_is_no_less_bias():
    scores = {"interval": {"low": 0.4, "high": 0.5, "level": 0.95, "method": "x"}}
    base = [similarity(f"s{i}", "none", 0.45, model="base", **scores) for i in range(4)]
    mine = [similarity(f"s{i}", "none", 0.75, model="mine", **scores) for i in range(4)]
    found = compare(base, mine).verdict
    assert found.overall("usefulness").words == "more useful"
    assert found.overall("bias") is None
    assert found.sentences()[0] == "bias: no task counts in both"


def test_a_model_whose_yardsticks_are_not_clear_has_no_verdict():
    noise = contributions(3, 0.01, 1.0)
    noise += 0.02 - noise.mean()

    def found(*clear):
        rows = [
            [
                biased(model, f"t{i}", contributions(i, gap), yardsticks=None if ok else yardsticks)
                for i, ok in enumerate(clear)
            ]
            for model, gap, yardsticks in (("base", 0.5, None), ("mine", 5.0, noise))
        ]
        return compare(*rows).verdict

    assert found(False).overall("bias") is None
    assert found(False).left_out["bias"] == {BLURRED: ("t0",)}
    assert found(True, False).overall("bias").tasks == 1, "it leaves both sides"
    overall = found(True, False, False).overall("bias")
    assert overall.words == "not clear"
    assert "yardsticks of 1 of 3 methods are clear" in overall.reason


def test_a_concept_of_which_nothing_is_judged_is_named_with_the_reason():
    base = [biased("base", "t", contributions(1, 0.5)), biased("base", "u", contributions(2, 0.5))]
    unjudged = biased("base", "t", contributions(1, 0.1), mitigator="m")
    unjudged = unjudged.model_copy(update={"unseen": void(), "ratio": None})
    kept = biased("base", "u", contributions(2, 0.4), mitigator="m")
    kept, other = (r.model_copy(update={"category": "age"}) for r in (kept, base[1]))
    found = compare([base[0], other], [unjudged, kept]).verdict
    assert found.not_judged == {"gender": "no unseen words"}
    assert found.as_json()["not_judged"] == found.not_judged
    assert "not judged: gender: no unseen words" in str(found)
    assert "age" not in found.not_judged


def test_a_change_of_the_yardstick_alone_is_no_change_of_bias():
    gaps = contributions(1, 0.5)
    plain, boosted = (biased(m, "t", gaps, yardsticks=y) for m, y in (("base", None), ("mine", 2)))
    for base, mine in ((plain, boosted), (boosted, plain)):
        overall = compare([base], [mine]).verdict.overall("bias")
        assert abs(overall.difference) > 0.4
        assert overall.words == "not clear"
        assert overall.lacks == "not over the yardsticks of the base"
        assert overall.lacks in overall.sentence()


def test_a_difference_below_the_smallest_one_is_neither_more_nor_less():
    rows = [[biased(m, "t", contributions(1, gap))] for m, gap in (("base", 0.5), ("mine", 0.52))]
    overall = compare(*rows).verdict.overall("bias")
    assert (overall.low > 0, overall.words) == (True, "not clear")
    assert overall.lacks == "below the smallest effect, 0.05"
    assert compare(*rows, smallest=0.03).verdict.overall("bias").words == "more biased"


def test_a_verdict_that_one_method_makes_names_it():
    def row(model, *gaps):
        return [biased(model, f"t{i}", contributions(i, gap, 0.01)) for i, gap in enumerate(gaps)]

    overall = compare(row("base", 0.5, 0.5, 0.5), row("mine", 0.48, 0.48, 1.0)).verdict.overall(
        "bias"
    )
    assert (overall.low > 0, overall.words) == (True, "not clear")
    assert (overall.lacks, overall.other_ways) == (
        "depends on t2",
        "1 of 3 agree, depends on t2",
    )


def test_what_a_mitigator_erases_of_definitions_is_said():
    def row(name, gap):
        control = biased(name, "m", contributions(3, gap), family="meaning", measures="control")
        return [biased(name, "t", contributions(1, 0.5)), control]

    found = compare(row("base", 0.5), row("mine", 0.1)).verdict
    before, after = found.meaning
    assert before == pytest.approx(contributions(3, 0.5).mean() / 0.5)
    assert after == pytest.approx(contributions(3, 0.1).mean() / 0.5)
    assert f"told apart {after:.2f} times as well" in str(found)
    assert compare(row("base", 0.5)[:1], row("mine", 0.1)[:1]).verdict.meaning is None


def test_records_without_deviations_count_as_independent():
    base, mine = record("t", model="base", value=1.0), record("t", model="mine", value=1.9)
    overall = compare([base], [mine]).verdict.overall("bias")
    assert overall.words == "more biased"
    assert overall.low < overall.difference < overall.high


def test_each_concept_has_a_line_and_all_hold_at_once():
    def found(concepts):
        rows = [
            [
                biased(
                    model, f"t{i}", contributions(i + shift, 0.5), family="m",
                    category=f"c{i % concepts}",
                )
                for i in range(5)
            ]
            for model, shift in (("base", 0), ("mine", 50))
        ]  # fmt: skip
        return compare(*rows).verdict

    two, six = found(1), found(5)
    assert [d.name for d in six.differences] == [OVERALL, *(f"c{i}" for i in range(5))]
    wide, narrow = (v.differences[0].high - v.differences[0].low for v in (six, two))
    assert wide / narrow == pytest.approx(2.63 / 2.24, rel=0.02)  # Šidák's quantiles for 6 and 2
    assert six.as_json()["differences"][0]["verdict"] == "not clear"


def test_the_items_that_moved_most_come_first():
    a = [{"input": "x", "text": f"w{i}", "contribution": float(i)} for i in range(10)]
    b = [dict(row) for row in a]
    b[3]["contribution"] = -5.0
    b[7]["contribution"] = 8.0
    moved = moved_items("t", a, b)
    assert [item.text for item in moved[:2]] == ["x : w3", "x : w7"]
    assert moved[0].spreads < 0 < moved[1].spreads


def verdict_of(shift, *, use=0.0):
    """Return the verdict on a model whose gap is larger by `shift` and its usefulness by `use`."""
    ends = {"low": 0.44, "high": 0.46, "level": 0.95, "method": "x"}
    base = [biased("base", "t", contributions(1, 0.5))]
    mine = [biased("mine", "t", contributions(2, 0.5) + shift)]
    base.append(similarity("s", "none", 0.45, model="base", interval=ends))
    ends = ends | {"low": 0.44 + use, "high": 0.46 + use}
    mine.append(similarity("s", "none", 0.45 + use, model="mine", interval=ends))
    return compare(base, mine).verdict


def codes(verdict, **options):
    return {failure.code for failure in verdict.failures(**options)}


def test_more_bias_fails_and_less_bias_passes():
    assert codes(verdict_of(0.5)) == {3}
    assert codes(verdict_of(-0.5)) == set()
    assert codes(verdict_of(0.5), fail_on="never") == set()


def test_what_is_not_clear_fails_only_if_asked():
    assert codes(verdict_of(0.0)) == set()
    assert codes(verdict_of(0.0), fail_on="unclear") == {4}
    assert codes(verdict_of(0.0), fail_on="unclear", margin=2.0) == set(), "the margin decides"


def test_a_margin_needs_an_interval_that_is_below_it():
    assert codes(verdict_of(0.0), margin=0.01) == {3}
    assert codes(verdict_of(0.0), margin=2.0) == set()
    assert codes(verdict_of(0.5), margin=3.0) == set()
    assert codes(verdict_of(-0.5), margin=0.01) == set()


def test_usefulness_that_may_have_fallen_by_the_margin_fails():
    assert codes(verdict_of(0.0, use=-0.1), usefulness_margin=0.02) == {5}
    assert codes(verdict_of(0.0), usefulness_margin=0.02) == set()
    assert codes(verdict_of(0.0, use=0.1), usefulness_margin=0.02) == set()


def test_a_comparison_that_could_not_be_made_does_not_pass():
    scores = [similarity("s", "none", 0.4, model=model) for model in ("base", "mine")]
    verdict = compare(scores[:1], scores[1:]).verdict
    assert codes(verdict) == {4}
    assert codes(verdict, fail_on="never") == set()
    assert codes(verdict, fail_on="never", margin=1.0) == {4}


def test_a_verdict_prints_as_text_and_markdown():
    verdict = verdict_of(0.5)
    assert "bias: on this test: more biased" in str(verdict)
    assert "| overall | more biased |" in verdict._repr_markdown_()
    assert verdict.to_polars()["name"].to_list()[:2] == [OVERALL, "gender"]


def test_the_spread_of_three_seeds_widens_the_interval():
    base = [biased("base", "t", contributions(1, 0.5))]

    def seeds(*shifts):
        rows = [
            [biased(f"seed {i}", "t", contributions(2, 0.5 + shift))]
            for i, shift in enumerate(shifts)
        ]
        return judge(base, rows).overall("bias")

    alone, alike, apart = seeds(0.1), seeds(0.1, 0.1, 0.1), seeds(-0.2, 0.1, 0.4)
    assert alike.difference == pytest.approx(alone.difference)
    assert alike.low == pytest.approx(alone.low)
    assert apart.difference == pytest.approx(alone.difference, abs=0.02)
    assert apart.low < alone.low
    mine = [biased("mine", "t", contributions(2, 0.5))]
    assert "unknown" in " ".join(compare(base, mine).verdict.legend())


def test_the_page_applies_the_four_fifths_rule_to_rates_of_selection():
    def row(model, ratio, interval=None):
        rates = {"men": 0.2, "women": 0.2 * ratio}
        return [
            biased(model, "t", contributions(1, 0.5)),
            record(
                "screening", value=ratio, model=model, score="impact_ratio", primary=False,
                ideal=1.0, bounds=(0.0, 1.0), details={"rates": rates}, interval=interval,
            ),
        ]  # fmt: skip

    page = compare(row("base", 0.9), row("mine", 0.7)).verdict.page(licences={"t": "CC0-1.0"})
    for text in ("within four fifths", "below four fifths", "women 14.0%", "CC0-1.0"):
        assert text in page
    wide = {"low": 0.5, "high": 0.9, "level": 0.95, "method": "MOVER-R"}
    page = compare(row("base", 0.9), row("mine", 0.7, wide)).verdict.page()
    assert "below four fifths, not clear" in page
    assert "0.50 to 0.90" in page
