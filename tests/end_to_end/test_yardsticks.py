"""From a task with a yardstick to its records: the ratio, its parts, and what is refused."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

import harness
from harness.errors import InvalidFile
from harness.registry.registry import Registry

WORDS = {
    "targets_1": ["nurse", "maid", "nanny", "clerk"],
    "targets_2": ["miner", "smith", "guard", "pilot"],
    "attributes_1": ["she", "her", "hers", "herself"],
    "attributes_2": ["he", "him", "his", "himself"],
}
THINGS = {
    "targets_1": ["apple", "pear", "plum"],
    "targets_2": ["car", "bus", "train"],
    "attributes_1": ["juice", "peel", "seed"],
    "attributes_2": ["road", "wheel", "fuel"],
}


def inputs(sets, indent):
    lines = [f"{name}: {{words: [{', '.join(words)}]}}" for name, words in sets.items()]
    return "\n".join(" " * indent + line for line in lines)


def task_file(**changes):
    facts = {"yardstick": "things", "metric": "weat", "score": "association"} | changes
    yardstick = f"yardstick: {facts['yardstick']}" if facts["yardstick"] else ""
    return (
        dedent(
            f"""\
            name: jobs
            version: 1
            title: Jobs of women and men
            category: gender
            kinds: [text]
            family: association
            {yardstick}
            metrics:
              {facts["metric"]}: {{}}
            primary: {{metric: {facts["metric"]}, score: {facts["score"]}}}
            inputs:
            """
        )
        + inputs(WORDS, 2)
        + "\n"
    )


def yardstick_file(metric="weat"):
    return (
        dedent(
            f"""\
            name: things
            version: 1
            title: Fruit and traffic
            measures: control
            category: universal
            kinds: [text]
            family: association
            metrics:
              {metric}: {{}}
            primary: {{metric: {metric}, score: association, scenario: one}}
            inputs: {{}}
            scenarios:
              one:
                inputs:
            """
        )
        + inputs(THINGS, 6)
        + "\n  two:\n    inputs:\n"
        + inputs({name: [f"{word}s" for word in words] for name, words in THINGS.items()}, 6)
        + "\n"
    )


class Model:
    """Vectors of 32 numbers by word; words of one side share a direction."""

    name = "words-with-bias"

    def encode(self, texts):
        rows = []
        for text in texts:
            word = text.removesuffix("s") if text.removesuffix("s") in self._sides() else text
            rng = np.random.default_rng([ord(letter) for letter in text])
            rows.append(rng.normal(size=32) * 0.2 + self._sides().get(word, np.zeros(32)))
        return np.array(rows, dtype=np.float32)

    @staticmethod
    def _sides():
        sides = {}
        for k, (sets, size) in enumerate(((WORDS, 0.5), (THINGS, 1.0))):
            for name, words in sets.items():
                row = np.zeros(32)
                row[k] = size if name.endswith("1") else -size
                sides |= dict.fromkeys(words, row)
        return sides


@pytest.fixture
def tasks(tmp_path):
    """Write the files of a task and its yardstick, and return the folder."""

    def write(task=None, yardstick=None):
        (tmp_path / "jobs.yaml").write_text(task or task_file())
        (tmp_path / "things.yaml").write_text(yardstick or yardstick_file())
        return tmp_path

    return write


def test_a_record_has_the_gap_over_the_mean_of_the_contrasts(tasks):
    records = harness.evaluate(Model(), "jobs", include=[tasks()], progress=False)
    (record,) = (record for record in records if record.primary)
    ratio = record.ratio
    assert ratio.of == "things"
    assert ratio.gap == pytest.approx(record.value), "the gap is the association"
    assert set(record.contrasts) == {"one", "two"}
    assert ratio.yardstick == pytest.approx(np.mean(list(record.contrasts.values())))
    assert ratio.value == pytest.approx(ratio.gap / ratio.yardstick)
    assert ratio.low < ratio.value < ratio.high
    assert ratio.t > 3
    squares = np.sum(np.square(list(record.deviations.values())), axis=0)
    assert squares[0] >= 0.9 * ratio.gap_error**2
    others = [r for r in records if not r.primary]
    assert others
    assert all(r.ratio is None for r in others)


def test_the_digest_of_a_task_depends_on_its_yardstick(tasks, tmp_path):
    digest = Registry(include=[tasks()]).task("jobs").digest
    more = yardstick_file().replace("juice", "jam")
    assert Registry(include=[tasks(yardstick=more)]).task("jobs").digest != digest
    assert Registry(include=[tasks(task_file(yardstick=""))]).task("jobs").digest != digest


@pytest.mark.parametrize(
    ("task", "yardstick", "problem"),
    [
        (task_file(yardstick="thing"), None, "unknown task 'thing'; did you mean 'things'"),
        (task_file(metric="weat-association"), None, "has no gap"),
        (None, yardstick_file("weat-association"), "which has not the gap of 'weat'"),
    ],
    ids=["an unknown task", "a metric without a gap", "another metric"],
)
def test_a_wrong_yardstick_is_an_error_with_its_line(tasks, task, yardstick, problem):
    registry = Registry(include=[tasks(task, yardstick)])
    with pytest.raises(InvalidFile, match=problem):
        registry.task("jobs")
