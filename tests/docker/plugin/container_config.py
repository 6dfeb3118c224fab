# SPDX-License-Identifier: Apache-2.0
"""Conversion of a container's inputs to requests of the Docker API, and of its responses to inputs and outputs.

API: https://docs.docker.com/reference/api/engine/version/v1.41 (ContainerCreate, ContainerInspect).
"""

import re
from collections.abc import Mapping
from typing import Any

from tests.docker.plugin.resource import docker_labels, without_none
from tests.vendor_plugin.properties import Properties

MIB = 1024 * 1024
SECOND = 10**9
"""Nanoseconds, the API's unit of durations."""

_UNITS = {"ms": 10**6, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}
DURATIONS = {"interval": "Interval", "timeout": "Timeout", "startPeriod": "StartPeriod"}
"""Durations of a health check: the input's name and the API's."""

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")


def parse_duration(duration: str) -> int | None:
    """Return the nanoseconds of a Go duration (`1m30s`, `500ms`); None if the text is invalid."""
    parts = _PART.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        return None
    return sum(round(float(number) * _UNITS[unit]) for number, unit in parts)


def format_duration(nanoseconds: int) -> str:
    """Return a duration in Go's canonical format, as the vendor's plugin reports it: 90 s is `1m30s`."""
    if nanoseconds < SECOND:
        return f"{nanoseconds / 10**6:g}ms" if nanoseconds else "0s"
    minutes, rest = divmod(nanoseconds, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}h" if hours else ""
    text += f"{minutes}m" if hours or minutes else ""
    return f"{text}{rest / SECOND:g}s"


def create_request(inputs: Properties) -> Properties:
    """Return the body of the request that creates a container."""
    ports, networks = inputs.get("ports", []), inputs.get("networksAdvanced", [])
    return without_none(
        {
            "Image": inputs["image"],
            "Cmd": inputs.get("command"),
            "Entrypoint": inputs.get("entrypoints"),
            "Env": inputs.get("envs"),
            "User": inputs.get("user"),
            "Hostname": inputs.get("hostname"),
            "Labels": docker_labels(inputs),
            "ExposedPorts": {_port(port): {} for port in ports},
            "Volumes": {v["containerPath"]: {} for v in inputs.get("volumes", []) if "volumeName" not in v},
            "Healthcheck": _healthcheck(inputs["healthcheck"]) if "healthcheck" in inputs else None,
            "StopSignal": inputs.get("stopSignal"),
            "StopTimeout": inputs.get("stopTimeout"),
            "HostConfig": _host_config(inputs),
            "NetworkingConfig": {"EndpointsConfig": {n["name"]: {"Aliases": n.get("aliases")} for n in networks[:1]}},
        }
    )


def update_arguments(inputs: Properties) -> Properties:
    """Return the arguments of `update_container` for the inputs that the vendor's plugin updates in place."""
    return without_none(
        {
            "restart_policy": _restart_policy(inputs),
            "mem_limit": _to_bytes(inputs.get("memory")),
            "memswap_limit": _to_bytes(inputs.get("memorySwap")),
        }
    )


def _host_config(inputs: Properties) -> Properties:
    networks = inputs.get("networksAdvanced", [])
    return without_none(
        {
            "NetworkMode": networks[0]["name"] if networks else None,
            "PortBindings": _bindings(inputs),
            "Binds": [_bind(volume) for volume in inputs.get("volumes", []) if "volumeName" in volume],
            "Tmpfs": inputs.get("tmpfs"),
            "ReadonlyRootfs": inputs.get("readOnly"),
            "Init": inputs.get("init"),
            "RestartPolicy": _restart_policy(inputs),
            "Memory": _to_bytes(inputs.get("memory")),
            "MemorySwap": _to_bytes(inputs.get("memorySwap")),
            "CapDrop": inputs.get("capabilities", {}).get("drops"),
            "SecurityOpt": inputs.get("securityOpts"),
            "LogConfig": _log_config(inputs),
        }
    )


def _port(port: Mapping[str, Any]) -> str:
    return f"{port['internal']}/{port.get('protocol', 'tcp')}"


def _bindings(inputs: Properties) -> dict[str, list[Properties]]:
    found: dict[str, list[Properties]] = {}
    for port in inputs.get("ports", []):
        binding = {"HostIp": port.get("ip", "0.0.0.0"), "HostPort": str(port.get("external", ""))}
        found.setdefault(_port(port), []).append(binding)
    return found


def _bind(volume: Mapping[str, Any]) -> str:
    return f"{volume['volumeName']}:{volume['containerPath']}:{'ro' if volume.get('readOnly') else 'rw'}"


def _healthcheck(healthcheck: Mapping[str, Any]) -> Properties:
    return {
        "Test": healthcheck.get("tests", []),
        "Retries": healthcheck.get("retries", 0),
        **{theirs: parse_duration(healthcheck[ours]) for ours, theirs in DURATIONS.items() if ours in healthcheck},
    }


def _restart_policy(inputs: Properties) -> Properties:
    return {"Name": inputs["restart"], "MaximumRetryCount": 0}


def _log_config(inputs: Properties) -> Properties | None:
    if "logDriver" not in inputs and "logOpts" not in inputs:
        return None
    return {"Type": inputs.get("logDriver", ""), "Config": inputs.get("logOpts", {})}


def _to_bytes(size: int | None) -> int | None:
    """Convert MiB to bytes; values that are not positive mean no limit and are kept."""
    return size * MIB if size is not None and size > 0 else size


def actual_inputs(response: Mapping[str, Any], inputs: Properties) -> Properties:
    """Return the inputs with the daemon's current values, as far as the vendor's plugin reads them back.

    A value that is read back in another format (`60s`) differs in the next update, as with the vendor's plugin.
    """
    config, host, running = response["Config"], response["HostConfig"], response["State"]["Running"]
    real = {
        "name": response["Name"].removeprefix("/"),
        "image": response["Image"] if inputs["image"].startswith("sha256:") else config["Image"],
        "mustRun": inputs["mustRun"] and running,
        "ports": published_ports(response, inputs) if running or inputs["mustRun"] else inputs.get("ports"),
        "command": config["Cmd"],
        "entrypoints": config["Entrypoint"],
        "user": config["User"],
        "hostname": config["Hostname"],
        "readOnly": host["ReadonlyRootfs"],
        "init": bool(host["Init"]),
        "restart": host["RestartPolicy"]["Name"],
        "memory": host["Memory"] // MIB,
        "memorySwap": host["MemorySwap"] // MIB if host["MemorySwap"] > 0 else host["MemorySwap"],
        "tmpfs": host.get("Tmpfs") or {},
        "securityOpts": host["SecurityOpt"] or [],
        "capabilities": {"drops": host["CapDrop"]},
        "logDriver": host["LogConfig"]["Type"],
        "logOpts": host["LogConfig"]["Config"],
        "healthcheck": _healthcheck_of(config.get("Healthcheck") or {}, inputs.get("healthcheck", {})),
        "stopSignal": config.get("StopSignal"),
        "stopTimeout": config.get("StopTimeout"),
    }
    return inputs | {key: value for key, value in real.items() if key in inputs}


def published_ports(response: Mapping[str, Any], inputs: Properties) -> list[Properties]:
    """Return the ports that are published now, ordered by internal port; a stopped container has none."""
    published = response["NetworkSettings"]["Ports"] or {}
    found = [
        {"internal": int(port), "external": int(bound["HostPort"]), "ip": bound["HostIp"], "protocol": protocol}
        for (port, protocol), bindings in ((key.split("/"), bindings) for key, bindings in published.items())
        for bound in bindings or ()
    ]
    found.sort(key=lambda port: port["internal"])
    wanted = inputs.get("ports", [])
    same = len(found) == len(wanted) and all({**now, **given} == now for now, given in zip(found, wanted, strict=True))
    return wanted if same else found  # the input without the defaults of the vendor's schema


def _healthcheck_of(real: Mapping[str, Any], inputs: Properties) -> Properties:
    found = {
        "tests": real.get("Test", []),
        "retries": real.get("Retries", 0),
        **{ours: format_duration(real.get(theirs, 0)) for ours, theirs in DURATIONS.items()},
    }
    return {key: value for key, value in found.items() if key in inputs}


def container_outputs(response: Mapping[str, Any]) -> Properties:
    """Return the outputs of a container."""
    networks = response["NetworkSettings"]["Networks"]
    return {
        "exitCode": response["State"]["ExitCode"],
        "networkDatas": [
            {"networkName": name, "ipAddress": found["IPAddress"], "ipPrefixLength": found["IPPrefixLen"]}
            for name, found in sorted(networks.items())
        ],
    }
