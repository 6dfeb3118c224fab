# SPDX-License-Identifier: Apache-2.0
"""Airflow of the lab: its processes, and the DAGs of the workflows."""
