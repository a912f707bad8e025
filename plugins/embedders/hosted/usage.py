"""Counts of requests and tokens, as an endpoint reports them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Usage:
    """Requests and tokens counted so far; a request without counts adds no tokens."""

    requests: int = 0
    prompt: int = 0
    completion: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, counted: object) -> None:
        """Add the `usage` of an answer."""
        counts = counted if isinstance(counted, Mapping) else {}
        completion = _number(counts.get("completion_tokens"))
        total = _number(counts.get("total_tokens"))
        with self._lock:
            self.requests += 1
            self.prompt += _number(counts.get("prompt_tokens")) or total - completion
            self.completion += completion


def usage_notes(model: str, usage: Usage, price: float | None) -> tuple[str, ...]:
    """Return one line on the tokens that an endpoint counted; none without a request.

    Parameters
    ----------
    model
        Name of the model.
    usage
        The counts.
    price
        US$ per million tokens; None if unknown.
    """
    if not usage.requests:
        return ()
    tokens = f"{usage.prompt:,}" + (f" + {usage.completion:,}" if usage.completion else "")
    cost = "" if price is None else f", US$ {usage.prompt * price / 1e6:.4f}"
    requests = f"{usage.requests} request{'s' if usage.requests > 1 else ''}"
    return (f"{model}: the endpoint counted {tokens} tokens in {requests}{cost}",)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
