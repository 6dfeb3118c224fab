# SPDX-License-Identifier: Apache-2.0
"""Wheels for the Python of the images, downloaded and verified on the host, where the index can be reached.

The host's own virtual environments cannot be copied: they hold absolute paths, and may be of another Python.
"""

import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from infra.toolchain import manifest as manifests
from infra.toolchain import venvs
from infra.toolchain.cache import Cache, hash_key
from infra.toolchain.errors import ArtifactError
from infra.toolchain.process import Command, Runner

PYTHON = "3.11"
"""Of Debian 12, and therefore of the images."""

GLIBC_MINOR = 36
"""Debian 12 has glibc 2.36: wheels for that or an older one will do."""

OLDEST_GLIBC_MINOR = 5

_REMEDY = "check the network and pip's settings (`pip config list`), then run the same command again"


def key(environment: str) -> str:
    """A short hash of what decides which wheels these are."""
    locks = venvs.ENVIRONMENTS[environment].lock_files
    return hash_key(*(path.read_bytes() for path in locks), PYTHON, platform.machine())


def folder(cache: Cache, environment: str) -> Path:
    """Where the wheels of an environment are, once they were brought."""
    return cache.root / "wheels" / f"{environment}-{key(environment)}"


def are_downloaded(cache: Cache, environment: str) -> bool:
    """Whether they were brought."""
    return manifests.load(folder(cache, environment)) is not None


def download(
    environment: str, python: Path, cache: Cache, runner: Runner, on_text: Callable[[str], None]
) -> manifests.Manifest:
    """Downloads the wheels of an environment. Call with the cache's lock held.

    `python` is the host's own environment of that name: it has what packages are built with that are published as
    sources only. Raises ArtifactError.
    """
    lock = venvs.REQUIREMENTS / f"{environment}.txt"
    attempt = f"Downloading the wheels of {lock.name} for Python {PYTHON} on Linux"
    with cache.staging(f"{environment} wheels") as staged:

        def run(what: str, *words: str | Path) -> None:
            log = cache.log(f"pip-{what}-{environment}")
            runner.run(
                Command([*venvs.pip_command(python, cache), *words], attempt, _REMEDY, log),
                lambda line: on_text(venvs.shorten(line)),
            )

        if _matches_images():
            run(
                "wheel", *venvs.hash_checked("wheel"), "--no-build-isolation", "-w", staged, "-r", lock
            )  # pip has built PySpark's once already
        else:
            run("download", *_download(platform.machine()), "-d", staged, "-r", lock)
            for source in sorted(staged.glob("*.tar.gz")):
                run("build", "wheel", "--no-cache-dir", "--no-deps", "--no-build-isolation", "-w", staged, source)
                source.unlink()
        require_compatible_wheels(attempt, staged)
        manifest = manifests.create(staged, key(environment), f"{len(list(staged.iterdir()))} wheels from the index")
        cache.publish(staged, folder(cache, environment), manifest)
    return manifest


def platforms(machine: str) -> Iterator[str]:
    """What Python packaging calls the platforms whose wheels run in the images, the best first."""
    for minor in range(GLIBC_MINOR, OLDEST_GLIBC_MINOR - 1, -1):
        yield f"manylinux_2_{minor}_{machine}"
        if older := {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}.get(minor):
            yield f"{older}_{machine}"
    yield f"linux_{machine}"


def _matches_images() -> bool:
    """Whether what pip chooses for this machine runs in the images too."""
    library, version = platform.libc_ver()
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    return running == PYTHON and library == "glibc" and int(version.split(".")[1]) <= GLIBC_MINOR


def _download(machine: str) -> list[str | Path]:
    """Packages that are published as sources only come as such: they are taken where there is no wheel."""
    chosen = [word for name in platforms(machine) for word in ("--platform", name)]
    options = ("--no-build-isolation", "--prefer-binary", "--python-version", PYTHON, "--implementation", "cp")
    return [*venvs.hash_checked("download"), *options, *chosen]


def require_compatible_wheels(attempt: str, wheels: Path) -> None:
    """What is built of sources is of this machine's Python, unless it is Python alone, as PySpark is.

    Raises:
        ArtifactError: one of the wheels is for another Python than the images'.
    """
    for built in wheels.iterdir():
        if not (built.suffix == ".whl" and _fits(*built.stem.split("-")[-3:-1])):
            cause = f"{built.name} is no wheel for Python {PYTHON}"
            raise ArtifactError(attempt, cause, f"pin a version in requirements/ that has a wheel for Python {PYTHON}")


def _fits(python: str, abi: str) -> bool:
    """Whether the images' Python takes a wheel with these tags."""
    return "py3" in python or f"cp{PYTHON.replace('.', '')}" in python or abi == "abi3"
