# SPDX-License-Identifier: Apache-2.0
"""Archive extraction that never writes outside the target folder.

An archive is a tar.gz, or the only .txz inside a jar (native programs, one jar per platform).
"""

import gzip
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from infra.toolchain import pins
from infra.toolchain.errors import ArtifactError

_ARCHIVE_SUFFIX = ".txz"
_REMEDY = "run `bin/lab setup` again; if this Python has no lzma, use one that was built with it"
_CHUNK_BYTES = 2**20


def platform_jar(component: pins.ArchiveComponent, platform: str) -> pins.MavenComponent:
    """Return the jar of one platform. Raises ArtifactError if none is pinned for it."""
    coordinate = component.coordinate(platform)
    if coordinate is None:
        known = ", ".join(sorted(component.coordinates))
        raise ArtifactError(
            f"Setting up {component.name} for {platform}",
            f"builds are pinned for {known} only",
            "run the lab on one of these platforms",
        )
    return pins.MavenComponent(component.name, (coordinate,), transitive=False)


def check_builds(names: Iterable[str], platform: str) -> None:
    """Check that each of these components runs on a platform. Raises ArtifactError, as `platform_jar` does."""
    for name in sorted(names):
        component = pins.COMPONENTS.get(name)
        if isinstance(component, pins.ArchiveComponent):
            platform_jar(component, platform)


def jars_of_all_platforms(component: pins.ArchiveComponent) -> pins.MavenComponent:
    """Return the jars of all platforms, to lock them."""
    return pins.MavenComponent(component.name, tuple(component.coordinates.values()), transitive=False)


def unpack(file: Path, folder: Path) -> None:
    """Unpack a tar.gz, or the archive in a jar, into `folder`. Raises ArtifactError.

    Only files, and links that stay inside `folder`, are extracted; empty folders are not created.
    """
    attempt = f"Unpacking {file.name}"
    try:
        if file.name.endswith(".tar.gz"):
            with gzip.open(file) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
                _extract_all(tar, folder, attempt)
                while stream.read(_CHUNK_BYTES):  # read to the end: the checksum comes last
                    pass
        else:
            _unpack_jar(file, folder, attempt)
    except (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ArtifactError(attempt, str(error), _REMEDY) from error


def unpack_kept(file: Path, kept: Iterable[str], aside: Path, folder: Path) -> None:
    """Unpack a tar.gz with one top-level folder, and move folders below it to the same paths in `folder`.

    Everything is unpacked first, as a file that is kept may be a hard link to one that is not.

    Args:
        file: the archive.
        kept: paths of folders below the top-level folder.
        aside: empty folder for the whole archive.
        folder: destination.

    Raises:
        ArtifactError: the archive cannot be unpacked, or lacks one of the folders.
    """
    unpack(file, aside)
    attempt = f"Unpacking {file.name}"
    tops = list(aside.iterdir())
    for name in kept:
        found = [top / name for top in tops if (top / name).is_dir()]
        if len(found) != 1:
            raise ArtifactError(
                attempt,
                f"the archive contains {len(found)} folders {name}",
                "correct `kept` of the component in infra/toolchain/pins.py",
            )
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        found[0].rename(folder / name)


def unpack_selected(file: Path, selected: Mapping[str, str], folder: Path) -> None:
    """Unpack selected paths of a tar.gz with one top-level folder into folders of `folder`. Raises ArtifactError.

    Args:
        file: the archive.
        selected: path of a file or folder below the top-level folder -> its folder in `folder`. The longest matching
            path wins; a path that matches nothing is an error.
        folder: destination.
    """
    attempt = f"Unpacking {file.name}"
    found: set[str] = set()
    try:
        with tarfile.open(file, mode="r|gz") as tar:
            for member in tar:
                path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
                part = _longest_prefix(path, selected)
                if part is not None and not member.isdir():
                    found.add(part)
                    inside = path.relative_to(part) if path != PurePosixPath(part) else PurePosixPath(path.name)
                    _extract_member(tar, member, PurePosixPath(selected[part], inside), folder, attempt)
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ArtifactError(attempt, str(error), _REMEDY) from error
    if missing := sorted(selected.keys() - found):
        raise ArtifactError(
            attempt,
            f"the archive does not contain {', '.join(missing)}",
            "correct `extracted` of the component in infra/toolchain/pins.py",
        )


def _longest_prefix(path: PurePosixPath, selected: Mapping[str, str]) -> str | None:
    prefixes = [part for part in selected if path.is_relative_to(part)]
    return max(prefixes, key=len, default=None)


def _unpack_jar(jar: Path, folder: Path, attempt: str) -> None:
    with zipfile.ZipFile(jar) as outer:
        names = [name for name in outer.namelist() if name.endswith(_ARCHIVE_SUFFIX)]
        if len(names) != 1:
            raise ArtifactError(
                attempt, f"the jar contains {len(names)} archives (*{_ARCHIVE_SUFFIX}) instead of one", _REMEDY
            )
        with outer.open(names[0]) as stream, tarfile.open(fileobj=stream, mode="r|xz") as tar:
            _extract_all(tar, folder, attempt)


def _extract_all(tar: tarfile.TarFile, folder: Path, attempt: str) -> None:
    for member in tar:
        _extract_member(tar, member, PurePosixPath(member.name), folder, attempt)


def _extract_member(
    tar: tarfile.TarFile, member: tarfile.TarInfo, name: PurePosixPath, folder: Path, attempt: str
) -> None:
    """Extract a member of an archive to `name` in `folder`."""
    target = name.parent / member.linkname if member.issym() else PurePosixPath(member.linkname or name)
    if any(path.is_absolute() or ".." in path.parts for path in (name, target)):
        raise ArtifactError(attempt, f"the path {member.name} is outside the target folder", "do not use this file")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        path.symlink_to(member.linkname)
    elif member.islnk():
        _link(folder / target, path, attempt)
    elif member.isfile() and (content := tar.extractfile(member)):
        with content, path.open("wb") as file:
            shutil.copyfileobj(content, file)
        path.chmod(0o755 if member.mode & 0o100 else 0o644)


def _link(target: Path, path: Path, attempt: str) -> None:
    try:
        os.link(target, path)
    except FileNotFoundError as error:
        raise ArtifactError(attempt, f"{path.name} is a link to a file that is not extracted", _REMEDY) from error
