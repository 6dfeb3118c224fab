# SPDX-License-Identifier: Apache-2.0
"""The lineage contract: what a pipeline's lineage must be, written by hand, compared with what arrived.

A contract is YAML:

    version: 1
    namespace: lineage-lab              # of all jobs below; closed: what is not named here is unexpected
    aliases:                            # short for a namespace, or for a whole dataset
      topics: kafka://kafka:9092
      lake: s3://warehouse
    jobs:
      - job: supplier_stats.overwrite_partitions.sales_supplier_stats
        requires: [spark]               # optional; left out unless all these features are on
        inputs: [lake/sales/orders]     # a row may also be {dataset: ..., requires: [...]}
        outputs:
          - dataset: lake/sales/supplier_stats
            columns:                    # optional; where given, these are all columns and all their sources
              supplier: supplier IDENTITY                       # of the only input; `[]` for no source
              total_price: [lake/sales/orders#price AGGREGATION]
              total_count: []
            dataset_columns: [supplier GROUP_BY, bid_time FILTER]

A column source is `[DATASET#]FIELD KIND [masked]`. KIND is a transformation's subtype; its type follows
(DIRECT for IDENTITY, TRANSFORMATION and AGGREGATION; INDIRECT for JOIN, GROUP_BY, FILTER, SORT, WINDOW and
CONDITIONAL)
or is written in front: `DIRECT:HASH`.
"""

from lineage.checks.contract.compare import compare
from lineage.checks.contract.load import load
from lineage.checks.contract.model import Contract
from lineage.checks.contract.report import Finding, Report
from lineage.checks.contract.yaml_field import ContractError

__all__ = ["Contract", "ContractError", "Finding", "Report", "compare", "load"]
