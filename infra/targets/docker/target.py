# SPDX-License-Identifier: Apache-2.0
"""The Docker target: every service a container on one network, under the vendor's Pulumi provider for Docker."""

from dataclasses import dataclass
from pathlib import Path

from infra.catalog import ENDPOINTS, check_settings
from infra.model import Lab, LaunchedJob, Part, PublicImage, Resource, Service, Task
from infra.project import CREDENTIALS_FILE, ENVIRONMENT_FILE, PROJECT, stack_root
from infra.provider.inputs import CredentialsInputs
from infra.settings import Settings
from infra.targets.declarations import (
    CREDENTIALS,
    DISK_MIB,
    SET_BY_ENGINE,
    ResourceDeclaration,
    environment_file,
    resource_declaration,
)
from infra.targets.docker import names
from infra.targets.docker.container import ContainerRenderer, definition, limit_mib, published
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
from infra.targets.docker.site import PROJECT_FOLDER, DockerSite, ImagePrograms
from infra.targets.launch_script import Launcher
from infra.toolchain import Artifacts

HOST = "docker"
NETWORK = "network"
CREDENTIALS_VOLUME = "credentials/volume"

UNPROBED_SECONDS = 60
STARTUP_FACTOR = 2
"""How many times as long as a process a container may take to be ready: it reads its programs through layers, cold."""


@dataclass(frozen=True)
class DockerTarget:
    """Turns a lab into the resources of one stack on a Docker daemon.

    Attributes:
        containers: renders them.
        root: the stack's folder on this machine.
        settings: the stack's.
    """

    containers: ContainerRenderer
    root: Path
    settings: Settings

    @property
    def site(self) -> DockerSite:
        """The place, as services see it."""
        return self.containers.site

    @property
    def _environment_file(self) -> str:
        return str(self.root / ENVIRONMENT_FILE)

    @property
    def _credentials_file(self) -> str:
        return str(self.root / CREDENTIALS_FILE)

    @property
    def _labels(self) -> dict[str, str]:
        return names.labels(self.site.stack, self.containers.project)

    def render(self, lab: Lab) -> tuple[ResourceDeclaration, ...]:
        """Every resource of the lab; no daemon is asked."""
        base = (self._host(lab), self._network(), *self._credentials(lab))
        parts = tuple(resource for part in lab.parts for resource in self._part(part, lab))
        return (*base, *parts, environment_file(lab, self.site, self.settings, self._environment_file))

    def deploy(self, lab: Lab) -> None:
        """Makes the lab: resources and outputs of the stack."""
        from infra.targets.docker.registration import Registration
        from infra.targets.registration import export, register

        register(self.render(lab), Registration())
        export(lab, self.site, self.settings, self._environment_file)

    def _host(self, lab: Lab) -> ResourceDeclaration:
        inputs = DockerHostInputs(
            root=str(self.root),
            stack=self.site.stack,
            checkout=names.checkout(self.containers.project),
            ports={
                f"{service.name} {endpoint.name}": self.site.address(service.name, endpoint.name, "outside").port
                for service in lab.services
                for endpoint in published(service)
            },
            memory_mib=lab.memory_mib,
            disk_mib=DISK_MIB,
            preflight=self.settings.preflight,
        )
        return ResourceDeclaration("DockerHost", HOST, inputs, ())

    def _network(self) -> ResourceDeclaration:
        inputs = NetworkInputs(name=names.network(self.site.stack), labels=labels_of(self._labels))
        return ResourceDeclaration("Network", NETWORK, inputs, (HOST,))

    def _credentials(self, lab: Lab) -> tuple[ResourceDeclaration, ...]:
        """The file on this machine, the volume, and the copy there. Any image will do to copy: the first one's."""
        volume = names.credentials_volume(self.site.stack)
        copied = CredentialsVolumeInputs(
            volume=volume,
            path=self._credentials_file,
            image=self.containers.image(lab.services[0]),
            labels=self._labels,
            fingerprint=SET_BY_ENGINE,
        )
        return (
            ResourceDeclaration("Credentials", CREDENTIALS, CredentialsInputs(path=self._credentials_file), (HOST,)),
            self._volume(CREDENTIALS, volume),
            ResourceDeclaration(
                "CredentialsVolume", CREDENTIALS_VOLUME, copied, (CREDENTIALS, volume_key(CREDENTIALS)), secret=True
            ),
        )

    def _volume(self, of: str, name: str) -> ResourceDeclaration:
        return ResourceDeclaration(
            "Volume", volume_key(of), VolumeInputs(name=name, labels=labels_of(self._labels)), (HOST,)
        )

    def _part(self, part: Part, lab: Lab) -> tuple[ResourceDeclaration, ...]:
        match part:
            case Service():
                return self._service(part)
            case Task():
                return (*self._image(part), self._container(part, part.key))
            case LaunchedJob():
                launcher = self.containers.container(lab.service(part.launcher))
                notes = container_location(launcher.name, part.notes)
                return (resource_declaration(part.rendered(definition(launcher), notes)),)
            case Resource():
                return (resource_declaration(part),)

    def _service(self, service: Service) -> tuple[ResourceDeclaration, ...]:
        key = container_key(service.name)
        ready = ContainerReadyInputs(
            container=SET_BY_ENGINE,
            service=service.name,
            probe=self.containers.probe(service),
            seconds=STARTUP_FACTOR * service.ready.seconds if service.ready else UNPROBED_SECONDS,
            stop_seconds=service.stop_seconds,
            may_exit=service.restart == "on_failure",
            memory_mib=limit_mib(service),
        )
        volume = self._volume(service.name, names.volume(self.site.stack, service.name))
        return (
            *((volume,) if service.volumes else ()),
            *self._image(service),
            self._container(service, key),
            ResourceDeclaration("ContainerReady", service.key, ready, (key,)),
        )

    def _image(self, part: Service | Task) -> tuple[ResourceDeclaration, ...]:
        if not isinstance(part.run, PublicImage):
            return ()
        return (
            ResourceDeclaration(
                "RemoteImage", image_key(part.name), RemoteImageInputs(name=part.run.reference), (HOST,)
            ),
        )

    def _container(self, part: Service | Task, key: str) -> ResourceDeclaration:
        keeps = isinstance(part, Service) and part.volumes
        needs = (
            *(HOST, NETWORK),
            *((image_key(part.name),) if isinstance(part.run, PublicImage) else ()),
            *((volume_key(part.name),) if keeps else ()),
            *((volume_key(CREDENTIALS), CREDENTIALS_VOLUME, CREDENTIALS) if part.secrets else ()),
            *part.needs,
        )
        return ResourceDeclaration("Container", key, self.containers.container(part), needs, secret=bool(part.secrets))


def docker_target(stack: str, settings: Settings, artifacts: Artifacts) -> DockerTarget:
    """The target of a stack of this checkout.

    Raises:
        LabError: a jar that the settings name is not there.
    """
    check_settings(settings)
    images = Images(artifacts, settings.base_image)

    def image(part: Service | Task) -> str:
        """The identifier of the built image: the vendor's plugin takes a name for changed at each refresh."""
        reference = images.image_for(part)
        return images.identifier(reference) or reference

    programs = ImagePrograms(artifacts.has)
    site = DockerSite(stack, PROJECT, settings.port_offset, ENDPOINTS, programs)
    file = Path(names.CREDENTIALS_FOLDER) / names.CREDENTIALS_NAME
    launcher = Launcher(programs, Path(PROJECT_FOLDER), file, "linux", names.USER)
    return DockerTarget(ContainerRenderer(site, launcher, image, PROJECT), stack_root(stack), settings)
