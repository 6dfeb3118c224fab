# SPDX-License-Identifier: Apache-2.0
"""Lineage contract: the expected lineage of a pipeline, written by hand and compared with the graph.

A contract is YAML:

    version: 1
    namespace: lineage-lab              # of all jobs below; others in it are listed apart, see `Report`
    aliases:                            # short names of namespaces or datasets
      topics: kafka://kafka:9092
      lake: s3://warehouse
    jobs:
      - job: supplier_stats.overwrite_partitions.sales_supplier_stats
        requires: [spark]               # optional; skipped unless all these features are enabled
        inputs: [lake/sales/orders]     # a row may also be {dataset: ..., requires: [...]}
        outputs:
          - dataset: lake/sales/supplier_stats
            columns:                    # optional; if present, all columns and all their sources
              supplier: supplier IDENTITY                       # from the only input; `[]` for no source
              total_price: [lake/sales/orders#price AGGREGATION]
              total_count: []
            dataset_columns: [supplier GROUP_BY, bid_time FILTER]
    datasets:                           # optional; demands on datasets, whoever writes them
      - dataset: topics/orders
        requires: [spark]               # optional, as above
        schema:
          version: 2                    # optional; of the agreement, named in findings
          compatibility: BACKWARD       # how the dataset may differ: EXACT (default), BACKWARD, FORWARD or FULL
          columns:
            order_id: string
            price: decimal(10,2)?       # nullable
        freshness: 15m                  # longest time since the last write: 90s, 15m, 2h, 1d

A column source is `[DATASET#]FIELD KIND [masked]`. KIND is a transformation's subtype; its type follows
(DIRECT for IDENTITY, TRANSFORMATION and AGGREGATION; INDIRECT for JOIN, GROUP_BY, FILTER, SORT, WINDOW and
CONDITIONAL)
or is written in front: `DIRECT:HASH`.

Types are compared under one spelling (`lineage.checks.columns`). A graph does not know which columns are nullable; a
candidate schema does, see `check_candidate`.
"""

from lineage.checks.contract.compare import compare
from lineage.checks.contract.dataset_rules import check_candidate, check_freshness
from lineage.checks.contract.load import load
from lineage.checks.contract.model import Contract, Dataset
from lineage.checks.contract.report import Finding, Report
from lineage.checks.contract.yaml_field import ContractError

__all__ = [
    "Contract",
    "ContractError",
    "Dataset",
    "Finding",
    "Report",
    "check_candidate",
    "check_freshness",
    "compare",
    "load",
]
