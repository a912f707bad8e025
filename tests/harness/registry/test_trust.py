"""What names and files ask for, and who may have it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import small_study
import yaml

from harness.errors import InvalidFile
from harness.registry import discovery, trust
from harness.registry.registry import Registry
from harness.registry.trust import Requests
from harness.study.running import run_study
from harness.task import yaml_files

SEND = "base_url=http://127.0.0.1:9/v1&key=MY_SECRET_KEY"


@pytest.fixture
def kinds(tmp_path, monkeypatch):
    """Return the kinds of what a model name asks for, in a file in the current folder."""
    monkeypatch.chdir(tmp_path)
    requests = Requests(Registry(), [tmp_path])
    return lambda name: [request.kind for request in requests.of_model(name)]


@pytest.mark.parametrize(
    "name",
    [
        "random-words",
        "glove-6b-50d",
        "bag-of-words:glove-6b-50d",
        "bag-of-words:glove-6b-50d?pooling=max&quantize=int8&name=mine",
        "sentence-transformers:./model",
        "./model?pooling=cls&prompt=query: ",
        "vectors:words.txt",
        "vectors:sub/../words.txt",
        "all-MiniLM-L6-v2?trust_remote_code=false",
        "all-MiniLM-L6-v2?trust_remote_code=none",
    ],
)
def test_what_runs_no_code_and_stays_inside_asks_for_nothing(kinds, tmp_path, name):
    (tmp_path / "model").mkdir()
    (tmp_path / "words.txt").write_text("a 1 2\n")
    assert kinds(name) == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("owner/model", "download"),
        ("sentence-transformers:owner/model?revision=main", "download"),
        ("gpt2", "download"),
        ("gensim:glove-twitter-25", "download"),
        ("spacy:fr_core_news_md", "package"),
    ],
)
def test_downloads_and_packages_are_listed_and_allowed(kinds, name, kind):
    assert kinds(name) == [kind]
    assert kind in trust.ALLOWED


def test_a_folder_above_the_file_is_refused_wherever_one_stands(kinds, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    assert kinds("vectors:sub") == []
    monkeypatch.chdir(tmp_path.parent)
    assert kinds(f"vectors:{tmp_path.name}/words.txt") == []
    assert kinds("vectors:words.txt") == ["path"]


PLUGIN = """
    from harness import EmbedderSpec, MitigatorSpec, hookimpl

    @hookimpl
    def harness_embedders():
        return [
            EmbedderSpec(name="theirs", target="THIS:theirs", provider=True,
                         sensitive={"gate": "code", "sort_key": "plain"}),
            EmbedderSpec(name="hosted", target="THIS:hosted"),
        ]

    @hookimpl
    def harness_mitigators():
        return [MitigatorSpec(name="edit", target="THIS:Edit")]

    def theirs(reference, *, gate=False, sort_key="", api_key="", place_url="", words_file="",
               n_files=1, command="", model="", prompt=""): ...

    def hosted(*, api_token=None): ...
"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("gate=true", ["code"]),
        ("gate=false", []),
        ("sort_key=name", []),
        ("api_key=OTHER_KEY", ["key"]),
        ("place_url=h", ["address"]),
        ("words_file=/etc/passwd", ["path"]),
        ("words_file=here.txt", []),
        ("n_files=7", []),
        ("command=rm", ["code"]),
        ("prompt=os.path:join", ["code"]),
        ("prompt=http://h", ["address"]),
        ("prompt=/etc/passwd", ["path"]),
        ("prompt=a plain text", []),
        ("model=theirs:x", ["key"]),
        ("model=hosted", ["key"]),
    ],
)
def test_options_of_other_plugins_are_judged_by_spec_name_and_value(
    registry_with, plugin, tmp_path, monkeypatch, options, expected
):
    monkeypatch.chdir(tmp_path)
    requests = Requests(registry_with(plugin(PLUGIN)), [tmp_path])
    found = [request.kind for request in requests.of_model(f"theirs:x?{options}")]
    assert found == ["key", *expected]  # it has an option for a key, so it is a hosted model
    stage = [request.kind for request in requests.of_mitigator(f"edit?{options}")]
    if not options.startswith(("gate", "sort")):  # what only the other spec describes
        assert stage == expected


def test_a_secret_is_never_shown(kinds, tmp_path):
    requests = Requests(Registry(), [tmp_path])
    said = " ".join(map(str, requests.of_model("openai:x?key=sk-1&base_url=http://u:pw@h/v1")))
    assert "sk-1" not in said
    assert "pw" not in said
    assert "key=***" in said


@pytest.fixture
def study(tmp_path):
    """A folder with a study of word vectors that lie in a folder beside it."""
    words = tmp_path / "words"
    words.mkdir()
    small_study.fill(words, small_study.vectors())
    folder = tmp_path / "study"
    folder.mkdir()
    (words / "concepts").rename(folder / "concepts")
    return small_study.write(folder / "small.yaml", small_study.content(words))


def test_a_trusted_study_may_name_a_path_elsewhere(study, tmp_path, harness):
    said = harness("study", "run", study, "-r", tmp_path / "results")
    assert said.code == 2
    assert f"small.yaml:5: models[0]: '{tmp_path}/words/vectors.txt' is not in" in said.err
    assert f"--trust {study}" in said.err
    assert said.err.count("\n") == 1
    said = harness("study", "run", study, "-r", tmp_path / "results", "--trust", study)
    assert said.code == 0, said.err
    assert run_study(study, results=tmp_path / "results", trust=study.parent).new == 0
    with pytest.raises(InvalidFile, match="is not in the folder"):
        run_study(study, results=tmp_path / "results")


def test_a_trusted_file_does_not_vouch_for_one_that_it_includes(study, tmp_path):
    part = study.rename(study.with_name("_part.yaml"))
    study.write_text("include: _part.yaml\n")
    with pytest.raises(InvalidFile, match=r"_part\.yaml:5: models\[0\].*--trust .*_part\.yaml"):
        run_study(study, results=tmp_path / "results", trust=study)
    assert run_study(study, results=tmp_path / "results", trust=[study, part]).new


def test_a_file_to_trust_must_exist(study, harness):
    said = harness("study", "run", study, "--trust", "absent.yaml")
    assert (said.code, "absent.yaml" in said.err) == (2, True)


def test_installed_files_are_trusted(tmp_path):
    registry = Registry()
    document = registry.study_files[next(iter(registry.study_files))]
    assert registry.trusts(document.path)
    assert not registry.trusts(tmp_path / "mine.yaml")
    assert not Registry(discovery.Plugins(())).trusts(document.path)


def test_a_task_that_python_code_passes_is_typed(registry):
    options = {"toy-gap": {"options": {"key": "MY_SECRET_KEY"}}}
    task = {"name": "t", "version": 1, "title": "T", "category": "c", "metrics": options,
            "inputs": {}, "primary": {"metric": "toy-gap", "score": "gap"}}  # fmt: skip
    of_code = trust.of_task(yaml_files.Document(Path("tasks[0]"), task, {}), registry)
    assert [request.kind for _, request in of_code.requests] == ["key"]
    of_code.check()


@pytest.fixture
def run_file(write):
    """Write a run file of a typed model under a mitigator that sends a secret."""
    mitigator = f"anonymize?engine=llm&model=x&{SEND}"
    text = f"models: [random-words]\ntasks: [weat-6]\nmitigators: ['{mitigator}']\n"
    return write("run.yaml", text)


def test_what_the_user_types_counts_instead_of_the_file(run_file, tmp_path, harness):
    said = harness("eval", "-c", run_file, "-r", tmp_path / "results")
    assert said.code == 2
    assert "run.yaml:3: mitigators[0]: " in said.err
    assert "key=MY_SECRET_KEY" in said.err
    assert "or type --mitigator yourself" in said.err
    said = harness("eval", "-c", run_file, "-r", tmp_path / "results", "-M", "none")
    assert said.code == 0, said.err


def test_the_plan_lists_what_is_asked_for(run_file, harness):
    said = harness("plan", "-c", run_file, "--trust", run_file, "--json")
    (plan,) = json.loads(said.out)
    assert plan["asked"] == [
        f"{run_file}: mitigators[0]: 'engine=llm' uses a key",
        f"{run_file}: mitigators[0]: 'x' may be read from an installed package",
        f"{run_file}: mitigators[0]: 'base_url=http://127.0.0.1:9/v1' is an address to send "
        "requests to",
        f"{run_file}: mitigators[0]: 'key=MY_SECRET_KEY' uses a key",
    ]
    assert plan["asked"][0] in harness("plan", "-c", run_file, "--trust", run_file).out
    said = harness(
        "plan", "-m", "random-words", "-t", "weat-6", "-M", "anonymize?engine=llm&model=x"
    )
    assert "anonymize?engine=llm&model=x: 'engine=llm' uses a key" in said.out


def test_validate_lists_what_a_file_asks_for(write, harness):
    path = write("run.yaml", "models: [owner/model, random-words]\ntasks: [../x.yaml]\n")
    said = harness("validate", path)
    assert (said.code, said.out.count("\n")) == (2, 2)
    assert f"{path}:2: tasks[0]: '../x.yaml' is not in the folder '{path.parent}'" in said.out
    said = harness("validate", path, "--trust", path)
    assert said.code == 0
    assert f"{path}: models[0]: the model 'owner/model' of the hub is downloaded" in said.out
    assert f"{path}: tasks[0]: '../x.yaml' is not in the folder" in said.out


def test_the_file_of_a_run_says_what_has_to_be_typed_again(tmp_path, harness, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("".join(f"{w} 1 {i}\n" for i, w in enumerate(WORDS)))
    said = harness("eval", "-m", "vectors:words.txt", "-t", "weat-6", "-M", "none")
    assert said.code == 0, said.err
    (path,) = Path("results/runs").glob("*.yaml")
    head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    assert "--trust" in head[1]
    assert head[2].startswith("#     --model vectors:words.txt    ('words.txt' is not in")
    assert yaml.safe_load(path.read_text())["models"] == ["vectors:words.txt"]
    said = harness("eval", "-c", path)
    assert said.code == 2
    assert "or type --model yourself" in said.err
    assert harness("eval", "-c", path, "-m", "vectors:words.txt").code == 0
    assert harness("eval", "-c", path, "--trust", path).code == 0


WORDS = sorted(
    {text for input_ in Registry().task("weat-6").texts() for text in input_.texts or ()}
)
