# SPDX-License-Identifier: Apache-2.0
"""One installer per kind of artefact; all of them run with the cache's lock held."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.toolchain import archives, class_data, page, pins, prerequisites, venvs
from infra.toolchain import manifest as manifests
from infra.toolchain.binaries import BINARIES, Binary, download_release, find_on_path, manifest_of_path_binary
from infra.toolchain.cache import Cache, platform_tag
from infra.toolchain.errors import ArtifactError
from infra.toolchain.golang import GoModule, GoToolchain, go_environment
from infra.toolchain.maven import Maven, ResolvedJars, is_locked
from infra.toolchain.process import Runner
from infra.toolchain.progress import Progress
from lineage.checks import schema_files


@dataclass(frozen=True)
class ArtifactSpec:
    """Artefact that this checkout requires. `kind` is its folder in the cache, `label` its name in messages."""

    kind: str
    name: str
    label: str
    key: str
    folder: Path


@dataclass(frozen=True)
class InstalledArtifact:
    """Result of one installation: origin, duration in seconds, bytes on disk."""

    label: str
    source: str
    seconds: float
    size: int


class Installer(Protocol):
    """Installs the artefacts of one kind among `missing`."""

    def install(self, missing: list[ArtifactSpec]) -> list[InstalledArtifact]: ...


@dataclass(frozen=True)
class ComponentInstaller:
    """Installer of Maven components: resolves those from registries in one run, then builds the checkout's modules."""

    cache: Cache
    runner: Runner
    progress: Progress
    reactor: Path

    def check_prerequisites(self, missing: list[ArtifactSpec]) -> None:
        """Check platform, JDK and Maven before anything is downloaded. Raises ArtifactError."""
        _maven_components(missing)
        prerequisites.find_jdk()
        prerequisites.find_maven()

    def install(self, missing: list[ArtifactSpec]) -> list[InstalledArtifact]:
        specs = {spec.name: spec for spec in missing if spec.kind == "components"}
        maven = Maven(self.cache, self.runner)
        registry = _maven_components(missing)
        results = []
        started = time.monotonic()
        if registry:
            first = specs[registry[0].name].label
            self.progress.start(first, "resolving with Maven")
            resolved = maven.resolve(registry, lambda text: self.progress.update(first, text))
            for component in registry:
                spec = specs[component.name]
                wanted = pins.COMPONENTS[spec.name]
                if isinstance(wanted, pins.ArchiveComponent):
                    results.append(self._install_archive(maven, spec, wanted, resolved[spec.name], started))
                elif isinstance(wanted, pins.DistributionComponent):
                    results.append(self._install_distribution(maven, spec, wanted, resolved[spec.name]))
                else:
                    source = "Maven" if is_locked(spec.name) else "Maven, not verified: no lock"
                    results.append(self._publish_jars(maven, spec, resolved[spec.name], started, source))
        for spec in specs.values():
            project = pins.COMPONENTS[spec.name]
            if isinstance(project, pins.ProjectComponent):
                results.append(self._build_project(maven, spec, project))
        return results

    def _build_project(self, maven: Maven, spec: ArtifactSpec, component: pins.ProjectComponent) -> InstalledArtifact:
        started = time.monotonic()
        self.progress.start(spec.label, "building with Maven")
        with self.cache.staging(f"{spec.name} jar") as staged:
            on_text = _progress_callback(self.progress, spec.label)
            resolved = maven.build(component, self.reactor, on_text, staged)
            return self._publish_jars(maven, spec, resolved, started, "Maven, one built from the checkout")

    def _publish_jars(
        self, maven: Maven, spec: ArtifactSpec, resolved: ResolvedJars, started: float, source: str
    ) -> InstalledArtifact:
        with self.cache.staging(f"{spec.name} jars") as staged:
            maven.assemble(spec.name, resolved, staged / "lib")
            count = len(list((staged / "lib").iterdir()))
            manifest = manifests.create(staged, spec.key, f"{count} jars from {source}")
            self.cache.publish(staged, spec.folder, manifest)
        return _report_done(self.progress, spec, manifest, started)

    def _install_archive(
        self,
        maven: Maven,
        spec: ArtifactSpec,
        component: pins.ArchiveComponent,
        resolved: ResolvedJars,
        started: float,
    ) -> InstalledArtifact:
        maven.verify(spec.name, resolved)
        with self.cache.staging(f"{spec.name} programs") as staged, self.cache.staging(f"{spec.name} archive") as aside:
            for jar in resolved.jars:
                if component.kept:
                    archives.unpack_kept(jar, component.kept, aside, staged)
                else:
                    archives.unpack(jar, staged)
            manifest = manifests.create(staged, spec.key, f"{', '.join(jar.stem for jar in resolved.jars)} from Maven")
            self.cache.publish(staged, spec.folder, manifest)
        return _report_done(self.progress, spec, manifest, started)

    def _install_distribution(
        self, maven: Maven, spec: ArtifactSpec, component: pins.DistributionComponent, resolved: ResolvedJars
    ) -> InstalledArtifact:
        started = time.monotonic()
        self.progress.start(spec.label, "downloading with pip; this may take minutes")
        on_text = _progress_callback(self.progress, spec.label)
        maven.verify(spec.name, resolved)
        with self.cache.staging(f"{spec.name} parts") as staged, self.cache.staging(f"{spec.name} archive") as aside:
            archive = venvs.download_sdist(component.name, aside, self.cache, self.runner, on_text)
            on_text(f"unpacking {archive.name}")
            archives.unpack_selected(archive, component.extracted, staged)
            maven.link_into_folders(component.coordinates, resolved, staged)
            manifest = manifests.create(
                staged, spec.key, f"{archive.name} from the package index, {len(resolved.jars)} jars from Maven"
            )
            self.cache.publish(staged, spec.folder, manifest)
        return _report_done(self.progress, spec, manifest, started)


def _maven_components(missing: list[ArtifactSpec]) -> list[pins.MavenComponent]:
    """Return the components that Maven resolves. Raises ArtifactError if one has no build for this platform."""
    found = []
    for spec in (spec for spec in missing if spec.kind == "components"):
        component = pins.COMPONENTS[spec.name]
        if isinstance(component, pins.ArchiveComponent):
            found.append(archives.platform_jar(component, platform_tag()))
        elif isinstance(component, pins.DistributionComponent):
            found.append(component.jars)
        elif isinstance(component, pins.MavenComponent):
            found.append(component)
    return found


@dataclass(frozen=True)
class BinaryInstaller:
    """Installer of Pulumi and MinIO: vendors' releases first, then Go builds, which share one build cache."""

    cache: Cache
    runner: Runner
    progress: Progress

    def install(self, missing: list[ArtifactSpec]) -> list[InstalledArtifact]:
        results, to_build = [], []
        for spec in (spec for spec in missing if spec.kind == "binaries"):
            result = self._install_release(spec, BINARIES[spec.name])
            if result:
                results.append(result)
            else:
                to_build.append(spec)
        if to_build:
            results += self._build_from_source(to_build)
        return results

    def _install_release(self, spec: ArtifactSpec, binary: Binary) -> InstalledArtifact | None:
        started = time.monotonic()
        self.progress.start(spec.label, "searching for a release")
        with self.cache.staging(spec.name) as staged:
            if found := find_on_path(binary, self.cache):
                manifest = manifest_of_path_binary(binary, *found)
            else:
                on_text = _progress_callback(self.progress, spec.label)
                source = download_release(binary, staged, self.runner, on_text, self.progress.note)
                if source is None:
                    return None
                manifest = manifests.create(staged, spec.key, source)
            self.cache.publish(staged, spec.folder, manifest)
        return _report_done(self.progress, spec, manifest, started)

    def _build_from_source(self, specs: list[ArtifactSpec]) -> list[InstalledArtifact]:
        remedy_without_go = "; ".join(BINARIES[spec.name].remedy_without_go for spec in specs)
        builds = [(spec, BINARIES[spec.name].module) for spec in specs]
        return build_go_modules(builds, self.cache, self.runner, self.progress, remedy_without_go)


def build_go_modules(
    builds: Sequence[tuple[ArtifactSpec, GoModule]],
    cache: Cache,
    runner: Runner,
    progress: Progress,
    remedy_without_go: str,
) -> list[InstalledArtifact]:
    """Build Go modules into their folders of the cache, then delete Go's own caches. Raises ArtifactError."""
    names = " and ".join(spec.name for spec, _ in builds)
    go = prerequisites.find_go(f"building {names}", go_environment(cache), remedy_without_go)
    toolchain = GoToolchain(cache, runner, go.executable)
    version = prerequisites.format_version(go.version)
    results = []
    for spec, module in builds:
        started = time.monotonic()
        progress.start(spec.label, f"building with Go {version}; this takes minutes")
        with cache.staging(spec.name) as staged:
            toolchain.build(module, staged, _progress_callback(progress, spec.label))
            manifest = manifests.create(staged, spec.key, f"built with Go {version}")
            cache.publish(staged, spec.folder, manifest)
        results.append(_report_done(progress, spec, manifest, started))
    progress.start("Go caches", "deleting module and build cache")
    started = time.monotonic()
    toolchain.purge()
    progress.done("Go caches", "deleted", time.monotonic() - started, 0)
    return results


@dataclass(frozen=True)
class VenvInstaller:
    """Installer of virtual environments, included ones first."""

    cache: Cache
    runner: Runner
    progress: Progress

    def install(self, missing: list[ArtifactSpec]) -> list[InstalledArtifact]:
        results = []
        for spec in (spec for spec in missing if spec.kind == "venvs"):
            started = time.monotonic()
            manifest = venvs.create_venv(venvs.ENVIRONMENTS[spec.name], self.cache, self.runner, self.progress)
            results.append(InstalledArtifact(spec.label, manifest.source, time.monotonic() - started, manifest.size))
        return results


@dataclass(frozen=True)
class PageInstaller:
    """Installer of the lineage page, built by npm from the folder `project`."""

    cache: Cache
    runner: Runner
    progress: Progress
    project: Path

    def install(self, missing: list[ArtifactSpec]) -> list[InstalledArtifact]:
        results = []
        for spec in (spec for spec in missing if spec.kind == page.NAME):
            started = time.monotonic()
            self.progress.start(spec.label, "building with npm")
            on_text = _progress_callback(self.progress, spec.label)
            manifest = page.build_page(self.project, spec.folder, spec.key, self.cache, self.runner, on_text)
            results.append(_report_done(self.progress, spec, manifest, started))
        return results


@dataclass(frozen=True)
class SchemaInstaller:
    """Installer of the OpenLineage JSON schemas for tests: copied from `$LINEAGE_LAB_SPEC`, else downloaded."""

    cache: Cache
    progress: Progress

    def install(self, missing: list[ArtifactSpec]) -> list[InstalledArtifact]:
        results = []
        for spec in (spec for spec in missing if spec.kind == schema_files.NAME):
            started = time.monotonic()
            self.progress.start(spec.label, "downloading")
            with self.cache.staging(spec.name) as staged:
                try:
                    source = schema_files.write_schemas(staged, _progress_callback(self.progress, spec.label))
                except schema_files.SchemasUnavailable as error:
                    raise ArtifactError(f"Setting up {spec.label}", str(error), schema_files.REMEDY) from error
                manifest = manifests.create(staged, spec.key, source)
                self.cache.publish(staged, spec.folder, manifest)
            results.append(_report_done(self.progress, spec, manifest, started))
        return results


@dataclass(frozen=True)
class ClassDataInstaller:
    """Installer of the class data archive of Spark's drivers; requires the jars and the environment `spark`."""

    cache: Cache
    runner: Runner
    progress: Progress
    training: Callable[[], class_data.TrainingRun]

    def install(self, missing: list[ArtifactSpec]) -> list[InstalledArtifact]:
        results = []
        for spec in (spec for spec in missing if spec.kind == class_data.NAME):
            started = time.monotonic()
            self.progress.start(spec.label, "running a training driver; this takes up to a minute")
            on_text = _progress_callback(self.progress, spec.label)
            manifest = class_data.create_archive(
                spec.folder, spec.key, self.training(), self.cache, self.runner, on_text
            )
            results.append(_report_done(self.progress, spec, manifest, started))
        return results


def _progress_callback(progress: Progress, name: str) -> Callable[[str], None]:
    return lambda text: progress.update(name, text)


def _report_done(
    progress: Progress, spec: ArtifactSpec, manifest: manifests.Manifest, started: float
) -> InstalledArtifact:
    result = InstalledArtifact(spec.label, manifest.source, time.monotonic() - started, manifest.size)
    progress.done(spec.label, result.source, result.seconds, result.size)
    return result
