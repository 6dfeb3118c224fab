# SPDX-License-Identifier: Apache-2.0
"""Transfer of images to the nodes of a cluster, without a registry."""
