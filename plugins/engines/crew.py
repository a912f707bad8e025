"""What an engine with several workers gives to the loop of `.driver`: its crew and the members."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from harness.plugins.engines.messages import Message, Unit


@dataclass(eq=False)
class Worker(ABC):
    """A process or an actor, as the loop sees it.

    Parameters
    ----------
    slot
        Its place in the crew.
    label
        Its device or node, for messages.
    units
        Units that it has; it encodes the first.
    since
        When it began with the first.
    is_ready
        Whether it has made the embedder.
    is_proven
        Whether it has encoded a unit.
    is_ending
        Whether it was told that there is no more.
    """

    slot: int
    label: str
    units: deque[Unit] = field(default_factory=deque)
    since: float = 0.0
    is_ready: bool = False
    is_proven: bool = False
    is_ending: bool = False

    @abstractmethod
    def send(self, unit: Unit | None) -> None:
        """Give it a unit; None lets it write its vectors and end. A dead one is given nothing."""

    def has_room(self, unit: Unit) -> bool:
        """Return whether `send` returns at once although it is busy with another unit."""
        return True

    @abstractmethod
    def kill(self) -> None:
        """End it although it hangs."""


W = TypeVar("W", bound=Worker)


class Crew(ABC, Generic[W]):
    """The workers of an engine.

    Attributes
    ----------
    size
        How many there are at most.
    starts_at_once
        Whether a worker starts as soon as it is asked for; else it may wait for a free place.
    """

    size: int
    starts_at_once: bool = True

    @abstractmethod
    def open(self, n: int) -> AbstractContextManager[object]:
        """Prepare for `n` workers; on leaving, let all write what they have, and end them."""

    @abstractmethod
    def start(self, slot: int) -> W:
        """Start a worker in one of the places from 0; its first message is `Ready`."""

    @abstractmethod
    def receive(self, workers: Sequence[W], seconds: float | None) -> Iterable[tuple[W, Message]]:
        """Return messages, at most one of each worker; none if `seconds` pass without any."""
