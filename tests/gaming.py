"""Can a model, or a mitigator, look less biased without being so: `python -m tests.gaming MODEL`.

Reads the gaps of all ranked tasks on the vectors of a model, changed in ways that remove no bias,
and judges them as a leaderboard does: as models, by sets of ranks, and as mitigators, by arrows.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

import harness
from harness.arrays import unit_rows
from harness.leaderboard.boards.board import uneven_of
from harness.plugins.mitigators.nuisance import Nuisance
from harness.plugins.validity import checks
from harness.results import estimator, ratios
from harness.run.evaluation import Run
from harness.run.scoring import MetricInputs, gaps_of, too_few, units_of, usable_rows
from harness.run.settings import Settings
from harness.run.tasks import list_tasks
from harness.run.unseen import defining, unseen_rows

Change = Callable[[np.ndarray, Sequence[str]], np.ndarray]
"""From the vectors of texts, of length 1, and the texts, to other vectors."""


def judged_inputs(task: Any) -> Iterator[Any]:
    """Yield the inputs of a task's primary scenario and of its yardstick, which are all we read."""
    for scenario in task.scenarios:
        if scenario.name == task.file.primary.scenario:
            yield from scenario.inputs.values()
    if task.yardstick is not None:
        yield from task.yardstick.texts()


def same(vectors: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """Return the vectors as they are."""
    return vectors


def nuisance(**options: Any) -> Change:
    """Return a change that removes no bias."""
    return Nuisance(**options).transform


def random(vectors: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """Return a random vector for each text."""
    return Nuisance("noise", 1e6).transform(vectors, texts)


def after(first: Change, second: Change) -> Change:
    """Return a change after another."""
    return lambda vectors, texts: second(unit_rows(first(vectors, texts)), texts)


@dataclass(frozen=True, eq=False)
class Bench:
    """The ranked tasks of bias of a model, with the vectors of their texts.

    Parameters
    ----------
    kind
        Of the model.
    tasks
        Those that have a gap and a yardstick.
    vectors
        Vector of each text, of length 1; NaN for one that the model lacks.
    gender
        (1, d) direction of gender, of length 1.
    """

    kind: str
    tasks: Sequence[Any]
    vectors: Mapping[str, np.ndarray]
    gender: np.ndarray

    @classmethod
    def of(cls, model: str, only: Sequence[str] = ()) -> Bench:
        """Return the bench of a model; `only` names its tasks, if not all."""
        registry = harness.Registry()
        kind = registry.embedder(model).info.kind
        names = []
        for entry in list_tasks(registry):
            file = entry.file
            unfit = file.not_ranked or file.large or file.unfit_for(kind) or file.language != "en"
            has_gap = registry.metric(file.primary.metric).gap is not None
            chosen = not only or file.name in only
            if file.measures == "bias" and chosen and has_gap and not unfit:
                names.append(file.name)
        run = Run(registry, Settings.of(), names, ["none"])
        embedder = run.embedder(model)
        run.settle(embedder)
        plan = run.plan(embedder, None)
        tasks = [job.task for job in plan.jobs]
        texts = list(
            dict.fromkeys(text for t in tasks for i in judged_inputs(t) for text in i.texts or ())
        )
        with run.vectors(embedder, model, [*texts, *PAIRS]) as vectors:
            known = unit_rows(vectors.encode(texts)).astype(np.float32)
            ends = unit_rows(vectors.encode(PAIRS))
        gender = np.linalg.svd(ends[0::2] - ends[1::2], full_matrices=False)[2][:1]
        return cls(kind, tasks, dict(zip(texts, known, strict=True)), gender)

    @functools.cached_property
    def references(self) -> pl.DataFrame:
        """What the reference encoder shows, a line a task; where it is unknown, the own."""
        own = self._cells(same)
        lines = []
        for row in own.iter_rows(named=True):
            task = next(task for task in self.tasks if task.name == row["task"])
            held = task.references.get(self.kind)
            known = held or SimpleNamespace(**row, error=row["gap_error"])
            lines.append(
                {
                    "task": row["task"],
                    "reference_gap": known.gap,
                    "reference_error": known.error,
                    "reference_yardstick": known.yardstick,
                    "reference_yardstick_error": known.yardstick_error,
                }
            )
        return pl.DataFrame(lines)

    def cells(
        self, change: Change = same, plant: float | None = None, boost: float = 0.0
    ) -> pl.DataFrame:
        """Return the cells of a row, as `harness.results.estimator` takes them.

        Parameters
        ----------
        change
            What is done to all vectors.
        plant
            Share of the bias that each task has of its own, before the change; None for all.
        boost
            By what share all contrasts of the yardsticks are made larger.
        """
        frame = self._cells(change, plant, boost).join(self.references, on="task", how="left")
        frame = frame.with_columns(
            row=pl.lit("row"), measures=pl.lit("bias"), digest=pl.lit("d"), left_out=None
        )
        return frame.select(*estimator.SCHEMA).cast(estimator.SCHEMA)

    def _cells(
        self, change: Change, plant: float | None = None, boost: float = 0.0
    ) -> pl.DataFrame:
        def vectors_of(input_: Any) -> np.ndarray:
            rows = np.array([self.vectors[text] for text in input_.texts])
            return change(rows, input_.texts)

        lines, yardsticks = [], {}
        for task in self.tasks:
            scenario = next(s for s in task.scenarios if s.name == task.file.primary.scenario)
            gaps = self._gaps(task, scenario, change, plant)
            if gaps is None:
                continue
            yardstick, of, is_evidence = gaps.yardstick, ratios.ITEMS, gaps.is_evidence
            if task.yardstick is not None:
                of = task.yardstick.name
                if of not in yardsticks:
                    contrasts = [
                        gaps_of(task.yardstick, s, vectors_of) for s in task.yardstick.scenarios
                    ]
                    mean = harness.metrics.Gap.mean([c.gap for c in contrasts if c])
                    larger = {unit: d * (1 + boost) for unit, d in mean.deviations.items()}
                    yardsticks[of] = dataclasses.replace(
                        mean,
                        value=mean.value * (1 + boost),
                        deviations=larger,
                        doubled=mean.doubled * (1 + boost) ** 2,
                    )
                yardstick, is_evidence = yardsticks[of], True
            if yardstick is None:
                continue
            part = ratios.ratio_of(gaps.gap, yardstick, of, is_evidence=is_evidence)
            own = ratios.deviations_of(gaps.gap, yardstick, own=of == ratios.ITEMS)
            lines.append(
                {
                    "task": task.name,
                    "method": task.file.family or task.file.primary.metric,
                    "concept": task.file.category,
                    "is_evidence": part.t is not None,
                    "deviations": json.dumps(own),
                    **part.model_dump(include=_PARTS),
                }
            )
        return pl.DataFrame(lines)

    def distances(self, change: Change = same, plant: float | None = None) -> pl.DataFrame:
        """Return, a line a task, how far from fair its shown score, gap and ratio are."""
        lines = []
        for row in self._cells(change, plant).iter_rows(named=True):
            task = next(task for task in self.tasks if task.name == row["task"])
            scenario = next(s for s in task.scenarios if s.name == task.file.primary.scenario)
            use, inputs, _ = self._inputs(task, scenario, change, plant)
            score, groups = task.file.primary.score, {i.name: i.group for i in use.inputs.values()}
            instrument = checks.Instrument(use.metric, score, use.options, inputs, groups)
            shown = instrument.read(inputs, np.random.default_rng(0)).distance
            can_plant = use.metric.contrast is not None
            ratio = abs(row["gap"] / row["yardstick"]) if row["yardstick"] > 0 else None
            metric = task.file.primary.metric
            lines.append(
                (row["task"], row["method"], metric, can_plant, shown, abs(row["gap"]), ratio)
            )
        names = ("task", "method", "metric", "can_plant", "shown", "gap", "ratio")
        return pl.DataFrame(lines, schema=names, orient="row")

    def _gaps(self, task: Any, scenario: Any, change: Change, plant: float | None) -> Any:
        """Return the gaps of a task whose own bias is planted at a share of what it is."""
        found = self._inputs(task, scenario, change, plant)
        if found is None:
            return None
        use, inputs, kept = found
        return use.metric.gaps(inputs.arrays, units_of(use.inputs, kept), use.options)

    def _inputs(self, task: Any, scenario: Any, change: Change, plant: float | None) -> Any:
        """Return the use of the primary metric, its changed inputs, and the rows that are kept."""
        use = next(m for m in scenario.measurements if m.metric.name == task.file.primary.metric)
        own = {
            i.name: np.array([self.vectors[text] for text in i.texts])
            for i in use.inputs.values()
            if i.texts is not None
        }
        kept = usable_rows(use.inputs, own)
        if too_few(use.inputs, kept, task.file.max_missing):
            return None
        words = defining(task.concept or harness.Registry().concept("gender"))
        rows, _ = unseen_rows(use.inputs.values(), words) or ({}, ())
        for group in rows:
            kept[group] &= rows[group]
        inputs = MetricInputs.of(use.inputs, own, kept)
        arrays = dict(inputs.arrays)
        if plant is not None and use.metric.contrast is not None:
            amplitude = checks.amplitude_of(arrays, use.metric.contrast)
            arrays = checks.planted(arrays, use.metric.contrast, plant * amplitude)
        for name, input_ in use.inputs.items():
            if input_.texts is not None:
                arrays[name] = change(unit_rows(arrays[name]), inputs.texts[name])
        return use, checks.with_arrays(inputs, arrays), kept


_PARTS = {"gap", "gap_error", "yardstick", "yardstick_error", "power", "of"}


def summary(rows: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return a line a row: its mean of bias, its rank, and its difference from the first row.

    Parameters
    ----------
    rows
        By its name, the cells of each row; the first one is the base of all differences.

    Returns
    -------
    pl.DataFrame
        `row`; `value`, `low`, `high`, `methods`; `rank`, `rank_low`, `rank_high`; `difference`,
        `difference_low`, `difference_high`, `verdict`, `agree`, `lacks`; `unranked`, why it has no
        rank.
    """
    cells = pl.concat([frame.with_columns(row=pl.lit(name)) for name, frame in rows.items()])
    first, *others = rows
    means = estimator.means(cells)
    ranks = estimator.ranks(means, rows.keys() - means.unusable.keys())
    changes = pl.concat(
        [
            estimator.differences(cells.filter(pl.col("row").is_in([first, row])), [(first, [row])])
            .frame.filter(name="overall")
            .select(pl.lit(row).alias("row"), "difference", "verdict", "agree", "lacks",
                    difference_low="low", difference_high="high")
            for row in others
        ]
    )  # fmt: skip
    unusable = pl.col("row").replace_strict(means.unusable, default=None, return_dtype=pl.String)
    of_means = means.frame.filter(name="overall").select("row", "value", "low", "high", "methods")
    return (
        pl.DataFrame({"row": list(rows)})
        .join(of_means, on="row", how="left", maintain_order="left")
        .join(
            ranks.filter(name="overall").drop("measures", "name"),
            on="row", how="left", maintain_order="left",
        )
        .join(changes, on="row", how="left", maintain_order="left")
        .with_columns(unranked=pl.coalesce(unusable, "unranked"))
    )  # fmt: skip


PAIRS = [
    *("he", "she", "man", "woman", "male", "female", "father", "mother", "boy", "girl"),
    *("his", "her", "son", "daughter"),
]
"""Words of the direction of gender, a male and a female one in turn."""
GENDERED = frozenset(
    (
        *PAIRS,
        *("him", "hers", "men", "women", "brother", "sister", "uncle", "aunt", "husband", "wife"),
        *("lady", "gentleman", "john", "mary", "himself", "herself", "boys", "girls", "males"),
        *("females", "fathers", "mothers", "sons", "daughters", "mr", "mrs"),
    )
)
"""Words that are gendered by definition, which hard debiasing leaves alone."""


def reversed_gender(bench: Bench, times: float) -> Change:
    """Return a change that turns the gender of neutral texts round, `times` as strong; 0 is none.

    With 0 it is what hard debiasing does.
    """
    along = bench.gender

    def change(vectors: np.ndarray, texts: Sequence[str]) -> np.ndarray:
        neutral = [not set(re.findall(r"[a-z']+", text.lower())) & GENDERED for text in texts]
        removed = (1 + times) * (vectors @ along.T) @ along
        return vectors - np.array(neutral)[:, None] * removed

    return change


def without_components(bench: Bench, n: int) -> Change:
    """Return a change that centres the vectors and removes their first components."""
    known = np.array([row for row in bench.vectors.values() if np.isfinite(row).all()])
    middle = known.mean(axis=0)
    sample = known[:: max(1, len(known) // 8000)] - middle
    axes = np.linalg.svd(sample, full_matrices=False)[2][:n]
    return lambda vectors, _: (vectors - middle) - (vectors - middle) @ axes.T @ axes


def first_dimensions(vectors: np.ndarray, texts: Sequence[str], share: int) -> np.ndarray:
    """Return the first one in `share` dimensions of the vectors."""
    return vectors[:, : vectors.shape[1] // share]


SAME, LESS, NOT_LESS, ANY = "the same", "less", "not less", "any"
"""What is right: neither less nor more biased; less; anything but less; anything, since some of ten
components may be those of the concept."""


@dataclass(frozen=True)
class Case:
    """A change of a model, and what is right to say of it beside the model as it is.

    `plant` and `boost` are those of `Bench.cells`.
    """

    right: str
    change: Change = same
    plant: float | None = None
    boost: float = 0.0


def cases(bench: Bench) -> dict[str, Case]:
    """Return the changes of a model by name."""
    noise = nuisance(size=1, seed=1)
    eighth = functools.partial(first_dimensions, share=8)
    return {
        "hard-debiased": Case(LESS, reversed_gender(bench, 0)),
        "gender reversed, as strong": Case(LESS, reversed_gender(bench, 1)),
        "gender reversed, twice as strong": Case(SAME, reversed_gender(bench, 2)),
        **{
            f"planted {share:g} of its bias": Case(LESS if share < 1 else SAME, plant=share)
            for share in (0.0, 0.25, 0.5, 1.0)
        },
        **{
            f"planted {share:g}, and noise 1": Case(SAME if share == 1 else LESS, noise, share)
            for share in (0.0, 0.25, 0.5, 1.0)
        },
        **{
            f"yardsticks boosted by {share:g}": Case(NOT_LESS, boost=share)
            for share in (0.1, 0.2, 0.4, 1.0)
        },
        **{
            f"without {n} components": Case(right, without_components(bench, n))
            for n, right in ((1, NOT_LESS), (3, NOT_LESS), (10, ANY))
        },
        **{f"noise of length {size:g}": Case(SAME, nuisance(size=size)) for size in (0.5, 1, 2)},
        "coin by text": Case(NOT_LESS, nuisance(kind="coin")),
        "coin by word": Case(NOT_LESS, nuisance(kind="word-coin")),
        "times 7": Case(SAME, nuisance(kind="scale", size=7)),
        "a constant of 3": Case(SAME, nuisance(kind="constant", size=3)),
        "an eighth of the dimensions": Case(NOT_LESS, eighth),
        "4 bits": Case(SAME, nuisance(kind="bits", size=4)),
        "signs": Case(NOT_LESS, lambda vectors, _: np.sign(vectors)),
        "random vectors": Case(NOT_LESS, random),
    }


def is_right(right: str, verdict: str | None) -> bool:
    """Return whether a verdict is right: one that is not clear never is wrong."""
    wrong = {SAME: ("less", "more"), LESS: ("more",), NOT_LESS: ("less",), ANY: ()}
    return verdict not in wrong[right]


class Unreading:
    """A model that does not read its texts whole, and so sees no difference where one is.

    Parameters
    ----------
    model
        Registered name of the model.
    name
        What it is reported as, one of `UNREADING`.
    """

    def __init__(self, model: str, name: str) -> None:
        self._model, self._read = harness.Registry().embedder(model), UNREADING[name]
        own = self._model.info
        self.info = dataclasses.replace(
            own, name=name, fingerprint=f"{name}, {own.fingerprint}", aliases=()
        )

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of what is read of the texts."""
        return self._model.encode([self._read(text) for text in texts])

    def lacks(self, texts: Sequence[str]) -> list[bool]:
        """Return whether nothing but the token of unknown words is read of each text."""
        return [self._read(text).strip(" .") in ("", UNKNOWN) for text in texts]


UNKNOWN = "[UNK]"
UNREADING: Mapping[str, Callable[[str], str]] = {
    "cannot read names": functools.partial(re.sub, r"\b[A-Z]\w*", UNKNOWN),
    "cuts all texts": lambda text: text[:6],
}
"""What is read of a text: a cased tokenizer over an uncased vocabulary knows no capitals."""


def judged(bench: Bench) -> pl.DataFrame:
    """Return the summary of a model as it is, and changed; with `right`, what is right to say."""
    changed = cases(bench)
    rows = {"as it is": bench.cells()}
    rows |= {name: bench.cells(c.change, c.plant, c.boost) for name, c in changed.items()}
    right = {name: case.right for name, case in changed.items()}
    return summary(rows).with_columns(right=pl.col("row").replace_strict(right, default=None))


def table_of(model: str) -> str:
    """Return the summary of a registered model as a table in Markdown."""
    lines = [
        "| | bias | interval | ranks | difference | verdict | right is |",
        "| --- | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for row in judged(Bench.of(model)).iter_rows(named=True):
        value = "–" if row["value"] is None else f"{row['value']:.2f}"
        ends = "–" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}"
        places = "–" if row["rank_low"] is None else f"{row['rank_low']} to {row['rank_high']}"
        change = "" if row["difference"] is None else f"{row['difference']:+.2f}"
        verdict = "; ".join(filter(None, (row["verdict"], row["lacks"], row["unranked"])))
        lines.append(
            f"| {row['row']} | {value} | {ends} | {places} | {change} | {verdict} | "
            f"{row['right'] or ''} |"
        )
    return "\n".join(lines) + "\n"


def marked(bench: Bench) -> pl.DataFrame:
    """Return how many yardsticks the warning of uneven ones marks, by what is boosted and how far.

    Boosts are of all contrasts alike, of every second one, and of the largest one alone.
    """
    yardsticks: dict[str, dict[str, float]] = {}
    usual: dict[str, Mapping[str, float]] = {}
    for task in bench.tasks:
        own = task.yardstick
        if own is None or own.name in yardsticks:
            continue
        found = {
            scenario.name: gaps_of(
                own, scenario, lambda i: np.array([bench.vectors[text] for text in i.texts])
            )
            for scenario in own.scenarios
        }
        yardsticks[own.name] = {name: of.gap.value for name, of in found.items() if of is not None}
        held = own.references.get(bench.kind)
        usual[own.name] = {} if held is None else held.contrasts
    lines = []
    for share in (0.0, 0.1, 0.2, 0.4, 1.0):
        counts = {"boost": share, "yardsticks": len(yardsticks)}
        for what, is_boosted in BOOSTED.items():
            boosted = {
                of: {
                    name: gap * (1 + share * is_boosted(place))
                    for place, (name, gap) in enumerate(sorted(own.items(), key=lambda i: -i[1]))
                }
                for of, own in yardsticks.items()
            }
            counts[what] = sum(bool(uneven_of(of, own, usual[of])) for of, own in boosted.items())
        lines.append(counts)
    return pl.DataFrame(lines)


BOOSTED: Mapping[str, Callable[[int], bool]] = {
    "all alike": lambda place: True,
    "every second": lambda place: place % 2 == 0,
    "the largest": lambda place: place == 0,
}
"""Which contrasts are boosted, by their place from the largest."""


def main() -> None:
    """Print the table of a model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    bench = Bench.of(parser.parse_args().model)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=200, float_precision=3):
        print(judged(bench))
        print("yardsticks that are marked as uneven, by the boosted contrasts")
        print(marked(bench))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
