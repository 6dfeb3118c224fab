# SPDX-License-Identifier: Apache-2.0
"""gRPC server of the Pulumi provider protocol.

Implements the protocol rather than the SDK's experimental provider class: the protocol is stable, errors reach the
user with their original text, and a preview can return unknown values.

Kinds import their clients on first use: of the two processes that the engine starts per update, one only checks the
provider's configuration.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import grpc
from google.protobuf import empty_pb2, struct_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, plugin_pb2, provider_pb2_grpc
from pulumi.runtime.proto import provider_pb2 as pb

from infra.errors import LabError
from infra.project import version
from infra.provider import DROP_UNREACHABLE, PACKAGE
from infra.provider.properties import UNREACHABLE, changed, is_unknown, must_be_located, replaced

if TYPE_CHECKING:
    from infra.model.inputs import Inputs
    from infra.provider.kind import Kind, OperationContext

Context: TypeAlias = grpc.ServicerContext
T = TypeVar("T")


class StateError(LabError):
    """The inputs in a resource's state do not match the kind's schema."""


def _to_struct(properties: dict[str, Any]) -> struct_pb2.Struct:
    return ParseDict(properties, struct_pb2.Struct())


def _resource_name(urn: str) -> str:
    return urn.split("::")[-1]


class LabkitProvider(provider_pb2_grpc.ResourceProviderServicer):
    """Dispatches the engine's requests to the kinds."""

    def __init__(self, kinds: Mapping[str, "Kind[Any]"], engine_address: str) -> None:
        self._kinds = kinds
        self._stopped = threading.Event()
        self._engine = engine_pb2_grpc.EngineStub(grpc.insecure_channel(engine_address))

    def _kind(self, urn: str, context: Context) -> "Kind[Any]":
        token = urn.split("::")[-2].rsplit("$", 1)[-1]
        kind = self._kinds.get(token.rsplit(":", 1)[-1])
        if kind is None:
            self._abort(grpc.StatusCode.NOT_FOUND, f"{PACKAGE} has no kind {token}", context)
        return kind

    def _inputs(self, kind: "Kind[Any]", properties: struct_pb2.Struct) -> "Inputs":
        return kind.inputs.model_validate(MessageToDict(properties), by_name=False)

    def _inputs_of_state(self, kind: "Kind[Any]", properties: struct_pb2.Struct) -> "Inputs":
        """Parse inputs of the state, possibly written by another version of the kit; unknown properties are ignored.

        Raises:
            StateError: a property is missing or invalid.
        """
        from pydantic import ValidationError

        known = {field.alias for field in kind.inputs.model_fields.values()}
        found = {key: value for key, value in MessageToDict(properties).items() if key in known}
        try:
            return kind.inputs.model_validate(found, by_name=False)
        except ValidationError as error:
            lacking = ", ".join(".".join(map(str, item["loc"])) for item in error.errors())
            raise StateError(
                f"the state of this {kind.name} was written by another version of the lab: check {lacking}"
            ) from error

    def _operation_context(self, urn: str, outputs: struct_pb2.Struct | None = None) -> "OperationContext":
        """Return the context of a request; `outputs` are the resource's properties in the state."""
        from infra.provider.kind import OperationContext

        def send(text: str, severity: "engine_pb2.LogSeverity.ValueType", ephemeral: bool) -> None:
            request = engine_pb2.LogRequest(severity=severity, message=text, urn=urn, ephemeral=ephemeral)
            try:
                self._engine.Log(request, timeout=2)
            except grpc.RpcError as error:  # losing a line must not fail the resource
                print(f"labkit: cannot send a message to the engine: {error}: {text}", file=sys.stderr)

        return OperationContext(
            self._stopped,
            report=lambda text: send(text, engine_pb2.LogSeverity.INFO, ephemeral=True),
            note=lambda text: send(text, engine_pb2.LogSeverity.INFO, ephemeral=False),
            warn=lambda text: send(text, engine_pb2.LogSeverity.WARNING, ephemeral=False),
            outputs=MessageToDict(outputs) if outputs else {},
        )

    def _abort(self, code: grpc.StatusCode, text: str, context: Context) -> NoReturn:
        context.abort(code, text)
        raise AssertionError("abort always raises")

    def _run_operation(
        self, operation: Callable[[], T], context: Context, passed: type[LabError] | tuple[()] = ()
    ) -> T:
        """Run an operation of a kind and turn its errors, but those `passed`, into gRPC errors with the same text."""
        try:
            return operation()
        except passed:
            raise
        except LabError as error:
            self._abort(grpc.StatusCode.UNKNOWN, str(error), context)
        except OSError as error:
            self._abort(grpc.StatusCode.UNKNOWN, f"system error: {error}", context)

    def GetPluginInfo(self, request: empty_pb2.Empty, context: Context) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=version())

    def GetSchema(self, request: pb.GetSchemaRequest, context: Context) -> pb.GetSchemaResponse:
        return pb.GetSchemaResponse(schema=f'{{"name":"{PACKAGE}","version":"{version()}"}}')

    def CheckConfig(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        return pb.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        return pb.DiffResponse(changes=pb.DiffResponse.DIFF_NONE)

    def Configure(self, request: pb.ConfigureRequest, context: Context) -> pb.ConfigureResponse:
        return pb.ConfigureResponse(acceptSecrets=False, supportsPreview=True)

    def Check(self, request: pb.CheckRequest, context: Context) -> pb.CheckResponse:
        """Validate and normalise inputs; the response lists every invalid property.

        Unknown properties are not validated, nor what depends on several properties (without a location) beside them.
        """
        from pydantic import ValidationError

        kind = self._kind(request.urn, context)
        unknown = {name for name, value in MessageToDict(request.news).items() if is_unknown(value)}
        try:
            return pb.CheckResponse(inputs=_to_struct(self._inputs(kind, request.news).properties()))
        except ValidationError as error:
            failures = [
                pb.CheckFailure(property=".".join(map(str, item["loc"])), reason=item["msg"])
                for item in error.errors()
                if not unknown or (item["loc"] and item["loc"][0] not in unknown)
            ]
            return pb.CheckResponse(inputs=request.news, failures=failures)

    def Diff(self, request: pb.DiffRequest, context: Context) -> pb.DiffResponse:
        kind = self._kind(request.urn, context)
        old, new = MessageToDict(request.old_inputs), MessageToDict(request.news)
        keys, replaces = changed(old, new), replaced(kind, old, new)
        flavour = pb.PropertyDiff.Kind
        return pb.DiffResponse(
            changes=pb.DiffResponse.DIFF_SOME if keys else pb.DiffResponse.DIFF_NONE,
            diffs=keys,
            replaces=replaces,
            deleteBeforeReplace=bool(replaces),
            hasDetailedDiff=True,
            detailedDiff={
                key: pb.PropertyDiff(kind=flavour.UPDATE_REPLACE if key in replaces else flavour.UPDATE, inputDiff=True)
                for key in keys
            },
        )

    def Create(self, request: pb.CreateRequest, context: Context) -> pb.CreateResponse:
        kind = self._kind(request.urn, context)
        if request.preview:
            return pb.CreateResponse(properties=request.properties)
        inputs = self._inputs(kind, request.properties)
        outputs = self._run_operation(lambda: kind.create(inputs, self._operation_context(request.urn)), context)
        return pb.CreateResponse(id=_resource_name(request.urn), properties=_to_struct(inputs.properties() | outputs))

    def Read(self, request: pb.ReadRequest, context: Context) -> pb.ReadResponse:
        """Read a resource; one with an invalid state counts as missing, and its create takes over what exists.

        A resource whose service does not respond stays in the state, marked as different from its inputs.
        """
        from infra.provider.kind import ServiceUnreachable

        kind = self._kind(request.urn, context)
        if not request.inputs.fields and not request.properties.fields:
            text = (
                f"cannot import {kind.name} {request.id} by its id, which does not contain its address. "
                "Instead, declare it and run pulumi up: an existing topic, subject, bucket, database, table or "
                "connector is adopted"
            )
            self._abort(grpc.StatusCode.UNIMPLEMENTED, text, context)
        try:
            inputs = self._inputs_of_state(kind, request.inputs)
        except StateError as error:
            print(f"labkit: {_resource_name(request.urn)}: {error}", file=sys.stderr)
            return pb.ReadResponse()
        call = self._operation_context(request.urn, request.properties)
        try:
            found = self._run_operation(lambda: kind.read(inputs, call), context, passed=ServiceUnreachable)
        except ServiceUnreachable as error:
            call.warn(f"{error}. Its state is kept")
            mark = {UNREACHABLE: True}
            return pb.ReadResponse(
                id=request.id,
                inputs=_to_struct(MessageToDict(request.inputs) | mark),
                properties=_to_struct(MessageToDict(request.properties) | mark),
            )
        if found is None:
            return pb.ReadResponse()
        properties = found.inputs.properties()
        return pb.ReadResponse(
            id=request.id, inputs=_to_struct(properties), properties=_to_struct(properties | found.outputs)
        )

    def Update(self, request: pb.UpdateRequest, context: Context) -> pb.UpdateResponse:
        kind = self._kind(request.urn, context)
        if request.preview:
            return pb.UpdateResponse(properties=request.news)
        new = self._inputs(kind, request.news)

        call = self._operation_context(request.urn, request.olds)

        def update() -> dict[str, Any]:
            if must_be_located(kind, MessageToDict(request.old_inputs), MessageToDict(request.news)):
                return kind.create(new, call)
            return kind.update(self._inputs_of_state(kind, request.old_inputs), new, call)

        return pb.UpdateResponse(properties=_to_struct(new.properties() | self._run_operation(update, context)))

    def Delete(self, request: pb.DeleteRequest, context: Context) -> empty_pb2.Empty:
        """Delete a resource; one with an invalid state is only dropped from the state, as it could never be deleted."""
        from infra.provider.kind import ServiceUnreachable

        kind = self._kind(request.urn, context)

        try:
            inputs = self._inputs_of_state(kind, request.old_inputs)
        except StateError as error:  # the supervisor, deleted last, removes the rest
            print(f"labkit: {_resource_name(request.urn)}: {error}", file=sys.stderr)
            return empty_pb2.Empty()
        call = self._operation_context(request.urn, request.properties)
        try:
            self._run_operation(lambda: kind.delete(inputs, call), context, passed=ServiceUnreachable)
        except ServiceUnreachable as error:
            if DROP_UNREACHABLE not in os.environ:
                remedy = "Start its service (pulumi up --refresh), or remove the whole lab: bin/lab down"
                self._abort(grpc.StatusCode.UNKNOWN, f"{error}. {remedy}", context)
            call.note(f"{error}. The data of its service is deleted with the lab")
        return empty_pb2.Empty()

    def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        self._stopped.set()
        return empty_pb2.Empty()


def _exit_with_engine() -> None:
    """Terminate this process when the engine, which holds the write end of standard input, has exited."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def serve(provider: provider_pb2_grpc.ResourceProviderServicer) -> None:
    """Serve on a free loopback port, printed to standard output, until the engine exits."""
    workers = ThreadPoolExecutor(64)
    server = grpc.server(workers)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    threading.Thread(target=_exit_with_engine, daemon=True).start()
    try:
        server.wait_for_termination()
    except KeyboardInterrupt:
        server.stop(0)
        workers.shutdown()
        sys.stdout.flush()
        os._exit(0)  # destroying the Kafka clients would delay the engine by 0.5 s


def main(kinds: Mapping[str, "Kind[Any]"]) -> None:
    """Serve the provider `labkit` with these kinds until the engine exits."""
    if len(sys.argv) < 2:
        raise SystemExit("pulumi-resource-labkit is started by Pulumi, with the engine's address")
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"  # all services of the lab are on loopback
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]  # libpq would apply the user's options to the lab's Postgres
    serve(LabkitProvider(kinds, sys.argv[1]))
