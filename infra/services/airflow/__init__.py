# SPDX-License-Identifier: Apache-2.0
"""Airflow of the lab."""
