"""Tasks of the harness in mteb, and models of mteb here: the numbers are equal both ways.

No hub is asked: three tiny models are entered into the registry of mteb.
"""

import sys
from typing import ClassVar

import numpy as np
import pytest
import registered_models
import yaml

import harness
from harness.errors import (
    HarnessError,
    ModelError,
    NotApplicable,
    Unavailable,
    UnknownName,
    UsageError,
)

mteb = pytest.importorskip("mteb")

from mteb.get_tasks import _TASKS_REGISTRY as TASKS_OF_MTEB  # noqa: E402
from mteb.models.model_implementations import MODEL_REGISTRY  # noqa: E402
from mteb.types import PromptType  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

import harness.mteb  # noqa: E402  # it needs mteb

SAMPLE = ("gender-in-sentences", "retrieval-army", "simlex-999")
"""A task of bias, one with queries and documents, and one of usefulness."""
FAMILIES = (
    *("age-traits", "bec-pro-en", "book-genres", "weathub-de", "crows-pairs-age", "seat-c6"),
    *("gender-direction-sentences", "holistic-bias-age", "name-perturbations-books"),
    *("name-triplets", "occupation-forms-de", "retrieval-gendered-queries", "simlex-999"),
    *("retrieval-grep-biasir-answers", "screening-gender", "winogender-recoverability"),
    "gender-in-sentences",
)
"""A task of each metric whose texts are in the package."""
PARTS = ("train", "dev", "test")
ROWS = [
    [f"person {i} reads", f"person {i * 7 % 90} sings", i % 3, i % 2, PARTS[i % 3]]
    for i in range(180)
]


def of_rows(column, part=None):
    number = {"number": True} if column in ("label", "group") else {}
    where = {"where": {"part": part}} if part else {}
    return {"table": "rows", "column": column, **number, **where}


TINY = {
    "tpr-gap": (
        "gap_rms",
        {"items": of_rows("a"), "labels": of_rows("label"), "groups": of_rows("group")},
    ),
    "senteval-probe": (
        "accuracy",
        {"texts_1": of_rows("a"), "texts_2": of_rows("b"), "labels": of_rows("group")},
    ),
    "trained-relatedness": (
        "pearson",
        {
            name: of_rows(column, part)
            for part, names in (
                (PARTS[0], ("texts_1", "texts_2", "ratings")),
                (PARTS[1], ("dev_1", "dev_2", "dev_ratings")),
                (PARTS[2], ("test_1", "test_2", "test_ratings")),
            )
            for name, column in zip(names, ("a", "b", "group"), strict=True)
        },
    ),
}
"""The metrics whose tasks fetch their texts: main score and inputs of a tiny task."""


@pytest.fixture(scope="module", autouse=True)
def registry(tmp_path_factory):
    """The registry of mteb with the models in it, which are taken out in the end."""
    entered = registered_models.entered(tmp_path_factory.mktemp("registered"))
    with pytest.MonkeyPatch.context() as patch:
        for name, meta in entered.items():
            patch.setitem(MODEL_REGISTRY, name, meta)
        yield MODEL_REGISTRY


def task_file(folder, *, metric="tpr-gap", **changed):
    score, inputs = TINY[metric]
    task = {
        "name": f"tiny-{metric}",
        "version": 1,
        "title": "Texts of a test",
        "licence": "CC BY 4.0; made for a test",
        "category": "gender",
        "kinds": ["text"],
        "measures": "usefulness",
        "tables": {"rows": {"columns": ["a", "b", "label", "group", "part"], "rows": ROWS}},
        "inputs": inputs,
        "metrics": {metric: {}},
        "primary": {"metric": metric, "score": score},
    }
    path = folder / f"{task['name']}.yaml"
    path.write_text(yaml.safe_dump(task | changed))
    return path


def main_scores(name, tasks):
    """Return the main score of each task, as mteb computes it."""
    found = mteb.evaluate(mteb.get_model(name), tasks, cache=None, show_progress_bar=False)
    return {result.task_name: result.get_score() for result in found.task_results}


def check(name, selected):
    tasks = harness.mteb.tasks(*selected)
    records = harness.evaluate(f"mteb:{name}", list(map(str, selected)))
    expected = {record.task.name: record.value for record in records if record.primary}
    assert len(expected) == len(selected), records.not_run
    assert main_scores(name, tasks) == expected


def test_the_main_score_is_that_of_the_harness():
    for name, task in zip(registered_models.NAMES, SAMPLE, strict=True):
        check(name, [task])


@pytest.mark.long
@pytest.mark.parametrize("name", registered_models.NAMES)
def test_the_main_scores_of_all_metrics_are_those_of_the_harness(name, tmp_path):
    tiny = [task_file(tmp_path, metric=metric) for metric in TINY]
    check(name, [*FAMILIES, *tiny])


class Texts(list):
    """A data set of mteb, whose own are of the library datasets."""

    features: ClassVar = {"text": "string"}


def test_texts_get_the_prompts_of_mtebs_own_tasks():
    similarity, search = mteb.get_task("STS12").metadata, mteb.get_task("FiQA2018").metadata
    search = search.model_copy(update={"prompt": None})  # one for this task alone
    roles = {
        "text": (similarity, None),
        "query": (search, PromptType.query),
        "document": (search, PromptType.document),
    }
    texts = Texts([{"text": "a nurse"}, {"text": "Who reads?"}])
    numbers = {}
    for name in registered_models.NAMES:
        model, embedder = mteb.get_model(name), harness.Registry().embedder(f"mteb:{name}")
        seen = set()
        for role, (metadata, kind) in roles.items():
            expected = model.encode(
                DataLoader(texts, batch_size=2),
                task_metadata=metadata,
                hf_split="test",
                hf_subset="default",
                prompt_type=kind,
            )
            vectors = embedder.encode([row["text"] for row in texts], role=role)
            np.testing.assert_array_equal(vectors, np.asarray(expected))
            seen.add(vectors.tobytes())
        numbers[name] = len(seen)
    # Instructions for texts and for queries differ; documents get that of queries, too.
    assert numbers == {"tests/plain": 1, "tests/prompted": 3, "tests/asked": 2}


def fingerprint(name):
    return harness.Registry().embedder(name).info.fingerprint


def test_the_identity_covers_revision_prompts_loader_and_task_type(registry, monkeypatch):
    name = "tests/prompted"
    meta = registry[name]
    seen = {fingerprint(f"mteb:{name}"), fingerprint(f"mteb:{name}?task_type=Clustering")}
    loaders = {
        "loader": registry["tests/asked"].loader,
        "loader_kwargs": {"model_prompts": registered_models.PROMPTS | {"STS": "like: "}},
        "revision": "d4e5f6",
    }
    for field, value in loaders.items():
        monkeypatch.setitem(registry, name, meta.model_copy(update={field: value}))
        seen.add(fingerprint(f"mteb:{name}"))
    monkeypatch.setitem(registry, name, meta)
    assert len(seen) == 5
    assert fingerprint(f"mteb:{name}") in seen


def test_facts_of_the_registry_are_the_card():
    info = harness.Registry().embedder("mteb:tests/prompted").info
    assert (info.name, info.revision, info.licence) == ("mteb:tests/prompted", "a1b2c3", "mit")
    assert (info.dimensions, info.languages) == (12, ("en", "de"))
    assert info.prompts == registered_models.PROMPTS
    assert not info.hosted


def refused(name, class_=ModelError):
    with pytest.raises(class_) as caught:
        harness.evaluate(name, "gender-in-sentences")
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_an_unknown_name_gets_near_names():
    assert "did you mean 'tests/plain' or" in refused("mteb:tests/plainn", UnknownName)
    assert "sentence-transformers:nobody/knows-x1" in refused("mteb:nobody/knows-x1", UnknownName)


def test_what_mteb_cannot_load_is_one_line(registry, monkeypatch):
    def loader(*_, **__):
        raise OSError("no such file\nand more")

    changes = {
        "cannot be loaded: no such file": {"loader": loader},
        "of the type cross-encoder": {"model_type": ["cross-encoder"]},
        "pip install mteb[gritlm]": {"extra_requirements_groups": ["gritlm"]},
        "comes with its own Python code": {"loader_kwargs": {"trust_remote_code": True}},
        "?revision=COMMIT": {"revision": None},
    }
    for i, (reason, change) in enumerate(changes.items()):
        meta = registry["tests/plain"].model_copy(update={"name": f"tests/bad-{i}"} | change)
        monkeypatch.setitem(registry, meta.name, meta)
        assert reason in refused(f"mteb:{meta.name}", HarnessError)
    named = harness.Registry().embedder(f"mteb:{meta.name}?revision=abc")
    assert named.info.revision == "abc"
    assert "in the revision a1b2c3" in refused("mteb:tests/plain?revision=abc", HarnessError)


def test_code_that_a_loader_trusts_by_itself_is_not_run(registry, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    (folder / "config.json").write_text('{"auto_map": {"AutoConfig": "own.Config"}}')

    def loader(name, revision, **_):
        from transformers import AutoConfig

        return AutoConfig.from_pretrained(folder, trust_remote_code=True)

    meta = registry["tests/plain"].model_copy(update={"name": "tests/own", "loader": loader})
    monkeypatch.setitem(registry, "tests/own", meta)
    assert "comes with its own Python code" in refused("mteb:tests/own")
    assert not ran.exists()
    refused("mteb:tests/own?trust_remote_code=true")  # it has no class Config
    assert ran.exists()


def test_a_missing_or_old_mteb_is_one_line(monkeypatch):
    monkeypatch.setattr(mteb, "__version__", "1.39.7")
    with pytest.raises(Unavailable, match=r"^mteb 1\.39\.7 is installed; expected 2\.26 or later"):
        harness.mteb.library()
    monkeypatch.setitem(sys.modules, "mteb", None)
    assert refused("mteb:tests/plain", Unavailable) == (
        'mteb is not installed: pip install "embedding-bias-harness[mteb]"'
    )


def test_the_metadata_of_all_tasks_are_valid_for_mteb():
    for task in harness.mteb.tasks("all"):
        assert task.metadata.name not in TASKS_OF_MTEB
        assert task.languages
    (seat,) = harness.mteb.tasks("seat-c6")
    assert seat.metadata.main_score == "sentence.weat.association"
    assert "Caliskan" in seat.metadata.bibtex_citation


def test_the_metadata_is_that_of_the_task_file(tmp_path):
    (task,) = harness.mteb.tasks(task_file(tmp_path, language="de", description="On people."))
    metadata = task.metadata
    assert metadata.name == "tiny-tpr-gap"
    assert metadata.description == "Texts of a test. On people."
    assert metadata.languages == ["deu"]
    assert metadata.license == "cc-by-4.0"
    assert metadata.domains == ["Written"]
    assert metadata.main_score == "tpr-gap.gap_rms"
    (other,) = harness.mteb.tasks(task_file(tmp_path, version=2))
    assert other.metadata.revision != metadata.revision


def test_what_cannot_be_a_task_of_mteb_is_left_out_or_refused(tmp_path):
    assert [task.metadata.name for task in harness.mteb.tasks("gender-in-*", "weat-6*")] == [
        "gender-in-sentences"
    ]
    cases = {
        ("weat-6",): "'weat-6' cannot be a task of mteb: it is made for word embedders",
        (task_file(tmp_path, language="xx"),): "no code for the language 'xx'",
        (
            task_file(
                tmp_path,
                metric="senteval-probe",
                kinds=["word", "text"],
                inputs={"texts_1": {"vocabulary": {"size": 9}}, "labels": of_rows("group")},
            ),
        ): "reads the vocabulary",
    }
    for selected, reason in cases.items():
        with pytest.raises(NotApplicable, match=reason):
            harness.mteb.tasks(*selected)
    with pytest.raises(UsageError, match="'hard-debias' is a mitigator, no task"):
        harness.mteb.tasks("hard-debias")


def test_a_task_that_gives_no_score_is_an_error_of_mteb(tmp_path):
    rows = [[*row[:2], 1, 0, row[4]] for row in ROWS]
    path = task_file(tmp_path, tables={"rows": {"columns": list("abcde"), "rows": rows}})
    path.write_text(path.read_text().replace("column: label", "column: c"))
    path.write_text(path.read_text().replace("column: group", "column: d"))
    (task,) = harness.mteb.tasks(path)
    with pytest.raises(ModelError, match="task 'tiny-tpr-gap' gives no score: "):
        mteb.evaluate(mteb.get_model("tests/plain"), task, cache=None)


def test_a_benchmark_is_one_of_mteb(tmp_path):
    found = harness.mteb.benchmark("names")
    assert isinstance(found, mteb.Benchmark)
    assert found.name == "names"
    assert {task.metadata.name for task in found.tasks} >= {"name-triplets"}


def test_a_second_evaluation_takes_the_results_of_mtebs_cache(tmp_path, monkeypatch):
    cache = mteb.ResultCache(tmp_path / "cache")
    model = mteb.get_model("tests/plain")
    tasks = harness.mteb.tasks("gender-in-sentences")
    first = mteb.evaluate(model, tasks, cache=cache, show_progress_bar=False)
    monkeypatch.setattr(harness.mteb, "evaluate", None)  # which would fail
    again = mteb.evaluate(model, tasks, cache=cache, show_progress_bar=False)
    # mteb rounds what it keeps.
    assert again.task_results[0].get_score() == round(first.task_results[0].get_score(), 5)
