"""The folders of stores in a place: on a file system, or in a bucket."""

from __future__ import annotations

from harness.bucket import Bucket
from harness.folders import Place, Url
from harness.store.bucket_folder import BucketFolder
from harness.store.folder import Folder


def folder_of(place: Place, name: str) -> Folder:
    """Return the folder of the store of this name in `place`."""
    return BucketFolder(place / name) if isinstance(place, Url) else Folder(place / name)


def folders_in(place: Place) -> list[Folder]:
    """Return the folders of stores in `place`, sorted; none if it does not exist."""
    if isinstance(place, Url):
        return [BucketFolder(place / name) for name in Bucket(place).folders()]
    paths = sorted(place.iterdir()) if place.is_dir() else []
    return [Folder(path) for path in paths if path.is_dir()]
