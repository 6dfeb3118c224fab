# SPDX-License-Identifier: Apache-2.0
"""Inputs of the vendor's Docker resources (`pulumi_docker`), as far as the lab sets them.

Names, types and units are the vendor's. They are validated before Pulumi runs; omitted inputs keep the vendor's
default.
"""

from typing import Literal

from infra.model.inputs import Inputs


class Label(Inputs):
    label: str
    value: str


class NetworkInputs(Inputs):
    name: str
    labels: list[Label]
    driver: str = "bridge"


class VolumeInputs(Inputs):
    name: str
    labels: list[Label]


class RemoteImageInputs(Inputs):
    """A public image, pulled if the daemon does not have it and kept on destroy, as others may use it."""

    name: str
    keep_locally: bool = True


class NetworkAttachment(Inputs):
    """Attachment of a container to the network `name`."""

    name: str
    aliases: list[str]


class VolumeMount(Inputs):
    """Mount of a named volume or, without `volume_name`, of an anonymous one, which is removed with the container."""

    container_path: str
    volume_name: str | None = None
    read_only: bool | None = None


class Port(Inputs):
    internal: int
    external: int
    ip: str
    protocol: str = "tcp"


class Healthcheck(Inputs):
    """Durations in Go's format, `1m30s`: the vendor's plugin compares them with the daemon's as text."""

    tests: list[str]
    interval: str
    timeout: str
    start_period: str
    retries: int


class Capabilities(Inputs):
    drops: list[str]


class ContainerInputs(Inputs):
    """A container; memory in MiB, times in seconds. `entrypoints` overrides the image's entry point.

    `must_run` is off: with it, the vendor's plugin replaces a stopped container that publishes ports, which it reads as
    unpublished, and its log is lost. A container that did not start, or has stopped, is kept;
    `labkit:index:ContainerReady` starts it.
    """

    name: str
    image: str
    command: list[str]
    hostname: str
    user: str
    labels: list[Label]
    networks_advanced: list[NetworkAttachment]
    volumes: list[VolumeMount]
    tmpfs: dict[str, str]
    memory: int
    memory_swap: int
    restart: str
    start: bool
    stop_timeout: int
    destroy_grace_seconds: int
    stop_signal: Literal["SIGTERM", "SIGINT"]
    log_opts: dict[str, str]
    entrypoints: list[str] | None = None
    ports: list[Port] | None = None
    healthcheck: Healthcheck | None = None
    must_run: bool = False
    init: bool = True
    read_only: bool = True
    capabilities: Capabilities = Capabilities(drops=["ALL"])
    security_opts: tuple[str, ...] = ("no-new-privileges",)
    log_driver: str = "json-file"


def labels_of(values: dict[str, str]) -> list[Label]:
    """Return labels, sorted, as the vendor's plugin compares them in order."""
    return [Label(label=name, value=value) for name, value in sorted(values.items())]


def go_duration(seconds: int) -> str:
    """Return a duration in Go's format: `45s`, `2m0s`, `1h0m0s`."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
