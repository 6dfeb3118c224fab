# SPDX-License-Identifier: Apache-2.0
"""Native programs that come as jars, one per platform: each holds an archive, which is unpacked."""

import shutil
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from infra.artifacts import pins
from infra.artifacts.errors import ArtifactError

_SUFFIX = ".txz"
_REMEDY = "run `bin/lab setup` again; if this Python has no lzma, use one that was built with it"


def jar_for(component: pins.ArchiveComponent, platform: str) -> pins.MavenComponent:
    """The jar of one platform. Raises ArtifactError where none is pinned for it."""
    coordinate = component.coordinates.get(platform)
    if coordinate is None:
        known = ", ".join(sorted(component.coordinates))
        raise ArtifactError(
            f"Setting up {component.name} for {platform}",
            f"builds are pinned for {known} alone",
            f"use one of those, or switch off the settings that need {component.name} (`bin/lab doctor --settings`)",
        )
    return pins.MavenComponent(component.name, (coordinate,), transitive=False)


def all_jars(component: pins.ArchiveComponent) -> pins.MavenComponent:
    """The jars of every platform, for locking them."""
    return pins.MavenComponent(component.name, tuple(component.coordinates.values()), transitive=False)


def unpack(jar: Path, folder: Path) -> None:
    """Unpack the archive in `jar` into `folder`: files and links that stay inside it. Raises ArtifactError."""
    attempt = f"Unpacking {jar.name}"
    try:
        with zipfile.ZipFile(jar) as outer:
            names = [name for name in outer.namelist() if name.endswith(_SUFFIX)]
            if len(names) != 1:
                raise ArtifactError(attempt, f"it holds {len(names)} archives (*{_SUFFIX}), not one", _REMEDY)
            with outer.open(names[0]) as stream, tarfile.open(fileobj=stream, mode="r|xz") as tar:
                for member in tar:
                    _place(tar, member, folder, attempt)
    except (zipfile.BadZipFile, tarfile.TarError) as error:
        raise ArtifactError(attempt, str(error), _REMEDY) from error


def _place(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, attempt: str) -> None:
    name = PurePosixPath(member.name)
    target = name.parent / member.linkname if member.issym() else name
    if any(path.is_absolute() or ".." in path.parts for path in (name, target)):
        raise ArtifactError(attempt, f"{member.name} leads out of the archive", "do not use this file")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        path.symlink_to(member.linkname)
    elif member.isfile() and (content := tar.extractfile(member)):
        with content, path.open("wb") as file:
            shutil.copyfileobj(content, file)
        path.chmod(0o755 if member.mode & 0o100 else 0o644)
