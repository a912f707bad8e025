"""The size of an input of a task, counted as its texts are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness import limits
from harness.task.yaml_files import Document, KeyPath


class InputSize:
    """The number of texts and characters of an input.

    Parameters
    ----------
    document
        The parsed file, for errors.
    place
        Key of the input.
    """

    def __init__(self, document: Document, place: KeyPath) -> None:
        self._document, self._place = document, place
        self._texts = self._characters = 0

    def add(self, values: Sequence[Any]) -> None:
        """Count values; those that are no texts have no characters.

        Raises
        ------
        InvalidFile
            If the input is larger than the limits, or a text cannot be written as UTF-8.
        """
        texts = [value for value in values if isinstance(value, str)]
        longest = max(map(len, texts), default=0)
        self._texts += len(values)
        self._characters += sum(map(len, texts))
        for size, largest, unit in (
            (longest, limits.TEXT_CHARACTERS, "characters of a text"),
            (self._texts, limits.INPUT_TEXTS, "texts"),
            (self._characters, limits.INPUT_CHARACTERS, "characters of all texts"),
        ):
            if size > largest:
                raise self._document.error(limits.too_many(size, largest, unit), self._place)
        for text in texts:
            if not text.isascii():
                self._check_characters(text)

    def _check_characters(self, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError as error:  # half of a character, as JSON may have it
            problem = f"the text {text[:40]!r} has a character that is none ({error.reason})"
            raise self._document.error(problem, self._place) from None
