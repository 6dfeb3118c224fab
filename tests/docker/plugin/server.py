# SPDX-License-Identifier: Apache-2.0
"""Serves the stand-in's resources to the Pulumi engine, on the provider wire protocol.

What is only needed for a resource is imported with the first, as in `infra.provider.server`.
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
from tests.docker.plugin.properties import Properties, Wrong, wrong

if TYPE_CHECKING:
    from tests.docker.plugin.resource import Daemon, Made, NotStarted, Resource

VERSION = f"{version('pulumi-docker')}+stand-in"
"""Of the SDK that the stack is written on, and what this is."""

Context = grpc.ServicerContext
T = TypeVar("T")


def message(properties: Properties) -> struct_pb2.Struct:
    """Properties as the protocol sends them."""
    return ParseDict(properties, struct_pb2.Struct())


def properties(sent: struct_pb2.Struct) -> Properties:
    """Properties as they were sent; the protocol knows one kind of number, so that whole ones become integers."""
    return _whole(MessageToDict(sent))


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class StandIn(provider_pb2_grpc.ResourceProviderServicer):
    """Translates between the engine's requests and the resources; knows nothing of what a resource does."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._host: str | None = None

    @cached_property
    def _daemon(self) -> "Daemon":
        """Asked for once, when it is needed: a preview can do without."""
        import docker

        from tests.docker.plugin.resource import Daemon

        client = docker.DockerClient(base_url=self._host) if self._host else docker.from_env()
        return Daemon(client, self._stopped)

    def _resource(self, urn: str, context: Context) -> "Resource":
        from tests.docker.plugin.resources import RESOURCES

        token = urn.split("::")[-2].rsplit("$", 1)[-1]
        found = next((resource for resource in RESOURCES if resource.token == token), None)
        return found or self._abort(context, f"the stand-in has not learnt {token} of the vendor's")

    def _abort(self, context: Context, text: str) -> NoReturn:
        context.abort(grpc.StatusCode.UNKNOWN, text)
        raise AssertionError("abort always raises")

    def _attempt(self, what: "Callable[[Daemon], T]", context: Context) -> T:
        """Does something for the engine; what goes wrong reaches the user as one text."""
        import docker.errors
        import requests.exceptions

        from tests.docker.plugin.resource import NotStarted, Refused

        try:
            return what(self._daemon)
        except NotStarted as error:
            self._abort_partly(error, context)
        except Refused as error:
            self._abort(context, str(error))
        except docker.errors.APIError as error:
            self._abort(context, f"Docker refused: {error.explanation or error}")
        except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
            self._abort(context, f"the Docker daemon cannot be reached: {error}")

    def _abort_partly(self, error: "NotStarted", context: Context) -> NoReturn:
        """The resource is there: the engine keeps it, and knows that it is not as it shall be."""
        made = error.made
        detail = any_pb2.Any()
        detail.Pack(
            pb.ErrorResourceInitFailed(
                id=made.id, inputs=message(made.inputs), properties=message(made.state), reasons=[str(error)]
            )
        )
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(error), details=[detail])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        self._abort(context, str(error))

    def GetPluginInfo(self, request: empty_pb2.Empty, context: Context) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=VERSION)

    def CheckConfig(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """As with resources, what was right before is right."""
        asked, before = (_configuration(properties(sent)) for sent in (request.news, request.olds))
        found = _wrong_configuration(asked) if asked != before else []
        failures = [pb.CheckFailure(property=wrong.path, reason=wrong.reason) for wrong in found]
        return pb.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        return pb.DiffResponse(changes=pb.DiffResponse.DIFF_NONE)

    def Configure(self, request: pb.ConfigureRequest, context: Context) -> pb.ConfigureResponse:
        """Asks for the daemon at once, as the vendor's plugin does where it is not told to leave it."""
        asked = _configuration(properties(request.args))
        self._host = asked.get("host")
        if not asked.get("disableDockerDaemonCheck"):
            self._attempt(lambda daemon: daemon.client.ping(), context)
        return pb.ConfigureResponse(acceptSecrets=False, supportsPreview=True)

    def Check(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        inputs, found = self._resource(request.urn, context).check(properties(request.news), properties(request.olds))
        failures = [pb.CheckFailure(property=wrong.path, reason=wrong.reason) for wrong in found]
        return pb.CheckResponse(inputs=message(inputs), failures=failures)

    def Diff(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        """Compares with the state, which has what the daemon made of the inputs, rather than with the inputs."""
        asked, state = properties(request.old_inputs), properties(request.olds)
        old = {key: state.get(key, value) for key, value in asked.items()}
        found = self._resource(request.urn, context).difference(old, properties(request.news))
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
        resource, inputs = self._resource(request.urn, context), properties(request.properties)
        if request.preview:
            return pb.CreateResponse(properties=message(inputs | dict.fromkeys(resource.outputs, UNKNOWN)))
        made = self._attempt(lambda daemon: resource.create(daemon, inputs), context)
        return pb.CreateResponse(id=made.id, properties=message(made.state))

    def Read(self, request: pb.ReadRequest, context: Context) -> pb.ReadResponse:
        resource, inputs = self._resource(request.urn, context), properties(request.inputs)
        made: Made | None = self._attempt(lambda daemon: resource.read(daemon, request.id, inputs), context)
        if made is None:
            return pb.ReadResponse()
        return pb.ReadResponse(id=made.id, inputs=message(made.inputs), properties=message(made.state))

    def Update(self, request: pb.UpdateRequest, context: Context) -> pb.UpdateResponse:
        resource, new = self._resource(request.urn, context), properties(request.news)
        if request.preview:
            return pb.UpdateResponse(properties=message(new | dict.fromkeys(resource.outputs, UNKNOWN)))
        old = properties(request.old_inputs) | properties(request.olds)
        made = self._attempt(lambda daemon: resource.update(daemon, request.id, old, new), context)
        return pb.UpdateResponse(properties=message(made.state))

    def Delete(self, request: pb.DeleteRequest, context: Context) -> empty_pb2.Empty:
        resource, inputs = self._resource(request.urn, context), properties(request.properties)
        self._attempt(lambda daemon: resource.delete(daemon, request.id, inputs), context)
        return empty_pb2.Empty()

    def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        self._stopped.set()
        return empty_pb2.Empty()


def _configuration(sent: Properties) -> Properties:
    """Of a provider, without what the engine adds. What is no text comes as JSON in one."""
    words = {"true": True, "false": False}
    own = {key: value for key, value in sent.items() if key not in {"version", "__internal"}}
    return {key: words.get(value, value) if isinstance(value, str) else value for key, value in own.items()}


def _wrong_configuration(asked: Properties) -> list[Wrong]:
    from tests.docker.plugin.schema import properties_of

    return list(wrong(asked, properties_of("ProviderArgs")))


def main() -> None:
    """Serves until the engine ends."""
    serve(StandIn())
