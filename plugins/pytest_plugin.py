"""pytest plugin: a test fails if a model is more biased than its base.

The fixture `verdict` compares two models as `harness compare` does, with its cache and its results
in the folder of the option `--bias-results`::

    def test_my_model_is_no_more_biased(verdict):
        verdict("./mine", base="all-MiniLM-L6-v2", usefulness_margin=0.02)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from harness.results.verdict import FailOn, Verdict


class Compare(Protocol):
    """What the fixture `verdict` returns."""

    def __call__(
        self,
        model: Any,
        base: Any = None,
        mitigator: Any = "none",
        *,
        fail_on: FailOn = "more",
        margin: float | None = None,
        usefulness_margin: float | None = None,
        **options: Any,
    ) -> Verdict:
        """Return the verdict; fail the test if the model does not pass."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--bias-results`."""
    parser.getgroup("harness", "Embedding Bias Harness").addoption(
        "--bias-results",
        type=Path,
        metavar="FOLDER",
        help="Folder of the records of the fixture 'verdict'; scores recorded there are not "
        "computed again. By default pytest's cache folder.",
    )


@pytest.fixture(scope="session")
def verdict(request: pytest.FixtureRequest) -> Compare:
    """Compare a model with its base, and fail the test if it is more biased.

    Takes the arguments of `harness.compare_models`, and those of `Verdict.failures`.
    """
    folder = request.config.getoption("--bias-results")
    cache = getattr(request.config, "cache", None)
    if folder is None and cache is not None:
        folder = cache.mkdir("harness")

    def compare(
        model: Any,
        base: Any = None,
        mitigator: Any = "none",
        *,
        fail_on: FailOn = "more",
        margin: float | None = None,
        usefulness_margin: float | None = None,
        **options: Any,
    ) -> Verdict:
        __tracebackhide__ = True
        import harness

        options = {"results": folder, **options}
        compared = harness.compare_models(model, base, mitigator, **options)
        failures = compared.failures(
            fail_on=fail_on, margin=margin, usefulness_margin=usefulness_margin
        )
        if failures:
            lines = "\n".join(failure.line for failure in failures)
            pytest.fail(f"{lines}\n\n{compared}", pytrace=False)
        return compared

    return compare
