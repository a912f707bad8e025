"""The prompts that an encoder puts before texts, by the role that a task gives each text.

A model states its prompts by name, in its files or on its card. The names of sentence-transformers
give the roles: `query` for queries, and `document`, `passage` or `corpus` for documents. A card may
also state `text`: the prompt of texts that are neither.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.embedder import Role
from harness.errors import InvalidOption, suggestion

DOCUMENT_NAMES = ("document", "passage", "corpus")
"""Names of the prompt of documents; of several, sentence-transformers uses the first of these."""
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def by_role(
    named: Mapping[str, str],
    *,
    model: str,
    default: str = "",
    prompt: str | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
) -> dict[Role, str]:
    """Return the prompts in use by role; empty if no text gets one.

    With `prompt`, or if the model states none for queries or documents, all roles have one prompt.
    It is then listed for `text` alone.

    Parameters
    ----------
    named
        The prompts that the model states, by name.
    model
        What errors call the model.
    default
        The prompt that the model states for any text.
    prompt
        The user's prompt for any text, or the name of a stated one; None for the model's own.
    query_prompt, document_prompt
        The same for queries and for documents.

    Raises
    ------
    InvalidOption
        If an option is a single word and no prompt has that name.
    """
    text = default if prompt is None else _stated(prompt, "prompt", named, model)
    stated = next((named[name] for name in DOCUMENT_NAMES if name in named), None)
    query, document = text, text
    if prompt is None and ("query" in named or stated is not None):
        query, document = named.get("query", ""), stated or ""
    if query_prompt is not None:
        query = _stated(query_prompt, "query_prompt", named, model)
    if document_prompt is not None:
        document = _stated(document_prompt, "document_prompt", named, model)
    if query == document == text:
        return {"text": text} if text else {}
    return {"text": text, "query": query, "document": document}


def _stated(prompt: str, option: str, named: Mapping[str, str], model: str) -> str:
    """Return the prompt of a name, or a prompt of more than one word as it is."""
    if prompt in named:
        return named[prompt]
    if _NAME.fullmatch(prompt):
        raise InvalidOption(
            f"{option}={prompt}: '{model}' has no prompt '{prompt}'{suggestion(prompt, named)}"
            " (a prompt of more than one word is used as it is)"
        )
    return prompt
