"""The model card of a trained model: corpus, base, settings and scores, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CORPUS_KEYS = ("source", "method", "percentile", "seed", "model")


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
    what = {
        "bilstm": "A BiLSTM with max pooling over frozen word vectors, after InferSent "
        "(Conneau et al. 2017).",
        "transformer": "A fine-tuned text encoder.",
    }[kind]
    rows = [
        ("base", state["base"]),
        ("corpus", state["corpus"]["name"]),
        *((f"corpus: {key}", value) for key, value in _origin(state["corpus"]["origin"])),
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

{what} Trained by `harness train`.

| | |
| --- | --- |
{table}

`harness eval --model sentence-transformers:./{name} --tasks all` evaluates it. `training.json` has
the scores of each epoch. {_HEAD if state["labels"] else ""}
"""


_HEAD = "`head.safetensors` is the classifier on u, v, |u − v| and u · v."


def _origin(origin: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, origin[key]) for key in _CORPUS_KEYS if key in origin]


def _cell(value: Any) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
