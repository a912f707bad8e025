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
from harness.registry.discovery import files_of

TASKS = Path(harness.tasks.__file__).parent
FAMILIES = sorted({path.parent for path in TASKS.rglob("[!_]*.yaml")})
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


def test_a_good_task_is_reported_with_its_number_of_scores(harness, toy, write):
    path = write("mine.yaml", TASK)
    said = harness("validate", path)
    assert said.code == 0
    assert said.out == (
        f"{path}: task 'mine', 1 scenario, 2 scores on a mock embedder\n1 file, 0 with mistakes\n"
    )


def test_a_task_that_gives_no_score_is_a_mistake(harness, toy, write):
    task = TASK.replace("{words: [city, street]}", "{vocabulary: {size: 100, pattern: '[0-9]+'}}")
    path = write("mine.yaml", task + "kinds: [word]\n")
    said = harness("validate", path)
    assert said.code == 2
    assert said.out.startswith(f"{path}: ")
    assert "[0-9]+" in said.out.splitlines()[0]
    assert said.out.endswith("1 file, 1 with mistakes\n")


def test_a_mistake_is_reported_once_with_its_place_and_the_other_files_are_checked(
    harness, toy, write
):
    wrong = write("wrong.yaml", TASK.replace("toy-gap: {}", "toy-gap: {options: {center: true}}"))
    good = write("good.yaml", TASK)
    said = harness("validate", wrong, good)
    mistake, task, summary = said.out.splitlines()
    assert said.code == 2
    assert mistake.startswith(f"{wrong}:8: metrics.toy-gap.options: ")
    assert "'centre'" in mistake
    assert task.startswith(f"{good}: task 'mine'")
    assert summary == "2 files, 1 with mistakes"


def notices(said):
    """Return the place of each notice, `line: key`, and its text."""
    lines = [line for line in said.out.splitlines() if ": notice: " in line]
    places, texts = zip(*(line.split(": notice: ") for line in lines), strict=True)
    assert said.out.endswith(f", {len(lines)} notice{'s' if len(lines) > 1 else ''}\n")
    return [place.split(".yaml:")[1] for place in places], texts


def test_a_word_twice_in_a_set_gives_a_notice(harness, toy, write):
    task = TASK.replace("[village, farm]", "[village, farm, village]")
    task = task.replace("{words: [city, street]}", "{set: towns}")
    path = write("mine.yaml", task + "sets: {towns: [city, town, city, street, town]}\n")
    said = harness("validate", path)
    assert said.code == 0
    places, texts = notices(said)
    assert places == ["10: sets.towns", "6: inputs.targets_1.words"]
    assert "'city', 'town'" in texts[0]
    assert "'village'" in texts[1]


def test_an_unused_input_or_template_gives_a_notice(harness, toy, write):
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
    places, texts = notices(said)
    assert places == [
        "8: inputs.target_3",
        "13: scenarios.default.inputs.target_4",
        "11: templates.sayd",
        "13: scenarios.default.templates.says",
    ]
    assert ["input" in text for text in texts] == [True] * 4
    assert ["template" in text for text in texts] == [False, False, True, True]


TABLE = TASK.replace("{words: [village, farm]}", "{table: t, column: a}").replace(
    "{words: [city, street]}", "{table: t, column: b}"
)


@pytest.mark.parametrize(
    ("content", "line", "fact"),
    [
        ("a,b\nvillage,city\nfarm,street,\n", 3, "3"),
        ('a,b\nvillage,city\nfarm,"street\n', 3, "quote"),
    ],
)
def test_a_mistake_in_a_table_is_found_before_anything_is_encoded(
    harness, toy, write, content, line, fact
):
    write("t.csv", content)
    path = write("mine.yaml", f"{TABLE}tables: {{t: {{file: t.csv}}}}\n")
    for said in (
        harness("validate", path),
        harness("eval", "--model", "toy-letters", "--tasks", path),
    ):
        assert said.code == 2
        place = f"{path.parent / 't.csv'}:{line}: "
        found = [text for text in (said.out + said.err).splitlines() if place in text]
        assert len(found) == 1
        assert fact in found[0]
    assert toy == []


def test_missing_data_is_no_mistake_but_exits_with_1(harness, toy, write, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    task = TASK.replace("{words: [city, street]}", "{table: t}")
    path = write("mine.yaml", task + "tables: {t: {local: x.csv}}\n")
    said = harness("validate", path)
    assert said.code == 1
    task, summary = said.out.splitlines()
    assert task.startswith(f"{path}: unavailable: ")
    assert "'x.csv'" in task
    assert "HARNESS_DATA" in task
    assert summary.startswith("1 file, 0 with mistakes, 1 ")


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        ("raise KeyError('x')", ["KeyError", "'x'"]),
        ("return Score(float('nan'), reason='few')", ["scenario 'default'", "few"]),
        ("return {'b': 1}", ["'odd-metric'", "['b']"]),
    ],
)
def test_a_task_is_really_run(harness, install, write, body, facts):
    source = f"""
        from harness import MetricSpec, Samples, Scale, Score, hookimpl, metric

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
    mistake, _ = said.out.splitlines()
    assert mistake.startswith(f"{path}: ")
    for fact in facts:
        assert fact in mistake


def test_files_of_a_source_tree_are_checked_while_the_same_package_is_installed(
    harness, toy, tmp_path
):
    shutil.copytree(TOYS, tmp_path / "source")
    said = harness("validate", tmp_path / "source")
    assert said.code == 0, said.err
    assert said.out.endswith("7 files, 0 with mistakes, 1 notice\n")


LARGE_FAMILIES = {"analogies", "names", "seat_published", "similarity", "weathub", "wefe"}
"""Families that take seconds each. test_tasks.py resolves their tasks, which finds all mistakes of
their files, and only the long tests run them on a mock embedder, too."""


@pytest.mark.parametrize(
    "family",
    [
        # probes of SentEval are on thousands of fetched sentences
        pytest.param(
            family,
            marks=pytest.mark.long
            if "senteval" in family.name or family.name in LARGE_FAMILIES
            else (),
        )
        for family in FAMILIES
    ],
    ids=lambda family: family.name,
)
def test_what_ships_is_valid(harness, monkeypatch, kept_cache, family):
    monkeypatch.setenv("HARNESS_CACHE", str(kept_cache))  # with the names that spaCy finds in plots
    said = harness("validate", *sorted(family.glob("[!_]*.yaml")))
    assert ", 0 with mistakes" in said.out, said.out
    assert ", 0 scores" not in said.out
    assert said.code in (0, 1)  # 1 where data is missing


@pytest.fixture(scope="module")
def schema():
    """The schema of a kind as the command prints it."""

    def read(kind):
        from click.testing import CliRunner

        from harness.commands.main import group

        printed = json.loads(CliRunner().invoke(group, ["schema", kind], obj=False).output)
        Draft202012Validator.check_schema(printed)
        return Draft202012Validator(printed)

    return read


@pytest.mark.parametrize("folder", [TASKS, TOYS])
def test_the_schemas_fit_the_files_that_ship(schema, folder):
    for kind in ("task", "concept", "benchmark"):
        paths = files_of(folder, kind)
        assert paths or kind == "benchmark"
        validator = schema(kind)
        for path in paths:
            errors = list(validator.iter_errors(yaml.safe_load(path.read_text("utf-8"))))
            assert not errors, f"{path}: {errors[0].message}"


def test_the_schema_of_records_fits_records(schema, registry):
    import harness as package

    validator = schema("record")
    for record in package.evaluate(MockEmbedder(), "toy-*", registry=registry, concept=None):
        line = json.loads(record.line())
        assert validator.is_valid(line), list(validator.iter_errors(line))
        assert not validator.is_valid(line | {"colour": "red"})


def test_every_field_of_a_file_is_documented(schema):
    for kind in ("task", "concept"):
        for name, field in schema(kind).schema["properties"].items():
            documented = field.get("description") or "$ref" in field or name == "include"
            assert documented, f"{kind}: {name}"


def test_every_mistake_in_inputs_metrics_and_primary_is_shown_at_once(harness, toy, write):
    task = TASK.replace("toy-gap: {}", "toy-gap: {options: {center: true}}, weet: {}")
    task = task.replace("score: gap}", "score: gape}")
    path = write("mine.yaml", task)
    result = harness("validate", path)
    *mistakes, _ = result.out.splitlines()
    assert len(mistakes) == 3
    for key in ("metrics.weet: ", "primary.score: ", "metrics.toy-gap.options"):
        assert [m for m in mistakes if m.startswith(f"{path}:") and key in m], key
    task = TASK.replace("toy-gap: {}", "weet: {}").replace("{words: [city", "{wrods: [city")
    path = write("mine.yaml", task + "concept: gendre\n")
    *mistakes, _ = harness("validate", path).out.splitlines()
    for fact in ("'wrods'", "'weet'", "'gendre'"):
        assert [mistake for mistake in mistakes if fact in mistake], fact
    unknown_sets = TASK.replace("{words: [village, farm]}", "{set: farms}")
    path = write("mine.yaml", unknown_sets.replace("{words: [city, street]}", "{table: streets}"))
    *mistakes, _ = harness("validate", path).out.splitlines()
    assert len(mistakes) == 2
    assert "'farms'" in mistakes[0]
    assert "'streets'" in mistakes[1]
