# SPDX-License-Identifier: Apache-2.0
"""dbt runs that report their models and tests as OpenLineage events."""
