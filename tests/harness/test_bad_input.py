"""Bad input: what a user reads on the command line, the exit code, and what survives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.results import folder as results_files


@pytest.fixture
def evaluate(harness, toy, tmp_path):
    """Run `harness eval`; a later option replaces an earlier one of the same name."""

    def run(*arguments):
        given = {"-m": "toy-letters", "-t": "toy-places", "-r": tmp_path / "results"}
        given |= {"--concept": "toy-place"}
        given |= dict(zip(arguments[::2], arguments[1::2], strict=True))
        return harness("eval", *(part for pair in given.items() for part in pair))

    return run


def records(tmp_path):
    return results_files.read([tmp_path / "results"]).records


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-m", "toy-leters"], "unknown model 'toy-leters'; did you mean 'toy-letters'"),
        (["-m", "toi:2"], "unknown model provider 'toi'; did you mean 'toy'"),
        (["-m", "toy-letters?skale=2"], "model 'toy-letters' has no option 'skale'; did you mean "
         "'scale'?"),
        (["-m", "toy-letters?scale=abc"], "model 'toy-letters': option scale=abc: input should be"),
        (["-m", "toy-letters?scale"], "in 'toy-letters?scale', 'scale' is not of the form KEY=VAL"),
        (["-t", "toy-plces"], "unknown task, tag or category 'toy-plces'; did you mean 'toy-"),
        (["-t", "toy-places,absent.yaml"], "absent.yaml: cannot be read (No such file"),
        (["-M", "toy-shft"], "unknown mitigator 'toy-shft'; did you mean 'toy-shift'"),
        (["-M", "toy-shift?k=abc"], "mitigator 'toy-shift': option k=abc: input should be a valid "
         "integer"),
        (["-M", "toy-shift?kk=1"], "mitigator 'toy-shift' has no option 'kk'"),
        (["-M", "toy-shift+"], "'toy-shift+' names no mitigator beside '+'"),
        (["--concept", "toy-plce"], "unknown concept 'toy-plce'; did you mean 'toy-place'"),
        (["--engine", "lokal"], "unknown engine 'lokal'; did you mean 'local'"),
        (["--include", "absent"], "absent: there is no such file or folder"),
    ],
)  # fmt: skip
def test_a_name_or_option_that_is_not_known(evaluate, toy, tmp_path, arguments, told):
    said = evaluate(*arguments)
    assert said.code == 2
    assert said.err.startswith(f"harness: {told}")
    assert said.err.count("\n") == 1
    assert (said.out, toy) == ("", [])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("title:", "titel:", "3: titel: unknown key 'titel'; did you mean 'title'?"),
        ("targets_2:", "target_2:", "10: metrics.toy-gap: metric 'toy-gap' needs the input "
         "'targets_2', which the task does not have; did you mean 'target_2'?"),
        ("[city, street]", "[]", "8: inputs.targets_2: this set is empty; an input needs at least "
         "one text"),
        ("[city, street]", "[city, farm]", "8: inputs.targets_2: 'farm' stands in both 'targets_1' "
         "and 'targets_2'; metric 'toy-gap' needs sets with no word in common"),
        ("  toy-gap:", "  toy-gab:", "10: metrics.toy-gab: unknown metric 'toy-gab'; did you "
         "mean 'toy-gap'"),
        ("{}", "{options: {center: true}}", "10: metrics.toy-gap.options: metric 'toy-gap' has no "
         "option 'center'; did you mean 'centre'?"),
        ("street]", "no]", "8: inputs.targets_2.words[1]: YAML reads this as false, not as text; "
         "put it in quotes"),
        ("concept: toy-place", "include: absent.yaml", "5: include: there is no file 'absent"),
        ("title: Mine", "title: Mine\ntitle: Yours", "4: title: duplicate key"),
    ],
)  # fmt: skip
def test_a_task_file_with_a_mistake(evaluate, write, toy, toy_task, old, new, told):
    assert old in toy_task
    path = write("mine.yaml", toy_task.replace(old, new))
    said = evaluate("-t", f"toy-places,{path}")
    assert said.code == 2
    assert said.err.startswith(f"harness: {path}:{told}")
    assert said.err.count("\n") == 1
    assert (said.out, toy) == ("", [])


def test_a_model_folder_without_weights(evaluate, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "bert"}')
    said = evaluate("-m", f"sentence-transformers:{folder}")
    assert said.code in (1, 2)
    assert said.err.startswith("harness: ")
    assert str(folder) in said.err
    assert "weights" in said.err
    assert said.err.count("\n") == 1


def test_a_model_folder_that_is_not_there(evaluate, tmp_path):
    said = evaluate("-m", f"vectors:{tmp_path}/absent.txt")
    assert said.code in (1, 2)
    assert said.err.startswith("harness: ")
    assert "absent.txt" in said.err
    assert said.err.count("\n") == 1


def test_vectors_with_nan_zero_vectors_and_words_that_are_not_there(
    evaluate, write, toy_task, tmp_path
):
    path = write("v.txt", "village 1 0 0\nbarn 0 0 0\nfarm 0 1 0\ncity 0 0 1\nstreet 1 1 0\n")
    task = write("mine.yaml", toy_task.replace("farm]", "farm, barn, hamlet]"))
    said = evaluate("-m", f"vectors:{path}", "-t", task)
    assert said.code == 0, said.err
    for record in records(tmp_path):
        assert (record.value, record.coverage.asked, record.coverage.found) == (None, 6, 4)
        assert record.coverage.missing == ("barn", "hamlet")
        assert record.reason == (
            "50% of 'targets_1' has no vector, more than the 20% that the task allows"
        )
    assert "void" in said.out
    path = write("nan.txt", "village 1 0 0\nfarm nan 1 0\ncity 0 0 1\nstreet 1 1 0\n")
    task = write("mine.yaml", toy_task)
    said = evaluate("-m", f"vectors:{path}", "-t", task, "-r", tmp_path / "r2")
    assert said.code in (1, 2)
    assert "nan" in said.err.lower()
    assert "NaN" not in "".join(p.read_text() for p in (tmp_path / "r2").rglob("*.jsonl"))


@pytest.mark.parametrize("where", ["file/below", "/proc/harness-results"])
def test_a_results_folder_that_cannot_be_written(evaluate, write, toy, tmp_path, where):
    write("file", "")
    folder = tmp_path / where
    said = evaluate("-r", folder)
    assert said.code == 1
    assert said.err.startswith(f"harness: cannot write to the folder '{folder}' (")
    assert said.err.count("\n") == 1
    assert toy == []  # told before any work


@pytest.mark.parametrize("where", ["file/below", "/proc/harness-cache"])
def test_a_cache_folder_that_cannot_be_written(evaluate, write, toy, tmp_path, where):
    write("file", "")
    said = evaluate("--cache", tmp_path / where)
    assert said.code == 1
    line = said.err.splitlines()[-1]
    assert line.startswith(f"harness: cannot write '{tmp_path / where}")
    assert toy == []


LIMITED = """
import resource, signal, sys
from harness.commands import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
sys.exit(main.run(sys.argv[2:]))
"""


def limited(size, *arguments):
    """Run the command where no file may grow beyond a size: as on a full disk."""
    command = [sys.executable, "-c", LIMITED, str(size), *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_a_full_disk_for_results(harness, toy, tmp_path):
    given = ("eval", "-m", "toy-letters", "-t", "toy-p*", "-r", tmp_path / "results")
    given = (*given, "--concept", "none")
    path = tmp_path / "results" / "toy-letters.jsonl"
    harness(*given)
    size = path.stat().st_size
    path.unlink()
    said = limited(size - 100, *given)
    assert said.returncode == 1
    assert said.stderr.splitlines()[-1] == f"harness: cannot write '{path}' (File too large)"
    kept = records(tmp_path)
    assert kept
    again = harness(*given)
    assert again.code == 0
    assert {r.id: r.value for r in kept}.items() <= {
        r.id: r.value for r in records(tmp_path)
    }.items()
    assert kept[:3] == records(tmp_path)[:3]  # of the task that was recorded whole
    assert len(records(tmp_path)) == 5
    assert "0 texts encoded" in again.out


def test_a_full_disk_for_embeddings(harness, toy, tmp_path, cache):
    given = ("eval", "-m", "toy-letters", "-t", "toy-places", "-r", tmp_path / "results")
    given = (*given, "--concept", "none")
    said = limited(400, *given)
    assert said.returncode == 1
    line = said.stderr.splitlines()[-1]
    assert line.startswith("harness: cannot write ")
    assert str(cache) in line
    assert "(File too large)" in line
    assert not list(cache.rglob("*.safetensors"))
    again = harness(*given)
    assert again.code == 0
    assert "6 texts encoded" in again.out


def test_a_torn_last_line_in_a_results_file(evaluate, tmp_path):
    both = ("-t", "toy-places,toy-places-10")
    evaluate(*both)
    path = tmp_path / "results" / "toy-letters.jsonl"
    before = records(tmp_path)
    path.write_bytes(path.read_bytes()[:-50])
    said = evaluate(*both)
    assert said.code == 0
    assert f"{path}:5: the last line is torn and was passed over" in said.err.splitlines()
    after = records(tmp_path)
    assert {r.id for r in after} == {r.id for r in before}
    assert len(after) == len(path.read_text().splitlines()) == 5
    assert [r for r in after if r.task.name == "toy-places"] == list(before[:3])
    assert "torn" not in evaluate(*both).err


def test_a_results_file_that_is_something_else(evaluate, tmp_path):
    evaluate()
    path = tmp_path / "results" / "toy-letters.jsonl"
    content = "{}\n" + path.read_text()
    path.write_text(content)
    said = evaluate("-t", "toy-ratings")
    assert said.code == 2
    assert said.err.startswith(f"harness: {path}:1: not a record: ")
    assert path.read_text() == content


@pytest.mark.parametrize("how", ["cut", "flip", "empty", "noise"])
def test_a_damaged_segment_is_told_and_made_again(evaluate, toy, tmp_path, cache, how):
    evaluate()
    first = {r.id: r.value for r in records(tmp_path)}
    (segment,) = cache.rglob("*.safetensors")
    content = segment.read_bytes()
    segment.write_bytes(
        {"cut": content[:-40], "flip": b"\xff" + content[1:], "empty": b"", "noise": b"x" * 500}[
            how
        ]
    )
    toy.clear()
    said = evaluate("-r", tmp_path / "again")
    assert said.code == 0
    assert len(toy) == 6
    (line,) = [line for line in said.err.splitlines() if "damaged" in line]
    assert line.startswith("a damaged segment of embeddings was set aside, its texts are encoded")
    assert str(segment) in line
    again = results_files.read([tmp_path / "again"]).records
    assert {r.id: r.value for r in again} == first
    toy.clear()
    assert evaluate("-r", tmp_path / "third").code == 0
    assert toy == []


@pytest.mark.parametrize("name", ["toy:1", "toy:1?", "toy:01", "toy:+1", "toy:1e0", "toy: 1 "])
def test_a_models_name_never_leaves_the_results_folder(evaluate, tmp_path, name):
    assert evaluate("-m", name).code == 0
    (path,) = (tmp_path / "results").glob("*.jsonl")
    assert path.parent == tmp_path / "results"
    assert Path(path.name).name == path.name


def test_models_that_cannot_be_made_do_not_stop_the_others(harness, toy, tmp_path):
    said = harness(
        "eval", "-m", "toy:many", "-m", "toy-letters", "-t", "toy-places",
        "-r", tmp_path / "results", "--concept", "none",
    )  # fmt: skip
    assert said.code == 1
    assert said.err.splitlines()[-1] == (
        "FAILED: toy:many under any mitigator on any task: model 'toy:many' cannot be made "
        "(ValueError: could not convert string to float: 'many')"
    )
    assert {r.model.name for r in records(tmp_path)} == {"toy-letters"}


def test_a_model_that_is_no_embedder(harness, install, tmp_path):
    source = """
        from harness import EmbedderSpec, hookimpl

        @hookimpl
        def harness_embedders():
            return [EmbedderSpec(name="no-model", target="odd_module:Bare"),
                    EmbedderSpec(name="odd-model", target="odd_module:Odd")]

        class Bare:
            pass

        class Odd:
            info = {"name": "odd"}
            def encode(self, texts):
                return []
    """
    install("odd", {"odd": "odd_module"}, odd_module=source)
    said = harness("eval", "-m", "no-model", "-r", tmp_path, "--concept", "none")
    assert said.code == 1
    assert said.err.startswith("harness: model 'no-model' cannot be made (AttributeError: ")
    said = harness("eval", "-m", "odd-model", "-r", tmp_path, "--concept", "none")
    assert said.code == 1
    assert said.err == (
        "harness: model 'odd-model' is no embedder: its info is no harness.ModelInfo\n"
    )
