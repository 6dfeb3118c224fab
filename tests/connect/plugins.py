# SPDX-License-Identifier: Apache-2.0
"""Plugins for tests: the lineage plugin, its archives, scripted connectors and JMH benchmarks, built with Maven."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.project import PROJECT, STATE
from infra.toolchain import Artifacts
from infra.toolchain.cache import hash_tree
from infra.toolchain.maven import external_modules

BUILT = STATE / ".connect-plugins"
REACTOR = "components"
LINEAGE = "smt"
TEST_CONNECTORS = "components/connect-test-connectors"
BENCHMARK = "smt/bench"
COMPONENT, OPENLINEAGE_CLIENT = "component", "openlineage-client"
"""Archives of the lineage plugin: its own, and that of OpenLineage's client."""

_GOALS = (
    *("-Dmaven.test.skip=true", "-DincludeScope=runtime", "-DoutputDirectory=target/jars"),
    *("package", "dependency:copy-dependencies"),
)


@dataclass(frozen=True)
class Plugins:
    """Folders of jars for `plugin.path`."""

    lineage: Path
    test_connectors: Path


def plugins() -> Plugins:
    """Return the plugin folders; build the test connectors if their sources have changed.

    Raises:
        ArtifactError: the lineage plugin is not built.
        CalledProcessError: the Maven build failed.
    """
    folder = _built("test-connectors", (TEST_CONNECTORS,))
    return Plugins(Artifacts.open().component("connect-lineage"), folder / Path(TEST_CONNECTORS).name)


def benchmark() -> Path:
    """Build the JMH benchmarks and return the folder of their jars. Raises CalledProcessError."""
    return _built("benchmark", (LINEAGE, BENCHMARK)) / Path(BENCHMARK).name


def archives() -> dict[str, Path]:
    """Build the archives of the lineage plugin; return their paths by kind. Raises CalledProcessError."""
    goals = ("-Dmaven.test.skip=true", "-Pcomponent", "package")
    folder = _built("archives", (LINEAGE,), goals, "*.zip") / LINEAGE
    return {kind: next(folder.glob(f"*-{kind}.zip")) for kind in (COMPONENT, OPENLINEAGE_CLIENT)}


def release(url: str, repository: Path) -> None:
    """Publish a release of the lineage plugin to a folder, as to a Maven repository. Raises CalledProcessError.

    Its plugins are those of the profile `release`, which no lock has: Maven downloads them.
    """
    place = f"-DaltDeploymentRepository=test::{repository.as_uri()}"
    goals = ("-Dmaven.test.skip=true", "-Prelease", f"-Drelease.url={url}", place, "deploy")
    with tempfile.TemporaryDirectory() as temporary:
        _build((LINEAGE,), Path(temporary), goals, "*.jar")


def _built(name: str, modules: Sequence[str], goals: Sequence[str] = _GOALS, made: str = "**/*.jar") -> Path:
    sources = [PROJECT / REACTOR / "pom.xml"]
    for module in modules:
        sources += [PROJECT / module / "pom.xml", PROJECT / module / "src" / "main"]
        sources += [PROJECT / module / "src" / "component"] if "-Pcomponent" in goals else []
    folder = BUILT / f"{name}-{hash_tree(*sources, below=PROJECT)}"
    if not folder.exists():
        for old in BUILT.glob(f"{name}-*"):
            shutil.rmtree(old)
        BUILT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILT) as temporary:
            _build(modules, Path(temporary), goals, made).rename(folder)
    return folder


def _build(modules: Sequence[str], folder: Path, goals: Sequence[str], pattern: str) -> Path:
    """Build in a copy, to leave the target folders of the checkout unchanged."""
    # Maven requires all modules of the reactor, even those that are not built.
    for part in (PROJECT / REACTOR, *external_modules(PROJECT / REACTOR)):
        shutil.copytree(part, folder / part.name, ignore=shutil.ignore_patterns("target", "__pycache__"))
    shutil.copy(PROJECT / "LICENSE", folder)  # the archives contain it
    command, environment = Artifacts.open().maven_command()
    wanted = ",".join(os.path.relpath(module, REACTOR) for module in modules)
    words = [*command, "-q", "--file", str(folder / REACTOR / "pom.xml"), "-pl", wanted, *goals]
    subprocess.run(words, check=True, env=os.environ | environment)
    made = folder / "made"
    for module in modules:
        place = made / Path(module).name
        place.mkdir(parents=True)
        for file in (folder / module / "target").glob(pattern):
            shutil.move(file, place)
    return made
