"""A model of the Hugging Face hub as a local folder: the cached copy, else a download.

A copy in the hub's own cache is used without asking the network, so that a run repeats with the
same weights and works offline; name a `revision` to have another. Weights in formats that are not
read (TensorFlow, Flax …), and pickled ones beside safetensors, are not downloaded; ONNX and
OpenVINO only where they are asked for.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path, PurePosixPath

from harness.errors import InvalidOption, ModelError, Unavailable
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
    """Return the folder of a model that a user names, and its commit if it is of the hub.

    Parameters
    ----------
    reference
        A folder, or `owner/name` on the hub.
    revision
        Branch, tag or commit on the hub.
    owner
        Whose model a bare name is; None if there are no bare names.
    backend
        What is to run it: weights that were exported for it are had too.

    Raises
    ------
    InvalidOption
        If a folder is asked for a revision.
    ModelError
        If it is a file, or a folder that is not there.
    Unavailable
        If a model of the hub is not there or cannot be downloaded.
    """
    path = Path(reference).expanduser()
    if path.is_dir():
        if revision is not None:
            raise InvalidOption(f"'{reference}' is a folder, and folders have no revision")
        return path.resolve(), None
    if path.is_file():
        raise ModelError(f"'{reference}' is a file; name the folder of the model")
    bare = "/" not in reference
    if reference.startswith((".", "/", "~")) or reference.count("/") > 1 or (bare and not owner):
        raise ModelError(f"there is no folder '{reference}'")
    found = snapshot(f"{owner}/{reference}" if bare else reference, revision, backend)
    return found, found.name


def snapshot(model: str, revision: str | None = None, backend: Backend = "torch") -> Path:
    """Return the folder of a model, whose name is the commit.

    Parameters
    ----------
    model
        `owner/name`.
    revision
        Branch, tag or commit; None for the main branch.
    backend
        See `folder`.

    Raises
    ------
    Unavailable
        If there is no such model or revision, or it is not here and cannot be downloaded.
    """
    from huggingface_hub import errors

    try:
        return _cached(model, revision, backend) or _downloaded(model, revision, backend)
    except errors.HFValidationError:
        raise Unavailable(f"'{model}' is neither a folder nor a model id, owner/name") from None


def needed(files: list[str], backend: Backend = "torch") -> list[str]:
    """Return the files of a repository that loading it reads."""
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
        # Something else may have fetched a part of the model; without this file it would be
        # read as a plain transformer, with another pooling than its own.
        return None
    found = modules if isinstance(modules, str) else config
    folder = Path(found).parent if isinstance(found, str) else None
    if folder is None:
        return None
    exported = EXPORTED.get(backend)
    for file in folder.rglob("*"):
        inside = file.relative_to(folder).as_posix()
        if exported.fullmatch(inside) if exported else file.suffix in (".safetensors", ".bin"):
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
                # It leaves a note in the cache that there is none: see _cached.
                hf_hub_download(model, "modules.json", revision=folder.name)
        return folder
    except errors.GatedRepoError:
        raise Unavailable(
            f"'{model}' is given only to those who accept its terms: do so on "
            f"https://huggingface.co/{model}, then run 'hf auth login'"
        ) from None
    except errors.RevisionNotFoundError:
        raise Unavailable(f"'{model}' has no revision '{revision}' on the hub") from None
    except errors.RepositoryNotFoundError:
        raise Unavailable(
            f"there is no folder '{model}', and no public model of that name on the hub"
        ) from None
    except Exception as error:  # httpx's, requests' or urllib3's, depending on the version
        raise Unavailable(
            f"'{model}' is not in the local cache and cannot be downloaded "
            f"({_first_line(error)}); connect once, or name a folder that holds it"
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
