"""`harness show`: one thing in full."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.errors import UnknownName
    from harness.registry.registry import Registry
    from harness.task.schema import TaskFile

KINDS = ("model", "mitigator", "metric", "task", "concept", "study")


@click.command("show")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--scenario", help="Only this scenario of a task.")
@click.option("--include", type=click.Path(path_type=Path), multiple=True, hidden=True)
def command(
    kind: str, name: str, as_json: bool, scenario: str | None, include: tuple[Path, ...]
) -> int:
    """Show one thing: a model's card, a task's resolved texts, a metric's formula and source."""
    from harness.commands import output
    from harness.registry.registry import Registry

    registry = Registry(include=include)
    describe = {
        "model": _model,
        "mitigator": _mitigator,
        "metric": _metric,
        "task": _task,
        "concept": _concept,
        "study": _study,
    }[kind]
    facts = describe(registry, name)
    unavailable = facts.get("unavailable")
    if kind == "task" and scenario and not unavailable:
        from harness.errors import UnknownName

        if scenario not in facts["scenarios"]:
            raise UnknownName("scenario", scenario, facts["scenarios"])
        facts["scenarios"] = {scenario: facts["scenarios"][scenario]}
    if as_json:
        output.as_json(facts)
    else:
        _print({key: value for key, value in facts.items() if key != "unavailable"}, 0)
        if unavailable:
            click.echo(f"harness: {unavailable}", err=True)
    return 1 if unavailable else 0


def _model(registry: Registry, name: str) -> dict[str, Any]:
    from harness import names

    asked = names.model(name)
    spec = registry.embedders.get(asked.provider)
    if asked.reference is None and spec is not None and not spec.provider and spec.card:
        facts = {key: value for key, value in vars(spec.card).items() if value}
        if asked.options:
            facts["options"] = dict(asked.options)
        return facts | {"registered by": registry.owner("model", asked.provider)}
    if asked.reference is None and spec is not None and spec.provider:
        target = registry.load(spec, f"provider '{name}'")
        return {
            "name": f"{name}:REFERENCE",
            "documentation": inspect.getdoc(target) or "",
            "registered by": registry.owner("model", name),
        }
    info = registry.embedder(name).info
    return {key: value for key, value in vars(info).items() if value}


def _mitigator(registry: Registry, name: str) -> dict[str, Any]:
    from harness import names

    facts: dict[str, Any] = {}
    for stage, made in zip(
        names.mitigators(name), registry.mitigator(name).mitigators, strict=True
    ):
        facts[stage.name] = {
            "documentation": inspect.getdoc(type(made)) or "",
            "works on": ", ".join(made.kinds),
            "needs of a concept": ", ".join(made.needs) or "nothing",
            "parameters": made.get_params(deep=False),
            "registered by": registry.owner("mitigator", stage.name),
        }
    return facts or {"none": "the model as it is"}


def _metric(registry: Registry, name: str) -> dict[str, Any]:
    metric = registry.metric(name)
    source = inspect.getsourcefile(metric.function)
    return {
        "name": metric.name,
        "documentation": inspect.getdoc(metric.function) or "",
        "inputs": {n: "needed" if needed else "optional" for n, needed in metric.inputs.items()},
        "options": metric.options,
        "scores": {
            score: {"ideal": scale.ideal, "bounds": scale.bounds, "help": scale.help}
            for score, scale in metric.scores.items()
        },
        "source": f"{source}:{inspect.getsourcelines(metric.function)[1]}",
        "registered by": registry.owner("metric", name),
    }


def _task(registry: Registry, name: str) -> dict[str, Any]:
    from harness.errors import Unavailable
    from harness.task import yaml_files
    from harness.task.schema import TaskFile

    is_file = name.endswith((".yaml", ".yml"))
    if not is_file and name not in registry.task_files:
        raise _unknown_task(registry, name)
    document = yaml_files.load(Path(name)) if is_file else registry.task_files[name]
    try:
        task = registry.task_file(document.path) if is_file else registry.task(name)
    except Unavailable as error:
        return _stated(document.validate(TaskFile)) | {"unavailable": str(error)}
    return {
        **_stated(task.file),
        "digest": task.digest,
        "metrics": {
            m.metric.name: {"options": m.metric.options | dict(m.options)}
            for m in task.scenarios[0].measurements
        },
        "scenarios": {
            scenario.name: {
                given.name: list(given.texts)
                if given.texts is not None
                else []
                if given.numbers is None
                else given.numbers.tolist()
                for given in scenario.inputs.values()
            }
            for scenario in task.scenarios
        },
    }


def _stated(file: TaskFile) -> dict[str, Any]:
    """Return what a task's file says of it, without its data."""
    shown = {
        *("name", "version", "title", "description", "source", "licence", "measures"),
        *("category", "concept", "language", "kinds", "tags", "primary"),
    }
    return {key: value for key, value in file.model_dump(include=shown).items() if value}


def _unknown_task(registry: Registry, name: str) -> UnknownName:
    from harness.errors import UnknownName
    from harness.run.tasks import listed

    hint = ""
    for one in listed(registry):
        for what, of in (
            ("tag", one.file.tags),
            ("category", (one.file.category, one.file.measures)),
        ):
            if name in of:
                hint = f", but a {what} is: harness list tasks --{what} {name}"
    return UnknownName("task", name, () if hint else registry.task_files, hint=hint)


def _concept(registry: Registry, name: str) -> dict[str, Any]:
    return {k: v for k, v in registry.concept(name).model_dump().items() if v}


def _study(registry: Registry, name: str) -> dict[str, Any]:
    from harness.errors import Unavailable
    from harness.study.running import find
    from harness.study.study import resolve
    from harness.study.study_file import StudyFile

    document = find(registry, name)
    parts = {"sets", "tables", "templates", "inputs", "scenarios"}
    facts = document.validate(StudyFile).model_dump(exclude=parts, exclude_defaults=True)
    try:
        study = resolve(document, registry)
    except Unavailable as error:
        return facts | {"unavailable": str(error)}
    return facts | {
        "digest": study.digest,
        "baseline": study.baseline,
        "criteria": study.criteria,
        "settings": {one.label: len(one.settings) for one in study.candidates},
        "scenarios": {
            one.name: [scenario.name for scenario in one.task.scenarios] for one in study.measures
        },
        study.file.folded: study.items,
    }


def _print(thing: Any, depth: int) -> None:
    pad = "  " * depth
    for key, value in thing.items():
        label = click.style(str(key), bold=True)
        if isinstance(value, dict) and value:
            click.echo(f"{pad}{label}:")
            _print(value, depth + 1)
        elif isinstance(value, list | tuple) and any(len(str(item)) > 30 for item in value):
            click.echo(f"{pad}{label}: ({len(value)})")
            for item in value:
                click.echo(f"{pad}  {_item(item)}")
        elif isinstance(value, list | tuple):
            many = f"({len(value)}) " if len(value) > 3 else ""
            click.echo(f"{pad}{label}: {many}{', '.join(_item(item) for item in value)}")
        elif "\n" in str(value):
            click.echo(f"{pad}{label}:")
            for line in str(value).splitlines():
                click.echo(f"{pad}  {line}")
        else:
            click.echo(f"{pad}{label}: {value}")


def _item(item: Any) -> str:
    return " – ".join(map(str, item)) if isinstance(item, list | tuple) else str(item)
