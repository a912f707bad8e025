"""What can be made of a task's tables: a plugin that lists it; each is one file and one line."""

from __future__ import annotations

from harness.specs import TableSpec, hookimpl


@hookimpl
def harness_tables() -> list[TableSpec]:
    """List what is built in."""
    return [
        _table("labelled-lines", "the label that each line begins with, and the text after it"),
        _table("explode", "a row for each element of a list"),
        _table("marked-names", "texts with marked names: their own, shared, removed or replaced"),
        _table("named-texts", "the rows whose text names a person, by the places it names"),
        _table("name-perturbations", "each text some times, with other people or countries"),
        _table("query-variants", "search queries with no gender, one and the other, from JSON"),
        _table("codes", "a column of words as their places in a list, for groups"),
        _table("sample", "some of the rows, the same always, in the proportions of a column"),
    ]


def _table(name: str, summary: str) -> TableSpec:
    """Describe a maker whose module and function have its name."""
    module = name.replace("-", "_")
    target = f"harness.plugins.tables.{module}:{module}"
    return TableSpec(name=name, target=target, summary=summary)
