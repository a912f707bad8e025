"""`harness show`: prints all facts about one model, mitigator, metric, task and so on."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments, data
from harness.printing import echo, printable, stdout

if TYPE_CHECKING:
    from harness.errors import UnknownName, UsageError
    from harness.registry.registry import Registry
    from harness.task.inputs import Input
    from harness.task.schema import TaskFile


def _completions(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    kind = ctx.params.get("kind")
    return arguments.complete(kind)(ctx, parameter, incomplete) if kind in arguments.SHOWN else []


@click.command("show")
@click.argument(
    "kind",
    metavar="|".join(arguments.SHOWN),
    shell_complete=lambda _, __, start: [
        kind for kind in arguments.SHOWN if kind.startswith(start)
    ],
)
@click.argument("name", required=False, metavar="NAME", shell_complete=_completions)
@click.option("--scenario", help="Show only this scenario of a task.")
@arguments.include
@arguments.trust
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    kind: str,
    name: str | None,
    as_json: bool,
    scenario: str | None,
    include: tuple[Path, ...],
    trust: bool,
) -> int:
    """Show all facts about one model, mitigator, metric, task, concept, study or benchmark.

    NAME is as in `harness list`; a task may also be a file.
    """
    from harness.commands import output
    from harness.registry.registry import Registry

    registry = Registry(include=include, trust=trust)
    if kind not in arguments.SHOWN or name is None:
        raise _no_kind(registry, kind)
    facts = describe(registry, kind, name)
    unavailable = facts.get("unavailable")
    if kind == "task" and scenario and "scenarios" in facts:
        facts["scenarios"] = _only(facts["scenarios"], scenario)
    if as_json:
        output.as_json(facts)
    else:
        for line in lines({key: value for key, value in facts.items() if key != "unavailable"}):
            click.echo(line, stdout())  # noqa: TID251  # printable, with styles
        if unavailable:
            echo(f"harness: {unavailable}", err=True)
    return 1 if unavailable else 0


def describe(registry: Registry, kind: str, name: str) -> dict[str, Any]:
    """Return the facts that `harness show KIND NAME` prints.

    If the data of a task or study is not available, `unavailable` is the reason, and the facts are
    those of the file alone.
    """
    by_kind = {
        "model": _model,
        "mitigator": _mitigator,
        "metric": _metric,
        "task": _task,
        "concept": _concept,
        "study": _study,
        "benchmark": _benchmark,
    }
    return by_kind[kind](registry, name)


def lines(facts: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Yield the lines that `harness show` prints; `depth` is the level of indentation."""
    pad = "  " * depth
    for key, value in facts.items():
        if value == "":
            continue
        label = f"{pad}{click.style(printable(str(key)), bold=True)}:"
        if isinstance(value, dict) and value:
            yield label
            yield from lines(value, depth + 1)
        elif isinstance(value, list | tuple) and any(len(str(item)) > 30 for item in value):
            yield f"{label} ({len(value)})"
            yield from (f"{pad}  {_item(item)}" for item in value)
        elif isinstance(value, list | tuple):
            count = f"({len(value)}) " if len(value) > 3 else ""
            yield f"{label} {count}{', '.join(_item(item) for item in value)}"
        elif "\n" in str(value):
            yield label
            yield from (f"{pad}  {printable(line, None)}" for line in str(value).splitlines())
        else:
            yield f"{label} {printable(str(value), None)}"


def _no_kind(registry: Registry, word: str) -> UsageError:
    """Return the error for an unknown kind, or for a kind without a name."""
    from harness.errors import UnknownName, UsageError

    if word in arguments.SHOWN:
        return UsageError(f"which {word}? write 'harness show {word} NAME'")
    commands = arguments.commands_for(registry, word)
    if commands:
        return UsageError(f"'{word}' is not a kind; did you mean: {' or '.join(commands)}")
    return UnknownName("kind", word, arguments.SHOWN)


def _only(scenarios: dict[str, Any], name: str) -> dict[str, Any]:
    from harness.errors import UnknownName

    if name not in scenarios:
        raise UnknownName("scenario", name, scenarios)
    return {name: scenarios[name]}


def _model(registry: Registry, name: str) -> dict[str, Any]:
    spec = registry.embedders.get(name)
    if spec is not None and spec.provider:
        return {
            "name": f"{name}:REFERENCE",
            "documentation": inspect.getdoc(registry.load(spec, f"provider '{name}'")) or "",
            "registered by": registry.embedders.owners[name],
        }
    model = registry.models.find(name)
    card = model.spec.card if model.reference is None else None
    info = card or registry.embedder(name).info
    facts = {key: value for key, value in vars(info).items() if value}
    if card and model.options:
        facts["options"] = dict(model.options)
    return facts | {"registered by": registry.embedders.owners[model.spec.name]}


def _mitigator(registry: Registry, name: str) -> dict[str, Any]:
    from harness import names

    facts: dict[str, Any] = {}
    mitigators = registry.mitigator(name).mitigators
    for stage, mitigator in zip(names.chain_stages(name), mitigators, strict=True):
        facts[stage.name] = {
            "documentation": inspect.getdoc(type(mitigator)) or "",
            "works on": ", ".join(mitigator.kinds),
            "required concept fields": ", ".join(mitigator.needs) or "nothing",
            "parameters": mitigator.get_params(deep=False),
            "registered by": registry.mitigators.owners[stage.name],
        }
    return facts or {"none": "no mitigation: the model as it is"}


def _metric(registry: Registry, name: str) -> dict[str, Any]:
    metric = registry.metric(name)
    source = inspect.getsourcefile(metric.function)
    return {
        "name": metric.name,
        "documentation": inspect.getdoc(metric.function) or "",
        "inputs": {
            parameter: "required" if required else "optional"
            for parameter, required in metric.inputs.items()
        },
        "options": dict.fromkeys(metric.required_options, "required") | metric.options,
        "scores": {
            score: {"ideal": scale.ideal, "bounds": scale.bounds, "help": scale.help}
            for score, scale in metric.scores.items()
        },
        "source": f"{source}:{inspect.getsourcelines(metric.function)[1]}",
        "registered by": registry.metrics.owners[name],
    }


def _task(registry: Registry, name: str) -> dict[str, Any]:
    from harness.errors import Unavailable, UnknownName
    from harness.registry.registry import named_tasks
    from harness.task import validity
    from harness.task.schema import TaskFile

    try:
        (document, *_), registry = named_tasks(registry, name)
    except UnknownName:
        raise _unknown_task(registry, name) from None
    file = document.validate(TaskFile)
    facts = _description(file) | validity.facts(document.path, file)
    facts |= data.facts(document, file.tables, name)
    if facts.keys() & {"texts", "unavailable"}:
        return facts
    try:
        task = registry.resolve(document)
    except Unavailable as error:
        return facts | {"unavailable": str(error)}
    roles = {input_.name: input_.role for input_ in task.texts() if input_.role != "text"}
    return {
        **facts,
        **({"roles": roles} if roles else {}),
        "digest": task.digest,
        "metrics": {
            m.metric.name: {"options": m.metric.options | dict(m.options)}
            for m in task.scenarios[0].measurements
        },
        "scenarios": {
            scenario.name: {name: _values(input_) for name, input_ in scenario.inputs.items()}
            for scenario in task.scenarios
        },
    }


def _values(input_: Input) -> list[Any]:
    """Return the texts or the numbers of an input."""
    if input_.texts is not None:
        return list(input_.texts)
    return [] if input_.numbers is None else list(input_.numbers.tolist())


def _description(file: TaskFile) -> dict[str, Any]:
    """Return the facts about a task that do not need its data."""
    shown = {
        *("name", "version", "title", "description", "source", "licence", "measures"),
        *("category", "family", "concept", "language", "kinds", "tags", "primary"),
        "superseded_by",
    }
    facts = file.model_dump(include=shown) | {
        "unranked": file.not_ranked,
        "reviews": {
            review.by: review.model_dump(exclude_defaults=True, exclude={"by", "mended", "remarks"})
            | {"mended": len(review.mended), "remarks": len(review.remarks)}
            for review in file.own_reviews
        },
    }
    return {key: value for key, value in facts.items() if value}


def _unknown_task(registry: Registry, name: str) -> UnknownName:
    from harness.errors import UnknownName

    commands = arguments.commands_for(registry, name)
    hint = f"; did you mean: {' or '.join(commands)}" if commands else ""
    return UnknownName("task", name, () if hint else registry.task_files, hint=hint)


def _concept(registry: Registry, name: str) -> dict[str, Any]:
    return {key: value for key, value in registry.concept(name).model_dump().items() if value}


def _study(registry: Registry, name: str) -> dict[str, Any]:
    from harness.errors import Unavailable
    from harness.registry import discovery
    from harness.study.running import resolved
    from harness.study.study_file import StudyFile

    document = discovery.find_file(registry.study_files, name)
    parts = {"sets", "tables", "templates", "inputs", "scenarios"}
    file = document.validate(StudyFile)
    facts = file.model_dump(exclude=parts, exclude_defaults=True)
    facts |= data.facts(document, file.tables, name)
    if facts.keys() & {"texts", "unavailable"}:
        return facts
    try:
        study = resolved(registry, document)
    except Unavailable as error:
        return facts | {"unavailable": str(error)}
    return facts | {
        "digest": study.digest,
        "baseline": study.baseline,
        "criteria": study.criteria,
        "settings": {row.label: len(row.settings) for row in study.candidates},
        "scenarios": {
            measure.name: [scenario.name for scenario in measure.task.scenarios]
            for measure in study.measures
        },
        study.file.folded: study.items,
    }


def _benchmark(registry: Registry, name: str) -> dict[str, Any]:
    from harness.run.tasks import check_benchmark, list_tasks

    entries = list_tasks(registry)
    file = check_benchmark(entries, registry.benchmark_files.find(name))
    titles = {entry.file.name: entry.file.title for entry in entries}
    tasks = {task: f"version {version}: {titles[task]}" for task, version in file.tasks.items()}
    return {**{key: value for key, value in file.model_dump().items() if value}, "tasks": tasks}


def _item(item: Any) -> str:
    text = " – ".join(map(str, item)) if isinstance(item, list | tuple) else str(item)
    return printable(text, None)
