# SPDX-License-Identifier: Apache-2.0
"""gRPC server of the fake plugin, which implements the provider protocol."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NoReturn, TypeVar

from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2 as pb

from infra.provider.server import serve
from tests.kubernetes.plugin import release as releases
from tests.kubernetes.plugin.commands import install_arguments, uninstall_arguments, upgrade_arguments
from tests.kubernetes.plugin.helm import ClusterUnreachableError, Helm, HelmError, ReleaseRecord
from tests.kubernetes.plugin.kubeconfig import active_cluster, default_namespace, read_kubeconfig, with_overrides
from tests.kubernetes.plugin.merge import Change, changes
from tests.vendor_plugin.properties import InvalidProperty, Properties
from tests.vendor_plugin.provider import (
    Context,
    FakeProvider,
    configuration,
    failures,
    from_struct,
    resource_type,
    to_struct,
)
from tests.vendor_plugin.secret_values import with_secrets_of, without_secrets

T = TypeVar("T")

SELECTION = ("kubeconfig", "context", "cluster")
"""Settings of the provider that select the cluster."""

SUPPORTED = frozenset({*SELECTION, "clusterIdentifier", "deleteUnreachable", "namespace", "skipUpdateUnreachable"})
"""Settings of the provider that have an effect in the fake."""

UNREACHABLE_READ = (
    "failed to read resource state due to unreachable cluster. If the cluster was deleted, you can remove this "
    "resource from Pulumi state by rerunning the operation with the PULUMI_K8S_DELETE_UNREACHABLE environment variable "
    'set to "true"'
)


class FakeKubernetesProvider(FakeProvider):
    """Implements the engine's requests for releases of Helm."""

    distribution = "pulumi-kubernetes"

    def __init__(self) -> None:
        super().__init__()
        self._settings: Properties = {}

    def configuration_arguments(self) -> type:
        import pulumi_kubernetes

        return pulumi_kubernetes.ProviderArgs

    def CheckConfig(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        response = super().CheckConfig(request, context)
        known = {wrong.property for wrong in response.failures}
        unsupported = sorted(configuration(request.news).keys() - SUPPORTED - known)
        reason = "the fake plugin does not support this setting (see tests/kubernetes/plugin)"
        response.failures.extend(failures([InvalidProperty(name, reason) for name in unsupported]))
        return response

    def DiffConfig(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        """Compare two configurations; another cluster replaces the provider unless `clusterIdentifier` is kept."""
        old, new = configuration(request.olds), configuration(request.news)
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        if not changed:
            return pb.DiffResponse(changes=pb.DiffResponse.DIFF_NONE)
        before, after = old.get("clusterIdentifier"), new.get("clusterIdentifier")
        replaced = ["clusterIdentifier"] if before and after and before != after else []
        if not (after and before == after) and _selects_another_cluster(old, new):
            replaced += [key for key in SELECTION if key in changed]
        return pb.DiffResponse(changes=pb.DiffResponse.DIFF_SOME, diffs=changed, replaces=replaced)

    def Configure(self, request: pb.ConfigureRequest, context: Context) -> pb.ConfigureResponse:
        self._settings = configuration(request.args)
        return pb.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    @cached_property
    def _kubeconfig(self) -> Properties:
        return with_overrides(read_kubeconfig(self._settings), self._settings)

    @cached_property
    def _helm(self) -> Helm:
        return Helm.select(self._settings, self.stopped)

    def Check(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """Validate the inputs and load the chart, which has the version that the release should have."""
        self._require_release(request.urn, context)
        marked, olds = from_struct(request.news), without_secrets(from_struct(request.olds))
        news = without_secrets(marked)
        found = releases.invalid_inputs(news)
        namespace = self._settings.get("namespace") or default_namespace(self._kubeconfig)
        inputs = releases.with_defaults(news, olds, request.urn.split("::")[-1], namespace)
        if not found and not releases.has_unknown(inputs):
            try:
                inputs["version"] = self._helm.chart_version(inputs["chart"])
            except HelmError as error:
                found.append(InvalidProperty("chart", f"{error}; check the chart name and repository configuration."))
        return pb.CheckResponse(inputs=to_struct(with_secrets_of(inputs, marked)), failures=failures(found))

    def Diff(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        state = from_struct(request.olds)
        old, new = (without_secrets(found) for found in (releases.inputs_of(state), from_struct(request.news)))
        state = without_secrets(state)
        if "version" in request.ignoreChanges:
            new["version"] = state["version"]
        found = changes(old, new, state)
        replaced = [changed.path for changed in found if changed.path in {"name", "namespace"}]
        return pb.DiffResponse(
            changes=pb.DiffResponse.DIFF_SOME if found else pb.DiffResponse.DIFF_NONE,
            diffs=sorted({changed.path.split(".")[0].split("[")[0] for changed in found}),
            replaces=replaced,
            hasDetailedDiff=bool(found),
            detailedDiff={
                changed.path: pb.PropertyDiff(kind=_kind(changed.change, changed.path in replaced)) for changed in found
            },
        )

    def Create(self, request: pb.CreateRequest, context: Context) -> pb.CreateResponse:
        self._require_release(request.urn, context)
        inputs = from_struct(request.properties)
        if request.preview:
            return pb.CreateResponse(properties=to_struct(releases.preview_of(inputs)))
        new = without_secrets(inputs)
        attempt = f'Helm release "{releases.identifier(new)}" was created, but failed to initialize completely'
        command = install_arguments(new)
        state = self._deploy(command, attempt, inputs, new["namespace"], context)
        return pb.CreateResponse(id=releases.identifier(new), properties=to_struct(state))

    def Read(self, request: pb.ReadRequest, context: Context) -> pb.ReadResponse:
        self._require_release(request.urn, context)
        state = from_struct(request.properties)
        if releases.INPUTS not in state:
            self.abort(context, "the fake plugin cannot import a release")
        old, inputs = without_secrets(state), releases.inputs_of(state)
        del old[releases.INPUTS]
        try:
            record = self._helm.find(old["name"], old["namespace"])
        except ClusterUnreachableError:
            return self._unreachable_read(request, context)
        except HelmError as error:
            self.abort(context, str(error))
        if record is None:
            return pb.ReadResponse()
        live = releases.state_of(inputs, old, record)
        return pb.ReadResponse(id=request.id, inputs=to_struct(inputs), properties=to_struct(live))

    def Update(self, request: pb.UpdateRequest, context: Context) -> pb.UpdateResponse:
        inputs = from_struct(request.news)
        if request.preview:
            return pb.UpdateResponse(properties=to_struct(releases.preview_of(inputs)))
        new, namespace = without_secrets(inputs), without_secrets(from_struct(request.olds))["namespace"]
        if new.get("lint"):
            lint = ("lint", new["chart"], "--values", "-")
            self._call_helm(lambda: self._helm.run(*lint, values=new["values"]), "update", context)
        attempt = f'Helm release "{releases.identifier(new)}" failed to initialize completely'
        state = self._deploy(upgrade_arguments(new, namespace), attempt, inputs, namespace, context)
        return pb.UpdateResponse(properties=to_struct(state))

    def Delete(self, request: pb.DeleteRequest, context: Context) -> empty_pb2.Empty:
        old = without_secrets(from_struct(request.properties))
        self._call_helm(lambda: self._helm.run(*uninstall_arguments(old)), "delete", context)
        return empty_pb2.Empty()

    def _require_release(self, urn: str, context: Context) -> None:
        token = resource_type(urn)
        if token != releases.TOKEN:
            self.abort(context, f"the fake plugin does not support {token}")

    def _deploy(
        self, command: list[str], attempt: str, inputs: Properties, namespace: str, context: Context
    ) -> Properties:
        """Install or upgrade a release and return its state; a failed one that exists is kept in Pulumi's state."""
        new, verb = without_secrets(inputs), "create" if command[0] == "install" else "update"
        before = self._call_helm(lambda: self._helm.find(new["name"], namespace), verb, context)
        try:
            self._helm.run(*command, values=new["values"], cancellable=True)
        except HelmError as error:
            record = self._call_helm(lambda: self._helm.find(new["name"], namespace), verb, context)
            if record is None or (before and before.revision == record.revision):
                self.abort(context, str(error))
            self._abort_failed(f"{attempt}. Use Helm CLI to investigate: {error}", inputs, record, context)
        record = self._call_helm(lambda: self._helm.find(new["name"], namespace), verb, context)
        if record is None:
            self.abort(context, f"release {releases.identifier(new)} was removed while it was deployed")
        return releases.state_of(inputs, new, record)

    def _abort_failed(self, text: str, inputs: Properties, record: ReleaseRecord, context: Context) -> NoReturn:
        new = without_secrets(inputs)
        failed = pb.ErrorResourceInitFailed(
            id=releases.identifier(new),
            properties=to_struct(releases.state_of(inputs, new, record)),
            reasons=[text],
        )
        self.abort_partial(context, text, failed)

    def _call_helm(self, operation: Callable[[], T], verb: str, context: Context) -> T:
        """Run Helm and convert its errors to messages for the user."""
        try:
            return operation()
        except ClusterUnreachableError as error:
            self.abort(context, f"can't {verb} Helm Release with unreachable cluster. Reason: {error}")
        except HelmError as error:
            self.abort(context, str(error))

    def _unreachable_read(self, request: pb.ReadRequest, context: Context) -> pb.ReadResponse:
        if self._settings.get("deleteUnreachable"):
            return pb.ReadResponse()
        if self._settings.get("skipUpdateUnreachable"):
            return pb.ReadResponse(id=request.id, inputs=request.inputs, properties=request.properties)
        return self.abort(context, UNREACHABLE_READ)


def _selects_another_cluster(old: Properties, new: Properties) -> bool:
    """Return whether two configurations that both have a `kubeconfig` select different clusters."""
    if not (old.get("kubeconfig") and new.get("kubeconfig")):
        return False
    before, after = (active_cluster(with_overrides(read_kubeconfig(found), found)) for found in (old, new))
    return before is not None and after is not None and before != after


def _kind(change: Change, replaces: bool) -> Any:
    return pb.PropertyDiff.Kind.Value(f"{change.value}_REPLACE" if replaces else change.value)


def main() -> None:
    """Serve until the engine stops."""
    serve(FakeKubernetesProvider())
