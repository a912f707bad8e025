"""Evaluations with the store and the results in a bucket, on several machines."""

import json
import re

import pytest

from harness import folders, read_results
from harness.bucket import Bucket, mirror
from harness.errors import DiskError
from harness.results.folder import SharedResults

TASK = "toy-places"


@pytest.fixture
def s3_bucket(s3):
    return s3.new_bucket()


@pytest.fixture
def evaluated(harness, toy, s3_bucket, on_machine):
    """Evaluate on a machine, with all in the bucket; return the output and the texts encoded."""

    def run(machine, *options, tasks="toy-places,toy-sentences"):
        on_machine(machine, cache=s3_bucket)
        toy.clear()
        where = ["--results", f"{s3_bucket}/run1", "--concept", "toy-place"]
        output = harness("eval", "-m", "toy-letters", "-t", tasks, *where, *options)
        assert output.code == 0, output.err
        return output, list(toy)

    return run


def names(s3_bucket):
    return sorted(Bucket(folders.place(f"{s3_bucket}/run1")).entries())


def test_a_second_run_encodes_and_computes_nothing_on_this_machine_and_on_another(
    evaluated, s3_bucket
):
    _, texts = evaluated("first")
    assert texts
    before = names(s3_bucket)
    for machine in ("first", "second"):
        again, texts = evaluated(machine, "--json")
        assert texts == []
        assert json.loads(again.out)["encoded"] == 0
        assert names(s3_bucket) == before, "a run that computes nothing writes nothing"
    for machine in ("first", "third"):
        _, texts = evaluated(machine, "--overwrite")
        assert texts == [], "the vectors are shared, too"


def test_two_machines_write_files_of_their_own_and_readers_see_all(
    evaluated, s3_bucket, harness, on_machine
):
    (task, other) = ("toy-places", "toy-sentences")
    evaluated("first", tasks=task)
    evaluated("second", tasks=other)
    evaluated("third", "--overwrite", tasks=task)
    files = [name for name in names(s3_bucket) if name.endswith(".jsonl")]
    assert len(files) == 3
    assert all(re.fullmatch(r"toy-letters_\d{8}T\d{12}-[0-9a-f]{12}\.jsonl", f) for f in files)
    on_machine("reader", cache=s3_bucket)
    records = read_results(f"{s3_bucket}/run1")
    assert {record.task.name for record in records} == {task, other}
    runs = {record.run for record in records if record.task.name == task}
    assert runs == {files[2][-18:-6]}, "of records with one id that of the later run is read"
    shown = harness("results", "show", f"{s3_bucket}/run1", "--json")
    assert {row["task"] for row in json.loads(shown.out)} == {task, other}
    assert harness("results", "show", f"{s3_bucket}/run1/{files[1]}").code == 0
    assert harness("results", "verify", f"{s3_bucket}/run1").code == 0


def test_samples_are_put_beside_the_records_and_are_not_computed_again(
    evaluated, s3_bucket, on_machine
):
    evaluated("first", "--samples", tasks=TASK)
    samples = [name for name in names(s3_bucket) if name.startswith("samples/")]
    assert samples
    before = names(s3_bucket)
    evaluated("second", "--samples", tasks=TASK)
    assert names(s3_bucket) == before
    assert [name for name in before if name.startswith("runs/")], "the file that repeats the run"


def test_results_that_cannot_be_put_are_kept_and_put_by_the_next_run(
    evaluated, s3, s3_bucket, harness, monkeypatch, on_machine
):
    evaluated("first", tasks=TASK)
    before = names(s3_bucket)
    shared = SharedResults(folders.place(f"{s3_bucket}/run1"), "0123456789ab")
    own = shared.file("toy-letters", ".jsonl")
    copy = shared.earlier("toy-letters", ".jsonl")[0]
    own.write_bytes(copy.read_bytes())
    s3.refused["PUT"] = (503, "SlowDown")
    shared.send(every=1e-9)  # is tried again later
    with pytest.raises(DiskError) as caught:
        shared.close()
    assert str(shared.path) in str(caught.value)
    assert "AKIDTESTING" not in str(caught.value)
    assert own.exists()
    s3.refused.clear()
    assert names(s3_bucket) == before
    evaluated("first", tasks=TASK)
    assert names(s3_bucket) == sorted([*before, own.name])
    assert not own.exists()


def test_files_of_a_run_that_is_alive_are_left_to_it(evaluated, s3_bucket, on_machine):
    on_machine("first", cache=s3_bucket)
    place = folders.place(f"{s3_bucket}/run1")
    alive = SharedResults(place, "0123456789ab")
    alive.file("a", ".jsonl").write_bytes(b"")
    SharedResults(place, "ba9876543210").close()
    assert alive.file("a", ".jsonl").exists()
    alive.close()
    assert names(s3_bucket) == [alive.file("a", ".jsonl").name]


def test_a_bucket_that_forbids_writing_is_one_line_before_anything_is_encoded(
    s3, s3_bucket, harness, toy, on_machine, tmp_path
):
    on_machine("first", cache=s3_bucket)
    s3.refused["PUT"] = (403, "AccessDenied")
    for where in (["--results", f"{s3_bucket}/run1"], ["--results", str(tmp_path / "results")]):
        output = harness("eval", "-m", "toy-letters", "-t", TASK, *where, "--quiet")
        assert output.code == 1
        assert "permission denied" in output.err
        assert len(output.err.strip().splitlines()) == 1
        assert "AKIDTESTING" not in output.err
    assert toy == []


def test_cache_lists_and_prunes_a_bucket(evaluated, s3_bucket, harness):
    evaluated("first")
    info = json.loads(harness("cache", "info", "--json").out)
    assert info["folder"] == f"{s3_bucket}/embeddings"
    assert [store["model"] for store in info["stores"]] == ["toy-letters"]
    assert info["stores"][0]["texts"] > 0
    assert harness("cache", "info", "--cache", f"{s3_bucket}/embeddings").out.count("toy-letters")
    assert harness("cache", "prune", "--model", "toy-letters").code == 0
    assert json.loads(harness("cache", "info", "--json").out)["stores"] == []
    _, texts = evaluated("first", "--overwrite")
    assert texts, "they are encoded again"


def test_names_in_a_bucket_never_leave_the_mirror(s3, s3_bucket, on_machine):
    on_machine("first", cache=s3_bucket)
    place = folders.place(f"{s3_bucket}/run1")
    Bucket(place).write("../../evil.jsonl", b"{}")
    Bucket(place).write("a\\..\\evil.jsonl", b"{}")
    Bucket(place).write(".hidden/a.jsonl", b"{}")
    Bucket(place).write("good.jsonl", b"")
    read_results(f"{s3_bucket}/run1")
    home = mirror(place)
    files = {path.name for path in home.parent.rglob("*.jsonl")}
    assert files <= {"good.jsonl"}
