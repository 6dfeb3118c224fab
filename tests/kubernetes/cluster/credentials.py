# SPDX-License-Identifier: Apache-2.0
"""Certificates, tokens and kubeconfigs of the test cluster, created once."""

import json
import secrets
from pathlib import Path

from tests.kubernetes.cluster import addresses
from tests.kubernetes.cluster.commands import run
from tests.kubernetes.cluster.files import write_if_changed
from tests.kubernetes.cluster.folders import ClusterFolders

ADMINISTRATOR = "admin"

USERS = {
    ADMINISTRATOR: ("admin", "system:masters"),
    "kubelet": (f"system:node:{addresses.NODE}", "system:nodes"),
    "controller-manager": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
    "proxy": ("system:kube-proxy", ""),
    "coredns": ("system:coredns", ""),
}
"""Component -> user and group, to which Kubernetes binds its roles."""

_DAYS = "365"


def create_credentials(folders: ClusterFolders) -> None:
    """Create all credentials unless they exist, and the kubeconfigs, which depend on the cluster's folder."""
    folder = folders.credentials
    if not (folder / "service-account.pub").exists():
        _create_certificates(folder)
    tokens = _tokens(folder / "tokens.csv")
    for component, token in tokens.items():
        path = folders.kubeconfig if component == ADMINISTRATOR else folders.kubeconfig_of(component)
        text = json.dumps(_kubeconfig(folder / "ca.crt", component, token), indent=2) + "\n"
        write_if_changed(path, text, mode=0o600)


def administrator_token(folders: ClusterFolders) -> str:
    """Return the bearer token of the administrator."""
    return _tokens(folders.credentials / "tokens.csv")[ADMINISTRATOR]


def _tokens(path: Path) -> dict[str, str]:
    """Return the token of each component; create the token file of the API server if it is missing."""
    if not path.exists():
        lines = [f'{secrets.token_hex(16)},{user},{name},"{group}"' for name, (user, group) in USERS.items()]
        path.write_text("\n".join(lines) + "\n")
    rows = [line.split(",") for line in path.read_text().splitlines()]
    return {name: token for token, _, name, _ in rows}


def _kubeconfig(authority: Path, component: str, token: str) -> dict[str, object]:
    context = addresses.CONTEXT
    cluster = {"server": addresses.API_URL, "certificate-authority": str(authority)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": context, "cluster": cluster}],
        "users": [{"name": component, "user": {"token": token}}],
        "contexts": [{"name": context, "context": {"cluster": context, "user": component}}],
        "current-context": context,
    }


def _create_certificates(folder: Path) -> None:
    key = ["-newkey", "rsa:2048", "-nodes"]
    authority = ["openssl", "req", "-x509", *key, "-days", _DAYS, "-subj", "/CN=lineage-lab-ci"]
    run([*authority, "-keyout", folder / "ca.key", "-out", folder / "ca.crt"])
    names = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost")
    ips = (addresses.NODE_ADDRESS, addresses.API_SERVICE_ADDRESS, "127.0.0.1")
    alternatives = ",".join([*(f"IP:{ip}" for ip in ips), *(f"DNS:{name}" for name in names)])
    _sign(folder, "apiserver", "/CN=kube-apiserver", f"subjectAltName={alternatives}")
    _sign(folder, "kubelet-client", "/O=system:masters/CN=apiserver-kubelet", "extendedKeyUsage=clientAuth")
    private, public = folder / "service-account.key", folder / "service-account.pub"
    run(["openssl", "genrsa", "-out", private, "2048"])
    run(["openssl", "rsa", "-in", private, "-pubout", "-out", public])


def _sign(folder: Path, name: str, subject: str, extension: str) -> None:
    """Create a key and a certificate that is signed by the cluster's authority."""
    request, options = folder / f"{name}.csr", folder / f"{name}.ext"
    options.write_text(extension + "\n")
    command = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-out", request]
    run([*command, "-keyout", folder / f"{name}.key"])
    signing = ["openssl", "x509", "-req", "-in", request, "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key"]
    run([*signing, "-CAcreateserial", "-days", _DAYS, "-extfile", options, "-out", folder / f"{name}.crt"])
