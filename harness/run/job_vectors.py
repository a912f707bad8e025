"""The vectors of the texts of one job, under its mitigator.

Each text is encoded and transformed once a job, in the order of the task's inputs. The last digits
of a product depend on which texts are transformed together. So they do not depend on the jobs that
ran before, or in which process, and the vectors of all tasks are never in memory together.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import numpy as np

from harness.arrays import Vectors
from harness.embedder import Role
from harness.run.plan import Job
from harness.task.inputs import Input

Encode = Callable[[Sequence[str]], Vectors]
Reading = Callable[[Role], contextlib.AbstractContextManager[None]]


class JobVectors:
    """The vectors of a job.

    Parameters
    ----------
    job
        The job; its mitigator must be fitted.
    encode
        Returns the (n, d) vectors of texts, unmitigated.
    reading
        Returns a context in which `encode` takes texts as texts of a role.
    """

    def __init__(self, job: Job, encode: Encode, reading: Reading) -> None:
        self._job, self._encode, self._reading = job, encode, reading
        self._rows: dict[tuple[int, Role, str], Vectors] = {}  # by chain, role and text

    def unmitigated(self, input_: Input) -> Vectors:
        """Return the (n, d) vectors of an input as the model gives them."""
        with self._reading(input_.role):
            return self._encode(input_.texts or ())

    def mitigated(self, input_: Input) -> Vectors:
        """Return the (n, d) vectors of an input under the mitigator.

        Raises
        ------
        HarnessError
            If the mitigator does not return one text or vector for each.
        """
        chain, texts = self._job.chain(input_), input_.texts or ()
        if input_.original or not chain.mitigators:
            return self.unmitigated(input_)
        keys = [(id(chain), input_.role, text) for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in self._rows]
        if new:
            written = [text for _, _, text in new]
            with self._reading(input_.role):
                rows = chain.transform(self._encode(chain.rewrite(written)), written)
            self._rows.update(zip(new, rows, strict=True))
        return np.stack([self._rows[key] for key in keys])
