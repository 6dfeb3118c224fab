# SPDX-License-Identifier: Apache-2.0
"""Jars: resolved by Maven into a repository in the cache, verified against the lock, linked into `lib/`.

Maven uses the user's settings.xml with its mirrors and proxies; no repository is declared here. The lock pins the
resolved files, so any repository may serve them. Plugins and annotation processors are verified before they run.
"""

import glob
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from infra.toolchain import lock as locks
from infra.toolchain import manifest as manifests
from infra.toolchain import pins
from infra.toolchain.artifact_verifier import ArtifactVerifier
from infra.toolchain.cache import Cache
from infra.toolchain.errors import ArtifactError
from infra.toolchain.lock import Coordinate
from infra.toolchain.prerequisites import Tool, find_jdk, find_maven
from infra.toolchain.process import Command, Runner

_CLASSPATH_FILE = "classpath.txt"
_PROJECT_ELEMENT = '<project xmlns="http://maven.apache.org/POM/4.0.0">'
_POM_NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"
_POM_GROUP = "dev.lineagelab.artifacts"
_REMEDY = (
    "check the network, and mirror and proxy in Maven's settings.xml, then run the same command again; downloaded "
    "files are kept"
)


@dataclass(frozen=True)
class ResolvedJars:
    """Resolved files of one component; `built_jar`, if any, is built from the checkout and therefore in no lock."""

    jars: tuple[Path, ...]
    built_jar: Path | None = None


def render_pom(component: pins.MavenComponent) -> str:
    """Return a POM with the component's coordinates as dependencies."""
    exclusions = component.exclusions if component.transitive else ("*:*",)
    excluded = "".join(
        f"<exclusion>{_xml_elements(('groupId', 'artifactId'), text)}</exclusion>" for text in exclusions
    )
    dependencies = "\n".join(
        f"    <dependency>{_dependency_xml(text)}<exclusions>{excluded}</exclusions></dependency>"
        for text in component.coordinates
    )
    return (
        f"{_PROJECT_ELEMENT}\n  <modelVersion>4.0.0</modelVersion>\n"
        f"  {_xml_elements(('groupId', 'artifactId', 'version'), f'{_POM_GROUP}:{component.name}:1')}"
        f"<packaging>pom</packaging>\n  <dependencies>\n{dependencies}\n  </dependencies>\n</project>\n"
    )


def render_aggregator(names: Iterable[str]) -> str:
    """Return a POM with the folders `names` as modules, so that Maven resolves all of them in one run."""
    modules = "".join(f"<module>{escape(name)}</module>" for name in names)
    coordinate = _xml_elements(("groupId", "artifactId", "version"), f"{_POM_GROUP}:all:1")
    return (
        f"{_PROJECT_ELEMENT}<modelVersion>4.0.0</modelVersion>{coordinate}<packaging>pom</packaging>"
        f"<modules>{modules}</modules></project>\n"
    )


def external_modules(reactor: Path) -> list[Path]:
    """Return the folders next to the reactor that hold its modules."""
    modules = ElementTree.parse(reactor / "pom.xml").iterfind(f"{_POM_NAMESPACE}modules/{_POM_NAMESPACE}module")
    paths = [PurePosixPath(module.text or "") for module in modules]
    return [reactor.parent / name for name in sorted({path.parts[1] for path in paths if path.parts[0] == ".."})]


@dataclass(frozen=True)
class Maven:
    """Maven with its local repository in the cache.

    Attributes:
        cache: cache with the local repository.
        runner: runner of all commands.
        collected: if given, files are not verified, and the hashes of all that Maven resolves are added to it.
        tool: Maven; the one on PATH if None.
    """

    cache: Cache
    runner: Runner
    collected: locks.Lock | None = None
    tool: Tool | None = None

    def command(self) -> list[str]:
        """Return `mvn` and the arguments common to all calls."""
        return self._command(self.tool or find_maven())

    def _command(self, tool: Tool) -> list[str]:
        return [str(tool.executable), "-B", f"-Dmaven.repo.local={self.cache.maven}"]

    def environment(self) -> dict[str, str]:
        """Return environment variables for Maven: the JDK of the machine, and temporary files inside the cache."""
        options = f"{os.environ.get('MAVEN_OPTS', '')} -Djava.io.tmpdir={self.cache.tmp} -XX:-UsePerfData"
        return {"JAVA_HOME": str(find_jdk().home), "MAVEN_OPTS": options.strip()}

    def resolve(self, components: list[pins.MavenComponent], on_text: Callable[[str], None]) -> dict[str, ResolvedJars]:
        """Resolve all files of `components` in one run of Maven; return them by component name."""
        names = [component.name for component in components]
        with self.cache.staging("maven-resolve") as folder:
            (folder / "pom.xml").write_text(render_aggregator(names), encoding="utf-8")
            for component in components:
                (folder / component.name).mkdir()
                (folder / component.name / "pom.xml").write_text(render_pom(component), encoding="utf-8")
            attempt = f"Resolving the jars of {', '.join(names)} with Maven"
            unlocked = not all(is_locked(name) for name in names)
            self._run_maven(folder, [], attempt, "maven", on_text, unlocked)
            return {name: ResolvedJars(_classpath(folder / name)) for name in names}

    def build(
        self, component: pins.ProjectComponent, reactor: Path, on_text: Callable[[str], None], staged: Path
    ) -> ResolvedJars:
        """Build a module and move its jar to `staged`; builds in a copy of `reactor`, to leave the checkout clean."""
        with self.cache.staging(f"maven-build-{component.name}") as folder:
            copy = folder / reactor.name
            for source in (reactor, *external_modules(reactor)):
                shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("target"))
            goals = ["-pl", f":{component.name}", "-am", "-Dmaven.test.skip=true", "package"]
            attempt = f"Building {component.name} in {reactor} with Maven"
            self._run_maven(copy, goals, attempt, f"maven-{component.name}", on_text)
            module = copy / component.module
            built = sorted((module / "target").glob(f"{component.name}-*.jar"))
            if len(built) != 1:
                cause = f"the build left {len(built)} jars named {component.name}-*.jar in target/"
                raise ArtifactError(attempt, cause, f"correct {component.module}/pom.xml; exactly one jar is expected")
            built_jar = Path(shutil.move(built[0], staged / built[0].name))
            return ResolvedJars(_classpath(module), built_jar)

    def assemble(self, name: str, resolved: ResolvedJars, lib: Path) -> None:
        """Verify a component's files against its lock and link them into `lib`."""
        self.verify(name, resolved)
        lib.mkdir(parents=True)
        for jar in resolved.jars:
            _hard_link(jar, lib / jar.name)
        if resolved.built_jar:
            shutil.move(resolved.built_jar, lib / resolved.built_jar.name)

    def link_into_folders(self, coordinates: Mapping[str, Iterable[str]], resolved: ResolvedJars, folder: Path) -> None:
        """Link files into subfolders of `folder`; `coordinates` maps the name of a subfolder to its files."""
        files = {str(_coordinate_of(jar, self.cache.maven)): jar for jar in resolved.jars}
        for name, texts in coordinates.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            for text in texts:
                jar = files[str(Coordinate.parse(text if text.count(":") == 4 else f"{text}:jar"))]
                _hard_link(jar, folder / name / jar.name)

    def verify(self, name: str, resolved: ResolvedJars) -> None:
        """Verify a component's files against its lock. Raises ArtifactError.

        Files that deviate are deleted from the local repository, so that the next run downloads them again.
        """
        files = {_coordinate_of(jar, self.cache.maven): jar for jar in resolved.jars}
        hashes = {coordinate: manifests.sha256_of(jar) for coordinate, jar in files.items()}
        differences = locks.compare(_expected_hashes(name, hashes), hashes)
        if differences:
            for difference in differences:
                if difference.coordinate in files:
                    shutil.rmtree(files[difference.coordinate].parent)
            raise ArtifactError(
                f"Verifying the jars of {name} against {locks.lock_path(name).name}",
                "; ".join(map(str, differences)) + " (removed)",
                f"run `bin/lab setup` again; if you trust the registry's files, run `{locks.UPDATE_COMMAND} {name}`",
            )

    def hashes(self, resolved: ResolvedJars) -> locks.Lock:
        """Return the sha256 of each resolved file, as stored in a lock."""
        return {_coordinate_of(jar, self.cache.maven): manifests.sha256_of(jar) for jar in resolved.jars}

    def delete_from_repository(self, file_names: Iterable[str]) -> None:
        """Delete files with these names from the local repository, as `lib` holds hard links to them."""
        for name in file_names:
            for path in [path for path in self.cache.maven.rglob(glob.escape(name)) if path.is_file()]:
                shutil.rmtree(path.parent)

    def _run_maven(
        self,
        folder: Path,
        goals: list[str],
        attempt: str,
        log: str,
        on_text: Callable[[str], None],
        unlocked: bool = False,
    ) -> None:
        fetched = 0

        def on_line(line: str) -> None:
            nonlocal fetched
            if "Downloaded from" in line:
                fetched += 1
                file = line.split(" (")[0].rsplit("/", 1)[-1]
                on_text(f"{fetched} files downloaded, {file}")

        classpath = [f"{pins.MAVEN_DEPENDENCY_PLUGIN}:build-classpath", "-DincludeScope=runtime"]
        output = f"-Dmdep.outputFile={_CLASSPATH_FILE}"
        tool = self.tool or find_maven()
        verifier = ArtifactVerifier(self.cache, self.runner, self.collected)
        with verifier.verifying(tool, attempt, unlocked) as verified:
            arguments = [*self._command(tool), *verified, "-f", str(folder / "pom.xml"), *goals, *classpath, output]
            self.runner.run(
                Command(
                    arguments=arguments,
                    attempt=attempt,
                    remedy=_REMEDY,
                    log=self.cache.log(log),
                    env=self.environment(),
                    directory=folder,
                ),
                on_line,
            )


def read_lock(name: str) -> locks.Lock:
    """Read the lock of a component. Raises ArtifactError."""
    return locks.read(locks.lock_path(name))


def is_locked(name: str) -> bool:
    """Return False for an optional component without lock, whose files are accepted unverified."""
    component = pins.COMPONENTS.get(name)
    return not (isinstance(component, pins.MavenComponent) and component.optional) or locks.lock_path(name).exists()


def _expected_hashes(name: str, hashes: locks.Lock) -> locks.Lock:
    """Return the locked hashes of the files that the component has on this platform."""
    if not is_locked(name):
        return hashes
    lock = read_lock(name)
    if not isinstance(pins.COMPONENTS.get(name), pins.ArchiveComponent):
        return lock
    return {coordinate: lock[coordinate] for coordinate in hashes if coordinate in lock}


def _classpath(folder: Path) -> tuple[Path, ...]:
    text = (folder / _CLASSPATH_FILE).read_text(encoding="utf-8").strip()
    jars = tuple(Path(entry) for entry in text.split(os.pathsep) if entry)
    names = [jar.name for jar in jars]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ArtifactError(
            f"Collecting the class path of {folder.name}",
            f"two jars are named {', '.join(duplicates)}",
            "exclude one of them in infra/toolchain/pins.py",
        )
    return jars


def _coordinate_of(jar: Path, repository: Path) -> Coordinate:
    return Coordinate.from_path(PurePosixPath(jar.relative_to(repository)))


def _hard_link(jar: Path, destination: Path) -> None:
    """Create a hard link, which takes no disk space; where the file system has none, copy the file."""
    try:
        os.link(jar, destination)
    except OSError:
        shutil.copyfile(jar, destination)


def _dependency_xml(coordinate: str) -> str:
    """Render a dependency's XML elements; files other than plain jars have classifier and type."""
    names = ("groupId", "artifactId", "version", "classifier", "type")
    return _xml_elements(names if coordinate.count(":") == 4 else names[:3], coordinate)


def _xml_elements(names: tuple[str, ...], text: str) -> str:
    pairs: Mapping[str, str] = dict(zip(names, text.split(":"), strict=True))
    return "".join(f"<{name}>{escape(value)}</{name}>" for name, value in pairs.items())
