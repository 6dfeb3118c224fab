# SPDX-License-Identifier: Apache-2.0
"""Transformations of the jobs: pure functions from DataFrame to DataFrame, without sources and sinks."""
