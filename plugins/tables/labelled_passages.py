"""Passages that a search found for labelled queries of MS MARCO, from the hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption

from ..corpora import entries
from .hub_rows import PINNED


def labelled_passages(
    rows: Sequence[Mapping[str, Any]],
    *,
    source: str,
    split: str,
    config: str = "",
    label: str = "n",
    queries: int = 100,
) -> list[dict[str, Any]]:
    """Return a row for each passage of the first queries that have a label.

    The data set has a row for each query, with `query_id`, `query` and `passages`, an object with
    the list `passage_text`. It is read as it arrives, until there are enough queries.

    Parameters
    ----------
    rows
        Lines in the column `line`: the number of a query, its text and its label, with commas. The
        text may have commas, too.
    source
        The data set, `hf://owner/name@COMMIT`.
    split, config
        Its split, and its configuration, if it has several.
    label
        The label.
    queries
        Number of queries.

    Returns
    -------
    list of dict
        `query_id`, `query` and `text`, the passage, in the order of the data set.

    Raises
    ------
    InvalidOption
        If a line has no number, the source has no full commit of 40 digits, or a row of the data
        set has another form.
    Unavailable
        If the library is not installed, or the data set cannot be loaded.
    """
    if not PINNED.fullmatch(source):
        raise InvalidOption(
            f"labelled-passages: source='{source}': expected hf://owner/name@COMMIT with the 40 "
            "digits of a commit"
        )
    labelled = set()
    for i, row in enumerate(rows, start=1):
        first, *_, last = str(row.get("line", "")).strip().split(",")
        if not first.isdecimal():
            raise InvalidOption(
                f"labelled-passages: row {i}: expected a column 'line' with a number, a query and "
                "a label, such as '1048725,who plays the king,n'"
            )
        if last == label:
            labelled.add(int(first))
    found: list[dict[str, Any]] = []
    left = queries
    for entry in entries.rows_on_hub(source, split, config=config):
        values = entry.values
        try:
            query_id, texts = int(values["query_id"]), list(values["passages"]["passage_text"])
            asked = {"query_id": query_id, "query": str(values["query"])}
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidOption(
                f"labelled-passages: {source}: expected 'query_id', 'query' and 'passages' with "
                f"'passage_text' in each row ({type(error).__name__}: {error})"
            ) from None
        if query_id in labelled and texts:
            found += [{**asked, "text": str(text)} for text in texts]
            left -= 1
            if left <= 0:
                break
    return found
