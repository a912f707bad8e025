"""A corpus of tens of pairs that can be learnt, and random word vectors for its words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np

NOUNS = ("man", "woman", "dog", "girl", "boy", "cat")
VERBS = {"entailment": "moves", "neutral": "hopes", "contradiction": "sleeps"}
WORDS = (*NOUNS, *VERBS.values(), "a", "the", "runs", "fast", ".", "'s", "n't")
SENTENCES = ("a man runs fast.", "The dog sleeps", "the girl's cat moves fast")
# A task of usefulness that these words can do.
ALIKE: dict[str, Any] = {
    "name": "alike",
    "version": 1,
    "title": "Whether verbs of motion are alike",
    "measures": "usefulness",
    "category": "similarity",
    "kinds": ["text"],
    "tables": {
        "pairs": {
            "columns": ["a", "b", "rating"],
            "rows": [
                ["moves", "runs", 5], ["runs", "sleeps", 1], ["moves", "sleeps", 0],
                ["man", "boy", 4], ["woman", "dog", 2], ["hopes", "cat", 0.5],
            ],
        }
    },
    "inputs": {
        "texts_1": {"table": "pairs", "column": "a"},
        "texts_2": {"table": "pairs", "column": "b"},
        "ratings": {"table": "pairs", "column": "rating", "number": True},
    },
    "metrics": {"similarity-correlation": {}},
    "primary": {"metric": "similarity-correlation", "score": "spearman"},
}  # fmt: skip


def vectors(folder: Path, words: tuple[str, ...] = WORDS, dimensions: int = 8) -> str:
    """Write random word vectors, and return the name of the model."""
    draw = np.random.default_rng(0)
    path = folder / "vectors.txt"
    rows = draw.normal(size=(len(words), dimensions))
    lines = (f"{w} {' '.join(f'{x:.4f}' for x in row)}" for w, row in zip(words, rows, strict=True))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return f"vectors:{path}"


def pairs(n: int, seed: int) -> list[dict[str, str]]:
    """Return pairs whose label is told by the verb of the second sentence."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        noun, label = draw.choice(NOUNS), draw.choice(sorted(VERBS))
        premise = f"{draw.choice(('A', 'The'))} {noun} runs{draw.choice((' fast', ''))}."
        rows.append(
            {"premise": premise, "hypothesis": f"the {noun} {VERBS[label]}", "label": label}
        )
    return rows


def corpus(folder: Path, n: int = 96) -> Path:
    """Write a folder with the splits train, dev and test, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (split, size) in enumerate({"train": n, "dev": 24, "test": 24}.items()):
        write(folder / f"{split}.jsonl", pairs(size, seed))
    return folder


def encoder(folder: Path) -> str:
    """Write a BERT of one layer with random weights, and return the name of the model."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import BertConfig, BertModel, BertTokenizerFast

    plain = folder / "plain"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    BertTokenizerFast(vocab={w: i for i, w in enumerate(vocabulary)}).save_pretrained(plain)
    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(vocab_size=len(vocabulary), intermediate_size=32, **sizes)
    BertModel(config).save_pretrained(plain)
    modules = [Transformer(str(plain), max_seq_length=32), Pooling(16, "mean")]
    model = SentenceTransformer(modules=modules, device="cpu")
    model.save(str(folder / "encoder"), create_model_card=False)
    return f"sentence-transformers:{folder / 'encoder'}"


def static_model() -> Any:
    """Return a `SentenceTransformer` of one random vector for each word."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: i for i, word in enumerate(("[UNK]", *WORDS))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    rows = np.random.default_rng(0).normal(size=(len(vocabulary), 16)).astype(np.float32)
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer, rows)], device="cpu")


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    """Write JSON lines, and return the file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
