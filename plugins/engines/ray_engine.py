"""The engine `ray` encodes in actors of Ray, on all cores, several GPUs or a cluster.

The loop is in `.driver`, the actors in `.ray_actors`, what they do in `.worker`. Scoring and
studies run on the same cluster (`.ray_calls`).
"""

from __future__ import annotations

import contextlib
import math
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ByteSize

from harness import folders
from harness.embedder import Embedder
from harness.encode.batch_size import token_budget
from harness.encode.engine import OnDone, Report
from harness.errors import Unavailable, UsageError, one_line
from harness.plugins.engines import driver, ray_calls
from harness.plugins.engines.ray_actors import Actors
from harness.plugins.engines.ray_cluster import Cluster, places
from harness.plugins.engines.worker import Job
from harness.store.store import Store


class RayEngine:
    """Encodes in Ray actors, which write to a store that all nodes share.

    Parameters
    ----------
    devices
        None: Ray chooses the devices.
    timeout
        Seconds for a batch; an actor that takes longer is ended. None waits.
    actors
        Number of actors; by default as many as the cluster has room for.
    cpus
        CPUs of each actor.
    gpus
        GPUs of each actor, such as 0.5 for two actors on one; by default 1 if the cluster has any.
    memory
        Memory that Ray reserves for each actor, such as `4GB`.

    Raises
    ------
    UsageError
        If there are devices, or a number is too small.
    """

    def __init__(
        self,
        devices: Sequence[str] = (),
        *,
        timeout: float | None = None,
        actors: int | None = None,
        cpus: float = 1,
        gpus: float | None = None,
        memory: ByteSize | None = None,
    ) -> None:
        if devices:
            raise UsageError(
                "engine 'ray' takes no devices: Ray chooses them; "
                "ray?gpus=1 asks for a GPU for each actor"
            )
        if actors is not None and actors < 1:
            raise UsageError(f"engine 'ray': option actors={actors}: expected at least 1")
        amounts = (cpus, gpus or 0, memory or 0)
        if not all(0 <= amount < math.inf for amount in amounts) or not (cpus or gpus):
            raise UsageError("engine 'ray': an actor needs CPUs or GPUs: ray?cpus=1&gpus=0.5")
        self.devices: Sequence[str] = ()
        self.timeout, self.actors, self.cpus, self.gpus = timeout, actors, cpus, gpus
        self.memory = int(memory or 0)
        self._cluster = Cluster()

    def encode(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        store: Store,
        *,
        on_done: OnDone,
        name: str | None,
    ) -> Report:
        """Encode `texts` into the store; see `harness.encode.engine.Engine`.

        Raises
        ------
        Unavailable
            If Ray is not installed or cannot be reached, or no node has room for an actor.
        UsageError
            If the embedder is an object that cannot be sent to another process.
        ModelError
            If no actor can make the embedder, or it violates the contract of an embedder.
        DiskError
            If the store cannot be written.
        """
        ray = self._cluster.ray()
        gpus = self.gpus
        if gpus is None:
            gpus = 1 if ray.cluster_resources().get("GPU") else 0
        device = "cuda" if gpus else "cpu"
        self.devices = (device,)
        n = self.actors or self._room(ray, gpus)
        options = {"num_cpus": self.cpus, "num_gpus": gpus, "memory": self.memory or None}
        with _marker(store) as marker:
            job = Job(
                name=name,
                fingerprint=store.fingerprint,
                place=folders.absolute(store.folder.parent),
                device=device,
                threads=max(1, int(self.cpus)),
                processes=n,
                marker=marker,
            )
            return driver.encode(
                Actors(ray, n, options, job, None if name else _sent(ray, embedder)),
                embedder,
                texts,
                store,
                on_done=on_done,
                name=name or embedder.info.name,
                batch_tokens=token_budget(embedder, device),
                timeout=self.timeout,
            )

    def results(
        self, function: Callable[[Any], Any], arguments: Sequence[Any]
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the results of calls on the cluster; see `harness.parallel.Cluster`."""
        yield from ray_calls.results(self._cluster.ray(), function, arguments)

    def close(self) -> None:
        """Leave the cluster, if it was joined or started by this engine."""
        self._cluster.close()

    def _room(self, ray: Any, gpus: float) -> int:
        wanted = {"CPU": self.cpus, "GPU": gpus, "memory": float(self.memory)}
        room = places(ray, wanted)
        if not room:
            asked = ", ".join(f"{key} {n:g}" for key, n in wanted.items() if n)
            raise Unavailable(
                f"no node of the Ray cluster has room for an actor ({asked}); ask for less, or, if "
                "the cluster grows by itself, say how many: ray?actors=4"
            )
        return room


@contextlib.contextmanager
def _marker(store: Store) -> Iterator[Path | None]:
    """Yield a file in the folder of the stores, by which a node knows that it sees the folder."""
    folder = folders.absolute(store.folder.parent)
    if not isinstance(folder, Path):  # all nodes see a bucket
        yield None
        return
    marker = folder / f".{uuid.uuid4().hex}.ray"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError:  # it cannot be written: the actors will say so
        yield None
        return
    try:
        yield marker
    finally:
        marker.unlink(missing_ok=True)


def _sent(ray: Any, embedder: Embedder) -> Any:
    try:
        return ray.put(embedder)
    except Exception as error:  # a model may raise anything when it is pickled
        raise UsageError(
            f"model '{embedder.info.name}' cannot be sent to another process "
            f"({one_line(error)[:200]}); give it by its name"
        ) from None
