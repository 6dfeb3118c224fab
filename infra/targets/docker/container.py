# SPDX-License-Identifier: Apache-2.0
"""A service or a task as a container: what of the model becomes which of the container's properties."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infra.errors import LabError
from infra.model import Endpoint, PublicImage, Service, Task
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
from infra.targets.docker.site import LOOPBACK, DockerSite
from infra.targets.launch_script import Launcher

HEALTH_SECONDS = 30
"""Between two health checks. Each starts a process, and a lab has fifteen services on two cores."""

HEALTH_TIMEOUT_SECONDS = 20
HEALTH_RETRIES = 3

MEMORY_LIMIT_FACTOR = 1.5
"""The limit, in parts of what the model says that a service takes: what leaks is ended, what is busy is not."""

FILES_MIB = 8

SHELL = ["/bin/sh", "-c"]

LOG_OPTIONS = {"max-file": "2", "max-size": "10m"}

DEFINITION_LENGTH = 16

Image = Callable[[Service | Task], str]


@dataclass(frozen=True)
class ContainerRenderer:
    """Renders the containers of one stack.

    Attributes:
        site: the stack's place.
        launcher: renders start scripts.
        image: what each part runs on, unless it is a public image.
        project: the checkout.
    """

    site: DockerSite
    launcher: Launcher
    image: Image
    project: Path

    def container(self, part: Service | Task) -> ContainerInputs:
        """The container of a part, whose labels have a hash of all the rest.

        Of what differs, the vendor's plugin would take some into the state and not to the container. A changed label
        always makes a new one.
        """
        plain = self._container(part)
        labels = {
            **names.labels(self.site.stack, self.project),
            names.PART_LABEL: part.name,
            names.ROLE_LABEL: names.SERVICE_ROLE if isinstance(part, Service) else names.TASK_ROLE,
            names.DEFINITION_LABEL: _hash(plain),
        }
        return plain.model_copy(update={"labels": labels_of(labels)})

    def _container(self, part: Service | Task) -> ContainerInputs:
        service = part if isinstance(part, Service) else None
        public = part.run if isinstance(part.run, PublicImage) else None
        limit = limit_mib(part)
        return ContainerInputs(
            name=names.container(self.site.stack, part.name),
            image=public.reference if public else self.image(part),
            entrypoints=SHELL if public else None,
            command=[*(() if public else SHELL), start_script(part, self.launcher)],
            hostname=names.host(part.name),
            user=f"{names.USER}:{names.USER}",
            labels=[],
            networks_advanced=[NetworkAttachment(name=names.network(self.site.stack), aliases=[names.host(part.name)])],
            volumes=self._volumes(part),
            tmpfs={names.FILES: f"uid={names.USER},gid={names.USER},mode=0700,size={FILES_MIB}m"},
            memory=limit,
            memory_swap=limit,
            restart=_restart(service),
            start=service is not None,
            stop_timeout=part.stop_seconds,
            destroy_grace_seconds=part.stop_seconds,
            stop_signal="SIGINT" if service and service.stop_signal == "INT" else "SIGTERM",
            log_opts=LOG_OPTIONS,
            ports=self._ports(service) or None if service else None,
            healthcheck=self._healthcheck(service) if service else None,
        )

    def _volumes(self, part: Service | Task) -> list[VolumeMount]:
        """What is kept is one volume; what is not is an anonymous one, as it may be large; the keys are only read."""
        kept = names.volume(self.site.stack, part.name)
        keys = names.credentials_volume(self.site.stack)
        return [
            VolumeMount(container_path=names.SCRATCH),
            *(
                [VolumeMount(container_path=names.VOLUMES, volume_name=kept)]
                if isinstance(part, Service) and part.volumes
                else []
            ),
            *(
                [VolumeMount(container_path=names.CREDENTIALS_FOLDER, volume_name=keys, read_only=True)]
                if part.secrets
                else []
            ),
        ]

    def _ports(self, service: Service) -> list[Port]:
        return [
            Port(
                internal=self.site.published(service.name, endpoint.name),
                external=self.site.address(service.name, endpoint.name, "outside").port,
                ip=LOOPBACK,
            )
            for endpoint in published(service)
        ]

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
        """The command in the container that tells whether a service is ready; empty where only its process does.

        Raises:
            LabError: a public image is to be probed by something else than HTTP.
        """
        if service.ready is None:
            return []
        port, path = self.site.listen(service.name, service.ready.endpoint).port, service.ready.path
        if not isinstance(service.run, PublicImage):
            return [names.PROBE, LOOPBACK, str(port), *((path,) if path else ())]
        if not path:
            raise LabError(f"{service.name} is a public image, and its probe has no path: give it one that answers 2xx")
        return [*names.PUBLIC_PROBE, f"http://{LOOPBACK}:{port}{path}"]


def published(service: Service) -> tuple[Endpoint, ...]:
    """Those endpoints that the user's machine is given."""
    return tuple(endpoint for endpoint in service.endpoints if endpoint.published_as)


def limit_mib(part: Service | Task) -> int:
    """The most memory that a part's container may take."""
    return int(part.memory_mib * MEMORY_LIMIT_FACTOR)


def definition(container: ContainerInputs) -> str:
    """A hash of all that makes a container what it is, its image among it, but for the credentials."""
    return _hash(container)


def _hash(inputs: ContainerInputs) -> str:
    text = json.dumps(inputs.properties(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DEFINITION_LENGTH]


def _restart(service: Service | None) -> str:
    """What a user has stopped stays so; what the daemon has ended, or itself, comes back with it."""
    if service is None:
        return "no"
    return "unless-stopped" if service.restart == "always" else "on-failure"
