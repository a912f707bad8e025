"""The schema of a table: its rows, or the file that has them and how to read it.

`data_files.py` finds the file, and fetches it if it has an address. `table_files.py` parses it.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Self
from urllib.parse import unquote, urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    field_validator,
    model_validator,
)

from harness import limits
from harness.folders import safe_name

Cell = StrictStr | StrictInt | StrictFloat
"""Strict: YAML reads an unquoted `no` as a boolean, which must not become the text `0`."""
Sha256 = Annotated[str, StringConstraints(to_lower=True, pattern=r"^[0-9a-fA-F]{64}$")]
"""Checked strictly, since it names a folder in the cache."""

_NO_ENCODINGS = ("idna", "punycode", "undefined")
"""Of names of hosts; they take hours for a long text."""
_NAME, _STEP = r"\w[\w.-]*", r"/(?!\.\.?(/|$))[^/]+"
_URL = re.compile(rf"https://[^/\s]\S*|hf://datasets/{_NAME}/{_NAME}(@{_NAME})?({_STEP})+")


class Strict(BaseModel):
    """Base of the schema: no unknown keys, and immutable after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Table(Strict):
    """Rows with named columns: written here, read from a file, or made from another table."""

    made_from: str | None = None
    """Another table of the task, from which `made_by` makes this one."""
    made_by: str | None = None
    """Name of a table maker that a plugin registers."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the table maker."""
    columns: tuple[str, ...] = ()
    """Column names; for a file, only if it has no header line. A `.jsonl` file with columns is
    read as a text table."""
    rows: tuple[tuple[Cell, ...], ...] | None = None
    """The rows."""
    file: str | None = None
    """A file beside the YAML file that says so, or in a folder below it; with `package`, inside
    that package. A file `NAME.gz` is decompressed and read like NAME."""
    package: str | None = None
    """An installed package that contains `file`."""
    url: str | None = None
    """`https://…`, or `hf://datasets/owner/name@revision/path`. A file that ends in `.gz` is
    decompressed when it is fetched."""
    member: str | None = None
    """Path of the file inside the zip or tar archive at `url`."""
    size: int | None = Field(default=None, ge=1)
    """Bytes at `url`; a longer answer is refused. Without it the limit is 200 MB."""
    terms: str = ""
    """One line that names the licence or terms of use of the file."""
    local: str | None = None
    """Path of a copy under HARNESS_DATA, which is preferred to a download. A download is kept
    under this path in the cache."""
    sha256: Sha256 | None = None
    """SHA-256 of the file that is read, after decompression; required for a download."""
    optional: tuple[str, ...] = ()
    """Further columns of a text table, after the others, whose cells a row may lack. A row with
    more or fewer cells than it has columns is a mistake."""
    delimiter: str | None = None
    """Delimiter of a text table: by default a tab, or a comma for `.csv`; `.jsonl` needs none. If
    there are several characters, each of them separates cells."""
    quoted: bool | None = None
    """Whether double quotes enclose cells: by default yes for `.csv`, as RFC 4180 says, and no for
    others, whose quotes are text. A cell in quotes may hold delimiters and line breaks."""
    comment: str | None = None
    """Lines that begin with this are skipped, but for those inside a cell in quotes."""
    section: str | None = None
    """A further column. A line `: NAME` sets its cell to NAME in the rows below that line."""
    encoding: str = "utf-8"
    """Encoding of the file. A byte order mark is no part of the first column's name."""

    @property
    def place(self) -> str | None:
        """Path of a copy under HARNESS_DATA and in the cache: `local`, or a safe one of its own."""
        if self.local or not self.url:
            return self.local
        name = PurePosixPath(self.member or unquote(urlsplit(self.url).path)).name
        return f"{(self.sha256 or '')[:16]}/{safe_name(name.removesuffix('.gz'))}"

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        if url is None:
            return None
        try:
            is_valid = bool(_URL.fullmatch(url)) and urlsplit(url).port != 0  # may raise
        except ValueError:
            is_valid = False
        if not is_valid:
            forms = "'https://…' or 'hf://datasets/owner/name@revision/path'"
            raise ValueError(f"invalid url '{url}'; expected {forms}")
        return url

    @field_validator("file", "local")
    @classmethod
    def _stays_inside(cls, path: str | None) -> str | None:
        if path is None:
            return None
        parts = PurePosixPath(path).parts
        if not parts or parts[0] == "/" or ".." in parts or re.search(r"[\\:\0-\x1f\x7f]", path):
            raise ValueError(
                f"invalid path '{path}'; expected a path inside the folder, without .."
            )
        longest = max(len(os.fsencode(part)) for part in parts)
        if longest > limits.FILE_NAME_BYTES:
            raise ValueError(f"a name of {limits.too_many(longest, limits.FILE_NAME_BYTES)}")
        return path

    @field_validator("encoding")
    @classmethod
    def _is_an_encoding(cls, encoding: str) -> str:
        try:
            is_known = codecs.lookup(encoding).name not in _NO_ENCODINGS
        except (LookupError, ValueError):
            is_known = False
        if not is_known:
            raise ValueError(f"unknown encoding '{encoding}'; expected one such as 'utf-8'")
        return encoding

    @field_validator("delimiter")
    @classmethod
    def _is_inside_a_line(cls, delimiter: str | None) -> str | None:
        if delimiter is not None and not {"\r", "\n"}.isdisjoint(delimiter):
            raise ValueError("a line break cannot be a delimiter: it ends the row")
        return delimiter

    @field_validator("package")
    @classmethod
    def _is_a_package(cls, package: str | None) -> str | None:
        if package is not None and not all(map(str.isidentifier, package.split("."))):
            raise ValueError(
                f"invalid package '{package}'; expected a name such as 'some_data.sets'"
            )
        return package

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if self.package and not self.file:
            raise ValueError("'package' requires 'file', a file in the package")
        in_file = not (self.file is None and self.url is None and self.local is None)
        if [self.rows is not None, in_file, self.made_from is not None].count(True) != 1:
            raise ValueError(
                "expected either 'rows', or one of 'file', 'url' and 'local', or 'made_from'"
            )
        if self.file and self.url:
            raise ValueError("'file' takes no 'url': it is there already")
        if (self.made_from is None) != (self.made_by is None) or (
            self.options and not self.made_by
        ):
            raise ValueError("'made_from' and 'made_by' need each other; 'options' needs both")
        if self.url and not self.sha256:
            raise ValueError("'url' requires 'sha256', the checksum of the file")
        if self.url and self.local and self.local.endswith(".gz"):
            raise ValueError("'local' of a 'url' is kept decompressed: leave '.gz' out of it")
        if not self.url and (self.member or self.size):
            raise ValueError("'member' and 'size' require 'url'")
        columns = [*self.columns, *self.optional, *filter(None, [self.section])]
        repeated = [name for i, name in enumerate(columns) if name in columns[:i]]
        if repeated:
            raise ValueError(f"two columns have the name '{repeated[0]}'")
        for row in self.rows or ():
            if len(row) != len(self.columns):
                raise ValueError(
                    f"the row {list(row)} has {len(row)} cells for {len(self.columns)} columns"
                )
        return self
