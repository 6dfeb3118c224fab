# SPDX-License-Identifier: Apache-2.0
"""Tools that the machine must provide: detection, version checks, installation hints."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from infra.toolchain import pins
from infra.toolchain.errors import ArtifactError

Version = tuple[int, ...]

JVM_FOLDER = Path("/usr/lib/jvm")
"""Folder in which Linux distributions and vendors' packages install JDKs, one folder each."""


@dataclass(frozen=True)
class Tool:
    """Installed tool. `home` is its installation folder; for a JDK, its JAVA_HOME."""

    name: str
    executable: Path
    version: Version
    home: Path


@dataclass(frozen=True)
class _InstallHint:
    debian: str
    fedora: str
    macos: str

    def __str__(self) -> str:
        return f"Debian/Ubuntu: {self.debian}; Fedora: {self.fedora}; macOS: {self.macos}"


_JDK_HINT = _InstallHint(
    "apt install openjdk-17-jdk-headless", "dnf install java-latest-openjdk-devel", "brew install openjdk@17"
)
_MAVEN_HINT = _InstallHint("apt install maven", "dnf install maven", "brew install maven")
_NODE_HINT = _InstallHint(
    "apt install nodejs npm where they are new enough, else the archive from https://nodejs.org",
    "dnf install nodejs",
    "brew install node",
)
_GO_HINT = _InstallHint(
    "the archive from https://go.dev/dl (the distribution's is often too old)",
    "dnf install golang, or the archive from https://go.dev/dl",
    "brew install go",
)
VENV_INSTALL_HINT = _InstallHint("apt install python3-venv", "dnf install python3", "brew install python")


def parse_version(text: str) -> Version:
    """Return the first dotted number in `text`: `go1.26.8` -> (1, 26, 8). Raises ValueError if there is none."""
    found = re.search(r"\d+(?:\.\d+)*", text)
    if not found:
        raise ValueError(f"no version number in {text!r}")
    return tuple(int(part) for part in found.group().split("."))


def parse_java_version(text: str) -> Version:
    """Parse a Java version; up to Java 8 the major version is the second number (`1.8.0_372` -> (8, 0))."""
    version = parse_version(text)
    return version[1:] if version[0] == 1 and len(version) > 1 else version


def format_version(version: Version) -> str:
    return ".".join(str(part) for part in version)


def find_jdk() -> Tool:
    """Return the JDK of JAVA_HOME, else the one whose `java` is on PATH. Raises ArtifactError."""
    if home := os.environ.get("JAVA_HOME"):
        java, where = Path(home) / "bin" / "java", f"JAVA_HOME ({home})"
    elif found := shutil.which("java"):
        java, where = Path(found).resolve(), f"PATH ({found})"
    else:
        raise _missing_tool("a JDK", "no java on PATH and JAVA_HOME is not set", pins.MINIMUM_JDK, _JDK_HINT)
    if not java.is_file():
        raise _missing_tool("a JDK", f"{where} has no bin/java", pins.MINIMUM_JDK, _JDK_HINT)
    home_folder = java.parent.parent
    version = _java_version(java, home_folder)
    if version[:1] < pins.MINIMUM_JDK:
        raise _missing_tool("a JDK", f"{where} is Java {format_version(version)}", pins.MINIMUM_JDK, _JDK_HINT)
    if not (home_folder / "bin" / "javac").is_file():
        raise _missing_tool("a JDK", f"{where} is a runtime without the compiler javac", pins.MINIMUM_JDK, _JDK_HINT)
    return Tool("JDK", java, version, home_folder)


def find_java_release(release: int) -> Tool:
    """Return a Java runtime of exactly the major version `release`.

    Candidates are the home that `LINEAGE_LAB_JAVA_<release>` names, which must match, else the JDKs in `JVM_FOLDER`.

    Raises:
        ArtifactError: the machine has none, or the variable names another release.
    """
    variable = f"LINEAGE_LAB_JAVA_{release}"
    attempt = f"Looking for Java {release}"
    remedy = f"install a JDK {release} below {JVM_FOLDER}, or set {variable} to the home of one"
    if chosen := os.environ.get(variable):
        home = Path(chosen).expanduser().absolute()
        java = home / "bin" / "java"
        if not java.is_file():
            raise ArtifactError(attempt, f"{variable} ({home}) has no bin/java", remedy)
        version = _java_version(java, home)
        if version[0] != release:
            raise ArtifactError(attempt, f"{variable} ({home}) is Java {format_version(version)}", remedy)
        return Tool("Java", java, version, home)
    for home in sorted({path.resolve() for path in JVM_FOLDER.glob("*")}):
        # Only the release file is read, so that no JVM has to be started.
        stated = _release_file_version(home)
        if stated and stated[0] == release and (home / "bin" / "java").is_file():
            return Tool("Java", home / "bin" / "java", stated, home)
    raise ArtifactError(attempt, f"no JDK {release} below {JVM_FOLDER}, and {variable} is not set", remedy)


def find_maven() -> Tool:
    """Return Maven on PATH. Raises ArtifactError."""
    found = shutil.which("mvn")
    if not found:
        raise _missing_tool("Maven", "no mvn on PATH", pins.MINIMUM_MAVEN, _MAVEN_HINT)
    output = _tool_output(found, "--version", attempt="Looking for Maven")
    if not (number := re.search(r"Apache Maven (\S+)", output)):
        raise _missing_tool("Maven", f"{found} is not Apache Maven", pins.MINIMUM_MAVEN, _MAVEN_HINT)
    version = parse_version(number.group(1))
    if version < pins.MINIMUM_MAVEN:
        raise _missing_tool("Maven", f"{found} is {format_version(version)}", pins.MINIMUM_MAVEN, _MAVEN_HINT)
    # A package manager's `mvn` may be a script beside the installation.
    home = re.search(r"^Maven home: (.+)$", output, re.MULTILINE)
    return Tool("Maven", Path(found), version, Path(home[1]) if home else Path(found).resolve().parent.parent)


def find_go(purpose: str, env: dict[str, str], remedy_without_go: str) -> Tool:
    """Return Go on PATH. Raises ArtifactError, which names `purpose` and the remedy without Go."""
    found = shutil.which("go")
    need = f"Go (for {purpose})"
    if not found:
        raise _missing_tool(need, "no go on PATH", pins.MINIMUM_GO, _GO_HINT, remedy_without_go)
    version = parse_version(_tool_output(found, "env", "GOVERSION", attempt="Looking for Go", env=env))
    if version < pins.MINIMUM_GO:
        cause = f"{found} is {format_version(version)}"
        raise _missing_tool(need, cause, pins.MINIMUM_GO, _GO_HINT, remedy_without_go)
    return Tool("Go", Path(found), version, Path(found).resolve().parent.parent)


def find_node() -> Tool:
    """Return Node on PATH. Raises ArtifactError."""
    found = shutil.which("node")
    if not found:
        raise _missing_tool("Node", "no node on PATH", pins.MINIMUM_NODE, _NODE_HINT)
    version = parse_version(_tool_output(found, "--version", attempt="Looking for Node"))
    if version < pins.MINIMUM_NODE:
        raise _missing_tool("Node", f"{found} is {format_version(version)}", pins.MINIMUM_NODE, _NODE_HINT)
    return Tool("Node", Path(found), version, Path(found).resolve().parent.parent)


def find_npm(node: Tool) -> Path:
    """Return npm from Node's folder, else from PATH, as Debian packages it separately. Raises ArtifactError."""
    beside = node.executable.parent / "npm"
    found = str(beside) if beside.exists() else shutil.which("npm")
    if not found:
        raise _missing_tool("npm", f"no npm next to {node.executable} or on PATH", pins.MINIMUM_NODE, _NODE_HINT)
    return Path(found)


def check_python() -> Tool:
    """Return the running interpreter. Raises ArtifactError if it is too old."""
    version = sys.version_info[:3]
    if version < pins.MINIMUM_PYTHON:
        raise _missing_tool("Python", f"this is {format_version(version)}", pins.MINIMUM_PYTHON, VENV_INSTALL_HINT)
    return Tool("Python", Path(sys.executable), version, Path(sys.base_prefix))


def _java_version(java: Path, home: Path) -> Version:
    """Return the version of the JDK in `home`; starts a JVM only where no `release` file states it."""
    if version := _release_file_version(home):
        return version
    return parse_java_version(_tool_output(str(java), "-version", attempt=f"Reading the version of {java}"))


def _release_file_version(home: Path) -> Version | None:
    """Return `JAVA_VERSION` of the `release` file in a JDK's home; None if there is none."""
    release = home / "release"
    if not release.is_file():
        return None
    found = re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text(encoding="utf-8"), re.MULTILINE)
    return parse_java_version(found.group(1)) if found else None


def _tool_output(*arguments: str, attempt: str, env: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
            env={**os.environ, **(env or {})},
        )
    except (OSError, subprocess.CalledProcessError) as error:
        remedy = f"run `{' '.join(arguments)}` and resolve the error that it prints"
        raise ArtifactError(attempt, str(error), remedy) from error
    return done.stdout


def _missing_tool(name: str, cause: str, minimum: Version, hint: _InstallHint, alternative: str = "") -> ArtifactError:
    remedy = f"install version {format_version(minimum)} or newer. {hint}"
    if alternative:
        remedy += f". Or: {alternative}"
    return ArtifactError(f"Looking for {name}", cause, remedy)
