"""Batches of pairs of similar length, and the tokens of each sentence, found once.

The order of pairs depends on the seed and the epoch alone, so that a continued training sees what
an undisturbed one would see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from sentence_transformers.base.sampler import DefaultBatchSampler

GROUP = 50
"""Number of batches whose pairs are sorted by length together."""


class SimilarLengths(DefaultBatchSampler):
    """Random batches of pairs of similar length.

    All pairs are shuffled and cut into groups of `GROUP` batches; a group is sorted by length and
    cut into batches; the batches are shuffled.

    Parameters
    ----------
    dataset
        The pairs.
    lengths
        Lengths of the first and the second sentence of each pair.
    options
        `batch_size`, `drop_last` and `seed`, as the library passes them.
    """

    def __init__(self, dataset: Any, *, lengths: Sequence[tuple[int, int]], **options: Any) -> None:
        super().__init__(dataset, **options)
        self._lengths = lengths

    def __iter__(self) -> Iterator[list[int]]:
        generator = torch.Generator().manual_seed(self.seed + 1_000_003 * self.epoch)
        order = torch.randperm(len(self._lengths), generator=generator).tolist()
        size = GROUP * self.batch_size
        batches = []
        for start in range(0, len(order), size):
            group = sorted(order[start : start + size], key=self._lengths.__getitem__)
            cuts = range(0, len(group), self.batch_size)
            batches += [group[cut : cut + self.batch_size] for cut in cuts]
        for i in torch.randperm(len(batches), generator=generator).tolist():
            yield batches[i]

    def __len__(self) -> int:
        return -(-len(self._lengths) // self.batch_size)


class Tokens:
    """The tokens of sentences, found once for a whole corpus, and padded batch by batch.

    Parameters
    ----------
    model
        The `SentenceTransformer` that reads them.
    texts
        All sentences.
    """

    def __init__(self, model: Any, texts: Sequence[str]) -> None:
        first = model[0]
        self._is_words = type(first).__name__ == "WordEmbeddings"
        self._tokenizer = first.tokenizer.tokenizer if self._is_words else first.tokenizer
        distinct = list(dict.fromkeys(texts))
        limit = None if self._is_words else model.max_seq_length
        ids = self._tokenizer(
            distinct, truncation=limit is not None, max_length=limit, return_attention_mask=False
        )["input_ids"]
        self._ids = dict(zip(distinct, ids, strict=True))

    def length(self, text: str) -> int:
        """Return the number of tokens of a sentence."""
        return len(self._ids[text])

    def __call__(self, inputs: Sequence[str], **_: Any) -> dict[str, Any]:
        """Return the features of a batch of sentences, as the model's own `preprocess` does."""
        ids = [self._ids[text] for text in inputs]
        features = self._tokenizer.pad({"input_ids": ids}, return_tensors="pt")
        if self._is_words:
            features["sentence_lengths"] = torch.tensor([len(row) for row in ids])
        return dict(features)
