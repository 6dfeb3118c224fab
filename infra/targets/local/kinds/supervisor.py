# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Supervisor`: the folder of a local stack and its supervisord."""

import shutil
from pathlib import Path
from typing import Any

from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.targets.local.host_preflight import check_ports_and_resources
from infra.targets.local.inputs import SupervisorInputs
from infra.targets.local.supervisor import Supervisor


class SupervisorKind(Kind[SupervisorInputs]):
    """The stack's supervisord. All local resources depend on it, so it is created first and deleted last."""

    name = "Supervisor"
    inputs = SupervisorInputs
    replace_on = frozenset({"root"})

    def create(self, inputs: SupervisorInputs, call: OperationContext) -> dict[str, Any]:
        root = Path(inputs.root)
        supervisor = Supervisor(root)
        supervisor.shut_down()  # left behind by an interrupted or killed run
        check_ports_and_resources(inputs, call.report)
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        supervisor.start()
        return {}

    def read(self, inputs: SupervisorInputs, call: OperationContext) -> ReadResult[SupervisorInputs] | None:
        return ReadResult(inputs) if Supervisor(Path(inputs.root)).pid() is not None else None

    def update(self, old: SupervisorInputs, new: SupervisorInputs, call: OperationContext) -> dict[str, Any]:
        """Do nothing: ports, memory and disk are checked before the first start only."""
        return {}

    def delete(self, inputs: SupervisorInputs, call: OperationContext) -> None:
        root = Path(inputs.root)
        Supervisor(root).shut_down()
        if root.exists():
            shutil.rmtree(root)
