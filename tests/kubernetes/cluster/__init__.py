# SPDX-License-Identifier: Apache-2.0
"""One-node Kubernetes cluster for tests: Go builds of Kubernetes, etcd and CoreDNS on Debian's containerd.

All components are plain processes of this machine. They listen on loopback or on the bridge of the pods, so nothing is
reachable from other machines. `.ci/cluster` is the command.
"""
