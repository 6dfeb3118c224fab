# SPDX-License-Identifier: Apache-2.0
"""The lineage page: static files that npm builds from the checkout's `page/`, as its lock file says.

npm is run as the user has set it up, with his registry and proxies; the lock file holds a hash of every package and
no registry's name. Nothing of npm is needed once the files are there.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from infra.toolchain import manifest as manifests
from infra.toolchain import prerequisites
from infra.toolchain.cache import Cache, hash_tree
from infra.toolchain.errors import ArtifactError
from infra.toolchain.process import Command, Runner

NAME = "page"
SITE = "site"
"""The folder, in the artifact's own, that holds the files to be served."""

SOURCES = (
    "package.json",
    "package-lock.json",
    ".npmrc",
    "tsconfig.json",
    "vite.config.ts",
    "index.html",
    "public",
    "src",
)
"""Inputs of the build. The page's tests are none of them."""

_BUILT = Path("build", "site")
_ATTEMPT = "Building the lineage page"
_REMEDY = (
    "check the network, and registry and proxy in npm's own settings (`npm config list`), then run the same command "
    "again; the lab works without the page, and so does the API of its lineage service"
)


def source_key(project: Path) -> str:
    """A short hash of the sources in the folder `project`."""
    return hash_tree(*(path for name in SOURCES if (path := project / name).exists()), below=project)


def build_page(
    project: Path, folder: Path, key: str, cache: Cache, runner: Runner, on_text: Callable[[str], None]
) -> manifests.Manifest:
    """Build the page of `project` in a copy of it, which leaves the checkout as it is, and publish it at `folder`.

    Raises:
        ArtifactError: Node is missing or too old, or npm failed.
    """
    node = prerequisites.find_node()
    with cache.staging(NAME) as work:
        for name in SOURCES:
            _copy(project / name, work / name)
        _npm(work, ("ci", "--ignore-scripts"), node, cache, runner, on_text)
        _npm(work, ("run", "build"), node, cache, runner, on_text)
        if not (work / _BUILT / "index.html").is_file():
            raise ArtifactError(_ATTEMPT, f"`npm run build` wrote no {_BUILT}/index.html", _REMEDY)
        with cache.staging(f"{NAME} files") as staged:
            shutil.copytree(work / _BUILT, staged / SITE)
            manifest = manifests.create(staged, key, f"npm, Node {prerequisites.format_version(node.version)}")
            cache.publish(staged, folder, manifest)
    return manifest


def _npm(
    work: Path,
    words: tuple[str, ...],
    node: prerequisites.Tool,
    cache: Cache,
    runner: Runner,
    on_text: Callable[[str], None],
) -> None:
    arguments: list[str | Path] = [
        prerequisites.find_npm(node),
        *words,
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
    ]
    environment = {
        "npm_config_cache": str(cache.root / "npm"),
        "PATH": f"{node.executable.parent}:{os.environ['PATH']}",
    }
    log = cache.log(f"page-{words[-1].lstrip('-')}")
    runner.run(Command(arguments, _ATTEMPT, _REMEDY, log, environment, work), on_text)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.exists():
        shutil.copyfile(source, target)
