# SPDX-License-Identifier: Apache-2.0
"""Update the lock files after a change of a pinned version.

    python -m infra.toolchain.update_locks kafka spark iceberg-rest-catalog      # some of infra/toolchain/locks
    python -m infra.toolchain.update_locks maven                                 # what Maven itself runs; after others
    python -m infra.toolchain.update_locks python                                # requirements/*.txt; needs uv

The locks record the files that the registries serve at this time: review the diff before you commit it.
"""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from infra.toolchain import archives, pins
from infra.toolchain.artifact_verifier import BUILD_LOCK, read_all_locks
from infra.toolchain.artifacts import COMPONENTS, MAVEN_REACTOR
from infra.toolchain.cache import Cache
from infra.toolchain.errors import ArtifactError
from infra.toolchain.lock import Coordinate, Lock, lock_path, render
from infra.toolchain.maven import Maven, ResolvedJars, is_locked
from infra.toolchain.prerequisites import Tool, find_maven, format_version, parse_version
from infra.toolchain.process import Runner
from infra.toolchain.progress import PlainProgress, Progress
from infra.toolchain.venvs import ALONE, ENVIRONMENTS, REQUIREMENTS

PYTHON = "python"
_DISTRIBUTIONS = tuple(c.name for c in pins.COMPONENTS.values() if isinstance(c, pins.DistributionComponent))
_TOGETHER = tuple(name for name, environment in ENVIRONMENTS.items() if environment not in ALONE)
_REQUIREMENT_FILES = ("build", *_TOGETHER, *_DISTRIBUTIONS)
_HEADER = "# SPDX-License-Identifier: Apache-2.0\n# Made by `python -m infra.toolchain.update_locks python`.\n"
_UV = ("pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header", "--no-annotate")


def update_lock(name: str, cache: Cache, progress: Progress) -> list[Path]:
    """Write the lock of a Maven component or of Maven, or with `python` all requirement files; return the paths."""
    if name == PYTHON:
        return update_requirement_locks()
    if name not in COMPONENTS | {BUILD_LOCK}:
        known = ", ".join(sorted(COMPONENTS | {BUILD_LOCK, PYTHON}))
        raise ArtifactError("Locking", f"unknown component {name}", f"choose from {known}")
    with cache.lock(progress.note), cache.staging(f"lock-{name}") as staged:
        progress.start(name, "resolving with Maven")
        if name == BUILD_LOCK:
            lock = _collect_build_files(cache, staged, progress)
        else:
            maven = Maven(cache, Runner(cache.tmp), {})
            lock = maven.hashes(_resolve(name, maven, staged, progress))
    lock_path(name).write_text(render(lock), encoding="utf-8")
    return [lock_path(name)]


def _collect_build_files(cache: Cache, staged: Path, progress: Progress) -> Lock:
    """Return the files that Maven resolves for all components, with two of its releases, and that no other lock has."""
    collected: Lock = {}
    runner = Runner(cache.tmp)
    maven = Maven(cache, runner, {})
    coordinate = Coordinate.parse(pins.OTHER_MAVEN)
    wanted = pins.MavenComponent("other-maven", (pins.OTHER_MAVEN,), transitive=False)
    progress.start(wanted.name, "resolving with Maven")
    (archive,) = maven.resolve([wanted], lambda text: progress.update(wanted.name, text))[wanted.name].jars
    with tarfile.open(archive) as content:
        content.extractall(staged, filter="data")
    home = staged / f"{coordinate.artifact}-{coordinate.version}"
    other = Tool("Maven", home / "bin" / "mvn", parse_version(coordinate.version), home)
    for tool in (find_maven(), other):
        maven = Maven(cache, runner, collected, tool)
        for name in sorted(filter(is_locked, COMPONENTS)):
            progress.start(name, f"resolving with Maven {format_version(tool.version)}")
            with cache.staging("lock-build") as built:
                _resolve(name, maven, built, progress)
    locked = {found for path, lock in read_all_locks().items() if path != lock_path(BUILD_LOCK) for found in lock}
    return {found: sha256 for found, sha256 in collected.items() if found not in locked}


def update_requirement_locks() -> list[Path]:
    """Resolve all requirement files together, for consistent versions, and write one lock for each.

    The lock of `test` omits the packages of the environments that it includes. Those of `ALONE` are resolved alone.
    """
    written = []
    combined = REQUIREMENTS / ".combined.txt"
    sources = [REQUIREMENTS / f"{name}.in" for name in _REQUIREMENT_FILES]
    try:
        _compile(sources, combined, [])
        for name in _REQUIREMENT_FILES:
            path = REQUIREMENTS / f"{name}.txt"
            _compile([REQUIREMENTS / f"{name}.in"], path, ["--constraints", str(combined)])
            environment = ENVIRONMENTS.get(name)
            includes = environment.includes if environment else ()
            inherited = {_package_name(entry) for included in includes for entry in _lock_entries(included.name)}
            remaining = [entry for entry in _lock_entries(name) if _package_name(entry) not in inherited]
            path.write_text(_HEADER + "".join(remaining), encoding="utf-8")
            written.append(path)
    finally:
        combined.unlink(missing_ok=True)
    for environment in ALONE:
        path = REQUIREMENTS / f"{environment.name}.txt"
        _compile([path.with_suffix(".in")], path, [])
        path.write_text(_HEADER + "".join(_lock_entries(environment.name)), encoding="utf-8")
        written.append(path)
    return written


def _resolve(name: str, maven: Maven, staged: Path, progress: Progress) -> ResolvedJars:
    component = pins.COMPONENTS[name]
    if isinstance(component, pins.ProjectComponent):
        return maven.build(component, MAVEN_REACTOR, lambda text: progress.update(name, text), staged)
    if isinstance(component, pins.ArchiveComponent):
        component = archives.jars_of_all_platforms(component)
    if isinstance(component, pins.DistributionComponent):
        component = component.jars
    return maven.resolve([component], lambda text: progress.update(name, text))[name]


def _compile(sources: list[Path], output: Path, extra: list[str]) -> None:
    attempt = f"Resolving {', '.join(source.name for source in sources)}"
    uv = shutil.which("uv")
    if not uv:
        raise ArtifactError(attempt, "no uv on PATH", "`pip install uv` and put it on PATH")
    minimum = ".".join(map(str, pins.MINIMUM_PYTHON))
    arguments = [uv, *_UV, "--python-version", minimum, *extra, "--output-file", str(output)]
    done = subprocess.run(
        [*arguments, *map(str, sources)], capture_output=True, text=True, cwd=REQUIREMENTS, check=False
    )
    if done.returncode != 0:
        raise ArtifactError(attempt, "uv found no solution", "change the pins that it names", done.stderr)


def _lock_entries(name: str) -> list[str]:
    """Return the entries of a lock file: a pinned package and the lines of its hashes."""
    blocks: list[str] = []
    for line in (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith(" "):
            blocks[-1] += line
        elif not line.startswith("#"):
            blocks.append(line)
    return blocks


def _package_name(block: str) -> str:
    return block.split("==")[0]


def main(names: list[str]) -> int:
    progress = PlainProgress(sys.stderr)
    try:
        cache = Cache.open()
        for name in names:
            for path in update_lock(name, cache, progress):
                print(path)
    except ArtifactError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
