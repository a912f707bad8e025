"""One name for each model of many records, and one label for each mitigator.

Runs at different times may have used several names for the same weights and settings, such as a
registered name and that of a folder. Records that are read together get one of them. Two
mitigators may have one label, such as a class before and after an edit. Theirs get an ending.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from harness import labels
from harness.results.record import Record
from harness.results.record_parts import MitigatorPart, ModelPart


def unified(records: Iterable[Record], notices: list[str]) -> list[Record]:
    """Return records, the last of each id in the place of the first, named consistently.

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
    named = [
        record.model_copy(update={"model": chosen[record.model.fingerprint]})
        if record.model.fingerprint in chosen
        else record
        for record in last.values()
    ]
    return _with_distinct_labels(named)


def _with_distinct_labels(records: Sequence[Record]) -> list[Record]:
    """Return records with the end of the method's digest in labels that several methods share."""
    methods: defaultdict[str, set[str]] = defaultdict(set)
    for record in records:
        if record.mitigator.method:
            methods[record.mitigator.label].add(record.mitigator.method)

    def distinct(part: MitigatorPart) -> MitigatorPart:
        if len(methods[part.label]) < 2 or not part.method:
            return part
        label = labels.with_fingerprint(part.label, part.method)
        return part.model_copy(update={"label": label})

    return [
        record.model_copy(update={"mitigator": distinct(record.mitigator)}) for record in records
    ]
