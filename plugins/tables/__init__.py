"""Plugin of the built-in table makers: one file per maker, one line per maker here.

A table maker turns the rows of a task's table into other rows. `slots` is a helper: the positions
of names in a text.
"""

from __future__ import annotations

from harness.specs import TableSpec, hookimpl


@hookimpl
def harness_tables() -> list[TableSpec]:
    """List the built-in table makers."""
    return [
        _table("labelled-lines", "label and text of lines that begin with a label"),
        _table("explode", "one row per element of a list"),
        _table("marked-names", "texts with marked names: original, shared, removed or replaced"),
        _table("named-texts", "rows whose text names a person, filtered by the places it names"),
        _table("name-perturbations", "copies of each text with other people or countries"),
        _table(
            "query-variants", "search queries without gender, stereotyped and opposite, from JSON"
        ),
        _table("association-tests", "texts of an association test's four sets, from JSON (SEAT)"),
        _table("gender-swaps", "sentences about one gender beside their swapped versions"),
        _table("shared-words", "what two sentences share, and what only one of them has"),
        _table("left-out", "texts with a word left out, such as a blank"),
        _table("misspelt", "texts with as many misspelt words as another version has other words"),
        _table("json-rows", "rows of a JSON list of objects"),
        _table("codes", "words of a column as integer codes"),
        _table("counted-words", "texts with how often words of two groups occur in them"),
        _table("descriptor-sentences", "sentences that differ in a descriptor of a person"),
        _table("mended-tests", "words of association tests, none of which counts twice in a test"),
        _table("rated-choices", "an attribute, a group that raters stereotype by it, and another"),
        _table("hub-rows", "rows of a data set of the hub, at a pinned commit"),
        _table("labelled-passages", "passages that were found for labelled queries (MS MARCO)"),
        _table("native-tests", "association tests that speakers of a language wrote (CA-WEAT)"),
        _table("translated-tests", "association tests from English words and their translations"),
        _table("applications", "résumés that differ in the name, with queries for their job"),
        _table("sample", "random rows, reproducible, optionally stratified by a column"),
    ]


def _table(name: str, summary: str) -> TableSpec:
    """Describe a table maker whose module and function have its name."""
    module = name.replace("-", "_")
    target = f"harness.plugins.tables.{module}:{module}"
    return TableSpec(name=name, target=target, summary=summary)
