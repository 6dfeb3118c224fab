# SPDX-License-Identifier: Apache-2.0
"""What is copied into images: where it goes, a key that changes with it, and where it is on this machine."""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from infra.project import user_path
from infra.targets.docker.images import wheels
from infra.targets.revision import sources
from infra.toolchain import Artifacts, class_data, venvs
from infra.toolchain.artifacts import PACKAGED_JAVA
from infra.toolchain.binaries import BINARIES
from infra.toolchain.cache import hash_key, platform_tag
from infra.toolchain.errors import ArtifactError
from infra.toolchain.pins import COMPONENTS, ProjectComponent
from infra.toolchain.prerequisites import find_java_release, format_version

PROBE = Path(__file__).resolve().parents[4] / "images" / "probe"


@dataclass(frozen=True)
class Content:
    """A file or a folder that is copied into an image.

    Attributes:
        place: where it goes, seen from `/opt/lineage-lab`.
        key: a short hash that changes with it.
        locate: finds it on this machine; raises ArtifactError where it is not set up.
        built: it is made of this checkout, and therefore changes more often than what is pinned.
    """

    place: str
    key: str
    locate: Callable[[], Path]
    built: bool = False


@dataclass(frozen=True)
class Contents:
    """Finds contents of one checkout.

    Attributes:
        artifacts: the download cache's.
        project: the checkout.
    """

    artifacts: Artifacts
    project: Path
    _keys: dict[str, str] = field(default_factory=dict, compare=False)

    def probe(self) -> Content:
        """The command of health checks."""
        return _file("bin/probe", PROBE)

    def component(self, name: str) -> Content:
        """The folder of a component."""
        built = isinstance(COMPONENTS.get(name), ProjectComponent) or name not in COMPONENTS
        if name not in self._keys:
            self._keys[name] = self.artifacts.component_key(name)
        key = self._keys[name]
        return Content(f"components/{name}", key, lambda: self.artifacts.component(name), built)

    def program(self, name: str) -> Content:
        """A native program that stands alone."""
        return Content(f"bin/{name}", BINARIES[name].key, lambda: self.artifacts.binary(name))

    def java(self, runtime: int) -> Content:
        """A Java runtime: the packaged one of release 21, else a self-contained JDK of this machine.

        Raises:
            ArtifactError: the machine has no JDK of that release, or none that can be copied into an image.
        """
        if runtime == PACKAGED_JAVA:
            key = venvs.JAVA_21.key
            return Content(f"java/{runtime}", key, lambda: self.artifacts.java(runtime).parent.parent)
        jdk = find_java_release(runtime)
        _require_portable(jdk.home, runtime)
        key = hash_key(str(jdk.home), format_version(jdk.version), platform_tag())
        return Content(f"java/{runtime}", key, lambda: jdk.home)

    def user_jar(self, jar: str) -> Content:
        """A jar of the user's own. Raises OSError where it cannot be read."""
        path = user_path(self.project, jar)
        return _file(f"jars/{path.name}", path)

    def wheels(self, environment: str) -> Content:
        """What a virtual environment is installed from; goes no further than a stage of the build."""
        return Content("wheels", wheels.key(environment), lambda: wheels.folder(self.artifacts.cache, environment))

    def sources(self, module: str, uses: tuple[str, ...], reads: tuple[str, ...]) -> tuple[Content, ...]:
        """What a module of the project needs of it, file by file: as much as makes it restart when it changes."""
        return _files(self.project, sources(self.project, (module, *uses), reads))

    def training(self, kit: Path = class_data.REPOSITORY) -> tuple[Content, ...]:
        """What makes the archive of Spark's classes. What it imports decides nothing, and has no key."""
        modules = (class_data.IMAGE_BUILD_MODULE, class_data.TRAINING)
        deciding = {f"project/{name}" for name in class_data.SOURCES}
        found = _files(kit, sources(kit, modules))
        return tuple(content if content.place in deciding else replace(content, key="") for content in found)


def _require_portable(home: Path, runtime: int) -> None:
    """Reject a JDK that does not run in an image: built for another system, or linked to files outside its home.

    Raises:
        ArtifactError: naming the JDK and the remedy.
    """
    attempt = f"Copying the JDK {home} into an image"
    remedy = f"set LINEAGE_LAB_JAVA_{runtime} to an unpacked JDK archive for Linux, or use the target `local`"
    if sys.platform != "linux":
        raise ArtifactError(attempt, f"it was built for {sys.platform}, and images run Linux", remedy)
    for path in home.rglob("*"):
        if path.is_symlink() and not path.resolve().is_relative_to(home.resolve()):
            raise ArtifactError(attempt, f"{path} is a link to {path.resolve()}, outside the JDK", remedy)


def _files(project: Path, paths: Iterable[Path]) -> tuple[Content, ...]:
    return tuple(_file(f"project/{path.relative_to(project)}", path) for path in paths)


def _file(place: str, path: Path) -> Content:
    return Content(place, _hash(path), lambda: path, built=True)


def _hash(path: Path) -> str:
    return hash_key(path.read_bytes(), "program" if os.access(path, os.X_OK) else "text")
