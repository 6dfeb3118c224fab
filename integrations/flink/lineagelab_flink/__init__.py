# SPDX-License-Identifier: Apache-2.0
"""Runner of Flink SQL files and jars that supervises the job and reports its lineage."""
