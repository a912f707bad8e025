"""Rows of a data set of the Hugging Face hub that has no file which a task can fetch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness import limits
from harness.errors import InvalidOption

from ..corpora import entries

PINNED = re.compile(r"hf://[^@]+@[0-9a-f]{40}")
"""A data set of the hub with the full id of a commit."""


def hub_rows(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of data sets of the hub, one after the other.

    The library `datasets` reads them as they arrive, in any of its formats (extra `train`). A task
    states the data set with the full id of a commit, which pins the content as a SHA-256 does a
    file.

    Parameters
    ----------
    rows
        A row for each part, with the columns `source`, `hf://owner/name@COMMIT`, and `split`.

    Raises
    ------
    InvalidOption
        If a column is missing, the source has no full commit of 40 digits, or there are more rows
        than a table may have.
    Unavailable
        If the library is not installed, or the data set cannot be loaded.
    """
    found: list[Mapping[str, Any]] = []
    for row in rows:
        source, split = str(row.get("source", "")), str(row.get("split", ""))
        if not PINNED.fullmatch(source) or not split:
            raise InvalidOption(
                f"hub-rows: source='{source}', split='{split}': expected the columns source, "
                "hf://owner/name@COMMIT with the 40 digits of a commit, and split"
            )
        for entry in entries.rows_on_hub(source, split):
            found.append(entry.values)
            if len(found) > limits.TABLE_ROWS:
                raise InvalidOption(f"hub-rows: {source} has more than {limits.TABLE_ROWS:,} rows")
    return found
