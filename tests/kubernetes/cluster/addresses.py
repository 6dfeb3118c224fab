# SPDX-License-Identifier: Apache-2.0
"""Names, addresses and ports of the test cluster. Two such clusters cannot run on one machine."""

NODE = "lab-node"
CONTEXT = "lineage-lab-ci"
"""Context in the kubeconfig."""

BRIDGE = "lineage-cni0"
POD_SUBNET = "10.244.0.0/24"
NODE_ADDRESS = "10.244.0.1"
"""Address of the bridge: gateway of the pods, and address of the API server, the kubelet and CoreDNS."""

NODE_HARDWARE_ADDRESS = "0a:58:0a:f4:00:01"
"""Ethernet address of the bridge.

Without one of its own a bridge has the lowest of its ports, which changes with the pods: other pods then send to an
address that no longer exists until they ask for it again: their DNS queries get no answer for several seconds.
"""

SERVICE_SUBNET = "10.96.0.0/16"
API_SERVICE_ADDRESS = "10.96.0.1"
"""First address of `SERVICE_SUBNET`, which Kubernetes assigns to the Service `kubernetes`."""

DOMAIN = "cluster.local"

ETCD_CLIENT_URL = "http://127.0.0.1:23790"
ETCD_PEER_URL = "http://127.0.0.1:23800"
API_PORT = 16443
API_URL = f"https://{NODE_ADDRESS}:{API_PORT}"
KUBELET_PORT = 10250
KUBELET_HEALTH_PORT = 10248
PROXY_HEALTH_PORT = 10256
PROXY_METRICS_PORT = 10249
DNS_PORT = 53
