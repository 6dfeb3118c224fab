# SPDX-License-Identifier: Apache-2.0
"""Values of the Helm chart `charts/lineage-lab`, rendered from a lab."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra import credentials
from infra.catalog import certified_services, external_credentials, secret_files
from infra.model import Lab, Probe, PublicImage, Resource, Service, Task
from infra.services import tls
from infra.settings import Settings
from infra.targets.container_limits import memory_limit_mib, startup_seconds
from infra.targets.declarations import SET_BY_ENGINE, definition_hash, reads_credentials
from infra.targets.kubernetes.in_cluster import resource_entries, setup_part
from infra.targets.kubernetes.script import start_script
from infra.targets.kubernetes.secret_keys import certificate_paths
from infra.targets.kubernetes.site import KubernetesSite
from infra.targets.launch_script import Launcher

CPU_REQUEST = "50m"
"""CPU that the scheduler reserves for each pod: a lab of fifteen pods fits one core while it is idle."""

PASSWORD_LENGTH = 32
"""Characters of a credential that the chart generates, where Helm installs it without Pulumi."""

ImageSelector = Callable[[Service | Task], str]
"""Returns the reference of the image that a part runs on."""


@dataclass(frozen=True)
class ValuesRenderer:
    """Renderer of the values of one stack.

    Attributes:
        site: addresses and paths of the stack.
        launcher: renderer of start scripts.
        image: selects the image of parts that do not run on a public image.
        settings: settings of the stack.
        chart_services: services that have a template of their own in the chart, by their names in the values.
        checkout: id of the checkout, a label of every object.
    """

    site: KubernetesSite
    launcher: Launcher
    image: ImageSelector
    settings: Settings
    chart_services: frozenset[str]
    checkout: str

    def values(self, lab: Lab, resources: tuple[Resource, ...], setup: bool) -> dict[str, Any]:
        """Return the values of a lab.

        Args:
            lab: the lab as its pods see it.
            resources: its resources with addresses inside the namespace.
            setup: whether a Job of the chart creates the resources.
        """
        services = {value_name(service.name): self.service(service) for service in lab.services}
        known = {name: value for name, value in services.items() if name in self.chart_services}
        jobs = {value["name"]: value for name, value in services.items() if name not in self.chart_services}
        return {
            "stack": self.site.stack,
            "checkout": self.checkout,
            "images": {"pullSecrets": [self.settings.image_pull_secret] if self.settings.image_pull_secret else []},
            "credentials": {"fingerprint": SET_BY_ENGINE, **self._credentials(lab)},
            "storage": {"className": self.settings.storage_class},
            "setup": self._setup(lab, resources, setup),
            **{name: {"enabled": False} for name in sorted(self.chart_services - services.keys())},
            **known,
            "jobs": jobs,
            "tasks": {task.name: self.task(task) for task in lab.tasks},
        }

    def _credentials(self, lab: Lab) -> dict[str, Any]:
        """Return the credentials that the chart generates for the parts of the lab, and those that the user gives.

        With TLS, `certificates` are the files that the Secret has beside the credentials.
        """
        given = {*external_credentials(self.settings), *secret_files(self.settings)}
        used = {credential for service in lab.services for credential in service.secrets.values()}
        used |= {credential for task in lab.tasks for credential in task.secrets.values()}
        generated = {name: PASSWORD_LENGTH for name in credentials.NAMES if name in used - given}
        certified = certificate_paths(certified_services(self.settings)) if self.site.tls else ()
        return {
            "names": generated,
            **({"given": sorted(given)} if given else {}),
            **({"certificates": certified} if certified else {}),
        }

    def service(self, service: Service) -> dict[str, Any]:
        """Return the values of a service; `definition` is a hash of those that its pods are made from."""
        private = {endpoint.name for endpoint in service.endpoints if endpoint.private}
        ports = [
            {"name": endpoint.name, "port": self.site.listen(service.name, endpoint.name).port}
            for endpoint in service.endpoints
            if endpoint.name not in private
        ]
        values = {
            "enabled": True,
            **self._common(service),
            "replicaFiles": [dict(files) for files in service.replica_files],
            "ports": ports,
            "volumes": list(service.volumes),
            "stopSignal": service.stop_signal,
            "restart": service.restart,
            **({"probe": self._probe(service, service.ready)} if service.ready else {}),
        }
        return {**values, "replicas": service.replicas, "definition": definition_hash(values)}

    def task(self, task: Task) -> dict[str, Any]:
        """Return the values of a task."""
        values = self._common(task)
        return {**values, "definition": definition_hash(values)}

    def _common(self, part: Service | Task) -> dict[str, Any]:
        return {
            "name": part.name,
            "image": part.run.reference if isinstance(part.run, PublicImage) else self.image(part),
            "script": start_script(part, self.launcher),
            "files": dict(part.files),
            "secrets": reads_credentials(part, self.site),
            "stopSeconds": part.stop_seconds,
            "needs": list(part.needs),
            **({"executor": {"script": start_script(part.executor, self.launcher)}} if part.executor else {}),
            "resources": {
                "requests": {"cpu": CPU_REQUEST, "memory": f"{part.memory_mib}Mi"},
                "limits": {"memory": f"{memory_limit_mib(part)}Mi"},
            },
        }

    def _probe(self, service: Service, probe: Probe) -> dict[str, Any]:
        port = self.site.listen(service.name, probe.endpoint).port
        is_encrypted = self.site.address(service.name, probe.endpoint).scheme == "https"
        scheme = {"scheme": "HTTPS"} if probe.path and is_encrypted else {}
        return {"port": port, "path": probe.path, **scheme, "seconds": startup_seconds(service)}

    def _setup(self, lab: Lab, resources: tuple[Resource, ...], enabled: bool) -> dict[str, Any]:
        authority = tls.authority(self.site)
        part, waiting = setup_part(authority=authority), setup_part("await", authority)
        addresses = {
            service.name: str(self.site.address(service.name, service.ready.endpoint))
            for service in lab.services
            if service.ready
        }
        return {
            "enabled": enabled,
            "image": self.image(part),
            "script": start_script(part, self.launcher),
            "awaitScript": start_script(waiting, self.launcher).rstrip() + ' "$@"\n',
            "resources": resource_entries(resources),
            "services": addresses,
        }


def value_name(service: str) -> str:
    """Return the name of a service in the values, as Helm users spell it: `schemaRegistry`."""
    first, *others = service.split("_")
    return first + "".join(word.capitalize() for word in others)


def chart_services(chart: Path, services: Mapping[str, object]) -> frozenset[str]:
    """Return those services, by their names in the values, that have a template of their own in the chart."""
    found = {name for name in services if (chart / "templates" / f"{name.replace('_', '-')}.yaml").exists()}
    return frozenset(value_name(name) for name in found)
