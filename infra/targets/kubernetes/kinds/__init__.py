# SPDX-License-Identifier: Apache-2.0
"""Resource kinds of the Kubernetes target."""

MODULES = {
    "CredentialsSecret": f"{__name__}.credentials_secret",
    "KubernetesCluster": f"{__name__}.kubernetes_cluster",
    "PortForward": f"{__name__}.port_forward",
    "Workload": f"{__name__}.workload",
}
"""Module of each kind by the kind's name."""
