# SPDX-License-Identifier: Apache-2.0
"""What the rest of the lab sees of set-up: ask for artifacts by name, then for their paths."""

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
from infra.toolchain import stamp as stamps
from infra.toolchain.binaries import BINARIES
from infra.toolchain.cache import Cache, key_of, key_of_tree, platform_tag
from infra.toolchain.class_data import Training
from infra.toolchain.errors import ArtifactError, Cancelled
from infra.toolchain.lock import path_of
from infra.toolchain.maven import Maven, render_pom
from infra.toolchain.process import Runner, disk_remedy, ended_by_sigterm, is_disk_full
from infra.toolchain.progress import Progress
from infra.toolchain.steps import (
    BinarySteps,
    ClassDataSteps,
    ComponentSteps,
    EnvironmentSteps,
    Item,
    PageSteps,
    Result,
    SchemaSteps,
    Steps,
)
from lineage.checks import schema_files

REACTOR = Path(__file__).resolve().parents[2] / "components"
PAGE = REACTOR.parent / "page"
_SETUP = "run `bin/lab setup`"

_DISK_NEED = {
    "components": 2_000_000_000,
    "binaries": 6_000_000_000,
    "venvs": 2_500_000_000,
    class_data.NAME: 400_000_000,
    page.NAME: 300_000_000,
    schema_files.NAME: 1_000_000,
}
"""Peak bytes per kind while it is made: with Go's caches and PySpark's sources, most of which go again."""

COMPONENTS = frozenset(pins.COMPONENTS)
EVERYTHING = COMPONENTS | BINARIES.keys() | {"test", venvs.JAVA_21.name, class_data.NAME, page.NAME, schema_files.NAME}
"""Names that `Artifacts.setup` knows. `spark` is jars and environment; `test` brings what it sees; `class-data`, the
archive of Spark's classes, needs `spark` there, or asked for with it."""


@dataclass(frozen=True)
class Report:
    """What one set-up did: what it made (nothing, where all was there), and all that is there now."""

    made: tuple[Result, ...]
    seconds: float
    size: int


class Artifacts:
    """The artifacts of this checkout in one cache."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache

    @classmethod
    def open(cls, cache: Path | None = None) -> "Artifacts":
        """With `cache`, else `$LINEAGE_LAB_CACHE`, else the user's cache home. Raises ArtifactError."""
        return cls(Cache.open(cache))

    def setup(self, names: Iterable[str], progress: Progress) -> Report:
        """Make sure that `names` (see `EVERYTHING`) are there. Raises ArtifactError.

        Where they are, only stamps are looked at: no network, no lock, no tool is run.
        """
        started = time.monotonic()
        items = self._items(names)
        made: tuple[Result, ...] = ()
        if any(_damage(item) is not None for item in items):
            with self.cache.lock(progress.note), ended_by_sigterm(), closing(progress):
                made = self._make(items, progress)
        size = sum(stamp.size for item in items if (stamp := stamps.load(item.folder)))
        return Report(made, time.monotonic() - started, size)

    def verify(self) -> list[stamps.Problem]:
        """Hash everything of this checkout that is there; what is corrupted is removed and told of.

        The environment that runs this only loses its stamp: the next `lab` command makes it anew.
        """
        problems = []
        for item in self._items(EVERYTHING | {"kit"}):
            if not (stamp := stamps.load(item.folder)):
                continue
            closed = item.kind == "components"
            if found := stamps.corrupted(stamp, item.label, item.folder, closed=closed):
                problems += found
                self._discard(item, found)
        return problems

    def component(self, name: str) -> Path:
        """The folder of a component: jars in `lib/`, programs in `bin/`, of the page files in `site/`.

        Raises:
            ArtifactError: it is not set up.
        """
        return self._whole(self._part_item(name))

    def component_key(self, name: str) -> str:
        """What decides what a component is, as a short hash; it need not be set up."""
        return self._part_item(name).key

    def has(self, name: str) -> bool:
        """Whether a component is set up; for one that not every registry has."""
        return (self._part_item(name).folder / stamps.STAMP_FILE).exists()

    def binary_dir(self, name: str) -> Path:
        """The folder to put on PATH for a binary and what belongs to it. Raises ArtifactError."""
        item = self._binary_item(name)
        folder = self._whole(item)
        stamp = stamps.load(folder)
        return stamp.root(folder) if stamp else folder

    def binary(self, name: str) -> Path:
        """An executable: `pulumi`, `minio`. Raises ArtifactError."""
        return self.binary_dir(name) / name

    def python(self, name: str) -> Path:
        """The interpreter of a virtual environment: `kit`, `spark`, `test`. Raises ArtifactError."""
        return self._whole(self._environment_item(name)) / "bin" / "python"

    def class_data(self, name: str) -> Path:
        """The folder for the archive of the classes that a component's JVMs load, whether it was made or not."""
        if name != class_data.COMPONENT:
            raise KeyError(name)
        return self._class_data_item().folder

    def java(self, runtime: int = pins.MINIMUM_JDK[0]) -> Path:
        """A `java`: the JDK's, or of a newer release that the kit brings along (21). Raises ArtifactError."""
        if runtime <= pins.MINIMUM_JDK[0]:
            return prerequisites.find_jdk().executable
        return venvs.java(self._whole(self._environment_item(f"java{runtime}")))

    def maven_command(self) -> tuple[list[str], dict[str, str]]:
        """Maven on the cache's repository: first arguments, and environment variables to add."""
        maven = Maven(self.cache, Runner(self.cache.tmp))
        return maven.command(), {"JAVA_HOME": str(prerequisites.find_jdk().home)}

    def _items(self, names: Iterable[str]) -> list[Item]:
        wanted = set(names)
        if unknown := sorted(wanted - EVERYTHING - {"kit"}):
            known = ", ".join(sorted(EVERYTHING))
            raise ArtifactError("Setting up", f"unknown: {', '.join(unknown)}", f"choose from {known}")
        if "test" in wanted:
            wanted.add("kit")
        items = [self._component_item(name) for name in sorted(wanted & COMPONENTS)]
        items += [self._binary_item(name) for name in BINARIES if name in wanted]
        environments = wanted | ({"spark"} if "test" in wanted else set())
        items += [self._environment_item(name) for name in venvs.ENVIRONMENTS if name in environments]
        items += [self._page_item()] if page.NAME in wanted else []
        items += [self._schemas_item()] if schema_files.NAME in wanted else []
        return items + ([self._class_data_item()] if class_data.NAME in wanted else [])

    def _part_item(self, name: str) -> Item:
        if name == page.NAME:
            return self._page_item()
        if name == schema_files.NAME:
            return self._schemas_item()
        if name not in COMPONENTS:
            raise KeyError(name)
        return self._component_item(name)

    def _component_item(self, name: str) -> Item:
        component = pins.COMPONENTS[name]
        lock = path_of(name).read_bytes() if path_of(name).exists() else b""
        label = f"{name} jars"
        if isinstance(component, pins.MavenComponent):
            key = key_of(render_pom(component), lock)
        elif isinstance(component, pins.ArchiveComponent):
            label = name
            key = key_of(component.coordinate(platform_tag()) or "", platform_tag(), lock)
        elif isinstance(component, pins.DistributionComponent):
            label = name
            archive = (venvs.REQUIREMENTS / f"{name}.txt").read_bytes()
            key = key_of(archive, repr((component.kept, component.coordinates)), lock)
        else:
            module = (REACTOR / component.module).resolve()
            sources = [REACTOR / "pom.xml", module / "pom.xml", module / "src" / "main"]
            key = key_of(key_of_tree(*sources, below=REACTOR.parent), lock)
        return Item("components", name, label, key, self.cache.root / "components" / f"{name}-{key}")

    def _binary_item(self, name: str) -> Item:
        binary = BINARIES[name]
        return Item("binaries", name, name, binary.key, binary.folder(self.cache))

    def _environment_item(self, name: str) -> Item:
        environment = venvs.ENVIRONMENTS[name]
        return Item("venvs", name, environment.label, environment.key, environment.folder(self.cache))

    def _page_item(self) -> Item:
        key = page.key(PAGE)
        return Item(page.NAME, page.NAME, "lineage page", key, self.cache.root / page.NAME / f"{page.NAME}-{key}")

    def _schemas_item(self) -> Item:
        name = schema_files.NAME
        return Item(name, name, "OpenLineage schemas", schema_files.KEY, schema_files.cache_folder(self.cache.root))

    def _class_data_item(self) -> Item:
        """Its folder's path is part of what it was made with, so that it is part of the key."""
        spark = (self._component_item("spark").key, venvs.SPARK.key, str(self.cache.root))
        key = class_data.key(*spark)
        folder = self.cache.root / class_data.NAME / f"{class_data.COMPONENT}-{key}"
        return Item(class_data.NAME, class_data.COMPONENT, "archive of Spark's classes", key, folder)

    def _training(self) -> Training:
        jars = self.component("spark") / "lib"
        return Training(jars, self.python("spark"), self.java())

    def _whole(self, item: Item) -> Path:
        if not (item.folder / stamps.STAMP_FILE).exists():
            raise ArtifactError(f"Looking for {item.label}", f"not in {self.cache.root}", _SETUP)
        return item.folder

    def _make(self, items: list[Item], progress: Progress) -> tuple[Result, ...]:
        for name in self.cache.sweep():
            progress.note(f"removed what an interrupted set-up left of {name}")
        missing = [item for item in items if self._is_missing(item, progress)]
        try:
            self._check_space(missing)
            return self._run(missing, progress)
        finally:
            self.cache.sweep()  # what tools leave in their temporary directory

    def _is_missing(self, item: Item, progress: Progress) -> bool:
        """Look again, with the lock held: somebody may have made it meanwhile. What was touched is discarded."""
        damage = _damage(item)
        if damage is None:
            return False
        for problem in damage:
            progress.note(f"{problem}: removed, to be made again")
        self._discard(item, damage)
        self._refuse_own(item)
        return True

    def _run(self, missing: list[Item], progress: Progress) -> tuple[Result, ...]:
        """Go builds keep the processors busy, Maven and pip the network: one lane each."""
        runner = Runner(self.cache.tmp)
        components = ComponentSteps(self.cache, runner, progress, REACTOR)
        lanes: list[list[Steps]] = [
            [BinarySteps(self.cache, runner, progress)],
            [components],
            [
                SchemaSteps(self.cache, progress),
                EnvironmentSteps(self.cache, runner, progress),
                PageSteps(self.cache, runner, progress, PAGE),
            ],
        ]
        if any(item.kind == "components" for item in missing):
            components.check_prerequisites(missing)

        def run_lane(lane: list[Steps]) -> list[Result]:
            try:
                return [result for steps in lane for result in steps.make(missing)]
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
            raise self._told(next((e for e in errors if not isinstance(e, Cancelled)), errors[0]))
        results = [result for future in futures for result in future.result()]
        return (*results, *ClassDataSteps(self.cache, runner, progress, self._training).make(missing))

    def _told(self, error: BaseException) -> BaseException:
        """A full disk in words; anything else as it is."""
        if isinstance(error, OSError) and is_disk_full(error):
            return ArtifactError("Setting up", str(error), disk_remedy(self.cache.root))
        return error

    def _discard(self, item: Item, problems: list[stamps.Problem]) -> None:
        """Forget an artifact, and the repository's copies of its corrupted files."""
        if item.kind == "components":
            runner = Runner(self.cache.tmp)
            Maven(self.cache, runner).forget({problem.path.name for problem in problems})
        (item.folder / stamps.STAMP_FILE).unlink(missing_ok=True)
        if item.folder.exists() and item.folder != Path(sys.prefix):
            shutil.rmtree(item.folder)

    def _refuse_own(self, item: Item) -> None:
        """This process cannot make the environment anew that it runs in; the bootstrap script can."""
        if item.folder == Path(sys.prefix):
            cause = f"{item.folder} was touched since it was made"
            raise ArtifactError("Checking the lab's own environment", cause, "run the same command again")

    def _check_space(self, missing: list[Item]) -> None:
        kinds = {item.kind for item in missing if not (item.kind == "binaries" and self.cache.go.exists())}
        need = sum(_DISK_NEED[kind] for kind in kinds)
        free = shutil.disk_usage(self.cache.root).free
        if free < need and not os.environ.get("LINEAGE_LAB_IGNORE_SPACE"):
            raise ArtifactError(
                f"Setting up {', '.join(item.label for item in missing)}",
                f"this takes up to {need / 1e9:.1f} GB while it is made",
                f"{disk_remedy(self.cache.root)}; LINEAGE_LAB_IGNORE_SPACE=1 tries it all the same",
            )


def _damage(item: Item) -> list[stamps.Problem] | None:
    """None if the artifact is there and untouched, [] if it is not there, else what was touched."""
    stamp = stamps.load(item.folder)
    if stamp is None:
        return []
    return stamps.touched(stamp, item.label, item.folder) or None
