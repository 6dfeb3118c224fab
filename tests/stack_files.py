# SPDX-License-Identifier: Apache-2.0
"""Configuration of the stacks that tests and benchmarks run.

Each file is written to the checkout for one run and removed after it; git ignores every stack file but the committed
ones. Port offsets differ, so that these labs and a user's run side by side.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import yaml

from infra.project import NAME, PROJECT

SMOKE, SMOKE_DOCKER, CHAOS, BENCH, BENCH_DOCKER = "smoke", "docker-smoke", "chaos", "bench", "bench-docker"
SMOKE_KUBERNETES, SMOKE_REDUCED, SMOKE_REPLAY = "kubernetes-smoke", "reduced-smoke", "replay-smoke"
SMOKE_TLS, SMOKE_DOCKER_TLS, SMOKE_KUBERNETES_TLS = "tls-smoke", "docker-tls-smoke", "kubernetes-tls-smoke"
SMOKE_DOCKER_PYTHON, SMOKE_KUBERNETES_PYTHON = "docker-python-smoke", "kubernetes-python-smoke"

REDUCED: Mapping[str, str] = {"shopRate": "50", "flink": "false", "maintenanceEvery": ""}
"""Profile that fits two cores on Kubernetes; `SMOKE_REDUCED` is the same lab as local processes."""

_PYTHON = {**REDUCED, "shopRate": "20", "flink": "true", "flinkPython": "true", "sparkPandas": "true"}

CONFIG: Mapping[str, Mapping[str, str]] = {
    # With keys, which every emitter, command and the page must then send; the other labs have none.
    SMOKE: {"portOffset": "10000", "shopRate": "50", "flink": "true", "lineageKeys": "true", "dashboard": "true"},
    SMOKE_DOCKER: {"target": "docker", "portOffset": "12500", "shopRate": "50", "flink": "true", "dashboard": "true"},
    SMOKE_KUBERNETES: {
        **REDUCED,
        "target": "kubernetes",
        "kubernetesContext": "lineage-lab-ci",
        "portOffset": "17500",
        "spark": "kubernetes",
    },
    SMOKE_REDUCED: {**REDUCED, "portOffset": "18500"},
    SMOKE_REPLAY: {**REDUCED, "portOffset": "19500", "forecast": "true", "lineageHistory": "true"},
    SMOKE_TLS: {**REDUCED, "security": "tls", "portOffset": "22500", "lineageHistory": "true", "forecast": "true"},
    SMOKE_DOCKER_TLS: {**REDUCED, "target": "docker", "security": "tls", "portOffset": "24000"},
    SMOKE_KUBERNETES_TLS: {
        **REDUCED,
        "target": "kubernetes",
        "kubernetesContext": "lineage-lab-ci",
        "security": "tls",
        "spark": "kubernetes",
        "portOffset": "25500",
    },
    SMOKE_DOCKER_PYTHON: {**_PYTHON, "target": "docker", "portOffset": "6000"},
    SMOKE_KUBERNETES_PYTHON: {
        **_PYTHON,
        "target": "kubernetes",
        "kubernetesContext": "lineage-lab-ci",
        "portOffset": "8000",
    },
    # Without duplicates, each row is one record.
    CHAOS: {"portOffset": "15000", "shopRate": "50", "shopDuplicateRate": "0", "flink": "true"},
    # No figure of the lifecycle benchmark is about Flink.
    BENCH: {"portOffset": "20000", "flink": "false"},
    BENCH_DOCKER: {"target": "docker", "portOffset": "21000", "flink": "false"},
}
"""Configuration by stack, keys without the project's prefix."""


def path_of(stack: str) -> Path:
    """Return the path of a stack's configuration file."""
    return PROJECT / f"Pulumi.{stack}.yaml"


@contextmanager
def stack_file(stack: str, config: Mapping[str, str] | None = None, keep: bool = False) -> Iterator[Path]:
    """Write the configuration file of a stack and remove it on exit.

    Args:
        stack: name of the stack. Without `config`, a stack that is not in `CONFIG` is the user's: its file stays.
        config: keys without the project's prefix; those of `CONFIG` by default.
        keep: leave the file on exit.
    """
    path, chosen = path_of(stack), CONFIG.get(stack) if config is None else config
    if chosen is None:
        yield path
        return
    document = {"config": {f"{NAME}:{key}": value for key, value in chosen.items()}}
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    try:
        yield path
    finally:
        if not keep:
            path.unlink(missing_ok=True)
