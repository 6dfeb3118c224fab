# SPDX-License-Identifier: Apache-2.0
"""Measurements of the service: rate and lag for the page, delays and state for Prometheus."""
