"""Leaks between fitting and judging: texts that a mitigator was fitted on, and that a task has.

Texts are compared as the model reads them. Texts of a fit count as written: a text that was made of
a fitting word is about that word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from harness.arrays import Vectors
from harness.chain import Chain
from harness.concept import Concept
from harness.encode.spellings import Spellings
from harness.run.plan import Job
from harness.task.inputs import Input


def fitted_on(job: Job, encode: Callable[[Sequence[str]], Vectors]) -> set[str]:
    """Return the texts that a job's mitigator is fitted on, in all spellings of the task's texts.

    Parameters
    ----------
    job
        A task under a mitigator, whose stages that rewrite are fitted.
    encode
        Returns the (n, d) vectors of texts, unmitigated.
    """
    fitted = fitting_texts(job.mitigator, job.concept)
    if not fitted:
        return set()
    inputs = [input_ for scenario in job.task.scenarios for input_ in scenario.inputs.values()]
    return Spellings.of([*fitted, *judged_texts(inputs)], encode).like(fitted)


def fitting_texts(chain: Chain, concept: Concept | None) -> list[str]:
    """Return the texts that the stages of a mitigator are fitted on, as written."""
    return [text for stage in chain.mitigators for text in stage.fitting_texts(concept)]


def judged_texts(inputs: Iterable[Input]) -> set[str]:
    """Return the texts of some inputs, and the words that they are made from."""
    return {text for input_ in inputs for text in (*(input_.texts or ()), *input_.items)}
