# SPDX-License-Identifier: Apache-2.0
"""Results of Great Expectations as OpenLineage events."""

from lineagelab_common.events import Dataset
from lineagelab_great_expectations.check_run import CheckRun
from lineagelab_great_expectations.results import CheckResults, read_results

__all__ = ["CheckResults", "CheckRun", "Dataset", "read_results"]
