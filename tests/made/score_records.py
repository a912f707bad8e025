"""Records of scores, for tests of tables and comparisons."""

from __future__ import annotations

from typing import Any

from harness.results.record import Record, UnseenPart


def record(
    task: str = "t",
    mitigator: str = "none",
    value: float | None = 1.0,
    *,
    model: str = "m",
    measures: str = "bias",
    kind: str = "text",
    digest: str = "",
    family: str = "",
    **more: Any,
) -> Record:
    """Return a record of a WEAT effect size; `more` are further fields of it."""
    content: dict[str, Any] = {
        "run": "r",
        "created": "2026-01-01T00:00:00Z",
        "model": {"name": model, "fingerprint": f"print of {model}", "kind": kind},
        "mitigator": {"name": mitigator, "fingerprint": mitigator},
        "task": {
            "name": task,
            "version": 1,
            "digest": digest or task,
            "measures": measures,
            "family": family,
        },
        "category": "gender",
        "language": "en",
        "scenario": "default",
        "metric": "weat",
        "score": "effect_size",
        "primary": True,
        "value": value,
        "ideal": 0.0,
        "bounds": (-2.0, 2.0),
        "coverage": {"asked": 10, "found": 10},
        "seed": 0,
        "seconds": 0.5,
        "environment": {"harness": "0", "python": "3", "platform": "x", "device": "cpu"},
    }
    content |= more
    content.setdefault("ratio", ratio_of(content))
    return Record.model_validate(content)


def ratio_of(content: dict[str, Any], *, yardstick: float = 1.0) -> dict[str, Any] | None:
    """Return the ratio of a record of bias: its distance from the ideal, over a yardstick.

    The distance, on unseen words, is a share of the greatest one. A score without bounds or a fair
    number has none. Its errors are so small that the bias of a method is its ratio; that of the
    reference is 1.
    """
    unseen, ideal, bounds = content.get("unseen"), content["ideal"], content["bounds"]
    value = content["value"] if unseen is None else unseen.value
    if value is None or content["task"]["measures"] != "bias":
        return None
    if isinstance(ideal, str) or None in bounds:
        return None
    gap = abs(value - ideal) / max(abs(end - ideal) for end in bounds)
    return {
        "value": gap / yardstick,
        "low": gap / yardstick - 0.02,
        "high": gap / yardstick + 0.02,
        "gap": gap,
        "gap_error": 1e-6,
        "yardstick": yardstick,
        "yardstick_error": 1e-6,
        "t": yardstick / 1e-6,
        "df": 30.0,
        "of": "yardstick-words",
        "reference_gap": 1.0,
        "reference_yardstick": 1.0,
        "reference_error": 1e-6,
    }


def void(reason: str = "no unseen words") -> UnseenPart:
    """Return the part of a record of bias that is not judged."""
    return UnseenPart(kind="void", value=None, reason=reason)


def similarity(task: str, mitigator: str, value: float | None, **more: Any) -> Record:
    """Return a record of a correlation, for which higher is better."""
    fields = {"metric": "similarity", "score": "spearman", "ideal": "higher", "bounds": (-1.0, 1.0)}
    return record(task, mitigator, value, measures="usefulness", **fields | more)


def many(n_mitigators: int, n_tasks: int = 8, *, longest: str = "") -> list[Record]:
    """Return records of one model: bias and usefulness of mitigators, the first of them `none`.

    Each task of bias is a method of its own.
    """
    mitigators = ["none", *(f"mitigator-{i}{longest}" for i in range(1, n_mitigators))]
    return [
        *(
            record(
                f"association-{t}",
                mitigator,
                1.5 - 0.1 * m - 0.01 * t,
                p_value=0.004,
                category=f"category-{t}",
                family=f"method-{t}",
            )
            for t in range(n_tasks)
            for m, mitigator in enumerate(mitigators)
        ),
        *(
            similarity(f"similarity-{t}", mitigator, 0.5 - 0.01 * m, p_value=1e-9)
            for t in range(2)
            for m, mitigator in enumerate(mitigators)
        ),
    ]
