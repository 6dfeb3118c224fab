# SPDX-License-Identifier: Apache-2.0
"""The local target: every service a plain process on loopback, under one supervisord per stack."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from infra.catalog import ENDPOINTS, check_settings, external_services
from infra.errors import LabError
from infra.model import (
    Lab,
    LaunchedJob,
    Part,
    PublicImage,
    Resource,
    Service,
    Task,
)
from infra.project import CREDENTIALS_FILE, ENVIRONMENT_FILE, PROJECT, stack_root
from infra.services import tls
from infra.settings import TLS, Settings
from infra.targets.declarations import (
    CREDENTIALS,
    DISK_MIB,
    SET_BY_ENGINE,
    ResourceDeclaration,
    credentials_declaration,
    definition_hash,
    environment_file,
    resource_declaration,
)
from infra.targets.launch_script import Launcher
from infra.targets.local import lab_id
from infra.targets.local.inputs import ProbeInputs, ProcessInputs, SupervisorInputs
from infra.targets.local.site import LocalSite
from infra.targets.revision import revision
from infra.toolchain import Artifacts

SUPERVISOR = "supervisor"


@dataclass(frozen=True)
class LocalTarget:
    """Renders a lab as the resources of one stack on this machine."""

    site: LocalSite
    launcher: Launcher
    settings: Settings

    def render(self, lab: Lab) -> tuple[ResourceDeclaration, ...]:
        """Return every resource of the lab; reads only the kit's sources, for their revision.

        Raises:
            LabError: a service or task is a public image.
        """
        credentials = credentials_declaration(str(self.launcher.credentials), self.settings, (SUPERVISOR,), self.site)
        base = (ResourceDeclaration("Supervisor", SUPERVISOR, self.supervisor_inputs(lab), ()), credentials)
        variables = environment_file(lab, self.site, self.settings, str(self.site.root / ENVIRONMENT_FILE))
        return (*base, *(self._part_declaration(part, lab) for part in lab.parts), variables)

    def deploy(self, lab: Lab) -> None:
        """Register the stack's resources and outputs with Pulumi."""
        from infra.targets.registration import export_outputs, register_resources

        register_resources(self.render(lab))
        export_outputs(lab, self.site, self.settings, str(self.site.root / ENVIRONMENT_FILE))

    def supervisor_inputs(self, lab: Lab) -> SupervisorInputs:
        """Return what the lab needs of this machine: ports, memory, disk."""
        ports = {
            f"{service.name} {endpoint.name}": self.site.listen(service.name, endpoint.name).port
            for service in lab.services
            for endpoint in service.endpoints
        }
        return SupervisorInputs(
            root=str(self.site.root),
            ports=ports,
            memory_mib=lab.memory_mib,
            disk_mib=DISK_MIB,
            preflight=self.settings.preflight,
        )

    def _part_declaration(self, part: Part, lab: Lab) -> ResourceDeclaration:
        match part:
            case Service() | Task():
                needs = (SUPERVISOR, CREDENTIALS, *part.needs)
                secret = bool(part.secrets) or self._has_certificate(part)
                return ResourceDeclaration("Process", part.key, self._process_inputs(part), needs, secret)
            case LaunchedJob():
                launcher = self._process_inputs(lab.service(part.launcher))
                definition = definition_hash([launcher.script, launcher.files, launcher.revision])
                return resource_declaration(part.rendered(definition, part.notes))
            case Resource():
                return resource_declaration(part)

    def _has_certificate(self, part: Service | Task) -> bool:
        return self.site.tls and isinstance(part, Service) and any(endpoint.tls for endpoint in part.endpoints)

    def _process_inputs(self, part: Service | Task) -> ProcessInputs:
        if isinstance(part.run, PublicImage):
            raise LabError(
                f"{part.name} is the public image {part.run.reference}, which the local target cannot run: "
                f"set lineage-lab:target to docker, or {part.run.remedy or 'leave it out'}"
            )
        service = part if isinstance(part, Service) else None
        endpoints = service.endpoints if service else ()
        return ProcessInputs(
            root=str(self.site.root),
            program=part.name,
            script=self.launcher.script(part, Path(self.site.scratch(part.name))),
            files=dict(part.files),
            volumes=list(service.volumes) if service else [],
            is_service=service is not None,
            probe=self._probe_inputs(service) if service else None,
            stop_seconds=part.stop_seconds,
            stop_signal=service.stop_signal if service else "TERM",
            restart=service.restart if service else "always",
            fingerprint=SET_BY_ENGINE,
            revision=revision(self.launcher.project, service.run) if service else "",
            ports={
                f"{part.name} {endpoint.name}": self.site.listen(part.name, endpoint.name).port
                for endpoint in endpoints
            },
        )

    def _probe_inputs(self, service: Service) -> ProbeInputs | None:
        if service.ready is None:
            return None
        probe = service.ready
        address = self.site.address(service.name, probe.endpoint, "outside")
        return ProbeInputs(
            host=address.host,
            port=address.port,
            path=probe.path,
            seconds=probe.seconds,
            authority=tls.authority(self.site) if probe.path and address.scheme == "https" else None,
        )


def local_target(stack: str, settings: Settings, artifacts: Artifacts) -> LocalTarget:
    """Return the target of a stack of this checkout.

    Raises:
        LabError: no JDK is installed, the checkout's path is unsupported, or a configured jar is missing.
    """
    check_settings(settings)
    root = stack_root(stack)
    site = LocalSite(
        root=root,
        port_offset=settings.port_offset,
        endpoints=ENDPOINTS,
        programs=artifacts,
        external=external_services(settings),
        own_id=lab_id.read(root),
        tls=settings.security == TLS,
    )
    launcher = Launcher(artifacts, PROJECT, root / CREDENTIALS_FILE, sys.platform, os.geteuid())
    return LocalTarget(site, launcher, settings)
