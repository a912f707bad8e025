"""A third-party plugin with two tiny models, a provider, two mitigators and three metrics."""

from pathlib import Path

from harness import Card, EmbedderSpec, MetricSpec, MitigatorSpec, hookimpl


@hookimpl
def harness_embedders():
    card = Card(name="toy-letters", kind="text", dimensions=26, n_parameters=26, licence="MIT")
    return [
        EmbedderSpec(
            name="toy-letters", target="toy_models:Letters", summary="counts letters", card=card
        ),
        EmbedderSpec(name="toy-words", target="toy_models:Words", summary="eight words"),
        EmbedderSpec(name="toy", target="toy_models:Reference", summary="by size", provider=True),
    ]


@hookimpl
def harness_mitigators():
    return [
        MitigatorSpec(name="toy-shift", target="toy_methods:Shift", summary="moves vectors"),
        MitigatorSpec(name="toy-polite", target="toy_methods:Polite", summary="adds a word"),
    ]


@hookimpl
def harness_metrics():
    return [
        MetricSpec(name="toy-gap", target="toy_methods:gap", summary="how far apart"),
        MetricSpec(name="toy-draw", target="toy_methods:draw", summary="a random number"),
        MetricSpec(name="toy-fit", target="toy_methods:fit", summary="correlation with labels"),
    ]


@hookimpl
def harness_task_folders():
    return [Path(__file__).parent / "tasks"]
