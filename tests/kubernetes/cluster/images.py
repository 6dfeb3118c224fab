# SPDX-License-Identifier: Apache-2.0
"""Images of the cluster: import from tar archives, and an image that is made from Debian's static busybox."""

import hashlib
import io
import json
import platform
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from infra.targets.container_paths import USER
from tests.kubernetes.cluster.commands import run
from tests.kubernetes.cluster.folders import ClusterFolders
from tests.kubernetes.cluster.requirements import BUSYBOX

TEST_IMAGE = "lab.local/busybox:1"
"""Image with busybox's commands."""

PAUSE_IMAGE = "lab.local/pause:1"
"""Image of the container that holds the namespaces of a pod."""

_PAUSE = ["sh", "-c", "trap 'exit 0' TERM INT; sleep infinity & wait"]
"""Waits for its own and for adopted processes, so that pods with a shared process namespace keep no zombies."""

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def ctr(folders: ClusterFolders, *arguments: str | Path) -> str:
    """Run containerd's client in the namespace of Kubernetes and return its output. Raises ClusterError."""
    return run(["ctr", "--address", folders.containerd_socket, "--namespace", "k8s.io", *arguments]).stdout


def import_image(folders: ClusterFolders, archive: Path) -> list[str]:
    """Import the images of a tar archive, as of `docker save`, and return the output lines. Raises ClusterError."""
    return ctr(folders, "images", "import", archive).splitlines()


def import_own_images(folders: ClusterFolders) -> None:
    """Import the pause image and the test image unless they are present. Raises ClusterError."""
    present = ctr(folders, "images", "ls", "--quiet").splitlines()
    for name, command in ((PAUSE_IMAGE, _PAUSE), (TEST_IMAGE, ["sh"])):
        if name not in present:
            with tempfile.TemporaryDirectory(prefix="lineage-lab-image-") as folder:
                archive = Path(folder) / "image.tar"
                write_busybox_image(archive, name, command)
                import_image(folders, archive)


def write_busybox_image(
    archive: Path, name: str, command: list[str], scripts: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write an image in the format of `docker save`, whose processes run as the user of the lab's containers.

    Args:
        archive: the file.
        name: name and tag of the image.
        command: default command.
        scripts: text of further executables by their path without the leading slash.
    """
    layer = _busybox_layer(scripts)
    configuration = {
        "architecture": _ARCHITECTURES[platform.machine()],
        "os": "linux",
        "config": {"Cmd": command, "Env": ["PATH=/bin"], "User": f"{USER}:{USER}"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(archive, "w") as tar:
        _add_file(tar, "layer.tar", layer)
        _add_file(tar, "config.json", json.dumps(configuration).encode())
        _add_file(tar, "manifest.json", json.dumps(manifest).encode())


def _busybox_layer(scripts: Mapping[str, str]) -> bytes:
    """Return a layer with busybox, one link per command, and scripts."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for folder, mode in (("bin", 0o755), ("tmp", 0o1777)):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            tar.addfile(entry)
        _add_file(tar, "bin/busybox", BUSYBOX.read_bytes(), mode=0o755)
        for command in run([BUSYBOX, "--list"]).stdout.split():
            if command != "busybox":
                link = tarfile.TarInfo(f"bin/{command}")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(link)
        for path, text in scripts.items():
            _add_file(tar, path, text.encode(), mode=0o755)
    return content.getvalue()


def _add_file(tar: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))
