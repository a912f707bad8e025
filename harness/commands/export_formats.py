"""The formats of `harness results export`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.results.records import Records

FORMATS = ("table", "csv", "latex", "markdown", "parquet")
SUFFIXES = {
    "": "table", ".txt": "table", ".csv": "csv", ".tex": "latex", ".md": "markdown",
    ".parquet": "parquet",
}  # fmt: skip
"""Format by the suffix of the file."""


def of_file(out: Path | None) -> str:
    """Return the format that the suffix of a file stands for."""
    from harness.errors import UsageError

    suffix = "" if out is None else out.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"'{out}': no format has the suffix '{suffix}'; name one with --format, or use "
            f"{', '.join(filter(None, SUFFIXES))}"
        )
    return SUFFIXES[suffix]


def written(records: Records, kind: str, *, intervals: bool) -> bytes:
    """Return records in a format, as the content of a file."""
    import io

    from harness.commands import result_tables
    from harness.results import formats, markup
    from harness.results.tables import sections

    if kind == "parquet":
        buffer = io.BytesIO()
        records.to_polars().write_parquet(buffer)
        return buffer.getvalue()
    texts: dict[str, Callable[[], str]] = {
        "table": lambda: result_tables.text(records, intervals=intervals),
        "csv": lambda: markup.comma_separated(records.rows()),
        "latex": lambda: formats.latex(sections(records), intervals=intervals),
        "markdown": lambda: formats.markdown(sections(records), intervals=intervals),
    }
    return texts[kind]().encode()
