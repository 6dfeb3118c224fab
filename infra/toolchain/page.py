# SPDX-License-Identifier: Apache-2.0
"""Build of the lineage page: static files that npm builds from the checkout's `page/`.

npm uses the user's registry and proxies; the lock file pins the hash of every package and names no registry. npm is
needed for the build only.
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
"""Folder of the static files inside the artefact's folder."""

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
"""Inputs of the build, without the page's tests."""

_BUILT = Path("build", "site")
_ATTEMPT = "Building the lineage page"
_REMEDY = (
    "check the network, and registry and proxy in npm's settings (`npm config list`), then run the same command "
    "again; the lab, including the API of its lineage service, works without the page"
)


def source_key(project: Path) -> str:
    """Return a short hash of the build's inputs in the folder `project`."""
    return hash_tree(*(path for name in SOURCES if (path := project / name).exists()), below=project)


def build_page(
    project: Path, folder: Path, key: str, cache: Cache, runner: Runner, on_text: Callable[[str], None]
) -> manifests.Manifest:
    """Build the page in a copy of `project`, to leave the checkout clean, and publish it at `folder`.

    Raises:
        ArtifactError: Node is missing or too old, or npm failed.
    """
    node = prerequisites.find_node()
    with cache.staging(NAME) as work:
        for name in SOURCES:
            _copy(project / name, work / name)
        _run_npm(work, ("ci", "--ignore-scripts"), node, cache, runner, on_text)
        _run_npm(work, ("run", "build"), node, cache, runner, on_text)
        if not (work / _BUILT / "index.html").is_file():
            raise ArtifactError(_ATTEMPT, f"`npm run build` wrote no {_BUILT}/index.html", _REMEDY)
        with cache.staging(f"{NAME} files") as staged:
            shutil.copytree(work / _BUILT, staged / SITE)
            manifest = manifests.create(staged, key, f"npm, Node {prerequisites.format_version(node.version)}")
            cache.publish(staged, folder, manifest)
    return manifest


def _run_npm(
    work: Path,
    npm_arguments: tuple[str, ...],
    node: prerequisites.Tool,
    cache: Cache,
    runner: Runner,
    on_text: Callable[[str], None],
) -> None:
    arguments: list[str | Path] = [
        prerequisites.find_npm(node),
        *npm_arguments,
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
    ]
    environment = {
        "npm_config_cache": str(cache.root / "npm"),
        "PATH": f"{node.executable.parent}:{os.environ['PATH']}",
    }
    log = cache.log(f"page-{npm_arguments[-1].lstrip('-')}")
    runner.run(
        Command(arguments=arguments, attempt=_ATTEMPT, remedy=_REMEDY, log=log, env=environment, directory=work),
        on_text,
    )


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.exists():
        shutil.copyfile(source, target)
