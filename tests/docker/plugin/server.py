# SPDX-License-Identifier: Apache-2.0
"""gRPC server of the fake plugin, which implements the provider protocol.

Modules of the resources are imported with the first request for a resource, as in `infra.provider.server`.
"""

import threading
from collections.abc import Callable
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import grpc
from google.protobuf import any_pb2, empty_pb2, struct_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc, status_pb2
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.rpc import UNKNOWN

from infra.provider.server import serve
from tests.docker.plugin.properties import InvalidProperty, Properties, validate

if TYPE_CHECKING:
    from tests.docker.plugin.resource import Daemon, NotStartedError, Resource, ResourceState

VERSION = f"{version('pulumi-docker')}+fake"
"""Version of the SDK that the stack uses, with a suffix."""

Context = grpc.ServicerContext
T = TypeVar("T")


def to_struct(properties: Properties) -> struct_pb2.Struct:
    """Convert properties to the protocol's type."""
    return ParseDict(properties, struct_pb2.Struct())


def from_struct(sent: struct_pb2.Struct) -> Properties:
    """Convert properties from the protocol's type, whose only number type is double: integral values become int."""
    return _with_integers(MessageToDict(sent))


def _with_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class FakeDockerProvider(provider_pb2_grpc.ResourceProviderServicer):
    """Dispatches the engine's requests to the resources."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._host: str | None = None

    @cached_property
    def _daemon(self) -> "Daemon":
        """Client of the daemon, connected on first use: a preview does not require a daemon."""
        import docker

        from tests.docker.plugin.resource import Daemon

        client = docker.DockerClient(base_url=self._host) if self._host else docker.from_env()
        return Daemon(client, self._stopped)

    def _resource(self, urn: str, context: Context) -> "Resource":
        from tests.docker.plugin.resources import RESOURCES

        token = urn.split("::")[-2].rsplit("$", 1)[-1]
        found = next((resource for resource in RESOURCES if resource.token == token), None)
        return found or self._abort(context, f"the fake plugin does not support {token}")

    def _abort(self, context: Context, text: str) -> NoReturn:
        context.abort(grpc.StatusCode.UNKNOWN, text)
        raise AssertionError("abort always raises")

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
            self._abort(context, str(error))
        except docker.errors.APIError as error:
            self._abort(context, f"the Docker daemon rejected the request: {error.explanation or error}")
        except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
            self._abort(context, f"the Docker daemon cannot be reached: {error}")

    def _abort_partial_create(self, error: "NotStartedError", context: Context) -> NoReturn:
        """Report a partially created resource, which the engine stores in the state and updates next time."""
        state = error.state
        detail = any_pb2.Any()
        detail.Pack(
            pb.ErrorResourceInitFailed(
                id=state.id,
                inputs=to_struct(state.inputs),
                properties=to_struct(state.properties),
                reasons=[str(error)],
            )
        )
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(error), details=[detail])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        self._abort(context, str(error))

    def GetPluginInfo(self, request: empty_pb2.Empty, context: Context) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=VERSION)

    def CheckConfig(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """Validate the provider's configuration if it differs from the state."""
        settings, before = (_provider_configuration(from_struct(sent)) for sent in (request.news, request.olds))
        found = _invalid_configuration(settings) if settings != before else []
        failures = [pb.CheckFailure(property=wrong.path, reason=wrong.reason) for wrong in found]
        return pb.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        return pb.DiffResponse(changes=pb.DiffResponse.DIFF_NONE)

    def Configure(self, request: pb.ConfigureRequest, context: Context) -> pb.ConfigureResponse:
        """Check that the daemon responds unless `disableDockerDaemonCheck` is set, as the vendor's plugin does."""
        settings = _provider_configuration(from_struct(request.args))
        self._host = settings.get("host")
        if not settings.get("disableDockerDaemonCheck"):
            self._call_daemon(lambda daemon: daemon.client.ping(), context)
        return pb.ConfigureResponse(acceptSecrets=False, supportsPreview=True)

    def Check(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        inputs, found = self._resource(request.urn, context).check(from_struct(request.news), from_struct(request.olds))
        failures = [pb.CheckFailure(property=wrong.path, reason=wrong.reason) for wrong in found]
        return pb.CheckResponse(inputs=to_struct(inputs), failures=failures)

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

    def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        self._stopped.set()
        return empty_pb2.Empty()


def _provider_configuration(sent: Properties) -> Properties:
    """Return the provider's configuration without the engine's keys; values that are not text are sent as JSON text."""
    literals = {"true": True, "false": False}
    own = {key: value for key, value in sent.items() if key not in {"version", "__internal"}}
    return {key: literals.get(value, value) if isinstance(value, str) else value for key, value in own.items()}


def _invalid_configuration(settings: Properties) -> list[InvalidProperty]:
    from tests.docker.plugin.schema import schema_properties

    return list(validate(settings, schema_properties("ProviderArgs")))


def main() -> None:
    """Serve until the engine stops."""
    serve(FakeDockerProvider())
