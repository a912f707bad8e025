"""`harness words` and `harness.words`: own word lists become a task that every metric scores."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness as package
from harness.errors import UsageError
from harness.registry.registry import Registry
from harness.run.words import read_file

SETS = {
    "male": ["he", "man", "boy", "son", "uncle", "king"],
    "female": ["she", "woman", "girl", "daughter", "aunt", "queen"],
    "career": ["office", "salary", "career", "business", "job", "firm"],
    "family": ["home", "wedding", "family", "parents", "cousins", "house"],
}
CSV = "\n".join(map(",".join, [list(SETS), *zip(*SETS.values(), strict=True)])) + "\n"
ALL = {"weat", "association-test", "rnd", "ripa", "same", "rnsb", "mac", "ect", "direct-bias"}


@pytest.fixture
def vectors():
    """Word vectors in which men are near careers, and women near families."""
    rng = np.random.default_rng(0)
    sides = {"male": 1, "career": 1, "female": -1, "family": -1}
    drawn = {w: rng.normal(size=20) for words in SETS.values() for w in words}
    for name, side in sides.items():
        for word in SETS[name]:
            drawn[word][0] += 3 * side
    return drawn


@pytest.fixture
def model(vectors, tmp_path):
    """A file of these vectors."""
    path = tmp_path / "mine.vec"
    lines = [f"{len(vectors)} 20"]
    lines += [f"{word} {' '.join(f'{x:.5f}' for x in row)}" for word, row in vectors.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def words(harness, tmp_path, model):
    """Run `harness words` on the file of vectors."""

    def run(*arguments):
        results = ("--results", tmp_path / "results")
        return harness("words", *arguments, "--model", model, *results)

    return run


def values(records):
    """Return the numbers of records by metric and score."""
    return {
        (r.metric, r.score): (r.value, r.p_value, r.interval, r.floor, r.n, r.ratio)
        for r in records
    }


def test_four_sets_have_every_metric_in_one_table(words, write):
    result = words(write("sets.csv", CSV))
    assert result.code == 0, result.err
    rows = [line.split() for line in result.out.splitlines()]
    assert {row[0] for row in rows if row} >= ALL
    header = next(row for row in rows if "metric" in row)
    assert {"value", "interval", "p", "floor"} <= set(header)
    assert "distance of mac: 1 less the mean cosine" in result.out


def test_reversed_scores_of_each_metric_are_marked_and_explained(words, write):
    turned = CSV.replace("career,family", "family,career", 1).splitlines()
    turned[1:] = [",".join((a, b, d, c)) for a, b, c, d in (row.split(",") for row in turned[1:])]
    out = words(write("sets.csv", "\n".join(turned))).out
    marked = {line.split()[0] for line in out.splitlines() if "↔" in line}
    assert marked == {"weat", "association-test", "rnd", "ripa", "↔"}
    assert "↔ reversed: family goes with female" in out
    assert "↔" not in words(write("sets.csv", CSV)).out


def test_a_yardstick_that_is_not_clear_is_not_printed(words, write, vectors, model):
    """The model lacks the words of the yardstick, or has no association in them."""
    assert " yardstick" not in words(write("sets.csv", CSV)).out
    task = Registry().task("yardstick-words")
    rng = np.random.default_rng(1)
    every = {word for i in task.needed_texts() for word in i.texts} | vectors.keys()
    rows = [f"{w} {' '.join(map(str, vectors.get(w, rng.normal(size=20))))}" for w in every]
    model.write_text("\n".join([f"{len(rows)} 20", *rows]), encoding="utf-8")
    out = words(write("sets.csv", CSV)).out
    assert "of the model is not clear" in out
    assert "flowers" not in out


def test_values_are_those_of_eval_on_the_written_task(harness, words, write, model, tmp_path):
    own = json.loads(words(write("sets.csv", CSV), "--json").out)["records"]
    file = tmp_path / "mine.yaml"
    written = words(write("sets.csv", CSV), "--write-task", file, "--json")
    assert written.code == 0, written.err
    assert harness("validate", file).code == 0
    again = harness(
        "eval", "-m", model, "-t", file, "--results", tmp_path / "other", "--json", "--any-language"
    )
    assert again.code == 0, again.err
    records = json.loads(again.out)["records"]
    varying = {"run", "created", "seconds", "environment"}
    strip = [{k: v for k, v in r.items() if k not in varying} for r in records]
    assert strip == [{k: v for k, v in r.items() if k not in varying} for r in own]
    assert {r["metric"] for r in records} == ALL


def test_the_line_of_excel_that_names_the_separator_is_no_list(write):
    plain = read_file(write("sets.csv", CSV))
    for separator, end in ((";", "\n"), (",", "\r\n")):
        text = f"sep={separator}\n{CSV.replace(',', separator)}".replace("\n", end)
        assert read_file(write("excel.csv", text)) == plain
    with pytest.raises(UsageError, match=r"excel\.csv:3: 3 cells for 2 columns"):
        read_file(write("excel.csv", "sep=;\na;b\nx;y;z\n"))


def test_void_scores_of_one_reason_are_one_line(words):
    sets = [f"--set={name}={','.join(members[:3])}" for name, members in SETS.items()]
    lines = words(*sets).out.splitlines()
    assert [line for line in lines if "rnsb" in line] == [
        "void: rnsb: too few attributes to hold some out"
    ]


def test_samples_carry_the_names_of_the_sets(vectors):
    (record,) = [r for r in package.words(vectors, SETS, samples=True) if r.primary]
    named = {row["input"]: row["set"] for row in record.read_samples()}
    assert list(named.values()) == list(SETS)


def test_two_lists_of_one_name_are_two_tasks(harness, words, write, tmp_path):
    turned = "\n".join(",".join(reversed(line.split(","))) for line in CSV.splitlines()) + "\n"
    for folder, text in (("a", CSV), ("b", turned), ("c", CSV)):
        (tmp_path / folder).mkdir()
        assert words(write(f"{folder}/sets.csv", text)).code == 0
    assert words(write("sets.csv", CSV), "--name", "mine").code == 0
    tasks = {record.task.name for record in package.read_results(tmp_path / "results")}
    assert len(tasks) == 3
    assert sum(re.fullmatch("sets-[0-9a-f]{8}", task) is not None for task in tasks) == 2
    assert "mine" in tasks


def test_weat_is_that_of_a_task_with_the_same_sets(vectors):
    roles = dict(zip(("targets_1", "targets_2", "attributes_1", "attributes_2"), SETS, strict=True))
    task = {
        "name": "by-hand", "version": 1, "title": "By hand", "category": "gender",
        "inputs": {role: {"words": SETS[name]} for role, name in roles.items()},
        "metrics": {"weat": {}}, "primary": {"metric": "weat", "score": "association"},
        "yardstick": "yardstick-words",
    }  # fmt: skip
    expected = package.evaluate(vectors, task)
    own = package.words(vectors, **{role: SETS[name] for role, name in roles.items()})
    for record in expected:
        (same,) = [r for r in own if (r.metric, r.score) == (record.metric, record.score)]
        assert (same.value, same.n) == (record.value, record.n)
        assert same.interval == record.interval


def test_a_dict_of_arrays_and_keyed_vectors_give_equal_values(vectors):
    gensim_models = pytest.importorskip("gensim.models")
    keyed = gensim_models.KeyedVectors(20)
    keyed.add_vectors(list(vectors), np.array(list(vectors.values()), np.float32))
    by_name = package.words(vectors, SETS)
    by_role = package.words(
        keyed,
        {
            "targets": {name: SETS[name] for name in ("male", "female")},
            "attributes": {name: SETS[name] for name in ("career", "family")},
        },
    )
    first, second = values(by_name), values(by_role)
    assert first.keys() == second.keys()
    for key in first:
        assert first[key][0] == pytest.approx(second[key][0], abs=1e-5)


def test_planted_bias_has_the_sign_of_the_sets(vectors):
    own = {key: value for key, (value, *_) in values(package.words(vectors, SETS)).items()}
    assert own["weat", "association"] > 0
    assert own["association-test", "association"] == pytest.approx(own["weat", "association"])
    assert own["ripa", "association"] > 0  # careers lie to the side of the first targets
    assert own["rnd", "difference"] < 0  # careers are nearer to the first targets
    assert own["same", "stereotype"] > 0.3
    assert own["rnsb", "gap"] > 0.3


def test_one_attribute_set_leaves_the_metrics_of_one(vectors):
    sets = {name: SETS[name] for name in ("male", "female", "career")}
    records = package.words(vectors, sets)
    assert {r.metric for r in records} == {"rnd", "ripa", "mac", "ect", "direct-bias"}


def test_the_forms_of_a_file_hold_equal_sets(write):
    long = "set,word\n" + "".join(f"{name},{w}\n" for name, ws in SETS.items() for w in ws)
    wefe = {
        "target_sets": [SETS["male"], SETS["female"]],
        "target_sets_names": ["male", "female"],
        "attribute_sets": [SETS["career"], SETS["family"]],
        "attribute_sets_names": ["career", "family"],
    }
    own = {
        "targets": {n: SETS[n] for n in ("male", "female")},
        "attributes": {n: SETS[n] for n in ("career", "family")},
    }
    assert read_file(write("wide.csv", CSV)) == SETS
    assert read_file(write("semicolon.csv", CSV.replace(",", ";"))) == SETS
    assert read_file(write("wide.tsv", CSV.replace(",", "\t"))) == SETS
    assert read_file(write("long.csv", long)) == SETS
    assert read_file(write("flat.json", json.dumps(SETS))) == SETS
    assert read_file(write("wefe.json", json.dumps(wefe))) == read_file(
        write("own.json", json.dumps(own))
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("sets.csv", "a,b,c\nx,y,\nz,w,\n", r"sets\.csv:1: column 'c' has no words"),
        ("sets.csv", "a,b,a\nx,y,z\n", r"sets\.csv:1: a second column 'a'"),
        ("sets.csv", "a,b\nx,y,z\n", r"sets\.csv:2: 3 cells for 2 columns"),
        ("sets.csv", "a\nx\n", "1 set, and none of attributes"),
        ("sets.csv", "a,b,c,d,e\nx,y,z,v,w\n", "5 sets: say which are compared, with --targets"),
        ("sets.json", "{", r"sets\.json:1: not JSON"),
        ("sets.json", '{"targets": {"a": ["x"]}}', r"sets\.json: missing key 'attributes'"),
        ("sets.json", '{"a": ["x"], "a": ["y"]}', r"sets\.json: not JSON: a second 'a'"),
        ("sets.txt", "a b", r"expected a \.csv, \.tsv or \.json file"),
    ],
)
def test_a_wrong_file_is_one_line(words, write, name, content, message):
    result = words(write(name, content))
    assert result.code == 2
    assert re.search(message, result.err), result.err
    assert result.err.count("\n") == 1


def test_a_missing_file_and_one_that_is_not_utf_8_are_one_line(words, tmp_path):
    (tmp_path / "latin.csv").write_bytes("a,b\né,y\n".encode("latin-1"))
    for name, message in (
        ("none.csv", "no such file"),
        ("latin.csv", "latin.csv:2: is not UTF-8 text (byte 4): save it as 'CSV UTF-8'"),
    ):
        result = words(tmp_path / name)
        assert result.code == 2
        assert message in result.err
        assert result.err.count("\n") == 1


@given(st.binary(max_size=60) | st.text(alphabet='a,;"\n\t{}[]: 1\\', max_size=60).map(str.encode))
def test_any_bytes_are_sets_or_one_line(content):
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".csv", ".json"):
            path = Path(folder) / f"sets{suffix}"
            path.write_bytes(content)
            sets, message = None, ""
            try:
                sets = read_file(path)
            except UsageError as error:
                message = str(error)
            assert sets or message
            assert "\n" not in message


def test_sets_are_typed_on_the_command_line(words):
    options = [part for name, ws in SETS.items() for part in ("--set", f"{name}={','.join(ws)}")]
    result = words(*options)
    assert result.code == 0, result.err
    assert "own-words: mine" in result.out


def test_sets_are_chosen_by_name(words, write):
    result = words(
        write("sets.csv", CSV), "--targets", "career,family", "--attributes", "male", "--json"
    )
    assert result.code == 0, result.err
    assert {r["task"]["title"] for r in json.loads(result.out)["records"]} == {
        "career and family, male"
    }


def test_metrics_whose_sets_share_a_word_are_left_out(vectors):
    with pytest.warns(UserWarning, match="weat, rnd, same, ect: left out, .* share 'he'"):
        records = package.words(vectors, {**SETS, "female": ["he", *SETS["female"][1:]]})
    assert {r.metric for r in records} == {"association-test", "ripa", "rnsb", "mac", "direct-bias"}


def test_a_concept_beside_the_lists_is_that_of_its_mitigators(words, write, harness, monkeypatch):
    path = write("sets.csv", CSV)
    monkeypatch.chdir(path.parent)
    assert harness("new", "concept", "gender-xx").code == 0
    assert harness("validate", "concepts/gender-xx.yaml").code == 0
    result = words(
        path, "--concept", "gender-xx", "--language", "xx", "--mitigator", "hard-debias", "--json"
    )
    assert result.code == 0, result.err
    records = json.loads(result.out)["records"]
    assert {r["mitigator"]["concept"] for r in records} == {"gender-xx"}
    assert {r["unseen"]["kind"] for r in records} == {"void"}  # its one pair is in the sets


def test_an_encoder_reads_the_words_in_sentences(vectors):
    seen = []

    def encode(texts):
        seen.extend(texts)
        return np.array([vectors.get(t, np.full(20, len(t))) + len(t) * 0.01 for t in texts])

    records = package.words(encode, SETS, name="mine", templates="Here: {text}", language="xx")
    assert {r.task.name for r in records} == {"mine-sentences"}
    assert "Here: office" in seen
    assert not {t for t in seen if t in SETS["male"]}


def test_a_word_counts_once_by_the_vector_that_it_gets(vectors):
    forms = [*SETS["male"], "He", "HE", "josé", "jose\u0301"]
    vectors |= {"josé": np.ones(20)}
    once, many = (
        package.words(vectors, SETS | {"male": male}) for male in ([*SETS["male"], "josé"], forms)
    )
    assert values(many) == values(once)
    assert any("'He', 'HE'" in line and "'he'" in line for line in many.notices)
    shared = package.words(vectors, SETS | {"male": [*SETS["male"][1:], "Aunt"]})
    assert not {"weat", "rnd"} & {record.metric for record in shared}
    cased = vectors | {"He": np.ones(20)}
    assert values(package.words(cased, SETS | {"male": [*SETS["male"], "He"]})) != values(once)


def test_a_word_of_a_task_file_counts_once_by_the_vector_that_it_gets(vectors):
    def weat(*more):
        roles = zip(("targets_1", "targets_2", "attributes_1", "attributes_2"), SETS, strict=True)
        task = {
            "name": "own",
            "version": 1,
            "title": "t",
            "category": "gender",
            "kinds": ["word"],
            "sets": SETS | {"male": [*SETS["male"], *more]},
            "inputs": {role: {"set": name} for role, name in roles},
            "metrics": {"weat": {}},
            "primary": {"metric": "weat", "score": "association"},
        }
        records = package.evaluate(vectors, task)
        return next(record for record in records if record.score == "association"), records.notices

    once, silent = weat()
    many, notices = weat("He", "HE")
    assert (many.value, many.p_value, many.n) == (once.value, once.p_value, once.n)
    assert [line for line in notices if line not in silent] == [
        f"{many.model.name} reads 'He', 'HE' of own as other words of the same set; "
        "a word counts once"
    ]
    shared, _ = weat("Aunt")
    assert shared.value is None
    assert "share 'aunt'" in shared.reason
