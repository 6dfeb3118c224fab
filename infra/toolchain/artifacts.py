# SPDX-License-Identifier: Apache-2.0
"""Set-up of artefacts by name, and the paths of installed ones."""

import os
import shutil
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from infra.toolchain import class_data, page, pins, prerequisites, venvs
from infra.toolchain import manifest as manifests
from infra.toolchain.binaries import BINARIES
from infra.toolchain.cache import Cache, hash_key, hash_tree, platform_tag
from infra.toolchain.class_data import TrainingRun
from infra.toolchain.earlier import earlier_version
from infra.toolchain.errors import ArtifactError, Cancelled
from infra.toolchain.installers import (
    ArtifactSpec,
    BinaryInstaller,
    ClassDataInstaller,
    ComponentInstaller,
    InstalledArtifact,
    Installer,
    PageInstaller,
    SchemaInstaller,
    VenvInstaller,
)
from infra.toolchain.lock import lock_path
from infra.toolchain.maven import Maven, render_pom
from infra.toolchain.process import Runner, disk_remedy, is_disk_full, sigterm_as_keyboard_interrupt
from infra.toolchain.progress import Progress
from infra.toolchain.pruning import Unused, unused_artifacts
from lineage.checks import schema_files

MAVEN_REACTOR = Path(__file__).resolve().parents[2] / "components"
PAGE_PROJECT = MAVEN_REACTOR.parent / "page"
PACKAGED_JAVA = {21: venvs.JAVA_21, 25: venvs.JAVA_25}
"""Releases of Java whose runtime is a package of a virtual environment."""

_EVERY_LAB_JAVA = 21
"""The one that every lab has. A lab that does not need another one may run its own services on a JDK of the machine."""

_SETUP_REMEDY = "run `bin/lab setup`"

_PEAK_DISK_BYTES = {
    "components": 2_000_000_000,
    "binaries": 6_000_000_000,
    "venvs": 2_500_000_000,
    class_data.NAME: 400_000_000,
    page.NAME: 300_000_000,
    schema_files.NAME: 1_000_000,
}
"""Peak disk usage per kind in bytes, temporary Go caches and PySpark sources included."""

COMPONENTS = frozenset(pins.COMPONENTS)
ALL_ARTIFACTS = (
    COMPONENTS
    | BINARIES.keys()
    | (venvs.ENVIRONMENTS.keys() - {venvs.KIT.name})
    | {class_data.NAME, page.NAME, schema_files.NAME}
)
"""Names that `Artifacts.setup` accepts.

`spark` is both a component and an environment; `test` includes `kit`, `spark`, `sql` and `catalog`; `class-data`, the
class data archive of Spark's drivers, requires `spark`, installed or in the same call.
"""


@dataclass(frozen=True)
class SetupReport:
    """Result of a set-up: newly installed artefacts, duration in seconds, bytes of all requested artefacts."""

    installed: tuple[InstalledArtifact, ...]
    seconds: float
    size: int


class Artifacts:
    """Artefacts of this checkout in one cache."""

    def __init__(self, cache: Cache, *, or_earlier: bool = False, or_planned: bool = False) -> None:
        self.cache = cache
        self._or_earlier = or_earlier
        self._or_planned = or_planned

    @classmethod
    def open(cls, cache: Path | None = None, *, or_earlier: bool = False, or_planned: bool = False) -> "Artifacts":
        """Open `cache`, else `$LINEAGE_LAB_CACHE`, else a folder in the user's cache home.

        Args:
            cache: folder.
            or_earlier: artefacts that are not installed are those of an earlier checkout, if there are any.
            or_planned: artefacts that are not installed are where they will be installed.

        Raises:
            ArtifactError: the cache cannot be used.
        """
        return cls(Cache.open(cache), or_earlier=or_earlier, or_planned=or_planned)

    def setup(self, names: Iterable[str], progress: Progress) -> SetupReport:
        """Install the missing artefacts among `names` (see `ALL_ARTIFACTS`). Raises ArtifactError.

        If all are installed, only manifests are read: no network access, no lock, no tool is run.
        """
        started = time.monotonic()
        specs = self._specs(names)
        installed: tuple[InstalledArtifact, ...] = ()
        if any(_find_damage(spec) is not None for spec in specs):
            with self.cache.lock(progress.note), sigterm_as_keyboard_interrupt(), closing(progress):
                installed = self._install_missing(specs, progress)
        size = sum(manifest.size for spec in specs if (manifest := manifests.load(spec.folder)))
        return SetupReport(installed, time.monotonic() - started, size)

    def verify(self) -> list[manifests.Problem]:
        """Hash all installed artefacts of this checkout; remove corrupted ones and return their damaged files.

        Of the environment of this process only the manifest is removed; the next `lab` command recreates it.
        """
        problems = []
        for spec in self._specs(ALL_ARTIFACTS | {"kit"}):
            if not (manifest := manifests.load(spec.folder)):
                continue
            reject_unlisted = spec.kind == "components"
            if found := manifests.corrupted_files(manifest, spec.label, spec.folder, reject_unlisted=reject_unlisted):
                problems += found
                self._discard(spec, found)
        return problems

    def prune(self, progress: Progress) -> list[Unused]:
        """Remove what neither this checkout nor a running process uses; return it."""
        kept = {spec.folder for spec in self._specs(ALL_ARTIFACTS | {"kit"})}
        with self.cache.lock(progress.note), sigterm_as_keyboard_interrupt(), closing(progress):
            self.cache.clear_tmp()
            found = unused_artifacts(self.cache.root, kept)
            for unused in found:
                # Without its manifest, a folder that is removed in part counts as missing.
                (unused.folder / manifests.MANIFEST_FILE).unlink(missing_ok=True)
                shutil.rmtree(unused.folder)
        return found

    def component(self, name: str) -> Path:
        """Return the folder of a component: jars in `lib/`, programs in `bin/`, files of the page in `site/`.

        Raises:
            ArtifactError: the component is not installed.
        """
        return self._installed_folder(self._file_spec(name))

    def component_key(self, name: str) -> str:
        """Return the cache key of a component, installed or not."""
        return self._file_spec(name).key

    def has(self, name: str) -> bool:
        """Return True if a component is installed; for optional ones."""
        return _is_installed(self._file_spec(name))

    def binary_dir(self, name: str) -> Path:
        """Return the folder of a binary and its companions, for PATH. Raises ArtifactError."""
        spec = self._binary_spec(name)
        folder = self._installed_folder(spec)
        manifest = manifests.load(folder)
        return manifest.root(folder) if manifest else folder

    def binary(self, name: str) -> Path:
        """Return the path of an executable (`pulumi`, `minio`). Raises ArtifactError."""
        return self.binary_dir(name) / name

    def python(self, name: str) -> Path:
        """Return the interpreter of a virtual environment: `kit`, `spark`, `sql`, `test`. Raises ArtifactError."""
        return self._installed_folder(self._environment_spec(name)) / "bin" / "python"

    def class_data(self, name: str) -> Path:
        """Return the folder of a component's class data archive, which need not exist."""
        if name != class_data.COMPONENT:
            raise KeyError(name)
        return self._class_data_spec().folder

    def java(self, runtime: int = pins.MINIMUM_JDK[0]) -> Path:
        """Return the `java` executable of a release.

        Release 17 is the JDK of the machine (17 or newer). One of `PACKAGED_JAVA` is packaged (`packaged_java`); any
        other one must be on the machine (`prerequisites.find_java_release`).

        Raises:
            ArtifactError: the release is not installed.
        """
        if runtime == pins.MINIMUM_JDK[0]:
            return prerequisites.find_jdk().executable
        if packaged := self.packaged_java(runtime):
            return venvs.java_executable(self._installed_folder(self._environment_spec(packaged.name)))
        return prerequisites.find_java_release(runtime).executable

    def packaged_java(self, runtime: int) -> venvs.VirtualEnvironment | None:
        """Return the environment with the runtime of a release; None if a JDK of this machine is used.

        That is the case for a release that is not packaged, and for one that is not installed, but is on the machine.
        """
        packaged = PACKAGED_JAVA.get(runtime)
        if packaged is None or runtime == _EVERY_LAB_JAVA or _is_installed(self._environment_spec(packaged.name)):
            return packaged
        try:
            prerequisites.find_java_release(runtime)
        except ArtifactError:
            return packaged  # the remedy for the missing one is to install it
        return None

    def maven_command(self) -> tuple[list[str], dict[str, str]]:
        """Return the command line of Maven with the cache's repository, and its environment variables."""
        maven = Maven(self.cache, Runner(self.cache.tmp))
        return maven.command(), {"JAVA_HOME": str(prerequisites.find_jdk().home)}

    def _specs(self, names: Iterable[str]) -> list[ArtifactSpec]:
        wanted = set(names)
        if unknown := sorted(wanted - ALL_ARTIFACTS - {"kit"}):
            known = ", ".join(sorted(ALL_ARTIFACTS))
            raise ArtifactError("Setting up", f"unknown names: {', '.join(unknown)}", f"choose from {known}")
        specs = [self._component_spec(name) for name in sorted(wanted & COMPONENTS)]
        specs += [self._binary_spec(name) for name in BINARIES if name in wanted]
        specs += [self._environment_spec(name) for name in venvs.with_included(wanted)]
        specs += [self._page_spec()] if page.NAME in wanted else []
        specs += [self._schemas_spec()] if schema_files.NAME in wanted else []
        return specs + ([self._class_data_spec()] if class_data.NAME in wanted else [])

    def _file_spec(self, name: str) -> ArtifactSpec:
        if name == page.NAME:
            return self._page_spec()
        if name == schema_files.NAME:
            return self._schemas_spec()
        if name not in COMPONENTS:
            raise KeyError(name)
        return self._component_spec(name)

    def _component_spec(self, name: str) -> ArtifactSpec:
        component = pins.COMPONENTS[name]
        lock = lock_path(name).read_bytes() if lock_path(name).exists() else b""
        label = f"{name} jars"
        if isinstance(component, pins.MavenComponent):
            key = hash_key(render_pom(component), lock)
        elif isinstance(component, pins.ArchiveComponent):
            label = name
            kept = component.kept and (repr(component.kept),)
            key = hash_key(component.coordinate(platform_tag()) or "", platform_tag(), *kept, lock)
        elif isinstance(component, pins.DistributionComponent):
            label = name
            archive = (venvs.REQUIREMENTS / f"{name}.txt").read_bytes()
            key = hash_key(archive, repr((component.extracted, component.coordinates)), lock)
        else:
            module = (MAVEN_REACTOR / component.module).resolve()
            sources = [MAVEN_REACTOR / "pom.xml", module / "pom.xml", module / "src" / "main"]
            key = hash_key(hash_tree(*sources, below=MAVEN_REACTOR.parent), lock)
        return ArtifactSpec("components", name, label, key, self.cache.root / "components" / f"{name}-{key}")

    def _binary_spec(self, name: str) -> ArtifactSpec:
        binary = BINARIES[name]
        return ArtifactSpec("binaries", name, name, binary.key, binary.folder(self.cache))

    def _environment_spec(self, name: str) -> ArtifactSpec:
        environment = venvs.ENVIRONMENTS[name]
        return ArtifactSpec("venvs", name, environment.label, environment.key, environment.folder(self.cache))

    def _page_spec(self) -> ArtifactSpec:
        key = page.source_key(PAGE_PROJECT)
        return ArtifactSpec(
            page.NAME, page.NAME, "lineage page", key, self.cache.root / page.NAME / f"{page.NAME}-{key}"
        )

    def _schemas_spec(self) -> ArtifactSpec:
        name = schema_files.NAME
        return ArtifactSpec(
            name, name, "OpenLineage schemas", schema_files.KEY, schema_files.cache_folder(self.cache.root)
        )

    def _class_data_spec(self) -> ArtifactSpec:
        """Return the spec of the class data archive; its key includes its path, as it contains absolute paths."""
        spark = (self._component_spec("spark").key, venvs.SPARK.key, str(self.cache.root))
        key = class_data.archive_key(*spark)
        folder = self.cache.root / class_data.NAME / f"{class_data.COMPONENT}-{key}"
        return ArtifactSpec(class_data.NAME, class_data.COMPONENT, "class data archive of Spark", key, folder)

    def _training_run(self) -> TrainingRun:
        jars = self.component("spark") / "lib"
        return TrainingRun(jars, self.python("spark"), self.java())

    def _installed_folder(self, spec: ArtifactSpec) -> Path:
        if _is_installed(spec) or self._or_planned:
            return spec.folder
        if self._or_earlier and (earlier := earlier_version(spec.folder)):
            return earlier
        raise ArtifactError(f"Looking for {spec.label}", f"not installed in {self.cache.root}", _SETUP_REMEDY)

    def _install_missing(self, specs: list[ArtifactSpec], progress: Progress) -> tuple[InstalledArtifact, ...]:
        for name in self.cache.clear_tmp():
            progress.note(f"removed {name}, left by an interrupted set-up")
        missing = [spec for spec in specs if self._is_missing(spec, progress)]
        try:
            self._check_disk_space(missing)
            return self._install_in_parallel(missing, progress)
        finally:
            self.cache.clear_tmp()  # temporary files of the tools

    def _is_missing(self, spec: ArtifactSpec, progress: Progress) -> bool:
        """Check again with the lock held, as another process may have installed the artefact; discard a damaged one."""
        damage = _find_damage(spec)
        if damage is None:
            return False
        for problem in damage:
            progress.note(f"{problem}: the artefact was removed and is installed again")
        self._discard(spec, damage)
        self._reject_running_environment(spec)
        return True

    def _install_in_parallel(self, missing: list[ArtifactSpec], progress: Progress) -> tuple[InstalledArtifact, ...]:
        """Run Go builds (CPU-bound) and Maven and pip (network-bound) in parallel lanes."""
        runner = Runner(self.cache.tmp)
        components = ComponentInstaller(self.cache, runner, progress, MAVEN_REACTOR)
        lanes: list[list[Installer]] = [
            [BinaryInstaller(self.cache, runner, progress)],
            [components],
            [
                SchemaInstaller(self.cache, progress),
                VenvInstaller(self.cache, runner, progress),
                PageInstaller(self.cache, runner, progress, PAGE_PROJECT),
            ],
        ]
        if any(spec.kind == "components" for spec in missing):
            components.check_prerequisites(missing)

        def run_lane(lane: list[Installer]) -> list[InstalledArtifact]:
            try:
                return [result for steps in lane for result in steps.install(missing)]
            except BaseException:
                runner.stop()
                raise

        with ThreadPoolExecutor(max_workers=len(lanes)) as pool:
            futures = [pool.submit(run_lane, lane) for lane in lanes]
            try:
                wait(futures)
            except KeyboardInterrupt:
                runner.stop()
                raise
        errors = [error for future in futures if (error := future.exception())]
        if errors:
            raise self._explain_full_disk(next((e for e in errors if not isinstance(e, Cancelled)), errors[0]))
        results = [result for future in futures for result in future.result()]
        return (*results, *ClassDataInstaller(self.cache, runner, progress, self._training_run).install(missing))

    def _explain_full_disk(self, error: BaseException) -> BaseException:
        """Turn a full disk into an ArtifactError; return any other error unchanged."""
        if isinstance(error, OSError) and is_disk_full(error):
            return ArtifactError("Setting up", str(error), disk_remedy(self.cache.root))
        return error

    def _discard(self, spec: ArtifactSpec, problems: list[manifests.Problem]) -> None:
        """Delete an artefact, and the Maven repository's copies of its corrupted files."""
        if spec.kind == "components":
            runner = Runner(self.cache.tmp)
            Maven(self.cache, runner).delete_from_repository({problem.path.name for problem in problems})
        (spec.folder / manifests.MANIFEST_FILE).unlink(missing_ok=True)
        if spec.folder.exists() and spec.folder != Path(sys.prefix):
            shutil.rmtree(spec.folder)

    def _reject_running_environment(self, spec: ArtifactSpec) -> None:
        """Reject the virtual environment of this process: only the bootstrap script can recreate it."""
        if spec.folder == Path(sys.prefix):
            cause = f"{spec.folder} was modified after installation"
            raise ArtifactError(
                "Verifying the virtual environment of the `lab` command", cause, "run the same command again"
            )

    def _check_disk_space(self, missing: list[ArtifactSpec]) -> None:
        kinds = {spec.kind for spec in missing if not (spec.kind == "binaries" and self.cache.go.exists())}
        need = sum(_PEAK_DISK_BYTES[kind] for kind in kinds)
        free = shutil.disk_usage(self.cache.root).free
        if free < need and not os.environ.get("LINEAGE_LAB_IGNORE_SPACE"):
            raise ArtifactError(
                f"Setting up {', '.join(spec.label for spec in missing)}",
                f"installation needs up to {need / 1e9:.1f} GB of disk space",
                f"{disk_remedy(self.cache.root)}; LINEAGE_LAB_IGNORE_SPACE=1 disables this check",
            )


def _is_installed(spec: ArtifactSpec) -> bool:
    """Return whether an artefact is there; its files are not looked at."""
    return (spec.folder / manifests.MANIFEST_FILE).exists()


def _find_damage(spec: ArtifactSpec) -> list[manifests.Problem] | None:
    """Return None for an intact artefact, [] for a missing one, else its modified files."""
    manifest = manifests.load(spec.folder)
    if manifest is None:
        return []
    return manifests.modified_files(manifest, spec.label, spec.folder) or None
