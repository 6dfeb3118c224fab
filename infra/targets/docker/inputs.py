# SPDX-License-Identifier: Apache-2.0
"""Networks, volumes, images and containers as data: what the lab makes use of in the vendor's Docker provider.

Names, shapes and units are the vendor's (`pulumi_docker`), so that there is nothing to translate; an input that is
wrong is found before the engine is asked. What is left out keeps the vendor's default.
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
    """A public image, pulled where the daemon has none of that name. It stays: others may use it, too."""

    name: str
    keep_locally: bool = True


class NetworkAttachment(Inputs):
    """`name` is the network's."""

    name: str
    aliases: list[str]


class VolumeMount(Inputs):
    """Without `volume_name` it is an anonymous volume, which is removed with the container."""

    container_path: str
    volume_name: str | None = None
    read_only: bool | None = None


class Port(Inputs):
    internal: int
    external: int
    ip: str
    protocol: str = "tcp"


class Healthcheck(Inputs):
    """Durations in Go's spelling, `1m30s`: the vendor's plugin compares texts with what the daemon says."""

    tests: list[str]
    interval: str
    timeout: str
    start_period: str
    retries: int


class Capabilities(Inputs):
    drops: list[str]


class ContainerInputs(Inputs):
    """A container. Memory in MiB, times in seconds. `entrypoints` where the image has some that are in the way.

    The vendor's plugin is told to start it and asked no further (`must_run`): a container that ends at once would be
    removed by the plugin, and its log with it. `labkit:index:ContainerReady` does the judging.
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
    """Sorted: the vendor's plugin compares lists."""
    return [Label(label=name, value=value) for name, value in sorted(values.items())]


def go_duration(seconds: int) -> str:
    """As Go prints a duration: `45s`, `2m0s`, `1h0m0s`."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
