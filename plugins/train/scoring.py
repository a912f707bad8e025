"""Scores of a model on a split: accuracy for labels, correlations for graded pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sentence_transformers.base.evaluation import BaseEvaluator

from .batches import Tokens
from .pairs import Split

_BATCH = 128


class Scorer(BaseEvaluator):
    """Scores a model on a split, also for the library's trainer.

    Parameters
    ----------
    split
        The pairs.
    tokens
        Gives the features of their sentences.
    loss
        The loss with the classifier; None for graded pairs, whose cosines are compared with their
        scores.
    """

    def __init__(self, split: Split, tokens: Tokens, loss: Any | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._split, self._tokens, self._loss = split, tokens, loss
        self.metric = "spearman" if loss is None else "accuracy"
        self.primary_metric = self.metric

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: float = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the scores by name."""
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                return self._scores(model)
        finally:
            model.train(was_training)

    def _scores(self, model: Any) -> dict[str, float]:
        labels = np.asarray(self._split.labels)
        first, second = self._vectors(model, self._split.firsts, self._split.seconds)
        if self._loss is not None:
            predicted = np.concatenate(
                [
                    _logits(self._loss, u, v).argmax(dim=1).cpu().numpy()
                    for u, v in zip(first.split(_BATCH), second.split(_BATCH), strict=True)
                ]
            )
            return {"accuracy": float((predicted == labels).mean())}
        from scipy import stats

        cosines = torch.nn.functional.cosine_similarity(first, second).float().cpu().numpy()
        return {
            "spearman": float(stats.spearmanr(cosines, labels).statistic),
            "pearson": float(stats.pearsonr(cosines, labels).statistic),
        }

    def _vectors(self, model: Any, *columns: tuple[str, ...]) -> list[Any]:
        """Return the vectors of each column; a sentence that occurs twice is encoded once."""
        texts = sorted({text for column in columns for text in column}, key=self._tokens.length)
        parts = []
        for start in range(0, len(texts), _BATCH):
            features = self._tokens(texts[start : start + _BATCH])
            on_device = {key: value.to(model.device) for key, value in features.items()}
            parts.append(model(on_device)["sentence_embedding"])
        vectors, row = torch.cat(parts), {text: i for i, text in enumerate(texts)}
        return [vectors[[row[text] for text in column]] for column in columns]


def _logits(loss: Any, first: Any, second: Any) -> Any:
    """Return what the classifier of a `SoftmaxLoss` says of pairs of vectors."""
    features = torch.cat([first, second, (first - second).abs(), first * second], dim=1)
    return loss.classifier(features.to(loss.classifier.weight.dtype))
