# SPDX-License-Identifier: Apache-2.0
"""Training of the forecast of prices: `python -m jobs.models.price_forecast`.

It reads the current snapshot of the feature table, compares the rows that are newer than the last model with what that
one was trained on, and stores a model for the snapshot. A drifted feature is reported, and no reason to fail.

Environment: that of `lineagelab_sql` (`LAB_ICEBERG_CATALOG`, `AWS_*`, `OPENLINEAGE_URL`, `LINEAGE_SPOOL`), and
`LINEAGE_OPEN_RUNS`, a file by which the next training ends the run of one that was killed.
"""

import os
import signal
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import duckdb
import sklearn

from infra.namespaces import (
    JOB_NAMESPACE,
    JOB_PRICE_FORECAST,
    JOB_SUPPLIER_FEATURES,
    MODEL_PRICE_FORECAST,
    MODELS_BUCKET,
    MODELS_NAMESPACE,
    TABLE_SUPPLIER_FEATURES,
    qualified_table_name,
)
from jobs.models.feature_rows import FeatureRows, FeatureTableError
from jobs.models.model_store import ModelCard, ModelStore, ModelStoreError
from jobs.models.regression import Regression, TrainingError
from lineagelab_common.identifiers import ParentRun, now
from lineagelab_common.open_runs import OpenRuns, take_terminal_events
from lineagelab_common.spool import Spool
from lineagelab_scikit_learn import Dataset, Drift, Trained, Training, TrainingRun
from lineagelab_sql.lake import NAMESPACE, Lake, LakeError
from lineagelab_sql.reporting import event_spool

TABLE = qualified_table_name(TABLE_SUPPLIER_FEATURES)
FEATURES = ("mean_price", "price_deviation", "min_price", "max_price")
TARGET = "next_mean_price"
TIME = "last_order_at"

EXIT_FAILED, EXIT_INTERRUPTED = 1, 130


def main() -> int:
    """Train the model; return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    file = os.environ.get("LINEAGE_OPEN_RUNS")
    open_runs = Path(file) if file else None
    try:
        lake = Lake.from_environment(os.environ)
        store = ModelStore(MODELS_BUCKET, MODEL_PRICE_FORECAST, lake.store, lake.region)
        with event_spool(os.environ) as spool, lake.connect(writable=False) as connection:
            for event in take_terminal_events(open_runs, "ABORT", "", now()) if open_runs else ():
                spool.add(event)
            _train(connection, store, spool, OpenRuns(open_runs))
    except (LakeError, FeatureTableError, TrainingError, ModelStoreError, ValueError, duckdb.Error) as error:
        print(f"error: {JOB_PRICE_FORECAST}: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0


def described(rows: FeatureRows) -> Training:
    """Return the training on these rows as lineage describes it."""
    return Training(
        Dataset(NAMESPACE, rows.table),
        str(rows.snapshot),
        rows.types,
        FEATURES,
        TARGET,
        Dataset(MODELS_NAMESPACE, MODEL_PRICE_FORECAST),
        filters=(TIME,),
    )


def drifts(last: ModelCard | None, rows: FeatureRows) -> dict[str, Drift]:
    """Compare the rows that are newer than the last model with those that it was trained on."""
    if last is None:
        return {}
    newer = [number for number, time in enumerate(rows.columns[TIME]) if _text(time) > last.trained_until]
    found = {
        name: last.profiles[name].drift([rows.columns[name][number] for number in newer])
        for name in FEATURES
        if name in last.profiles
    }
    return {name: drift for name, drift in found.items() if drift is not None}


def _train(connection: duckdb.DuckDBPyConnection, store: ModelStore, spool: Spool, open_runs: OpenRuns) -> None:
    connection.execute("SET TimeZone = 'UTC'")
    rows = FeatureRows.read(connection, TABLE, (TIME, "supplier"), JOB_SUPPLIER_FEATURES)
    parent = ParentRun.from_environment(os.environ)
    run = TrainingRun(
        spool.add, JOB_NAMESPACE, JOB_PRICE_FORECAST, described(rows), sklearn.__version__, parent, open_runs
    )
    with run:
        complete = rows.without_nulls((*FEATURES, TARGET, TIME))
        found = Regression.train({name: complete.columns[name] for name in FEATURES}, complete.columns[TARGET])
        changes = drifts(store.latest(), complete)
        until = _text(max(complete.columns[TIME]))
        card = ModelCard(
            TABLE, rows.snapshot, until, found.rows, TARGET, found.profiles, found.error, found.naive_error, run.run_id
        )
        store.add(card, found.model)
        run.completed(Trained(found.profiles, changes))
    _show(card, changes)


def _text(time: datetime) -> str:
    """Return a time as text that sorts by time."""
    return time.isoformat(timespec="microseconds")


def _show(card: ModelCard, changes: Mapping[str, Drift]) -> None:
    print(f"{MODEL_PRICE_FORECAST}: {card.rows} rows of {card.table}, snapshot {card.snapshot}, run {card.run}")
    print(f"  mean absolute error {card.error:.2f}; of the mean as forecast {card.naive_error:.2f}")
    for name, drift in changes.items():
        if drift.has_drifted:
            print(f"  {name} has drifted since the last model: {drift}")


if __name__ == "__main__":
    sys.exit(main())
