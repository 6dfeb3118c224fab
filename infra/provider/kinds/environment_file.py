# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:EnvironmentFile`: `lab.env`, the lab's endpoints and credentials as shell variables."""

from pathlib import Path
from typing import Any

from infra import credentials
from infra.errors import LabError
from infra.provider.inputs import EnvironmentFileInputs
from infra.provider.kind import Kind, OperationContext, ReadResult


class EnvironmentFileKind(Kind[EnvironmentFileInputs]):
    """File of shell assignments with mode 0600, rewritten when a value changes."""

    name = "EnvironmentFile"
    inputs = EnvironmentFileInputs
    replace_on = frozenset({"path"})

    def create(self, inputs: EnvironmentFileInputs, call: OperationContext) -> dict[str, Any]:
        credentials.write(Path(inputs.path), self._render_content(inputs))
        return {}

    def read(self, inputs: EnvironmentFileInputs, call: OperationContext) -> ReadResult[EnvironmentFileInputs] | None:
        path = Path(inputs.path)
        known = credentials.parse(path.read_text(encoding="utf-8")) if path.exists() else {}
        try:
            wanted = credentials.parse(self._render_content(inputs))
        except LabError:
            return None  # credentials are missing: both files are created again
        if known != wanted:
            return None
        path.chmod(0o600)
        return ReadResult(inputs)

    def update(self, old: EnvironmentFileInputs, new: EnvironmentFileInputs, call: OperationContext) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: EnvironmentFileInputs, call: OperationContext) -> None:
        Path(inputs.path).unlink(missing_ok=True)

    def _render_content(self, inputs: EnvironmentFileInputs) -> str:
        known = credentials.read(Path(inputs.credentials))
        missing = set(inputs.secrets.values()) - known.keys()
        if missing:
            raise LabError(f"{inputs.credentials} has no {', '.join(sorted(missing))}; `pulumi up --refresh` adds it")
        return credentials.render(inputs.values | {variable: known[name] for variable, name in inputs.secrets.items()})
