# SPDX-License-Identifier: Apache-2.0
"""Alerts about what is wrong now, and their delivery to webhooks.

Import its modules: set-up of the lab reads only `webhook`, which needs nothing of the graph.
"""
