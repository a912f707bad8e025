"""The prompts that an encoder puts before texts, by the role that a task gives each text.

A model states its prompts by name, in its files or on its card. sentence-transformers uses the
prompt `query` for queries and `document` for documents, whatever the default prompt is, which is
for other texts. Where these two are missing or empty, the names of this table are understood, in
this order:

=========  =========================================================================================
queries    `query`, `queries`, `retrieval.query`, `search_query`, `web_search_query`, `s2p_query`,
           `question`, `InstructionRetrieval-query`, `Reranking-query`
documents  `document`, `passage`, `corpus`, their plurals, `doc`, and `retrieval.`, `search_`,
           `web_search_`, `s2p_`, `InstructionRetrieval-` and `Reranking-` with one of these
others     the default prompt of the files, else `text` on a card
=========  =========================================================================================

Capitals, dots, hyphens and the like make no difference. The names of other tasks, such as `STS` or
`Classification`, are for users, who choose them by an option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from harness.embedder import Role
from harness.errors import InvalidOption, suggestion

_LIBRARY: dict[Role, str] = {"query": "query", "document": "document"}
"""Names that sentence-transformers uses by itself."""
_DOCUMENTS = ("document", "passage", "corpus", "documents", "passages", "doc", "docs")
_NAMES: dict[Role, tuple[str, ...]] = {
    "query": (
        *("query", "queries", "retrieval.query", "search_query", "web_search_query", "s2p_query"),
        *("question", "questions", "InstructionRetrieval-query", "Reranking-query"),
    ),
    "document": (
        *_DOCUMENTS,
        *(
            f"{task}.{name}"
            for task in ("retrieval", "search", "web_search", "s2p")
            for name in _DOCUMENTS
        ),
        *(
            f"{task}.{name}"
            for task in ("InstructionRetrieval", "Reranking")
            for name in _DOCUMENTS
        ),
    ),
}
_ROLES: dict[Role, re.Pattern[str]] = {
    "query": re.compile("quer(y|ies)|question"),
    "document": re.compile("doc|passage|corpus"),
}
"""What the name of a prompt for a role has in it, whether it is understood or not."""
_OPTION_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]*")
_PLACEHOLDER = re.compile(r"\{\w*\}")


def by_role(
    named: Mapping[str, str],
    *,
    model: str,
    default: str = "",
    plain: str | None = None,
    prompt: str | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
) -> dict[Role, str]:
    """Return the prompts in use by role; empty if no text gets one.

    If all roles have one prompt, it is listed for `text` alone.

    Parameters
    ----------
    named
        The prompts that the model states, by name.
    model
        What errors call the model.
    default
        The prompt for any text, if the model states none for queries or documents.
    plain
        The prompt for texts that are neither, whatever the model states for the others; None for
        `default`.
    prompt
        The user's prompt for any text, or the name of a stated one; None for the model's own.
    query_prompt, document_prompt
        The same for queries and for documents.

    Raises
    ------
    InvalidOption
        If an option is a single word and no prompt has that name.
    """
    if prompt is not None:
        text = query = document = _stated(prompt, "prompt", named, model)
    else:
        text = default if plain is None else plain
        names = {role: _name(role, named) for role in _NAMES}
        has_roles = plain is not None or any(names.values())
        query, document = (
            named[name] if name else "" if has_roles else default for name in names.values()
        )
    if query_prompt is not None:
        query = _stated(query_prompt, "query_prompt", named, model)
    if document_prompt is not None:
        document = _stated(document_prompt, "document_prompt", named, model)
    if query == document == text:
        return {"text": text} if text else {}
    return {"text": text, "query": query, "document": document}


def notices(
    named: Mapping[str, str],
    used: Mapping[Role, str],
    *,
    prompt: str | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
) -> Iterator[str]:
    """Yield what a user may not expect of the prompts in use, a line for each.

    Parameters
    ----------
    named
        The prompts that the model states, by name.
    used
        The prompts in use by role.
    prompt, query_prompt, document_prompt
        The user's options, as for `by_role`.
    """
    chosen = {"query": query_prompt, "document": document_prompt}
    open_roles = [role for role in _NAMES if prompt is None and chosen[role] is None]
    names = {role: _name(role, named) for role in open_roles}
    taken = [
        f"{_plural(role)} get its prompt '{name}'"
        for role, name in names.items()
        if name and name != _LIBRARY[role]
    ]
    if taken:
        yield f"{', '.join(taken)}; to use another one, write {_options(open_roles)}"
    stated = [name for name, text in named.items() if text]
    without = [
        role
        for role in open_roles
        if not names[role]
        and (not any(names.values()) or any(_ROLES[role].search(_bare(n)) for n in stated))
        and not used.get(role, used.get("text"))
    ]
    unused = [name for name in stated if named[name] not in used.values()]
    if without and unused:
        listed = ", ".join(f"'{name}'" for name in unused[:8]) + ", …" * (len(unused) > 8)
        yield (
            f"{' and '.join(map(_plural, without))} get none of its prompts ({listed}); to use "
            f"one, write {_options(without)}"
        )
    for text in dict.fromkeys(used.values()):
        if found := _PLACEHOLDER.search(text):
            role = next(role for role, other in used.items() if other == text)
            option = "prompt" if role == "text" else f"{role}_prompt"
            yield (
                f"its prompt {text[:100]!r} has the placeholder '{found[0]}', which nothing fills "
                f"in; write the whole prompt: ?{option}=TEXT"
            )


def _name(role: Role, named: Mapping[str, str]) -> str:
    """Return the name of the stated prompt of a role; empty if none is understood."""
    stated = {name: text for name, text in named.items() if text}
    if _LIBRARY[role] in stated:
        return _LIBRARY[role]
    bare = {_bare(name): name for name in reversed(stated)}
    return next((bare[key] for name in _NAMES[role] if (key := _bare(name)) in bare), "")


def _options(roles: Iterable[Role]) -> str:
    return "?" + "&".join(f"{role}_prompt=NAME" for role in roles)


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _plural(role: Role) -> str:
    return {"query": "queries", "document": "documents", "text": "texts"}[role]


def _stated(prompt: str, option: str, named: Mapping[str, str], model: str) -> str:
    """Return the prompt of a name, or a prompt of more than one word as it is."""
    if prompt in named:
        return named[prompt]
    if _OPTION_NAME.fullmatch(prompt):
        raise InvalidOption(
            f"{option}={prompt}: '{model}' has no prompt '{prompt}'{suggestion(prompt, named)}"
            " (a prompt of more than one word is used as it is)"
        )
    return prompt
