"""The inputs of a task: from sources to texts and numbers."""

from __future__ import annotations

import pytest

from harness import limits
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
    """Resolve a task with further inputs; return those of its first scenario."""

    def resolve(lines, more=""):
        path = write("mine.yaml", TASK + "".join(f"  {line}\n" for line in lines) + more)
        return registry.task_file(path).scenarios[0].inputs

    return resolve


@pytest.fixture
def mistake(inputs, tmp_path):
    """Check that inputs have a mistake at `at` ("11: inputs.a"), with the facts `of` it."""

    def check(lines, more="", *, at, of=()):
        with pytest.raises(InvalidFile) as caught:
            inputs(lines, more)
        message = str(caught.value)
        place = f"{tmp_path}/mine.yaml:{at}: "
        assert message.startswith(place)
        for fact in of:
            assert fact in message.removeprefix(place)

    return check


def test_a_list_of_templates_gives_several_texts_an_item_in_one_cluster(inputs):
    resolved = inputs(
        ["a: {words: [cat, owl], template: t}"],
        "templates: {t: ['a {text}', '{Text}s']}\n",
    )["a"]
    assert resolved.texts == ("a cat", "Cats", "a owl", "Owls")
    assert resolved.clusters.tolist() == [0, 0, 1, 1]


def test_several_sources_are_concatenated(inputs):
    resolved = inputs(["a: [{words: [p, q]}, {set: concept.moods}, {words: [p]}]"])["a"]
    assert resolved.texts == ("p", "q", "calm", "loud", "p")
    assert resolved.clusters.tolist() == [0, 1, 2, 3, 4]


def test_a_table_gives_texts_numbers_and_fields_of_templates(inputs):
    resolved = inputs(
        [
            "a: {table: people, column: who, where: {place: village}}",
            "b: {table: people, column: rating, number: true}",
            "c: {table: people, column: who, template: t}",
        ],
        TABLE + "templates: {t: '{Text} of {Place}, {rating}'}\n",
    )
    assert resolved["a"].texts == ("ada", "cid")
    assert resolved["b"].numbers.tolist() == [1, 2.5, 3]
    assert resolved["c"].texts == ("Ada of Village, 1", "Bob of City, 2.5", "Cid of Village, 3")


def test_columns_of_one_table_are_aligned_unless_their_rows_differ(inputs):
    resolved = inputs(
        [
            "a: {table: people, column: who}",
            "b: {table: people, column: rating, number: true}",
            "c: {table: people, column: who, where: {place: village}}",
        ],
        TABLE,
    )
    assert resolved["a"].group == resolved["b"].group != resolved["c"].group


def test_inputs_of_the_same_tables_in_the_same_order_are_aligned(inputs):
    def both(rest, first, then):
        return f"[{{{rest}, where: {{place: {first}}}}}, {{{rest}, where: {{place: {then}}}}}]"

    who, rating = "table: people, column: who", "table: people, column: rating, number: true"
    resolved = inputs(
        [
            f"a: {both(who, 'village', 'city')}",
            f"b: {both(rating, 'village', 'city')}",
            f"c: {both(who, 'city', 'village')}",
            f"d: [{{{who}}}, {{words: [dan]}}]",
        ],
        TABLE,
    )
    assert resolved["a"].texts == ("ada", "cid", "bob")
    assert resolved["b"].numbers.tolist() == [1, 3, 2.5]
    assert resolved["a"].group == resolved["b"].group
    assert len({resolved[name].group for name in "acd"}) == 3


def test_a_number_counts_for_each_text_that_a_list_of_templates_makes(inputs):
    resolved = inputs(
        [
            "a: {table: people, column: who, template: t}",
            "b: {table: people, column: rating, number: true, template: t}",
        ],
        TABLE + "templates: {t: ['{text}', '{text}!']}\n",
    )
    assert resolved["b"].numbers.tolist() == [1, 1, 2.5, 2.5, 3, 3]
    assert resolved["b"].clusters.tolist() == resolved["a"].clusters.tolist()
    assert resolved["a"].group == resolved["b"].group


def test_the_pairs_of_the_concept_are_a_table(inputs, mistake):
    resolved = inputs(["a: {table: concept.definitional_pairs, column: first}"])["a"]
    assert resolved.texts == ("village", "farm")
    mistake(
        ["a: {table: concept.definitional_pairs, column: frist}"],
        at="11: inputs.a.column",
        of=["'concept.definitional_pairs'", "'frist'", "'first'"],
    )


def test_where_compares_a_number_with_the_text_in_a_file(inputs, write):
    write("levels.tsv", "word\tlevel\na\t1\nb\t2\nc\t1\n")
    resolved = inputs(
        ["a: {table: levels, column: word, where: {level: 1}}"],
        "tables: {levels: {file: levels.tsv}}\n",
    )
    assert resolved["a"].texts == ("a", "c")


def test_a_scenario_replaces_inputs_and_templates(registry):
    plain, marked = registry.task("toy-sentences").scenarios
    assert plain.inputs["targets_1"].texts == ("This is a village.", "This is a farm.")
    assert marked.inputs["targets_1"].texts[:2] == ("Village!", "It is a village, really.")
    assert marked.inputs["probes"].probe
    assert marked.inputs["probes"].texts == ("calm", "loud")


@pytest.mark.parametrize("cell", ["[2]", '"x"', '""', "NaN", "1e999"])
def test_a_cell_that_is_no_number_is_a_mistake_where_one_is_needed(inputs, write, cell):
    write("levels.jsonl", f'{{"level": 1}}\n{{"level": {cell}}}\n')
    with pytest.raises(InvalidFile, match=r"levels\.jsonl:2: column 'level': .*a number"):
        inputs(
            ["a: {table: levels, column: level, number: true}"],
            "tables: {levels: {file: levels.jsonl}}\n",
        )


@pytest.mark.parametrize(
    ("line", "key", "facts"),
    [
        ("a: {table: people, column: whom}", ".column", ["'people'", "'whom'", "'who'"]),
        (
            "a: {table: people, column: who, where: {plaice: x}}",
            ".where",
            ["'people'", "'plaice'", "'place'"],
        ),
        ("a: {table: people, column: who, where: {place: moon}}", "", ["empty"]),
        ("a: [{words: [x]}, {words: ['1'], number: true}]", "", ["numbers and texts"]),
        ("a: {vocabulary: {size: 5}}", "", ["kinds: [word]"]),
        ("a: {vocabulary: {size: 5, pattern: '(['}}", ".vocabulary.pattern", ["'(['"]),
        ("a: {vocabulary: {size: 5, pattern: '(a+)+#'}}", ".vocabulary.pattern", ["repeated"]),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_key(mistake, line, key, facts):
    mistake([line], TABLE, at=f"11: inputs.a{key}", of=facts)


@pytest.mark.parametrize(
    "template", ["{wo}", "{text.__class__}", "{0}", "{}", "{text[0]}", "{a!r}"]
)
def test_an_unknown_field_of_a_template_is_an_error(mistake, template):
    mistake(
        ["a: {table: people, column: who, template: t}"],
        TABLE + f"templates: {{t: '{template}'}}\n",
        at="19: templates.t",
        of=["field", f"'{template}'"],
    )


def test_a_text_beyond_the_limit_is_an_error(mistake, monkeypatch):
    monkeypatch.setattr(limits, "TEXT_CHARACTERS", 30)
    mistake(
        ["a: {words: [hello], template: t}"],
        "templates: {t: '{text} {text} {text} {text} {text} {text}'}\n",
        at="12: templates.t",
        of=["35 characters", "30"],
    )


def test_a_doubled_brace_is_a_brace(inputs):
    resolved = inputs(["a: {words: [x], template: t}"], "templates: {t: '{{{text}}}'}\n")
    assert resolved["a"].texts == ("{x}",)


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


def test_a_template_may_contain_a_context_of_the_concept(filled):
    assert filled("It is {text}. {context.debiasing}") == ("It is x. Its water is unknown.",)
