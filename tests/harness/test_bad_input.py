"""Bad input: one line on the terminal, the exit code, and what is kept."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from harness.errors import suggestion
from harness.results.folder import read


@pytest.fixture
def evaluate(harness, toy, tmp_path):
    """Run `harness eval`; a later option replaces an earlier one of the same name."""

    def run(*arguments):
        options = {"-m": "toy-letters", "-t": "toy-places", "-r": tmp_path / "results"}
        options |= {"--concept": "toy-place"}
        options |= dict(zip(arguments[::2], arguments[1::2], strict=True))
        return harness("eval", *(part for pair in options.items() for part in pair))

    return run


def records(tmp_path):
    return read([tmp_path / "results"]).records


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["-m", "toy-leters"], ["model", "'toy-leters'; did you mean 'toy-letters'"]),
        (["-m", "toi:2"], ["provider", "'toi'; did you mean 'toy'"]),
        (["-m", "toy-letters?skale=2"], ["'toy-letters'", "'skale'; did you mean 'scale'?"]),
        (["-m", "toy-letters?scale=abc"], ["'toy-letters'", "scale=abc", "number"]),
        (["-t", "toy-plces"], ["benchmark, tag or category", "'toy-plces'; did you mean 'toy-"]),
        (["-M", "toy-shft"], ["mitigator", "'toy-shft'; did you mean 'toy-shift'"]),
        (["-M", "toy-shift?k=abc"], ["mitigator 'toy-shift'", "k=abc", "integer"]),
        (["-M", "toy-shift+"], ["'toy-shift+'", "'+'"]),
        (["--concept", "toy-plce"], ["concept", "'toy-plce'; did you mean 'toy-place'"]),
        (["--engine", "lokal"], ["engine", "'lokal'; did you mean 'local'"]),
    ],
)
def test_an_unknown_name_or_option_is_an_error(evaluate, toy, tmp_path, arguments, facts):
    result = evaluate(*arguments)
    assert result.code == 2
    assert result.err.startswith("harness: ")
    assert [fact for fact in facts if fact not in result.err] == [], result.err
    assert result.err.count("\n") == 1
    assert (result.out, toy) == ("", [])


@pytest.mark.parametrize(
    ("old", "new", "place", "facts"),
    [
        ("title:", "titel:", "3: titel: ", ["'titel'; did you mean 'title'?"]),
        ("targets_2:", "target_2:", "10: metrics.toy-gap: ",
         ["metric 'toy-gap'", "'targets_2'", "did you mean 'target_2'?"]),
        ("[city, street]", "[]", "8: inputs.targets_2: ", ["targets_2"]),
        ("[city, street]", "[city, farm]", "8: inputs.targets_2: ",
         ["'farm'", "'targets_1'", "'targets_2'", "metric 'toy-gap'"]),
        ("  toy-gap:", "  toy-gab:", "10: metrics.toy-gab: ",
         ["metric", "'toy-gab'; did you mean 'toy-gap'"]),
        ("{}", "{options: {center: true}}", "10: metrics.toy-gap.options: ",
         ["metric 'toy-gap'", "'center'; did you mean 'centre'?"]),
        ("street]", "no]", "8: inputs.targets_2.words[1]: ", ["false", "quotes"]),
        ("concept: toy-place", "include: absent.yaml", "5: include: ", ["'absent.yaml'"]),
        ("title: Mine", "title: Mine\ntitle: Yours", "4: title: ", ["title"]),
    ],
)  # fmt: skip
def test_a_mistake_in_a_task_file_is_reported_with_its_line(
    evaluate, write, toy, toy_task, old, new, place, facts
):
    assert old in toy_task
    path = write("mine.yaml", toy_task.replace(old, new))
    result = evaluate("-t", f"toy-places,{path}")
    assert result.code == 2
    assert result.err.startswith(f"harness: {path}:{place}")
    assert [fact for fact in facts if fact not in result.err] == [], result.err
    assert result.err.count("\n") == 1
    assert (result.out, toy) == ("", [])


def test_words_with_a_zero_vector_or_none_are_missing_and_nan_is_an_error(
    evaluate, write, toy_task, tmp_path
):
    path = write("v.txt", "village 1 0 0\nbarn 0 0 0\nfarm 0 1 0\ncity 0 0 1\nstreet 1 1 0\n")
    task = write("mine.yaml", toy_task.replace("farm]", "farm, barn, hamlet]"))
    result = evaluate("-m", f"vectors:{path}", "-t", task)
    assert result.code == 0, result.err
    for record in records(tmp_path):
        assert (record.value, record.coverage.asked, record.coverage.found) == (None, 6, 4)
        assert record.coverage.missing == ("barn", "hamlet")
        for fact in ("50%", "'targets_1'", "20%"):
            assert fact in record.reason
    path = write("nan.txt", "village 1 0 0\nfarm nan 1 0\ncity 0 0 1\nstreet 1 1 0\n")
    task = write("mine.yaml", toy_task)
    result = evaluate("-m", f"vectors:{path}", "-t", task, "-r", tmp_path / "r2")
    assert result.code in (1, 2)
    assert "nan" in result.err.lower()
    assert "NaN" not in "".join(p.read_text() for p in (tmp_path / "r2").rglob("*.jsonl"))


@pytest.mark.parametrize("place", ["file/below", "/proc/harness-results"])
def test_an_unwritable_results_folder(evaluate, write, toy, tmp_path, place):
    write("file", "")
    folder = tmp_path / place
    result = evaluate("-r", folder)
    assert result.code == 1
    assert result.err.startswith("harness: ")
    assert f"'{folder}'" in result.err
    assert result.err.count("\n") == 1
    assert toy == []  # reported before any work


LIMITED = """
import resource, signal, sys
from harness.commands import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
sys.exit(main.run(sys.argv[2:]))
"""


def limited(size, *arguments):
    """Run the command with a limit on the size of a file, which acts like a full disk."""
    command = [sys.executable, "-c", LIMITED, str(size), *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_a_full_disk_for_results(harness, toy, tmp_path):
    command = ("eval", "-m", "toy-letters", "-t", "toy-p*", "-r", tmp_path / "results")
    command = (*command, "--concept", "none")
    path = tmp_path / "results" / "toy-letters.jsonl"
    harness(*command)
    size = path.stat().st_size
    path.unlink()
    result = limited(size - 100, *command)
    assert result.returncode == 1
    line = result.stderr.splitlines()[-1]
    assert line.startswith("harness: ")
    assert f"'{path}'" in line
    assert "File too large" in line
    kept = records(tmp_path)
    assert kept
    again = harness(*command)
    assert again.code == 0
    assert {r.id: r.value for r in kept}.items() <= {
        r.id: r.value for r in records(tmp_path)
    }.items()
    assert len({r.task.name for r in kept}) == 1  # all records of the task that was ready first
    assert len(records(tmp_path)) == 5
    assert "100 % read from the cache" in again.out


def test_a_torn_last_line_in_a_results_file(evaluate, tmp_path):
    both = ("-t", "toy-places,toy-places-10")
    evaluate(*both)
    path = tmp_path / "results" / "toy-letters.jsonl"
    before = records(tmp_path)
    path.write_bytes(path.read_bytes()[:-50])
    result = evaluate(*both)
    assert result.code == 0
    (line,) = [line for line in result.err.splitlines() if line.startswith(f"{path}:5: ")]
    assert "torn" in line
    after = records(tmp_path)
    assert {r.id for r in after} == {r.id for r in before}
    assert len(after) == 5
    assert len(path.read_text().splitlines()) == 6, "the torn line stays"
    assert [r for r in after if r.task.name == "toy-places"] == list(before[:3])


def test_a_changed_number_in_a_results_file_is_computed_again(evaluate, tmp_path):
    evaluate()
    path = tmp_path / "results" / "toy-letters.jsonl"
    before = {record.id: record.value for record in records(tmp_path)}
    lines = path.read_text().splitlines(keepends=True)
    wrong = re.sub(r'"value":[-.\d]+', '"value":0.123', lines[0])
    assert wrong != lines[0]
    path.write_text("".join([wrong, *lines[1:]]))
    result = evaluate()
    assert result.code == 0
    assert f"{path}:1: " in result.err
    assert {record.id: record.value for record in records(tmp_path)} == before
    assert path.read_text().startswith(wrong)


def test_a_damaged_segment_is_reported_and_made_again(evaluate, toy, tmp_path, cache):
    evaluate()
    first = {r.id: r.value for r in records(tmp_path)}
    (segment,) = cache.rglob("*.safetensors")
    segment.write_bytes(segment.read_bytes()[:-40])
    toy.clear()
    result = evaluate("-r", tmp_path / "again")
    assert result.code == 0
    assert len(toy) == 6
    (line,) = [line for line in result.err.splitlines() if "damaged" in line]
    assert str(segment) in line
    again = read([tmp_path / "again"]).records
    assert {r.id: r.value for r in again} == first
    toy.clear()
    assert evaluate("-r", tmp_path / "third").code == 0
    assert toy == []


def test_a_class_that_is_no_embedder_is_an_error(harness, install, tmp_path):
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
    result = harness("eval", "-m", "no-model", "-r", tmp_path, "--concept", "none")
    assert result.code == 1
    assert result.err.startswith("harness: ")
    assert "'no-model'" in result.err
    assert "AttributeError: " in result.err
    result = harness("eval", "-m", "odd-model", "-r", tmp_path, "--concept", "none")
    assert result.code == 1
    assert result.err.startswith("harness: ")
    assert "'odd-model'" in result.err
    assert "harness.ModelInfo" in result.err
    assert result.err.count("\n") == 1


def test_a_suggestion_that_looks_the_same_says_what_differs():
    assert suggestion("jose\u0301", ["josé"]) == r"; did you mean 'josé', written 'jos\xe9'?"
    assert suggestion("toy-leters", ["toy-letters"]) == "; did you mean 'toy-letters'?"
