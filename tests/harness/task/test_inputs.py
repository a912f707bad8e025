"""From sources to texts and numbers."""

from __future__ import annotations

import pytest

from harness.errors import InvalidFile
from harness.registry.registry import Registry

TASK = """\
name: mine
version: 1
title: Mine
category: places
concept: toy-place
metrics: {toy-gap: {}}
primary: {metric: toy-gap, score: gap}
inputs:
  targets_1: {words: [x]}
  targets_2: {words: [y]}
"""
TABLE = """\
tables:
  people:
    columns: [who, place, rating]
    rows:
      - [ada, village, 1]
      - [bob, city, 2.5]
      - [cid, village, 3]
"""


@pytest.fixture
def inputs(registry, write):
    """Resolve a task with further inputs; give those of its first scenario."""

    def make(lines, more=""):
        path = write("mine.yaml", TASK + "".join(f"  {line}\n" for line in lines) + more)
        return registry.task_file(path).scenarios[0].inputs

    return make


@pytest.fixture
def told(inputs, tmp_path):
    def make(lines, more=""):
        with pytest.raises(InvalidFile) as caught:
            inputs(lines, more)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return make


def test_a_list_of_templates_makes_several_texts_of_an_item_in_one_cluster(inputs):
    made = inputs(
        ["a: {words: [cat, owl], template: t}"],
        "templates: {t: ['a {text}', '{Text}s']}\n",
    )["a"]
    assert made.texts == ("a cat", "Cats", "a owl", "Owls")
    assert made.clusters.tolist() == [0, 0, 1, 1]


def test_several_sources_are_put_one_after_the_other(inputs):
    made = inputs(["a: [{words: [p, q]}, {set: concept.moods}, {words: [p]}]"])["a"]
    assert made.texts == ("p", "q", "calm", "loud", "p")
    assert made.clusters.tolist() == [0, 1, 2, 3, 4]


def test_a_table_gives_texts_numbers_and_fields_of_templates(inputs):
    made = inputs(
        [
            "a: {table: people, column: who, where: {place: village}}",
            "b: {table: people, column: rating, number: true}",
            "c: {table: people, column: who, template: t}",
        ],
        TABLE + "templates: {t: '{Text} of {Place}, {rating}'}\n",
    )
    assert made["a"].texts == ("ada", "cid")
    assert made["b"].numbers.tolist() == [1, 2.5, 3]
    assert made["c"].texts == ("Ada of Village, 1", "Bob of City, 2.5", "Cid of Village, 3")


def test_columns_of_one_table_are_aligned_and_other_rows_are_not(inputs):
    made = inputs(
        [
            "a: {table: people, column: who}",
            "b: {table: people, column: rating, number: true}",
            "c: {table: people, column: who, where: {place: village}}",
        ],
        TABLE,
    )
    assert made["a"].group == made["b"].group != made["c"].group


def test_inputs_of_several_tables_in_one_order_are_aligned(inputs):
    def both(rest, first, then):
        return f"[{{{rest}, where: {{place: {first}}}}}, {{{rest}, where: {{place: {then}}}}}]"

    who, rating = "table: people, column: who", "table: people, column: rating, number: true"
    made = inputs(
        [
            f"a: {both(who, 'village', 'city')}",
            f"b: {both(rating, 'village', 'city')}",
            f"c: {both(who, 'city', 'village')}",
            f"d: [{{{who}}}, {{words: [dan]}}]",
        ],
        TABLE,
    )
    assert made["a"].texts == ("ada", "cid", "bob")
    assert made["b"].numbers.tolist() == [1, 3, 2.5]
    assert made["a"].group == made["b"].group
    assert len({made[name].group for name in "acd"}) == 3


def test_aligned_inputs_of_different_lengths_are_told(told):
    said = told(
        [
            "a: {table: people, column: who, template: t}",
            "b: {table: people, column: rating, number: true}",
        ],
        TABLE + "templates: {t: ['{text}', '{text}!']}\n",
    )
    assert said == (
        "mine.yaml:12: inputs.b: has 3 items where 'a', of the same table, has 6: "
        "give both the same templates"
    )


def test_the_concepts_pairs_are_a_table(inputs, told):
    made = inputs(["a: {table: concept.definitional_pairs, column: first}"])["a"]
    assert made.texts == ("village", "farm")
    said = told(["a: {table: concept.definitional_pairs, column: frist}"])
    assert said.startswith("mine.yaml:11: inputs.a.column: table 'concept.definitional_pairs' has ")


def test_where_compares_numbers_in_files_as_they_are_written(inputs, write):
    write("levels.tsv", "word\tlevel\na\t1\nb\t2\nc\t1\n")
    made = inputs(
        ["a: {table: levels, column: word, where: {level: 1}}"],
        "tables: {levels: {file: levels.tsv}}\n",
    )
    assert made["a"].texts == ("a", "c")


def test_a_scenario_replaces_inputs_and_templates(registry):
    plain, marked = registry.task("toy-sentences").scenarios
    assert plain.inputs["targets_1"].texts == ("This is a village.", "This is a farm.")
    assert marked.inputs["targets_1"].texts[:2] == ("Village!", "It is a village, really.")
    assert marked.inputs["probes"].probe
    assert marked.inputs["probes"].texts == ("calm", "loud")


def test_a_cell_that_is_a_list_is_no_number(told, write):
    write("levels.jsonl", '{"level": 1}\n{"level": [2]}\n')
    said = told(
        ["a: {table: levels, column: level, number: true}"],
        "tables: {levels: {file: levels.jsonl}}\n",
    )
    assert said.startswith("mine.yaml:11: inputs.a: expected numbers (float() argument")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a: {table: people, column: whom}", ".column: table 'people' has no column 'whom'; did "
         "you mean 'who'"),
        ("a: {table: people, column: who, where: {plaice: x}}", ".where: table 'people' has no "
         "column 'plaice'; did you mean 'place'"),
        ("a: {table: people, column: who, where: {place: moon}}", ": no row of the table is left; "
         "this set is empty"),
        ("a: {table: people, column: who, number: true}", ": expected numbers (could not convert"),
        ("a: {words: [nan], number: true}", ": expected finite numbers"),
        ("a: [{words: [x]}, {words: ['1'], number: true}]", ": mixes numbers and texts"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_line_and_key(told, line, said):
    assert told([line], TABLE).startswith(f"mine.yaml:11: inputs.a{said}")


@pytest.mark.parametrize(
    "template", ["{wo}", "{text.__class__}", "{0}", "{}", "{text[0]}", "{a!r}"]
)
def test_a_field_that_a_template_does_not_have_is_told(told, template):
    said = told(
        ["a: {table: people, column: who, template: t}"],
        TABLE + f"templates: {{t: '{template}'}}\n",
    )
    assert said.startswith(f"mine.yaml:19: templates.t: the template '{template}' has '{{")


@pytest.mark.parametrize("template", ["{text", "text}", "{text!z}", "{text:>>9z}"])
def test_a_template_that_cannot_be_filled_is_told(told, template):
    said = told(["a: {words: [x], template: t}"], f"templates: {{t: '{template}'}}\n")
    assert said.startswith(f"mine.yaml:12: templates.t: the template '{template}' cannot be filled")


def test_braces_may_be_doubled(inputs):
    made = inputs(["a: {words: [x], template: t}"], "templates: {t: '{{{text}}}'}\n")
    assert made["a"].texts == ("{x}",)


@pytest.fixture
def filled(registry, write):
    """Fill a template of a task whose concept has one context."""

    def fill(template):
        write("concepts/water.yaml", "name: water\ncontexts: {debiasing: Its water is unknown.}\n")
        more = f"  a: {{words: [x], template: t}}\ntemplates: {{t: '{template}'}}\n"
        path = write("mine.yaml", TASK.replace("toy-place", "water") + more)
        with_concept = Registry(registry.plugins, include=[path.parent])
        return with_concept.task_file(path).scenarios[0].inputs["a"].texts

    return fill


def test_a_template_may_say_a_context_of_the_concept(filled):
    assert filled("It is {text}. {context.debiasing}") == ("It is x. Its water is unknown.",)


def test_a_context_that_the_concept_lacks_is_told(filled):
    with pytest.raises(InvalidFile, match=r"did you mean 'context\.debiasing'"):
        filled("{text} {context.debiasin}")
