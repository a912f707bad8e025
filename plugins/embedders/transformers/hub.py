"""A model of the Hugging Face hub as a local folder: the cached copy, else a download.

A copy in the hub's own cache is used without a request, so that a repeated run uses the same
weights and works offline; set `revision` to use others. Weights in formats that are not read
(TensorFlow, Flax …) are not downloaded, nor are pickled weights where there are safetensors. ONNX
and OpenVINO weights are downloaded only for these backends.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path, PurePosixPath

from harness.errors import InvalidFile, InvalidOption, Unavailable, unreadable
from harness.plugins.embedders.weight_files import EXPORTED, Backend

_OTHER_FORMATS = re.compile(
    r"\.(h5|msgpack|ot|onnx|onnx_data|gguf|tflite|mlmodel|mlpackage|pdf|png|jpe?g|gif|svg|zip)$"
    r"|^(onnx|openvino|original|coreml|gguf|\.github)/|^consolidated",
    re.IGNORECASE,
)


def folder(
    reference: str,
    revision: str | None = None,
    *,
    owner: str | None = None,
    backend: Backend = "torch",
) -> tuple[Path, str | None]:
    """Return the folder of a model, and its commit if it comes from the hub.

    Parameters
    ----------
    reference
        A folder, or `owner/name` on the hub.
    revision
        Branch, tag or commit on the hub.
    owner
        Owner of a model that is named without one; None if names must have an owner.
    backend
        What runs the model; weights exported for it are downloaded too.

    Raises
    ------
    InvalidOption
        If a revision is set for a folder.
    InvalidFile
        If the reference is a file, or a folder that does not exist.
    Unavailable
        If the hub has no such model, or it cannot be downloaded.
    """
    path = Path(reference).expanduser()
    if path.is_dir():
        if revision is not None:
            raise InvalidOption(
                f"revision={revision}: '{reference}' is a folder and has no revisions"
            )
        return path.resolve(), None
    if path.is_file():
        raise InvalidFile("is a file; expected the folder of a model", path=reference)
    bare = "/" not in reference
    if reference.startswith((".", "/", "~")) or reference.count("/") > 1 or (bare and not owner):
        raise unreadable(reference)
    path = snapshot(f"{owner}/{reference}" if bare else reference, revision, backend)
    return path, path.name


def snapshot(model: str, revision: str | None = None, backend: Backend = "torch") -> Path:
    """Return the folder of a hub model; the folder's name is the commit.

    Parameters
    ----------
    model
        `owner/name`.
    revision
        Branch, tag or commit; None for the cached copy, else the main branch.
    backend
        See `folder`.

    Raises
    ------
    Unavailable
        If the hub has no such model or revision, or it is not cached and cannot be downloaded.
    """
    from huggingface_hub import errors

    try:
        return _cached(model, revision, backend) or _downloaded(model, revision, backend)
    except errors.HFValidationError:
        raise Unavailable(
            f"'{model}' is neither a folder nor a model id such as owner/name"
        ) from None


def needed(files: list[str], backend: Backend = "torch") -> list[str]:
    """Return those of a repository's files that are read when the model is loaded."""
    exported = EXPORTED.get(backend)
    kept = [
        file
        for file in files
        if not _OTHER_FORMATS.search(file) or (exported and exported.fullmatch(file))
    ]
    safe = {
        str(PurePosixPath(file).parent)
        for file in kept
        if PurePosixPath(file).suffix == ".safetensors"
    }
    return [
        file
        for file in kept
        if not (
            str(PurePosixPath(file).parent) in safe
            and not (exported and exported.fullmatch(file))
            and re.fullmatch(r".*\.(bin|pt|pth)", PurePosixPath(file).name)
        )
    ]


def _cached(model: str, revision: str | None, backend: Backend) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    modules = try_to_load_from_cache(model, "modules.json", revision=revision)
    config = try_to_load_from_cache(model, "config.json", revision=revision)
    if modules is None:
        # Another program may have fetched only a part of the model. Without this file the model
        # would be read as a plain transformer and pooled in another way than its own.
        return None
    file_in_cache = modules if isinstance(modules, str) else config
    folder = Path(file_in_cache).parent if isinstance(file_in_cache, str) else None
    if folder is None:
        return None
    exported = EXPORTED.get(backend)
    for file in folder.rglob("*"):
        name = file.relative_to(folder).as_posix()
        if exported.fullmatch(name) if exported else file.suffix in (".safetensors", ".bin"):
            return folder
    return None


def _downloaded(model: str, revision: str | None, backend: Backend) -> Path:
    from huggingface_hub import HfApi, errors, hf_hub_download, snapshot_download

    try:
        info = HfApi().model_info(model, revision=revision, timeout=10)
        files = needed([file.rfilename for file in info.siblings or ()], backend)
        folder = Path(snapshot_download(model, revision=revision, allow_patterns=files))
        if "modules.json" not in files:
            with contextlib.suppress(errors.EntryNotFoundError):
                # This notes in the cache that the model has no such file: see _cached.
                hf_hub_download(model, "modules.json", revision=folder.name)
        return folder
    except errors.GatedRepoError:
        raise Unavailable(
            f"'{model}' requires that you accept its terms: accept them on "
            f"https://huggingface.co/{model}, then run 'hf auth login'"
        ) from None
    except errors.RevisionNotFoundError:
        raise Unavailable(f"'{model}' has no revision '{revision}' on the hub") from None
    except errors.RepositoryNotFoundError:
        raise Unavailable(f"'{model}' is neither a folder nor a public model on the hub") from None
    except Exception as error:  # httpx's, requests' or urllib3's, depending on the version
        raise Unavailable(
            f"'{model}' is not in the local cache and cannot be downloaded "
            f"({_first_line(error)}); connect once, or give the folder of a copy"
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
