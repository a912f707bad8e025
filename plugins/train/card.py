"""The model card of a trained model: corpus, base, settings and scores, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def text(state: Mapping[str, Any], name: str) -> str:
    """Return the card of a complete training.

    Parameters
    ----------
    state
        What `training.json` says.
    name
        Name of the model's folder.
    """
    kind, settings = state["kind"], state["identity"]
    description = {
        "bilstm": "A BiLSTM with max pooling over frozen word vectors, after InferSent "
        "(Conneau et al. 2017).",
        "transformer": "A fine-tuned text encoder.",
    }[kind]
    rows = [
        ("base", state["base"]),
        ("corpus", state["corpus"]["name"]),
        *((f"corpus: {key}", value) for key, value in _leaves(state["corpus"]["origin"])),
        *((f"SHA-256 of {split}", digest) for split, digest in state["corpus"]["sha256"].items()),
        *((f"{split} pairs", n) for split, n in state["pairs"].items()),
        *((key, settings[key]) for key in ("hidden", "epochs", "batch_size", "lr", "precision")),
        ("seed", settings["seed"]),
        ("best epoch", f"{state['best_epoch']} of {len(state['epochs'])}"),
        *(
            (f"{split} {metric}", f"{score:.4f}")
            for split, scores in state["scores"].items()
            for metric, score in scores.items()
        ),
        ("harness", state["harness"]),
    ]
    table = "\n".join(f"| {_cell(key)} | {_cell(v)} |" for key, v in rows if v is not None)
    return f"""---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, embedding-bias-harness]
---

# {name}

{description} Trained by `harness train`.

| | |
| --- | --- |
{table}

`harness eval --model sentence-transformers:./{name} --tasks all` evaluates it. `training.json` has
the scores of each epoch. {_HEAD if state["labels"] else ""}
"""


_HEAD = "`head.safetensors` is the classifier on u, v, |u − v| and u · v."


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the plain values of `corpus.json`, such as `made_from.percentile`, by dotted key."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, str | int | float):
        yield key, value


def _cell(value: Any) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
