# SPDX-License-Identifier: Apache-2.0
"""Class data sharing (AppCDS) archive of Spark's drivers, which shortens their start.

An archive is valid for one JDK and one class path, modification times of the jars included. It is therefore created at
its final place, by a small training run of a driver (`jobs.spark.class_data_training`), and never moved. A JVM ignores
an archive that is absent or does not match, so it is optional. A damaged one may crash the JVM, which is why the
launcher checks its size and modification time before each start.

The batch job `supplier_stats` takes 19 s of CPU time without an archive, 9 s with it. The archive is not written by a
user's first job: dumping adds 35 s of CPU time to the exit of the JVM, longer than its launcher waits, and a container
would lose the file.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.project import python_path
from infra.toolchain import manifest as manifests
from infra.toolchain import prerequisites
from infra.toolchain.cache import Cache, hash_key
from infra.toolchain.errors import ArtifactError
from infra.toolchain.process import Command, Runner

NAME = "class-data"
COMPONENT = "spark"

ARCHIVE_FILE = "classes.jsa"
STAT_FILE = f"{ARCHIVE_FILE}.stat"
"""Size and modification time of the archive, `SIZE MTIME_NS`: the launcher of drivers compares them."""

CONFIGURATION_FOLDER = "conf"
"""Empty folder beside the archive, used as Spark's configuration folder on the class path."""

REPOSITORY = Path(__file__).resolve().parents[2]
TRAINING_MODULE = "jobs.spark.class_data_training"
TRAINING_SOURCE = f"{TRAINING_MODULE.replace('.', '/')}.py"
"""Input, besides the jars, that decides which classes the archive holds."""

_HEAP = "1g"
_REMEDY = "jobs run without it, but start slower; run `bin/lab setup` to try again"


@dataclass(frozen=True)
class TrainingRun:
    """Inputs of an archive: folder of the jars, Python of a driver, `java` of the JDK."""

    jars: Path
    python: Path
    java: Path


def archive_key(*parts: str) -> str:
    """Return the cache key: `parts` are the keys of jars and Python; the JDK and the training run are added.

    Without a JDK there is no archive either; the key then matches nothing.
    """
    try:
        home = prerequisites.find_jdk().home
    except ArtifactError:
        return hash_key(*parts)
    release = home / "release"
    jdk = release.read_bytes() if release.is_file() else b""
    return hash_key(STAT_FILE, *parts, str(home.resolve()), jdk, (REPOSITORY / TRAINING_SOURCE).read_bytes())


def create_archive(
    folder: Path, key: str, training: TrainingRun, cache: Cache, runner: Runner, on_text: Callable[[str], None]
) -> manifests.Manifest:
    """Create the archive in `folder` by a training run. Call with the cache's lock held. Raises ArtifactError."""
    if folder.exists():
        shutil.rmtree(folder)
    (folder / CONFIGURATION_FOLDER).mkdir(parents=True)
    started = time.monotonic()
    attempt = "Creating the class data archive of Spark's drivers"
    with cache.staging(NAME) as scratch:
        command = Command(
            arguments=[training.python, "-m", TRAINING_MODULE],
            attempt=attempt,
            remedy=_REMEDY,
            log=cache.log(NAME),
            env=_environment(folder, training, scratch),
            directory=scratch,
        )
        runner.run(command, lambda line: on_text(f"{time.monotonic() - started:.0f} s"))
    if not (folder / ARCHIVE_FILE).is_file():
        raise ArtifactError(attempt, f"the JVM wrote no {folder / ARCHIVE_FILE} (log: {cache.log(NAME)})", _REMEDY)
    os.utime(folder / ARCHIVE_FILE, (made := int(time.time()), made))  # image layers store whole seconds only
    (folder / STAT_FILE).write_text(f"{(folder / ARCHIVE_FILE).stat().st_size} {made * 10**9}\n")
    manifest = manifests.create(folder, key, "a training run")
    manifests.save(manifest, folder)
    return manifest


def create_in_image(programs: Path) -> None:
    """Create the archive of an image whose programs are in a folder; it is valid for this image. Raises ArtifactError.

    The JVM checks the modification times of the jars, so it is created during the build, after they were copied.
    """
    training = TrainingRun(
        jars=programs / "components" / COMPONENT / "lib",
        python=Path(sys.executable),
        java=programs / "java" / "17" / "bin" / "java",
    )
    with TemporaryDirectory() as scratch:
        cache = Cache.open(Path(scratch))
        create_archive(programs / NAME / COMPONENT, "image", training, cache, Runner(cache.tmp), print)


def _environment(folder: Path, training: TrainingRun, scratch: Path) -> dict[str, str]:
    """Return a driver's environment. The class path must be the same text, or the JVM rejects the archive."""
    options = (
        f"-XX:ArchiveClassesAtExit={folder / ARCHIVE_FILE} -Xlog:cds=off -Xlog:cds+dynamic=off "
        f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss2m -XX:-UsePerfData -Djava.io.tmpdir={scratch}"
    )
    return {
        "PYTHONPATH": python_path(REPOSITORY),
        "JAVA_HOME": str(training.java.parent.parent),
        "PYSPARK_PYTHON": str(training.python),
        "SPARK_CONF_DIR": str(folder / CONFIGURATION_FOLDER),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(scratch),
        "AWS_REGION": "us-east-1",
        "NO_PROXY": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": (
            f"--driver-memory {_HEAP} --driver-class-path {training.jars}/* "
            f"--conf 'spark.driver.defaultJavaOptions={options}' pyspark-shell"
        ),
    }


if __name__ == "__main__":
    create_in_image(Path(sys.argv[1]))
