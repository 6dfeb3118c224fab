# SPDX-License-Identifier: Apache-2.0
"""Check of job files against a lineage contract before anything runs: names of jobs, topics and tables."""
