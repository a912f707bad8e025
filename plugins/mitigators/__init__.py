"""The built-in mitigators: a plugin that lists them; each is one file and one line here."""

from __future__ import annotations

from harness.specs import MitigatorSpec, hookimpl


@hookimpl
def harness_mitigators() -> list[MitigatorSpec]:
    """List the built-in mitigators."""
    return [
        _mitigator(
            "normalize",
            "Normalize",
            "unit length and nothing else, to compare with",
            unit_length=True,
        ),
        _mitigator("context-injection", "ContextInjection", "a sentence that says what is unknown"),
        _mitigator("anonymize", "Anonymize", "takes names out of texts, or puts placeholders"),
        _mitigator("hard-debias", "HardDebias", "projects the concept out, equalises its pairs"),
        _mitigator("multiclass-hard-debias", "MulticlassHardDebias", "the same for several groups"),
        _mitigator("double-hard-debias", "DoubleHardDebias", "takes word frequency out first"),
        _mitigator("half-sibling-regression", "HalfSiblingRegression", "regresses the concept out"),
        _mitigator("soft-debias", "SoftDebias", "one linear map that trades bias against change"),
        _mitigator("ran", "Ran", "repels biased neighbours, word by word"),
        _mitigator("inlp", "Inlp", "projects out what classifiers find, again and again"),
        _mitigator("leace", "Leace", "erases what a linear classifier finds, changing least"),
        _mitigator("sent-debias", "SentDebias", "projects out what tells a concept in sentences"),
        _mitigator("swap-average", "SwapAverage", "the mean with the text about the other group"),
        _mitigator("whitening", "Whitening", "lets all directions vary alike, of whatever concept"),
    ]


def _mitigator(
    name: str, class_name: str, summary: str, *, unit_length: bool = False
) -> MitigatorSpec:
    """Describe a mitigator whose module has its name."""
    target = f"harness.plugins.mitigators.{name.replace('-', '_')}:{class_name}"
    return MitigatorSpec(name=name, target=target, summary=summary, unit_length=unit_length)
