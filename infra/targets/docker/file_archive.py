# SPDX-License-Identifier: Apache-2.0
"""Archive of files, as Docker's API receives them."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import PurePosixPath

from infra.targets.container_paths import USER


def file_archive(files: Mapping[str, bytes]) -> bytes:
    """Return a tar archive of files, by path, that only the user of the services can read, with their folders."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for folder in sorted({str(parent) for path in files for parent in PurePosixPath(path).parents[:-1]}):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o500, USER, USER
            archive.addfile(entry)
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode, entry.uid, entry.gid = len(content), 0o400, USER, USER
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()
