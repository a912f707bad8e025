"""`harness list`: what there is, without loading any of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.commands import arguments

if TYPE_CHECKING:
    from pydantic import BaseModel

    from harness.registry.registry import Registry
    from harness.task.yaml_files import Document

Model = TypeVar("Model", bound="BaseModel")
Rows = list[dict[str, Any]]
_LEAST_IMPORTANT = (
    *("version", "tags", "kinds", "licence", "parameters", "concept", "measures"),
    *("contexts", "specific words", "equalize sets", "dimensions", "category", "kind"),
)
"""Columns that a narrow terminal goes without, the first before the others."""


@click.group("list")
def command() -> None:
    """List models, mitigators, metrics, tasks, concepts or studies.

    PATTERN is a glob or part of a name.
    """


def _add(kind: str, rows: Callable[[Registry, dict[str, Any]], Rows], *more: Any) -> None:
    @click.argument("pattern", default="*")
    @arguments.as_json
    @click.option("--include", type=click.Path(path_type=Path), multiple=True, hidden=True)
    def run(pattern: str, as_json: bool, include: tuple[Path, ...], **filters: Any) -> None:
        from fnmatch import fnmatchcase

        from harness.commands import output
        from harness.registry.registry import Registry

        glob = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
        registry = Registry(include=include)
        found = [
            row for row in rows(registry, filters) if fnmatchcase(row["name"].lower(), glob.lower())
        ]
        if as_json:
            output.as_json(found)
        elif found:
            output.table(
                [key.replace("_", " ") for key in found[0]],
                [list(row.values()) for row in found],
                shorten=list(found[0])[-1],
                drop=_LEAST_IMPORTANT,
            )
        else:
            click.echo(f"no {kind} fit", err=True)
        for line in registry.notices:
            click.echo(line, err=True)

    for option in more:
        run = option(run)
    command.command(kind, help=f"List {kind}.")(run)


def _models(registry: Registry, filters: dict[str, Any]) -> Rows:
    rows = []
    for name, spec in registry.embedders.items():
        card = spec.card
        if filters["kind"] and not (card and card.kind == filters["kind"]):
            continue
        rows.append(
            {
                "name": f"{name}:…" if spec.provider else name,
                "kind": card.kind if card else None,
                "dimensions": card.dimensions if card else None,
                "parameters": _millions(card.n_parameters) if card else None,
                "licence": card.licence if card else None,
                "summary": spec.summary,
            }
        )
    return rows


def _mitigators(registry: Registry, filters: dict[str, Any]) -> Rows:
    return [{"name": n, "summary": s.summary} for n, s in registry.mitigators.items()]


def _metrics(registry: Registry, filters: dict[str, Any]) -> Rows:
    return [{"name": n, "summary": s.summary} for n, s in registry.metrics.items()]


def _tasks(registry: Registry, filters: dict[str, Any]) -> Rows:
    from harness.errors import UnknownName
    from harness.run.tasks import listed

    every = listed(registry)
    categories = {name for one in every for name in (one.file.category, one.file.measures)}
    tags = {tag for one in every for tag in one.file.tags}
    for kind, known in (("category", categories), ("tag", tags)):
        if filters[kind] and filters[kind] not in known:
            raise UnknownName(kind, filters[kind], known)
    rows = []
    for one in every:
        file = one.file
        if filters["kind"] and filters["kind"] not in file.kinds:
            continue
        if filters["tag"] and filters["tag"] not in file.tags:
            continue
        if filters["category"] and filters["category"] not in (file.category, file.measures):
            continue
        rows.append(
            {
                "name": file.name,
                "version": file.version,
                "measures": file.measures,
                "category": file.category,
                "concept": file.concept,
                "kinds": ", ".join(file.kinds),
                "tags": ", ".join(file.tags),
                "title": file.title,
            }
        )
    return rows


def _concepts(registry: Registry, filters: dict[str, Any]) -> Rows:
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


def _studies(registry: Registry, filters: dict[str, Any]) -> Rows:
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


def _valid(
    registry: Registry, documents: Mapping[str, Document], schema: type[Model]
) -> Iterator[tuple[str, Model]]:
    """Yield the files by name as `schema`; the registry notes those with a mistake in them."""
    from harness.errors import InvalidFile

    for name, document in sorted(documents.items()):
        try:
            yield name, document.validate(schema)
        except InvalidFile as error:
            registry.leave_out(error)


def _millions(n: int | None) -> str | None:
    return None if n is None else f"{n / 1e6:,.0f} M"


_kind = click.option("--kind", type=click.Choice(["word", "text"]), help="Kind of embedder.")
_tag = click.option("--tag", help="A tag.")
_category = click.option("--category", help="A category, or bias or usefulness.")
_add("models", _models, _kind)
_add("mitigators", _mitigators)
_add("metrics", _metrics)
_add("tasks", _tasks, _category, _tag, _kind)
_add("concepts", _concepts)
_add("studies", _studies)
