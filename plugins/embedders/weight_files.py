"""Checks weight files and reads the shapes in their headers; reads no weights."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal, TypeAlias

from harness.errors import ModelError

Backend: TypeAlias = Literal["torch", "onnx", "openvino"]
"""What runs a transformer: torch, or the runtime of the format it was exported to."""
EXPORTED = {
    "onnx": re.compile(r"(onnx/)?model\.onnx(_data|\.data)?"),
    "openvino": re.compile(r"(openvino/)?openvino_model\.(xml|bin)"),
}
"""File names of exported weights by backend, as export tools choose them."""
_LFS_POINTER = b"version https://git-lfs"


def check(file: Path, name: str) -> None:
    """Raise ModelError if a file of the model `name` is a Git LFS pointer or is damaged."""
    with file.open("rb") as opened:
        if opened.read(len(_LFS_POINTER)) == _LFS_POINTER:
            raise ModelError(
                f"'{name}': {file.name} is a Git LFS pointer; run 'git lfs pull' in its folder"
            )
    if file.suffix != ".safetensors":
        return
    try:
        _, expected = _header(file)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"'{name}': {file.name} is damaged ({error})") from None
    if file.stat().st_size != expected:
        raise ModelError(
            f"'{name}': {file.name} is damaged: {file.stat().st_size} bytes, expected {expected}"
        )


def shapes(file: Path) -> list[list[int]]:
    """Return the shapes of the weights in a safetensors file, without integer tensors."""
    header, _ = _header(file)
    return [tensor["shape"] for tensor in header.values() if tensor["dtype"] not in ("I64", "I32")]


def exported(folder: Path, backend: Backend, name: str) -> list[Path]:
    """Return the files of a transformer's exported weights; the runtime opens the first.

    Raises
    ------
    ModelError
        If the model `name` has no such weights.
    """
    main_file = {"onnx": "model.onnx", "openvino": "openvino_model.xml"}[backend]
    for place in (folder / backend, folder):
        if (place / main_file).is_file():
            others = sorted(
                file
                for file in place.iterdir()
                if file.name != main_file and EXPORTED[backend].fullmatch(file.name)
            )
            return [place / main_file, *others]
    raise ModelError(
        f"'{name}' has no weights for backend={backend}: {backend}/{main_file} is missing; use "
        "backend=torch, or export the model"
    )


def named_shapes(file: Path) -> dict[str, list[int]]:
    """Return the shape of each weight in a safetensors file by its name."""
    header, _ = _header(file)
    return {name: list(tensor["shape"]) for name, tensor in header.items()}


def _header(file: Path) -> tuple[dict[str, Any], int]:
    """Return the header of a safetensors file, and the expected size of the file in bytes."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if length > 100_000_000:  # the format's own limit
            raise ValueError("header too long")
        header = json.loads(opened.read(length))
    header.pop("__metadata__", None)
    ends = [tensor["data_offsets"][1] for tensor in header.values()]
    return header, 8 + length + max(ends, default=0)
