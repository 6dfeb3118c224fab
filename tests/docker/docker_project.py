# SPDX-License-Identifier: Apache-2.0
"""A Pulumi project with the vendor's SDK, run by the real engine with the fake of the vendor's plugin."""

import json
from pathlib import Path

import docker

from tests.stack.engine import Engine

LABEL = "dev.lineage-lab.test"

PROGRAM = """
import json, pathlib
import pulumi, pulumi_docker

wanted = json.loads(pathlib.Path("wanted.json").read_text())
provider = None if wanted["provider"] is None else pulumi_docker.Provider("daemon", **wanted["provider"])
made = {}
for kind, name, arguments, needs in wanted["typed"]:
    after = pulumi.ResourceOptions(depends_on=[made[need] for need in needs], provider=provider)
    made[name] = getattr(pulumi_docker, kind)(name, opts=after, **arguments)
for token, name, inputs in wanted["raw"]:
    pulumi.CustomResource(token, name, inputs, pulumi.ResourceOptions(depends_on=list(made.values())))
"""


class DockerProject(Engine):
    """Project whose program registers the resources that a test adds, with a name prefix unique to the test."""

    def __init__(self, folder: Path, daemon: docker.DockerClient) -> None:
        super().__init__(folder, program=PROGRAM)
        self.daemon = daemon
        self.prefix = f"lab-test-{abs(hash(folder)):x}"[:24]
        self.wanted = {"typed": [], "raw": [], "provider": None}

    def docker_name(self, name: str) -> str:
        """Return the name in Docker of a resource of this project."""
        return f"{self.prefix}-{name}"

    def add(self, kind: str, name: str, needs: tuple[str, ...] = (), **arguments: object) -> None:
        """Add a resource of the SDK to the program, or replace the one of that name."""
        self.drop(name)
        labels = [{"label": LABEL, "value": self.prefix}, *arguments.pop("labels", [])]
        inputs = {"name": self.docker_name(name), "labels": labels} | arguments
        self.wanted["typed"].append([kind, name, inputs, list(needs)])

    def drop(self, name: str) -> None:
        """Remove a resource from the program."""
        self.wanted["typed"] = [known for known in self.wanted["typed"] if known[1] != name]

    def container(self, name: str) -> docker.models.containers.Container:
        """Return a container, read from the daemon."""
        return self.daemon.containers.get(self.docker_name(name))

    def state(self) -> dict[str, dict]:
        """Return the vendor's resources in Pulumi's state by name."""
        exported = json.loads(self.pulumi("stack", "export").text)
        found = exported["deployment"].get("resources", [])
        return {r["urn"].split("::")[-1]: r for r in found if r["type"].startswith("docker:")}

    def object_names(self) -> set[str]:
        """Return the names of this project's containers, networks and volumes in the daemon."""
        label = {"label": f"{LABEL}={self.prefix}"}
        containers = self.daemon.containers.list(all=True, filters=label)
        others = [*self.daemon.networks.list(filters=label), *self.daemon.volumes.list(filters=label)]
        return {item.name for item in [*containers, *others]}

    def clear(self) -> None:
        """Remove this project's containers, networks and volumes from the daemon."""
        label = {"label": f"{LABEL}={self.prefix}"}
        for container in self.daemon.containers.list(all=True, filters=label):
            container.remove(force=True, v=True)
        for item in [*self.daemon.networks.list(filters=label), *self.daemon.volumes.list(filters=label)]:
            item.remove()
