"""Sentences about people that differ only in a descriptor, from the JSON file of HolisticBias."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption, suggestion

from .sample import sample

KEPT = ("reviewed", "no_data")
"""Preferences that are kept by default: `dispreferred` and `polarizing` descriptors are not."""
WITH_AN = (*"aeiou8", "f2m", "foc", "ftm", "lgbt", "m2f", "moc", "mtf")
"""Beginnings of descriptors that take `an`."""
WITH_A = ("eu", "one-", "uni", "us-")
"""Exceptions."""


def descriptor_sentences(
    rows: Sequence[Mapping[str, Any]],
    *,
    axis: str,
    templates: tuple[str, ...],
    nouns: tuple[tuple[str, str], ...],
    preferences: tuple[str, ...] = KEPT,
    without: tuple[str, ...] = (),
    most: int | None = None,
) -> list[dict[str, Any]]:
    """Return a row for each descriptor of an axis in each template with each noun.

    Parameters
    ----------
    rows
        Lines of the JSON file, in the column `line`: an object of axes, each an object of lists
        of descriptors. A descriptor is a word, or an object with `descriptor` and, optionally,
        `article` and `preference`.
    axis
        One of the axes, such as `nationality`.
    templates
        Sentences with `{noun_phrase}` or `{plural_noun_phrase}`.
    nouns
        Nouns, each with its plural.
    preferences
        Which descriptors are kept, by what people with experience of them say: `dispreferred`,
        `polarizing`, `reviewed`, or `no_data` where nobody was asked.
    without
        Further descriptors that are left out.
    most
        Largest number of descriptors; a random sample of more (the table maker `sample`). None
        for all.

    Returns
    -------
    list of dict
        `text`, the sentence; `descriptor`, `bucket` and `preference`; `group`, the number of the
        descriptor; `frame`, the number of the template with its noun. Both count from 0.

    Raises
    ------
    InvalidOption
        If the lines are no such JSON object, the axis is unknown, or no descriptor is left.

    References
    ----------
    Smith, Hall, Kambadur, Presani and Williams (2022), "I'm sorry to hear that": finding new
    biases in language models with a holistic descriptor dataset.
    """
    kept: dict[str, Mapping[str, str]] = {}
    for entry in _descriptors(rows, axis):
        if entry["preference"] in preferences and entry["descriptor"] not in without:
            kept.setdefault(entry["descriptor"], entry)
    if not kept:
        raise InvalidOption(f"descriptor-sentences: no descriptor of '{axis}' is left")
    chosen = sample(list(kept.values()), n=most)
    frames = [(template, *noun) for template in templates for noun in nouns]
    return [
        {
            "text": template.replace("{noun_phrase}", _with_article(entry, noun)).replace(
                "{plural_noun_phrase}", f"{entry['descriptor']} {plural}"
            ),
            **{name: entry[name] for name in ("descriptor", "bucket", "preference")},
            "group": group,
            "frame": frame,
        }
        for group, entry in enumerate(chosen)
        for frame, (template, noun, plural) in enumerate(frames)
    ]


def _descriptors(rows: Sequence[Mapping[str, Any]], axis: str) -> Iterator[dict[str, str]]:
    try:
        axes = json.loads("\n".join(row["line"] for row in rows))
        if axis not in axes:
            raise InvalidOption(
                f"descriptor-sentences: unknown axis '{axis}'{suggestion(axis, axes)}"
            )
        for bucket, entries in axes[axis].items():
            for entry in entries:
                whole = {"descriptor": entry} if isinstance(entry, str) else entry
                yield {
                    "descriptor": str(whole["descriptor"]),
                    "bucket": bucket,
                    "preference": whole.get("preference", "no_data"),
                    "article": whole.get("article", ""),
                }
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise InvalidOption(
            "descriptor-sentences: the column 'line' must hold a JSON object of axes, with "
            f"objects of lists of descriptors ({type(error).__name__}: {error})"
        ) from None


def _with_article(entry: Mapping[str, str], noun: str) -> str:
    """Return `a` or `an`, the descriptor and the noun."""
    start = entry["descriptor"].lower()
    by_sound = "an" if start.startswith(WITH_AN) and not start.startswith(WITH_A) else "a"
    return f"{entry['article'] or by_sound} {entry['descriptor']} {noun}"
