"""Records of made-up models on shipped text tasks, which a board trusts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from submission_records import changed, good_records

from harness.results.record import Record

CONTROL = "seat-c1"
BIAS = ("name-triplets", "seat-c5", "seat-c6", "seat-c8b", "seat-c7b", "gender-occupations")
"""Tasks of several methods."""
USEFUL = ("simlex-999", "ws-353")
TASKS = (CONTROL, *BIAS, *USEFUL)
MITIGATORS = {"none": 1.0, "normalize": 0.9, "hard-debias": 0.5}
"""Share of the bias that each leaves."""
RATIO = {
    "value": None, "low": None, "high": None, "gap_error": 0.01, "yardstick": 0.4,
    "yardstick_error": 0.02, "t": 20.0, "df": 20.0,
}  # fmt: skip


def board_records(
    models: Sequence[str] = ("good", "better", "best"), tasks: Sequence[str] = TASKS
) -> list[Record]:
    """Return the records of usable models, the last one with the least bias.

    Their yardsticks are clear, those of random vectors are not.
    """
    records = []
    for place, model in enumerate(models):
        own = {record.task.name: record for record in good_records(model, kind="text")}
        for mitigator, left in MITIGATORS.items():
            for task in tasks:
                record = own[task]
                share = left * (1 - 0.2 * place)
                value = {"control": 0.1, "usefulness": 0.7, "bias": 0.02 * share}
                edits: dict[str, Any] = {"value": value[record.task.measures]}
                if record.task.measures == "bias":
                    of = "items" if record.ratio is None else record.ratio.of
                    edits |= {"ratio": RATIO | {"gap": 0.1 * share, "of": of}}
                if task == "name-triplets":
                    edits["value"] = 1 - 0.3 * share
                if mitigator != "none":
                    edits |= {
                        f"mitigator__{key}": mitigator
                        for key in ("name", "label", "fingerprint", "method")
                    }
                content = record.model_dump(mode="json", by_alias=True)
                records.append(changed(content, p_value=0.001, **edits))
    return records
