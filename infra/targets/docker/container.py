# SPDX-License-Identifier: Apache-2.0
"""Rendering of services and tasks as inputs of Docker containers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infra.errors import LabError
from infra.model import Endpoint, Probe, PublicImage, Service, Task
from infra.services import tls
from infra.targets.container_limits import memory_limit_mib
from infra.targets.container_paths import CREDENTIALS_FOLDER, FILES, PROBE, SCRATCH, USER, VOLUMES, host_name
from infra.targets.declarations import definition_hash, reads_credentials
from infra.targets.docker import names
from infra.targets.docker.inputs import (
    ContainerInputs,
    Healthcheck,
    NetworkAttachment,
    Port,
    VolumeMount,
    go_duration,
    labels_of,
)
from infra.targets.docker.script import start_script
from infra.targets.docker.site import DockerSite
from infra.targets.labels import DEFINITION_LABEL, PART_LABEL, ROLE_LABEL, SERVICE_ROLE, TASK_ROLE, stack_labels
from infra.targets.launch_script import Launcher
from infra.targets.site import LOOPBACK

HEALTH_SECONDS = 30
"""Interval of health checks. Each starts a process, and a lab has fifteen services on two cores."""

HEALTH_TIMEOUT_SECONDS = 20
HEALTH_RETRIES = 3

FILES_MIB = 8
"""Size of the tmpfs for the configuration files of a container."""

SHELL = ["/bin/sh", "-c"]

LOG_OPTIONS = {"max-file": "2", "max-size": "10m"}

ImageSelector = Callable[[Service | Task], str]
"""Returns the reference or identifier of the image that a part runs on."""


@dataclass(frozen=True)
class ContainerRenderer:
    """Renderer of the containers of one stack.

    Attributes:
        site: addresses and paths of the stack.
        launcher: renderer of start scripts.
        image: selects the image of parts that do not run on a public image.
        project: path of the checkout.
    """

    site: DockerSite
    launcher: Launcher
    image: ImageSelector
    project: Path

    def container(self, part: Service | Task) -> ContainerInputs:
        """Return the container of a part; one of its labels is the hash of all other inputs.

        The vendor's plugin stores some changed inputs in the state without applying them to the container. A changed
        label always replaces the container.
        """
        unlabelled = self._unlabelled_container(part)
        labels = {
            **stack_labels(self.site.stack, self.project),
            PART_LABEL: part.name,
            ROLE_LABEL: SERVICE_ROLE if isinstance(part, Service) else TASK_ROLE,
            DEFINITION_LABEL: definition_hash(unlabelled.properties()),
        }
        return unlabelled.model_copy(update={"labels": labels_of(labels)})

    def _unlabelled_container(self, part: Service | Task) -> ContainerInputs:
        service = part if isinstance(part, Service) else None
        public = part.run if isinstance(part.run, PublicImage) else None
        limit = memory_limit_mib(part)
        return ContainerInputs(
            name=names.container_name(self.site.stack, part.name),
            image=public.reference if public else self.image(part),
            entrypoints=SHELL if public else None,
            command=[*(() if public else SHELL), start_script(part, self.launcher)],
            hostname=host_name(part.name),
            user=f"{USER}:{USER}",
            labels=[],
            networks_advanced=[
                NetworkAttachment(name=names.network_name(self.site.stack), aliases=[host_name(part.name)])
            ],
            volumes=self._volumes(part),
            tmpfs={FILES: f"uid={USER},gid={USER},mode=0700,size={FILES_MIB}m"},
            memory=limit,
            memory_swap=limit,
            restart=_restart_policy(service),
            start=service is not None,
            stop_timeout=part.stop_seconds,
            destroy_grace_seconds=part.stop_seconds,
            stop_signal="SIGINT" if service and service.stop_signal == "INT" else "SIGTERM",
            log_opts=LOG_OPTIONS,
            ports=self._ports(service) or None if service else None,
            healthcheck=self._healthcheck(service) if service else None,
        )

    def _volumes(self, part: Service | Task) -> list[VolumeMount]:
        """Return the mounts: anonymous volume for temporary files, named volume for data, read-only credentials."""
        data = names.volume_name(self.site.stack, part.name)
        credentials = names.credentials_volume_name(self.site.stack)
        return [
            VolumeMount(container_path=SCRATCH),
            *(
                [VolumeMount(container_path=VOLUMES, volume_name=data)]
                if isinstance(part, Service) and part.volumes
                else []
            ),
            *(
                [VolumeMount(container_path=CREDENTIALS_FOLDER, volume_name=credentials, read_only=True)]
                if reads_credentials(part, self.site)
                else []
            ),
        ]

    def _ports(self, service: Service) -> list[Port]:
        """Return the published ports by container port, the order in which the vendor's plugin reads them back."""
        ports = [
            Port(
                internal=self.site.container_port(service.name, endpoint.name),
                external=self.site.address(service.name, endpoint.name, "outside").port,
                ip=LOOPBACK,
            )
            for endpoint in published_endpoints(service)
        ]
        return sorted(ports, key=lambda port: port.internal)

    def _healthcheck(self, service: Service) -> Healthcheck | None:
        command = self.probe(service)
        if service.ready is None or not command:
            return None
        return Healthcheck(
            tests=["CMD", *command],
            interval=go_duration(HEALTH_SECONDS),
            timeout=go_duration(HEALTH_TIMEOUT_SECONDS),
            start_period=go_duration(service.ready.seconds),
            retries=HEALTH_RETRIES,
        )

    def probe(self, service: Service) -> list[str]:
        """Return the readiness probe's command inside the container; empty if the service has no probe.

        Raises:
            LabError: the probe of a public image is not an HTTP probe.
        """
        if service.ready is None:
            return []
        port, path = self.site.listen(service.name, service.ready.endpoint).port, service.ready.path
        if not isinstance(service.run, PublicImage):
            return [PROBE, LOOPBACK, str(port), *self._probed_path(service, service.ready)]
        if not path:
            raise LabError(
                f"{service.name} is a public image, and its probe has no HTTP path: set one that responds with 2xx"
            )
        return [*names.PUBLIC_IMAGE_PROBE, f"http://{LOOPBACK}:{port}{path}"]

    def _probed_path(self, service: Service, probe: Probe) -> tuple[str, ...]:
        """Return the probe's HTTP path, if any, and with TLS the file of the authority's certificate."""
        if not probe.path:
            return ()
        is_encrypted = self.site.address(service.name, probe.endpoint).scheme == "https"
        return (probe.path, str(tls.authority(self.site))) if is_encrypted else (probe.path,)


def published_endpoints(service: Service) -> tuple[Endpoint, ...]:
    """Return the endpoints whose ports are published on the user's machine."""
    return tuple(endpoint for endpoint in service.endpoints if endpoint.published_as)


def _restart_policy(service: Service | None) -> str:
    """Return Docker's restart policy; a service that the user stopped stays stopped after a restart of the daemon."""
    if service is None:
        return "no"
    return "unless-stopped" if service.restart == "always" else "on-failure"
