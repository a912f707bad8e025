"""What files of others may not ask for: addresses, keys and code."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InvalidFile
from harness.registry import trust
from harness.registry.registry import Registry
from harness.task import yaml_files

SEND = "base_url=http://127.0.0.1:9/v1&key=MY_SECRET_KEY"
PLUGIN = """
    from harness import EmbedderSpec, MitigatorSpec, hookimpl

    @hookimpl
    def harness_embedders():
        return [
            EmbedderSpec(name="theirs", target="THIS:theirs", provider=True,
                         sensitive={"gate": "code", "host_name": "plain"}),
            EmbedderSpec(name="hosted", target="THIS:hosted"),
        ]

    @hookimpl
    def harness_mitigators():
        return [MitigatorSpec(name="edit", target="THIS:Edit")]

    def theirs(reference, *, gate=False, host_name="", place_url="", command="", prompt=""): ...

    def hosted(*, api_token=None): ...
"""


def test_what_names_ask_for(registry_with, plugin):
    registry = registry_with(plugin(PLUGIN))
    cases: dict[str, tuple[str, ...]] = {
        "theirs:x": (),
        "theirs:/etc/passwd?prompt=a plain text": (),
        "owner/model?trust_remote_code=false": (),
        "owner/model?trust_remote_code=YES": ("code",),
        "hosted": ("key",),
        "theirs:hosted": ("key",),
        "theirs:x?gate=true": ("code",),
        "theirs:x?gate=false": (),
        "theirs:x?host_name=a": (),
        "theirs:x?place_url=h": ("address",),
        "theirs:x?command=rm": ("code",),
        "theirs:x?api_key=OTHER_KEY": ("key",),
        "theirs:x?prompt=os.path:join": ("code",),
        "theirs:x?prompt=http://h": ("address",),
        "theirs:x?prompt=hosted": ("key",),
    }
    kinds = {"key": "uses a key", "code": "runs code", "address": "is an address"}
    wrong = {}
    for name, expected in cases.items():
        wishes = list(trust.of_model(name, registry))
        found = tuple(kind for kind in kinds for wish in wishes if kinds[kind] in wish)
        if found != expected:
            wrong[name] = wishes
    assert not wrong
    (wish,) = trust.of_mitigator("edit?k=1&place_url=h", registry)
    assert "is an address" in wish


def test_a_secret_is_never_shown():
    name = "openai:x?key=sk-1&base_url=http://u:pw@h/v1"
    said = " ".join(trust.of_model(name, Registry()))
    assert "key=***" in said
    assert not any(secret in said for secret in ("sk-1", "pw"))


def test_installed_files_are_trusted(tmp_path):
    registry = Registry()
    assert registry.trusts(next(iter(registry.study_files.values())).path)
    assert not registry.trusts(tmp_path / "mine.yaml")
    assert Registry(trust=True).trusts(tmp_path / "mine.yaml")


def test_a_task_that_python_code_passes_is_typed(registry):
    options = {"toy-gap": {"options": {"key": "MY_SECRET_KEY"}}}
    task = {"name": "t", "version": 1, "title": "T", "category": "c", "metrics": options,
            "inputs": {}, "primary": {"metric": "toy-gap", "score": "gap"}}  # fmt: skip
    gate = trust.of_task(yaml_files.Document(Path("tasks[0]"), task, {}), registry)
    assert [key for key, _ in gate.asked] == [("metrics", "toy-gap", "options")]
    gate.check()


def test_what_is_refused_is_named_with_its_line(write, registry):
    path = write("mine.yaml", f"models: ['openai:x?{SEND}']\n")
    gate = trust.Gate(yaml_files.load(path), registry)
    gate.options(None, {"base_url": "http://h"}, ("models", 0))
    with pytest.raises(InvalidFile, match=r"mine\.yaml:1: models\[0\]: .*--trust allows it"):
        gate.check()
    registry.trust = True
    gate.check()


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
    assert "--trust allows it" in said.err
    said = harness("eval", "-c", run_file, "-r", tmp_path / "results", "-M", "none")
    assert said.code == 0, said.err
    assert harness("plan", "-c", run_file, "--trust").code == 0


def test_the_file_of_a_run_says_what_needs_trust(tmp_path):
    from harness.run.settings import RunFile, Settings

    names = ["openai:text-embedding-3-small", "random-words"]
    file = RunFile.of(names, ["none"], ["weat-6"], Settings())
    assert file is not None
    head = file.write(tmp_path, "id").read_text().splitlines()[1]
    assert head.startswith("# Add --trust: the hosted model 'openai:text-embedding-3-small' uses")
