"""A model of the Hugging Face hub as a local folder: the cached copy, else a download.

A copy in the hub's own cache is used without a request, so that a repeated run uses the same
weights and works offline; set `revision` to use others. Weights in formats that are not read
(TensorFlow, Flax …) are not downloaded, nor are pickled weights where there are safetensors. ONNX
and OpenVINO weights are downloaded only for these backends.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from harness import folders
from harness.errors import InvalidFile, InvalidOption, Unavailable, unreadable

from ..weight_files import EXPORTED, Backend
from .model_folder import is_model

_OTHER_FORMATS = re.compile(
    r"\.(h5|msgpack|ot|onnx|onnx_data|gguf|tflite|mlmodel|mlpackage|pdf|png|jpe?g|gif|svg|zip)$"
    r"|^(onnx|openvino|original|coreml|gguf|\.github)/|^consolidated",
    re.IGNORECASE,
)


OWNER = "sentence-transformers"
"""Owner of the models that the library sentence-transformers finds without an owner."""


class _NotOnHub(Unavailable):
    """The hub has no model of an id."""


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
        A folder, or an id on the hub: `owner/name`, or `name` as in `gpt2`.
    revision
        Branch, tag or commit on the hub.
    owner
        Owner that is tried first for a model that is named without one.
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
    path = folders.typed(reference)
    if folders.is_folder(path):
        if revision is not None:
            raise InvalidOption(
                f"revision={revision}: '{reference}' is a folder and has no revisions"
            )
        return path.resolve(), None
    if folders.is_file(path):
        raise InvalidFile("is a file; expected the folder of a model", path=reference)
    if reference.startswith((".", "/", "~")) or reference.count("/") > 1:
        raise unreadable(reference)
    if not _is_id(reference):
        raise Unavailable(f"'{reference}' is neither a folder nor a model id such as owner/name")
    path = snapshot(_ids(reference, owner), revision, backend)
    return path, path.name


def recognises(reference: str) -> bool:
    """Return whether a text names a model: a folder of one, or an id on the hub.

    An id with an owner is not looked up. One without, such as `gpt2`, is asked for, because it may
    be a misspelt name of another model.

    Raises
    ------
    Unavailable
        If the hub has no model of this name, or cannot be asked.
    """
    path = folders.typed(reference)
    if folders.exists(path):
        return path.is_dir() and is_model(path)
    if not _is_id(reference):
        return False
    return "/" in reference or _is_known(_ids(reference, OWNER))


def snapshot(
    models: Sequence[str], revision: str | None = None, backend: Backend = "torch"
) -> Path:
    """Return the folder of a hub model; the folder's name is the commit.

    Parameters
    ----------
    models
        Ids of the model, in the order in which they are tried.
    revision
        Branch, tag or commit; None for the cached copy, else the main branch.
    backend
        See `folder`.

    Raises
    ------
    Unavailable
        If the hub has no such model or revision, or it is not cached and cannot be downloaded.
    """
    for model in models:
        if cached := _cached(model, revision, backend):
            return cached
    problem = ""
    for model in models:
        try:
            return _downloaded(model, revision, backend)
        except _NotOnHub as error:
            problem = str(error)
    raise Unavailable(problem)


def code(repository: str) -> dict[str, Path]:
    """Return the Python files of a repository by a name for each: what transformers would run.

    Raises
    ------
    Unavailable
        If they are neither cached nor can be downloaded.
    """
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(repository, allow_patterns=["*.py"]))
    except Exception as error:  # httpx's, requests' or urllib3's, depending on the version
        raise Unavailable(
            f"the code of '{repository}' is not in the local cache and cannot be downloaded "
            f"({_first_line(error)})"
        ) from None
    return {
        f"{repository}--{file.relative_to(folder).as_posix()}": file
        for file in sorted(folder.rglob("*.py"))
    }


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
    if modules is None and "/" in model:
        # Another program may have fetched only a part of the model. Without this file the model
        # would be read as a plain transformer and pooled in another way than its own. (A model
        # without an owner is older than such files.)
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
        raise _NotOnHub(f"'{model}' is neither a folder nor a public model on the hub") from None
    except Exception as error:  # httpx's, requests' or urllib3's, depending on the version
        raise Unavailable(
            f"'{model}' is not in the local cache and cannot be downloaded "
            f"({_first_line(error)}); connect once, or give the folder of a copy"
        ) from None


def _is_known(models: Sequence[str]) -> bool:
    """Return whether the cache or the hub has a model under one of its ids."""
    from huggingface_hub import HfApi, errors, try_to_load_from_cache

    if any(isinstance(try_to_load_from_cache(model, "config.json"), str) for model in models):
        return True
    for model in models:
        with contextlib.suppress(errors.RepositoryNotFoundError):
            try:
                HfApi().model_info(model, timeout=10)
            except errors.GatedRepoError:
                return True
            except errors.RepositoryNotFoundError:
                raise
            except Exception as error:  # as in _downloaded
                raise Unavailable(f"the hub cannot be asked: {_first_line(error)}") from None
            return True
    raise Unavailable("and no such model on the hub")


def _ids(reference: str, owner: str | None) -> list[str]:
    """Return the ids on the hub that a reference may stand for."""
    return [reference] if "/" in reference or not owner else [f"{owner}/{reference}", reference]


def _is_id(reference: str) -> bool:
    from huggingface_hub import errors, try_to_load_from_cache

    try:
        try_to_load_from_cache(reference, "config.json")
    except errors.HFValidationError:
        return False
    return True


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
