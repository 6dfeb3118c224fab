# SPDX-License-Identifier: Apache-2.0
"""The Kubernetes target: the chart of the lab as one Helm release, created by the vendor's Pulumi provider."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.catalog import build_lab, check_settings
from infra.errors import SettingsError
from infra.model import Endpoint, Lab, LaunchedJob, Part, Resource, Service, Task
from infra.project import CREDENTIALS_FILE, ENVIRONMENT_FILE, PROJECT, stack_root
from infra.settings import Settings
from infra.targets.container_limits import startup_seconds
from infra.targets.container_paths import host_name
from infra.targets.declarations import (
    CREDENTIALS,
    SET_BY_ENGINE,
    ResourceDeclaration,
    copied_credentials,
    credentials_declaration,
    environment_file,
    reads_credentials,
    resource_declaration,
)
from infra.targets.kubernetes import names
from infra.targets.kubernetes.chart import CHART, values_renderer
from infra.targets.kubernetes.inputs import ReleaseInputs
from infra.targets.kubernetes.kind_inputs import (
    CredentialsSecretInputs,
    Forward,
    KubernetesClusterInputs,
    PortForwardInputs,
    WorkloadInputs,
)
from infra.targets.kubernetes.pod_notes import pod_location
from infra.targets.kubernetes.site import KubernetesSite
from infra.targets.kubernetes.stack_namespace import stack_namespace
from infra.targets.kubernetes.values import ValuesRenderer
from infra.targets.labels import stack_labels
from infra.toolchain import Artifacts
from infra.toolchain.cache import hash_tree
from infra.user_files import read_user_files

CLUSTER = "cluster"
CREDENTIALS_SECRET = "credentials/secret"
RELEASE = "release"
PORT_FORWARD = "port_forward"


@dataclass(frozen=True)
class KubernetesTarget:
    """Renders a lab as the resources of one stack on a Kubernetes cluster.

    Attributes:
        renderer: renderer of the chart's values.
        lab_in_cluster: returns the lab whose resources have addresses inside the namespace.
        root: the stack's folder on this machine.
        settings: settings of the stack.
    """

    renderer: ValuesRenderer
    lab_in_cluster: Callable[[], Lab]
    root: Path
    settings: Settings

    @property
    def site(self) -> KubernetesSite:
        """Addresses and paths of the stack."""
        return self.renderer.site

    @property
    def namespace(self) -> str:
        """Namespace of the lab."""
        return stack_namespace(self.site.stack, self.settings.kubernetes_namespace)

    @property
    def _place(self) -> dict[str, Any]:
        """Context and namespace, the inputs of every kind of this target."""
        return {"context": self.settings.kubernetes_context, "namespace": self.namespace}

    @property
    def _environment_file(self) -> str:
        return str(self.root / ENVIRONMENT_FILE)

    @property
    def _credentials_file(self) -> str:
        return str(self.root / CREDENTIALS_FILE)

    def render(self, lab: Lab) -> tuple[ResourceDeclaration, ...]:
        """Return every resource of the lab; sends no request to a cluster."""
        values = self.renderer.values(lab, self.lab_in_cluster().resources, setup=False)
        base = (
            self._cluster_declaration(lab),
            *self._credentials_declarations(lab),
            self._port_forward_declaration(lab),
            self._release_declaration(values),
        )
        definitions = _definitions(values)
        parts = tuple(found for part in lab.parts for found in self._part_declarations(part, definitions))
        return (*base, *parts, environment_file(lab, self.site, self.settings, self._environment_file))

    def deploy(self, lab: Lab) -> None:
        """Register the stack's resources and outputs with Pulumi."""
        from infra.targets.kubernetes.registration import KubernetesResourceFactory
        from infra.targets.registration import export_outputs, register_resources

        register_resources(self.render(lab), KubernetesResourceFactory(self.settings.kubernetes_context))
        export_outputs(lab, self.site, self.settings, self._environment_file)

    def _cluster_declaration(self, lab: Lab) -> ResourceDeclaration:
        inputs = KubernetesClusterInputs(
            **self._place,
            server=self.settings.kubernetes_server,
            root=str(self.root),
            stack=self.site.stack,
            checkout=self.renderer.checkout,
            storage_class=self.settings.storage_class,
            ports={f"{one.service} {one.remote}": one.local for one in self._forwards(lab)},
            fixed_replicas={service.name: service.replicas for service in lab.services if service.replica_files},
            memory_mib=lab.memory_mib,
            preflight=self.settings.preflight,
        )
        return ResourceDeclaration("KubernetesCluster", CLUSTER, inputs, ())

    def _credentials_declarations(self, lab: Lab) -> tuple[ResourceDeclaration, ...]:
        """Return the file on this machine and its copy in the namespace."""
        secret = CredentialsSecretInputs(
            **self._place,
            name=names.CREDENTIALS_SECRET,
            labels=stack_labels(self.site.stack),
            **copied_credentials(self._credentials_file, self.site, self.settings),
        )
        hosts = {service: self._hosts(lab.service(service)) for service in secret.certified or ()}
        return (
            credentials_declaration(self._credentials_file, self.settings, (CLUSTER,), self.site, hosts),
            ResourceDeclaration("CredentialsSecret", CREDENTIALS_SECRET, secret, (CREDENTIALS,), secret=True),
        )

    def _hosts(self, service: Service) -> tuple[str, ...]:
        """Return the names of a service in its certificate: also those for clients in other namespaces."""
        name, namespace = host_name(service.name), self.namespace
        replicas = [self.site.replica_host(service.name, replica) for replica in range(service.replicas)]
        each = replicas if service.replica_files else ()
        return (name, f"{name}.{namespace}", f"{name}.{namespace}.svc", f"{name}.{namespace}.svc.cluster.local", *each)

    def _port_forward_declaration(self, lab: Lab) -> ResourceDeclaration:
        inputs = PortForwardInputs(**self._place, root=str(self.root), forwards=self._forwards(lab))
        return ResourceDeclaration("PortForward", PORT_FORWARD, inputs, (CLUSTER,))

    def _forwards(self, lab: Lab) -> list[Forward]:
        return [
            forward
            for service in lab.services
            for endpoint in service.endpoints
            if endpoint.published_as
            for forward in self._endpoint_forwards(service, endpoint)
        ]

    def _endpoint_forwards(self, service: Service, endpoint: Endpoint) -> list[Forward]:
        """Return the forwarded ports of an endpoint; clients reach each replica that advertises its own address."""
        remote = self.site.container_port(service.name, endpoint.name)
        each = service.replicas if endpoint.advertised else 1
        return [
            Forward(
                local=self.site.forwarded_port(service.name, endpoint.name, replica),
                service=host_name(service.name),
                replica=replica if each > 1 else None,
                remote=remote,
            )
            for replica in range(each)
        ]

    def _release_declaration(self, values: dict[str, Any]) -> ResourceDeclaration:
        values["credentials"] |= {"existingSecret": names.CREDENTIALS_SECRET}
        values["chart"] = hash_tree(CHART, below=CHART)
        inputs = ReleaseInputs(name=names.RELEASE, chart=str(CHART), namespace=self.namespace, values=values)
        return ResourceDeclaration("Release", RELEASE, inputs, (CLUSTER, CREDENTIALS, CREDENTIALS_SECRET), secret=True)

    def _part_declarations(self, part: Part, definitions: dict[str, str]) -> tuple[ResourceDeclaration, ...]:
        match part:
            case Service():
                return (self._workload_declaration(part, definitions[part.name]),)
            case Task():
                return ()
            case LaunchedJob():
                notes = pod_location(**self._place, service=part.launcher, path=part.notes)
                return (resource_declaration(part.rendered(definitions[part.launcher], notes)),)
            case Resource():
                return (resource_declaration(part),)

    def _workload_declaration(self, service: Service, definition: str) -> ResourceDeclaration:
        inputs = WorkloadInputs(
            **self._place,
            service=service.name,
            kind="StatefulSet" if service.volumes else "Deployment",
            replicas=service.replicas,
            seconds=startup_seconds(service),
            definition=definition,
            fingerprint=SET_BY_ENGINE,  # of services with credentials
            may_exit=service.restart == "on_failure",
        )
        needs = (RELEASE, PORT_FORWARD, CREDENTIALS, *service.needs)
        return ResourceDeclaration("Workload", service.key, inputs, needs, secret=reads_credentials(service, self.site))


def _definitions(values: dict[str, Any]) -> dict[str, str]:
    """Return the definition of each service by its name."""
    services = [*values["jobs"].values(), *(one for one in values.values() if isinstance(one, dict))]
    return {one["name"]: one["definition"] for one in services if "definition" in one}


def kubernetes_target(stack: str, settings: Settings, artifacts: Artifacts) -> KubernetesTarget:
    """Return the target of a stack of this checkout.

    Raises:
        LabError: the context is not set, or a configured jar is missing.
    """
    if not settings.kubernetes_context:
        raise SettingsError(
            f"stack {stack} has the target kubernetes and no lineage-lab:kubernetesContext. Set it to the context of "
            "the cluster that the lab may use (`kubectl config get-contexts` lists them); the lab never uses the "
            "current context, so that it is not deployed to a cluster by accident"
        )
    check_settings(settings)
    renderer = values_renderer(stack, settings, artifacts)
    files = read_user_files(PROJECT)

    def lab_in_cluster() -> Lab:
        return build_lab(renderer.site.for_clients_in_cluster(), settings, files)

    return KubernetesTarget(renderer, lab_in_cluster, stack_root(stack), settings)
