"""Table IV of Zambrano and Bravo-Marquez, criterion WEAT, and the published folds behind it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

COLUMNS = ("Weat", "RND", "RIPA", "RNSB", "ECT", "Weates")
TABLE_IV = {
    "HD": "-.1 .031|-.234 .102|-.186 .035|-.073 .024|.14 .113|-.325 .114",
    "DHD": "-.033 .009 v|-.024 .011 v|-.035 .012 v|-.004 .012 v|.008 .026 v|-.056 .036 v",
    "RAN": "-.099 .037 =|-.233 .101 =|-.19 .036 ^|-.074 .034 =|.15 .123 =|-.341 .129 =",
    "HSR": "-.124 .032 ^|-.022 .092 v|-.157 .036 v|-.042 .033 v|-.151 .082 ^|-.229 .082 =",
}
"""Mean change ± standard deviation, and the arrow against HD."""
FOLDS = Path(__file__).parents[1] / "reference" / "zambrano_weat_folds.tsv"


def folds() -> dict[str, dict[str, np.ndarray]]:
    """Return the (10,) published values by method and measure."""
    lines = [
        line for line in FOLDS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    ]
    values: dict[str, dict[str, list[float]]] = {}
    for row in csv.DictReader(lines, delimiter="\t"):
        for measure in COLUMNS:
            columns = values.setdefault(row["method"], {})
            columns.setdefault(measure, []).append(float(row[measure]))
    return {
        method: {measure: np.array(column) for measure, column in columns.items()}
        for method, columns in values.items()
    }


def printed(method: str) -> Iterator[tuple[str, float, float, str]]:
    """Yield a measure of Table IV's row, its mean and deviation, and its arrow."""
    for measure, cell in zip(COLUMNS, TABLE_IV[method].split("|"), strict=True):
        mean, deviation, *arrow = cell.split()
        yield measure, float(mean), float(deviation), "".join(arrow)
