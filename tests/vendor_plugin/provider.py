# SPDX-License-Identifier: Apache-2.0
"""Base class of the fakes: requests and errors of the provider protocol that do not depend on the vendor.

A fake imports the vendor's SDK and its clients with the first request for a resource, as `infra.provider.server` does.
"""

import threading
from importlib.metadata import version
from typing import Any, ClassVar, NoReturn

import grpc
from google.protobuf import any_pb2, empty_pb2, struct_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc, status_pb2
from pulumi.runtime.proto import provider_pb2 as pb

from tests.vendor_plugin.properties import InvalidProperty, Properties, validate

Context = grpc.ServicerContext

ENGINE_KEYS = frozenset({"version", "__internal"})
"""Keys that the engine adds to a provider's configuration."""


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


def resource_type(urn: str) -> str:
    """Return the type token of a resource."""
    return urn.split("::")[-2].rsplit("$", 1)[-1]


def configuration(sent: struct_pb2.Struct) -> Properties:
    """Return a provider's configuration without the engine's keys; values that are not text are sent as JSON text."""
    literals = {"true": True, "false": False}
    own = {key: value for key, value in from_struct(sent).items() if key not in ENGINE_KEYS}
    return {key: literals.get(value, value) if isinstance(value, str) else value for key, value in own.items()}


def failures(found: list[InvalidProperty]) -> list[pb.CheckFailure]:
    """Return invalid properties in the protocol's type."""
    return [pb.CheckFailure(property=wrong.path, reason=wrong.reason) for wrong in found]


class FakeProvider(provider_pb2_grpc.ResourceProviderServicer):
    """Fake of a vendor's provider.

    Attributes:
        distribution: name of the vendor's SDK, whose version the fake reports with a suffix.
    """

    distribution: ClassVar[str]

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def configuration_arguments(self) -> type:
        """Return the SDK's class with the provider's configuration."""
        raise NotImplementedError

    def abort(self, context: Context, text: str) -> NoReturn:
        """Fail the request; the user sees the text."""
        context.abort(grpc.StatusCode.UNKNOWN, text)
        raise AssertionError("abort always raises")

    def abort_partial(self, context: Context, text: str, state: pb.ErrorResourceInitFailed) -> NoReturn:
        """Report a partially created resource, which the engine stores in the state and updates next time."""
        detail = any_pb2.Any()
        detail.Pack(state)
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=text, details=[detail])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        self.abort(context, text)

    def GetPluginInfo(self, request: empty_pb2.Empty, context: Context) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=f"{version(self.distribution)}+fake")

    def CheckConfig(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """Validate the provider's configuration if it differs from the state."""
        settings, before = configuration(request.news), configuration(request.olds)
        found = self._invalid_configuration(settings) if settings != before else []
        return pb.CheckResponse(inputs=request.news, failures=failures(found))

    def _invalid_configuration(self, settings: Properties) -> list[InvalidProperty]:
        from tests.vendor_plugin.schema import argument_properties

        return list(validate(settings, argument_properties(self.configuration_arguments())))

    def DiffConfig(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        return pb.DiffResponse(changes=pb.DiffResponse.DIFF_NONE)

    def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        self.stopped.set()
        return empty_pb2.Empty()
