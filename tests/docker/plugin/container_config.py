# SPDX-License-Identifier: Apache-2.0
"""A container's inputs in the words of the daemon's API, and the daemon's answer in those of the inputs.

Pure functions. The API: https://docs.docker.com/reference/api/engine/version/v1.41 (ContainerCreate, ContainerInspect).
"""

import re
from collections.abc import Mapping
from typing import Any

from tests.docker.plugin.properties import Properties
from tests.docker.plugin.resource import labels_of, without_none

MIB = 1024 * 1024
SECOND = 10**9
"""The daemon counts in nanoseconds."""

_UNITS = {"ms": 10**6, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}
TIMES = {"interval": "Interval", "timeout": "Timeout", "startPeriod": "StartPeriod"}
"""The durations of a health check: ours, and the daemon's."""

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")


def nanoseconds(duration: str) -> int | None:
    """Of a duration as Go spells it: `1m30s`, `500ms`. None where it is none."""
    parts = _PART.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        return None
    return sum(round(float(number) * _UNITS[unit]) for number, unit in parts)


def duration(nanoseconds: int) -> str:
    """Go's own spelling of a duration, in which the vendor's plugin reports it: 90 s are `1m30s`."""
    if nanoseconds < SECOND:
        return f"{nanoseconds / 10**6:g}ms" if nanoseconds else "0s"
    minutes, rest = divmod(nanoseconds, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}h" if hours else ""
    text += f"{minutes}m" if hours or minutes else ""
    return f"{text}{rest / SECOND:g}s"


def request(inputs: Properties) -> Properties:
    """The body of the request that creates the container."""
    ports, networks = inputs.get("ports", []), inputs.get("networksAdvanced", [])
    return without_none(
        {
            "Image": inputs["image"],
            "Cmd": inputs.get("command"),
            "Entrypoint": inputs.get("entrypoints"),
            "Env": inputs.get("envs"),
            "User": inputs.get("user"),
            "Hostname": inputs.get("hostname"),
            "Labels": labels_of(inputs),
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
    """What the vendor's plugin changes of a container that is there, as the arguments of `update_container`."""
    return without_none(
        {
            "restart_policy": _restart_policy(inputs),
            "mem_limit": _mib(inputs.get("memory")),
            "memswap_limit": _mib(inputs.get("memorySwap")),
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
            "Memory": _mib(inputs.get("memory")),
            "MemorySwap": _mib(inputs.get("memorySwap")),
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
        **{theirs: nanoseconds(healthcheck[ours]) for ours, theirs in TIMES.items() if ours in healthcheck},
    }


def _restart_policy(inputs: Properties) -> Properties:
    return {"Name": inputs["restart"], "MaximumRetryCount": 0}


def _log_config(inputs: Properties) -> Properties | None:
    if "logDriver" not in inputs and "logOpts" not in inputs:
        return None
    return {"Type": inputs.get("logDriver", ""), "Config": inputs.get("logOpts", {})}


def _mib(size: int | None) -> int | None:
    """In bytes; what is not positive (no limit) stays as it is."""
    return size * MIB if size is not None and size > 0 else size


def inputs_of(answer: Mapping[str, Any], asked: Properties) -> Properties:
    """The inputs that were asked for, each as the daemon has it now, as far as the vendor's plugin reads it back.

    What it reads back in another spelling than it was asked for (an image by its tag, `60s`) shows as a difference
    in the next update: so it does with the vendor's plugin.
    """
    config, host = answer["Config"], answer["HostConfig"]
    real = {
        "name": answer["Name"].removeprefix("/"),
        "image": answer["Image"],
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
        "healthcheck": _healthcheck_of(config.get("Healthcheck") or {}, asked.get("healthcheck", {})),
        "stopSignal": config.get("StopSignal"),
        "stopTimeout": config.get("StopTimeout"),
    }
    return asked | {key: value for key, value in real.items() if key in asked}


def _healthcheck_of(real: Mapping[str, Any], asked: Properties) -> Properties:
    found = {
        "tests": real.get("Test", []),
        "retries": real.get("Retries", 0),
        **{ours: duration(real.get(theirs, 0)) for ours, theirs in TIMES.items()},
    }
    return {key: value for key, value in found.items() if key in asked}


def outputs_of(answer: Mapping[str, Any]) -> Properties:
    """What the daemon adds."""
    networks = answer["NetworkSettings"]["Networks"]
    return {
        "exitCode": answer["State"]["ExitCode"],
        "networkDatas": [
            {"networkName": name, "ipAddress": found["IPAddress"], "ipPrefixLength": found["IPPrefixLen"]}
            for name, found in sorted(networks.items())
        ],
    }
