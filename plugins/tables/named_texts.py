"""Texts filtered by the names in them: with a person, and with any, only countries or no places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from harness.errors import InvalidOption, suggestion

from ..texts.mentions import Kind, Mention
from ..texts.spacy_mentions import MODEL, SpacyMentions
from .slots import country

Places: TypeAlias = Literal["any", "countries", "none"]
PLACES: tuple[Kind, ...] = ("place", "facility", "group")


def named_texts(
    rows: Sequence[Mapping[str, Any]],
    *,
    column: str = "text",
    places: Places = "any",
    max_words: int | None = 249,
    model: str = MODEL,
) -> list[Mapping[str, Any]]:
    """Return the rows whose text names a person and has only the allowed kinds of places.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column with the texts.
    places
        `any`: no restriction. `countries`: at least one country, and no other place, building or
        nationality. `none`: no place, building or nationality.
    max_words
        Largest number of words of a text; None for no limit. The paper takes plots of fewer than
        250 words, which most encoders do not truncate.
    model
        Name of the spaCy pipeline that finds the names.

    Raises
    ------
    InvalidOption
        If the column is missing.
    Unavailable
        If spaCy or its pipeline is not installed.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, section 3.3 and
    the captions of tables 3, 10, 11 and 13.
    """
    texts = column_of(rows, column, "named-texts")
    short = [
        i for i, text in enumerate(texts) if max_words is None or len(text.split()) <= max_words
    ]
    mentions = SpacyMentions(model).find([texts[i] for i in short])
    return [rows[i] for i, names in zip(short, mentions, strict=True) if _fits(names, places)]


def column_of(rows: Sequence[Mapping[str, Any]], column: str, maker: str) -> list[str]:
    """Return the texts of a column.

    Raises
    ------
    InvalidOption
        If a row does not have the column. The message names `maker`.
    """
    for row in rows:
        if column not in row:
            near = suggestion(column, row)
            raise InvalidOption(f"{maker}: the table has no column '{column}'{near}")
    return [str(row[column]) for row in rows]


def _fits(mentions: Sequence[Mention], places: Places) -> bool:
    if not any(mention.kind == "person" for mention in mentions):
        return False
    mentioned = [mention for mention in mentions if mention.kind in PLACES]
    if places == "none":
        return not mentioned
    return places == "any" or (bool(mentioned) and all(map(country, mentioned)))
