"""Ray: connecting to a cluster, or starting it on this machine, and leaving what was started.

With RAY_ADDRESS, or after a `ray.init` of the user, that cluster is used. Else Ray runs on this
machine, without its dashboard and without statistics of use.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from harness.errors import Unavailable, one_line


class Cluster:
    """A connection to Ray, which is opened when it is first used, and closed once."""

    def __init__(self) -> None:
        self._left = contextlib.ExitStack()

    def ray(self) -> Any:
        """Return the package `ray`, connected.

        Raises
        ------
        Unavailable
            If the package is not installed, or the cluster cannot be reached.
        """
        try:
            import ray
        except ImportError:
            raise Unavailable(
                "engine 'ray' needs the package 'ray': pip install 'embedding-bias-harness[ray]'"
            ) from None
        if not ray.is_initialized():
            self._left.enter_context(_started(ray))
        return ray

    def close(self) -> None:
        """Leave the cluster, if it was joined or started here; a user's own stays."""
        self._left.close()


def places(ray: Any, wanted: Mapping[str, float]) -> int:
    """Return how many actors that each want some resources the nodes have room for."""
    return sum(
        min(
            (math.floor(node["Resources"].get(key, 0) / n) for key, n in wanted.items() if n),
            default=0,
        )
        for node in ray.nodes()
        if node["Alive"]
    )


@contextlib.contextmanager
def _started(ray: Any) -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = os.environ.get("RAY_ADDRESS")
    local = {} if address else {"include_dashboard": False}
    with _handlers_kept():
        try:
            ray.init(
                address=address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **local,
            )
        except Exception as error:  # of many kinds
            at = f"reached at RAY_ADDRESS={address}" if address else "started"
            raise Unavailable(f"Ray cannot be {at} ({one_line(error)[:200]})") from None
    try:
        # Ray prints that an actor died, to where our own output goes.
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _handlers_kept() -> Iterator[None]:
    """Undo that `ray.init` installs its own handler of SIGTERM."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)
