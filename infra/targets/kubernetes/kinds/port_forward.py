# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:PortForward`: the background process that forwards ports of this machine to the stack's pods."""

import json
from pathlib import Path
from typing import Any

from infra.errors import PreflightError, ServiceError
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.provider.preflight import busy_ports
from infra.targets.kubernetes import background
from infra.targets.kubernetes.kind_inputs import PortForwardInputs
from infra.targets.kubernetes.port_forward import ForwardFiles

MODULE = "infra.targets.kubernetes.port_forward"


class PortForwardKind(Kind[PortForwardInputs]):
    """Starts and stops the process; a process that has ended, or forwards other ports, is started again."""

    name = "PortForward"
    inputs = PortForwardInputs
    replace_on = frozenset({"root"})

    def create(self, inputs: PortForwardInputs, call: OperationContext) -> dict[str, Any]:
        files = ForwardFiles(Path(inputs.root))
        background.stop(files.lock, call)
        ports = {f"{forward.service}:{forward.remote}": forward.local for forward in inputs.forwards}
        if busy := busy_ports(ports):
            raise PreflightError(f"ports cannot be forwarded to namespace {inputs.namespace}: " + "; ".join(busy))
        files.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.config.write_text(json.dumps(inputs.properties(), indent=1), encoding="utf-8")
        call.report(f"forwarding {len(inputs.forwards)} ports; log: {files.log}")
        try:
            background.start(MODULE, str(files.config))
        except ServiceError as error:
            background.stop(files.lock, OperationContext())  # one that is not ready in time still runs
            raise ServiceError(f"the port forwarding to namespace {inputs.namespace} did not start: {error}") from error
        return {}

    def read(self, inputs: PortForwardInputs, call: OperationContext) -> ReadResult[PortForwardInputs] | None:
        """Return the inputs if the process runs with them."""
        files = ForwardFiles(Path(inputs.root))
        if background.process_id(files.lock) is None or not files.config.exists():
            return None
        same = json.loads(files.config.read_text(encoding="utf-8")) == inputs.properties()
        return ReadResult(inputs) if same else None

    def update(self, old: PortForwardInputs, new: PortForwardInputs, call: OperationContext) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: PortForwardInputs, call: OperationContext) -> None:
        files = ForwardFiles(Path(inputs.root))
        background.stop(files.lock, call)
        for path in (files.config, files.lock):
            path.unlink(missing_ok=True)
