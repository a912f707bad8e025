"""`prompts=N`: a model is run under N neutral instructions, its own, none, and stated ones."""

from __future__ import annotations

import json

import pytest

from harness import read_results
from harness.embedder import MOST_PROMPTS, NEUTRAL

PLUGIN = """
    import toy_models
    from harness import EmbedderSpec, ModelInfo, hookimpl

    class Prompted(toy_models.Letters):
        own = {"text": "about: "}

        def __init__(self, *, prompt: str | None = None, query_prompt: str | None = None):
            super().__init__()
            if prompt is not None:
                self.own = {"text": prompt} if prompt else {}
            self.info = ModelInfo(
                name="", kind="text", dimensions=26, fingerprint=f"{self.own}",
                role_prompts=self.own,
            )

        info = None

        def encode(self, texts):
            return super().encode([self.own.get("text", "") + text for text in texts])

    class Bare(Prompted):
        own = {}

    class Query(Prompted):
        own = {"text": "query: "}

    class ByRole(Prompted):
        own = {"text": "", "query": "query: ", "document": "passage: "}

    @hookimpl
    def harness_embedders():
        return [
            EmbedderSpec(name=kind.__name__.lower(), target=f"THIS:{kind.__name__}", summary="")
            for kind in (Prompted, Bare, Query, ByRole)
        ]
"""


@pytest.fixture
def registry(registry_with, plugin):
    """A registry of toy models with prompts."""
    return registry_with(plugin(PLUGIN))


def models(records):
    return list({record.model.name: record.model for record in records}.values())


def prompts_of(records):
    return [model.prompts.get("text", "") for model in models(records)]


def test_a_model_is_run_under_its_own_prompt_none_and_stated_ones(evaluate):
    records = evaluate("prompted", "toy-places", prompts=5)
    assert prompts_of(records) == ["about: ", "", *NEUTRAL[:3]]
    assert [model.base for model in models(records)] == ["", *["prompted"] * 4]
    assert models(records)[2].name == "prompted?prompt=Represent this sentence:%20"
    assert len({model.fingerprint for model in models(records)}) == 5
    assert len({record.id for record in records}) == len(records)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("bare", ["", *NEUTRAL]),
        ("query", ["query: ", "", *(text for text in NEUTRAL if text != "query: ")]),
        ("prompted", ["about: ", "", *NEUTRAL]),
    ],
)
def test_no_prompt_is_run_twice(evaluate, model, expected):
    records = evaluate(model, "toy-places", prompts=MOST_PROMPTS)
    assert prompts_of(records) == expected[:MOST_PROMPTS]
    assert not records.notices


def test_a_variant_of_a_model_with_prompts_by_role_has_one_prompt_for_all(evaluate):
    own, none, stated = models(evaluate("byrole", "toy-places", prompts=3))
    assert list(own.prompts) == ["text", "query", "document"]
    assert (none.prompts, stated.prompts) == ({}, {"text": NEUTRAL[0]})


def test_a_model_that_takes_no_prompt_is_run_once_and_a_line_says_so(evaluate):
    records = evaluate(["toy-letters", "prompted"], "toy-places", prompts=2)
    assert prompts_of(records) == ["", "about: ", ""]
    line = "toy-letters: it has no option 'prompt', so --prompts does not apply"
    assert records.notices == (line,)


def test_a_prompt_that_the_user_chose_is_the_only_one(evaluate):
    records = evaluate("prompted?query_prompt=query: ", "toy-places", prompts=5)
    assert len(models(records)) == 1
    assert records.notices[0].endswith("its prompt is chosen, so --prompts does not apply")


def test_records_of_a_prompt_that_was_run_by_hand_get_their_base(evaluate, tmp_path):
    evaluate("prompted?prompt=", "toy-places", results=tmp_path)
    records = evaluate("prompted", "toy-places", results=tmp_path, prompts=2)
    again = evaluate("prompted", "toy-places", results=tmp_path, prompts=2)
    for found in (records, again, read_results(tmp_path)):
        assert [model.base for model in models(found)] == ["", "prompted"]
    assert again.reused == len(again)
    assert len(read_results(tmp_path)) == len(records)


BENCHMARK = """\
name: asked
version: 1
title: Toys under two prompts
prompts: 2
tasks:
  toy-places: 1
  toy-ratings: 1
"""


@pytest.fixture
def benchmark(tmp_path):
    """A benchmark that asks for two prompts, of a task of bias and one of usefulness."""
    path = tmp_path / "asked.yaml"
    path.write_text(BENCHMARK)
    return path


def test_a_benchmark_asks_for_prompts_on_its_tasks_of_bias(evaluate, benchmark):
    records = evaluate(["prompted", "toy-letters"], benchmark)
    tasks = {model.name: set() for model in models(records)}
    for record in records:
        tasks[record.model.name].add(record.task.name)
    both = {"toy-places", "toy-ratings"}
    assert tasks == {"prompted": both, "toy-letters": both, "prompted?prompt=": {"toy-places"}}
    own, _, none = models(records)
    assert (none.base, none.base_fingerprint) == (own.name, own.fingerprint)
    (line,) = (line for line in records.notices if "prompt" in line)
    assert line.endswith("it has no option 'prompt', so it is run under one prompt, not 2")


def test_the_number_of_the_user_comes_before_that_of_a_benchmark(evaluate, benchmark):
    assert len(models(evaluate("prompted", benchmark, prompts=1))) == 1
    records = evaluate("prompted", benchmark, prompts=3)
    assert len(models(records)) == 3
    assert {record.task.name for record in records if record.model.base} == {
        "toy-places",
        "toy-ratings",
    }


def test_the_commands_plan_run_and_show_the_prompts(toy, install, harness, tmp_path):
    install(
        "prompted",
        {"prompted": "with_prompts"},
        with_prompts=PLUGIN.replace("THIS", "with_prompts"),
    )
    chosen = ["-m", "prompted", "-t", "toy-places", "--prompts", "3", "--results", tmp_path]
    plans = json.loads(harness("plan", *chosen, "--json").out)
    assert [plan["model"] for plan in plans] == [
        "prompted",
        "prompted?prompt=",
        "prompted?prompt=Represent this sentence:%20",
    ]
    evaluated = harness("eval", *chosen)
    shown = harness("results", "show", tmp_path)
    for said in (evaluated, shown):
        assert said.code == 0
        assert "over 3 neutral prompts of the model" in said.out
        assert said.out.count("prompted: bias") == 1
        assert "prompted?prompt=: bias" not in said.out
    assert "prompted?prompt=: bias" in harness("results", "show", tmp_path, "--verbose").out


def test_no_instruction_is_a_single_word_or_names_a_group():
    for text in NEUTRAL:
        assert text.endswith(" ")
        assert not {"he", "she", "woman", "man", "person", "gender", "bias"} & set(text.split())
