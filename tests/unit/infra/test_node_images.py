# SPDX-License-Identifier: Apache-2.0
"""Images for the nodes of a cluster: names, the commands of kind, k3d and minikube, and errors.

The programs are scripts that record their arguments and print what the real ones print: clusters of kind and k3d need
privileged containers and node images, which the test machines do not have.
"""

import json
import os
import shlex
import socket
import sys
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from infra.cli.images import app
from infra.targets.docker.images.references import full_reference, registry_host
from infra.targets.kubernetes.node_images.containerd import ContainerdNode
from infra.targets.kubernetes.node_images.local_clusters import K3dCluster, KindCluster, MinikubeCluster
from infra.targets.kubernetes.node_images.nodes import NodeImageError

IMAGES = ["lineage-lab/kafka:1", "lineage-lab/minio:2"]
NOBODY = 65534

RECORDER = """#!{python}
import json, sys
words, answers = sys.argv[1:], json.loads({answers!r})
sent = sys.stdin.read()
with open({record!r}, "a") as record:
    record.write(json.dumps([words, sent]) + "\\n")
status, text = answers.get(" ".join(words[:2]), (0, ""))
print(text, end="", file=sys.stderr if status else sys.stdout)
sys.exit(status)
"""


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Function that puts a program on PATH, with answers to its commands, and returns a reader of its calls."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(name, answers):
        record = tmp_path / f"{name}.json"
        program = tmp_path / name
        text = RECORDER.format(python=sys.executable, answers=json.dumps(answers), record=str(record))
        program.write_text(text)
        program.chmod(0o755)
        return lambda: [(shlex.join(words), sent) for words, sent in map(json.loads, record.read_text().splitlines())]

    return install


@contextmanager
def archive(references):
    yield iter([json.dumps(list(references)).encode()])


def load(nodes, lines=None):
    existing = nodes.existing()
    nodes.load(IMAGES, archive, (lines if lines is not None else []).append)
    return existing


def test_kind_copies_images_by_name(tool):
    calls = tool("kind", {"get clusters": (0, "kind\nlab\n")})
    assert load(KindCluster("lab")) == frozenset()
    assert calls() == [
        ("get clusters", ""),
        ("load docker-image lineage-lab/kafka:1 lineage-lab/minio:2 --name lab", ""),
    ]


def test_k3d_copies_images_by_name(tool):
    calls = tool("k3d", {"cluster list": (0, json.dumps([{"name": "lab", "nodes": []}]))})
    assert load(K3dCluster("lab")) == frozenset()
    assert calls() == [
        ("cluster list -o json", ""),
        ("image import lineage-lab/kafka:1 lineage-lab/minio:2 --cluster lab", ""),
    ]


def test_minikube_reads_one_archive_and_lists_its_images(tool):
    profiles = json.dumps({"invalid": [], "valid": [{"Name": "lab", "Status": "Running"}]})
    listed = "registry.k8s.io/pause:3.10\ndocker.io/lineage-lab/kafka:1\n"
    calls = tool("minikube", {"profile list": (0, profiles), "image ls": (0, listed)})
    lines = []
    assert load(MinikubeCluster("lab"), lines) == frozenset(listed.split())
    assert calls() == [
        ("profile list -o json", ""),
        ("image ls --profile lab", ""),
        ("image load --profile lab -", json.dumps(IMAGES)),
    ]
    assert lines == ["0 kB sent"]


@pytest.mark.parametrize(
    ("cluster", "command", "text"),
    [
        (KindCluster("lab"), "get clusters", ""),
        (K3dCluster("lab"), "cluster list", "[]"),
        (MinikubeCluster("lab"), "profile list", '{"invalid": [], "valid": []}'),
    ],
    ids=lambda value: getattr(value, "program", ""),
)
def test_an_unknown_cluster_is_reported_with_the_known_ones(cluster, command, text, tool):
    tool(cluster.program, {command: (0, text)})
    with pytest.raises(NodeImageError, match=f"the {cluster.program} cluster lab: it does not exist.*: none;"):
        cluster.existing()


def test_a_missing_program_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NodeImageError, match=r"program kind is not installed(?s:.*)lab images push"):
        KindCluster("lab").existing()


def test_a_failed_program_shows_its_status_and_output(tool):
    tool("kind", {"get clusters": (0, "lab"), "load docker-image": (1, "ERROR: no space left on device\n")})
    lines = []
    with pytest.raises(NodeImageError, match=r"kind exited with status 1\n  \| ERROR: no space left on device"):
        load(KindCluster("lab"), lines)
    assert lines == ["ERROR: no space left on device"]


def test_a_program_that_stops_reading_reports_the_reason(tmp_path, monkeypatch):
    """More than a pipe holds is written to it."""
    (tmp_path / "minikube").write_text("#!/bin/sh\necho 'the node is stopped' >&2\nexit 80\n")
    (tmp_path / "minikube").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    @contextmanager
    def large(references):
        yield iter([b"x" * (1 << 20)] * 8)

    with pytest.raises(NodeImageError, match=r"status 80\n  \| the node is stopped"):
        MinikubeCluster("lab").load(IMAGES, large, lambda text: None)


def test_a_missing_socket_is_reported(tmp_path):
    with pytest.raises(NodeImageError, match=r"no containerd listens there \(No such file.*--address"):
        ContainerdNode(str(tmp_path / "missing.sock"), "k8s.io").existing()


def test_a_socket_of_another_user_is_reported(tmp_path):
    """Opened by a child process without privileges, as root may open every socket."""
    (tmp_path / "private").mkdir(mode=0o700)
    path = tmp_path / "private" / "containerd.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        (tmp_path / "private").chmod(0)
        child = os.fork()
        if child == 0:
            os._exit(permission_is_denied(str(path)))
        _, status = os.waitpid(child, 0)
        (tmp_path / "private").chmod(0o700)
    assert os.waitstatus_to_exitcode(status) == 0


def permission_is_denied(address):
    """Return 0 if the error for a socket names the missing permission, else 1."""
    try:
        if os.geteuid() == 0:
            os.setuid(NOBODY)
        ContainerdNode(address, "k8s.io").existing()
    except NodeImageError as error:
        return 0 if "permission denied. Run this command as root" in str(error) else 1
    return 1


@pytest.mark.parametrize(
    ("reference", "host", "full"),
    [
        ("lineage-lab/kafka:1", "docker.io", "docker.io/lineage-lab/kafka:1"),
        ("debian:bookworm-slim", "docker.io", "docker.io/library/debian:bookworm-slim"),
        ("docker.io/library/debian:12", "docker.io", "docker.io/library/debian:12"),
        ("localhost/kafka:1", "localhost", "localhost/kafka:1"),
        ("127.0.0.1:5000/lab/kafka:1", "127.0.0.1:5000", "127.0.0.1:5000/lab/kafka:1"),
        ("registry.example.org/kafka:1", "registry.example.org", "registry.example.org/kafka:1"),
    ],
)
def test_references_are_spelt_as_by_containerd(reference, host, full):
    assert (registry_host(reference), full_reference(reference)) == (host, full)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--to", "containerd", "--cluster", "lab"], "--cluster does not fit --to containerd"),
        (["--to", "kind", "--address", "/run/other.sock"], "--address and --namespace do not fit --to kind"),
        (["--to", "k3d", "--namespace", "other"], "--address and --namespace do not fit --to k3d"),
    ],
)
def test_options_that_do_not_fit_the_cluster_are_rejected(options, text):
    result = CliRunner().invoke(app, ["load", *options])
    assert result.exit_code == 1
    assert text in result.output
