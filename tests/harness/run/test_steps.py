"""Resumable steps: each result is kept at once, and what is recorded is not done again."""

import os
import signal
from types import SimpleNamespace

import pytest

from harness.errors import HarnessError, ModelError
from harness.results import jsonl
from harness.results.record import Line
from harness.run import steps


class Doubled(Line):
    key: str
    value: int
    seconds: float


def step(number: int, key: str = "k") -> SimpleNamespace:  # which other processes can read
    return SimpleNamespace(id=str(number), key=key, name=f"step {number}", number=number)


STEPS = [step(number) for number in range(4)]


def record(step: SimpleNamespace, value: int, seconds: float) -> Doubled:
    return Doubled(id=step.id, key=step.key, value=value, seconds=seconds)


def values(path) -> dict[str, int]:
    return {line.id: line.value for line in jsonl.read(path, Doubled, [])}


@pytest.fixture
def file(tmp_path):
    return jsonl.RecordsFile(tmp_path / "steps.jsonl", Doubled)


@pytest.mark.parametrize("workers", [None, 1, 2])
def test_the_records_are_the_same_with_any_number_of_processes(file, workers):
    def double(step):
        return 2 * step.number

    finished = []
    steps.run(STEPS, double, record, file, workers=workers, advance=finished.append)
    assert values(file.path) == {"0": 0, "1": 2, "2": 4, "3": 6}
    assert finished == [1, 1, 1, 1]
    assert all(line.seconds >= 0 for line in file.records.values())


def test_what_is_recorded_is_not_done_again_unless_its_key_differs(file):
    steps.run(STEPS[:2], lambda step: step.number, record, file)
    assert steps.unfinished(STEPS, file.records) == STEPS[2:]
    changed = [step(0, key="other"), *STEPS[1:]]
    assert steps.unfinished(changed, file.records) == [changed[0], *STEPS[2:]]


def test_a_step_that_fails_ends_the_run_and_the_ones_before_it_are_kept(file):
    def fail_at_two(step):
        if step.number == 2:
            raise ModelError("out of memory")
        return 2 * step.number

    with pytest.raises(ModelError, match="out of memory"):
        steps.run(STEPS, fail_at_two, record, file)
    assert values(file.path) == {"0": 0, "1": 2}


@pytest.mark.posix
def test_a_step_whose_process_dies_is_named_and_the_others_are_kept(file):
    def die_at_two(step):
        if step.number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return 2 * step.number

    with pytest.raises(HarnessError, match=r"^step 2: its process was killed.*run it again"):
        steps.run(STEPS, die_at_two, record, file, workers=2)
    assert values(file.path) == {"0": 0, "1": 2, "3": 6}
