"""What `--tasks` means."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InvalidFile, NameClash, UnknownName, UsageError
from harness.registry.registry import Registry
from harness.run.tasks import listed, select


def names(registry, *wanted):
    return [one.file.name for one in select(registry, wanted)]


def test_numbers_in_names_are_in_the_order_of_numbers(registry, write):
    assert [one.file.name for one in listed(registry)] == [
        "toy-places",
        "toy-places-10",
        "toy-ratings",
        "toy-sentences",
    ]


def test_all_names_globs_tags_categories_and_what_is_measured(registry):
    assert len(names(registry, "all")) == 4
    assert names(registry, "toy-places") == ["toy-places"]
    assert names(registry, "toy-places*") == ["toy-places", "toy-places-10"]
    assert names(registry, "sentences") == ["toy-sentences"]
    assert names(registry, "similarity") == names(registry, "usefulness") == ["toy-ratings"]


def test_a_task_is_chosen_once(registry):
    assert names(registry, "toy-places-10", "places", "toy-places", "small") == [
        "toy-places",
        "toy-places-10",
        "toy-sentences",
    ]


def test_a_file_may_be_named_by_its_path(registry, write):
    path = write(
        "mine.yaml", (Path(__file__).parents[1] / "toy/tasks/toy-ratings.yaml").read_text()
    )
    (one,) = select(registry, [str(path)])
    assert one.document.path == path
    with pytest.raises(NameClash, match="two files claim the task 'toy-ratings'"):
        select(registry, ["toy-ratings", str(path)])


def test_a_file_with_a_mistake_is_left_out_and_told_unless_it_is_asked_for(registry, write):
    path = write("more/bad.yaml", "name: bad\nversoin: 1")
    write("more/worse.yaml", "name: [")
    more = Registry(registry.plugins, include=[path.parent])
    assert [one.file.name for one in select(more, ["toy-places"])] == ["toy-places"]
    assert len(more.notices) == 2
    assert any(f"{path}:2: versoin: unknown key 'versoin'" in line for line in more.notices)
    with pytest.raises(InvalidFile, match="did you mean 'version'"):
        select(more, ["bad"])


def test_an_unknown_task_is_told_with_the_nearest_name_tag_or_category(registry):
    with pytest.raises(UnknownName) as caught:
        names(registry, "toy-places", "similarities")
    assert str(caught.value) == (
        "unknown task, tag or category 'similarities'; did you mean 'similarity'?"
    )
    with pytest.raises(UnknownName, match="'weat-\\*'"):
        names(registry, "weat-*")


def test_a_missing_file_is_told(registry):
    with pytest.raises(InvalidFile, match=r"absent.yaml: cannot be read"):
        names(registry, "absent.yaml")


def test_nothing_asked_for_is_told(registry):
    with pytest.raises(UsageError, match="no task is asked for"):
        names(registry)
