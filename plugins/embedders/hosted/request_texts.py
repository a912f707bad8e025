"""The texts of a request for embeddings, with what it says about their role.

Either the prompts are put before the texts here, or the request names the role in its field
`input_type`, and the endpoint puts its own prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.embedder import Card, Role
from harness.errors import InvalidOption
from harness.plugins.embedders import prompts

FIELD = "input_type"
"""Field of a request, as Voyage, NVIDIA and others have it."""
_TYPES: dict[Role, str] = {role: f"{FIELD}={role}" for role in ("query", "document")}


class RequestTexts:
    """The texts of a request, by role.

    Parameters
    ----------
    model
        What errors call the model.
    card
        The model's card, which may state prompts.
    prompt, query_prompt, document_prompt, input_type
        See `OpenAIEmbedder`.

    Attributes
    ----------
    role_prompts
        As in `harness.embedder.ModelInfo`; the field and its value if the endpoint puts prompts.

    Raises
    ------
    InvalidOption
        If no prompt has the name, or a prompt and `input_type` are both set.
    """

    def __init__(
        self,
        model: str,
        card: Card | None,
        *,
        prompt: str | None,
        query_prompt: str | None,
        document_prompt: str | None,
        input_type: bool,
    ) -> None:
        self.role_prompts: dict[Role, str] = {"text": "", **_TYPES}
        self._prompts: dict[Role, str] = {}
        if input_type:
            if {prompt, query_prompt, document_prompt} != {None}:
                raise InvalidOption(
                    "input_type=true: the endpoint puts the prompts itself; leave out prompt, "
                    "query_prompt and document_prompt"
                )
            return
        stated = card.prompts if card else {}
        self.role_prompts = self._prompts = prompts.by_role(
            stated,
            model=model,
            default=stated.get("text", ""),
            prompt=prompt,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
        )

    def prompt(self, role: Role) -> str:
        """Return the prompt put before each text of a role; empty for none."""
        return self._prompts.get(role, self._prompts.get("text", ""))

    @property
    def by_request(self) -> bool:
        """Whether requests name the role, so that a text has a vector for each role."""
        return not self._prompts

    def body(
        self, texts: Sequence[str], role: Role | None, as_they_are: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return the fields of a request for texts of one role; with None, for texts as they are.

        Texts without a prompt, `as_they_are`, follow. The client of OpenAI takes a field that it
        does not know in `extra_body`.
        """
        if role is None:
            return {"input": list(texts)}
        prompted = [self.prompt(role) + text for text in texts]
        body: dict[str, Any] = {"input": [*prompted, *as_they_are]}
        if self.by_request and role in self.role_prompts and role != "text":
            body["extra_body"] = {FIELD: role}
        return body
