"""Writes the gaps of the reference encoders, and the scales of families, from results.

`python perf/references.py RESULTS FILE`; `harness.task.reference` reads FILE.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness import folders
from harness.embedder import Kind, reads_texts
from harness.results import ratios
from harness.results.folder import read_results
from harness.results.record import Counted, Record
from harness.task.reference import ENCODERS, FEWEST_OF_POOL, POOL, Reference


def of_records(records: Iterable[Record]) -> list[Reference]:
    """Return the references that records of the reference encoders give, by task and kind."""
    found: dict[tuple[str, Kind], Reference] = {}
    records = list(records)
    versions = {record.task.name: record.task.version for record in records}
    families = {record.task.name: record.family for record in records}
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
    scales = _scales(records, found)
    return [
        held.model_copy(update={"scale": scales.get((key[1], families.get(key[0], "")))})
        for key, held in sorted(found.items())
    ]


def _scales(
    records: Iterable[Record], found: Mapping[tuple[str, Kind], Reference]
) -> dict[tuple[Kind, str], float]:
    """Return the root mean square of the bias of the models of `POOL` in each family."""
    cells: defaultdict[tuple[Kind, str], defaultdict[str, list[Counted]]]
    cells = defaultdict(lambda: defaultdict(list))
    for record in records:
        kind: Kind = "text" if reads_texts(record.model.kind) else "word"
        held = found.get((record.task.name, kind))
        counts = record.primary and record.mitigator.name == "none" and record.limit is None
        is_ranked = record.task.measures == "bias" and not record.task.unranked
        if held is None or record.ratio is None or not (counts and is_ranked):
            continue
        counted = Counted(
            *(record.ratio.gap, record.ratio.yardstick, record.ratio.power),
            *(held.gap, held.yardstick, held.error),
        )
        if record.model.name in POOL.get(kind, ()):
            cells[kind, record.family][record.model.name].append(counted)
    scales = {}
    for key, of_family in cells.items():
        most = max(map(len, of_family.values()))  # each model on all tasks of the family
        whole = [ratios.pool(of) for of in of_family.values() if len(of) == most]
        values = [value for value in whole if value is not None]
        if len(values) >= FEWEST_OF_POOL:
            scales[key] = float(f"{math.hypot(*values) / math.sqrt(len(values)):.4g}")
    return scales


def main(results: str, file: str) -> None:
    """Write what the results of the reference encoders give to a file."""
    references = of_records(read_results(results))
    lines = ",\n".join(reference.model_dump_json() for reference in references)
    folders.write_atomically(Path(file), f"[\n{lines}\n]\n".encode())
    print(f"wrote {file}: {len(references)} tasks")


if __name__ == "__main__":
    main(*sys.argv[1:3])
