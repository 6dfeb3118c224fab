# SPDX-License-Identifier: Apache-2.0
"""Files and folders that are copied into images, each with its destination and a hash of its contents."""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from infra.project import user_path
from infra.targets.docker.images import wheels
from infra.targets.revision import sources
from infra.toolchain import Artifacts, class_data
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
        destination: path in the image, relative to `/opt/lineage-lab`.
        key: short hash that changes with the contents.
        locate: returns the path on this machine; raises ArtifactError if it is not set up.
        built: True if it is built from this checkout and changes more often than pinned files.
    """

    destination: str
    key: str
    locate: Callable[[], Path]
    built: bool = False


@dataclass(frozen=True)
class Contents:
    """Files that the images of one checkout can contain.

    Attributes:
        artifacts: artifacts of the download cache.
        project: path of the checkout.
    """

    artifacts: Artifacts
    project: Path
    _keys: dict[str, str] = field(default_factory=dict, compare=False)

    def probe(self) -> Content:
        """Return the command of health checks."""
        return _file("bin/probe", PROBE)

    def component(self, name: str) -> Content:
        """Return the folder of a component."""
        built = isinstance(COMPONENTS.get(name), ProjectComponent) or name not in COMPONENTS
        if name not in self._keys:
            self._keys[name] = self.artifacts.component_key(name)
        key = self._keys[name]
        return Content(f"components/{name}", key, lambda: self.artifacts.component(name), built)

    def program(self, name: str) -> Content:
        """Return a native program without dependencies."""
        return Content(f"bin/{name}", BINARIES[name].key, lambda: self.artifacts.binary(name))

    def java(self, runtime: int) -> Content:
        """Return a Java runtime: a packaged one (`Artifacts.packaged_java`), else a self-contained JDK of this machine.

        Raises:
            ArtifactError: the machine has no JDK of that release that can be copied into an image.
        """
        if packaged := self.artifacts.packaged_java(runtime):
            return Content(f"java/{runtime}", packaged.key, lambda: self.artifacts.java(runtime).parent.parent)
        jdk = find_java_release(runtime)
        _require_portable(jdk.home, runtime)
        key = hash_key(str(jdk.home), format_version(jdk.version), platform_tag())
        return Content(f"java/{runtime}", key, lambda: jdk.home)

    def user_jar(self, jar: str) -> Content:
        """Return a jar of the user. Raises OSError if it cannot be read."""
        path = user_path(self.project, jar)
        return _file(f"jars/{path.name}", path)

    def wheels(self, environment: str) -> Content:
        """Return the wheels of a virtual environment, which are copied to a build stage only."""
        return Content(
            "wheels", wheels.wheels_key(environment), lambda: wheels.wheels_folder(self.artifacts.cache, environment)
        )

    def sources(self, module: str, uses: tuple[str, ...], reads: tuple[str, ...]) -> tuple[Content, ...]:
        """Return the project files of a module: its imports and what it reads, as in `infra.targets.revision`."""
        return _files(self.project, sources(self.project, (module, *uses), reads))

    def files(self, paths: tuple[str, ...]) -> tuple[Content, ...]:
        """Return files of the project. Raises OSError if one cannot be read."""
        return _files(self.project, (self.project / path for path in paths))

    def training(self, kit: Path = class_data.REPOSITORY) -> tuple[Content, ...]:
        """Return the sources that create Spark's class data sharing archive.

        Only `class_data.TRAINING_SOURCE` affects the archive; the other modules have an empty key.
        """
        found = _files(kit, sources(kit, (class_data.__name__, class_data.TRAINING_MODULE)))
        relevant = f"project/{class_data.TRAINING_SOURCE}"
        return tuple(content if content.destination == relevant else replace(content, key="") for content in found)


def _require_portable(home: Path, runtime: int) -> None:
    """Raise ArtifactError for a JDK that does not run in an image.

    It was built for another system, or has symbolic links to files outside its folder.
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


def _file(destination: str, path: Path) -> Content:
    return Content(destination, _file_hash(path), lambda: path, built=True)


def _file_hash(path: Path) -> str:
    return hash_key(path.read_bytes(), "program" if os.access(path, os.X_OK) else "text")
