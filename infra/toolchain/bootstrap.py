# SPDX-License-Identifier: Apache-2.0
"""Bootstrap of the `lab` command: create the kit's virtual environment if missing, then exec it."""

import os
import sys
from pathlib import Path

from infra.toolchain import venvs
from infra.toolchain.cache import Cache
from infra.toolchain.earlier import COMMANDS, earlier_version
from infra.toolchain.errors import ArtifactError
from infra.toolchain.manifest import MANIFEST_FILE
from infra.toolchain.process import Runner, sigterm_as_keyboard_interrupt
from infra.toolchain.progress import PlainProgress

REPOSITORY = Path(__file__).resolve().parents[2]
MODULES = (REPOSITORY, REPOSITORY / "integrations" / "common")
"""Folders with the modules of the command."""


def run(arguments: list[str]) -> int:
    """Replace this process by the `lab` command; return an exit code only on failure."""
    try:
        cache = Cache.open()
        folder = _kit_folder(cache, arguments)
    except ArtifactError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted; run the same command again to continue.", file=sys.stderr)
        return 130
    # -P: a folder `infra` in the working directory must not shadow the package.
    python = folder / "bin" / "python"
    command = [str(python), "-P", "-m", "infra.cli", *arguments]
    modules = os.pathsep.join(map(str, MODULES))
    return os.execve(python, command, {**os.environ, "PYTHONPATH": modules, **bytecode_environment(cache)})


def bytecode_environment(cache: Cache) -> dict[str, str]:
    """Return the variables that make Python store byte code in the cache instead of the checkout.

    A PYTHONDONTWRITEBYTECODE in the user's environment would compile every module at each start.
    """
    return {"PYTHONPYCACHEPREFIX": str(cache.root / "pycache"), "PYTHONDONTWRITEBYTECODE": ""}


def _kit_folder(cache: Cache, arguments: list[str]) -> Path:
    """Return the environment of the command, which is created if missing.

    A command on a running lab uses that of an earlier checkout instead, as there may be no network.
    """
    folder = venvs.KIT.folder(cache)
    if _is_installed(cache):
        return folder
    if arguments[:1] and arguments[0] in COMMANDS and (earlier := earlier_version(folder)):
        print(f"the packages of this checkout are not installed; used instead: {earlier}", file=sys.stderr)
        return earlier
    _install(cache)
    return folder


def _is_installed(cache: Cache) -> bool:
    manifest = venvs.KIT.folder(cache) / MANIFEST_FILE
    return manifest.exists() and venvs.KIT.python(cache).exists()


def _install(cache: Cache) -> None:
    progress = PlainProgress(sys.stderr)
    with cache.lock(progress.note), sigterm_as_keyboard_interrupt():
        if _is_installed(cache):  # created by another process meanwhile
            return
        venvs.create_venv(venvs.KIT, cache, Runner(cache.tmp), progress)
