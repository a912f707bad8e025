"""Every score of three real models beside the kept ones: no change moves a number unseen.

    python perf/golden.py [--model glove-6b-50d] [--task 'weat-*'] [--keep]

Computes the records of a small word model, a larger one and a text encoder on all tasks that need
neither a network nor HARNESS_DATA, under eight mitigators, and the summaries of two studies. Prints
each number that differs from `tests/reference/golden.tsv.xz`, and exits with 1 if there is one:

- values, on all texts and as they are judged, gaps and yardsticks by more than 1e-9
- intervals by more than 1e-6
- what is drawn (floors, p-values, bootstrapped intervals) by more than 3 standard errors of a
  difference of two draws

Means, ranks and ids are not kept. `--keep` writes the file anew: CHANGELOG.md then says why.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Before anything of the harness is imported: no data but what is installed, and no network.
os.environ.pop("HARNESS_DATA", None)
os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import lzma

import polars as pl

import harness

KEPT = Path(__file__).parents[1] / "tests" / "reference" / "golden.tsv.xz"
GENERAL = ["none", "normalize", "hard-debias", "leace", "inlp", "sent-debias"]
ON_WORDS = [*GENERAL, "double-hard-debias", "half-sibling-regression"]
MITIGATORS = {"glove-6b-50d": ON_WORDS, "en-core-web-md": ON_WORDS, "all-MiniLM-L6-v2": GENERAL}
STUDIES = {"glove-6b-50d": "religion", "all-MiniLM-L6-v2": "context-injection-or-anonymization"}
KEY = ["model", "mitigator", "task", "scenario", "score"]
DIGITS = {
    **dict.fromkeys(("value", "judged", "gap", "yardstick"), 11),
    **dict.fromkeys(("low", "high"), 8),
    **dict.fromkeys(("p_value", "floor", "floor_sd"), 5),
}
"""Digits behind the point that are kept: one more than is compared."""
COLUMNS = [*KEY, *DIGITS, "draws", "n", "bootstrap"]


def main() -> int:
    """Compute, compare or keep, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", choices=MITIGATORS, help="repeatable")
    parser.add_argument("--task", action="append", help="name or pattern; repeatable; no studies")
    parser.add_argument("--keep", action="store_true", help="write the file anew")
    arguments = parser.parse_args()
    if arguments.keep and (arguments.model or arguments.task):
        parser.error("--keep writes all numbers: leave out --model and --task")
    models = arguments.model or list(MITIGATORS)
    parts = [scores(model, arguments.task or ["all"]) for model in models]
    if not arguments.task:
        parts += [study(model) for model in models if model in STUDIES]
    new = pl.concat(parts).sort(KEY)
    if arguments.keep:
        KEPT.write_bytes(lzma.compress(new.write_csv(separator="\t").encode(), preset=9))
        print(f"{new.height:,} rows, {KEPT.stat().st_size:,} bytes in {KEPT}")
        return 0
    kept = pl.read_csv(lzma.decompress(KEPT.read_bytes()), separator="\t", schema=new.schema)
    kept = kept.filter(pl.col("model").is_in(models))
    if arguments.task:
        kept = kept.filter(pl.col("task").is_in(new["task"].unique().implode()))
    found = list(differences(kept, new))
    for line in found:
        print(line)
    print(f"{kept.height:,} and {new.height:,} rows, {len(found):,} differences")
    return 1 if found or not new.height else 0


def scores(model: str, tasks: list[str]) -> pl.DataFrame:
    """Return a row for each score of a model."""
    print(f"{model} …", file=sys.stderr, flush=True)
    records = harness.evaluate(
        model, tasks=tasks, mitigators=MITIGATORS[model], prompts=1, workers=os.cpu_count()
    )
    if records.failed:
        sys.exit("\n".join(str(failure) for failure in records.failed))
    rows = [
        {
            "model": model,
            "mitigator": record.mitigator.name,
            "task": record.task.name,
            "scenario": record.scenario,
            "score": f"{record.metric}.{record.score}",
            "value": record.value,
            "judged": record.judged().value,
            "gap": record.ratio and record.ratio.gap,
            "yardstick": record.ratio and record.ratio.yardstick,
            "low": record.interval and record.interval.low,
            "high": record.interval and record.interval.high,
            "p_value": record.p_value,
            "floor": record.floor and record.floor.mean,
            "floor_sd": record.floor and record.floor.sd,
            "draws": record.floor and record.floor.draws,
            "n": record.n,
            "bootstrap": bool(record.interval and "bootstrap" in record.interval.method),
        }
        for record in records
    ]
    return table(rows)


def study(model: str) -> pl.DataFrame:
    """Return a row for each value of a study on a model."""
    name = STUDIES[model]
    print(f"{name} …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as results:
        run = harness.run_study(name, results=results, workers=os.cpu_count() or 1)
    rows = [
        {
            "model": model,
            "mitigator": record.row,
            "task": name,
            "scenario": f"repeat {record.repeat} fold {record.fold}",
            "score": f"{measure} by {criterion}",
            "value": value,
            "floor": judged.floors.get(measure),
        }
        for record in run
        for criterion, judged in record.judged.items()
        for measure, value in judged.values.items()
    ]
    return table(rows)


def table(rows: list[dict[str, object]]) -> pl.DataFrame:
    """Return rows as a frame of rounded numbers."""
    types = {**dict.fromkeys(KEY, pl.String), **dict.fromkeys(DIGITS, pl.Float64)}
    types |= {"draws": pl.Int64, "n": pl.Int64, "bootstrap": pl.Boolean}
    frame = pl.DataFrame(rows, schema={name: types[name] for name in COLUMNS})
    # -0.0 + 0 is 0, which a text file keeps.
    return frame.with_columns(pl.col(name).round(digits) + 0 for name, digits in DIGITS.items())


def differences(kept: pl.DataFrame, new: pl.DataFrame) -> Iterator[str]:
    """Yield a line for each row that only one frame has, and for each number that differs."""
    for mine, other, where in ((kept, new, "kept"), (new, kept, "new")):
        for row in mine.join(other, on=KEY, how="anti").sort(KEY).iter_rows(named=True):
            yield f"only {where}: {' '.join(row[name] for name in KEY)}"
    both = kept.join(new, on=KEY, suffix="_new")
    for name in [*DIGITS, "n"]:
        old, now = pl.col(name), pl.col(f"{name}_new")
        differs = old.is_null() != now.is_null()
        far = (old - now).abs() > tolerance(name)
        for row in both.filter(differs | far).sort(KEY).iter_rows(named=True):
            label = " ".join(row[part] for part in KEY)
            yield f"{label}: {name} {row[name]} became {row[f'{name}_new']}"


def tolerance(name: str) -> pl.Expr:
    """Return the difference of a column up to which two numbers count as equal.

    What is drawn is compared with three standard errors of the difference of two draws. For the
    ends of a bootstrapped interval, the standard error of a normal quantile: sqrt(q(1 - q) / B)
    over the density at it.
    """
    draws = pl.col("draws").fill_null(1000)
    two_draws = 3 * (2 / draws).sqrt()
    if name in ("low", "high"):
        spread = (pl.col("high") - pl.col("low")) / (2 * 1.96)
        error = (0.025 * 0.975) ** 0.5 / 0.0584 * spread
        return pl.when("bootstrap").then(error * two_draws).otherwise(0) + 1e-6
    if name == "p_value":
        p = pl.col("p_value").clip(0, 1)
        return (p * (1 - p)).sqrt() * two_draws + 3 / draws
    if name == "floor":
        return pl.col("floor_sd").fill_null(0) * two_draws + 1e-5
    if name == "floor_sd":
        return pl.col("floor_sd") * two_draws + 1e-5
    return pl.lit(1e-9 if name != "n" else 0.0)


if __name__ == "__main__":
    sys.exit(main())
