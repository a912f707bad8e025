"""The built-in mitigators: one file each, and one line in the plugin below.

==================  ================================================================
`fitting/`          what several fits share: words, vocabularies, neighbours, subspaces
==================  ================================================================
"""

from __future__ import annotations

from typing import Any

from harness.specs import MitigatorSpec, hookimpl


@hookimpl
def harness_mitigators() -> list[MitigatorSpec]:
    """List the built-in mitigators."""
    return [
        _mitigator("normalize", "Normalize", "unit length, as a baseline", unit_length=True),
        _mitigator("nuisance", "Nuisance", "noise, a coin or a constant: a control of measures"),
        _mitigator("amplify-bias", "AmplifyBias", "more of the concept: a control of measures"),
        _mitigator(
            "context-injection",
            "ContextInjection",
            "adds a sentence that says the group is unknown",
        ),
        _mitigator(
            "anonymize",
            "Anonymize",
            "removes names from texts, or replaces them",
            sensitive={"engine=llm": "key", "key": "key", "base_url": "address"},
        ),
        _mitigator("hard-debias", "HardDebias", "neutralises and equalises, with word pairs"),
        _mitigator(
            "multiclass-hard-debias", "MulticlassHardDebias", "hard debiasing of several groups"
        ),
        _mitigator(
            "double-hard-debias", "DoubleHardDebias", "hard debiasing without word frequency"
        ),
        _mitigator(
            "half-sibling-regression", "HalfSiblingRegression", "ridge regression on gendered words"
        ),
        _mitigator("soft-debias", "SoftDebias", "linear map that trades bias against change"),
        _mitigator("ran", "Ran", "repulsion of biased neighbours, word by word"),
        _mitigator("inlp", "Inlp", "iterative projection of classifier directions"),
        _mitigator("leace", "Leace", "least-squares erasure of a concept"),
        _mitigator("sent-debias", "SentDebias", "projection of a subspace of sentences"),
        _mitigator("swap-average", "SwapAverage", "mean of a text and its swapped version"),
        _mitigator("whitening", "Whitening", "equal variance in all directions, no concept"),
    ]


def _mitigator(name: str, class_name: str, summary: str, **fields: Any) -> MitigatorSpec:
    """Describe a mitigator whose module has its name."""
    target = f"harness.plugins.mitigators.{name.replace('-', '_')}:{class_name}"
    return MitigatorSpec(name=name, target=target, summary=summary, **fields)
