"""What the package adds to the harness.

The harness imports this module to list what there is, so it imports nothing heavy itself: each
spec names an import path that is followed only when the thing is used.
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
            summary="hashed counts of three letters in a row",
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
            summary="share of texts nearer to the first group than to the second",
        )
    ]


@hookimpl
def harness_mitigators() -> list[MitigatorSpec]:
    """Add the mitigator."""
    return [
        MitigatorSpec(
            name="drop-difference",
            target="harness_example.drop_difference:DropDifference",
            summary="projects out how the concept's pairs differ on average",
        )
    ]


@hookimpl
def harness_task_folders() -> list[Path]:
    """Add the folder of tasks; the concepts lie in its subfolder `concepts`."""
    return [Path(__file__).parent / "tasks"]
