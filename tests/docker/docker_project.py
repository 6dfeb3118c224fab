# SPDX-License-Identifier: Apache-2.0
"""A small Pulumi project on the vendor's SDK, run by the real engine with the stand-in for the vendor's plugin."""

import json
from pathlib import Path

import docker

from tests.stack.engine import Engine

LABEL = "dev.lineage-lab.test"

PROGRAM = """
import json, pathlib
import pulumi, pulumi_docker

wanted = json.loads(pathlib.Path("wanted.json").read_text())
provider = pulumi_docker.Provider("quiet", disable_docker_daemon_check=True) if wanted["quiet"] else None
made = {}
for kind, name, arguments, needs in wanted["typed"]:
    after = pulumi.ResourceOptions(depends_on=[made[need] for need in needs], provider=provider)
    made[name] = getattr(pulumi_docker, kind)(name, opts=after, **arguments)
for token, name, inputs in wanted["raw"]:
    pulumi.CustomResource(token, name, inputs)
"""


class DockerProject(Engine):
    """What is wanted of the daemon, under names that no other test has."""

    def __init__(self, folder: Path, daemon: docker.DockerClient) -> None:
        super().__init__(folder, program=PROGRAM)
        self.daemon = daemon
        self.prefix = f"lab-test-{abs(hash(folder)):x}"[:24]
        self.wanted = {"typed": [], "raw": [], "quiet": False}

    def named(self, name: str) -> str:
        """The name that the daemon knows a thing of this project by."""
        return f"{self.prefix}-{name}"

    def want(self, kind: str, name: str, needs: tuple[str, ...] = (), **arguments: object) -> None:
        """Wants a resource of the SDK; one of the same name is replaced."""
        self.want_no_more(name)
        labels = [{"label": LABEL, "value": self.prefix}, *arguments.pop("labels", [])]
        described = {"name": self.named(name), "labels": labels} | arguments
        self.wanted["typed"].append([kind, name, described, list(needs)])

    def want_no_more(self, name: str) -> None:
        """Wants everything but a resource."""
        self.wanted["typed"] = [known for known in self.wanted["typed"] if known[1] != name]

    def container(self, name: str) -> docker.models.containers.Container:
        """A container as the daemon has it."""
        return self.daemon.containers.get(self.named(name))

    def state(self) -> dict[str, dict]:
        """The vendor's resources in Pulumi's state, by name."""
        exported = json.loads(self.pulumi("stack", "export").text)
        found = exported["deployment"].get("resources", [])
        return {r["urn"].split("::")[-1]: r for r in found if r["type"].startswith("docker:")}

    def left(self) -> set[str]:
        """Names of this project's containers, networks and volumes that the daemon has."""
        ours = {"label": f"{LABEL}={self.prefix}"}
        containers = self.daemon.containers.list(all=True, filters=ours)
        others = [*self.daemon.networks.list(filters=ours), *self.daemon.volumes.list(filters=ours)]
        return {thing.name for thing in [*containers, *others]}

    def clear(self) -> None:
        """Removes whatever of this project is left."""
        ours = {"label": f"{LABEL}={self.prefix}"}
        for container in self.daemon.containers.list(all=True, filters=ours):
            container.remove(force=True, v=True)
        for thing in [*self.daemon.networks.list(filters=ours), *self.daemon.volumes.list(filters=ours)]:
            thing.remove()
