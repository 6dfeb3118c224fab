# SPDX-License-Identifier: Apache-2.0
"""Build wheels of the checkout's packages and install them into empty virtual environments outside it."""

import os
import re
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.toolchain.venvs import ALONE
from lineage.checks import schema_files

REPOSITORY = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Environment:
    """Virtual environment without the checkout on its path; commands run in `folder`."""

    folder: Path

    def command(self, name):
        return self.folder / "venv" / "bin" / name

    def run(self, name, *arguments, **variables):
        """Run a console script or `python`, with these environment variables added; return the completed process."""
        return subprocess.run(
            [self.command(name), *map(str, arguments)],
            cwd=self.folder,
            env={**self.variables, **variables},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )

    @property
    def variables(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LINEAGE_LAB"))}
        return {**kept, schema_files.FOLDER_VARIABLE: str(schema_files.find_schemas())}

    def install(self, *requirements):
        """Install wheels (paths, or paths with extras) and named packages, in the versions that the lab locks."""
        constraints = self.folder / "constraints.txt"
        constraints.write_text(_locked_versions(), encoding="utf-8")
        done = self.run("python", "-m", "pip", "install", "-q", "-c", constraints, *requirements)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def build_wheel(tmp_path_factory):
    """Return a function: folder of a package (relative to the checkout) -> its wheel."""
    built = {}

    def build(folder):
        if folder not in built:
            target = tmp_path_factory.mktemp("wheel")
            command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", target, REPOSITORY / folder]
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
            assert done.returncode == 0, done.stdout + done.stderr
            (built[folder],) = target.glob("*.whl")
        return built[folder]

    return build


@pytest.fixture(scope="session")
def empty_environment(tmp_path_factory):
    """Return a function that makes a virtual environment with pip alone in a temporary folder."""

    def make():
        folder = tmp_path_factory.mktemp("environment")
        venv.create(folder / "venv", with_pip=True)
        return Environment(folder)

    return make


def _locked_versions():
    """Pins of all requirement files without their hashes, which pip refuses for wheels built here."""
    pins = {}
    others = {f"{environment.name}.txt" for environment in ALONE}
    for file in sorted((REPOSITORY / "requirements").glob("*.txt")):
        if file.name in others:
            continue
        for name, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", file.read_text(encoding="utf-8"), re.MULTILINE):
            pins.setdefault(name, version)
    return "".join(f"{name}=={version}\n" for name, version in pins.items())
