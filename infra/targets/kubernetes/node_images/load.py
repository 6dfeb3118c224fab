# SPDX-License-Identifier: Apache-2.0
"""Load of built images into the nodes of a cluster."""

import time
from contextlib import closing
from functools import partial

from infra.targets.docker.images.archive import image_archive
from infra.targets.docker.images.daemon import ImageDaemon
from infra.targets.docker.images.references import full_reference
from infra.targets.docker.images.tags import tagged
from infra.targets.docker.images.transfer import Transfer
from infra.targets.kubernetes.node_images.nodes import Nodes
from infra.toolchain.progress import Progress


def load_images(transfer: Transfer, nodes: Nodes, daemon: ImageDaemon, progress: Progress) -> list[str]:
    """Load images into the nodes of a cluster, except those that they have, and return the names of the loaded ones.

    Raises:
        NodeImageError: the cluster or its tool cannot be used.
        ImageError: the daemon cannot write the archive.
    """
    existing = nodes.existing()
    missing = {
        name: reference
        for name, reference in transfer.names.items()
        if not (transfer.keyed and full_reference(name) in existing)
    }
    if not missing:
        return []
    label, started = f"{len(missing)} images", time.monotonic()
    size = daemon.disk_bytes(missing.values())
    with closing(progress), tagged(daemon.client, missing):
        progress.start(label, f"loading into {nodes.title}")
        nodes.load(list(missing), partial(image_archive, daemon.client), partial(progress.update, label))
        progress.done(label, f"loaded into {nodes.title}", time.monotonic() - started, size)
    return list(missing)
