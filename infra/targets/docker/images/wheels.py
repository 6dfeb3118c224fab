# SPDX-License-Identifier: Apache-2.0
"""Download of the wheels for the images' Python. It runs on the host, which has access to the package index.

The host's virtual environments cannot be copied: they contain absolute paths and may have another Python version.
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
"""Python version of Debian 12 and of the images."""

GLIBC_MINOR = 36
"""Minor version of Debian 12's glibc, 2.36, the newest that wheels may require."""

OLDEST_GLIBC_MINOR = 5
"""Minor version of the glibc of `manylinux1`, the oldest platform tag."""

HOST_ONLY: dict[str, tuple[str, ...]] = {"kit": ("pulumi_kubernetes",)}
"""Packages of an environment, as wheels spell them, that no image has: only Pulumi's program imports them."""

_REMEDY = "check the network and pip's configuration (`pip config list`), then repeat the command"


def wheels_key(environment: str) -> str:
    """Return a short hash of the lock files, what is left out, the Python version and the processor."""
    locks = venvs.ENVIRONMENTS[environment].lock_files
    left_out = HOST_ONLY.get(environment, ())
    return hash_key(*(path.read_bytes() for path in locks), *left_out, PYTHON, platform.machine())


def wheels_folder(cache: Cache, environment: str) -> Path:
    """Return the folder of an environment's wheels in the cache, which may not exist yet."""
    return cache.root / "wheels" / f"{environment}-{wheels_key(environment)}"


def are_downloaded(cache: Cache, environment: str) -> bool:
    """Return whether the cache has the wheels of an environment."""
    return manifests.load(wheels_folder(cache, environment)) is not None


def download(
    environment: str, python: Path, cache: Cache, runner: Runner, on_text: Callable[[str], None]
) -> manifests.Manifest:
    """Download the wheels of an environment; the caller holds the cache's lock.

    `python` is the interpreter of the host's environment of that name, which has the build tools for packages without
    wheels. Raises ArtifactError.
    """
    lock = venvs.REQUIREMENTS / f"{environment}.txt"
    attempt = f"Downloading the wheels of {lock.name} for Python {PYTHON} on Linux"
    with cache.staging(f"{environment} wheels") as staged:

        def run_pip(step: str, *arguments: str | Path) -> None:
            log = cache.log(f"pip-{step}-{environment}")
            runner.run(
                Command(
                    arguments=[*venvs.pip_command(python, cache), *arguments], attempt=attempt, remedy=_REMEDY, log=log
                ),
                lambda line: on_text(venvs.shorten(line)),
            )

        if _host_matches_images():  # pip's cache then has the wheel of PySpark
            run_pip("wheel", *venvs.hash_checked("wheel"), "--no-build-isolation", "-w", staged, "-r", lock)
        else:
            run_pip("download", *_download_arguments(platform.machine()), "-d", staged, "-r", lock)
            for source in sorted(staged.glob("*.tar.gz")):
                run_pip("build", "wheel", "--no-cache-dir", "--no-deps", "--no-build-isolation", "-w", staged, source)
                source.unlink()
        remove_host_only(environment, staged)
        require_compatible_wheels(attempt, staged)
        manifest = manifests.create(
            staged, wheels_key(environment), f"{len(list(staged.iterdir()))} wheels from the index"
        )
        cache.publish(staged, wheels_folder(cache, environment), manifest)
    return manifest


def wheel_platforms(machine: str) -> Iterator[str]:
    """Yield the platform tags of wheels that run in the images, in order of preference."""
    for minor in range(GLIBC_MINOR, OLDEST_GLIBC_MINOR - 1, -1):
        yield f"manylinux_2_{minor}_{machine}"
        if older := {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}.get(minor):
            yield f"{older}_{machine}"
    yield f"linux_{machine}"


def _host_matches_images() -> bool:
    """Return whether wheels that pip selects for this machine run in the images too."""
    library, version = platform.libc_ver()
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    return running == PYTHON and library == "glibc" and int(version.split(".")[1]) <= GLIBC_MINOR


def _download_arguments(machine: str) -> list[str | Path]:
    """Return pip's arguments to download wheels for the images, or source archives of packages without wheels."""
    tags = [argument for name in wheel_platforms(machine) for argument in ("--platform", name)]
    options = ("--no-build-isolation", "--prefer-binary", "--python-version", PYTHON, "--implementation", "cp")
    return [*venvs.hash_checked("download"), *options, *tags]


def remove_host_only(environment: str, wheels: Path) -> None:
    """Remove the wheels of packages that no image needs."""
    for package in HOST_ONLY.get(environment, ()):
        for wheel in wheels.glob(f"{package}-*.whl"):
            wheel.unlink()


def require_compatible_wheels(attempt: str, wheels: Path) -> None:
    """Check that wheels run in the images; those built here from source are for this machine's Python, if not pure.

    Raises:
        ArtifactError: a wheel is for another Python version.
    """
    for wheel in wheels.iterdir():
        if not (wheel.suffix == ".whl" and _is_compatible(*wheel.stem.split("-")[-3:-1])):
            cause = f"{wheel.name} is not a wheel for Python {PYTHON}"
            raise ArtifactError(attempt, cause, f"pin a version in requirements/ that has a wheel for Python {PYTHON}")


def _is_compatible(python: str, abi: str) -> bool:
    """Return whether the images' Python supports a wheel with these tags."""
    return "py3" in python or f"cp{PYTHON.replace('.', '')}" in python or abi == "abi3"
