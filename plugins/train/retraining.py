"""Retrains encoders on fairer corpora, over several seeds: tables 6 to 11 of Dolci et al. (2023).

::

    python -m harness.plugins.train.retraining --corpus snli/train_20k.jsonl --out retraining

The steps are those of the commands, one after another: `harness train` on the original corpus,
`harness corpus score` with the encoder that it gives, `harness corpus subtract` and `augment`,
`harness debias`, `harness train` for each row and seed, `harness eval`. Each keeps what it has
done, so the same call goes on after an interruption. The paper trains each encoder once; here each
is trained with several seeds, because two trainings on one corpus differ, too.

Source: Dolci, Azzalini and Tanelli (2023), sections 4 and 5; `docs/findings.md` has its claims.
"""

from __future__ import annotations

import itertools
import json
import math
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, get_args

import click
import numpy as np
from scipy import stats

from harness import folders
from harness.arrays import Floats
from harness.commands import output
from harness.errors import HarnessError, InvalidFile, UsageError
from harness.printing import echo
from harness.progress import Progress, for_terminal
from harness.registry.registry import Registry
from harness.results.formats import comma_separated
from harness.run.debiasing import debias
from harness.run.evaluation import evaluate
from harness.run.scoring import random_generator
from harness.study.significance import holm

from ..bias_score.method import Method
from ..corpora import fair_corpora
from ..corpora.commands import score_once
from ..corpora.entries import entries
from ..corpora.fair_corpora import Splits
from ..corpora.scoring import Corpus, ScoredCorpus
from .settings import TrainSettings
from .training import train

ORIGINAL, HARD_DEBIASED = "original", "hard-debiased"
MEAN_D, MEAN_ABS, OVERALL = "mean d", "mean |d|", "overall"
"""Means over the bias tasks, with and without sign, and over the tasks of usefulness."""
LARGEST_SHARE = 20  # the parts to develop and to test have at most one in so many pairs
CONFIDENCE, ALPHA = 0.95, 0.05
RESOLUTION = 1e-6  # smaller differences count as 0: vectors have the seven digits of float32
CLAIMED = 0.19  # section 5.4: the mean effect size falls "by up to 19%"
USEFULNESS = (
    *("senteval-mr", "senteval-cr", "senteval-subj", "senteval-mpqa", "senteval-sst"),
    *("senteval-sst5", "senteval-trec", "senteval-mrpc", "senteval-sick-e"),
    *("senteval-sick-r", "senteval-sts-b", "sts-14"),
)

Values: TypeAlias = Mapping[str, Floats]
"""By row, the value of each seed."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What is retrained.

    Parameters
    ----------
    corpus
        The pairs, in SNLI's format: a file, or `hf://owner/name`.
    out
        Folder of corpora, models, records and `rows.csv`.
    base
        Word model under the encoders.
    limit
        Only the first so many pairs are taken.
    seeds
        Seeds of training: weights at the start, and the order of the pairs. All share the corpora.
    percentiles
        Pairs with a bias score above each of them are taken out, or added with genders swapped.
    training
        Further options of `TrainSettings`.
    bias, retained, usefulness
        Tasks of associations that should go, of those that should stay, and of SentEval.
    """

    corpus: str
    out: Path
    base: str = "glove-6b-50d"
    limit: int | None = None
    seeds: Sequence[int] = (1, 2, 3)
    percentiles: Sequence[int] = (90, 93, 95, 97)
    training: Mapping[str, Any] = field(default_factory=dict)
    bias: Sequence[str] = ("seat-c6", "seat-c6b", "seat-c7", "seat-c7b", "seat-c8", "seat-c8b")
    retained: Sequence[str] = ("seat-c1", "seat-c2")
    usefulness: Sequence[str] = USEFULNESS


def retrain(setup: Setup, registry: Registry, progress: Progress) -> list[dict[str, Any]]:
    """Do what is left of a retraining, and return the rows of tables 6 to 11."""
    if len(setup.seeds) < 2:
        raise UsageError("one training says nothing of another: name two seeds or more")
    corpora, models = setup.out / "corpora", setup.out / "models"
    original = _split(setup, corpora)

    def trained(row: str, seed: int, corpus: Path, base: str) -> str:
        folder = models / f"{row}-seed{seed}"
        progress.say(f"training {folder.name}")
        settings = TrainSettings(
            base=base, corpus=str(corpus), out=folder, seed=seed, **setup.training
        )
        train(settings, registry=registry, progress=progress)
        return f"sentence-transformers:{folder}?name={folder.name}"

    # Figure 4 of the paper: an encoder that was trained on the original pairs scores them.
    scorer = trained(ORIGINAL, setup.seeds[0], original, setup.base)
    scores, embedder = corpora / "scores.jsonl", registry.embedder(scorer)
    pairs, concept = Corpus(name=str(corpora / "pairs.jsonl")), registry.concept("gender")
    method = Method(vectors=registry.embedder(setup.base))  # they have the direction of gender
    score_once(embedder, concept, pairs, scores, method, overwrite=False, progress=progress)
    corpus_of = {ORIGINAL: original, **_fairer(setup, scores, corpora, progress)}
    # A control: a smaller corpus, whatever the bias scores.
    random = f"random{min(setup.percentiles)}"
    corpus_of[random] = _thin_out(setup, corpora, random)
    # The other way of the paper: the corpus stays, and the word vectors are debiased.
    words = setup.out / "words.safetensors"
    if not words.exists():
        debias(setup.base, "hard-debias", words, registry=registry, progress=progress)
    corpus_of[HARD_DEBIASED] = original
    # Seed by seed, so that a run that is stopped early has rows to compare.
    by_model = {}
    for seed, (row, corpus) in itertools.product(setup.seeds, corpus_of.items()):
        base = f"vectors:{words}" if row == HARD_DEBIASED else setup.base
        model = trained(row, seed, corpus, base)
        by_model[row, seed] = _evaluate(setup, model, registry, progress)
    common = set.intersection(*(set(values) for values in by_model.values()))
    if missing := {task for values in by_model.values() for task in values} - common:
        progress.say(f"left out, since not all models have them: {', '.join(sorted(missing))}")
    by_task = {
        task: {row: np.array([by_model[row, s][task] for s in setup.seeds]) for row in corpus_of}
        for task in common
    }
    return rows(setup, by_task)


def _split(setup: Setup, corpora: Path) -> Path:
    """Write the pairs that have a label, as one file and in three parts; return their folder."""
    folder = corpora / ORIGINAL
    pairs = [dict(e.row) for e in itertools.islice(entries(setup.corpus, "snli"), setup.limit)]
    path = corpora / "pairs.jsonl"
    if not path.exists():
        _write_parts(pairs, folder, setup.corpus)
        folders.write_atomically(path, _lines(pairs))
    elif path.read_bytes() != _lines(pairs):
        raise UsageError(f"'{corpora}' has other pairs; choose another folder with --out")
    return folder


def _fairer(setup: Setup, scores: Path, corpora: Path, progress: Progress) -> dict[str, Path]:
    """Write a corpus for each method and percentile; return their folders by row."""
    corpus, methods = ScoredCorpus(scores, progress), get_args(fair_corpora.Method)
    splits, percentiles = _splits(len(corpus), setup.corpus), [*map(Fraction, setup.percentiles)]
    made = []
    for method in methods:
        change_ = fair_corpora.Change(method=method, percentiles=percentiles, splits=splits)
        made += fair_corpora.make(corpus, change_, corpora, overwrite=False, progress=progress)
    return {fair.path.name: fair.path for fair in made}


def _thin_out(setup: Setup, corpora: Path, row: str) -> Path:
    """Write the pairs without a share that is drawn at random; return their folder."""
    if not (corpora / row).exists():
        lines = (corpora / "pairs.jsonl").read_text("utf-8").splitlines()
        removed = round(len(lines) * (100 - min(setup.percentiles)) / 100)
        order = random_generator(0, "retraining", "random").permutation(len(lines))
        kept = [json.loads(lines[place]) for place in sorted(order[removed:].tolist())]
        _write_parts(kept, corpora / row, setup.corpus)
    return corpora / row


def _splits(n: int, source: str) -> Splits:
    """Return how a corpus of n pairs is split: as in section 4.2.1, if it is large enough."""
    held = min(10_000, n // LARGEST_SHARE)
    if held < 1:
        raise InvalidFile(f"has {n} pairs with a label; {LARGEST_SHARE} are needed", path=source)
    return Splits(holdout=Fraction(held))


def _write_parts(pairs: list[dict[str, Any]], folder: Path, source: str) -> None:
    """Write a corpus in three parts; the folder appears when it is complete."""
    new = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(new, ignore_errors=True)
    for part, places in _splits(len(pairs), source).draw(len(pairs), folder.name).items():
        content = _lines([pairs[place] for place in places.tolist()])
        folders.write_atomically(new / f"{part}.jsonl", content)
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def _lines(pairs: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs).encode()


def _evaluate(setup: Setup, model: str, registry: Registry, progress: Progress) -> dict[str, float]:
    """Return the value of each task: of associations the effect size, else the primary score."""
    store = setup.out / "embeddings"
    records = evaluate(
        model,
        [*setup.bias, *setup.retained, *setup.usefulness],
        results=setup.out / "results",
        cache=store,
        prompts=1,  # trainings are compared under the prompt that they were trained with
        registry=registry,
        progress=progress,
    )
    shutil.rmtree(store, ignore_errors=True)  # the records are written
    primary = {record.task.name: record for record in records if record.primary}
    chosen = dict(primary)
    for record in records:
        task, first = record.task.name, primary[record.task.name]
        same = (record.scenario, record.metric) == (first.scenario, first.metric)
        if same and record.score == "effect_size" and task not in setup.usefulness:
            chosen[task] = record
    return {task: r.value for task, r in chosen.items() if r.value is not None}


def rows(setup: Setup, by_task: Mapping[str, Values]) -> list[dict[str, Any]]:
    """Return the rows of tables 6 to 11: one line for each row and each of its columns.

    Parameters
    ----------
    setup
        Tasks and seeds.
    by_task
        For each task and row, the value of each seed.

    Returns
    -------
    list of dict
        `table`, `row`, `measure`, the value of each `seed…`, `mean`, `sd`; and against the original
        the `change` with `low`, `high` and `p_value` by Student's t over the seeds, `p_holm`
        (corrected over the rows of a mean, or over all cells of a group of tasks), and `percent`.
    """
    groups = (setup.bias, setup.retained, setup.usefulness)
    bias, retained, useful = ([task for task in tasks if task in by_task] for tasks in groups)
    values = dict(by_task)
    means = {MEAN_D: (bias, np.positive), MEAN_ABS: (bias, np.abs), OVERALL: (useful, np.positive)}
    for mean, (tasks, size) in means.items():
        if tasks:
            values[mean] = {
                row: np.mean([size(values[task][row]) for task in tasks], axis=0)
                for row in values[tasks[0]]
            }
    families = ([*bias, *retained], [MEAN_D], [MEAN_ABS], useful, [OVERALL])
    return [
        line
        for family in families
        for line in _lines_of({name: values[name] for name in family if name in values}, setup)
    ]


def _lines_of(family: Mapping[str, Values], setup: Setup) -> list[dict[str, Any]]:
    """Return the lines of measures that Holm's correction joins."""
    lines: list[dict[str, Any]] = [
        {
            "table": _table(row, measure, setup),
            "row": row,
            "measure": measure,
            **{f"seed{s}": float(v) for s, v in zip(setup.seeds, values, strict=True)},
            "mean": float(values.mean()),
            "sd": float(values.std(ddof=1)),
            **(change(values, by_row[ORIGINAL]) if row != ORIGINAL else {}),
        }
        for measure, by_row in family.items()
        for row, values in by_row.items()
    ]
    tested = [line for line in lines if line.get("p_value") is not None]
    for line, p in zip(tested, holm([line["p_value"] for line in tested]), strict=True):
        line["p_holm"] = float(p)
    return lines


def _table(row: str, measure: str, setup: Setup) -> str:
    """Return the number of the paper's table that a cell is in."""
    if measure == OVERALL or measure in setup.usefulness:
        return "10" if measure == OVERALL else "8 and 9"
    by_method = {"sub": "6", "aug": "7", "hard": "11", "orig": "6, 7 and 11", "rand": "control"}
    return next(table for start, table in by_method.items() if row.startswith(start))


def change(values: Floats, before: Floats) -> dict[str, float | None]:
    """Return the mean change, seed by seed, with interval and test by Student's t.

    Without an interval if all changes are equal but not 0: it would have no width. If all are 0, it
    is [0, 0] and p is 1. Percents are left out if the mean before is within its own spread.

    Parameters
    ----------
    values, before
        (n,) a value for each seed, of a row and of the row that it is compared with.
    """
    d = np.asarray(values) - before
    found: dict[str, float | None] = {"change": float(d.mean())}
    if np.ptp(d) > RESOLUTION:
        test = stats.ttest_1samp(d, 0)
        low, high = test.confidence_interval(CONFIDENCE)
        found |= {"low": float(low), "high": float(high), "p_value": float(test.pvalue)}
    elif np.abs(d).max() <= RESOLUTION:
        found = {"change": 0.0, "low": 0.0, "high": 0.0, "p_value": 1.0}
    if abs(before.mean()) > before.std(ddof=1):
        found["percent"] = float(100 * d.mean() / abs(before.mean()))
    return found


def chance_of_claim(by_row: Values) -> tuple[float, float | None]:
    """Return how much two trainings on one corpus differ, and how often by the paper's 19 %.

    The first is the standard deviation of the difference of two seeds, pooled over the rows with
    the original's word vectors. The second is the probability that this difference is 19 % of the
    original's mean or more; None if that mean is within the noise.

    Parameters
    ----------
    by_row
        A mean of effect sizes by row.
    """
    alike = [values for row, values in by_row.items() if row != HARD_DEBIASED]
    df = sum(len(values) - 1 for values in alike)
    squares = sum(float(((values - values.mean()) ** 2).sum()) for values in alike)
    sd = math.sqrt(2 * squares / df)
    mean = abs(float(by_row[ORIGINAL].mean()))
    return sd, float(2 * stats.t.sf(CLAIMED * mean / sd, df)) if mean > sd else None


def show(found: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> None:
    """Print the tables, and what the seeds alone do to the means of effect sizes."""
    echo("mean ± standard deviation over the seeds (change; * p Holm ≤ .05)")
    for title, is_useful in (("Effect sizes (6, 7, 11)", False), ("Usefulness (8 to 10)", True)):
        lines = [line for line in found if (line["table"] in ("8 and 9", "10")) is is_useful]
        cells = {(line["row"], line["measure"]): _cell(line) for line in lines}
        labels, columns = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
        rows = [[row, *(cells[row, column] for column in columns)] for row in labels]
        output.table(["row", *columns], rows, title=title, repeat=1)
    for mean in (MEAN_D, MEAN_ABS):
        lines = [line for line in found if line["measure"] == mean]
        by_row = {line["row"]: np.array([line[f"seed{s}"] for s in seeds]) for line in lines}
        sd, chance = chance_of_claim(by_row)
        often = "" if chance is None else f"; by 19 % or more in {chance:.0%} of all cases"
        echo(f"{mean}: two trainings on one corpus differ by {sd:.3f} (SD){often}")


def _cell(line: Mapping[str, Any]) -> str:
    p_holm = line.get("p_holm")
    mark = "*" if p_holm is not None and p_holm <= ALPHA else ""
    moved = f" ({line['change']:+.3f}{mark})" if "change" in line else ""
    return f"{line['mean']:.3f} ± {line['sd']:.3f}{moved}"


@click.command("retraining")
@click.option("--corpus", default="hf://stanfordnlp/snli", show_default=True, help="The pairs.")
@click.option("--base", default="glove-6b-50d", show_default=True, help="The word model.")
@click.option("--limit", type=int, default=20_000, show_default=True, help="Take N pairs.")
@click.option("--hidden", type=int, default=256, show_default=True, help="The paper: 2048.")
@click.option("--device", help="cpu, cuda or mps.  [default: the best one available]")
@click.option("--seeds", default="1,2,3", show_default=True, help="Seeds of training.")
@click.option("--percentiles", default="90,93,95,97", show_default=True)
@click.option("--usefulness", default=",".join(USEFULNESS), help="Tasks.  [default: SentEval]")
@click.option("--out", type=click.Path(path_type=Path), default="retraining", show_default=True)
def main(hidden: int, device: str | None, **options: Any) -> None:
    """Retrain encoders on fairer corpora: tables 6 to 11 of Dolci et al. (2023)."""
    seeds, percentiles = (map(int, options.pop(key).split(",")) for key in ("seeds", "percentiles"))
    setup = Setup(
        seeds=tuple(seeds),
        percentiles=tuple(percentiles),
        usefulness=options.pop("usefulness").split(","),
        training={"hidden": hidden, "device": device},
        **options,
    )
    found = retrain(setup, Registry(), for_terminal())
    folders.write_atomically(setup.out / "rows.csv", comma_separated(found).encode())
    show(found, setup.seeds)
    echo(f"wrote {setup.out / 'rows.csv'}")


if __name__ == "__main__":
    try:
        main()
    except HarnessError as error:
        echo(f"retraining: {error}", err=True)
        sys.exit(error.exit_code)
