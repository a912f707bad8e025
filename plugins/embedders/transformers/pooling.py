"""Pools the states of a text's tokens into one vector, on whatever side the batch is padded."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

Pooling: TypeAlias = Literal["lasttoken", "mean", "weightedmean"]
POOLINGS: tuple[str, ...] = get_args(Pooling)


def pool(states: Any, mask: Any, pooling: Pooling) -> Any:
    """Return (n, d) vectors of (n, T, d) states of tokens, computed in float32.

    Parameters
    ----------
    states
        (n, T, d) tensor: a state for each token of each text, padding included.
    mask
        (n, T) tensor: 1 for tokens of the text, 0 for padding.
    pooling
        `lasttoken`: the state of the last token. `mean`: the mean over the tokens. `weightedmean`:
        a weighted mean in which token i of T, counted from 1, has the weight i / (1 + … + T), since
        later tokens of a causal model have read more of the text (Muennighoff 2022, SGPT).

    Notes
    -----
    A text without tokens gives a row of NaN.
    """
    import torch

    states, mask = states.float(), mask.to(torch.float32)
    position = mask.cumsum(dim=1)
    if pooling == "mean":
        weights = mask
    elif pooling == "weightedmean":
        weights = mask * position
    else:
        weights = mask * (position == position[:, -1:])
    pooled = torch.einsum("nt,ntd->nd", weights, states.masked_fill(mask[..., None] == 0, 0))
    return pooled / weights.sum(dim=1, keepdim=True)
