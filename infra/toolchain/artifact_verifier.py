# SPDX-License-Identifier: Apache-2.0
"""Verification of every file that Maven resolves, before Maven uses it: plugins and annotation processors are code.

An extension of Maven, `java/ArtifactVerifier.java`, is compiled with the machine's JDK when Maven is first run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.toolchain import lock as locks
from infra.toolchain.cache import Cache, hash_key
from infra.toolchain.errors import ArtifactError
from infra.toolchain.lock import Coordinate, Lock
from infra.toolchain.prerequisites import Tool, find_jdk
from infra.toolchain.process import Command, Runner

BUILD_LOCK = "maven"
"""Name of the lock with the files that no component contains: Maven's plugins, and what modules are built with."""

_SOURCE = Path(__file__).parent / "java" / "ArtifactVerifier.java"
_CLASS = "dev.lineagelab.toolchain.ArtifactVerifier"
_INDEX = Path("META-INF", "sisu", "javax.inject.Named")
_PROPERTY = "lineagelab"


@dataclass(frozen=True)
class ArtifactVerifier:
    """Maven's arguments for runs that use nothing but locked files.

    Attributes:
        cache: the extension is compiled into its temporary folder; its repository loses refused files.
        runner: runner of the compiler.
        collected: if given, no file is refused, and the hashes of all are added to it.
    """

    cache: Cache
    runner: Runner
    collected: Lock | None = None

    @contextmanager
    def verifying(self, maven: Tool, attempt: str, unlocked: bool) -> Iterator[list[str]]:
        """Provide arguments for one run of Maven; `unlocked` accepts files that no lock names.

        Raises:
            ArtifactError: Maven was ended because of a file that is not the locked one. The file is removed.
        """
        extension = self._extension(maven)
        with self.cache.staging("maven-verification") as folder:
            locked, refused, resolved = (folder / name for name in ("locked", "refused", "resolved"))
            arguments = [f"-Dmaven.ext.class.path={extension}"]
            if self.collected is None:
                locked.write_text(render_locked(read_all_locks()), encoding="utf-8")
                arguments += [f"-D{_PROPERTY}.locked={locked}", f"-D{_PROPERTY}.refused={refused}"]
                arguments += [f"-D{_PROPERTY}.unlocked=true"] if unlocked else []
            else:
                arguments.append(f"-D{_PROPERTY}.resolved={resolved}")
            try:
                yield arguments
            except ArtifactError as error:
                if not refused.exists():
                    raise
                raise self._refusal(attempt, refused.read_text(encoding="utf-8").splitlines()) from error
            if self.collected is not None and resolved.exists():
                self.collected.update(locks.parse(resolved.read_text(encoding="utf-8")))

    def _refusal(self, attempt: str, reasons: list[str]) -> ArtifactError:
        for reason in reasons:
            coordinate = Coordinate.parse(reason.split(" ", 1)[0])
            (self.cache.maven / coordinate.folder / coordinate.file_name).unlink(missing_ok=True)
        return ArtifactError(
            attempt,
            "; ".join(reasons) + " (removed; Maven was stopped before it used the file)",
            "run the same command again, with Maven 3.8 or 3.9; if you trust the registry's files, run "
            f"`{locks.UPDATE_COMMAND} {BUILD_LOCK}`",
        )

    def _extension(self, maven: Tool) -> Path:
        """Return the folder of the compiled extension."""
        key = hash_key(_SOURCE.read_bytes(), str(maven.home), str(maven.version))
        folder = self.cache.tmp / f"maven-extension-{key}"
        if (folder / _INDEX).exists():
            return folder
        folder.mkdir(exist_ok=True)
        compiler = find_jdk().home / "bin" / "javac"
        options = ["--release", "8", "-Xlint:-options", "-proc:none", "-cp", f"{maven.home / 'lib'}/*"]
        self.runner.run(
            Command(
                arguments=[compiler, *options, "-d", folder, _SOURCE],
                attempt=f"Compiling {_SOURCE.name}, with which Maven verifies what it downloads",
                remedy=f"install Maven 3.8 or 3.9 with its libraries in {maven.home / 'lib'}",
                log=self.cache.log("maven-extension"),
            )
        )
        (folder / _INDEX).parent.mkdir(parents=True, exist_ok=True)
        (folder / _INDEX).write_text(f"{_CLASS}\n", encoding="utf-8")
        return folder


def read_all_locks(folder: Path = locks.FOLDER) -> dict[Path, Lock]:
    """Return the content of every lock by path. Raises ArtifactError."""
    return {path: locks.read(path) for path in sorted(folder.glob("*.lock"))}


def render_locked(found: dict[Path, Lock]) -> str:
    """Return one line `sha256  coordinate` for each file of the locks."""
    return "".join(f"{sha256}  {coordinate}\n" for lock in found.values() for coordinate, sha256 in lock.items())
