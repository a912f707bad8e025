"""Recipe files: names are looked up, mistakes point to their line, and options override."""

import json
from pathlib import Path

import pytest
import yaml

from harness.commands.main import run
from harness.errors import InvalidFile, UnknownName, UsageError
from harness.plugins.train.recipes.recipe import Overrides, plan, resolve
from harness.registry.discovery import find_file
from harness.registry.registry import Registry

CONTENT = {
    "name": "tiny",
    "version": 1,
    "title": "A tiny recipe",
    "corpus": ["pairs.jsonl"],
    "base": "glove-6b-50d",
    "rows": {
        "original": {},
        "sub90": {"subtract": 90},
        "hd": {"mitigator": "hard-debias"},
    },
    "seeds": [1, 2],
    "training": {"hidden": 8},
    "bias": ["seat-c6"],
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a recipe beside a corpus and returns its parsed file."""
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    (tmp_path / "pairs.jsonl").write_text('{"premise": "a", "hypothesis": "b", "label": "neutral"}')

    def make(**changes):
        path = tmp_path / "tiny.yaml"
        path.write_text(yaml.safe_dump(CONTENT | changes, sort_keys=False))
        return find_file(Registry().recipe_files, path)

    return make


def mistake(document):
    with pytest.raises(InvalidFile) as caught:
        resolve(document, Registry())
    return caught.value


@pytest.mark.parametrize(
    ("changes", "key", "word"),
    [
        ({"bias": ["seat-c6", "seat-c66"]}, "bias[1]", "seat-c66"),
        ({"rows": {"a": {"subtract": 90, "augment": 90}}}, "rows.a", "exclude"),
        ({"rows": {"a": {}, "b": {"at_random": True}}}, "rows.b.at_random", "subtract"),
        ({"rows": {"a": {}, "b": {"compared_with": "c"}}}, "rows.b.compared_with", "c"),
        ({"rows": {"a": {}, "b": {}}}, "rows.b", "same as 'a'"),
        ({"rows": {"a": {}, "b": {"mitigator": "hard-debiass"}}}, "rows.b.mitigator", "hard-debia"),
        ({"rows": {"a": {}, "b": {"subtract": 100}}}, "rows.b.subtract", "100"),
        ({"rows": {"a": {"subtract": 90}}}, "scored_by", "needs the scores"),
        ({"seeds": [1, 1]}, "seeds[1]", "twice"),
        ({"training": {"hiden": 8}}, "training.hiden", "hidden"),
        ({"training": {"hidden": 0}}, "training", "hidden=0"),
        ({"training": {"hidden": "many"}}, "training", "many"),
        ({"base": "glove"}, "base", "glove"),
        ({"corpus": ["other.jsonl"]}, "corpus", "other.jsonl"),
        ({"corpus": ["../secret.jsonl"]}, "corpus[0]", "is not in the folder"),
        ({"corpus": ["/etc/passwd"]}, "corpus[0]", "is not in the folder"),
        (
            {"rows": {"a": {"mitigator": "whitening?texts=/etc/passwd"}}},
            "rows.a.mitigator",
            "is not in the folder",
        ),
        ({"seed": "x"}, "seed", "integer"),
        ({"sedes": [1]}, "sedes", "seeds"),
    ],
)
def test_a_mistake_is_one_line_with_its_key(write, changes, key, word):
    error = mistake(write(**changes))
    assert error.key == key
    assert error.line is not None
    assert word in str(error)
    assert "\n" not in str(error)


def test_all_mistakes_are_found_at_once(write):
    error = mistake(write(bias=["seat-c66"], base="glove", seeds=[1, 1]))
    assert {each.key for each in error.mistakes} == {"bias[0]", "base", "seeds[1]"}


def test_the_command_shows_all_mistakes(write, capsys):
    path = write(bias=["seat-c66"], base="glove", seeds=[1, 1]).path
    assert run(["train", "--recipe", str(path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_a_file_with_a_misspelt_key_is_still_a_recipe(tmp_path, capsys):
    content = {"row" if key == "rows" else key: value for key, value in CONTENT.items()}
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(content))
    assert run(["validate", str(path)]) == 0
    assert "a recipe" in capsys.readouterr().out


def test_an_unknown_recipe_suggests_the_installed_ones():
    with pytest.raises(UnknownName, match="fairer-snli"):
        find_file(Registry().recipe_files, "fairer-snly")


@pytest.mark.parametrize("name", sorted(Registry().recipe_files))
def test_the_shipped_recipes_resolve(name, tmp_path):
    corpus = tmp_path / "pairs.jsonl"
    corpus.write_text("{}\n")
    registry = Registry()
    recipe = resolve(
        find_file(registry.recipe_files, name), registry, Overrides(corpus=str(corpus))
    )
    steps = plan(recipe)
    trained = [step for step in steps if step.kind == "train"]
    assert len(trained) == len(recipe.file.rows) * len(recipe.file.seeds)
    assert recipe.file.limit is None  # that of the file is about its own corpora


def test_the_recipes_are_listed_and_a_file_says_who_checks_it(capsys, write):
    assert run(["list", "recipes", "--json"]) == 0
    assert {"fairer-snli", "fairer-snli-small"} <= {
        row["name"] for row in json.loads(capsys.readouterr().out)
    }
    assert run(["validate", str(write().path)]) == 0
    assert "--dry-run" in capsys.readouterr().out


def test_without_local_data_the_corpus_is_that_of_the_hub(monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    registry = Registry()
    recipe = resolve(find_file(registry.recipe_files, "fairer-snli"), registry)
    assert recipe.corpus == "hf://stanfordnlp/snli"
    assert recipe.file.limit == 20_000


def test_the_folder_of_data_is_looked_in_first(write, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pairs.jsonl").write_text("{}\n")
    document = write()
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    assert resolve(document, Registry()).corpus == str(tmp_path / "data" / "pairs.jsonl")


def test_options_override_the_file(write):
    overrides = Overrides(base="bag-of-words:glove-6b-50d", limit=100, training={"epochs": 2})
    file = resolve(write(), Registry(), overrides).file
    assert (file.base, file.limit) == ("bag-of-words:glove-6b-50d", 100)
    assert file.training == {"hidden": 8, "epochs": 2}


@pytest.mark.parametrize("corpus", ["nowhere.jsonl", "."])
def test_a_wrong_option_is_an_error_of_the_command(write, corpus):
    with pytest.raises(UsageError, match=f"'{corpus}' is no file"):
        resolve(write(), Registry(), Overrides(corpus=corpus))


class TestSteps:
    def test_each_stands_behind_what_it_needs(self, write):
        names = []
        for step in plan(resolve(write(), Registry())):
            assert set(step.needs) <= set(names)
            names.append(step.name)
        assert len(names) == len(set(names))

    def test_a_corpus_is_scored_by_the_first_row_and_seed(self, write):
        steps = {step.name: step for step in plan(resolve(write(), Registry()))}
        assert "train original-seed1" in steps["bias scores"].needs

    def test_a_corpus_may_be_scored_by_any_model(self, write):
        steps = {s.name: s for s in plan(resolve(write(scored_by="glove-6b-50d"), Registry()))}
        assert steps["bias scores"].needs == ("corpus original",)

    def test_a_corpus_that_is_thinned_out_at_random_needs_no_scores(self, write):
        rows = {"original": {}, "random": {"subtract": 90, "at_random": True}}
        steps = {step.name: step for step in plan(resolve(write(rows=rows), Registry()))}
        assert steps["corpus random90"].needs == ("corpus original",)
        assert "bias scores" not in steps

    def test_debiased_words_need_no_scores(self, write):
        rows = {"original": {}, "hd": {"mitigator": "hard-debias"}}
        steps = plan(resolve(write(rows=rows), Registry()))
        assert "score" not in {step.kind for step in steps}

    @pytest.mark.parametrize(
        ("changes", "kept"),
        [
            ({"seeds": [1, 2, 3]}, True),
            ({"title": "Another"}, True),
            ({"training": {"hidden": 8, "device": "cuda"}}, True),
            ({"training": {"hidden": 9}}, False),
            ({"base": "bag-of-words:glove-6b-50d"}, False),
            ({"limit": 100}, False),
        ],
    )
    def test_the_key_of_a_step_has_all_that_its_result_depends_on(self, write, changes, kept):
        def key(document):
            steps = {step.name: step for step in plan(resolve(document, Registry()))}
            return steps["evaluate sub90-seed1"].key

        before = key(write())
        assert (key(write(**changes)) == before) is kept

    def test_another_corpus_changes_every_key(self, write, tmp_path):
        document = write()
        before = {step.key for step in plan(resolve(document, Registry())) if step.needs}
        with Path(tmp_path / "pairs.jsonl").open("a") as file:
            file.write("\n")
        after = {step.key for step in plan(resolve(document, Registry())) if step.needs}
        assert not before & after
