# SPDX-License-Identifier: Apache-2.0
"""Binaries of the test cluster, built from Go modules that are pinned by `go.sum`.

They have a cache of their own, `cluster` in the lab's cache, so that a build does not block a set-up of the product.
"""

from dataclasses import dataclass
from pathlib import Path

from infra.toolchain import manifest as manifests
from infra.toolchain.cache import Cache, default_root, hash_key, hash_tree, platform_tag
from infra.toolchain.golang import GoModule, required_version
from infra.toolchain.installers import ArtifactSpec, build_go_modules
from infra.toolchain.prerequisites import parse_version
from infra.toolchain.process import Runner, sigterm_as_keyboard_interrupt
from infra.toolchain.progress import Progress

MODULES = Path(__file__).parent / "go"
_KUBERNETES = "k8s.io/kubernetes"
_HELM = "helm.sh/helm/v3"

_LINK_NAMES = {"server": "etcd"}
"""Names of links to executables; Go names an executable after its package."""


def _version(module: str, requirement: str) -> str:
    return required_version((MODULES / module / "go.mod").read_text("utf-8"), requirement)


def _kubernetes_module() -> GoModule:
    major, minor, *_ = parse_version(_version("kubernetes", _KUBERNETES))
    programs = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl")
    library = "k8s.io/component-base/version"
    return GoModule(
        name="kubernetes",
        root=MODULES,
        packages=tuple(f"{_KUBERNETES}/cmd/{program}" for program in programs),
        version_of=_KUBERNETES,
        version_variable=f"{library}.gitVersion",
        variables={f"{library}.gitMajor": str(major), f"{library}.gitMinor": str(minor)},
    )


def _helm_module() -> GoModule:
    """Return Helm, which without a cluster renders for the Kubernetes version that is linked into it."""
    major, minor, *_ = parse_version(_version("kubernetes", _KUBERNETES))
    variables = {}
    for package in ("chartutil", "lint/rules"):
        variables[f"{_HELM}/pkg/{package}.k8sVersionMajor"] = str(major)
        variables[f"{_HELM}/pkg/{package}.k8sVersionMinor"] = str(minor)
    return GoModule(
        name="helm",
        root=MODULES,
        packages=(f"{_HELM}/cmd/helm",),
        version_of=_HELM,
        version_variable=f"{_HELM}/internal/version.version",
        variables=variables,
    )


def _modules() -> dict[str, GoModule]:
    """Return the modules by name, in the order of their builds."""
    modules = (
        _kubernetes_module(),
        GoModule("etcd", ("go.etcd.io/etcd/server/v3",), root=MODULES),
        GoModule("coredns", ("github.com/coredns/coredns",), root=MODULES),
        _helm_module(),
    )
    return {module.name: module for module in modules}


@dataclass(frozen=True)
class ClusterBinaries:
    """Executables of Kubernetes, etcd, CoreDNS and Helm in the cache."""

    cache: Cache

    @classmethod
    def open(cls) -> "ClusterBinaries":
        """Open the cache. Raises ArtifactError if it is not writable."""
        return cls(Cache.open(default_root() / "cluster"))

    @property
    def helm(self) -> Path:
        """Path of Helm, which exists once it is installed."""
        return self._spec(_helm_module()).folder / "helm"

    def install(self, progress: Progress) -> None:
        """Build what is missing: about 18 minutes of processor time if all is. Raises ArtifactError."""
        with self.cache.lock(progress.note), sigterm_as_keyboard_interrupt():
            if builds := self._missing_builds():
                self.cache.clear_tmp()
                remedy = f"copy {self.cache.root} from a {platform_tag()} machine that has built it"
                build_go_modules(builds, self.cache, Runner(self.cache.tmp), progress, remedy)

    def link_into(self, folder: Path) -> None:
        """Create a link to each installed executable in `folder`, or replace it."""
        for module in _modules().values():
            for program in self._spec(module).folder.iterdir():
                if program.name != manifests.MANIFEST_FILE:
                    link = folder / _LINK_NAMES.get(program.name, program.name)
                    link.unlink(missing_ok=True)
                    link.symlink_to(program)

    def _missing_builds(self) -> list[tuple[ArtifactSpec, GoModule]]:
        builds = [(self._spec(module), module) for module in _modules().values()]
        return [(spec, module) for spec, module in builds if not (spec.folder / manifests.MANIFEST_FILE).exists()]

    def _spec(self, module: GoModule) -> ArtifactSpec:
        pins = hash_tree(module.directory, below=module.directory)
        key = hash_key(pins, repr(module.linked_variables()), platform_tag())
        folder = self.cache.root / "binaries" / f"{module.name}-{key}"
        return ArtifactSpec("binaries", module.name, module.name, key, folder)
