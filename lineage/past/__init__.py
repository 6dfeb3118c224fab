# SPDX-License-Identifier: Apache-2.0
"""Part of a past graph: the answers about one node at a time, from the events that they depend on alone."""
