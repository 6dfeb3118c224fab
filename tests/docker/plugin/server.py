# SPDX-License-Identifier: Apache-2.0
"""gRPC server of the fake plugin, which implements the provider protocol.

Modules of the resources are imported with the first request for a resource, as in `infra.provider.server`.
"""

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn, TypeVar

from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.rpc import UNKNOWN

from infra.provider.server import serve
from tests.vendor_plugin.provider import (
    Context,
    FakeProvider,
    configuration,
    failures,
    from_struct,
    resource_type,
    to_struct,
)

if TYPE_CHECKING:
    from tests.docker.plugin.resource import Daemon, NotStartedError, Resource, ResourceState

T = TypeVar("T")

DEFAULT_HOST = "unix:///var/run/docker.sock"


class FakeDockerProvider(FakeProvider):
    """Dispatches the engine's requests to the resources."""

    distribution = "pulumi-docker"

    def __init__(self) -> None:
        super().__init__()
        self._host = DEFAULT_HOST

    def configuration_arguments(self) -> type:
        import pulumi_docker

        return pulumi_docker.ProviderArgs

    @cached_property
    def _daemon(self) -> "Daemon":
        """Client of the daemon."""
        import docker

        from tests.docker.plugin.resource import Daemon

        return Daemon(docker.DockerClient(base_url=self._host))

    def _resource(self, urn: str, context: Context) -> "Resource":
        from tests.docker.plugin.resources import RESOURCES

        token = resource_type(urn)
        found = next((resource for resource in RESOURCES if resource.token == token), None)
        return found or self.abort(context, f"the fake plugin does not support {token}")

    def _call_daemon(self, operation: "Callable[[Daemon], T]", context: Context) -> T:
        """Run an operation and convert its errors to messages for the user."""
        import docker.errors
        import requests.exceptions

        from tests.docker.plugin.resource import DockerRequestError, NotStartedError

        try:
            return operation(self._daemon)
        except NotStartedError as error:
            self._abort_partial_create(error, context)
        except DockerRequestError as error:
            self.abort(context, str(error))
        except docker.errors.APIError as error:
            self.abort(context, f"the Docker daemon rejected the request: {error.explanation or error}")
        except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
            self.abort(context, f"the Docker daemon cannot be reached: {error}")

    def _abort_partial_create(self, error: "NotStartedError", context: Context) -> NoReturn:
        state = error.state
        created = pb.ErrorResourceInitFailed(
            id=state.id,
            inputs=to_struct(state.inputs),
            properties=to_struct(state.properties),
            reasons=[str(error)],
        )
        self.abort_partial(context, str(error), created)

    def CheckConfig(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """Set the daemon's address from the environment if the program does not, which keeps it in the state."""
        response = super().CheckConfig(request, context)
        if "host" not in response.inputs and "DOCKER_HOST" in os.environ:
            response.inputs["host"] = os.environ["DOCKER_HOST"]
        return response

    def DiffConfig(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        """Compare the provider's configurations; no change replaces it."""
        old, new = configuration(request.old_inputs), configuration(request.news)
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        return pb.DiffResponse(
            changes=pb.DiffResponse.DIFF_SOME if changed else pb.DiffResponse.DIFF_NONE, diffs=changed
        )

    def Configure(self, request: pb.ConfigureRequest, context: Context) -> pb.ConfigureResponse:
        """Check that the daemon responds, even if `disableDockerDaemonCheck` is set."""
        import docker.errors
        import requests.exceptions

        self._host = configuration(request.args).get("host", DEFAULT_HOST)
        try:
            self._daemon.client.ping()
        except (docker.errors.DockerException, requests.exceptions.RequestException):
            self.abort(
                context,
                "docker native provider returned an unexpected error from Configure: failed to connect to any docker "
                "daemon",
            )
        return pb.ConfigureResponse(acceptSecrets=False, supportsPreview=True)

    def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        """Do nothing: operations continue to their end."""
        return empty_pb2.Empty()

    def Check(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        inputs, found = self._resource(request.urn, context).check(from_struct(request.news), from_struct(request.olds))
        return pb.CheckResponse(inputs=to_struct(inputs), failures=failures(found))

    def Diff(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        """Compare the new inputs with the state, which has the values read from the daemon, not with the old inputs."""
        old_inputs, state = from_struct(request.old_inputs), from_struct(request.olds)
        old = {key: state.get(key, value) for key, value in old_inputs.items()}
        found = self._resource(request.urn, context).diff(old, from_struct(request.news))
        flavour = pb.PropertyDiff.Kind
        return pb.DiffResponse(
            changes=pb.DiffResponse.DIFF_SOME if found.changed else pb.DiffResponse.DIFF_NONE,
            diffs=found.changed,
            replaces=found.replaced,
            deleteBeforeReplace=found.delete_first,
            hasDetailedDiff=True,
            detailedDiff={
                key: pb.PropertyDiff(
                    kind=flavour.UPDATE_REPLACE if key in found.replaced else flavour.UPDATE, inputDiff=True
                )
                for key in found.changed
            },
        )

    def Create(self, request: pb.CreateRequest, context: Context) -> pb.CreateResponse:
        resource, inputs = self._resource(request.urn, context), from_struct(request.properties)
        if request.preview:
            return pb.CreateResponse(properties=to_struct(inputs | dict.fromkeys(resource.outputs, UNKNOWN)))
        state = self._call_daemon(lambda daemon: resource.create(daemon, inputs), context)
        return pb.CreateResponse(id=state.id, properties=to_struct(state.properties))

    def Read(self, request: pb.ReadRequest, context: Context) -> pb.ReadResponse:
        resource, inputs = self._resource(request.urn, context), from_struct(request.inputs)
        state: ResourceState | None = self._call_daemon(
            lambda daemon: resource.read(daemon, request.id, inputs), context
        )
        if state is None:
            return pb.ReadResponse()
        return pb.ReadResponse(id=state.id, inputs=to_struct(state.inputs), properties=to_struct(state.properties))

    def Update(self, request: pb.UpdateRequest, context: Context) -> pb.UpdateResponse:
        resource, new = self._resource(request.urn, context), from_struct(request.news)
        if request.preview:
            return pb.UpdateResponse(properties=to_struct(new | dict.fromkeys(resource.outputs, UNKNOWN)))
        old = from_struct(request.old_inputs) | from_struct(request.olds)
        state = self._call_daemon(lambda daemon: resource.update(daemon, request.id, old, new), context)
        return pb.UpdateResponse(properties=to_struct(state.properties))

    def Delete(self, request: pb.DeleteRequest, context: Context) -> empty_pb2.Empty:
        resource, inputs = self._resource(request.urn, context), from_struct(request.properties)
        self._call_daemon(lambda daemon: resource.delete(daemon, request.id, inputs), context)
        return empty_pb2.Empty()


def main() -> None:
    """Serve until the engine stops."""
    serve(FakeDockerProvider())
