# SPDX-License-Identifier: Apache-2.0
"""Archive of one file, as Docker's API receives files."""

import io
import tarfile

from infra.targets.container_paths import USER


def file_archive(name: str, text: str) -> bytes:
    """Return a tar archive of one file that only the user of the services can read."""
    content = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.uid, entry.gid = len(content), 0o400, USER, USER
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()
