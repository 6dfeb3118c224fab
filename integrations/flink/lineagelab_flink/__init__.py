# SPDX-License-Identifier: Apache-2.0
"""Runner of Flink SQL files, jars and PyFlink programs that supervises the job and reports its lineage."""
