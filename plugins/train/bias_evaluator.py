"""The bias of a model while sentence-transformers trains it, and a bound at which to stop.

`BiasEvaluator` is an evaluator of the library's trainer, which reports what it returns. A
`BoundStoppingCallback` reads these reports. Both work with any trainer and loss of the library, and
know nothing of `harness train`.
"""

from __future__ import annotations

import csv
import functools
import logging
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from sentence_transformers import SentenceTransformer
from sentence_transformers.base.evaluation import BaseEvaluator
from transformers import TrainerCallback

from harness import names, parallel
from harness.embedder import ModelInfo
from harness.errors import HarnessError, InvalidOption, Unavailable, UnknownName, UsageError
from harness.folders import Place, safe_name, write_atomically
from harness.metrics import Metric
from harness.registry.registry import Registry
from harness.results.formats import separated
from harness.results.records import Records
from harness.run import plan
from harness.run.evaluation import Run, Task, task_patterns
from harness.run.settings import Settings
from harness.task.schema import NO_YARDSTICK
from harness.task.task import Task as LoadedTask

from ..embedders.transformers import loaded_model

TASKS = (
    *("seat-c6", "seat-c8", "gender-occupations", "name-triplets", "meaning-gender-sentences"),
    *("ws-353", "simlex-999"),
)
"""The tasks by default: three methods of bias, what words of gender mean, and usefulness."""
OVERALL, USEFULNESS, RATIO = "overall", "usefulness", "ratio"
"""Names of the mean of bias, the mean of usefulness, and the ratio of a task."""
_EVAL = "eval_"
"""What the trainer puts before each metric."""

logger = logging.getLogger(__name__)


class BiasEvaluator(BaseEvaluator):
    """An evaluator for the trainer of sentence-transformers, which measures bias.

    Give it to a `SentenceTransformerTrainer` as `evaluator`, alone or in a list with others. The
    trainer writes its metrics into its log and sends them wherever it reports to. It can also be
    called with a model: `BiasEvaluator()(model)`.

    Parameters
    ----------
    tasks
        Tasks for text encoders, as in `harness.evaluate`.
    name
        First part of the name of each metric; two evaluators of one training need two.
    cache
        Folder of the store that keeps the vectors of each checkpoint. By default they are removed
        after each evaluation, since they are never used again.
    seed
        Seed of every random choice, as in `harness.evaluate`.
    include, trust
        Further folders of tasks, and whether files are trusted, as in `harness.evaluate`.
    registry
        Registry of tasks, in place of `include` and `trust`; a copy of the evaluator has its own.
    write_csv
        Whether the metrics are also written to a CSV file in the trainer's output folder, as other
        evaluators of the library do.

    Attributes
    ----------
    metrics
        Names of all metrics that it may report.
    primary_metric
        `NAME_overall`; or the primary score of the first task if none enters the mean.
    greater_is_better
        False for `NAME_overall`: less is less bias.
    records
        The records of the last evaluation, with intervals and everything else.

    Raises
    ------
    UsageError
        If a task is unknown, or is not for text encoders.
    Unavailable
        If the data of a task is missing.

    Notes
    -----
    For each task there are `NAME_TASK_SCORE` for the scores of its primary metric, on its primary
    scenario, and `NAME_TASK_ratio` for the ratio to its yardstick. `NAME_overall` is the mean of
    bias, over the tasks with a reference value, and `NAME_usefulness` that of usefulness, as
    `harness eval` prints them. A value that a task does not have is NaN.

    The values are those that `harness eval` computes for the same tasks and the saved checkpoint.
    With mixed precision the trainer evaluates in that precision, and they differ as it rounds.

    Of several processes the library lets the first one evaluate, and all of them encode.
    """

    def __init__(
        self,
        tasks: Task | Iterable[Task] = TASKS,
        *,
        name: str = "bias",
        cache: Place | str | None = None,
        seed: int = 0,
        include: Path | str | Iterable[Path | str] = (),
        trust: bool = False,
        registry: Registry | None = None,
        write_csv: bool = True,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's has no types
        self._options: dict[str, Any] = {
            "tasks": tasks,
            "name": name,
            "cache": cache,
            "seed": seed,
            "include": include,
            "trust": trust,
            "write_csv": write_csv,
        }
        settings = Settings.of(cache=cache, seed=seed, include=include, workers=1)
        registry = registry or Registry(include=settings.include, trust=trust)
        self.name, self.write_csv = name, write_csv
        self.records = Records([])
        self._run = Run(registry, settings, task_patterns(tasks), plan.rows(names.NONE))
        self._tasks = _tasks(self._run)
        self.metrics = tuple(self.named(value) for value in self._values_of(_may_have_ratio))
        # Whether a metric makes a yardstick of a task's own items is known from its first score.
        self._with_ratio = {task.name for task in self._tasks if task.yardstick is not None}
        self._choose_primary()

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,
        epoch: float = -1,
        steps: int = -1,
    ) -> dict[str, float]:
        """Return the metrics of a model by name.

        Parameters
        ----------
        model
            The `SentenceTransformer`.
        output_path
            Folder of the CSV file; None writes none.
        epoch, steps
            Where the training is.

        Raises
        ------
        UsageError
            If it is another kind of model.
        """
        if not isinstance(model, SentenceTransformer):
            raise UsageError(
                f"BiasEvaluator measures a SentenceTransformer, not a {type(model).__name__}"
            )
        is_kept = self._run.settings.cache is not None
        try:
            with parallel.at_most(1):  # more processes would be too many beside those that train
                embedder = loaded_model.in_training(model, is_kept=is_kept)
                self.records = self._run.model((model, embedder))
        except UsageError:
            raise
        except HarnessError as error:  # a training of hours goes on, and the values are NaN
            logger.warning("%s: nothing is measured at step %s: %s", self.name, steps, error)
            self.records = Records([])
        for failure in self.records.failed:
            logger.warning("%s: %s failed: %s", self.name, failure.task, failure.reason)
        metrics: dict[str, float] = self.prefix_name_to_metrics(self._values(), self.name)
        if output_path is not None and self.write_csv:
            self._append(Path(output_path), {"epoch": epoch, "steps": steps, **metrics})
        # The library annotates whole epochs, and passes fractions.
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)  # type: ignore[arg-type]
        return metrics

    # The card of a model holds its evaluators, so they are copied and pickled with the model.

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), **self._options), ()

    def get_config_dict(self) -> dict[str, Any]:
        """Return what the card of the trained model says of the evaluator."""
        return {"tasks": [task.name for task in self._tasks], "seed": self._run.settings.seed}

    def _values(self) -> dict[str, float]:
        """Return the values of the last evaluation by the names of metrics."""
        primary = {task.name: task.primary for task in self._tasks}
        found: dict[str, float | None] = {}
        for record in self.records:
            if (record.scenario, record.metric) == primary.get(record.task.name):
                found[f"{record.task.name}_{record.score}"] = record.value
            if record.ratio is not None:
                found[f"{record.task.name}_{RATIO}"] = record.ratio.value
                self._with_ratio.add(record.task.name)
        for mean in self.records.means():
            found[{"bias": OVERALL}.get(mean["measures"], mean["measures"])] = mean["mean"]
        self._choose_primary()
        reported = self._values_of(lambda task: task.name in self._with_ratio)
        return {
            name: math.nan if (value := found.get(name)) is None else value for name in reported
        }

    def _values_of(self, has_ratio: Callable[[LoadedTask], bool]) -> list[str]:
        """Return the names of all values, if these tasks have a ratio."""
        means = {
            OVERALL: self._has_mean(has_ratio),
            USEFULNESS: any(task.file.measures == USEFULNESS for task in self._tasks),
        }
        values = [name for name, is_there in means.items() if is_there]
        for task in self._tasks:
            values += [f"{task.name}_{score}" for score in _primary_metric(task).scores]
            values += [f"{task.name}_{RATIO}"] * has_ratio(task)
        return values

    def _has_mean(self, has_ratio: Callable[[LoadedTask], bool]) -> bool:
        """Return whether a task of bias enters the mean: one with a reference value."""
        return any(
            task.file.measures == "bias" and "text" in task.references and has_ratio(task)
            for task in self._tasks
        )

    def _choose_primary(self) -> None:
        first = min(self._tasks, key=lambda task: task.file.measures != "bias")
        score = first.file.primary.score
        has_mean = self._has_mean(lambda task: task.name in self._with_ratio)
        self.primary_metric = self.named(OVERALL if has_mean else f"{first.name}_{score}")
        self.greater_is_better = (
            not has_mean and _primary_metric(first).scores[score].ideal == "higher"
        )

    def named(self, value: str) -> str:
        """Return the name of a metric: that of the evaluator, and of the value."""
        return f"{self.name}_{value}" if self.name else value

    def _append(self, folder: Path, row: Mapping[str, object]) -> None:
        """Add a row to the CSV file, which has a column for each metric that there may be."""
        path = folder / f"bias_evaluation_{safe_name(self.name)}_results.csv"
        rows: list[dict[str, object]] = []
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                rows += csv.DictReader(file)
        first: dict[str, object] = {"epoch": "", "steps": "", **dict.fromkeys(self.metrics, "")}
        write_atomically(path, separated([*rows, {**first, **row}]).encode())


def _tasks(run: Run) -> list[LoadedTask]:
    """Return the tasks of a run for text encoders, with their data.

    Raises
    ------
    UsageError
        If one was named that is not for text encoders, or none is.
    Unavailable
        If the data of one is missing, or it cannot be read.
    """
    checkpoint = ModelInfo(name="checkpoint", kind="text", fingerprint="checkpoint")
    tasks: list[LoadedTask] = []
    for entry in run.tasks.for_model(checkpoint):
        if isinstance(entry, LoadedTask):
            tasks.append(entry)
        elif entry.kind != "embedder":
            raise Unavailable(f"task '{entry.task}' cannot be run: {entry.reason}")
        elif entry.task in run.tasks.named:
            raise UsageError(
                f"task '{entry.task}' is {entry.reason}, and a text encoder is trained"
            )
    if not tasks:
        raise UsageError("none of these tasks is for text encoders")
    return tasks


def _may_have_ratio(task: LoadedTask) -> bool:
    return _primary_metric(task).gap is not None and task.file.yardstick != NO_YARDSTICK


def _primary_metric(task: LoadedTask) -> Metric:
    scenario, metric = task.primary
    return next(
        measurement.metric
        for of in task.scenarios
        if of.name == scenario
        for measurement in of.measurements
        if measurement.metric.name == metric
    )


class BoundStoppingCallback(TrainerCallback):
    """Stops a training when a metric goes beyond a bound.

    Give it to the trainer in `callbacks`, as transformers' `EarlyStoppingCallback`. The trainer
    ends after the evaluation, and saves and loads checkpoints as its arguments say.

    Parameters
    ----------
    evaluator
        The evaluator, which the trainer has, too.
    above
        By the name of a metric, the largest value at which the training goes on.
    below
        By the name of a metric, the smallest value at which the training goes on. A metric may be
        one of another evaluator of the trainer: `{"sts-dev_spearman_cosine": 0.8}`.
    patience
        The training stops after so many evaluations in a row with a metric beyond its bound.

    Attributes
    ----------
    reason
        Why the training was stopped; empty if it was not.

    Raises
    ------
    InvalidOption
        If there is no bound, or one is no number.
    UnknownName
        If the evaluator has no such metric; for those of other evaluators at the first evaluation.
    """

    def __init__(
        self,
        evaluator: BiasEvaluator,
        *,
        above: Mapping[str, float] | None = None,
        below: Mapping[str, float] | None = None,
        patience: int = 1,
    ) -> None:
        self.evaluator, self.patience = evaluator, patience
        self.above, self.below = (_bounds(evaluator, bounds) for bounds in (above, below))
        if not self.above and not self.below:
            raise InvalidOption(
                "a bound is missing: above={METRIC: VALUE} or below={METRIC: VALUE}"
            )
        if patience < 1:
            raise InvalidOption(f"patience={patience}: expected at least 1")
        self.reason = ""
        self._beyond = 0  # evaluations in a row
        self._is_training = self._was_evaluated = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Check that the training evaluates.

        Raises
        ------
        InvalidOption
            If it does not.
        """
        if args.eval_strategy == "no":
            raise InvalidOption(
                "eval_strategy=no: nothing is evaluated, so no bound stops the training; choose "
                "'steps' or 'epoch'"
            )
        self.reason, self._beyond = "", 0
        self._is_training, self._was_evaluated = True, False

    def on_evaluate(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        """Stop the training if a metric is beyond its bound.

        Raises
        ------
        UnknownName
            If no evaluator reports a metric that has a bound.
        """
        metrics: Mapping[str, float] = objects["metrics"]
        # The trainer evaluates further data sets without its evaluators, and any when it is asked.
        if not self._is_training or f"{_EVAL}{self.evaluator.primary_metric}" not in metrics:
            return
        self._was_evaluated = True
        values = {name.removeprefix(_EVAL): value for name, value in metrics.items()}
        self.check(values, state, control)
        if control.should_training_stop and self.reason:
            logger.warning(self.reason)

    def check(self, values: Mapping[str, float], state: Any, control: Any) -> None:
        """Stop the training if one of its metrics is beyond its bound.

        Parameters
        ----------
        values
            The metrics by name.
        state, control
            The state of the training, and what stops it.

        Raises
        ------
        UnknownName
            If a metric that has a bound is missing.
        """
        for name in {**self.above, **self.below}:
            if name not in values:
                raise UnknownName("metric", name, values)
        beyond = [
            *(
                f"{n} is {values[n]:.4g}, above {b:g}"
                for n, b in self.above.items()
                if values[n] > b
            ),
            *(
                f"{n} is {values[n]:.4g}, below {b:g}"
                for n, b in self.below.items()
                if values[n] < b
            ),
        ]
        self._beyond = self._beyond + 1 if beyond else 0
        if self._beyond >= self.patience:
            control.should_training_stop = True
            self.reason = f"stopped at step {state.global_step}: {', '.join(beyond)}"

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Warn if no bound was ever checked."""
        self._is_training = False
        if not self._was_evaluated:
            logger.warning(
                "no bound was checked, since '%s' was not reported: give the trainer the "
                "BiasEvaluator, too, and let it evaluate before its last step",
                self.evaluator.primary_metric,
            )


def _bounds(evaluator: BiasEvaluator, bounds: Mapping[str, float] | None) -> dict[str, float]:
    """Return bounds by the name of a metric, as the evaluator names it."""
    checked = {}
    for name, bound in (bounds or {}).items():
        if isinstance(bound, bool) or not isinstance(bound, int | float) or math.isnan(bound):
            raise InvalidOption(f"the bound of '{name}' is {bound!r}: expected a number")
        name = name.removeprefix(_EVAL)
        is_own = evaluator.name and name.startswith(f"{evaluator.name}_")
        if name not in evaluator.metrics and (is_own or evaluator.named(name) in evaluator.metrics):
            raise UnknownName("metric", name, evaluator.metrics)
        checked[name] = float(bound)
    return checked
