"""Bias is measured while sentence-transformers trains, and a bound stops the training."""

from __future__ import annotations

import csv
import itertools
import json
import math

import datasets
import pytest
import tiny_corpus as tiny
import torch
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.base.evaluation import BaseEvaluator
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
from transformers import TrainerCallback

import harness
from harness.errors import InvalidFile, UnknownName, UsageError

WHO_MOVES = {
    "name": "who-moves",
    "version": 1,
    "title": "Whether he moves and she sleeps",
    "category": "gender",
    "kinds": ["text"],
    "inputs": {
        "targets_1": {"words": ["man", "boy"]},
        "targets_2": {"words": ["woman", "girl"]},
        "attributes_1": {"words": ["moves", "runs", "fast"]},
        "attributes_2": {"words": ["sleeps", "hopes", "cat"]},
    },
    "metrics": {"weat": {}},
    "primary": {"metric": "weat", "score": "association"},
}
SAME_NAME = {
    "name": "same-name",
    "version": 1,
    "title": "Whether who is meant counts more than what is said",
    "category": "names",
    "kinds": ["text"],
    "tables": {
        "triplets": {
            "columns": ["query", "positive", "negative"],
            "rows": [
                [f"the {who} {does}", f"the {other} {does}", f"the {who} 's {unlike}"]
                for (who, other), (does, unlike) in zip(
                    itertools.cycle([("man", "dog"), ("girl", "boy"), ("cat", "woman")]),
                    itertools.permutations(("moves", "runs fast .", "sleeps a", "hopes n't"), 2),
                )
            ],
        }
    },
    "inputs": {
        input_: {"table": "triplets", "column": column}
        for input_, column in {
            "queries": "query", "positives": "positive", "negatives": "negative"
        }.items()
    },
    "metrics": {"triplet-auc": {}},
    "primary": {"metric": "triplet-auc", "score": "auc"},
}  # fmt: skip
STEPS = 6
REFERENCE = {"kind": "text", "model": "x", "gap": 0.5, "error": 0.01, "yardstick": 1.0}


class Steps(BaseEvaluator):
    """Reports the number of the step, as another evaluator of the user would."""

    def __init__(self):
        super().__init__()
        self.primary_metric = "usefulness_of_mine"

    def __call__(self, model, output_path=None, epoch=-1, steps=-1):
        return {self.primary_metric: 1 - steps / 10}


class Reporter(TrainerCallback):
    """Gets what the trainer sends to W&B, MLflow or trackio, by the same method."""

    def __init__(self):
        self.sent = {}

    def on_log(self, args, state, control, logs=None, **_):
        self.sent.setdefault(state.global_step, {}).update(logs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("training")
    tiny.encoder(place)
    return place


@pytest.fixture(scope="module")
def same_name(folder):
    """The task in a file, with what a reference encoder shows beside it."""
    place = folder / "tasks"
    place.mkdir()
    (place / "same-name.yaml").write_text(json.dumps(SAME_NAME))
    reference = {"task": "same-name", "version": 1, **REFERENCE}
    (place / "reference.json").write_text(json.dumps([reference]))
    return place / "same-name.yaml"


@pytest.fixture(scope="module")
def tasks(same_name):
    return [WHO_MOVES, same_name, tiny.ALIKE]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def base(folder):
    return SentenceTransformer(str(folder / "encoder"), device="cpu")


def training(folder, out, evaluator, callbacks=(), **options):
    """Return a trainer that evaluates after every second step of six."""
    rows, model = tiny.pairs(STEPS * 4, seed=0), base(folder)
    columns = {"sentence1": "premise", "sentence2": "hypothesis"}
    chosen = {"eval_strategy": "steps", "eval_steps": 2, "max_steps": STEPS} | options
    return SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(out),
            per_device_train_batch_size=4,
            learning_rate=0.01,
            logging_steps=1,
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            seed=1,
            save_strategy="steps" if "save_steps" in options else "no",
            **chosen,
        ),
        train_dataset=datasets.Dataset.from_dict(
            {name: [row[column] for row in rows] for name, column in columns.items()}
            | {"label": [float(row["label"] == "entailment") for row in rows]}
        ),
        loss=CosineSimilarityLoss(model),
        evaluator=evaluator,
        callbacks=list(callbacks),
    )


def logged(trainer, metric):
    """Return the values of a metric in the trainer's log, by step."""
    key = f"eval_{metric}"
    return {log["step"]: log[key] for log in trainer.state.log_history if key in log}


def weights(trainer):
    return torch.cat([weight.flatten() for weight in trainer.model.parameters()])


@pytest.fixture(scope="module")
def trained(folder, tasks):
    """A training with an evaluator, its reports, and its output folder."""
    reporter, out = Reporter(), folder / "trained"
    evaluator = harness.BiasEvaluator(tasks)
    trainer = training(folder, out, evaluator, [reporter])
    trainer.train()
    return trainer, evaluator, reporter, out


def test_the_trainer_logs_and_reports_bias_by_step(trained):
    trainer, evaluator, reporter, _ = trained
    names = {
        *("bias_overall", "bias_usefulness", "bias_who-moves_association"),
        *("bias_who-moves_effect_size", "bias_same-name_auc", "bias_same-name_same_meaning"),
        *("bias_same-name_same_names", "bias_same-name_ratio", "bias_alike_spearman"),
        "bias_alike_pearson",
    }
    assert names | {"bias_who-moves_ratio"} == set(evaluator.metrics)
    for name in names:
        values = logged(trainer, name)
        assert list(values) == [2, 4, 6]
        assert values == {step: reporter.sent[step][f"eval_{name}"] for step in values}
        assert all(type(value) is float and math.isfinite(value) for value in values.values())
    assert len(set(logged(trainer, "bias_who-moves_association").values())) == 3
    assert logged(trainer, "bias_who-moves_ratio") == {}  # a task without a yardstick


def test_the_values_are_those_of_the_saved_checkpoint(trained, tasks, tmp_path):
    trainer, evaluator, _, _ = trained
    trainer.model.save_pretrained(str(tmp_path / "checkpoint"), create_model_card=False)
    records = harness.evaluate(f"sentence-transformers:{tmp_path / 'checkpoint'}", tasks)
    last = {name: logged(trainer, name)[STEPS] for name in evaluator.metrics[:3]}
    values = {f"bias_{r.task.name}_{r.score}": r.value for r in records}
    assert values == {name: logged(trainer, name)[STEPS] for name in values}
    ratio = next(record.ratio.value for record in records if record.ratio)
    assert ratio == logged(trainer, "bias_same-name_ratio")[STEPS]
    means = {mean["measures"]: mean["mean"] for mean in records.means()}
    assert means["bias"] == last["bias_overall"]
    assert means["usefulness"] == last["bias_usefulness"]
    assert [r.value for r in evaluator.records] == [r.value for r in records]


def test_an_evaluation_leaves_nothing_on_disk_and_the_training_as_it_is(
    folder, trained, tasks, cache
):
    trainer, evaluator, _, out = trained
    assert harness.BiasEvaluator(tasks)(trainer.model) == pytest.approx(
        {name: values[STEPS] for name in evaluator.metrics if (values := logged(trainer, name))}
    )
    assert not list(cache.rglob("*.safetensors"))
    without = training(folder, out / "without", Steps())  # the library itself draws random numbers
    without.train()
    assert torch.equal(weights(without), weights(trainer))


def test_vectors_are_kept_if_a_cache_is_named(folder, tmp_path):
    model, first = base(folder), harness.BiasEvaluator(tiny.ALIKE, cache=tmp_path / "kept")
    values = first(model)
    again = harness.BiasEvaluator(tiny.ALIKE, cache=tmp_path / "kept")
    assert again(model) == values
    assert (first.records.encoded, again.records.encoded) == (9, 0)


def test_the_output_folder_has_a_table_and_the_card_the_values(trained):
    trainer, _, _, out = trained
    with (out / "eval" / "bias_evaluation_bias_results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["steps"] for row in rows] == ["2", "4", "6"]
    assert float(rows[-1]["bias_overall"]) == logged(trainer, "bias_overall")[STEPS]
    (evaluator, metrics), *_ = trainer.model.model_card_data.eval_results_dict.items()
    assert evaluator.get_config_dict() == {"tasks": ["alike", "same-name", "who-moves"], "seed": 0}
    assert metrics["bias_overall"] == logged(trainer, "bias_overall")[STEPS]


def test_the_primary_metric_is_the_mean_of_bias_or_else_the_score_of_the_first_task(tasks):
    for own, metric, more_is_better in (
        (tasks, "names_overall", False),
        ([SAME_NAME], "names_same-name_auc", False),
        ([tiny.ALIKE, WHO_MOVES], "names_who-moves_association", False),
        (tiny.ALIKE, "names_alike_spearman", True),
    ):
        evaluator = harness.BiasEvaluator(own, name="names")
        assert evaluator(tiny.static_model())[metric] == pytest.approx(0, abs=9)
        assert (evaluator.primary_metric, evaluator.greater_is_better) == (metric, more_is_better)


def test_a_training_stops_at_a_bound(folder, tasks, tmp_path, caplog):
    evaluator = harness.BiasEvaluator(tasks[1:])
    bounds = {"below": {"usefulness_of_mine": 0.9}, "patience": 2}
    stopping = harness.BoundStoppingCallback(evaluator, **bounds)
    trainer = training(folder, tmp_path, [evaluator, Steps()], [stopping])
    trainer.train()
    assert stopping.reason == "stopped at step 4: usefulness_of_mine is 0.6, below 0.9"
    assert caplog.messages[-1] == stopping.reason
    assert trainer.state.global_step == 4
    before = len(caplog.messages)
    trainer.evaluate()
    assert len(caplog.messages) == before


def test_within_its_bounds_a_training_ends_and_loads_the_checkpoint_of_least_bias(
    folder, tasks, tmp_path
):
    evaluator = harness.BiasEvaluator(tasks[1:])
    bounds = {"bias_overall": 99.0, "bias_alike_pearson": 2}
    stopping = harness.BoundStoppingCallback(evaluator, above=bounds)
    trainer = training(
        folder,
        tmp_path,
        evaluator,
        [stopping],
        save_steps=2,
        load_best_model_at_end=True,
        metric_for_best_model="bias_overall",
        greater_is_better=False,
    )
    trainer.train()
    assert (trainer.state.global_step, stopping.reason) == (STEPS, "")
    values = logged(trainer, "bias_overall")
    best = min(values, key=values.__getitem__)
    assert trainer.state.best_model_checkpoint.endswith(f"checkpoint-{best}")
    assert evaluator(trainer.model)["bias_overall"] == values[best]


def test_a_model_without_numbers_gives_nan_and_no_bound_is_crossed(folder, caplog):
    evaluator, model = harness.BiasEvaluator(tiny.ALIKE), base(folder)
    with torch.no_grad():
        next(model.parameters()).fill_(math.nan)
    values = evaluator(model, steps=7)
    assert set(values) == {"bias_usefulness", "bias_alike_spearman", "bias_alike_pearson"}
    assert all(map(math.isnan, values.values()))
    assert "nothing is measured at step 7" in caplog.text


def test_a_wrong_task_or_bound_is_an_error_before_the_training():
    for tasks, error, message in (
        ("seat-c66", UnknownName, "unknown task.* 'seat-c66'; did you mean"),
        ("weat-6", UsageError, "task 'weat-6' is made for word embedders"),
        (WHO_MOVES | {"mitigators": ["leace"]}, InvalidFile, "'?mitigators"),
        (7, UsageError, "expected a name, a path or a mapping, not int"),
    ):
        with pytest.raises(error, match=message):
            harness.BiasEvaluator(tasks)
    for bounds, message in (
        ({}, "a bound is missing"),
        ({"above": {"alike_pearson": 1}}, "'alike_pearson'; did you mean 'bias_alike_pearson'"),
        ({"above": {"bias_alike_pearson": "1"}}, "is '1': expected a number"),
        ({"below": {"mine": 1}, "patience": 0}, "patience=0: expected at least 1"),
    ):
        with pytest.raises(UsageError, match=message):
            harness.BoundStoppingCallback(harness.BiasEvaluator(tiny.ALIKE), **bounds)
