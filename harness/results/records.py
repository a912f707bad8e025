"""The records of an evaluation, as a sequence and as data frames."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar, overload

from harness import names
from harness.errors import Unavailable, UnknownName, UsageError
from harness.results.record import MitigatorPart, ModelPart, Record

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from harness.results.columns import Column, Columns
    from harness.results.formats import Report


# Sequences of records that are data frames, too.


T = TypeVar("T")


class Framed(Sequence[T]):
    """A sequence of records with flat rows, which become a data frame.

    Attributes
    ----------
    columns
        Type of each column; an empty frame has them too.
    """

    columns: ClassVar[Mapping[str, type]]
    _records: Sequence[T]

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the data frames, each a mapping with the names of the columns."""

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame of `rows()`."""
        import polars as pl

        return pl.DataFrame(self.rows(), schema=dict(self.columns))

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame of `rows()`, which the extra `pandas` makes possible.

        Raises
        ------
        Unavailable
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise Unavailable(
                'a pandas data frame needs pandas: pip install "embedding-bias-harness[pandas]"; '
                "to_polars() needs nothing more"
            ) from None
        return pd.DataFrame(self.rows(), columns=list(self.columns))

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[T]:
        return iter(self._records)


# A task that was not run. Light to import: `harness list` needs no schema of records.


Kind: TypeAlias = Literal["embedder", "language", "data", "mitigator", "failed"]
"""Why a task was not run.

`embedder`: the task is made for another kind of embedder. `language`: it is in a language that the
model's card lacks. `data`: its data or a package that it needs is not on this machine. `mitigator`:
the mitigator or a metric does not apply to it. `failed`: something went wrong.
"""
EVERY_TASK = "every task"
"""Name for all tasks of a model that is not available."""


class NotRunWarning(UserWarning):
    """A task failed, or one that was asked for by its own name did not run."""


@dataclass(frozen=True)
class NotRun:
    """A task that was not run for a model and mitigator, and why.

    Parameters
    ----------
    model, mitigator, task
        Their names.
    reason
        Why it was not run, as text.
    kind
        The kind of reason, for programs.
    """

    model: str
    mitigator: str
    task: str
    reason: str
    kind: Kind

    @property
    def failed(self) -> bool:
        """Whether something went wrong; if not, the task was skipped."""
        return self.kind == "failed"


_OF_REFERENCE = (
    *("reference_gap", "reference_error", "reference_yardstick", "reference_yardstick_error"),
)
"""Columns of what the reference encoder shows."""


class Records(Framed[Record]):
    """Records of an evaluation.

    Parameters
    ----------
    records
        The records.
    not_run
        Tasks that were not run, with the reason.
    notices
        Facts that the user should know, a line each.
    texts
        Number of distinct texts that the computed records needed.
    encoded
        Number of texts that were encoded; the others were in the cache.
    seconds
        Time that encoding took; a record has the time of its metric.
    missed
        Tasks that were asked for by name and have no record.
    reused
        Number of records that were computed by an earlier run.
    all_scores
        Whether `print` shows all scores of a task, not only the primary one.

    Attributes
    ----------
    columns
        Columns of the data frames, with their types.
    """

    columns: ClassVar = {
        **dict.fromkeys(("model", "kind", "revision", "fingerprint"), str),
        **dict.fromkeys(("mitigator", "mitigator_name"), str),
        **dict.fromkeys(("mitigator_params", "mitigator_concept"), str),
        "task": str,
        "version": int,
        **dict.fromkeys(("measures", "category", "family", "concept", "scenario"), str),
        **dict.fromkeys(("metric", "score"), str),
        "primary": bool,
        "value": float,
        "reason": str,
        "ideal": str,
        **dict.fromkeys(("p_value", "low", "high", "level"), float),
        "interval_method": str,
        **dict.fromkeys(("floor", "unit", "distance", "above_floor"), float),
        **dict.fromkeys(("gap", "gap_error", "yardstick", "yardstick_error", "t"), float),
        **dict.fromkeys(("ratio", "ratio_low", "ratio_high"), float),
        "yardstick_of": str,
        "power": int,
        **dict.fromkeys(_OF_REFERENCE, float),
        "unseen": str,
        **dict.fromkeys(("unseen_value", "unseen_low", "unseen_high"), float),
        "withheld": int,
        "left_out": str,
        **dict.fromkeys(("n", "clusters", "asked", "found", "seed", "limit"), int),
        **dict.fromkeys(("harness", "id"), str),
    }

    def __init__(
        self,
        records: Iterable[Record],
        *,
        not_run: Iterable[NotRun] = (),
        notices: Iterable[str] = (),
        missed: Iterable[str] = (),
        texts: int = 0,
        encoded: int = 0,
        seconds: float = 0.0,
        reused: int = 0,
        all_scores: bool = False,
    ) -> None:
        self._records: Sequence[Record] = tuple(records)
        self._all_scores = all_scores
        self.not_run = tuple(not_run)
        self.notices, self.missed = tuple(notices), tuple(missed)
        self.texts, self.encoded, self.reused = texts, encoded, reused
        self.seconds = seconds

    @classmethod
    def of_columns(cls, columns: Columns, notices: Iterable[str]) -> Records:
        """Return the records of files; each is built when it is accessed."""
        return cls((), notices=notices)._of(columns)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Records: ...
    def __getitem__(self, index: int | slice) -> Record | Records:
        return self._of(self._records[index]) if isinstance(index, slice) else self._records[index]

    def __repr__(self) -> str:
        return f"<{self._summary()}>"

    def __str__(self) -> str:
        from harness.results import formats

        return formats.plain_text(self._report(), formats.width()).rstrip("\n")

    @property
    def skipped(self) -> tuple[NotRun, ...]:
        """Those of `not_run` that do not apply, or whose data is not available."""
        return tuple(entry for entry in self.not_run if not entry.failed)

    @property
    def failed(self) -> tuple[NotRun, ...]:
        """Those of `not_run` in which something went wrong."""
        return tuple(entry for entry in self.not_run if entry.failed)

    def select(
        self,
        *,
        model: str | Iterable[str] = (),
        mitigator: str | Iterable[str] = (),
        task: str | Iterable[str] = (),
        scenario: str | Iterable[str] = (),
        metric: str | Iterable[str] = (),
        all_scores: bool = False,
    ) -> Records:
        """Return some of the records; without arguments, the primary score of each task.

        Parameters
        ----------
        model, mitigator, task
            Names or globs; by default all. A mitigator is named by its label. A model stands for
            its runs under other prompts, too.
        scenario
            Scenarios, names or globs; by default the primary one of each task.
        metric
            Metrics, names or globs, with all their scores; by default the primary score.
        all_scores
            Whether to keep all scores of all scenarios, so far as the names match.

        Raises
        ------
        UnknownName
            If a name or glob matches no record.
        """
        import polars as pl

        patterns = {
            "model": _tuple(model),
            "mitigator": _tuple(mitigator),
            "task": _tuple(task),
            "scenario": _tuple(scenario),
            "metric": _tuple(metric),
        }
        names = self.flat(_NAMED).with_row_index("place")
        chosen = names
        for name, wanted in patterns.items():
            if wanted:
                chosen = _matching(chosen, name, wanted)
        if not all_scores:
            first = names.filter("primary").unique("task", keep="last").drop("place", "primary")
            chosen = chosen.join(
                first, on="task", how="inner", suffix="_first", maintain_order="left"
            )
            if not patterns["scenario"]:
                chosen = chosen.filter(pl.col("scenario") == pl.col("scenario_first"))
            if not patterns["metric"]:
                for name in ("metric", "score"):
                    chosen = chosen.filter(pl.col(name) == pl.col(f"{name}_first"))
        return self.at(chosen["place"])

    def flat(self, columns: Mapping[str, Column]) -> pl.DataFrame:
        """Return a data frame with a line a record and these columns; see `Columns.flat`."""
        return self.as_columns().flat(columns)

    def over_seeds(self) -> Records:
        """Return the records, with one mean record for runs that differ only in a seed."""
        from harness.results.seeds import over_seeds

        return self._of(over_seeds(self))

    def means(self) -> list[dict[str, Any]]:
        """Return the mean of each model and mitigator over tasks, as all commands print it.

        A row each, with the keys `model`, `mitigator`, `measures`, `name`, `mean` with `low` and
        `high`, `n` and `of` (`n` of `of` scores count), and `left_out`, the names of the tasks that
        do not count, by the reason. `change` is the difference from `none`, a flat mapping, on the
        tasks that count in both.
        """
        from harness.results import tables

        return tables.mean_rows(tables.sections(self))

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per record; its keys are the columns of the data frames.

        `mitigator` is the label, with the options that differ from their defaults. `mitigator_name`
        is the name alone, and `mitigator_params` a JSON object of all hyper-parameters.
        `fingerprint` tells the weights and settings of models of one name apart.

        `distance` is the distance to the ideal in [0, 1], a share of the greatest one within the
        bounds, and `above_floor` that above what chance shows, in `unit`s.

        `ratio` is the `gap` over the `yardstick`, which counts in means over tasks, and `t`
        the yardstick over its error; `left_out` says why a score does not count. `value` is on all
        texts; `unseen_value` is the score that is judged, on words that the mitigator never saw,
        `unseen` says how, and `withheld` how many words that leaves out.

        `means` has the means of these rows: `harness.results.estimator` makes them of the gaps, the
        yardsticks, their errors and those of the reference encoder, by `family`.
        """
        return self.to_polars().to_dicts()

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame of `rows()`."""
        import polars as pl

        from harness.results.columns import families, with_distances

        kinds = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
        schema: Mapping[Any, Any] = {name: kinds[kind] for name, kind in self.columns.items()}
        row: dict[str, Column] = {
            **_ROW,
            "withheld": ("withheld", len, pl.Int64()),
            "low_bound": ("bounds", itemgetter(0), pl.Float64()),
            "high_bound": ("bounds", itemgetter(1), pl.Float64()),
        }
        frame = with_distances(self.flat(row))
        frame = frame.with_columns(family=families(frame, "task_family"))
        return frame.select(*schema).cast(schema)

    def samples(self, folder: Path | str | None = None) -> list[dict[str, Any]]:
        """Return what each item contributes to each score, a flat row each.

        A column of a metric that has the name of a fact about the record, such as `score`, gets the
        name `sample_score`.

        Parameters
        ----------
        folder
            The results folder, if the records are in one.

        Raises
        ------
        UsageError
            If the folder is required, or if none of the records has samples.
        DiskError, InvalidFile
            If a file of samples is not in the folder, or is damaged.
        """
        rows: list[dict[str, Any]] = []
        for record in self:
            facts = {
                "model": record.model.name,
                "mitigator": record.mitigator.label,
                "task": record.task.name,
                "scenario": record.scenario,
                "metric": record.metric,
                "score": record.score,
                "id": record.id,
            }
            for row in record.read_samples(folder):
                own = {f"sample_{key}" if key in facts else key: row[key] for key in row}
                rows.append(facts | own)
        if not rows and any(record.value is not None for record in self):
            raise UsageError(
                "these records have no samples: evaluate with samples=True (or --samples); "
                "a metric may have none"
            )
        return rows

    def _repr_html_(self) -> str:
        from harness.results.formats import html

        return html(self._report())

    def _report(self) -> Report:
        """Return the tables of the scores to print, and how many records there are."""
        from harness.results import tables
        from harness.results.formats import Report, Sentences

        printed = [record for record in self if record.primary or self._all_scores]
        shown = tables.report(tables.sections(printed))
        facts = Sentences("", [self._summary(), *self.notices])
        return Report("", [*shown.parts, facts])

    def _summary(self) -> str:
        """Return how many records there are, and how many tasks were not run."""
        n_models = self.flat({"model": "model.name"})["model"].n_unique()
        facts = [f"{_counted(len(self), 'record')} of {_counted(n_models, 'model')}"]
        if self.not_run:
            n_tasks = len({(entry.model, entry.task) for entry in self.not_run})
            facts.append(f"not run: {n_tasks} (see .not_run), of these failed: {len(self.failed)}")
        return "; ".join(facts)

    def _of(self, records: Sequence[Record]) -> Records:
        """Return some of the records, with all that is known about their run."""
        part = copy.copy(self)
        part._records = records
        return part

    def as_columns(self) -> Columns:
        """Return the records as columns, which is how records of files are stored."""
        from harness.results.columns import Columns

        return Columns.of(self._records)

    def at(self, places: pl.Series) -> Records:
        """Return the records at some places."""
        from harness.results.columns import Columns

        if isinstance(self._records, Columns):
            return self._of(self._records.at(places))
        return self._of(tuple(self._records[place] for place in places))


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _tuple(patterns: str | Iterable[str]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else tuple(patterns)


def _matching(frame: pl.DataFrame, name: str, patterns: Iterable[str]) -> pl.DataFrame:
    """Return the lines whose text in a column matches any pattern; each pattern must match one."""
    import polars as pl

    known = set(frame[name].cast(pl.String).unique().to_list())
    values: set[str] = set()
    for pattern in patterns:
        matches = {value for value in known if value == pattern or fnmatchcase(value, pattern)}
        if not matches:
            raise UnknownName(f"{name} in these records", pattern, known)
        values |= matches
    is_own = pl.col(name).is_in(sorted(values))
    # What other prompts of a model change is part of its interval.
    return frame.filter(
        is_own | pl.col("base").is_in(sorted(values)) if name == "model" else is_own
    )


# One name for each model of many records, and one label for each mitigator.
#
# Runs at different times may have used several names for the same weights and settings, such as a
# registered name and that of a folder. Records that are read together get one of the names.
# Different mitigators may have the same label, such as a class before and after an edit. These
# labels get a suffix.


def unified(columns: Columns, notices: list[str]) -> Columns:
    """Return records, named consistently.

    The name of a model with a page (`url`) is preferred, since it is registered; then the one with
    most records, then the shortest. The other names become aliases.

    Parameters
    ----------
    columns
        The records.
    notices
        Is extended by a line for each further name of a model.
    """
    named = columns.sharing("model", _with_one_name(columns, notices))
    return named.sharing("mitigator", _with_distinct_labels(named))


def _with_one_name(columns: Columns, notices: list[str]) -> list[ModelPart]:
    """Return the models of records, with one name for each fingerprint."""
    models: Sequence[ModelPart] = columns.shared["model"]
    parts: defaultdict[str, dict[str, ModelPart]] = defaultdict(dict)
    counts: Counter[tuple[str, str]] = Counter()
    uses = columns.uses("model")
    for use in uses:
        part = models[use.place]
        parts[part.fingerprint].setdefault(part.name, part)
        counts[part.fingerprint, part.name] += use.n
    for use in sorted(uses, key=lambda use: use.last):  # the last card of a name wins
        part = models[use.place]
        parts[part.fingerprint][part.name] = part
    chosen: dict[str, ModelPart] = {}
    for fingerprint, by_name in parts.items():
        if len(by_name) > 1:
            best = min(
                by_name.values(),
                key=lambda part: (
                    part.url is None,
                    -counts[part.fingerprint, part.name],
                    len(part.name),
                    part.name,
                ),
            )
            others = [name for name in by_name if name != best.name]
            notices += [
                f"{other} is the same model as {best.name}; its records are shown under {best.name}"
                for other in others
            ]
            aliases = dict.fromkeys([*best.aliases, *others])
            chosen[fingerprint] = best.model_copy(update={"aliases": tuple(aliases)})
    return [chosen.get(part.fingerprint, part) for part in models]


def _with_distinct_labels(columns: Columns) -> list[MitigatorPart]:
    """Return mitigators; a label of several methods gets the end of the method's digest."""
    mitigators: Sequence[MitigatorPart] = columns.shared["mitigator"]
    methods: defaultdict[str, set[str]] = defaultdict(set)
    for use in columns.uses("mitigator"):
        part = mitigators[use.place]
        if part.method:
            methods[part.label].add(part.method)

    def distinct(part: MitigatorPart) -> MitigatorPart:
        if len(methods[part.label]) < 2 or not part.method:
            return part
        label = names.with_fingerprint(part.label, part.method)
        return part.model_copy(update={"label": label})

    return [distinct(part) for part in mitigators]


# What an evaluation ran and did not run: counts for each model, and every reason once.


@dataclass(frozen=True)
class Outcome:
    """How many tasks ran on a model.

    Parameters
    ----------
    model
        Name of the model.
    embedder
        Kind of the model, `word` or `text`; empty if no task ran.
    run
        Names of the tasks that have records under at least one mitigator.
    not_run
        Names of the other tasks, by the kind of the reason.
    """

    model: str
    embedder: str
    run: tuple[str, ...]
    not_run: dict[Kind, tuple[str, ...]]

    @property
    def asked(self) -> int:
        """Number of tasks that the model was to run."""
        return len(self.run) + sum(map(len, self.not_run.values()))


@dataclass(frozen=True)
class Reason:
    """Why tasks were not run.

    Parameters
    ----------
    reason
        The reason.
    models, mitigators, tasks
        Names: it holds for each of these models, under each mitigator, on each task.
    """

    reason: str
    models: tuple[str, ...]
    mitigators: tuple[str, ...]
    tasks: tuple[str, ...]

    def line(self, *, verbose: bool) -> str:
        """Return one line; without `verbose`, long lists of tasks are counted."""
        is_short = verbose or len(self.tasks) <= 3
        tasks = ", ".join(self.tasks) if is_short else f"{len(self.tasks)} tasks"
        models, mitigators = ", ".join(self.models), ", ".join(self.mitigators)
        return f"{models} under {mitigators} on {tasks}: {self.reason}"


def outcomes(records: Iterable[Record], not_run: Iterable[NotRun]) -> list[Outcome]:
    """Return the outcome of each model, in the order of the records."""
    kinds: dict[str, str] = {}
    ran: dict[str, dict[str, None]] = {}
    by_model: dict[str, list[NotRun]] = {}
    for record in records:
        kinds[record.model.name] = record.model.kind
        ran.setdefault(record.model.name, {})[record.task.name] = None
    for entry in not_run:
        by_model.setdefault(entry.model, []).append(entry)
    return [
        outcome(model, kinds.get(model, ""), tuple(ran.get(model, ())), by_model.get(model, ()))
        for model in dict.fromkeys([*ran, *by_model])
    ]


def outcome(model: str, embedder: str, run: tuple[str, ...], not_run: Iterable[NotRun]) -> Outcome:
    """Return the outcome of one model.

    A task that did not run under any mitigator counts once: as failed if one of them failed.
    """
    kinds: dict[str, Kind] = {}
    for entry in not_run:
        is_lost = entry.task not in run and entry.task != EVERY_TASK
        if is_lost and (entry.failed or entry.task not in kinds):
            kinds[entry.task] = entry.kind
    return Outcome(
        model=model,
        embedder=embedder,
        run=run,
        not_run={
            kind: tuple(task for task, other in kinds.items() if other == kind)
            for kind in dict.fromkeys(kinds.values())
        },
    )


def reasons(not_run: Iterable[NotRun]) -> list[Reason]:
    """Return why tasks were not run: equal reasons once, over models, mitigators and tasks."""
    entries = [(entry.reason, entry.model, entry.mitigator, entry.task) for entry in not_run]
    by_task = [(r, (m,), (u,), (t,)) for r, m, u, t in dict.fromkeys(entries)]
    by_mitigator = _joined(by_task, 3)
    by_model = _joined(by_mitigator, 2)
    return [Reason(*group) for group in _joined(by_model, 1)]


def _joined(groups: Iterable[Any], i: int) -> list[Any]:
    """Join groups that are equal but for the names at position `i`."""
    joined: dict[tuple[Any, ...], tuple[str, ...]] = {}
    for group in groups:
        rest = (*group[:i], *group[i + 1 :])
        joined[rest] = (*joined.get(rest, ()), *group[i])
    return [(*rest[:i], names, *rest[i:]) for rest, names in joined.items()]


# Sets aside the records of smoke runs (`--limit`): their scores are never ranked or compared.


def set_aside(records: Records) -> tuple[Records, str]:
    """Return the records of whole tasks, and a notice about the others, empty if there are none."""
    limits = records.flat({"limit": "limit"})["limit"]
    n = len(limits) - limits.null_count()
    if not n:
        return records, ""
    noun = "1 record of a smoke run is" if n == 1 else f"{n} records of smoke runs are"
    line = f"{noun} set aside: --limit cut the tasks, so the scores mean nothing"
    return records.at(limits.is_null().arg_true()), line


# The columns of flat frames.


_NAMED: dict[str, Column] = {
    "model": "model.name",
    "base": "model.base",
    "mitigator": "mitigator.label",
    "task": "task.name",
    **{name: name for name in ("scenario", "metric", "score", "primary")},
}
"""The columns by which records are selected."""
_ROW: dict[str, Column] = {
    "model": "model.name",
    "kind": "model.kind",
    "revision": "model.revision",
    "fingerprint": "model.fingerprint",
    "mitigator": "mitigator.label",
    "mitigator_name": "mitigator.name",
    "mitigator_params": "mitigator.params",
    "mitigator_concept": "mitigator.concept",
    "task": "task.name",
    "version": "task.version",
    "measures": "task.measures",
    "task_family": "task.family",
    **{name: name for name in ("category", "concept", "scenario", "metric", "score", "primary")},
    **{name: name for name in ("value", "reason", "ideal", "p_value")},
    "low": "interval.low",
    "high": "interval.high",
    "level": "interval.level",
    "interval_method": "interval.method",
    "floor": "floor.mean",
    "unit": "unit",
    **{name: f"ratio.{name}" for name in ("gap", "gap_error", "yardstick", "yardstick_error", "t")},
    "ratio": "ratio.value",
    "ratio_low": "ratio.low",
    "ratio_high": "ratio.high",
    "yardstick_of": "ratio.of",
    "unseen": "unseen.kind",
    "unseen_value": "unseen.value",
    "unseen_low": "unseen_interval.low",
    "unseen_high": "unseen_interval.high",
    **{name: f"ratio.{name}" for name in ("power", *_OF_REFERENCE)},
    "n": "n",
    "clusters": "clusters",
    "unranked": "task.unranked",
    "asked": "coverage.asked",
    "found": "coverage.found",
    "harness": "environment.harness",
    **{name: name for name in ("seed", "limit", "id")},
}
"""The columns of the data frames of records."""
