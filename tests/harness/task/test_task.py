"""From a task file to a task: what is checked, and what a person reads of a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InvalidFile


@pytest.fixture
def resolve(registry, write, toy_task):
    """Resolve the whole task with some text replaced by other text."""

    def make(*replacements, more=""):
        text = toy_task
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        return registry.task_file(write("mine.yaml", text + more))

    return make


@pytest.fixture
def told(resolve, tmp_path):
    """What a person reads of a mistake, without the folder."""

    def make(*replacements, more=""):
        with pytest.raises(InvalidFile) as caught:
            resolve(*replacements, more=more)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return make


def test_a_whole_task_has_its_texts_metrics_and_concept(resolve):
    task = resolve()
    (scenario,) = task.scenarios
    assert scenario.name == "default"
    assert scenario.inputs["targets_1"].texts == ("village", "farm")
    assert [m.metric.name for m in scenario.measurements] == ["toy-gap"]
    assert task.concept.definitional_pairs[0] == ("village", "city")


def test_a_wrong_key_is_told(told):
    assert told(("title:", "titel:")) == (
        "mine.yaml:3: titel: unknown key 'titel'; did you mean 'title'?"
    )
    assert told(("{words: [village", "{word: [village")).startswith(
        "mine.yaml:7: inputs.targets_1.word: unknown key 'word'; did you mean 'words'"
    )


def test_a_missing_key_is_told(told):
    assert told(("version: 1\n", "")) == "mine.yaml:1: version: missing required key 'version'"


def test_a_missing_input_is_told_with_the_one_that_may_be_meant(told):
    assert told(("targets_2", "target_2")) == (
        "mine.yaml:10: metrics.toy-gap: metric 'toy-gap' needs the input 'targets_2', "
        "which the task does not have; did you mean 'target_2'?"
    )


@pytest.mark.parametrize(
    "empty", ["{words: []}", "{set: nobody}", "{table: none_left, where: {text: x}}"]
)
def test_an_empty_set_is_told(told, empty):
    more = "sets: {nobody: []}\ntables: {none_left: {columns: [text], rows: [[a]]}}\n"
    said = told(("{words: [city, street]}", empty), more=more)
    assert said.startswith("mine.yaml:8: inputs.targets_2")
    assert "empty" in said


def test_a_word_in_both_target_sets_is_told(told):
    assert told(("[city, street]", "[city, farm]")) == (
        "mine.yaml:8: inputs.targets_2: 'farm' stands in both 'targets_1' and 'targets_2'; "
        "metric 'toy-gap' needs sets with no word in common"
    )
    assert "'farm', 'village' stand in both" in told(("[city, street]", "[village, farm]"))


def test_a_word_in_both_sets_is_found_after_templates(resolve, told):
    template = "templates: {t: '{text}s', u: 'the {text}'}\n"
    target = "{words: [city, farm], template: u}"
    resolve(("{words: [city, street]}", target), more=template)
    same = "{words: [city, farms]}"
    assert "'farms' stands in both" in told(
        ("{words: [village, farm]}", "{words: [village, farm], template: t}"),
        ("{words: [city, street]}", same),
        more=template,
    )


def test_an_unknown_metric_is_told(told):
    assert told(("  toy-gap: {}", "  toy-gab: {}")).startswith(
        "mine.yaml:10: metrics.toy-gab: unknown metric 'toy-gab'; did you mean 'toy-gap'"
    )


def test_an_unknown_concept_is_told(told):
    assert told(("concept: toy-place", "concept: toy-plaice")).startswith(
        "mine.yaml:5: concept: unknown concept 'toy-plaice'; did you mean 'toy-place'"
    )


def test_an_unknown_option_of_a_metric_is_told(told):
    assert told(("toy-gap: {}", "toy-gap: {options: {center: true}}")) == (
        "mine.yaml:10: metrics.toy-gap.options: metric 'toy-gap' has no option 'center'; "
        "did you mean 'centre'?"
    )


def test_an_option_whose_value_does_not_fit_is_told(told):
    said = told(("toy-gap: {}", "toy-gap: {options: {power: high}}"))
    assert said.startswith(
        "mine.yaml:10: metrics.toy-gap.options: metric 'toy-gap': option power=high: input should"
    )


def test_an_option_of_a_scenario_is_told_at_the_scenario(told):
    scenario = "scenarios:\n  one:\n    options: {toy-gap: {center: true}}\n"
    said = told(("score: gap}", "score: gap, scenario: one}"), more=scenario)
    assert said.startswith("mine.yaml:14: scenarios.one.options.toy-gap: metric 'toy-gap' has no")


def test_options_of_a_metric_that_the_task_has_not_are_told(told):
    scenario = "scenarios:\n  one:\n    options: {toy-gab: {}}\n"
    said = told(("score: gap}", "score: gap, scenario: one}"), more=scenario)
    assert said == (
        "mine.yaml:14: scenarios.one.options.toy-gab: the task has no metric 'toy-gab'; "
        "did you mean 'toy-gap'?"
    )


def test_what_the_harness_supplies_is_no_option(told):
    said = told(
        ("  toy-gap: {}", "  toy-draw: {options: {rng: 1}}"),
        ("toy-gap, score: gap", "toy-draw, score: draw"),
    )
    assert said.endswith("metric 'toy-draw' has no option 'rng'; it takes no options")


def test_a_mapping_of_inputs_is_checked_on_both_sides(told):
    wrong = "toy-gap: {inputs: {target_1: targets_1}}"
    assert told(("toy-gap: {}", wrong)).startswith(
        "mine.yaml:10: metrics.toy-gap.inputs.target_1: metric 'toy-gap' has no input 'target_1'; "
        "did you mean 'targets_1'"
    )
    wrong = "toy-gap: {inputs: {targets_1: targets_3}}"
    assert told(("toy-gap: {}", wrong)).startswith(
        "mine.yaml:10: metrics.toy-gap.inputs.targets_1: the task has no input 'targets_3'; "
        "did you mean 'targets_"
    )


def test_a_metric_may_take_an_input_of_another_name(resolve):
    task = resolve(
        ("  targets_1:", "  country:"), ("toy-gap: {}", "toy-gap: {inputs: {targets_1: country}}")
    )
    (measurement,) = task.scenarios[0].measurements
    assert measurement.inputs["targets_1"].name == "country"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("metric: toy-gap,", "metric: toy-gab,", "metric: there is no metric 'toy-gab'; did you"),
        ("score: gap", "score: gaps", "score: there is no score 'gaps'; did you mean 'gap'"),
        ("score: gap", "score: gap, scenario: x", "scenario: there is no scenario 'x'; available: "
         "default"),
    ],
)  # fmt: skip
def test_a_primary_score_that_is_not_there_is_told(told, old, new, said):
    assert told((old, new)).startswith(f"mine.yaml:11: primary.{said}")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[city, street]", "[city, no]", "8: inputs.targets_2.words[1]: YAML reads this as false"),
        ("[city, street]", "[city, '']", "8: inputs.targets_2.words[1]: string should have at"),
        ("{words: [city, street]}", "[city, street]", "8: inputs.targets_2[0]: expected a mapping"),
        ("{words: [city, street]}", "city", "8: inputs.targets_2: expected a mapping"),
        ("{words: [city, street]}", "{}", "8: inputs.targets_2: an input has exactly one of 'words'"
         ", 'set', 'table' and 'vocabulary'"),
        ("[city, street]}", "[city], set: x}", "8: inputs.targets_2: an input has exactly one of "
         "'words', 'set', 'table' and 'vocabulary', but this has words and set"),
        ("[city, street]}", "[a], template: t}", "8: inputs.targets_2.template: there is no "
         "template 't'"),
        ("{words: [city, street]}", "{set: towns}", "8: inputs.targets_2.set: there is no set "
         "'towns'; available: concept.moods, concept.specific_words"),
        ("{words: [city, street]}", "{set: concept.mods}", "8: inputs.targets_2.set: there is no "
         "set 'concept.mods'; did you mean 'concept.moods'"),
        ("{words: [city, street]}", "{table: ratings}", "8: inputs.targets_2.table: there is no "
         "table 'ratings'"),
        ("{words: [city, street]}", "[{words: [no]}]", "8: inputs.targets_2[0].words[0]: YAML "),
        ("version: 1", "version: 0", "2: version: input should be greater than or equal to 1"),
        ("version: 1", "version: one", "2: version: input should be a valid integer"),
        ("name: mine", "name: ../mine", "1: name: invalid name '../mine'"),
        ("name: mine", "name: on", "1: name: YAML reads this as true, not as text; put it"),
        ("  toy-gap: {}\n", "", "9: metrics: "),
        ("category: places", "category: places\nkinds: [words]", "5: kinds[0]: input should be "
         "'word' or 'text', but this is 'words'"),
        ("category: places", "category: places\nmax_missing: 2", "5: max_missing: input should be "
         "less than or equal to 1, but this is 2"),
        ("category: places", "category: places\nmeasures: harm", "5: measures: input should be "
         "'bias', 'usefulness' or 'control', but this is 'harm'"),
        ("category: places", "category: places\ntemplates: {t: [a, off]}", "5: templates.t[1]: "
         "YAML reads this as false"),
        ("category: places", "category: places\ntemplates: {t: no}", "5: templates.t: YAML reads"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_line_and_key(told, old, new, said):
    assert told((old, new)).startswith(f"mine.yaml:{said}")


def test_the_digest_changes_with_what_changes_scores_and_with_nothing_else(resolve):
    whole = resolve().digest
    prose = resolve(("title: Mine", "title: Yours\ndescription: a\nsource: b\ntags: [x]"))
    assert prose.digest == whole
    for old, new in [
        ("[city, street]", "[street, city]"),
        ("[city, street]", "[city, tower]"),
        ("version: 1", "version: 2"),
        ("toy-gap: {}", "toy-gap: {options: {centre: true}}"),
        ("score: gap", "score: items"),
        ("concept: toy-place", "max_missing: 0.5"),
        ("name: mine", "name: yours"),
        ("[village, farm]}", "[village, farm], probe: true}"),
    ]:
        assert resolve((old, new)).digest != whole, new


def test_the_digest_changes_with_the_data_of_a_table(registry, tmp_path):
    source = Path(__file__).parents[1] / "toy" / "tasks"
    for name in ("toy-ratings.yaml", "ratings.tsv"):
        (tmp_path / name).write_text((source / name).read_text())
    before = registry.task_file(tmp_path / "toy-ratings.yaml").digest
    assert before == registry.task("toy-ratings").digest
    data = (tmp_path / "ratings.tsv").read_text()
    (tmp_path / "ratings.tsv").write_text(data.replace("3.5", "3.6"))
    assert registry.task_file(tmp_path / "toy-ratings.yaml").digest != before


def test_a_task_for_one_kind_is_not_for_the_other(registry):
    task = registry.task("toy-sentences")
    assert task.file.unfit_for("text") is None
    assert task.file.unfit_for("word") == "made for text embedders"


MAKER = """
    from harness import TableSpec, hookimpl

    @hookimpl
    def harness_tables():
        return [
            TableSpec(name="doubled", target="THIS:doubled"),
            TableSpec(name="of-concept", target="THIS:of_concept"),
        ]

    def of_concept(rows, *, concept):
        return [{"text": first} for first, _ in concept.definitional_pairs]

    def doubled(rows, *, mark: str = "!", times: int = 2):
        return [{"text": row["text"] + mark * times, "was": row["text"]} for row in rows]
"""
MADE = """
tables:
  places: {columns: [text], rows: [[village], [farm]]}
  more: {made_from: places, made_by: doubled, options: {times: 3}}
"""


@pytest.fixture
def made(registry_with, plugin, write, toy_task):
    """Resolve the whole task with tables of which one is made of the other."""
    registry = registry_with(plugin(MAKER))

    def make(tables=MADE):
        text = toy_task.replace("{words: [village, farm]}", "{table: more}")
        return registry.task_file(write("mine.yaml", text + tables))

    return make


def test_a_table_may_be_made_of_another(made):
    assert made().scenarios[0].inputs["targets_1"].texts == ("village!!!", "farm!!!")


def test_what_makes_a_table_is_given_the_concept_if_it_takes_one(made):
    task = made(MADE.replace("doubled, options: {times: 3}", "of-concept"))
    assert task.scenarios[0].inputs["targets_1"].texts[0] == "village"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "made_by: doubled",
            "made_by: double",
            "unknown table maker 'double'; did you mean 'doubled'?",
        ),
        ("{times: 3}", "{time: 3}", "table 'doubled' has no option 'time'; did you mean 'times'"),
        ("{times: 3}", "{times: x}", "option times=x: input should be a valid integer"),
        ("made_from: places", "made_from: place", "there is no table 'place'; did you mean 'plac"),
        ("made_from: places", "made_from: more", "tables.more.made_from: is made from itself"),
        ("made_from: places, ", "rows: [], ", "'made_from', 'made_by' and 'options' go together"),
        (", made_by: doubled", ", file: a.tsv", "a table has either 'rows', or one of 'file'"),
    ],
)
def test_what_is_wrong_with_a_made_table_is_told_where_it_stands(made, old, new, told):
    assert old in MADE
    with pytest.raises(InvalidFile) as caught:
        made(MADE.replace(old, new))
    assert told in str(caught.value)
    assert "mine.yaml:" in str(caught.value)
