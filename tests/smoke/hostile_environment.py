# SPDX-License-Identifier: Apache-2.0
"""Environment of a user who works on other projects, too: what breaks a lab that inherits it."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from infra.project import PROJECT
from infra.toolchain import Artifacts
from infra.toolchain.binaries import PULUMI


class HostileEnvironment(NamedTuple):
    """Program by which `lab` is run, folder to run it in, and environment variables."""

    program: Path
    folder: Path
    variables: dict[str, str]


def hostile_environment(folder: Path) -> HostileEnvironment:
    """Return an environment with the user's own Pulumi and variables, inside a monorepo, through symlinks.

    A package manager's `pulumi` is in a folder with a `python3` that has none of the lab's packages. `PULUMI_*` name
    another backend, another format of the state and another stack. Lock files of uv and Poetry are above the checkout.
    """
    tools = folder / "homebrew" / "bin"
    tools.mkdir(parents=True)
    (tools / "pulumi").symlink_to(Artifacts.open().binary_dir(PULUMI.name) / "pulumi")
    (tools / "python3").symlink_to(os.path.realpath(sys.executable))
    repository = folder / "monorepo"
    repository.mkdir()
    for name in ("uv.lock", "poetry.lock"):
        (repository / name).write_text("")
    (repository / "pyproject.toml").write_text('[project]\nname = "other"\nversion = "1"\n')
    (repository / "lab").symlink_to(PROJECT)
    return HostileEnvironment(
        repository / "lab" / "bin" / "lab",
        repository / "lab",
        {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PULUMI_BACKEND_URL": f"file://{folder}/elsewhere",
            "PULUMI_CONFIG_PASSPHRASE": "of another project",
            "PULUMI_DIY_BACKEND_GZIP": "true",
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_PARALLEL": "1",
            "PULUMI_PYTHON_CMD": str(folder / "missing"),
            "PULUMI_STACK": "production",
        },
    )
