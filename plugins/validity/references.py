"""Writes the gaps of the reference encoders, from results without a mitigator.

`python -m harness.plugins.validity.references RESULTS FILE`; `harness.task.reference` reads FILE.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from harness import folders
from harness.embedder import Kind
from harness.results.folder import read_results
from harness.results.record import Record
from harness.task.reference import ENCODERS, Reference


def of_records(records: Iterable[Record]) -> list[Reference]:
    """Return the references that records of the reference encoders give, by task and kind."""
    found: dict[tuple[str, Kind], Reference] = {}
    records = list(records)
    versions = {record.task.name: record.task.version for record in records}
    for record in records:
        kind, model = record.model.kind, record.model.name
        if record.ratio is None or record.limit is not None or record.mitigator.name != "none":
            continue
        if ENCODERS.get(kind) != model or record.task.measures == "usefulness":
            continue
        found[record.task.name, kind] = Reference(
            task=record.task.name,
            version=record.task.version,
            kind=kind,
            model=model,
            gap=float(f"{record.ratio.gap:.6g}"),
            error=float(f"{record.ratio.gap_error:.4g}"),
            yardstick=float(f"{record.ratio.yardstick:.6g}"),
        )
        of = record.ratio.of
        if record.contrasts and of in versions:
            found[of, kind] = Reference(
                task=of,
                version=versions[of],
                kind=kind,
                model=model,
                gap=float(f"{record.ratio.yardstick:.6g}"),
                error=float(f"{record.ratio.yardstick_error:.4g}"),
                yardstick=float(f"{record.ratio.yardstick:.6g}"),
                contrasts={name: float(f"{v:.4g}") for name, v in record.contrasts.items()},
            )
    return [found[key] for key in sorted(found)]


def main(results: str, file: str) -> None:
    """Write what the results of the reference encoders give to a file."""
    references = of_records(read_results(results))
    lines = ",\n".join(reference.model_dump_json() for reference in references)
    folders.write_atomically(Path(file), f"[\n{lines}\n]\n".encode())
    print(f"wrote {file}: {len(references)} tasks")


if __name__ == "__main__":
    main(*sys.argv[1:3])
