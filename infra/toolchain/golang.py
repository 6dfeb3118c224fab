# SPDX-License-Identifier: Apache-2.0
"""Builds of Go modules, pinned by `go.sum`, which Go itself enforces."""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from infra.toolchain.cache import Cache
from infra.toolchain.process import Command, Runner

GO_MODULES = Path(__file__).parent / "go"
_REMEDY = (
    "check the network and Go's GOPROXY (`go env GOPROXY`), then run the same command again; downloads and compiled "
    "packages are kept"
)


@dataclass(frozen=True)
class GoModule:
    """A Go module and the packages to build.

    Attributes:
        name: folder of the module below `root`.
        packages: packages to build.
        root: folder of modules.
        tags: build tags, separated by commas.
        variables: string variables to set in the binaries, by their qualified names.
        version_of: required module whose version is linked into the variable `version_variable`.
        version_variable: variable that receives the version.
        extras: files of the module `version_of` that are installed together with the binaries.
    """

    name: str
    packages: tuple[str, ...]
    root: Path = GO_MODULES
    tags: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    version_of: str = ""
    version_variable: str = ""
    extras: tuple[str, ...] = ()

    @property
    def directory(self) -> Path:
        return self.root / self.name

    def linked_variables(self) -> dict[str, str]:
        """Return all string variables to set in the binaries. Raises ValueError if go.mod lacks `version_of`."""
        variables = dict(self.variables)
        if self.version_of:
            go_mod = (self.directory / "go.mod").read_text("utf-8")
            variables[self.version_variable] = required_version(go_mod, self.version_of)
        return variables


def required_version(go_mod: str, module: str) -> str:
    """Return the version of `module` required by the text of a go.mod, as in `v3.259.0`. Raises ValueError."""
    found = re.search(rf"^\s*(?:require\s+)?{re.escape(module)}\s+(v\S+)", go_mod, re.MULTILINE)
    if not found:
        raise ValueError(f"go.mod does not require {module}")
    return found.group(1)


@dataclass(frozen=True)
class GoToolchain:
    """Go with module and build cache inside the lab's cache: several GB, deleted with `purge` after the last build."""

    cache: Cache
    runner: Runner
    executable: Path

    def build(self, module: GoModule, destination: Path, on_text: Callable[[str], None]) -> None:
        """Build `module` into `destination`: minutes on a cold cache; a rerun resumes an interrupted build."""
        ldflags = " ".join(["-s -w", *(f"-X {name}={value}" for name, value in module.linked_variables().items())])
        tags = ["-tags", module.tags] if module.tags else []
        arguments = ["build", "-v", "-trimpath", *tags, "-ldflags", ldflags, "-o", f"{destination}{os.sep}"]
        self._run_go(module, [*arguments, *module.packages], on_text)
        if module.extras:
            source = self._module_directory(module)
            for extra in module.extras:
                copy = Path(shutil.copyfile(source / extra, destination / Path(extra).name))
                copy.chmod(0o755)

    def purge(self) -> None:
        """Delete module and build cache."""
        shutil.rmtree(self.cache.go)

    def _module_directory(self, module: GoModule) -> Path:
        lines: list[str] = []
        self._run_go(module, ["list", "-m", "-f", "{{.Dir}}", module.version_of], lines.append)
        return Path(lines[-1])

    def _run_go(self, module: GoModule, arguments: list[str], on_text: Callable[[str], None]) -> None:
        listing = arguments[0] == "list"
        fetched = compiled = 0

        def on_line(line: str) -> None:
            nonlocal fetched, compiled
            if listing:
                on_text(line)
            elif line.startswith("go: downloading"):
                fetched += 1
                on_text(f"{fetched} modules downloaded, {line.removeprefix('go: downloading ')}")
            else:
                compiled += 1
                on_text(f"{compiled} packages compiled, {line}")

        self.cache.go.mkdir(exist_ok=True)
        command = Command(
            arguments=[self.executable, *arguments],
            attempt=f"Building {module.name} from its Go module",
            remedy=_REMEDY,
            log=self.cache.log(f"go-{module.name}"),
            env=go_environment(self.cache),
            directory=module.directory,
        )
        self.runner.run(command, on_line)


def go_environment(cache: Cache) -> dict[str, str]:
    """Return settings under which Go writes only inside the cache and accepts only what go.sum lists.

    The user's `go env -w` settings apply. The configuration directory is inside the cache, because Go stores
    telemetry counters in it.
    """
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return {
        "GOENV": os.environ.get("GOENV") or str(config / "go" / "env"),
        "XDG_CONFIG_HOME": str(cache.go / "config"),
        "GOMODCACHE": str(cache.go / "mod"),
        "GOCACHE": str(cache.go / "build"),
        "GOPATH": str(cache.go / "path"),
        # Without -modcacherw the module cache is read-only and could not be deleted.
        "GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
    }
