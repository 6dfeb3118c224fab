# SPDX-License-Identifier: Apache-2.0
"""A Pulumi project with a release of a small chart, run by the real engine with the fake of the vendor's plugin."""

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.stack.engine import Engine

PROGRAM = """
import json, pathlib
import pulumi, pulumi_kubernetes

wanted = json.loads(pathlib.Path("wanted.json").read_text())
provider = pulumi_kubernetes.Provider("provider", **wanted["provider"])
opts = pulumi.ResourceOptions(provider=provider)
if wanted["release"] is not None:
    values = wanted["release"].setdefault("values", {})
    if secret := wanted["secret"]:
        values["secret"] = pulumi.Output.secret(secret)
    if wanted["unknown"]:
        first = pulumi_kubernetes.helm.v3.Release("first", opts=opts, **wanted["unknown"])
        values["text"] = first.status.apply(lambda status: status.name)
    release = pulumi_kubernetes.helm.v3.Release("release", opts=opts, **wanted["release"])
    pulumi.export("revision", release.status.apply(lambda status: status.revision))
for token, name, inputs in wanted["raw"]:
    pulumi.CustomResource(token, name, inputs, opts)
"""

CHART_FILE = "name: tiny\napiVersion: v2\nversion: {version}\nappVersion: '7'\n"

TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data:
  text: {{ .Values.text | quote }}
  number: {{ .Values.number | quote }}
  secret: {{ .Values.secret | quote }}
  list: {{ toJson .Values.list | quote }}
"""

VALUES = {"text": "default", "number": 1, "secret": "", "list": ["default"]}


class KubernetesProject(Engine):
    """Project with one release in a namespace of its own, of a chart in its folder."""

    def __init__(self, folder: Path, kubeconfig: Path, helm: Path) -> None:
        super().__init__(folder, program=PROGRAM)
        self.namespace = f"plugin-{abs(hash(folder)):x}"[:24]
        self._kubeconfig, self._helm = kubeconfig, helm
        self.wanted = {"provider": {}, "secret": "", "unknown": None, "raw": [], "release": None}
        self.write_chart()

    def write_chart(self, template: str = TEMPLATE, version: str = "1.0.0") -> None:
        """Write the chart."""
        templates = self.folder / "chart" / "templates"
        templates.mkdir(parents=True, exist_ok=True)
        (self.folder / "chart" / "Chart.yaml").write_text(CHART_FILE.format(version=version))
        (self.folder / "chart" / "values.yaml").write_text(yaml.safe_dump(VALUES))
        (templates / "map.yaml").write_text(template)

    def inputs(self, **changes: Any) -> dict[str, Any]:
        """Return the arguments of a release."""
        inputs = {"chart": "./chart", "name": "tiny", "namespace": self.namespace, "create_namespace": True}
        return inputs | {"values": {"text": "hello"}} | changes

    def release(self, **changes: Any) -> None:
        """Set the release of the program."""
        self.wanted["release"] = self.inputs(**changes)

    def config_map(self, name: str = "tiny") -> dict[str, str] | None:
        """Return the data of the ConfigMap that the cluster has."""
        manifest = self.helm("get", "manifest", name)
        return yaml.safe_load(manifest.stdout)["data"] if manifest.returncode == 0 else None

    def revision(self) -> int:
        """Return the revision of the release."""
        return json.loads(self.helm("get", "metadata", "tiny", "--output", "json").stdout)["revision"]

    def helm(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run Helm in the namespace of the project."""
        where = ("--kubeconfig", self._kubeconfig, "--namespace", self.namespace)
        return subprocess.run([self._helm, *words, *where], capture_output=True, text=True, check=False)

    def state(self) -> dict[str, dict[str, Any]]:
        """Return the resources in the state by name, with secrets in plain text."""
        exported = json.loads(self.pulumi("stack", "export", "--show-secrets").text)
        return {found["urn"].split("::")[-1]: found for found in exported["deployment"].get("resources", [])}
