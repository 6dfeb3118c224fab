# SPDX-License-Identifier: Apache-2.0
"""User files in the checkout: connectors and their plugins, Spark jobs and their packages, and Flink jobs: SQL,
PyFlink programs and jars.
"""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from infra.errors import LabError

CONNECTOR_FOLDER = "jobs/connect"
PLUGIN_FOLDER = f"{CONNECTOR_FOLDER}/plugins"
SPARK_FOLDER = "jobs/spark"
PACKAGE_FOLDER = f"{SPARK_FOLDER}/packages"
FLINK_FOLDER = "jobs/flink/sql"
JAR_FOLDER = "jobs/flink/jars"
PROGRAM_FOLDER = "jobs/flink/python"

CONNECTOR_SUFFIX = ".json"
SPARK_SUFFIX = ".py"
FLINK_SUFFIX = ".sql"
JAR_SUFFIX = ".jar"
PROGRAM_SUFFIX = ".py"
ARGUMENTS_SUFFIX = ".args"
COLUMNS_SUFFIX = ".columns.json"

_ARCHIVE_SUFFIXES = (".whl", ".gz", ".zip")
_BYTECODE_FOLDER = "__pycache__"

_MANIFESTS = "META-INF/services/org.apache.kafka.connect."
"""Beginning of the files by which a jar declares its plugins, so that Connect need not scan its classes."""


class UserFileError(LabError):
    """Invalid user file; the message begins with its path in the checkout."""


@dataclass(frozen=True)
class ConnectorPlugins:
    """Plugins of Kafka Connect in `PLUGIN_FOLDER`: folders of jars, or single jars.

    Attributes:
        files: their files, as paths in the checkout.
        undeclared: plugins without a jar that declares them; Connect finds them by a scan of all classes.
    """

    files: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()


@dataclass(frozen=True)
class JarFiles:
    """Files of a Flink job in `JAR_FOLDER`, beside its jar.

    Attributes:
        arguments: text of `NAME.args`: the job's header, and the arguments of its main class.
        columns: text of `NAME.columns.json`, the declared lineage; empty for none.
    """

    arguments: str
    columns: str = ""


@dataclass(frozen=True)
class ProgramFiles:
    """Files of a PyFlink program in `PROGRAM_FOLDER`.

    Attributes:
        text: the program.
        columns: text of `NAME.columns.json`, the declared lineage; empty for none.
    """

    text: str
    columns: str = ""


@dataclass(frozen=True)
class UserFiles:
    """Text of each user file by file name, one mapping per folder.

    Attributes:
        plugins: of connectors.
        jars: jars of Flink jobs, by name of the job.
        programs: PyFlink programs, by name of the file without suffix.
        packages: files of the Python packages in `PACKAGE_FOLDER`, as paths in the checkout.
    """

    connectors: Mapping[str, str] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)
    flink: Mapping[str, str] = field(default_factory=dict)
    jars: Mapping[str, JarFiles] = field(default_factory=dict)
    programs: Mapping[str, ProgramFiles] = field(default_factory=dict)
    plugins: ConnectorPlugins = ConnectorPlugins()
    packages: tuple[str, ...] = ()


NO_USER_FILES = UserFiles()
"""Empty set of user files."""


def read_user_files(project: Path) -> UserFiles:
    """Read all user files of the checkout `project`; a missing folder counts as empty.

    Raises:
        UserFileError: a file is not readable or not UTF-8, a plugin has no readable jar, the files of a jar are not
            complete, a declaration has no PyFlink program, or a package is not installed.
    """
    return UserFiles(
        connectors=_read_folder(project, CONNECTOR_FOLDER, CONNECTOR_SUFFIX),
        spark=_read_folder(project, SPARK_FOLDER, SPARK_SUFFIX),
        flink=_read_folder(project, FLINK_FOLDER, FLINK_SUFFIX),
        jars=_read_jars(project),
        programs=_read_programs(project),
        plugins=_read_plugins(project),
        packages=_read_packages(project),
    )


def _read_folder(project: Path, folder: str, suffix: str) -> dict[str, str]:
    return {path.name: _read_file(path, folder) for path in sorted((project / folder).glob(f"*{suffix}"))}


def _read_jars(project: Path) -> dict[str, JarFiles]:
    """Read the files of jars; none of a job's may be there without its jar."""
    arguments = _read_folder(project, JAR_FOLDER, ARGUMENTS_SUFFIX)
    columns = _read_folder(project, JAR_FOLDER, COLUMNS_SUFFIX)
    jars = {path.name.removesuffix(JAR_SUFFIX) for path in (project / JAR_FOLDER).glob(f"*{JAR_SUFFIX}")}
    for suffix, files in ((ARGUMENTS_SUFFIX, arguments), (COLUMNS_SUFFIX, columns)):
        if alone := sorted(file for file in files if file.removesuffix(suffix) not in jars):
            jar = f"{alone[0].removesuffix(suffix)}{JAR_SUFFIX}"
            raise UserFileError(f"{JAR_FOLDER}/{alone[0]} has no jar: copy it to {JAR_FOLDER}/{jar}")
    for name in sorted(jars):
        if f"{name}{ARGUMENTS_SUFFIX}" not in arguments:
            raise UserFileError(
                f"{JAR_FOLDER}/{name}{JAR_SUFFIX} has no header: create {name}{ARGUMENTS_SUFFIX} beside it, with the "
                "line `# lab: service` and the arguments of the jar's main class"
            )
    return {
        name: JarFiles(arguments[f"{name}{ARGUMENTS_SUFFIX}"], columns.get(f"{name}{COLUMNS_SUFFIX}", ""))
        for name in sorted(jars)
    }


def _read_programs(project: Path) -> dict[str, ProgramFiles]:
    texts = _read_folder(project, PROGRAM_FOLDER, PROGRAM_SUFFIX)
    columns = _read_folder(project, PROGRAM_FOLDER, COLUMNS_SUFFIX)
    for file in columns:
        program = f"{file.removesuffix(COLUMNS_SUFFIX)}{PROGRAM_SUFFIX}"
        if program not in texts:
            raise UserFileError(f"{PROGRAM_FOLDER}/{file} has no program: create {PROGRAM_FOLDER}/{program}")
    names = (file.removesuffix(PROGRAM_SUFFIX) for file in texts)
    return {
        name: ProgramFiles(texts[f"{name}{PROGRAM_SUFFIX}"], columns.get(f"{name}{COLUMNS_SUFFIX}", ""))
        for name in names
    }


def _read_plugins(project: Path) -> ConnectorPlugins:
    files: list[str] = []
    undeclared: list[str] = []
    for plugin in _children(project / PLUGIN_FOLDER):
        found = _files(plugin)
        jars = [path for path in found if path.suffix == JAR_SUFFIX]
        if not jars:
            raise UserFileError(f"{PLUGIN_FOLDER}/{plugin.name} is no plugin: it has no jar; unpack its archive there")
        declared = [_declares_plugins(project, jar) for jar in jars]
        if not any(declared):
            undeclared.append(plugin.name)
        files += [str(path.relative_to(project)) for path in found]
    return ConnectorPlugins(tuple(files), tuple(undeclared))


def _read_packages(project: Path) -> tuple[str, ...]:
    files: list[Path] = []
    for package in _children(project / PACKAGE_FOLDER):
        if package.is_file() and package.suffix in _ARCHIVE_SUFFIXES:
            name = f"{PACKAGE_FOLDER}/{package.name}"
            raise UserFileError(
                f"{name} is an archive of a package: install it with `python3 -m pip install --target {PACKAGE_FOLDER} "
                f"{name}`, and remove it"
            )
        files += [path for path in _files(package) if _BYTECODE_FOLDER not in path.parts]
    return tuple(str(path.relative_to(project)) for path in files)


def _children(folder: Path) -> list[Path]:
    """Return the plugins or packages in a folder, without hidden files."""
    return sorted(path for path in folder.glob("*") if not path.name.startswith("."))


def _files(child: Path) -> list[Path]:
    return sorted(path for path in child.rglob("*") if path.is_file()) if child.is_dir() else [child]


def _declares_plugins(project: Path, jar: Path) -> bool:
    try:
        with zipfile.ZipFile(jar) as archive:
            return any(name.startswith(_MANIFESTS) for name in archive.namelist())
    except (OSError, zipfile.BadZipFile) as error:
        raise UserFileError(f"{jar.relative_to(project)} cannot be read: {error}") from error


def _read_file(path: Path, folder: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserFileError(f"{folder}/{path.name} cannot be read: {error}") from error
