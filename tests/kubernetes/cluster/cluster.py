# SPDX-License-Identifier: Apache-2.0
"""The test cluster: start, stop, state."""

import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from infra.toolchain.progress import Progress
from tests.kubernetes.cluster import addresses, control_plane, dns, node
from tests.kubernetes.cluster.api import ApiServer
from tests.kubernetes.cluster.binaries import ClusterBinaries
from tests.kubernetes.cluster.cgroups import create_cgroup
from tests.kubernetes.cluster.credentials import create_credentials
from tests.kubernetes.cluster.errors import ClusterError
from tests.kubernetes.cluster.folders import ClusterFolders
from tests.kubernetes.cluster.images import ctr, import_own_images
from tests.kubernetes.cluster.network import create_network, remove_network
from tests.kubernetes.cluster.processes import DetachedProcess
from tests.kubernetes.cluster.requirements import install_packages
from tests.kubernetes.cluster.teardown import remove_containers, remove_files, remove_rules
from tests.kubernetes.cluster.volumes import provide_volumes
from tests.kubernetes.cluster.waiting import wait_for

COMPONENTS = ("etcd", "apiserver", "containerd", "controller-manager", "scheduler", "kubelet", "proxy", "coredns")
"""Components in the order of their start; they are stopped in the reverse order."""

_STOP_TIMEOUT = 5
"""Seconds until a component is killed; its data is deleted anyway."""

_READY_TIMEOUT = 120
_NODE = f"/api/v1/nodes/{addresses.NODE}"
_DEFAULT_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default"


@dataclass(frozen=True)
class Cluster:
    """One-node cluster in a folder of this machine."""

    folders: ClusterFolders
    binaries: ClusterBinaries

    @classmethod
    def open(cls) -> "Cluster":
        """Return the cluster of this machine, running or not. Raises ArtifactError if the cache is not writable."""
        return cls(ClusterFolders.default(), ClusterBinaries.open())

    @property
    def api(self) -> ApiServer:
        return ApiServer(self.folders)

    def process(self, component: str) -> DetachedProcess:
        """Return the process of a component, running or not."""
        return DetachedProcess(self.folders.processes, component)

    def up(self, progress: Progress) -> None:
        """Install what is missing, start what does not run, and wait until pods can run and DNS answers.

        Raises:
            ClusterUnavailable: this machine cannot run the cluster.
            ArtifactError: the binaries cannot be built.
            ClusterError: a component does not become ready.
        """
        install_packages(progress.note)
        self.binaries.install(progress)
        with self.binaries.cache.lock(progress.note):
            self.folders.create()
            self.binaries.link_into(self.folders.programs)
            create_credentials(self.folders)
            create_network(self.folders)
            create_cgroup()
            self._start_control_plane()
            self._start_node()
            provide_volumes(self.api, self.folders)

    def down(self, progress: Progress) -> None:
        """Stop all components and remove containers, mounts, rules, bridge and files. Raises ClusterError."""
        if not self.folders.root.exists():
            return
        with self.binaries.cache.lock(progress.note):
            for component in reversed(COMPONENTS):
                self.process(component).stop(_STOP_TIMEOUT)
            remove_containers(self.folders)
            remove_rules(self.folders)
            remove_network(self.folders)
            remove_files(self.folders)

    def is_running(self) -> bool:
        """Return True if all components run and the node is ready."""
        if any(self.process(component).pid is None for component in COMPONENTS):
            return False
        return self.api.unready_reason() is None and self._node_reason() is None

    def stop_kubelet(self) -> None:
        """Stop the kubelet; its containers continue to run."""
        self.process("kubelet").stop()

    def start_kubelet(self) -> None:
        """Start the kubelet and wait until it has reported a ready node. Raises ClusterError."""
        started = datetime.now(UTC).replace(microsecond=0)
        self.process("kubelet").start(node.kubelet_command(self.folders))
        self._wait("kubelet", lambda: _health_reason(addresses.KUBELET_HEALTH_PORT))
        self._wait("kubelet", lambda: self._node_reason(started))

    def _start_control_plane(self) -> None:
        commands = {
            "etcd": control_plane.etcd_command(self.folders),
            "apiserver": control_plane.apiserver_command(self.folders),
            "containerd": node.containerd_command(self.folders),
        }
        for component, command in commands.items():
            self.process(component).start(command)
        self._wait("containerd", self._containerd_reason)
        import_own_images(self.folders)
        self._wait("apiserver", self.api.unready_reason)

    def _start_node(self) -> None:
        """Start the clients of the API server, which must respond: some of them exit if it does not."""
        dns.grant_access(self.api)
        commands = {
            "controller-manager": control_plane.controller_manager_command(self.folders),
            "scheduler": control_plane.scheduler_command(self.folders),
            "kubelet": node.kubelet_command(self.folders),
            "proxy": node.proxy_command(self.folders),
            "coredns": dns.coredns_command(self.folders),
        }
        for component, command in commands.items():
            self.process(component).start(command)
        self._wait("kubelet", self._node_reason)
        self._wait("proxy", lambda: _health_reason(addresses.PROXY_HEALTH_PORT))
        self._wait("coredns", dns.unready_reason)
        self._wait("controller-manager", self._account_reason)

    def _wait(self, component: str, reason: Callable[[], str | None]) -> None:
        """Wait until a component is ready; fail at once if it exits."""
        process = self.process(component)

        def reason_while_running() -> str | None:
            process.check()
            return reason()

        try:
            wait_for(f"{component} not ready", reason_while_running, _READY_TIMEOUT)
        except ClusterError as error:
            raise ClusterError(f"{error}; log: {process.log}") from error

    def _containerd_reason(self) -> str | None:
        try:
            ctr(self.folders, "version")
        except ClusterError as error:
            return str(error)
        return None

    def _node_reason(self, since: datetime | None = None) -> str | None:
        """Return None if the node is ready, by a report not older than `since`, else why not."""
        found = self.api.get(_NODE)
        if found is None:
            return f"node {addresses.NODE} is not registered"
        ready = next((one for one in found["status"].get("conditions", []) if one["type"] == "Ready"), None)
        if ready is None or ready["status"] != "True":
            return f"node {addresses.NODE}: {ready['message'] if ready else 'no condition'}"
        reported = datetime.fromisoformat(ready["lastHeartbeatTime"])
        return None if since is None or reported >= since else f"last report of the node: {reported:%H:%M:%S}"

    def _account_reason(self) -> str | None:
        return None if self.api.get(_DEFAULT_ACCOUNT) else "the default service account does not exist"


def _health_reason(port: int) -> str | None:
    """Return None if a health check on loopback succeeds, else why not."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
            return None
    except OSError as error:
        return str(error)
