# SPDX-License-Identifier: Apache-2.0
"""The Docker target: every service in a container on one network, created by the vendor's Pulumi provider."""

from dataclasses import dataclass
from pathlib import Path

from infra.catalog import check_settings
from infra.model import Lab, LaunchedJob, Part, PublicImage, Resource, Service, Task
from infra.project import CREDENTIALS_FILE, ENVIRONMENT_FILE, PROJECT, stack_root
from infra.settings import Settings
from infra.targets.container_limits import memory_limit_mib, startup_seconds
from infra.targets.container_paths import host_name
from infra.targets.container_script import container_launcher
from infra.targets.declarations import (
    CREDENTIALS,
    DISK_MIB,
    SET_BY_ENGINE,
    ResourceDeclaration,
    copied_credentials,
    credentials_declaration,
    definition_hash,
    environment_file,
    reads_credentials,
    resource_declaration,
)
from infra.targets.docker import names
from infra.targets.docker.container import ContainerRenderer, published_endpoints
from infra.targets.docker.container_notes import container_location
from infra.targets.docker.images import Images
from infra.targets.docker.inputs import (
    NetworkInputs,
    RemoteImageInputs,
    VolumeInputs,
    labels_of,
)
from infra.targets.docker.keys import container_key, image_key, volume_key
from infra.targets.docker.kind_inputs import ContainerReadyInputs, CredentialsVolumeInputs, DockerHostInputs
from infra.targets.docker.site import DockerSite
from infra.targets.labels import checkout_id, stack_labels
from infra.toolchain import Artifacts

HOST = "docker"
NETWORK = "network"
CREDENTIALS_VOLUME = "credentials/volume"


@dataclass(frozen=True)
class DockerTarget:
    """Renders a lab as the resources of one stack on a Docker daemon.

    Attributes:
        containers: renderer of the containers.
        root: the stack's folder on this machine.
        settings: settings of the stack.
    """

    containers: ContainerRenderer
    root: Path
    settings: Settings

    @property
    def site(self) -> DockerSite:
        """Addresses and paths of the stack."""
        return self.containers.site

    @property
    def _environment_file(self) -> str:
        return str(self.root / ENVIRONMENT_FILE)

    @property
    def _credentials_file(self) -> str:
        return str(self.root / CREDENTIALS_FILE)

    @property
    def _labels(self) -> dict[str, str]:
        return stack_labels(self.site.stack, self.containers.project)

    def render(self, lab: Lab) -> tuple[ResourceDeclaration, ...]:
        """Return every resource of the lab; sends no request to a daemon."""
        host = ResourceDeclaration("DockerHost", HOST, self.host_inputs(lab), ())
        base = (host, self._network_declaration(), *self._credentials_declarations(lab))
        parts = tuple(resource for part in lab.parts for resource in self._part_declarations(part, lab))
        return (*base, *parts, environment_file(lab, self.site, self.settings, self._environment_file))

    def deploy(self, lab: Lab) -> None:
        """Register the stack's resources and outputs with Pulumi.

        Raises:
            EngineError: the daemon does not respond. The vendor's plugin requires it for a preview too, and its error
                has neither address nor remedy.
        """
        from infra.targets.docker.engine import connect, engine_host
        from infra.targets.docker.registration import DockerResourceFactory
        from infra.targets.registration import export_outputs, register_resources

        connect().close()
        register_resources(self.render(lab), DockerResourceFactory(engine_host()))
        export_outputs(lab, self.site, self.settings, self._environment_file)

    def host_inputs(self, lab: Lab) -> DockerHostInputs:
        """Return what the lab requires of the daemon."""
        return DockerHostInputs(
            root=str(self.root),
            stack=self.site.stack,
            checkout=checkout_id(self.containers.project),
            images={
                part.name: self.containers.image(part)
                for part in lab.parts
                if isinstance(part, Service | Task) and not isinstance(part.run, PublicImage)
            },
            ports={
                f"{service.name} {endpoint.name}": self.site.address(service.name, endpoint.name, "outside").port
                for service in lab.services
                for endpoint in published_endpoints(service)
            },
            memory_mib=lab.memory_mib,
            disk_mib=DISK_MIB,
            preflight=self.settings.preflight,
        )

    def _network_declaration(self) -> ResourceDeclaration:
        inputs = NetworkInputs(name=names.network_name(self.site.stack), labels=labels_of(self._labels))
        return ResourceDeclaration("Network", NETWORK, inputs, (HOST,))

    def _credentials_declarations(self, lab: Lab) -> tuple[ResourceDeclaration, ...]:
        """Return the file on this machine, the volume, and the copy in it; any image can be used for copying."""
        volume = names.credentials_volume_name(self.site.stack)
        copied = CredentialsVolumeInputs(
            volume=volume,
            image=self.containers.image(lab.services[0]),
            labels=self._labels,
            **copied_credentials(self._credentials_file, self.site, self.settings),
        )
        hosts: dict[str, tuple[str, ...]] = {service: (host_name(service),) for service in copied.certified or ()}
        return (
            credentials_declaration(self._credentials_file, self.settings, (HOST,), self.site, hosts),
            self._volume_declaration(CREDENTIALS, volume),
            ResourceDeclaration(
                "CredentialsVolume", CREDENTIALS_VOLUME, copied, (CREDENTIALS, volume_key(CREDENTIALS)), secret=True
            ),
        )

    def _volume_declaration(self, owner: str, name: str) -> ResourceDeclaration:
        inputs = VolumeInputs(name=name, labels=labels_of(self._labels))
        return ResourceDeclaration("Volume", volume_key(owner), inputs, (HOST,))

    def _part_declarations(self, part: Part, lab: Lab) -> tuple[ResourceDeclaration, ...]:
        match part:
            case Service():
                return self._service_declarations(part)
            case Task():
                return (*self._image_declarations(part), self._container_declaration(part, part.key))
            case LaunchedJob():
                launcher = self.containers.container(lab.service(part.launcher))
                notes = container_location(launcher.name, part.notes)
                return (resource_declaration(part.rendered(definition_hash(launcher.properties()), notes)),)
            case Resource():
                return (resource_declaration(part),)

    def _service_declarations(self, service: Service) -> tuple[ResourceDeclaration, ...]:
        key = container_key(service.name)
        ready = ContainerReadyInputs(
            container=SET_BY_ENGINE,
            service=service.name,
            probe=self.containers.probe(service),
            seconds=startup_seconds(service),
            stop_seconds=service.stop_seconds,
            may_exit=service.restart == "on_failure",
            memory_mib=memory_limit_mib(service),
        )
        volume = self._volume_declaration(service.name, names.volume_name(self.site.stack, service.name))
        return (
            *((volume,) if service.volumes else ()),
            *self._image_declarations(service),
            self._container_declaration(service, key),
            ResourceDeclaration("ContainerReady", service.key, ready, (key,)),
        )

    def _image_declarations(self, part: Service | Task) -> tuple[ResourceDeclaration, ...]:
        if not isinstance(part.run, PublicImage):
            return ()
        return (
            ResourceDeclaration(
                "RemoteImage", image_key(part.name), RemoteImageInputs(name=part.run.reference), (HOST,)
            ),
        )

    def _container_declaration(self, part: Service | Task, key: str) -> ResourceDeclaration:
        has_data = isinstance(part, Service) and part.volumes
        has_secrets = reads_credentials(part, self.site)
        needs = (
            *(HOST, NETWORK),
            *((image_key(part.name),) if isinstance(part.run, PublicImage) else ()),
            *((volume_key(part.name),) if has_data else ()),
            *((volume_key(CREDENTIALS), CREDENTIALS_VOLUME, CREDENTIALS) if has_secrets else ()),
            *part.needs,
        )
        return ResourceDeclaration("Container", key, self.containers.container(part), needs, secret=has_secrets)


def docker_target(stack: str, settings: Settings, artifacts: Artifacts) -> DockerTarget:
    """Return the target of a stack of this checkout.

    Raises:
        LabError: a configured jar is missing.
    """
    check_settings(settings)
    images = Images(artifacts, settings.base_image)

    def image(part: Service | Task) -> str:
        """Return the identifier of a built image, so that an image that was built again replaces its containers."""
        reference = images.image_for(part)
        return images.identifier(reference) or reference

    site = DockerSite.of_stack(stack, settings, artifacts)
    containers = ContainerRenderer(site, container_launcher(site.programs), image, PROJECT)
    return DockerTarget(containers, stack_root(stack), settings)
