# SPDX-License-Identifier: Apache-2.0
"""DNS of the cluster: CoreDNS as a process of this machine, at the address of the bridge."""

import socket
import struct
from pathlib import Path

from tests.kubernetes.cluster import addresses
from tests.kubernetes.cluster.api import ApiServer
from tests.kubernetes.cluster.control_plane import Command
from tests.kubernetes.cluster.credentials import USERS
from tests.kubernetes.cluster.files import write_if_changed
from tests.kubernetes.cluster.folders import ClusterFolders

_COREFILE = """.:{port} {{
  bind {address}
  errors
  kubernetes {domain} in-addr.arpa ip6.arpa {{
    kubeconfig {kubeconfig} {context}
    ttl 1
  }}
  {fallback}
}}
"""

_RULES = [
    {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": ["list", "watch"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
]

_HOST_RESOLVER = Path("/etc/resolv.conf")
_QUERY_TIMEOUT = 2


def coredns_command(folders: ClusterFolders) -> Command:
    """Write the configuration of CoreDNS and return its command line."""
    path = folders.configuration / "Corefile"
    write_if_changed(
        path,
        _COREFILE.format(
            port=addresses.DNS_PORT,
            address=addresses.NODE_ADDRESS,
            domain=addresses.DOMAIN,
            kubeconfig=folders.kubeconfig_of("coredns"),
            context=addresses.CONTEXT,
            fallback=_fallback(),
        ),
    )
    return [folders.programs / "coredns", "-conf", path]


def grant_access(api: ApiServer) -> None:
    """Let CoreDNS read Services and their endpoints. Raises ClusterError."""
    user, _ = USERS["coredns"]
    group = "rbac.authorization.k8s.io"
    names = {"apiVersion": f"{group}/v1", "metadata": {"name": user}}
    path = f"/apis/{group}/v1"
    api.apply(f"{path}/clusterroles/{user}", {**names, "kind": "ClusterRole", "rules": _RULES})
    binding = {
        **names,
        "kind": "ClusterRoleBinding",
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": user},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    }
    api.apply(f"{path}/clusterrolebindings/{user}", binding)


def unready_reason() -> str | None:
    """Return None if the Service of the API server resolves, else why not."""
    name = f"kubernetes.default.svc.{addresses.DOMAIN}"
    try:
        found = _resolve(name)
    except OSError as error:
        return f"no answer from {addresses.NODE_ADDRESS}: {error}"
    return None if found == addresses.API_SERVICE_ADDRESS else f"{name} resolves to {found}"


def _resolve(name: str) -> str | None:
    """Return the IPv4 address of the only answer to an A query; None without an answer. Raises OSError."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    query = struct.pack(">6H", 1, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(_QUERY_TIMEOUT)
        client.connect((addresses.NODE_ADDRESS, addresses.DNS_PORT))
        client.send(query)
        answer = client.recv(512)
    answers = struct.unpack(">6H", answer[:12])[3]
    return socket.inet_ntoa(answer[-4:]) if answers else None


def _fallback() -> str:
    """Return the plugin for all other names: this machine's resolver, else the answer that they do not exist."""
    if _HOST_RESOLVER.exists() and "nameserver" in _HOST_RESOLVER.read_text():
        return f"forward . {_HOST_RESOLVER}"
    return "template ANY ANY {\n    rcode NXDOMAIN\n  }"
