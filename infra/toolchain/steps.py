# SPDX-License-Identifier: Apache-2.0
"""How each kind of artifact is made; everything here runs with the cache's lock held."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.toolchain import archives, class_data, page, pins, prerequisites, venvs
from infra.toolchain import stamp as stamps
from infra.toolchain.binaries import BINARIES, Binary, find_on_path, from_vendor, stamp_on_path
from infra.toolchain.cache import Cache, platform_tag
from infra.toolchain.errors import ArtifactError
from infra.toolchain.golang import GoToolchain, environment
from infra.toolchain.maven import Maven, Resolved, is_locked
from infra.toolchain.process import Runner
from infra.toolchain.progress import Progress
from lineage.checks import schema_files


@dataclass(frozen=True)
class Item:
    """One artifact as this checkout wants it. `kind` is its folder in the cache; `label` is for people."""

    kind: str
    name: str
    label: str
    key: str
    folder: Path


@dataclass(frozen=True)
class Result:
    """One artifact that was made: where it came from, seconds, bytes on disk."""

    label: str
    source: str
    seconds: float
    size: int


class Steps(Protocol):
    """Makes the artifacts of one kind; picks its own from `missing`."""

    def make(self, missing: list[Item]) -> list[Result]: ...


@dataclass(frozen=True)
class ComponentSteps:
    """Maven components: all from registries in one run, then what is built here."""

    cache: Cache
    runner: Runner
    progress: Progress
    reactor: Path

    def check_prerequisites(self, missing: list[Item]) -> None:
        """Say what is missing before anything takes time. Raises ArtifactError."""
        _from_registry(missing)
        prerequisites.find_jdk()
        prerequisites.find_maven()

    def make(self, missing: list[Item]) -> list[Result]:
        items = {item.name: item for item in missing if item.kind == "components"}
        maven = Maven(self.cache, self.runner)
        registry = _from_registry(missing)
        results = []
        started = time.monotonic()
        if registry:
            first = items[registry[0].name].label
            self.progress.start(first, "resolving with Maven")
            resolved = maven.resolve(registry, lambda text: self.progress.update(first, text))
            for component in registry:
                item = items[component.name]
                wanted = pins.COMPONENTS[item.name]
                if isinstance(wanted, pins.ArchiveComponent):
                    results.append(self._unpack(maven, item, resolved[item.name], started))
                elif isinstance(wanted, pins.DistributionComponent):
                    results.append(self._distribute(maven, item, wanted, resolved[item.name]))
                else:
                    source = "Maven" if is_locked(item.name) else "Maven, of which no hash is pinned"
                    results.append(self._assemble(maven, item, resolved[item.name], started, source))
        for item in items.values():
            project = pins.COMPONENTS[item.name]
            if isinstance(project, pins.ProjectComponent):
                results.append(self._build(maven, item, project))
        return results

    def _build(self, maven: Maven, item: Item, component: pins.ProjectComponent) -> Result:
        started = time.monotonic()
        self.progress.start(item.label, "building with Maven")
        with self.cache.staging(f"{item.name} jar") as staged:
            on_text = _updates(self.progress, item.label)
            resolved = maven.build(component, self.reactor, on_text, staged)
            return self._assemble(maven, item, resolved, started, "Maven, one built here")

    def _assemble(self, maven: Maven, item: Item, resolved: Resolved, started: float, source: str) -> Result:
        with self.cache.staging(f"{item.name} jars") as staged:
            maven.assemble(item.name, resolved, staged / "lib")
            count = len(list((staged / "lib").iterdir()))
            stamp = stamps.take(staged, item.key, f"{count} jars from {source}")
            self.cache.publish(staged, item.folder, stamp)
        return _finish(self.progress, item, stamp, started)

    def _unpack(self, maven: Maven, item: Item, resolved: Resolved, started: float) -> Result:
        maven.check(item.name, resolved)
        with self.cache.staging(f"{item.name} programs") as staged:
            for jar in resolved.jars:
                archives.unpack(jar, staged)
            stamp = stamps.take(staged, item.key, f"{', '.join(jar.stem for jar in resolved.jars)} from Maven")
            self.cache.publish(staged, item.folder, stamp)
        return _finish(self.progress, item, stamp, started)

    def _distribute(
        self, maven: Maven, item: Item, component: pins.DistributionComponent, resolved: Resolved
    ) -> Result:
        started = time.monotonic()
        self.progress.start(item.label, "downloading with pip; this may take minutes")
        on_text = _updates(self.progress, item.label)
        maven.check(item.name, resolved)
        with self.cache.staging(f"{item.name} parts") as staged, self.cache.staging(f"{item.name} archive") as aside:
            archive = venvs.download(component.name, aside, self.cache, self.runner, on_text)
            on_text(f"unpacking {archive.name}")
            archives.unpack_parts(archive, component.kept, staged)
            maven.link(component.coordinates, resolved, staged)
            stamp = stamps.take(
                staged, item.key, f"{archive.name} from the index, {len(resolved.jars)} jars from Maven"
            )
            self.cache.publish(staged, item.folder, stamp)
        return _finish(self.progress, item, stamp, started)


def _from_registry(missing: list[Item]) -> list[pins.MavenComponent]:
    """The components that Maven resolves. Raises ArtifactError where one is not to be had for this platform."""
    found = []
    for item in (item for item in missing if item.kind == "components"):
        component = pins.COMPONENTS[item.name]
        if isinstance(component, pins.ArchiveComponent):
            found.append(archives.jar_for(component, platform_tag()))
        elif isinstance(component, pins.DistributionComponent):
            found.append(component.jars)
        elif isinstance(component, pins.MavenComponent):
            found.append(component)
    return found


@dataclass(frozen=True)
class BinarySteps:
    """Pulumi and MinIO: what can be had at once first, then the Go builds on one shared cache."""

    cache: Cache
    runner: Runner
    progress: Progress

    def make(self, missing: list[Item]) -> list[Result]:
        results, to_build = [], []
        for item in (item for item in missing if item.kind == "binaries"):
            result = self._ready_made(item, BINARIES[item.name])
            if result:
                results.append(result)
            else:
                to_build.append(item)
        if to_build:
            results += self._build(to_build)
        return results

    def _ready_made(self, item: Item, binary: Binary) -> Result | None:
        started = time.monotonic()
        self.progress.start(item.label, "looking for a release")
        with self.cache.staging(item.name) as staged:
            if found := find_on_path(binary, self.cache):
                stamp = stamp_on_path(binary, *found)
            else:
                on_text = _updates(self.progress, item.label)
                source = from_vendor(binary, staged, self.runner, on_text, self.progress.note)
                if source is None:
                    return None
                stamp = stamps.take(staged, item.key, source)
            self.cache.publish(staged, item.folder, stamp)
        return _finish(self.progress, item, stamp, started)

    def _build(self, items: list[Item]) -> list[Result]:
        names = " and ".join(item.name for item in items)
        alternative = "; ".join(BINARIES[item.name].alternative for item in items)
        go = prerequisites.find_go(f"building {names}", environment(self.cache), alternative)
        toolchain = GoToolchain(self.cache, self.runner, go.executable)
        version = prerequisites.version_text(go.version)
        results = []
        for item in items:
            started = time.monotonic()
            self.progress.start(item.label, f"building with Go {version}; this takes minutes")
            with self.cache.staging(item.name) as staged:
                module = BINARIES[item.name].module
                toolchain.build(module, staged, _updates(self.progress, item.label))
                stamp = stamps.take(staged, item.key, f"built with Go {version}")
                self.cache.publish(staged, item.folder, stamp)
            results.append(_finish(self.progress, item, stamp, started))
        self.progress.start("Go caches", "deleting what the builds no longer need")
        started = time.monotonic()
        toolchain.purge()
        self.progress.done("Go caches", "deleted", time.monotonic() - started, 0)
        return results


@dataclass(frozen=True)
class EnvironmentSteps:
    """Virtual environments, in the order in which they see each other."""

    cache: Cache
    runner: Runner
    progress: Progress

    def make(self, missing: list[Item]) -> list[Result]:
        results = []
        for item in (item for item in missing if item.kind == "venvs"):
            started = time.monotonic()
            stamp = venvs.create(venvs.ENVIRONMENTS[item.name], self.cache, self.runner, self.progress)
            results.append(Result(item.label, stamp.source, time.monotonic() - started, stamp.size))
        return results


@dataclass(frozen=True)
class PageSteps:
    """The lineage page, built by npm from the folder `project`."""

    cache: Cache
    runner: Runner
    progress: Progress
    project: Path

    def make(self, missing: list[Item]) -> list[Result]:
        results = []
        for item in (item for item in missing if item.kind == page.NAME):
            started = time.monotonic()
            self.progress.start(item.label, "building with npm")
            on_text = _updates(self.progress, item.label)
            stamp = page.make(self.project, item.folder, item.key, self.cache, self.runner, on_text)
            results.append(_finish(self.progress, item, stamp, started))
        return results


@dataclass(frozen=True)
class SchemaSteps:
    """JSON schemas of the OpenLineage standard, for tests: copied from `$LINEAGE_LAB_SPEC`, else downloaded."""

    cache: Cache
    progress: Progress

    def make(self, missing: list[Item]) -> list[Result]:
        results = []
        for item in (item for item in missing if item.kind == schema_files.NAME):
            started = time.monotonic()
            self.progress.start(item.label, "downloading")
            with self.cache.staging(item.name) as staged:
                try:
                    source = schema_files.write_schemas(staged, _updates(self.progress, item.label))
                except schema_files.SchemasUnavailable as error:
                    raise ArtifactError(f"Setting up {item.label}", str(error), schema_files.REMEDY) from error
                stamp = stamps.take(staged, item.key, source)
                self.cache.publish(staged, item.folder, stamp)
            results.append(_finish(self.progress, item, stamp, started))
        return results


@dataclass(frozen=True)
class ClassDataSteps:
    """The archive of Spark's classes: after its jars and its environment, with which it is made."""

    cache: Cache
    runner: Runner
    progress: Progress
    training: Callable[[], class_data.Training]

    def make(self, missing: list[Item]) -> list[Result]:
        results = []
        for item in (item for item in missing if item.kind == class_data.NAME):
            started = time.monotonic()
            self.progress.start(item.label, "running what drivers do; this takes up to a minute")
            on_text = _updates(self.progress, item.label)
            stamp = class_data.make(item.folder, item.key, self.training(), self.cache, self.runner, on_text)
            results.append(_finish(self.progress, item, stamp, started))
        return results


def _updates(progress: Progress, name: str) -> Callable[[str], None]:
    return lambda text: progress.update(name, text)


def _finish(progress: Progress, item: Item, stamp: stamps.Stamp, started: float) -> Result:
    result = Result(item.label, stamp.source, time.monotonic() - started, stamp.size)
    progress.done(item.label, result.source, result.seconds, result.size)
    return result
