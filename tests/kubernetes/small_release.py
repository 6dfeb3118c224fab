# SPDX-License-Identifier: Apache-2.0
"""Values of a small release of the chart, whose programs are shell scripts of a busybox image.

It has each kind of part: replicas with configurations of their own and volumes (kafka), replicas that share one
(connect), a driver of Spark executors, a task, and the setup.
"""

from pathlib import Path
from typing import Any

from infra.targets.container_paths import CREDENTIALS_FOLDER, CREDENTIALS_NAME, FILES, PROBE, VOLUMES
from infra.targets.kubernetes.script import CONFIG_MAP
from tests.kubernetes.chart_values import Values
from tests.kubernetes.cluster.images import write_busybox_image

IMAGE = "lab.local/small-release:1"

KAFKA_PORT, CONNECT_PORT = 9092, 8083

CONNECT_SECONDS = 15
"""Time limit for name resolution and connection; the resolver repeats a lost query after 5 s."""

GET = rf"printf 'GET %s HTTP/1.0\r\n\r\n' {{path}} | nc -w {CONNECT_SECONDS} {{host}} {{port}}"
"""Shell command for an HTTP response; busybox' wget crashes on host names of a search domain."""

_PROBE_SCRIPT = f"""#!/bin/sh
if [ -z "${{3:-}}" ]; then nc -w {CONNECT_SECONDS} "$1" "$2" </dev/null; else
{GET.format(path='"$3"', host='"$1"', port='"$2"')} | head -n 1 | grep -q " 200 "; fi
"""
"""The probe of the lab's images requires bash."""

_RESOURCES = {"requests": {"cpu": "10m", "memory": "8Mi"}, "limits": {"memory": "64Mi"}}

_COPY_FILES = f'cp -R {CONFIG_MAP}/files/* {FILES} && cp "{CONFIG_MAP}/replicas/$REPLICA/id" {FILES}/id'
_CREDENTIALS = f". {CREDENTIALS_FOLDER}/{CREDENTIALS_NAME}"
_AWAIT = f'for key in "$@"; do until {PROBE} "$key" {KAFKA_PORT} /id; do sleep 0.2; done; done'
_SLEEP = "trap 'exit 0' TERM; while :; do sleep 0.1; done"


def write_image(archive: Path) -> None:
    """Write the image of all parts."""
    write_busybox_image(archive, IMAGE, ["sh"], scripts={PROBE.removeprefix("/"): _PROBE_SCRIPT})


def small_release(secret_names: dict[str, int]) -> Values:
    """Return the values; each of the variables is a generated credential."""
    return {
        "stack": "small",
        "credentials": {"names": secret_names},
        "setup": {
            "image": IMAGE,
            "script": f"{_CREDENTIALS}\n{PROBE} connect {CONNECT_PORT} || exit 1\necho created as $TOKEN\n",
            "awaitScript": f"echo waiting for $*\n{_AWAIT}\n",
            "services": {"kafka": f"kafka:{KAFKA_PORT}", "connect": f"connect:{CONNECT_PORT}"},
            "podResources": _RESOURCES,
        },
        "kafka": _service(
            "kafka",
            f"{_COPY_FILES}\nmkdir -p {VOLUMES}/data && hostname >> {VOLUMES}/data/starts\n"
            f"exec httpd -f -p {KAFKA_PORT} -h {FILES}\n",
            replicas=3,
            files={"conf/common.txt": "common"},
            replicaFiles=[{"id": f"replica {number}"} for number in range(3)],
            ports=[{"name": "broker", "port": KAFKA_PORT}],
            probe={"port": KAFKA_PORT, "path": "/conf/common.txt", "seconds": 60},
            volumes=["data"],
        ),
        "connect": _service(
            "connect",
            f'{_CREDENTIALS}\nprintf "%s\\n" "$TOKEN" > {FILES}/token\nexec httpd -f -p {CONNECT_PORT} -h {FILES}\n',
            replicas=2,
            secrets=True,
            needs=["kafka"],
            ports=[{"name": "rest", "port": CONNECT_PORT}],
            probe={"port": CONNECT_PORT, "seconds": 60},
        ),
        "jobs": {"spark_driver": _service("spark_driver", _SLEEP, executor={"script": "cat /proc/self/mountinfo"})},
        "tasks": {
            "report": _part("report", f"cat {CONFIG_MAP}/files/report.txt", files={"report.txt": "the report\n"})
        },
    }


def _service(name: str, script: str, **values: Any) -> Values:
    return {"enabled": True, "replicas": 1, **_part(name, script, **values)}


def _part(name: str, script: str, **values: Any) -> Values:
    return {"name": name, "image": IMAGE, "script": script, "stopSeconds": 2, "resources": _RESOURCES} | values
