# SPDX-License-Identifier: Apache-2.0
"""Small Pulumi project of a test, run by the real engine with the real labkit provider."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from infra.cli.stack import pulumi_environment
from infra.project import PROJECT, python_path
from infra.toolchain import Artifacts

PROGRAM = """
import json, pathlib
from infra.targets.local.inputs import ProcessInputs
from infra.targets.local.inputs import SupervisorInputs
from infra.provider.resource import LabkitResource
import pulumi

wanted = json.loads(pathlib.Path("wanted.json").read_text())
supervisor = LabkitResource("Supervisor", "supervisor", SupervisorInputs(**wanted["supervisor"]))
for process in wanted["processes"]:
    after = pulumi.ResourceOptions(depends_on=[supervisor])
    LabkitResource("Process", process["program"], ProcessInputs(**process), after)
"""


@dataclass(frozen=True)
class Result:
    """Exit status and output of a Pulumi command."""

    status: int
    text: str


class Engine:
    """One project with one stack in a folder of its own."""

    def __init__(self, folder: Path, ports: dict[str, int] | None = None, program: str = PROGRAM) -> None:
        self.folder = folder
        self.root = folder / "stack"
        self.wanted = {
            "supervisor": {
                "root": str(self.root),
                "ports": ports or {},
                "memory_mib": 1,
                "disk_mib": 1,
                "preflight": "strict",
            },
            "processes": [],
        }
        (folder / "state").mkdir(parents=True)
        (folder / "__main__.py").write_text(program)
        plugin = PROJECT / "infra" / "provider" / "plugin"
        (folder / "Pulumi.yaml").write_text(
            f"name: stacktest\nruntime: python\nplugins:\n  providers:\n    - {{name: labkit, path: {plugin}}}\n"
        )
        self.pulumi("stack", "init", "t")

    def process(self, program: str, script: str, **changes: object) -> None:
        """Declare a process; it replaces one of the same name."""
        others = [known for known in self.wanted["processes"] if known["program"] != program]
        declaration = {
            "root": str(self.root),
            "program": program,
            "script": script,
            "files": {},
            "volumes": [],
            "is_service": True,
            "stop_seconds": 5,
            "fingerprint": "",
            "revision": "",
        }
        self.wanted["processes"] = [*others, declaration | changes]

    def web(self, program: str, port: int, comment: str = "web") -> None:
        """Declare a small web server that is ready when it responds; a different `comment` changes the script."""
        script = f"# {comment}\nexec {sys.executable} -m http.server --bind 127.0.0.1 {port}\n"
        probe = {"host": "127.0.0.1", "port": port, "path": "/", "seconds": 20}
        self.process(program, script, probe=probe)

    def up(self, *words: str) -> Result:
        return self.pulumi("up", "--yes", "--skip-preview", *words)

    def pulumi(self, *words: str) -> Result:
        with self.start(*words) as process:
            try:
                text, _ = process.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Result(process.returncode, text)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        (self.folder / "wanted.json").write_text(json.dumps(self.wanted))
        environment = {
            **os.environ,
            **pulumi_environment(Artifacts.open()),
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PYTHONPATH": python_path(PROJECT),
        }
        return subprocess.Popen(
            ["pulumi", *words, "--non-interactive"],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def resources(self) -> set[str]:
        """Names of the labkit resources in the state."""
        exported = json.loads(self.pulumi("stack", "export").text)
        found = exported["deployment"].get("resources", [])
        return {r["urn"].split("::")[-1] for r in found if r["type"].startswith("labkit:")}
