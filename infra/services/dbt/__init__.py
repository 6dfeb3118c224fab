# SPDX-License-Identifier: Apache-2.0
"""dbt project of the lab."""
