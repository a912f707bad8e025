"""The hooks of the package.

The harness imports this module whenever it lists names, so the module imports nothing heavy. Each
spec names an import path, which is imported only when the model, metric or mitigator is used.
"""

from __future__ import annotations

from pathlib import Path

from harness import Card, EmbedderSpec, MetricSpec, MitigatorSpec, hookimpl


@hookimpl
def harness_embedders() -> list[EmbedderSpec]:
    """Add the model, with the facts that `harness show model letter-trigrams` prints."""
    return [
        EmbedderSpec(
            name="letter-trigrams",
            target="harness_example.letter_trigrams:LetterTrigrams",
            summary="hashed counts of letter trigrams",
            card=Card(
                name="letter-trigrams",
                kind="text",
                dimensions=256,
                n_parameters=0,
                licence="MIT",
                languages=("multilingual",),
                revision="1",
                sources=("the package harness-example",),
            ),
        )
    ]


@hookimpl
def harness_metrics() -> list[MetricSpec]:
    """Add the metric."""
    return [
        MetricSpec(
            name="nearer-share",
            target="harness_example.nearer_share:nearer_share",
            summary="share of texts closer to group 1 than to group 2",
        )
    ]


@hookimpl
def harness_mitigators() -> list[MitigatorSpec]:
    """Add the mitigator."""
    return [
        MitigatorSpec(
            name="drop-difference",
            target="harness_example.drop_difference:DropDifference",
            summary="projects out the mean difference of the concept's pairs",
        )
    ]


@hookimpl
def harness_task_folders() -> list[Path]:
    """Add the folder of tasks; concepts are in its subfolder `concepts`."""
    return [Path(__file__).parent / "tasks"]
