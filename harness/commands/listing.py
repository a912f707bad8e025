"""`harness list`: prints the names of a kind without loading their objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from harness.commands import arguments
from harness.embedder import Kind, fits
from harness.printing import echo

if TYPE_CHECKING:
    from pydantic import BaseModel

    from harness.registry.registry import Registry
    from harness.run.tasks import TaskEntry
    from harness.specs import EmbedderSpec
    from harness.task.yaml_files import Document


Model = TypeVar("Model", bound="BaseModel")
Rows = list[dict[str, Any]]
_DROPPED_FIRST = (
    *("version", "tags", "kinds", "licence", "parameters", "concept", "measures"),
    *("contexts", "specific words", "equalize sets", "dimensions", "category", "kind"),
    *("mitigators", "models"),
)
"""Columns that a narrow terminal does not show, the least important first."""


@click.group("list")
def command() -> None:
    """List models, mitigators, metrics, tasks, tags, benchmarks, concepts or studies."""


def _add(kind: str, rows: Callable[[Registry, dict[str, Any]], Rows], *filters: Any) -> None:
    """Add the command `harness list KIND`; `filters` are its further options."""

    @click.argument("pattern", default="*")
    @arguments.as_json
    @arguments.include
    def run(pattern: str, as_json: bool, include: tuple[Path, ...], **chosen: Any) -> None:
        from fnmatch import fnmatchcase

        from harness.commands import output
        from harness.registry.registry import Registry

        glob = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
        registry = Registry(include=include)
        matching = [
            row for row in rows(registry, chosen) if fnmatchcase(row["name"].lower(), glob.lower())
        ]
        if as_json:
            output.as_json(matching)
        elif matching:
            shown = [{key.replace("_", " "): _text(row[key]) for key in row} for row in matching]
            output.lines(shown, shorten=list(shown[0])[-1:], drop=_DROPPED_FIRST)
        else:
            echo(f"no {kind} match '{pattern}'", err=True)
        for line in (*registry.notices, *registry.name_errors):
            echo(line, err=True)

    for option in filters:
        run = option(run)
    purpose = f"List {kind} whose name matches PATTERN, a glob or a part of the name."
    command.command(kind, help=purpose, short_help=f"List {kind}.")(run)


def _models(registry: Registry, chosen: dict[str, Any]) -> Rows:
    """Return the models, those on this machine first, and the providers last."""
    rows = []
    for name, spec in registry.embedders.items():
        card = spec.card
        if chosen["kind"] and not (card and card.kind == chosen["kind"]):
            continue
        rows.append(
            {
                "name": f"{name}:…" if spec.provider else name,
                "here": None if spec.provider else _is_here(spec),
                "kind": card.kind if card else None,
                "dimensions": card.dimensions if card else None,
                "parameters": _millions(card.n_parameters) if card else None,
                "licence": card.licence if card else None,
                "summary": spec.summary,
            }
        )
    return sorted(rows, key=lambda row: (True, False, None).index(row["here"]))


def _is_here(spec: EmbedderSpec) -> bool:
    """Return whether a model can be loaded without a network."""
    return not spec.files or any(map(_exists, spec.files))


def _exists(place: str) -> bool:
    """Return whether a Python package is installed, or a model is in the hub's cache."""
    from huggingface_hub import try_to_load_from_cache

    from harness import folders

    kind, _, name = place.partition(":")
    if kind == "package":
        return folders.of_package(name) is not None
    file = try_to_load_from_cache(name, "config.json") if kind == "hub" else None
    weights = {".safetensors", ".bin"}
    return isinstance(file, str) and any(f.suffix in weights for f in Path(file).parent.rglob("*"))


def _mitigators(registry: Registry, _: dict[str, Any]) -> Rows:
    return [{"name": name, "summary": s.summary} for name, s in registry.mitigators.items()]


def _metrics(registry: Registry, _: dict[str, Any]) -> Rows:
    return [{"name": name, "summary": s.summary} for name, s in registry.metrics.items()]


def _tasks(registry: Registry, chosen: dict[str, Any]) -> Rows:
    from harness.run.tasks import list_tasks

    tasks = list_tasks(registry)
    _check_filters(tasks, chosen)
    return [
        {
            "name": file.name,
            "version": file.version,
            "measures": file.measures,
            "category": file.category,
            "concept": file.concept,
            "language": file.language,
            "kinds": ", ".join(file.kinds),
            "tags": ", ".join(file.tags),
            "title": file.title,
        }
        for file in (task.file for task in tasks)
        if (not chosen["kind"] or fits(chosen["kind"], file.kinds))
        and (not chosen["tag"] or chosen["tag"] in file.tags)
        and (not chosen["language"] or chosen["language"] == file.language)
        and (not chosen["category"] or chosen["category"] in (file.category, file.measures))
    ]


def _check_filters(tasks: list[TaskEntry], chosen: dict[str, Any]) -> None:
    """Raise an error if no task has the chosen category, tag or language."""
    from harness.errors import UnknownName

    categories = {name for task in tasks for name in (task.file.category, task.file.measures)}
    tags = {tag for task in tasks for tag in task.file.tags}
    languages = {task.file.language for task in tasks}
    for kind, known in (("category", categories), ("tag", tags), ("language", languages)):
        if chosen[kind] and chosen[kind] not in known:
            codes = f"; languages of tasks: {', '.join(sorted(known))}" * (kind == "language")
            raise UnknownName(kind, chosen[kind], () if codes else known, hint=codes)


def _concepts(registry: Registry, _: dict[str, Any]) -> Rows:
    from harness.concept import Concept

    return [
        {
            "name": name,
            "pairs": len(concept.definitional_pairs),
            "equalize_sets": len(concept.equalize_sets),
            "specific_words": len(concept.specific_words),
            "contexts": ", ".join(concept.contexts),
            "title": concept.title,
        }
        for name, concept in _valid(registry, registry.concept_files, Concept)
    ]


def _studies(registry: Registry, _: dict[str, Any]) -> Rows:
    from harness.study.study_file import StudyFile

    return [
        {
            "name": name,
            "version": file.version,
            "concept": file.concept,
            "models": ", ".join(file.models),
            "mitigators": len(file.mitigators),
            "measures": len(file.measures),
            "title": file.title,
        }
        for name, file in _valid(registry, registry.study_files, StudyFile)
    ]


def _benchmarks(registry: Registry, _: dict[str, Any]) -> Rows:
    from harness.task.schema import BenchmarkFile

    return [
        {
            "name": name,
            "version": file.version,
            "tasks": len(file.tasks),
            "title": file.title,
        }
        for name, file in _valid(registry, registry.benchmark_files, BenchmarkFile)
    ]


def _tags(registry: Registry, _: dict[str, Any]) -> Rows:
    from harness.run.tasks import list_tasks

    tasks: dict[str, list[str]] = {}
    for entry in list_tasks(registry):
        for tag in entry.file.tags:
            tasks.setdefault(tag, []).append(entry.file.name)
    return [
        {"name": tag, "tasks": len(names), "names": ", ".join(names)}
        for tag, names in sorted(tasks.items())
    ]


def _valid(
    registry: Registry, documents: Mapping[str, Document], schema: type[Model]
) -> Iterator[tuple[str, Model]]:
    """Yield the valid files by name as `schema`; the registry notes the others."""
    from harness.errors import InvalidFile

    for name, document in sorted(documents.items()):
        try:
            yield name, document.validate(schema)
        except InvalidFile as error:
            registry.leave_out(error)


def _text(value: Any) -> Any:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _millions(n: int | None) -> str | None:
    return None if n is None else f"{n / 1e6:,.0f} M"


_kind = click.option(
    "--kind", type=click.Choice(get_args(Kind)), help="Only for this kind of model."
)
_tag = click.option("--tag", help="Only tasks with this tag.")
_language = click.option("--language", help="Only tasks in a language, such as de.")
_category = click.option("--category", help="Only tasks of a category, or: bias, usefulness.")
_add("models", _models, _kind)
_add("mitigators", _mitigators)
_add("metrics", _metrics)
_add("tasks", _tasks, _category, _tag, _language, _kind)
_add("tags", _tags)
_add("benchmarks", _benchmarks)
_add("concepts", _concepts)
_add("studies", _studies)
