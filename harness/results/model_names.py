"""One name for each model of many records.

Runs at different times may have used several names for the same weights and settings, such as a
registered name and that of a folder. Records that are read together get one of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from harness.results.record import ModelPart, Record


def unified(records: Iterable[Record], notices: list[str]) -> list[Record]:
    """Return records, the last of each id in the place of the first, with one name for each model.

    The name of a model with a page (`url`) is preferred, since it is registered; then the one with
    most records, then the shortest. The other names become aliases.

    Parameters
    ----------
    records
        The records; a later one replaces an earlier one with its id.
    notices
        Is extended by a line for each further name of a model.
    """
    last: dict[str, Record] = {}
    parts: defaultdict[str, dict[str, ModelPart]] = defaultdict(dict)
    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        last[record.id] = record
        parts[record.model.fingerprint][record.model.name] = record.model
        counts[record.model.fingerprint, record.model.name] += 1
    chosen: dict[str, ModelPart] = {}
    for fingerprint, by_name in parts.items():
        if len(by_name) > 1:
            best = min(
                by_name.values(),
                key=lambda part: (
                    part.url is None,
                    -counts[part.fingerprint, part.name],
                    len(part.name),
                    part.name,
                ),
            )
            others = [name for name in by_name if name != best.name]
            notices += [
                f"{other} is the same model as {best.name}; its records are shown under {best.name}"
                for other in others
            ]
            aliases = dict.fromkeys([*best.aliases, *others])
            chosen[fingerprint] = best.model_copy(update={"aliases": tuple(aliases)})
    return [
        record.model_copy(update={"model": chosen[record.model.fingerprint]})
        if record.model.fingerprint in chosen
        else record
        for record in last.values()
    ]
