# SPDX-License-Identifier: Apache-2.0
"""Pulumi CLI and MinIO: found on PATH, downloaded from the vendor, or built from a Go module."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from infra.toolchain import manifest as manifests
from infra.toolchain import pins
from infra.toolchain.cache import Cache, hash_key, hash_tree, platform_tag
from infra.toolchain.download import DownloadFailed, fetch
from infra.toolchain.golang import GoModule
from infra.toolchain.prerequisites import Version, format_version, parse_version
from infra.toolchain.process import Runner
from infra.toolchain.progress import format_size

_PULUMI_SDK = "github.com/pulumi/pulumi/sdk/v3"
_LANGUAGE_HOST = "pulumi-language-python"
_VERSION_TIMEOUT = 20


@dataclass(frozen=True)
class Binary:
    """An executable and its companion files.

    `files` are the members of the vendor's archive that are kept; if empty, the download is the executable itself.
    `path_minimum` is the oldest version accepted from PATH; None accepts none.
    """

    name: str
    downloads: Mapping[str, pins.VendorFile]
    module: GoModule
    files: tuple[str, ...] = ()
    companion: str = ""
    path_minimum: Version | None = None

    @property
    def key(self) -> str:
        vendor = self.downloads.get(platform_tag())
        pin = vendor.sha256 if vendor else ""
        return hash_key(pin, hash_tree(self.module.directory, below=self.module.directory), platform_tag())

    def folder(self, cache: Cache) -> Path:
        return cache.root / "binaries" / f"{self.name}-{self.key}"

    @property
    def remedy_without_go(self) -> str:
        """Remedy for a machine without Go."""
        if self.path_minimum is None:
            return f"let this machine reach the vendor's download of {self.name}"
        minimum = format_version(self.path_minimum)
        return f"put {self.name} {minimum} or newer with its {self.companion} on PATH"


PULUMI = Binary(
    name="pulumi",
    downloads=pins.PULUMI_DOWNLOADS,
    module=GoModule(
        name="engine",
        packages=("github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", f"./{_LANGUAGE_HOST}"),
        tags="osusergo,grpcnotrace",
        version_of=_PULUMI_SDK,
        version_variable=f"{_PULUMI_SDK}/go/common/version.Version",
        extras=(f"python/cmd/{_LANGUAGE_HOST}-exec", "python/dist/pulumi-resource-pulumi-python"),
    ),
    files=("pulumi", _LANGUAGE_HOST, f"{_LANGUAGE_HOST}-exec", "pulumi-resource-pulumi-python"),
    companion=_LANGUAGE_HOST,
    path_minimum=pins.MINIMUM_PULUMI,
)

MINIO = Binary(
    name="minio",
    downloads=pins.MINIO_DOWNLOADS,
    module=GoModule(name="minio", packages=("github.com/minio/minio",)),
)

BINARIES = {binary.name: binary for binary in (PULUMI, MINIO)}


def find_on_path(binary: Binary, cache: Cache) -> tuple[Path, Version] | None:
    """Return the binary on PATH and its version if it is recent enough; entries inside the cache are ignored."""
    if binary.path_minimum is None:
        return None
    entries = os.environ.get("PATH", "").split(os.pathsep)
    path = os.pathsep.join(entry for entry in entries if cache.root not in Path(entry).absolute().parents)
    found = shutil.which(binary.name, path=path)
    if not found:
        return None
    beside = Path(found).parent / binary.companion
    if not beside.exists() and not shutil.which(binary.companion, path=path):
        return None
    version = _printed_version(found, cache)
    return (Path(found), version) if version and version >= binary.path_minimum else None


def manifest_of_path_binary(binary: Binary, found: Path, version: Version) -> manifests.Manifest:
    """Return the manifest of a binary that is used from PATH."""
    beside = found.parent / binary.companion
    files = [found, beside] if beside.exists() else [found]
    return manifests.create_external(files, binary.key, f"{format_version(version)}, found in {found.parent}")


def download_release(
    binary: Binary,
    staged: Path,
    runner: Runner,
    on_text: Callable[[str], None],
    note: Callable[[str], None],
) -> str | None:
    """Download the vendor's release into `staged` and return its description; None, after a note, if unavailable."""
    vendor = binary.downloads.get(platform_tag())
    if vendor is None:
        note(f"{binary.name}: no pinned download for {platform_tag()}")
        return None

    def on_bytes(done: int, total: int | None) -> None:
        runner.raise_if_stopped()
        on_text(f"{format_size(done)} of {format_size(total)}" if total else format_size(done))

    archive = staged / f"{binary.name}.download"
    failures = []
    for url in vendor.urls:
        try:
            fetch(url, archive, vendor.sha256, on_bytes)
        except DownloadFailed as error:
            failures.append(f"{urlsplit(url).hostname} {error.reason}")
            continue
        if binary.files:
            _extract_files(archive, binary.files, staged)
            archive.unlink()
        else:
            archive.rename(staged / binary.name)
        (staged / binary.name).chmod(0o755)
        return f"{vendor.version}, downloaded from the vendor"
    note(f"{binary.name}: no release {vendor.version} from the vendor ({'; '.join(failures)})")
    return None


def _extract_files(archive: Path, wanted: tuple[str, ...], destination: Path) -> None:
    """Extract the regular files named `wanted` from any folder of the archive; paths inside it are ignored."""
    with tarfile.open(archive) as tar:
        for member in tar:
            name = PurePosixPath(member.name).name
            if member.isfile() and name in wanted and (content := tar.extractfile(member)):
                with content, (destination / name).open("wb") as file:
                    shutil.copyfileobj(content, file)
                (destination / name).chmod(0o755)


def _printed_version(executable: str, cache: Cache) -> Version | None:
    """Return the version that `<executable> version` prints; None if it fails."""
    quiet = {"PULUMI_HOME": str(cache.tmp / "pulumi"), "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run(
            [executable, "version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=_VERSION_TIMEOUT,
            env={**os.environ, **quiet},
        )
        return parse_version(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):  # a broken executable counts as absent
        return None
