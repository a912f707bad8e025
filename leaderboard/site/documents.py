"""The content of static pages: a document for each model, task, mitigator, benchmark and concept.

A name that two boards have is one document. Computes no number: all come from the boards, as those
of leaderboard.csv.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import polars as pl

from harness.results.ratios import LESS, MORE
from harness.results.tables import judged_lines

from ..boards.board import Benchmark, Board
from ..boards.findings import count
from ..boards.views import ENDS, PREFIXES
from .payload import layout_of, model_entries, task_entry
from .registered import NOTHING, Registered
from .rendering import significant, slug

MOST = 100
"""Most models in a document that is not of a model; leaderboard.csv has all."""
LARGE = 20_000
"""Most numbers (models × tasks) of a board whose models have all tasks and benchmarks. The models
of a larger one have no numbers of single tasks, and the first benchmark: else their pages would
take as much room as all records."""
CELL_DIGITS = 4
"""Significant digits of the numbers of single tasks."""


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A number with its 95 % interval; null where it is not known."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Place:
    """A rank from 1, and the range that holds the true one; null where there is none."""

    rank: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The ranks of a model on a benchmark."""

    benchmark: str
    bias: Place
    usefulness: Place


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a mitigator changes in a model, against the model without one."""

    model: str
    mitigator: str
    base: float | None
    """The bias of the model, on the tasks of both."""
    bias: float | None
    """The same with the mitigator."""
    change: Mean
    """The difference of the two: below 0 is less bias."""
    verdict: str
    """What it shows on these tests, in words, and how many methods agree."""
    usefulness: float | None
    """The change in usefulness: above 0 is more useful."""
    unusable: str | None
    """Why the model is not usable under the mitigator."""


@dataclass(frozen=True, kw_only=True)
class MeanEffect:
    """What a mitigator changes on a benchmark, over models."""

    benchmark: str
    title: str
    mitigator: str
    models: int
    usable: int
    """On how many of the models it is usable and compared."""
    less: int
    more: int
    """On how many of these it is shown to leave less or more bias."""
    change: float | None
    usefulness: float | None
    """Mean changes over these models."""
    over: str
    """The names of these models."""
    note: str | None


@dataclass(frozen=True, kw_only=True)
class ModelOnBoard:
    """A model on the board of one kind of embeddings."""

    kind: str
    reference: str
    """The model whose bias is 1."""
    not_ranked: str | None
    """Why it has no rank on `first`."""
    notes: list[str]
    facts: dict[str, str]
    bias: Mean
    """1 is as biased as the reference model, 0 is fair."""
    usefulness: Mean
    """1 is the best possible."""
    first: str
    """The benchmark that the board begins with."""
    ranked: int
    """Number of models that are ranked on it."""
    benchmarks: list[Standing]
    """Ranks, on `first` at the beginning. A large board has these alone."""
    concepts: dict[str, float]
    """Bias by concept, in the unit of `bias`."""
    mitigators: list[Effect]
    judged: list[str]
    """How these are judged."""
    tasks: dict[str, float]
    """Of bias: how many times as strong as the yardstick. Of usefulness: from 0 to 1. Empty on a
    large board."""
    has: int
    """Number of tasks with a number that counts."""
    missing: dict[str, str]
    """Why a task has no number that counts. Empty on a large board."""
    lacks: int
    """Number of these tasks."""


@dataclass(frozen=True, kw_only=True)
class Value:
    """A model on a task, without a mitigator."""

    model: str
    path: str
    value: float | None
    """The score of the task."""
    low: float | None
    high: float | None
    """The ends of its 95 % interval."""
    measure: float | None
    """As in `ModelOnBoard.tasks`."""


@dataclass(frozen=True, kw_only=True)
class TaskOnBoard:
    """A task on a board."""

    kind: str
    title: str
    description: str
    measures: str
    not_ranked: str | None
    facts: dict[str, str]
    models: int
    """Number of models with a value."""
    values: list[Value]
    """The first of them, the least biased or most useful first."""


@dataclass(frozen=True, kw_only=True)
class MitigatorOnBoard:
    """A mitigator on a board."""

    kind: str
    reference: str
    """The model whose bias is 1."""
    summary: str
    benchmarks: list[MeanEffect]
    models: int
    """Number of models that it was run on."""
    effects: list[Effect]
    """The first of them."""
    judged: list[str]
    """How it is judged."""


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A model that is ranked on a benchmark."""

    model: str
    path: str
    bias: Place
    bias_mean: Mean
    """On the tasks of the benchmark."""
    usefulness: Place
    usefulness_mean: float | None
    """On these tasks."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkOnBoard:
    """A benchmark on a board."""

    kind: str
    reference: str
    """The model whose bias is 1."""
    title: str
    description: str
    citation: str
    version: int | None
    finding: str
    notices: list[str]
    tasks: list[str]
    models: int
    """Number of models that are ranked."""
    ranks: list[Ranked]
    mitigators: list[MeanEffect]


@dataclass(frozen=True, kw_only=True)
class Bias:
    """The bias of a model by one concept."""

    model: str
    path: str
    bias: float
    low: float | None
    high: float | None
    """The ends of the 95 % interval."""


@dataclass(frozen=True, kw_only=True)
class ConceptOnBoard:
    """A concept on a board."""

    kind: str
    reference: str
    tasks: list[str]
    finding: str
    models: int
    biases: list[Bias]
    """The first models, the least biased first."""


OnBoard: TypeAlias = (
    ModelOnBoard | TaskOnBoard | MitigatorOnBoard | BenchmarkOnBoard | ConceptOnBoard
)


@dataclass(frozen=True)
class Document:
    """The content of a page: what each board has of a name."""

    kind: str
    """`model`, `task`, `mitigator`, `benchmark` or `concept`."""
    name: str
    boards: list[Any]
    """Of `OnBoard`, all of one type."""

    @property
    def path(self) -> str:
        """Path of the page in the site."""
        return path_of(self.kind, self.name)


def path_of(kind: str, name: str) -> str:
    """Return the path of the page of an entity in the site."""
    return f"{kind}/{slug(name)}.html"


def documents_of(
    boards: Iterable[Board],
    registered: Registered = NOTHING,
    submitters: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> dict[str, list[Document]]:
    """Return the documents of all boards by kind: models and so on, the best of a board first.

    Parameters
    ----------
    boards
        The boards.
    registered
        Facts of registered models, mitigators and tasks. They come before those of records.
    submitters
        The people who submitted results of a model, by its name and fingerprint.
    """
    parts = [_Parts(board, registered, submitters or {}) for board in boards]
    by_kind: dict[str, list[Mapping[str, Any]]] = {
        "model": [part.models() for part in parts],
        "task": [part.tasks() for part in parts],
        "mitigator": [part.mitigators() for part in parts],
        "benchmark": [part.benchmarks() for part in parts],
        "concept": [part.concepts() for part in parts],
    }
    return {
        kind: [Document(kind, name, of_boards) for name, of_boards in _joined(by_name).items()]
        for kind, by_name in by_kind.items()
    }


def _joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return what each board has of a name, by name."""
    joined: defaultdict[str, list[Any]] = defaultdict(list)
    for part in parts:
        for name, of_board in part.items():
            joined[name].append(of_board)
    return dict(joined)


class _Parts:
    """The parts of the documents that come from one board."""

    def __init__(
        self,
        board: Board,
        registered: Registered,
        submitters: Mapping[tuple[str, str], Sequence[str]],
    ) -> None:
        self._board, self._registered = board, registered
        self._reference = board.reference or "the reference model"
        self._judged = board.judged
        self._tasks = {task["task"]: task for task in board.tasks.to_dicts()}
        layout = layout_of(board)
        entries = model_entries(board, layout, registered, submitters)
        self._entries = {entry["name"]: entry for entry in entries}
        # A row a model, the one without a mitigator if there is one; the best first.
        numbers = board.rows.select(~pl.selectors.starts_with("task:"))
        self._rows = significant(
            numbers.join(
                layout.models.select("row"), on="row", how="semi", maintain_order="left"
            ).unique("model", keep="first", maintain_order=True)
        )
        self._model_of = dict(self._rows.select("row", "model").iter_rows())
        self._paths = {model: path_of("model", model) for model in self._rows["model"]}

    @cached_property
    def _cells(self) -> pl.DataFrame:
        """The cells of these rows; `measure` is null where nothing counts."""
        lacks = self._board.lacks.select("row", "task", lacks=pl.lit(value=True))
        return (
            self._board.cells.select("row", "task", "value", "low", "high", "measure")
            .join(self._rows.select("row"), on="row", how="semi", maintain_order="left")
            .join(lacks, on=["row", "task"], how="left", maintain_order="left")
            .join(self._board.tasks.select("task", "measures"), on="task", maintain_order="left")
            .with_columns(measure=pl.when(pl.col("lacks").is_null()).then("measure"))
            .with_columns(pl.col("value", "low", "high", "measure").round_sig_figs(CELL_DIGITS))
        )

    def models(self) -> dict[str, ModelOnBoard]:
        """Return the models, the best first."""
        board, first = self._board, self._board.benchmarks[0]
        prefix = PREFIXES[self._deciding(first)]
        has_rank = set(board.first.rows.drop_nulls(f"{prefix}rank")["row"])
        cells = self._cells.drop_nulls("measure")
        lacks = board.lacks.join(self._rows.select("row"), on="row", how="semi")
        has, lacking = (dict(frame.group_by("row").len().iter_rows()) for frame in (cells, lacks))
        is_large = self._rows.height * len(self._tasks) > LARGE
        if is_large:
            cells, lacks = cells.head(0), lacks.head(0)
        measures = _by_row(cells.select("row", "task", "measure"))
        missing = _by_row(lacks.select("row", "task", "reason"))
        effects: defaultdict[str, list[Effect]] = defaultdict(list)
        for effect in self._effects:
            effects[effect.model].append(effect)
        standings: defaultdict[str, list[Standing]] = defaultdict(list)
        for part in board.benchmarks[:1] if is_large else board.benchmarks:
            for line in board.view(part.name).rows.to_dicts():
                if any(line[prefix + "rank"] for prefix in PREFIXES.values()):
                    standings[line["row"]].append(Standing(benchmark=part.name, **_places(line)))
        concepts = [name for name in self._rows.columns if name.startswith("bias:")]
        found = {}
        for row in self._rows.to_dicts():
            key, entry = row["row"], self._entries[row["model"]]
            found[row["model"]] = ModelOnBoard(
                kind=board.kind,
                reference=self._reference,
                not_ranked=None if key in has_rank else _why_not(row, row[f"{prefix}unranked"]),
                notes=_notes(row, entry),
                facts=_model_facts(entry),
                bias=_mean(row, "bias"),
                usefulness=_mean(row, "usefulness"),
                first=first.name,
                ranked=len(has_rank),
                benchmarks=standings[key],
                concepts={
                    name.partition(":")[2]: row[name] for name in concepts if row[name] is not None
                },
                mitigators=effects[row["model"]],
                judged=judged_lines(self._judged if effects[row["model"]] else {}),
                tasks=measures[key],
                has=has.get(key, 0),
                missing=missing[key],
                lacks=lacking.get(key, 0),
            )
        return found

    def tasks(self) -> dict[str, TaskOnBoard]:
        """Return the tasks, in the order of the board."""
        values: defaultdict[str, list[Value]] = defaultdict(list)
        counts: defaultdict[str, int] = defaultdict(int)
        frame = self._cells.drop_nulls("value")
        is_useful = pl.col("measures") == "usefulness"
        loss = pl.when(is_useful).then(-pl.col("measure")).otherwise(pl.col("measure").abs())
        numbers = ("value", "low", "high", "measure")
        lines = frame.sort(loss, "row", nulls_last=True).select("row", "task", *numbers)
        for row, task, *own in lines.iter_rows():
            counts[task] += 1
            if len(values[task]) < MOST:
                cell: dict[str, Any] = dict(zip(numbers, own, strict=True))
                values[task].append(Value(**cell, **self._link(self._model_of[row])))
        found = {}
        for name, task in self._tasks.items():
            entry = task_entry(task, self._registered)
            found[name] = TaskOnBoard(
                kind=self._board.kind,
                title=entry["title"] or name,
                description=entry["description"],
                measures=entry["measures"],
                not_ranked=entry["not_ranked"],
                facts=_task_facts(entry),
                models=counts[name],
                values=values[name],
            )
        return found

    def mitigators(self) -> dict[str, MitigatorOnBoard]:
        """Return the mitigators, the best first."""
        board = self._board
        effects: defaultdict[str, list[Effect]] = defaultdict(list)
        for effect in self._effects:
            effects[effect.mitigator].append(effect)
        means: defaultdict[str, list[MeanEffect]] = defaultdict(list)
        for part in board.benchmarks:
            for line in self._mean_effects(part):
                means[line.mitigator].append(line)
        fitted = dict(
            board.cells.join(board.rows.select("row", label="mitigator"), on="row")
            .select("label", "mitigator")
            .unique()
            .iter_rows()
        )
        return {
            label: MitigatorOnBoard(
                kind=board.kind,
                reference=self._reference,
                summary=self._registered.mitigator(fitted.get(label, label)),
                benchmarks=means[label],
                models=len(effects[label]),
                effects=effects[label][:MOST],
                judged=judged_lines({label: self._judged[label]}),
            )
            for label in [*board.first.mitigators["mitigator"], *sorted(effects)]
        }

    def benchmarks(self) -> dict[str, BenchmarkOnBoard]:
        """Return the benchmarks, the default first."""
        found = {}
        for part in self._board.benchmarks:
            view = self._board.view(part.name)
            places = [f"{prefix}rank" for prefix in PREFIXES.values()]
            ranked = view.rows.filter(pl.any_horizontal(pl.col(places).is_not_null()))
            lines = significant(ranked.sort(*places, "row", nulls_last=True)).to_dicts()
            found[part.name] = BenchmarkOnBoard(
                kind=self._board.kind,
                reference=self._reference,
                title=part.title,
                description=part.description,
                citation=part.citation,
                version=part.version,
                finding=view.finding,
                notices=list(view.notices),
                tasks=list(part.tasks),
                models=len(lines),
                ranks=[
                    Ranked(
                        **self._link(self._model_of[line["row"]]),
                        **_places(line),
                        bias_mean=_mean(line, "bias"),
                        usefulness_mean=line["usefulness"],
                    )
                    for line in lines[:MOST]
                ],
                mitigators=self._mean_effects(part),
            )
        return found

    def concepts(self) -> dict[str, ConceptOnBoard]:
        """Return the concepts of the bias tasks, sorted."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for task in self._tasks.values():
            if task["measures"] == "bias":
                names[task["category"]].append(task["task"])
        models = self._rows.filter(pl.col("unusable").is_null(), role="model")
        first = self._board.first.benchmark
        by_concept = {
            view.concept: view
            for view in self._board.views
            if (view.benchmark, view.language) == (first, "")
        }
        found = {}
        for concept, tasks in sorted(names.items()):
            view = by_concept.get(concept)
            own: list[dict[str, Any]] = []
            if view is not None:
                rows = view.rows.drop_nulls("bias").join(models.select("row", "model"), on="row")
                own = significant(rows.sort("bias", "model")).to_dicts()
            found[concept] = ConceptOnBoard(
                kind=self._board.kind,
                reference=self._reference,
                tasks=tasks,
                finding=view.finding if view else "No task of it is ranked.",
                models=len(own),
                biases=[
                    Bias(
                        bias=line["bias"],
                        low=line["bias_low"],
                        high=line["bias_high"],
                        **self._link(line["model"]),
                    )
                    for line in own[:MOST]
                ],
            )
        return found

    @cached_property
    def _effects(self) -> list[Effect]:
        """The effects of mitigators on each model."""
        frame = self._board.effects.sort("on", "mitigator", "row")
        return [
            Effect(
                model=line["on"],
                mitigator=line["mitigator"],
                unusable=line["unusable"],
                base=line["base"],
                bias=line["model"],
                change=_mean(line, "difference"),
                verdict=verdict_text(line),
                usefulness=line["usefulness_difference"],
            )
            for line in significant(frame).to_dicts()
        ]

    def _mean_effects(self, part: Benchmark) -> list[MeanEffect]:
        return [
            MeanEffect(benchmark=part.name, title=part.title, **line)
            for line in significant(self._board.view(part.name).mitigators).to_dicts()
        ]

    def _deciding(self, part: Benchmark) -> str:
        """Return what a benchmark ranks by."""
        has_bias = any(self._tasks[task]["measures"] == "bias" for task in part.tasks)
        return "bias" if has_bias else "usefulness"

    def _link(self, model: str) -> dict[str, Any]:
        return {"model": model, "path": self._paths[model]}


def _by_row(frame: pl.DataFrame) -> defaultdict[str, dict[str, Any]]:
    """Return the third column by the second, by the first."""
    found: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for row, name, value in frame.iter_rows():
        found[row][name] = value
    return found


def _mean(line: Mapping[str, Any], name: str) -> Mean:
    return Mean(value=line[name], low=line[f"{name}_low"], high=line[f"{name}_high"])


def verdict_text(line: Mapping[str, Any]) -> str:
    """Return what a change shows on these tests, and how many methods agree, as the page has it.

    Parameters
    ----------
    line
        Of `View.effects`.
    """
    if line["verdict"] is None:
        return ""
    is_shown = line["verdict"] in (LESS, MORE)
    text = f"{line['verdict']} biased" if is_shown else line["verdict"]
    depends = f"depends on {line['depends_on']}" if line["depends_on"] else ""
    if line["reason"] and line["reason"] != depends:
        text += f": {line['reason']}"
    ways = f"{line['agree']} of {count(line['compared'], 'method')} agree"
    return "; ".join(part for part in (text, ways, depends) if part)


def _place(line: Mapping[str, Any], prefix: str) -> Place:
    rank, low, high = (line[f"{prefix}{end}"] for end in ENDS)
    return Place(rank=rank, low=low, high=high)


def _places(line: Mapping[str, Any]) -> dict[str, Any]:
    return {measures: _place(line, prefix) for measures, prefix in PREFIXES.items()}


def _why_not(row: Mapping[str, Any], reason: str | None) -> str:
    """Return why a row has no rank on a benchmark."""
    if row["role"] == "reference":
        return "a reference to compare with, which is never ranked"
    if row["role"] == "mitigated":
        return "run under a mitigator only, and models are ranked without one"
    return reason or "no task counts"


def _notes(row: Mapping[str, Any], entry: Mapping[str, Any]) -> list[str]:
    notes = []
    if row["uneven"] is not None:
        notes.append(
            f"Uneven yardstick: {row['uneven']}. A larger yardstick makes bias look smaller, so "
            "compare this model with care."
        )
    if entry["superseded_by"]:
        notes.append(f"Superseded by {entry['superseded_by']}.")
    return notes


def _model_facts(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return what is known of a model, in words."""
    weights = {None: "", True: "open", False: "not open"}[entry["open_weights"]]
    return _known(
        {
            "Encoder": entry["encoder"],
            "Superseded by": entry["superseded_by"],
            "Web page": entry["url"],
            "Licence": entry["licence"],
            "Weights": weights,
            "Languages": ", ".join(entry["languages"]),
            "Dimensions": entry["dimensions"],
            "Parameters": entry["parameters"],
            "Longest text in tokens": entry["max_tokens"],
            "Released": entry["released"],
            **{f"Published {name}": f"{value:g}" for name, value in entry["published"].items()},
            "Revision": entry["revision"],
            "Fingerprint": entry["fingerprint"],
            "Submitted by": ", ".join(entry["submitters"]),
        }
    )


def _task_facts(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return what is known of a task, in words."""
    ideal, ends = entry["ideal"], (entry["low_bound"], entry["high_bound"])
    best = f"{ideal} is better" if isinstance(ideal, str) else f"the ideal is {ideal:g}"
    bounds = "" if None in ends else f"; from {ends[0]:g} to {ends[1]:g}"
    return _known(
        {
            "Measures": entry["measures"],
            "Concept": entry["category"],
            "Method": entry["family"],
            "Language": entry["language"],
            "Score": f"{entry['score']} of {entry['metric']}: {best}{bounds}",
            "Yardstick": entry["yardstick_of"],
            "Version": entry["version"],
            "Source": entry["source"],
            "Licence": entry["licence"],
        }
    )


def _known(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts that are known, as texts."""
    return {
        name: f"{value:,}" if isinstance(value, int) else str(value)
        for name, value in facts.items()
        if value not in (None, "")
    }
