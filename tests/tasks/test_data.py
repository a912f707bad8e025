"""Data files: what is shipped has its licence and source, and what is fetched has its address."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import re
import tomllib
from pathlib import Path

import pytest

from harness import tasks
from harness.errors import Unavailable
from harness.registry.discovery import files_of, find_file, load_file
from harness.registry.registry import Registry
from harness.study import study
from harness.task import data_files, yaml_files
from harness.task.schema import Table, TaskFile

FOLDER = Path(tasks.__file__).parent
TESTS = Path(__file__).parents[1] / "reference" / "data"
SHIPPED = sorted(FOLDER.glob("*/data/*.gz"))
ALL = [*SHIPPED, *sorted(TESTS.glob("*.gz"))]
LIMIT = 10_000_000  # bytes of all shipped data together
OPEN = {"MIT", "Apache-2.0", "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "ODbL-1.0"}
FETCHED = {  # tasks whose data may not be shipped
    *("sick-r", "sts-14", "sts-b", "retrieval-msmarco"),
    *(f"senteval-{name}" for name in ("cr", "mpqa", "mr", "mrpc", "sst", "subj", "trec")),
    *(f"senteval-{name}" for name in ("sick-e", "sick-r", "sst5", "sts-b")),
    "sentiment-classifier-nationality",  # they learn from MR
    "sentiment-classifier-religion",
    "sentiment-classifier-race-ethnicity",
    "sentiment-classifier-gender-and-sex",
    "sentiment-classifier-sexual-orientation",
}
PUBLISHED = "-published"
"""Suffix of the tasks, of SEAT and SentEval, whose texts may not be shipped either."""
OF_UNKNOWN_SIZE = ("x-weat-", "ca-weat-")
"""Beginnings of the tasks whose files may not be shipped, and are known by their SHA-256 alone."""
ARCHIVES = "https://www.cs.cmu.edu/~dbamman/data/"
"""Archives whose address is the authors'; the SHA-256 of what is taken from them is known."""
CUT = {"summeval.jsonl.gz", "snli_train.jsonl.gz", "snli_test.jsonl.gz", "tests.tsv.gz"}
CUT |= {"hiring.json.gz", "winobias.csv.gz", "winogender.csv.gz"}
"""Files of which parts are left out, or which join many; their README says which."""
ROW = re.compile(r"\| `(.+)` \| (.+) \| (.+) \| `([0-9a-f]{64})` \| (.+) \|")


def attribution(folder: Path) -> dict[str, tuple[str, str, str, str]]:
    """Return source, licence, SHA-256 and changes of each file that a README lists."""
    lines = (folder / "README.md").read_text("utf-8").splitlines()
    rows = [match.groups() for line in lines if (match := ROW.fullmatch(line))]
    return {name: tuple(rest) for name, *rest in rows}


def tables() -> list[tuple[str, Path, dict]]:
    """Return name, YAML file and content of each table of a task that is a file."""
    found = []
    for path in files_of(FOLDER, "task"):
        for task in yaml_files.documents(load_file(path)):
            for name, table in task.data.get("tables", {}).items():
                if {"file", "url", "local"} & set(table):
                    # the file that names it, perhaps one that other folders include
                    named_in = task.file_of(("tables", name, "file")).resolve()
                    found.append((f"{task.data['name']}:{name}", named_in, table))
    return found


TABLES = tables()
FROM_THE_WEB = [(name, table) for name, _, table in TABLES if "url" in table]


def test_shipped_data_is_small():
    assert SHIPPED
    assert sum(path.stat().st_size for path in FOLDER.glob("*/data/*")) < LIMIT


def test_a_shipped_file_has_its_source_licence_checksum_and_original():
    pinned = r"\(https://github\.com/[\w.-]+/[\w.-]+/tree/[0-9a-f]{40}\) `.+`"
    manifest = Path(os.environ.get("HARNESS_DATA", "")) / "MANIFEST.tsv"
    originals = {}
    if manifest.is_file():
        with manifest.open(encoding="utf-8") as lines:
            originals = {
                row["sha256"]: row["file"] for row in csv.DictReader(lines, delimiter="\t")
            }
    for path in ALL:
        source, licence, sha256, changes = attribution(path.parent)[path.name]
        assert re.search(pinned, source), path
        assert changes, path
        for name in licence.replace("the copy ", "").split("; "):
            identifier, text = re.fullmatch(r"(\S+), `(LICENSE\.\S+)`", name).groups()
            assert identifier in OPEN, path
            assert (path.parent / text).stat().st_size > 1000, path
        content = gzip.decompress(path.read_bytes())
        assert hashlib.sha256(content).hexdigest() == sha256, path
        if originals:
            assert (sha256 in originals) != (path.name in CUT), path
        if sha256 in originals:
            assert (manifest.parent / originals[sha256]).read_bytes() == content, path


TEXT_OF = {
    "MIT": r"Permission is hereby granted, free of charge",
    "Apache-2.0": r"Apache License\s+Version 2\.0",
    "CC0-1.0": r"CC0 1\.0 Universal",
    "CC-BY-4.0": r"Attribution 4\.0 International",
    "CC-BY-SA-4.0": r"Attribution-ShareAlike 4\.0 International",
}


def licences() -> list[tuple[str, Path]]:
    """Return identifier and text of each licence of shipped data, also of those of plugins."""
    root = Path(__file__).parents[2]
    return sorted(
        {
            (identifier, readme.parent / text)
            for readme in [*root.glob("tasks/*/data/README.md"), *root.glob("plugins/*/data/R*.md")]
            for identifier, text in re.findall(
                r"([\w.-]+), `(LICENSE\.[^`]+)`", readme.read_text("utf-8")
            )
        }
    )


def test_the_text_of_a_licence_is_that_of_its_identifier():
    wrong = [
        (identifier, text)
        for identifier, text in licences()
        if not re.search(TEXT_OF[identifier], text.read_text("utf-8"))
    ]
    assert not wrong


def test_the_package_states_the_licences_of_all_its_data():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    stated = set(project["project"]["license"].split(" AND "))
    assert stated == {"MIT"} | {identifier for identifier, _ in licences()}


CSV = sorted({(FOLDER / table["file"] if "package" in table else path.parent / table["file"])
              : Table.model_validate(table)
              for _, path, table in TABLES if ".csv" in table.get("file", "")}.items())  # fmt: skip


def test_every_shipped_csv_is_a_table_of_a_task():
    assert {path for path, _ in CSV} == set(FOLDER.rglob("*.csv*"))


def test_a_shipped_csv_is_read_as_the_csv_module_reads_it():
    for path, table in CSV:
        with gzip.open(path, "rt", encoding=table.encoding, newline="") as file:
            assert list(data_files.parse_table(table, path)) == list(csv.DictReader(file)), path


def test_a_folder_of_data_has_no_file_without_attribution_and_no_unused_licence():
    for folder in {path.parent for path in ALL}:
        rows = attribution(folder)
        assert set(rows) == {path.name for path in folder.glob("*.gz")}, folder
        named = {text for row in rows.values() for text in re.findall(r"LICENSE\.[^`]+", row[1])}
        assert {path.name for path in folder.iterdir()} == {"README.md", *rows, *named}, folder


def test_every_shipped_file_is_read_by_a_task_with_its_checksum():
    read = {}
    for _, path, table in TABLES:
        file = table.get("file", "")
        if file.endswith(".gz"):
            base = FOLDER if table.get("package") == "harness.tasks" else path.parent
            read[base / file] = table["sha256"]
    assert read == {path: attribution(path.parent)[path.name][2] for path in SHIPPED}


def test_a_file_that_is_fetched_has_a_pinned_address_its_size_and_its_terms():
    raw = r"https://raw\.githubusercontent\.com/[\w.-]+/[\w.-]+/[0-9a-f]{40}/"
    checked, contents = set(), {}
    for name, table in FROM_THE_WEB:
        assert contents.setdefault(table["local"], table["sha256"]) == table["sha256"], name
        if not table["url"].startswith(ARCHIVES):
            assert re.match(raw, table["url"]), name
            assert name.startswith(OF_UNKNOWN_SIZE) or table["size"] > 0, name
        assert len(table["sha256"]) == 64, name
        assert 5 < len(table["terms"]) < 120, name
        copy = Path(os.environ.get("HARNESS_DATA", "")) / table["local"]
        if copy.is_file() and copy not in checked:
            checked.add(copy)
            assert copy.stat().st_size == table.get("size", copy.stat().st_size), name
            assert hashlib.sha256(copy.read_bytes()).hexdigest() == table["sha256"], name


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """Return a registry on a machine without a network, a cache and a folder of data."""
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    return Registry()


def test_without_a_network_only_tasks_whose_data_may_not_be_shipped_are_missing(offline):
    missing = set()
    for name, document in offline.task_files.items():
        try:
            offline.data.provide(document.validate(TaskFile).tables, document)
        except Unavailable:
            missing.add(name)
    published = {
        name
        for name in offline.task_files
        if name.endswith(PUBLISHED) or name.startswith(OF_UNKNOWN_SIZE)
    }
    assert missing == FETCHED | published | {"name-perturbations-books-corpus"}
    assert len(offline.task_files) - len(published) - len(FETCHED) >= 81


def test_without_a_network_all_studies_have_their_data(offline):
    names = [path.stem for path in files_of(FOLDER, "study")]
    assert len(names) >= 5
    for name in names:
        assert study.resolve(find_file(offline.study_files, name), offline).measures, name
