"""`harness eval` and `harness plan`."""

from __future__ import annotations

import json

import pytest

from harness.encode import admission
from harness.results.folder import read


@pytest.fixture
def evaluate(harness, toy, tmp_path):
    """Run `harness eval` on the toy model and tasks, with further arguments."""

    def run(*arguments, command="eval", model="toy-letters", tasks="toy,usefulness-of-toys"):
        tasks = "toy-places,toy-places-10,toy-ratings,toy-sentences" if "," in tasks else tasks
        results = tmp_path / "results"
        return harness(
            command, "-m", model, "-t", tasks, "-r", results, "--concept", "toy-place", *arguments
        )

    return run


def test_it_prints_a_table_and_counts(evaluate, tmp_path):
    said = evaluate("-M", "none", "-M", "toy-shift")
    assert said.code == 0
    lines = [line.split() for line in said.out.splitlines() if line.strip()]
    assert lines[0] == ["toy-letters:", "bias"]
    assert lines[1] == ["task", "score", "ideal", "none", "toy-shift"]
    tasks = {line[0] for line in lines if line[0].startswith("toy-")}
    assert {"toy-places", "toy-places-10", "toy-ratings", "toy-sentences"} <= tasks
    n = len(read([tmp_path / "results"]).records)
    block = said.out[said.out.index("4 of 4 tasks run") :]
    for fact in ("failed 0", "void 3", f"{n} records", f"{tmp_path}/results", "20 texts"):
        assert fact in block
    assert "earlier" not in block
    assert "toy-letters: encoding: 20/20 texts in " in said.err


def test_a_second_run_encodes_nothing_and_prints_the_same_table(evaluate, toy):
    first = evaluate()
    toy.clear()
    second = evaluate()
    assert toy == []
    assert second.err == ""
    table = first.out.index("4 of 4 tasks")
    assert second.out[:table] == first.out[:table]
    assert "texts" not in second.out[table:]
    assert "scores from earlier records (--overwrite" in second.out


def test_json_has_records_reasons_and_notices(evaluate, toy):
    said = json.loads(evaluate("--json", model="toy-words").out)
    assert set(said) == {
        "records", "not_run", "missed", "outcomes", "notices", "texts", "encoded", "reused",
    }  # fmt: skip
    assert (said["texts"], said["reused"]) == (8, 0)
    (outcome,) = said["outcomes"]
    assert outcome["not_run"] == {"embedder": ["toy-sentences"]}
    assert len(outcome["run"]) == 3
    assert {record["task"]["name"] for record in said["records"]} == {
        "toy-places", "toy-places-10", "toy-ratings",
    }  # fmt: skip
    assert said["not_run"] == [
        {
            "model": "toy-words",
            "mitigator": "none",
            "task": "toy-sentences",
            "reason": said["not_run"][0]["reason"],
            "kind": "embedder",
        }
    ]
    assert "text embedders" in said["not_run"][0]["reason"]


def test_a_mitigator_without_its_concept_is_skipped_and_the_others_are_run(evaluate):
    said = evaluate(
        "-M", "none", "-M", "toy-shift", "--concept", "none", tasks="toy-places,toy-ratings"
    )
    assert said.code == 0
    ratings, sentences = (line for line in said.err.splitlines() if line.startswith("skipped"))
    for line, task in ((ratings, "toy-ratings"), (sentences, "toy-sentences")):
        assert f"toy-letters under toy-shift on {task}: " in line
        assert "definitional_pairs" in line
    assert "'toy-bare'" in sentences
    assert "–" in said.out


@pytest.fixture
def raising(install, write):
    """Write the task `z-mine`, whose metric raises an error; return its file."""

    def make(raised):
        source = f"""
            from harness import MetricSpec, Scale, hookimpl, metric

            @hookimpl
            def harness_metrics():
                return [MetricSpec(name="bad-metric", target="bad_module:bad")]

            @metric("bad-metric", scores={{"a": Scale(ideal=0)}})
            def bad(targets_1):
                raise {raised}
        """
        install("bad", {"bad": "bad_module"}, bad_module=source)
        return write(
            "mine.yaml",
            """
            name: z-mine
            version: 1
            title: Mine
            category: x
            inputs: {targets_1: {words: [a]}}
            metrics: {bad-metric: {}}
            primary: {metric: bad-metric, score: a}
            """,
        )

    return make


def test_after_a_failure_the_exit_code_is_1_and_other_records_are_kept(evaluate, raising, tmp_path):
    path = raising("ValueError('no way')")
    said = evaluate("-t", path, tasks="toy-places")
    assert said.code == 1
    (line,) = [line for line in said.err.splitlines() if line.startswith("FAILED: ")]
    for fact in ("toy-letters under none on z-mine", "ValueError: no way", "'bad'"):
        assert fact in line
    assert {r.task.name for r in read([tmp_path / "results"]).records} == {"toy-places"}
    with pytest.raises(ValueError, match="no way"):
        evaluate("-t", path, "--debug", tasks="toy-places")


def test_after_an_interrupt_the_exit_code_is_130_and_records_are_kept(evaluate, raising, tmp_path):
    path = raising("KeyboardInterrupt")
    said = evaluate("-t", path, "--workers", "1", tasks="toy-places")  # in the order of the plan
    assert said.code == 130
    assert said.err.splitlines()[-1].startswith("harness: ")
    kept = read([tmp_path / "results"])
    assert [r.task.name for r in kept.records] == ["toy-places"] * 3
    assert kept.notices == ()
    again = evaluate(tasks="toy-places").out
    assert "3 scores from earlier records" in again
    assert "texts" not in again


def test_the_plan_agrees_with_what_is_then_encoded(evaluate, toy, tmp_path, cache):
    mitigators = ("-M", "none", "-M", "toy-shift", "-M", "toy-polite+toy-shift")
    (plan,) = json.loads(evaluate("--json", *mitigators, command="plan").out)
    assert toy == []
    assert not (tmp_path / "results").exists()
    assert not (cache / "embeddings").exists()
    evaluate(*mitigators, tasks="toy-places")
    (rest,) = json.loads(evaluate("--json", *mitigators, command="plan").out)
    assert rest["done"] == 3
    before = len([text for text in toy if text not in admission.TEXTS])
    assert rest["to_encode"] == plan["to_encode"] - before
    assert {row["task"] for row in rest["tasks"]} == {
        "toy-places-10",
        "toy-ratings",
        "toy-sentences",
    }
    said = json.loads(evaluate("--json", *mitigators).out)
    after = len([text for text in toy if text not in admission.TEXTS])
    assert said["encoded"] == rest["to_encode"] == after - before
    (done,) = json.loads(evaluate("--json", *mitigators, command="plan").out)
    assert (done["to_encode"], done["texts"], done["done"], done["tasks"]) == (0, 0, 12, [])


def test_a_plan_ends_with_totals_and_a_time_on_one_screen(evaluate):
    said = evaluate("-m", "random-words", model="glove-6b-50d", tasks="all", command="plan")
    lines = said.out.rstrip().splitlines()
    assert len(lines) <= 24
    assert "about" in lines[-1]
    assert lines[-1].split()[0] == "all"


def test_the_end_of_a_run_counts_tasks_by_reason_and_verbose_lists_them(evaluate):
    arguments = {"model": "toy-words", "tasks": "toy-*"}
    short = evaluate("-M", "none", "-M", "toy-shift", **arguments)
    block = [line.split() for line in short.out[short.out.index("3 of 4 tasks") :].splitlines()]
    assert ["made", "for", "text", "encoders", "1"] in [line[:5] for line in block]
    assert ["data", "missing", "0"] in block
    assert "toy-sentences" not in short.out + short.err
    full = evaluate("-M", "none", "-M", "toy-shift", "--verbose", **arguments)
    (line,) = [line for line in full.err.splitlines() if "toy-sentences" in line]
    assert line.count("toy-sentences") == 1, "once, not once a mitigator"
    for fact in ("toy-words", "none, toy-shift"):
        assert fact in line


def test_a_model_that_is_not_available_is_named_and_the_others_run(harness, toy, install, tmp_path):
    source = """
        from harness import EmbedderSpec, Unavailable, hookimpl

        @hookimpl
        def harness_embedders():
            return [EmbedderSpec(name="gone", target="gone_module:gone")]

        def gone():
            raise Unavailable("its server is away")
    """
    install("gone", {"gone": "gone_module"}, gone_module=source)
    said = harness(
        "eval", "-m", "toy-letters", "-m", "gone", "-t", "toy-ratings", "-r", tmp_path / "results"
    )
    assert said.code == 1
    block = [line.split() for line in said.out.splitlines()]
    assert ["gone", "not", "available"] in block
    assert ["toy-letters", "1", "of", "1", "tasks", "run"] in block
    (line,) = [line for line in said.err.splitlines() if line.startswith("FAILED: ")]
    assert "its server is away" in line
