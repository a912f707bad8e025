"""From a task file to a resolved task: what is checked, and where a mistake is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.commands import show
from harness.errors import InvalidFile


@pytest.fixture
def resolve(registry, write, toy_task):
    """Resolve the toy task with some text replaced by other text."""

    def resolve_task(*replacements, more=""):
        text = toy_task
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        return registry.task_file(write("mine.yaml", text + more))

    return resolve_task


@pytest.fixture
def mistake(resolve, tmp_path):
    """Check that a changed task has a mistake at `at` ("8: inputs.a"), with the facts `of` it."""

    def check(*replacements, at, of=(), more=""):
        with pytest.raises(InvalidFile) as caught:
            resolve(*replacements, more=more)
        message = str(caught.value)
        place = f"{tmp_path}/mine.yaml:{at}: "
        assert message.startswith(place)
        for fact in of:
            assert fact in message.removeprefix(place)

    return check


def test_a_complete_task_has_its_texts_metrics_and_concept(resolve):
    task = resolve()
    (scenario,) = task.scenarios
    assert scenario.name == "default"
    assert scenario.inputs["targets_1"].texts == ("village", "farm")
    assert [m.metric.name for m in scenario.measurements] == ["toy-gap"]
    assert task.concept.definitional_pairs[0] == ("village", "city")


@pytest.mark.parametrize(
    ("empty", "key"),
    [
        ("{words: []}", ""),
        ("{set: nobody}", ".set"),
        ("{table: none_left, where: {text: x}}", ""),
    ],
)
def test_an_empty_set_is_an_error(mistake, empty, key):
    more = "sets: {nobody: []}\ntables: {none_left: {columns: [text], rows: [[a]]}}\n"
    change = ("{words: [city, street]}", empty)
    mistake(change, at=f"8: inputs.targets_2{key}", of=["empty"], more=more)


def test_a_word_in_both_sets_is_found_after_templates(resolve, mistake):
    template = "templates: {t: '{text}s', u: 'the {text}'}\n"
    target = "{words: [city, farm], template: u}"
    resolve(("{words: [city, street]}", target), more=template)
    mistake(
        ("{words: [village, farm]}", "{words: [village, farm], template: t}"),
        ("{words: [city, street]}", "{words: [city, farms]}"),
        more=template,
        at="8: inputs.targets_2",
        of=["'farms'"],
    )


def test_a_random_generator_is_no_option(mistake):
    mistake(
        ("  toy-gap: {}", "  toy-draw: {options: {rng: 1}}"),
        ("toy-gap, score: gap", "toy-draw, score: draw"),
        at="10: metrics.toy-draw.options",
        of=["'toy-draw'", "'rng'"],
    )


def test_a_metric_may_take_an_input_of_another_name(resolve):
    task = resolve(
        ("  targets_1:", "  country:"), ("toy-gap: {}", "toy-gap: {inputs: {targets_1: country}}")
    )
    (measurement,) = task.scenarios[0].measurements
    assert measurement.inputs["targets_1"].name == "country"


MISTAKES = [
    ("title:", "titel:", "3: titel", "'title'"),
    ("{words: [village", "{word: [village", "7: inputs.targets_1.word", "'words'"),
    ("version: 1\n", "", "1: version", "'version'"),
    ("targets_2", "target_2", "10: metrics.toy-gap", "did you mean 'target_2'"),
    ("concept: toy-place", "concept: toy-plaice", "5: concept", "did you mean 'toy-place'"),
    ("gap: {}", "gap: {options: {center: true}}", "10: metrics.toy-gap.options", "'centre'"),
    ("gap: {}", "gap: {inputs: {target_1: targets_1}}", "10: metrics.toy-gap.inputs.target_1",
     "did you mean 'targets_1'"),
    ("gap: {}", "gap: {inputs: {targets_1: targets_3}}", "10: metrics.toy-gap.inputs.targets_1",
     "'targets_3'"),
    ("score: gap", "score: gaps", "11: primary.score", "'gap'"),
    ("[city, street]", "[village, farm]", "8: inputs.targets_2", "'farm', 'village'"),
    ("[city, street]", "[city, no]", "8: inputs.targets_2.words[1]", "quotes"),
    ("{words: [city, street]}", "[city, street]", "8: inputs.targets_2[0]", "mapping"),
    ("[city, street]}", "[city], set: x}", "8: inputs.targets_2", "words and set"),
    ("[city, street]}", "[a], template: t}", "8: inputs.targets_2.template", "'t'"),
    ("version: 1", "version: one", "2: version", "'one'"),
    ("name: mine", "name: ../mine", "1: name", "name '../mine'"),
    ("  toy-gap: {}\n", "", "9: metrics", ""),
    ("category: places", "category: places\nkinds: [words]", "5: kinds[0]", "'word' or 'text'"),
    ("category: places", "category: places\ntemplates: {t: [a, off]}", "5: templates.t[1]",
     "false"),
]  # fmt: skip


def test_a_mistake_is_reported_with_its_line_and_key(resolve, tmp_path):
    wrong = []
    for old, new, place, fact in MISTAKES:
        with pytest.raises(InvalidFile) as caught:
            resolve((old, new))
        message = str(caught.value)
        if not message.startswith(f"{tmp_path}/mine.yaml:{place}: ") or fact not in message:
            wrong.append((new, message))
    assert not wrong


def test_the_digest_changes_with_whatever_changes_scores_and_with_nothing_else(resolve):
    original = resolve().digest
    prose = resolve(("title: Mine", "title: Yours\ndescription: a\nsource: b\ntags: [x]"))
    assert prose.digest == original
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
        assert resolve((old, new)).digest != original, new


def test_the_digest_changes_with_the_data_of_a_table(registry, tmp_path):
    source = Path(__file__).parents[1] / "toy" / "tasks"
    for name in ("toy-ratings.yaml", "ratings.tsv"):
        (tmp_path / name).write_text((source / name).read_text())
    before = registry.task_file(tmp_path / "toy-ratings.yaml").digest
    assert before == registry.task("toy-ratings").digest
    data = (tmp_path / "ratings.tsv").read_text()
    (tmp_path / "ratings.tsv").write_text(data.replace("3.5", "3.6"))
    assert registry.task_file(tmp_path / "toy-ratings.yaml").digest != before


def test_a_task_for_one_kind_of_embedder_does_not_fit_the_other(registry):
    task = registry.task("toy-sentences")
    assert task.file.unfit_for("text") is None
    assert "text" in task.file.unfit_for("word")


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
    """Resolve the toy task with two tables; the second is made from the first."""
    registry = registry_with(plugin(MAKER))

    def make(tables=MADE):
        text = toy_task.replace("{words: [village, farm]}", "{table: more}")
        return registry.task_file(write("mine.yaml", text + tables))

    return make


def test_a_table_may_be_made_from_another(made):
    assert made().scenarios[0].inputs["targets_1"].texts == ("village!!!", "farm!!!")


def test_a_table_maker_receives_the_concept_if_it_takes_one(made):
    task = made(MADE.replace("doubled, options: {times: 3}", "of-concept"))
    assert task.scenarios[0].inputs["targets_1"].texts[0] == "village"


@pytest.mark.parametrize(
    ("old", "new", "key", "facts"),
    [
        ("made_by: doubled", "made_by: double", ".made_by", ["table maker 'double'", "'doubled'"]),
        ("{times: 3}", "{time: 3}", ".options", ["table 'doubled'", "'time'", "'times'"]),
        ("made_from: places", "made_from: place", ".made_from", ["table 'place'", "'places'"]),
        ("made_from: places, ", "rows: [], ", "", ["'made_from'", "'made_by'", "'options'"]),
    ],
)
def test_a_mistake_in_a_table_made_from_another_is_reported_at_its_key(made, old, new, key, facts):
    assert old in MADE
    with pytest.raises(InvalidFile) as caught:
        made(MADE.replace(old, new))
    assert f"mine.yaml:15: tables.more{key}: " in str(caught.value)
    for fact in facts:
        assert fact in str(caught.value)


def test_an_option_of_a_metric_without_a_default_must_be_set(
    registry_with, plugin, write, toy_task
):
    source = """
        from harness import MetricSpec, Scale, hookimpl, metric

        @hookimpl
        def harness_metrics():
            return [MetricSpec(name="mine", target="THIS:mine")]

        @metric("mine", scores={"gap": Scale(ideal=0)})
        def mine(targets_1, targets_2, *, power: float, base: float = 2.0):
            return base**power
    """
    registry = registry_with(plugin(source))
    assert show.describe(registry, "metric", "mine")["options"] == {
        "power": "required",
        "base": 2.0,
    }
    text = toy_task.replace("toy-gap", "mine")
    with pytest.raises(InvalidFile, match=r"metrics.mine: metric 'mine' requires .* 'power'"):
        registry.task_file(write("mine.yaml", text))
    task = registry.task_file(
        write("set.yaml", text.replace("mine: {}", "mine: {options: {power: 3}}"))
    )
    assert task.scenarios[0].measurements[0].options == {"power": 3.0}
