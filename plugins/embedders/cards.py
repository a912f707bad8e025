"""How a model of the hub is registered with its card; `cards_*.py` list the models by paper.

What is not known for sure is left out. Numbers of parameters are those of the architecture as
transformers builds it, or rounded as the model's page gives them. What the files of a model say
when it is used goes before its card. No weights are known here, and nothing heavy is imported.
"""

from __future__ import annotations

from typing import Any

from harness.embedder import Card
from harness.specs import EmbedderSpec

ENCODER = "harness.plugins.embedders.transformers.sentence_transformer:SentenceTransformersEmbedder"
LANGUAGE_MODEL = "harness.plugins.embedders.transformers.last_token:LastTokenEmbedder"
TABLE_3 = "Uriot 2024, context injection, table 3 (MTEB average as of 20 September 2024)"
NAME_BIAS = "name bias in text embeddings and anonymisation, tables 1, 6 and 20"
HUB = "the model's page on the Hugging Face hub"


def encoder(
    name: str,
    model: str,
    *,
    mteb: float | None = None,
    rank: int | None = None,
    own_code: bool = False,
    languages: tuple[str, ...] = ("en",),
    sources: tuple[str, ...] = (),
    target: str = ENCODER,
    options: dict[str, Any] | None = None,
    **facts: Any,
) -> EmbedderSpec:
    """Return a model of the hub, run by sentence-transformers unless `target` says otherwise.

    Parameters
    ----------
    name
        Name that users type.
    model
        `owner/name` on the hub.
    mteb, rank
        Its MTEB average and its rank by it, in table 3 of the context-injection paper.
    own_code
        Whether it brings Python code of its own, which is run only on demand.
    languages, sources
        See `harness.embedder.Card`; the hub's page is a source in any case.
    target, options
        See `harness.specs.EmbedderSpec`.
    **facts
        Further fields of the card.
    """
    card = Card(
        name=name,
        kind="text",
        languages=languages,
        url=f"https://huggingface.co/{model}",
        scores={} if mteb is None or rank is None else {"MTEB": mteb, "MTEB rank": rank},
        sources=(HUB, *([] if mteb is None else [TABLE_3]), *sources),
        **facts,
    )
    summary = f"{model} on the hub"
    if own_code:
        summary += "; runs the model's own code, and only with trust_remote_code=true"
    return EmbedderSpec(
        name=name,
        target=target,
        summary=summary,
        options={"reference": model, **(options or {})},
        card=card,
    )
