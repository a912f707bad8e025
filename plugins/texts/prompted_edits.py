"""Removes or replaces names with the prompts of the paper: a language model returns the new text.

Such an answer cannot be checked letter by letter, unlike the marks of `language_model`. The words
of the answer are compared with those of the text, so that a note can say how often the model
changed more than it was asked to.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from harness.errors import ModelError
from harness.letters import words

from ..embedders.hosted.chat import Chat
from .model_answers import ModelAnswers, short, unfenced

# "What is in a name?", tables 5 and 17, as printed; their line breaks and hyphens are joined.
REMOVE = (
    "Given below text, please COMPLETELY DELETE all Person/Character names which are PROPER NOUNS "
    "and City/ Country/ Village/ Town/ Continent/ River/ Organization names which are PROPER NOUNS "
    "etc. Wherever they occur replace with empty string. Completely remove them and not anything "
    "else. Do not delete monument/landmark names like Eiffel tower etc. Do not remove "
    "He/She/him/her etc Output contains the modified text only The text is provided below ::::"
)
REMOVE_PEOPLE = (
    "Given below text, please COMPLETELY DELETE all Person/Character names which are PROPER NOUNS. "
    "Wherever they occur replace with empty string. Completely remove them and not anything else. "
    "Do not remove He/She/him/her etc Output contains the modified text only The text is provided "
    "below ::::"
)
REPLACE = (
    "Given below text, please convert all Person names(which are Proper Nouns) to a UNIQUE ID such "
    "as CHAR_A, CHAR_B, CHAR_C etc Keep it unique and for each UNIQUE Person name(which is a "
    "Proper Noun) use a UNIQUE ID. DO NOT KEEP THE ORIGINAL Person Names(which are Proper Nouns) "
    "in the generated paragraph text. Next, Replace all occurences City/Country/Village/Town/"
    "River/Continent etc. names which are PROPER NOUNS to a UNIQUE ID such as LOC_A, LOC_B, LOC_C, "
    "LOC_D etc Next, Replace all occurences of company/organization names which are PROPER NOUNS "
    "to a UNIQUE ID such as ORG_A, ORG_B, ORG_C, ORG_D etc Do not replace monument/landmark names "
    "like Eiffel tower etc. Output contains the modified text only The text is provided below ::::"
)
LEAST_SHARED = 0.5
"""An answer with a smaller share of words that are the text's, in its order, is no edit of it."""
_PLACEHOLDER = re.compile(r"\b(?:CHAR|LOC|ORG)_\w+")


class PromptedEdits:
    """Texts without names, as a language model returns them: one request for each text.

    An answer that is no edit of its text is invalid: the text keeps its names, and `notes` report
    it.

    Parameters
    ----------
    chat
        The language model.
    prompt
        `REMOVE`, `REMOVE_PEOPLE` or `REPLACE`. It stands before the text, in one message.
    """

    def __init__(self, chat: Chat, prompt: str) -> None:
        self._answers = ModelAnswers(chat, "edited-texts", prompt, read, in_message=True)
        self.identity = self._answers.identity
        self.changed: set[str] = set()
        """Texts in which the model changed other words too."""
        self._edited: set[str] = set()

    def edit(self, texts: Sequence[str]) -> list[str]:
        """Return the `n` texts as the model edited them.

        Raises
        ------
        Unavailable
            If the endpoint is unavailable; the answers so far are kept.
        ModelError
            If there are texts, and no answer so far is valid.
        """
        answers = self._answers.of(texts)
        self._edited |= answers.keys()
        self.changed |= {text for text, edited in answers.items() if shared(text, edited) < 1}
        return [answers.get(text, text) for text in texts]

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines about the texts that keep names, and those with further changes."""
        lines = self._answers.notes("edit of them")
        if not self.changed:
            return lines
        return (
            *lines,
            f"the language model changed other words too in {len(self.changed)} of "
            f"{len(self._edited)} texts",
        )


def read(text: str, answer: str) -> str:
    """Return the edited text of an answer, without a code fence.

    Raises
    ------
    ModelError
        If it is no edit of the text: empty though the text has more than names, or mostly other
        words.
    """
    edited = unfenced(answer)
    if not edited and any(word.islower() for word in words(text)):
        raise ModelError("it is empty")
    if shared(text, edited) < LEAST_SHARED:
        raise ModelError(f"'{short(edited)}' has mostly other words")
    return edited


def shared(text: str, edited: str) -> float:
    """Return the share of the words of `edited` that are words of `text` in the same order.

    Placeholders do not count. 1 if `edited` has no words: then all were removed.
    """
    before = words(text)
    after = words(_PLACEHOLDER.sub(" ", edited))
    return _longest_common(before, after) / len(after) if after else 1.0


def _longest_common(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the length of the longest common subsequence (Hunt and Szymanski 1977)."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(before):
        places[word].insert(0, place)
    ends: list[int] = []  # ends[k]: the first place where a subsequence of k + 1 words can end
    for word in after:
        for place in places.get(word, ()):
            k = bisect_left(ends, place)
            ends[k : k + 1] = [place]
    return len(ends)
