"""Checks weight files and reads the shapes in their headers; reads no weights."""

from __future__ import annotations

import json
import math
import mmap
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PureWindowsPath
from typing import Any, Literal, TypeAlias

from harness import folders, limits
from harness.errors import InvalidFile, ModelError
from harness.printing import printable
from harness.task.data_files import without_repeated_keys

Backend: TypeAlias = Literal["torch", "onnx", "openvino"]
"""What runs a transformer: torch, or the runtime of the format it was exported to."""
BackendChoice: TypeAlias = Literal["torch", "onnx", "openvino", "auto"]
"""A backend, or the fastest that gives the vectors of torch up to rounding."""
EXPORTED = {
    "onnx": re.compile(r"(onnx/)?model\.onnx(_data|\.data)?"),
    "openvino": re.compile(r"(openvino/)?openvino_model\.(xml|bin)"),
}
"""File names of exported weights by backend, as export tools choose them."""
_LFS_POINTER = b"version https://git-lfs"


def check(file: Path, name: str) -> None:
    """Raise ModelError if a file of the model `name` is a Git LFS pointer or is damaged."""
    check_pointer(file, name)
    if file.suffix == ".bin":
        _check_pickle(file, name)
    if file.suffix != ".safetensors":
        return
    try:
        _, expected = _header(file)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"'{name}': {file.name} is damaged ({_reason(error)})") from None
    if file.stat().st_size != expected:
        raise ModelError(
            f"'{name}': {file.name} is damaged: {file.stat().st_size} bytes, expected {expected}"
        )


def check_pointer(file: Path, name: str) -> None:
    """Raise ModelError if a file of the model `name` is a Git LFS pointer."""
    with file.open("rb") as opened:
        if opened.read(len(_LFS_POINTER)) == _LFS_POINTER:
            raise ModelError(
                f"'{name}': {file.name} is a Git LFS pointer; run 'git lfs pull' in its folder"
            )


def _check_pickle(file: Path, name: str) -> None:
    """Raise ModelError if a file is not one that torch wrote, or ends early."""
    with file.open("rb") as opened:
        begin = opened.read(2)
    if begin == b"PK" and not zipfile.is_zipfile(file):
        raise ModelError(f"'{name}': {file.name} is damaged: it ends early")
    is_openvino = file.with_suffix(".xml").is_file()
    if begin[:1] != b"\x80" and begin != b"PK" and not is_openvino:
        raise ModelError(f"'{name}': {file.name} is damaged: it is no file of torch's weights")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "its header is nested too deeply"
    return f"its header lacks {error}" if isinstance(error, KeyError) else str(error)


def n_pickled(file: Path) -> int:
    """Return the number of arrays in a file that torch wrote; 0 if it is in torch's old format."""
    try:
        with zipfile.ZipFile(file) as archive:
            return sum("/data/" in entry for entry in archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return 0


def shapes(file: Path) -> list[list[int]]:
    """Return the shapes of the weights in a safetensors file, without integer tensors."""
    header, _ = _header(file)
    return [tensor["shape"] for tensor in header.values() if tensor["dtype"] not in ("I64", "I32")]


def exported(folder: Path, backend: Backend, name: str) -> list[Path]:
    """Return the files of a transformer's exported weights; the runtime opens the first.

    Raises
    ------
    ModelError
        If the model `name` has no such weights, or some of them are in a file that is missing or
        outside the folder.
    """
    main_file = {"onnx": "model.onnx", "openvino": "openvino_model.xml"}[backend]
    for place in (folder / backend, folder):
        if (place / main_file).is_file():
            others = {
                file
                for file in place.iterdir()
                if file.name != main_file and EXPORTED[backend].fullmatch(file.name)
            }
            weights = place / "openvino_model.bin"
            if backend == "openvino" and not weights.is_file():
                raise ModelError(
                    f"'{name}': {main_file} is there, but its weights, {weights.name}, are missing"
                )
            if backend == "onnx":
                others.update(_external(place / main_file, name))
            return [place / main_file, *sorted(others)]
    raise ModelError(
        f"'{name}' has no weights for backend={backend}: {backend}/{main_file} is missing; use "
        "backend=torch, or export the model"
    )


def _external(file: Path, name: str) -> list[Path]:
    """Return the files in which a graph of ONNX keeps weights, besides its own.

    Of a graph that cannot be read these may be all files beside it. The runtime refuses it.
    """
    try:
        with (
            file.open("rb") as opened,
            mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            named = set(_locations(content, 0, len(content), "model"))
    except (OSError, ValueError, IndexError, RecursionError):
        return [other for other in file.parent.iterdir() if other.is_file() and other != file]
    for path in sorted(named):
        if not is_inside(path):
            raise ModelError(
                f"'{name}': {file.name} names the weights '{path}', outside its folder; copy them "
                "into it"
            )
        if not (file.parent / path).is_file():
            raise ModelError(f"'{name}': {file.name} names the weights '{path}', which is missing")
    return [file.parent / path for path in named]


_ONNX_PARTS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "external"},
    "external": {},
}
"""The messages in which tensors are, by the number of their field; see onnx.proto of ONNX."""


def _locations(content: mmap.mmap, start: int, end: int, kind: str) -> Iterator[str]:
    """Yield the paths in which the tensors of a message of ONNX have their values."""
    entry: dict[int, bytes] = {}
    while start < end:
        tag, start = _varint(content, start)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            _, start = _varint(content, start)
        elif wire in (1, 5):
            start += 8 if wire == 1 else 4
        elif wire == 2:
            length, start = _varint(content, start)
            if length > end - start:
                raise ValueError("it ends early")
            part = _ONNX_PARTS[kind].get(number)
            if part is not None:
                yield from _locations(content, start, start + length, part)
            elif kind == "external":
                entry[number] = content[start : start + length]
            start += length
        else:
            raise ValueError("not a graph of ONNX")
    if entry.get(1) == b"location":
        yield entry.get(2, b"").decode()


def _varint(content: mmap.mmap, at: int) -> tuple[int, int]:
    """Return a number of variable length, and the place behind it."""
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("not a graph of ONNX")


def is_inside(path: str) -> bool:
    """Return whether a relative path stays below its folder, by both kinds of slashes."""
    as_windows = PureWindowsPath(path)
    return not (as_windows.anchor or ".." in as_windows.parts or "\0" in path)


def named_shapes(file: Path) -> dict[str, list[int]]:
    """Return the shape of each weight in a safetensors file by its name."""
    header, _ = _header(file)
    return {name: list(tensor["shape"]) for name, tensor in header.items()}


def _header(file: Path) -> tuple[dict[str, Any], int]:
    """Return the header of a safetensors file, and the expected size of the file in bytes."""
    with file.open("rb") as opened:
        start = opened.read(8)
        if len(start) < 8:
            raise ValueError("it is empty" if not start else "it ends early")
        length = int.from_bytes(start, "little")
        if length > 100_000_000:  # the format's own limit
            raise ValueError("header too long")
        header = json.loads(opened.read(length), object_pairs_hook=without_repeated_keys)
    if not isinstance(header, dict):
        raise TypeError("its header is no object")
    header.pop("__metadata__", None)
    end = 0
    for start_, end_, tensor in sorted(
        (*tensor["data_offsets"], name) for name, tensor in header.items()
    ):
        if start_ != end:
            raise ValueError(f"the bytes of '{tensor}' do not follow those before")
        n_bytes = math.prod(header[tensor]["shape"]) * _bits(header[tensor]["dtype"]) // 8
        if end_ - start_ != n_bytes:
            raise ValueError(f"'{tensor}' has {end_ - start_} bytes; its shape takes {n_bytes}")
        end = end_
    return header, 8 + length + end


def _bits(dtype: str) -> int:
    """Return the size of a number of a type of safetensors, such as `BF16` or `F8_E4M3`."""
    if dtype in ("BOOL", "C64"):
        return 8 if dtype == "BOOL" else 64
    found = re.match(r"[A-Z]+(\d+)", dtype)
    if found is None:
        raise ValueError(f"unknown type '{dtype}'")
    return int(found[1])


# Reads configuration files of models: JSON of a sane size, which anybody may have written.


_LONGEST_VALUE = 60


def read_config(path: Path, name: str, place: str = "") -> Any:
    """Return the content of a JSON file.

    Parameters
    ----------
    path
        The file.
    name
        What errors call the model.
    place
        What errors call the file; its name by default.

    Raises
    ------
    ModelError
        If it is missing, no regular file, too large, no JSON, or nested too deeply.
    """
    place = place or path.name
    try:
        return json.loads(folders.read_bytes(path, limits.MODEL_CONFIG_BYTES).decode("utf-8"))
    except InvalidFile as error:
        raise ModelError(f"'{name}': {place} {_predicate(error.problem)}") from None
    except RecursionError:
        raise ModelError(f"'{name}': {place} is nested too deeply") from None
    except ValueError as error:
        raise ModelError(f"'{name}': {place} cannot be read ({error})") from None


def read_object(path: Path, name: str, place: str = "") -> dict[str, Any]:
    """Return the object in a JSON file; see `read`."""
    content = read_config(path, name, place)
    if not isinstance(content, dict):
        found = _described(content)
        raise ModelError(f"'{name}': {place or path.name} is {found}; expected a JSON object")
    return content


def expect(valid: bool, expected: str, *, name: str, file: str, key: str, value: object) -> None:
    """Raise ModelError that names the model, file, key, value and what is expected."""
    if not valid:
        raise ModelError(f"'{name}': {file}: {key} is {_described(value)}; expected {expected}")


def is_count(value: object, *, at_least: int = 1) -> bool:
    """Return whether a value is a whole number that is not too small."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= at_least


def is_texts(value: object) -> bool:
    """Return whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _described(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = printable(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _predicate(problem: str) -> str:
    """Return what is wrong with a file as the end of a sentence that begins with the file."""
    if problem == "no such file or folder":
        return "is missing"
    return f"is {problem}" if problem.startswith("a file of") else problem
