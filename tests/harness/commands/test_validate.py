"""`harness validate` and `harness schema`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

import harness.tasks
from harness.embedder import MockEmbedder
from harness.registry.files import files

TASKS = Path(harness.tasks.__file__).parent
TOYS = Path(__file__).parents[1] / "toy" / "tasks"
TASK = """\
name: mine
version: 1
title: Mine
category: places
inputs:
  targets_1: {words: [village, farm]}
  targets_2: {words: [city, street]}
metrics: {toy-gap: {}}
primary: {metric: toy-gap, score: gap}
"""


def test_a_good_task_is_told_with_what_was_run(harness, toy, write):
    path = write("mine.yaml", TASK)
    said = harness("validate", path)
    assert said.code == 0
    assert said.out == (
        f"{path}: task 'mine', 1 scenario, 2 scores on a mock embedder\n1 file, 0 with mistakes\n"
    )


def test_a_folder_is_checked_with_its_concepts(harness, toy):
    said = harness("validate", TOYS)
    assert said.code == 0
    assert f"{TOYS}/concepts/toy-place.yaml: concept 'toy-place', 2 definitional pairs" in said.out
    assert "task 'toy-sentences', 2 scenarios, 4 scores on a mock embedder" in said.out
    assert "_shared" not in said.out
    assert said.out.endswith("6 files, 0 with mistakes, 1 notice\n")


def test_a_mistake_is_told_once_with_its_place_and_the_other_files_go_on(harness, toy, write):
    wrong = write("wrong.yaml", TASK.replace("toy-gap: {}", "toy-gap: {options: {center: true}}"))
    good = write("good.yaml", TASK)
    said = harness("validate", wrong, good)
    assert said.code == 2
    assert said.out.splitlines() == [
        f"{wrong}:8: metrics.toy-gap.options: metric 'toy-gap' has no option 'center'; "
        "did you mean 'centre'?",
        f"{good}: task 'mine', 1 scenario, 2 scores on a mock embedder",
        "2 files, 1 with mistakes",
    ]


def test_a_concept_with_a_mistake_is_told(harness, write):
    path = write("concepts/c.yaml", "name: c\ndefinitional_pairs: [[she, no]]\n")
    said = harness("validate", path)
    assert said.code == 2
    assert said.out.startswith(
        f"{path}:2: definitional_pairs[0][1]: YAML reads this as false, not as text"
    )


def test_a_word_that_stands_in_a_set_twice_is_noticed(harness, toy, write):
    task = TASK.replace("[village, farm]", "[village, farm, village]")
    task = task.replace("{words: [city, street]}", "{set: towns}")
    path = write("mine.yaml", task + "sets: {towns: [city, town, city, street, town]}\n")
    said = harness("validate", path)
    assert said.code == 0
    assert said.out.splitlines()[1:] == [
        f"{path}:10: sets.towns: notice: 'city', 'town' stand here more than once",
        f"{path}:6: inputs.targets_1.words: notice: 'village' stands here more than once",
        "1 file, 0 with mistakes, 2 notices",
    ]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("definitional_pairs: [[she, he], [her, her]]", "definitional_pairs[1]"),
        ("definitional_sets: [[a, b, a]]", "definitional_sets[0]"),
        ("equalize_sets: [[a, b, a]]", "equalize_sets[0]"),
        ("specific_words: [beard, a, beard]", "specific_words"),
        ("names: {girls: [Ann, Ann]}", "names.girls"),
        ("sets: {jobs: [nurse, nurse]}", "sets.jobs"),
    ],
)
def test_a_word_that_stands_in_a_set_of_a_concept_twice_is_noticed(harness, write, line, key):
    path = write("concepts/c.yaml", f"name: c\n{line}\n")
    said = harness("validate", path)
    assert said.code == 0
    assert f"{path}:2: {key}: notice: " in said.out
    assert said.out.endswith("1 file, 0 with mistakes, 1 notice\n")


def test_an_input_or_template_that_nothing_uses_is_noticed(harness, toy, write):
    task = TASK.replace("{words: [city, street]}", "{words: [city], template: said}")
    task = task.replace("metrics:", "  target_3: {words: [hill]}\nmetrics:")
    more = """\
templates: {said: 'a {text}', sayd: 'the {text}'}
scenarios:
  default: {templates: {says: 'it is a {text}'}, inputs: {target_4: {words: [sea]}}}
"""
    path = write("mine.yaml", task + more)
    said = harness("validate", path)
    assert said.code == 0
    assert said.out.splitlines()[1:] == [
        f"{path}:8: inputs.target_3: notice: no metric takes this input",
        f"{path}:13: scenarios.default.inputs.target_4: notice: no metric takes this input",
        f"{path}:11: templates.sayd: notice: no input uses this template",
        f"{path}:13: scenarios.default.templates.says: notice: no input uses this template",
        "1 file, 0 with mistakes, 4 notices",
    ]


def test_what_is_included_may_be_for_other_tasks_and_is_noticed_once(harness, toy, write):
    write("_shared.yaml", "templates: {said: 'a {text}'}\nsets: {jobs: [nurse, nurse]}\n")
    paths = [write(f"{name}.yaml", f"include: _shared.yaml\n{TASK}") for name in "ab"]
    said = harness("validate", *paths)
    shared = paths[0].parent / "_shared.yaml"
    assert [line for line in said.out.splitlines() if "notice" in line] == [
        f"{shared}:2: sets.jobs: notice: 'nurse' stands here more than once",
        "2 files, 0 with mistakes, 1 notice",
    ]


def test_data_that_is_not_here_is_no_mistake_but_leaves_with_1(harness, toy, write, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    task = TASK.replace("{words: [city, street]}", "{table: t}")
    path = write("mine.yaml", task + "tables: {t: {local: x.csv, how_to_get: Ask.}}\n")
    said = harness("validate", path)
    assert said.code == 1
    assert said.out.splitlines() == [
        f"{path}: unavailable: its data is not here: put 'x.csv' in the folder that HARNESS_DATA "
        "names. Ask.",
        "1 file, 0 with mistakes, 1 whose data is not here",
    ]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise KeyError('x')", "its metric raised KeyError: 'x'"),
        ("raise ValueError('a\\nb')", "its metric raised ValueError: a"),
        ("return float('nan')", "scenario 'default' gives no score: 'a' is nan"),
        ("return {'b': 1}", "its metric raised TypeError: metric 'odd-metric' declares the scores"),
    ],
)
def test_a_task_is_really_run(harness, install, write, body, told):
    source = f"""
        from harness import MetricSpec, Scale, hookimpl, metric

        @hookimpl
        def harness_metrics():
            return [MetricSpec(name="odd-metric", target="odd_module:odd")]

        @metric("odd-metric", scores={{"a": Scale(ideal=0)}})
        def odd(targets_1):
            {body}
    """
    install("odd", {"odd": "odd_module"}, odd_module=source)
    task = TASK.replace("toy-gap", "odd-metric").replace("score: gap", "score: a")
    path = write("mine.yaml", task)
    said = harness("validate", path)
    assert said.code == 2
    assert said.out.startswith(f"{path}: {told}")
    assert len(said.out.splitlines()) == 2


def test_a_path_that_is_not_there_is_told(harness, tmp_path):
    said = harness("validate", tmp_path / "absent.yaml")
    assert said.code == 2
    assert said.err == f"harness: {tmp_path}/absent.yaml: there is no such file or folder\n"


def test_an_empty_folder_is_no_success(harness, tmp_path):
    (tmp_path / "empty").mkdir()
    said = harness("validate", tmp_path / "empty")
    assert said.code == 2
    assert said.err == f"harness: {tmp_path}/empty: no task, concept or study files here\n"


def test_the_source_of_an_installed_package_wins_over_what_is_installed(harness, toy, tmp_path):
    shutil.copytree(TOYS, tmp_path / "source")
    said = harness("validate", tmp_path / "source")
    assert said.code == 0, said.err
    assert said.out.endswith("6 files, 0 with mistakes, 1 notice\n")


def test_what_ships_is_valid(harness):
    said = harness("validate", TASKS)
    assert "0 with mistakes" in said.out, said.out
    assert said.code in (0, 1)  # 1 where the data of STS-B is not here


@pytest.fixture(scope="module")
def schema():
    """The schema of a kind as the command prints it."""

    def read(kind):
        from click.testing import CliRunner

        from harness.commands.schema import command

        made = json.loads(CliRunner().invoke(command, [kind]).output)
        Draft202012Validator.check_schema(made)
        return Draft202012Validator(made)

    return read


@pytest.mark.parametrize("folder", [TASKS, TOYS])
def test_the_schemas_fit_the_files_that_ship(schema, folder):
    for kind in ("task", "concept"):
        paths = files(folder, kind)
        assert paths
        validator = schema(kind)
        for path in paths:
            errors = list(validator.iter_errors(yaml.safe_load(path.read_text())))
            assert not errors, f"{path}: {errors[0].message}"


def test_the_schemas_find_mistakes(schema):
    whole = yaml.safe_load(TASK)
    assert schema("task").is_valid(whole)
    for change in ({"titel": "x"}, {"version": 0}, {"kinds": ["words"]}, {"name": "a b"}):
        assert not schema("task").is_valid(whole | change)
    assert not schema("concept").is_valid({"name": "c", "definitional_pairs": [["a"]]})


def test_the_schema_of_records_fits_records(schema, registry):
    import harness as package

    validator = schema("record")
    for record in package.evaluate(MockEmbedder(), "toy-*", registry=registry, concept=None):
        said = json.loads(record.line())
        assert validator.is_valid(said), list(validator.iter_errors(said))
        assert not validator.is_valid(said | {"colour": "red"})


def test_every_field_of_a_file_is_documented(schema):
    for kind in ("task", "concept"):
        for name, field in schema(kind).schema["properties"].items():
            told = field.get("description") or "$ref" in field or name == "include"
            assert told, f"{kind}: {name}"
